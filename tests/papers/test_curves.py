"""The table of test errors and the two curves, on a small data set from end to end."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from epsilometer.core import EpsilometerError, LabelledData, Mechanism
from epsilometer.data import read_dataset
from epsilometer.data.prepare import EXPERIMENT
from epsilometer.papers import curves
from epsilometer.papers.curves import epsilon_curve, error_table, learning_curve
from epsilometer.papers.protocol import METHODS, PRIVATE
from tests.papers.reference import standard_error
from tests.tables import read_table

pytestmark = pytest.mark.slow

RESTARTS = 4
LAM = 0.01
COLUMNS = [
    *("dataset", "method", "epsilon", "lam", "n", "fold"),
    *("restarts", "records", "error", "sd_restarts", "sd_records"),
]
"""Of both curves."""

Run = Callable[[Path, Path, int], None]
RUNS: dict[str, Run] = {
    "error_table": lambda data, table, seed: error_table(
        data, epsilon=2.0, lam=LAM, restarts=RESTARTS, seed=seed, table=table
    ),
    "learning_curve": lambda data, table, seed: learning_curve(
        data, epsilon=2.0, lam=LAM, increment=0.25, restarts=RESTARTS, seed=seed, table=table
    ),
    "epsilon_curve": lambda data, table, seed: epsilon_curve(
        data, epsilons=[5.0, 0.5], lam=LAM, restarts=RESTARTS, seed=seed, table=table
    ),
}


@pytest.fixture(scope="module")
def tables(dataset: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[dict[str, Any]]]:
    folder = tmp_path_factory.mktemp("curves")
    found = {}
    for name, run in RUNS.items():
        run(dataset, folder / f"{name}.csv", 1)
        found[name] = read_table(folder / f"{name}.csv")
    return found


def test_the_error_table_has_a_row_for_every_restart(tables: dict[str, list[dict[str, Any]]]) -> None:
    rows = tables["error_table"]
    assert list(rows[0]) == ["dataset", "method", "epsilon", "lam", "n", "fold", "restart", "error"]
    expected = [
        (name, fold, restart)
        for name in METHODS
        for fold in range(5)
        for restart in range(1 if name == "standard" else RESTARTS)
    ]
    assert [(row["method"], row["fold"], row["restart"]) for row in rows] == expected
    assert {row["n"] for row in rows} == {48, 49}
    assert {row["lam"] for row in rows} == {LAM}
    assert {row["dataset"] for row in rows} == {"unseparable"}
    for row in rows:
        assert math.isnan(row["epsilon"]) if row["method"] == "standard" else row["epsilon"] == 2.0
        assert 0 <= row["error"] <= 1
        tests = 61 - row["n"]
        assert row["error"] * tests == pytest.approx(round(row["error"] * tests), abs=1e-9)


def test_standard_errors_are_those_of_another_optimiser(dataset: Path, tables: dict[str, list[dict[str, Any]]]) -> None:
    """Of the whole training records, and of their first n in the learning curve."""
    prepared = read_dataset(dataset, EXPERIMENT)
    errors = set()
    for row in [row for name in RUNS for row in tables[name] if row["method"] == "standard"]:
        train, test = prepared.split(row["fold"])
        assert row["error"] == pytest.approx(standard_error(train.take(slice(row["n"])), test, LAM), abs=1e-12)
        errors.add(row["error"])
    assert len(errors) > 3


def test_the_learning_curve_goes_up_to_the_smallest_training_set(tables: dict[str, list[dict[str, Any]]]) -> None:
    rows = tables["learning_curve"]
    assert list(rows[0]) == COLUMNS
    expected = [(name, fold, n) for name in METHODS for fold in range(5) for n in (12, 24, 36, 48)]
    assert [(row["method"], row["fold"], row["n"]) for row in rows] == expected
    for row in rows:
        assert row["restarts"] == (1 if row["method"] == "standard" else RESTARTS)


@pytest.mark.parametrize(
    ("increment", "sizes"), [(10, [10, 20, 30, 40]), (48, [48]), (0.5, [24, 48]), (0.07, list(range(3, 49, 3))), (25, [25])]
)
def test_increments_are_numbers_or_shares(dataset: Path, tmp_path: Path, increment: float, sizes: list[int]) -> None:
    options: dict[str, Any] = {"epsilon": 2.0, "lam": 0.1, "restarts": 2, "seed": 1}
    learning_curve(dataset, increment=increment, table=tmp_path / "t.csv", **options)
    rows = read_table(tmp_path / "t.csv")
    assert [row["n"] for row in rows if row["method"] == "cms11" and row["fold"] == 0] == sizes


@pytest.mark.parametrize("increment", [49, 0.001])
def test_an_increment_that_gives_no_size_is_refused(dataset: Path, tmp_path: Path, increment: float) -> None:
    with pytest.raises(EpsilometerError, match=f"the increment {increment:g} gives no size of at most 48 training records"):
        learning_curve(dataset, epsilon=1, lam=0.1, increment=increment, restarts=2, seed=1, table=tmp_path / "t.csv")
    assert list(tmp_path.iterdir()) == []


def test_the_epsilon_curve_is_sorted_and_complete(tables: dict[str, list[dict[str, Any]]]) -> None:
    rows = tables["epsilon_curve"]
    assert list(rows[0]) == COLUMNS
    assert [(row["method"], row["fold"]) for row in rows[:5]] == [("standard", fold) for fold in range(5)]
    expected = [(name, epsilon, fold) for name in PRIVATE for epsilon in (0.5, 5.0) for fold in range(5)]
    assert [(row["method"], row["epsilon"], row["fold"]) for row in rows[5:]] == expected
    assert all(math.isnan(row["epsilon"]) for row in rows[:5])


@pytest.mark.parametrize("name", PRIVATE)
def test_without_privacy_every_method_is_the_standard_one(dataset: Path, tmp_path: Path, name: str) -> None:
    epsilon_curve(dataset, epsilons=[1e12], lam=LAM, restarts=3, seed=1, table=tmp_path / "t.csv")
    errors = {key: [row["error"] for row in read_table(tmp_path / "t.csv") if row["method"] == key] for key in METHODS}
    assert errors[name] == pytest.approx(errors["standard"], abs=1e-12)


@pytest.mark.parametrize("name", PRIVATE)
def test_with_all_the_privacy_every_method_guesses(dataset: Path, tmp_path: Path, name: str) -> None:
    """A guess and its opposite are equally likely and their errors add up to 1, so the mean error is a half.

    The mean of 300 guesses in five folds has a standard deviation of at most 0.5/sqrt(1500), six of which are 0.078;
    another seed would fail with probability below 1e-8.
    """
    epsilon_curve(dataset, epsilons=[1e-6], lam=0.1, restarts=300, seed=1, table=tmp_path / "t.csv")
    errors = [row["error"] for row in read_table(tmp_path / "t.csv") if row["method"] == name]
    assert abs(np.mean(errors) - 0.5) < 0.078


def test_means_and_spreads_are_those_of_the_restarts(dataset: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With errors made up, so that they are known."""

    def made_up(mechanism: Mechanism, train: LabelledData, test: LabelledData, restarts: int, rng: Any) -> NDArray[np.bool_]:  # noqa: ARG001
        return (np.arange(10)[:, None] < [1, 4, 7, 0])[:, :restarts]

    monkeypatch.setattr(curves, "mistakes", made_up)
    for name in ("learning_curve", "epsilon_curve"):
        RUNS[name](dataset, tmp_path / "t.csv", 1)
        for row in read_table(tmp_path / "t.csv"):
            assert row["error"] == pytest.approx(0.1 if row["method"] == "standard" else 0.3)
            assert row["sd_restarts"] == pytest.approx(0.0 if row["method"] == "standard" else math.sqrt(0.30 / 3))
            standard = row["method"] == "standard"
            share = np.repeat([1.0, 0.0] if standard else [0.75, 0.5, 0.25, 0.0], [1, 9] if standard else [1, 3, 3, 3])
            assert row["records"] == 10
            assert row["sd_records"] == pytest.approx(share.std(ddof=1))


