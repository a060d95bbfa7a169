"""Holdout and experiment share no record, folds are even, and a prepared table keeps every digit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from epsilometer.core import EpsilometerError, stream
from epsilometer.data import DATASETS, Prepared, prepare_dataset, read_dataset
from epsilometer.data.prepare import EXPERIMENT, HOLDOUT
from epsilometer.data.real import breast_cancer
from epsilometer.data.synthetic import separable


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("prepare")


def prepare(path: Path, name: str = "separable", **changes: Any) -> tuple[Prepared, Prepared]:
    options: dict[str, Any] = {"points": 53, "holdout": 31, "folds": 5, "seed": 1, "csv": None} | changes
    prepare_dataset(DATASETS[name], path, **options)
    return read_dataset(path, HOLDOUT), read_dataset(path, EXPERIMENT)


def records(*parts: Prepared) -> list[tuple[float, ...]]:
    """Every record with its label, sorted."""
    return sorted((label, *row) for part in parts for label, row in zip(part.data.labels, part.data.features, strict=True))


def write_csv(path: Path, features: list[list[float]]) -> Path:
    lines = [f"{(-1) ** row},{','.join(map(repr, values))}\n" for row, values in enumerate(features)]
    path.write_text(",".join(["label", *(f"f{column}" for column in range(len(features[0])))]) + "\n" + "".join(lines))
    return path


def test_synthetic_parts_have_the_sizes_asked_for(tmp_path: Path) -> None:
    holdout, experiment = prepare(tmp_path / "t.csv")
    assert (len(holdout.data), len(experiment.data)) == (31, 53)
    drawn = separable(84, stream(1, "dataset", "separable"))
    assert records(holdout, experiment) == sorted(
        (label, *row) for label, row in zip(drawn.labels, drawn.features, strict=True)
    )


def test_real_parts_are_disjoint_and_complete(tmp_path: Path) -> None:
    holdout, experiment = prepare(tmp_path / "t.csv", "breast_cancer", holdout=0.36)
    assert (len(holdout.data), len(experiment.data)) == (205, 364)
    source = breast_cancer()
    assert records(holdout, experiment) == sorted(
        (label, *row) for label, row in zip(source.labels, source.features, strict=True)
    )


def test_records_are_shuffled(tmp_path: Path) -> None:
    """A file sorted by its only feature must not be divided in its order."""
    path = write_csv(tmp_path / "own.csv", [[row / 100] for row in range(100)])
    holdout, experiment = prepare(tmp_path / "t.csv", "own", holdout=0.5, csv=path)
    values = [*holdout.data.features[:, 0], *experiment.data.features[:, 0]]
    assert sorted(values) == [row / 100 for row in range(100)]
    assert values != sorted(values)
    assert 10 < sum(value < 0.5 for value in values[:50]) < 40


@pytest.mark.parametrize(("points", "holdout", "folds"), [(53, 31, 5), (50, 30, 5), (20, 20, 10), (7, 5, 2), (100, 8, 3)])
def test_folds_are_even_and_cover_every_record_once(tmp_path: Path, points: int, holdout: int, folds: int) -> None:
    for part in prepare(tmp_path / "t.csv", points=points, holdout=holdout, folds=folds):
        assert part.folds == folds
        sizes = np.bincount(part.fold, minlength=folds)
        assert len(sizes) == folds
        assert sizes.max() - sizes.min() <= 1
        tested = []
        for fold in range(folds):
            train, test = part.split(fold)
            assert len(train) + len(test) == len(part.data)
            assert not set(map(tuple, train.features)) & set(map(tuple, test.features))
            tested += [tuple(row) for row in test.features]
        assert sorted(tested) == sorted(map(tuple, part.data.features))


@pytest.mark.slow
@settings(max_examples=60, deadline=None, derandomize=True, database=None)
@given(features=st.lists(st.lists(st.floats(-0.7, 0.7), min_size=2, max_size=2), min_size=8, max_size=12))
def test_features_keep_every_digit(folder: Path, features: list[list[float]]) -> None:
    source = write_csv(folder / "own.csv", features)
    parts = prepare(folder / "t.csv", "own", holdout=0.5, folds=2, csv=source)
    back = np.vstack([part.data.features for part in parts])
    assert sorted(row.tobytes() for row in back) == sorted(row.tobytes() for row in np.array(features))


def test_the_seed_decides_everything(tmp_path: Path) -> None:
    texts = []
    for number, seed in enumerate([1, 1, 2]):
        prepare(tmp_path / f"{number}.csv", seed=seed)
        texts.append((tmp_path / f"{number}.csv").read_text())
    assert texts[0] == texts[1]
    assert texts[0] != texts[2]


def test_seeds_that_differ_only_in_their_high_bits(tmp_path: Path) -> None:
    one, other = (prepare(tmp_path / "t.csv", "breast_cancer", holdout=0.3, seed=seed)[1] for seed in (3, 3 + 2**40))
    assert not np.array_equal(one.data.features, other.data.features)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"holdout": 9}, "separable has 9 records for tuning and 53 for the experiments; 5 folds need at least 10 of each"),
        ({"points": 9}, "separable has 31 records for tuning and 9 for the experiments; 5 folds need at least 10 of each"),
        ({"name": "breast_cancer", "holdout": 0.001}, "breast_cancer has 1 records for tuning and 568 for"),
        ({"name": "breast_cancer", "holdout": 1.5}, "breast_cancer has 854 records for tuning and -285 for"),
    ],
)
def test_too_few_records_are_refused(tmp_path: Path, changes: dict[str, Any], sentence: str) -> None:
    with pytest.raises(EpsilometerError, match=f"^{sentence}"):
        prepare(tmp_path / "t.csv", **changes)
    assert list(tmp_path.iterdir()) == []


def test_a_missing_table_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(EpsilometerError, match=r"cannot read the data set .*none\.csv: No such file"):
        read_dataset(tmp_path / "none.csv", HOLDOUT)


@pytest.mark.parametrize("content", [b"", b"\xff\xfe\x00", b"a,b\n1,2\n", b"part,fold,label,x0\nholdout,0,1\n"])
def test_a_table_of_another_kind_is_a_sentence(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "t.csv").write_bytes(content)
    with pytest.raises(EpsilometerError, match=r"t\.csv"):
        read_dataset(tmp_path / "t.csv", HOLDOUT)


def test_a_csv_for_a_data_set_that_is_not_read_from_one_is_refused(tmp_path: Path) -> None:
    with pytest.raises(
        EpsilometerError, match=r"^separable is not read from a CSV; leave .*my\.csv out, or prepare it as the data set own$"
    ):
        prepare(tmp_path / "t.csv", csv=tmp_path / "my.csv")


def test_a_data_set_that_is_read_from_a_csv_needs_one(tmp_path: Path) -> None:
    with pytest.raises(EpsilometerError, match=r"^own is read from a CSV; give the path of the file$"):
        prepare(tmp_path / "t.csv", "own", holdout=0.5)
    assert list(tmp_path.iterdir()) == []


def test_the_small_set_follows_the_law_of_the_separable_one_with_records_of_its_own(folder: Path) -> None:
    small, separable_set = (prepare(folder / f"law_{name}.csv", name) for name in ("small", "separable"))
    drawn = separable(53 + 31, stream(1, "dataset", "small"))
    assert records(*small) == sorted((label, *row) for label, row in zip(drawn.labels, drawn.features, strict=True))
    assert not set(records(*small)) & set(records(*separable_set))
