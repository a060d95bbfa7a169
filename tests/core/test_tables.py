"""Tables appear whole or not at all, and keep every digit."""

from __future__ import annotations

import csv
import math
import os
import stat
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from epsilometer.core import EpsilometerError, read_table, write_table
from epsilometer.core.tables import written_whole

QUICKLY = settings(max_examples=100, deadline=None, derandomize=True, database=None)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("tables")


@QUICKLY
@given(values=st.lists(st.floats(allow_nan=False), min_size=1, max_size=20))
def test_floats_come_back_bit_for_bit(folder: Path, values: list[float]) -> None:
    write_table(folder / "floats.csv", [{"value": value} for value in values])
    back = np.array([row["value"] for row in read_table(folder / "floats.csv")], dtype=float)
    assert back.tobytes() == np.array(values).tobytes()


@QUICKLY
@given(values=st.lists(st.integers(), min_size=1, max_size=20))
def test_integers_come_back_as_integers(folder: Path, values: list[int]) -> None:
    write_table(folder / "integers.csv", [{"value": value} for value in values])
    back = [row["value"] for row in read_table(folder / "integers.csv")]
    assert back == values
    assert all(type(value) is int for value in back)


@pytest.mark.parametrize("name", ["separable", "a,b", 'say "no"', "two\nlines", "ünseparable", " padded "])
def test_text_comes_back(tmp_path: Path, name: str) -> None:
    write_table(tmp_path / "t.csv", [{"name": name, "value": 1}])
    assert read_table(tmp_path / "t.csv") == [{"name": name, "value": 1}]


def test_missing_values_are_empty_cells(tmp_path: Path) -> None:
    write_table(tmp_path / "t.csv", [{"a": math.nan, "b": np.float64("nan"), "c": math.inf}])
    assert (tmp_path / "t.csv").read_text() == "a,b,c\n,,inf\n"
    row = read_table(tmp_path / "t.csv")[0]
    assert math.isnan(row["a"])
    assert math.isnan(row["b"])
    assert row["c"] == math.inf


def test_another_reader_agrees(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [{"x": np.float64(0.1), "n": np.int64(3)}, {"x": 1 / 3, "n": 4}]
    write_table(tmp_path / "t.csv", rows)
    with (tmp_path / "t.csv").open(newline="") as file:
        lines = list(csv.reader(file))
    assert lines == [["x", "n"], ["0.1", "3"], ["0.3333333333333333", "4"]]


def test_nothing_to_write_is_an_error_that_names_the_file(tmp_path: Path) -> None:
    with pytest.raises(EpsilometerError, match=r"nothing to write into .*empty\.csv"):
        write_table(tmp_path / "empty.csv", [])
    assert list(tmp_path.iterdir()) == []


def test_missing_file_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(EpsilometerError, match=r"cannot read the table .*none\.csv: No such file"):
        read_table(tmp_path / "none.csv")


@pytest.mark.parametrize("content", [b"\xff\xfe\x00", b"a,b\n1\n", b"a,b\n1,2,3\n"], ids=["binary", "short", "long"])
def test_a_damaged_table_is_a_sentence(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "t.csv").write_bytes(content)
    with pytest.raises(EpsilometerError, match=r"t\.csv"):
        read_table(tmp_path / "t.csv")


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt, SystemExit])
def test_a_write_that_fails_leaves_what_was_there(tmp_path: Path, error: type[BaseException]) -> None:
    path = tmp_path / "t.csv"
    path.write_text("before")

    def fail_in_the_middle() -> None:
        with written_whole(path) as file:
            file.write("half of i")
            file.flush()
            assert path.read_text() == "before"
            raise error

    with pytest.raises(error):
        fail_in_the_middle()
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]


def test_rows_that_do_not_fit_leave_what_was_there(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    write_table(path, [{"a": 1}])
    with pytest.raises(ValueError, match="fields"):
        write_table(path, [{"a": 2}, {"a": 3, "b": 4}])
    assert read_table(path) == [{"a": 1}]
    assert list(tmp_path.iterdir()) == [path]


def test_a_folder_in_the_place_of_the_file_leaves_no_temporary_file(tmp_path: Path) -> None:
    (tmp_path / "t.csv").mkdir()
    with pytest.raises((OSError, EpsilometerError), match="directory"):
        write_table(tmp_path / "t.csv", [{"a": 1}])
    assert [path.name for path in tmp_path.iterdir()] == ["t.csv"]


def test_folders_are_made(tmp_path: Path) -> None:
    write_table(tmp_path / "a" / "b" / "t.csv", [{"a": 1}])
    assert read_table(tmp_path / "a" / "b" / "t.csv") == [{"a": 1}]


@pytest.mark.parametrize(("mask", "mode"), [(0o022, 0o644), (0o027, 0o640), (0o077, 0o600), (0o002, 0o664)])
def test_file_mode_honours_the_umask(tmp_path: Path, mask: int, mode: int) -> None:
    before = os.umask(mask)
    try:
        write_table(tmp_path / "t.csv", [{"a": 1}])
        assert stat.S_IMODE((tmp_path / "t.csv").stat().st_mode) == mode
        assert os.umask(mask) == mask
    finally:
        os.umask(before)


def test_an_output_that_is_a_folder_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(EpsilometerError, match=r"cannot write .*folder\.csv: Is a directory"):
        write_table(tmp_path / "folder.csv", [{"a": 1}])
    assert [path.name for path in tmp_path.iterdir()] == ["folder.csv"]


def test_truth_values_come_back_and_underscores_make_no_number(tmp_path: Path) -> None:
    rows = [{"holds": True, "name": "1_000"}, {"holds": False, "name": "b"}]
    write_table(tmp_path / "t.csv", rows)
    assert read_table(tmp_path / "t.csv") == rows