@pytest.mark.parametrize("name", RUNS)
def test_every_cell_has_a_stream_of_its_own(
    dataset: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """No two folds, methods, sizes or epsilons share random numbers."""
    draws: list[float] = []

    def spy(mechanism: Mechanism, train: LabelledData, test: LabelledData, restarts: int, rng: Any) -> NDArray[np.bool_]:  # noqa: ARG001
        draws.append(rng.random())
        return np.zeros((3, restarts), dtype=bool)

    monkeypatch.setattr(curves, "mistakes", spy)
    RUNS[name](dataset, tmp_path / "t.csv", 1)
    assert len(draws) == {"error_table": 20, "learning_curve": 80, "epsilon_curve": 35}[name]
    assert len(set(draws)) == len(draws)


def test_data_sets_and_experiments_have_streams_of_their_own(
    dataset: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    draws: list[float] = []

    def spy(mechanism: Mechanism, train: LabelledData, test: LabelledData, restarts: int, rng: Any) -> NDArray[np.bool_]:  # noqa: ARG001
        draws.append(rng.random())
        return np.zeros((3, restarts), dtype=bool)

    monkeypatch.setattr(curves, "mistakes", spy)
    (tmp_path / "other.csv").write_text(dataset.read_text())
    for run in RUNS.values():
        run(dataset, tmp_path / "t.csv", 1)
        run(tmp_path / "other.csv", tmp_path / "t.csv", 1)
    assert len(set(draws)) == len(draws) == 2 * (20 + 80 + 35)


@pytest.mark.parametrize("name", RUNS)
def test_the_seed_decides_everything(dataset: Path, tmp_path: Path, name: str) -> None:
    for number, seed in enumerate([1, 1, 2]):
        RUNS[name](dataset, tmp_path / f"{number}.csv", seed)
    assert (tmp_path / "0.csv").read_bytes() == (tmp_path / "1.csv").read_bytes()
    assert (tmp_path / "0.csv").read_bytes() != (tmp_path / "2.csv").read_bytes()


def test_only_the_experiments_records_matter(dataset: Path, tmp_path: Path) -> None:
    lines = dataset.read_text().splitlines(keepends=True)
    (tmp_path / "unseparable.csv").write_text("".join(line for line in lines if not line.startswith("holdout")))
    RUNS["error_table"](dataset, tmp_path / "whole.csv", 1)
    RUNS["error_table"](tmp_path / "unseparable.csv", tmp_path / "part.csv", 1)
    assert (tmp_path / "whole.csv").read_bytes() == (tmp_path / "part.csv").read_bytes()
