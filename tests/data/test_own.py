"""A user's own CSV is read unchanged, or refused with one sentence that names the place and the reason."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from epsilometer.core import EpsilometerError
from epsilometer.data.own import read_own


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("own")


@pytest.mark.slow
@settings(max_examples=100, deadline=None, derandomize=True, database=None)
@given(
    features=st.lists(st.tuples(*[st.floats(-0.7, 0.7)] * 2), min_size=1, max_size=10),
    label=st.sampled_from([0, 1, 2]),
    seed=st.integers(0, 2**16),
)
def test_good_files_come_through_exactly(folder: Path, features: list[tuple[float, float]], label: int, seed: int) -> None:
    """Every digit of every value, wherever the label's column stands."""
    labels = np.random.default_rng(seed).choice([-1, 1], len(features)).tolist()
    names = ["age", "dose"]
    names.insert(label, "label")
    lines = [names]
    for values, outcome in zip(features, labels, strict=True):
        cells = [repr(value) for value in values]
        cells.insert(label, str(outcome))
        lines.append(cells)
    path = folder / "good.csv"
    path.write_text("".join(",".join(line) + "\n" for line in lines))
    data = read_own(path)
    assert data.features.tobytes() == np.array(features).tobytes()
    assert data.labels.tolist() == labels


@pytest.mark.parametrize(
    "text",
    [
        "label,x\n1,0.5\n-1,-0.25\n",
        "\ufefflabel,x\n1,0.5\n-1,-0.25\n",
        "label,x\r\n1,0.5\r\n-1,-0.25\r\n",
        'label , "x"\n+1, 0.5\n-1.0, -2.5e-1\n',
        "label,x\n1,0.5\n-1,-0.25",
        "label,x\n1,0.5\n\n-1,-0.25\n\n",
        'x,"label"\n0.5,1\n-0.25,-1\n',
    ],
    ids=["plain", "byte-order mark", "Windows", "spaces", "no last newline", "blank lines", "quotes"],
)
def test_dialects(tmp_path: Path, text: str) -> None:
    (tmp_path / "good.csv").write_bytes(text.encode())
    data = read_own(tmp_path / "good.csv")
    assert data.features.tolist() == [[0.5], [-0.25]]
    assert data.labels.tolist() == [1, -1]


BAD = {
    "norm": ("label,a,b\n1,0.5,0.5\n-1,0.8,0.8\n", "record 2 has norm 1.13137; scale"),
    "several norms": ("label,a\n1,2\n-1,3\n1,4\n", "record 1 has norm 2; scale"),
    "label": ("label,a\n1,0.5\n0,0.5\n", "record 2 has label 0; a label must be -1 or 1"),
    "label 2": ("a,label\n0.5,2\n", "record 1 has label 2; a label must be -1 or 1"),
    "label as text": ("label,a\nyes,0.5\n", "record 1 has label = 'yes'; it must be a finite number"),
    "missing value": ("label,dose\n1,0.5\n1,\n", "record 2 has no value for dose; fill it in or leave the record out"),
    "missing label": ("label,dose\n,0.5\n", "record 1 has no value for label; fill it in or leave the record out"),
    "blank value": ("label,dose\n1,  \n", "record 1 has no value for dose; fill it in or leave the record out"),
    "no number": ("label,dose\n1,high\n", "record 1 has dose = 'high'; it must be a finite number"),
    "decimal comma": ('label,dose\n1,"0,5"\n', "record 1 has dose = '0,5'; it must be a finite number"),
    "few cells": ("label,a,b\n1,0.5,0.5\n1,0.5\n", "record 2 has 2 cells; the header has 3"),
    "many cells": ("label,a\n1,0.5,0.5\n", "record 1 has 3 cells; the header has 2"),
    "nan label": ("label,a\nnan,0.5\n", "record 1 has label = 'nan'; it must be a finite number"),
    "nan": ("label,a\n1,0.5\n1,nan\n", "record 2 has "),
    "infinity": ("label,a\n1,inf\n", "record 1 has "),
    "no label column": ("outcome,a\n1,0.5\n", "has the columns outcome, a; it must have one named label"),
    "two label columns": ("label,label,a\n1,1,0.5\n", "has the columns label, label, a; it must have one named label"),
    "no feature": ("label\n1\n", "has the columns label; it must have one named label and at least one feature"),
    "empty": ("", "is empty or not text; it must be a CSV with a header line"),
    "no record": ("label,a\n", "they must be a non-empty table"),
    "semicolons": ("label;a\n1;0.5\n", "has the columns label;a; it must have one named label"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_files_are_refused_in_one_sentence(tmp_path: Path, case: str) -> None:
    text, sentence = BAD[case]
    path = tmp_path / "bad.csv"
    path.write_text(text)
    with pytest.raises(EpsilometerError) as caught:
        read_own(path)
    assert sentence in str(caught.value)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_sentence_counts_the_other_bad_records(tmp_path: Path) -> None:
    (tmp_path / "bad.csv").write_text("label,a\n1,2\n-1,3\n1,4\n")
    with pytest.raises(EpsilometerError, match=r"\(and 2 more such records\)$"):
        read_own(tmp_path / "bad.csv")


def test_binary_and_missing_files(tmp_path: Path) -> None:
    (tmp_path / "binary.csv").write_bytes(b"\x89PNG\xff\xfe\x00\n")
    with pytest.raises(EpsilometerError, match=r"binary\.csv is empty or not text"):
        read_own(tmp_path / "binary.csv")
    with pytest.raises(EpsilometerError, match=r"cannot read .*none\.csv: No such file or directory"):
        read_own(tmp_path / "none.csv")
    with pytest.raises(EpsilometerError, match=r"cannot read .*: Is a directory"):
        read_own(tmp_path)


@pytest.mark.parametrize("cell", ["nan", "inf", "-inf"])
def test_the_sentence_for_nan_and_infinity_names_them(tmp_path: Path, cell: str) -> None:
    (tmp_path / "bad.csv").write_text(f"label,dose\n1,0.5\n1,{cell}\n")
    with pytest.raises(EpsilometerError, match=f"record 2 .*dose.*{cell}"):
        read_own(tmp_path / "bad.csv")


def test_blank_lines_do_not_change_a_records_number(tmp_path: Path) -> None:
    (tmp_path / "norm.csv").write_text("label,a\n\n1,0.5\n1,2\n")
    (tmp_path / "text.csv").write_text("label,a\n\n1,0.5\n1,x\n")
    numbers = []
    for name in ("norm.csv", "text.csv"):
        with pytest.raises(EpsilometerError) as caught:
            read_own(tmp_path / name)
        numbers.append(str(caught.value).split("record ")[1].split()[0])
    assert numbers[0] == numbers[1]


def test_an_endless_cell_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "bad.csv").write_text('label,a\n1,"' + "0" * 200_000)
    with pytest.raises(EpsilometerError, match=r"bad\.csv"):
        read_own(tmp_path / "bad.csv")


def test_an_underscore_makes_no_number(tmp_path: Path) -> None:
    (tmp_path / "bad.csv").write_text("label,dose\n1,0_5\n")
    with pytest.raises(EpsilometerError, match="record 1 has dose = '0_5'; it must be a finite number"):
        read_own(tmp_path / "bad.csv")
