"""The tables: every target, mechanism and attack, the same bytes each time, and errors that say what is wrong."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from epsilometer.core import EpsilometerError
from epsilometer.data import DATASETS, prepare_dataset
from epsilometer.membership.attacked import ATTACKS, Budget, attack_all, membership
from epsilometer.membership.targets import TARGETS
from tests.membership.settings import NAMES, records
from tests.tables import read_table


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("membership") / "small.csv"
    prepare_dataset(DATASETS["separable"], path, points=24, holdout=60, folds=2, seed=1, csv=None)
    return path


def run(dataset: Path, folder: Path, seed: int = 1, confidence: float = 0.95) -> tuple[Path, Path, Path]:
    table, roc, counts = folder / "rows.csv", folder / "roc.csv", folder / "counts.csv"
    budget = {"trials": 40, "shadows": 20, "seed": seed}
    membership(dataset, epsilon=1.0, confidence=confidence, table=table, roc=roc, counts=counts, **budget)
    return table, roc, counts


def test_tables_hold_every_target_mechanism_and_attack(
    small: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows, points, counts = map(read_table, run(small, tmp_path))
    cases = {(row["target"], row["mechanism"], row["attack"]) for row in rows}
    assert cases == {(target, name, attack) for target in TARGETS for name in NAMES for attack in ATTACKS}
    assert len(rows) == len(cases)
    assert {(point["target"], point["mechanism"], point["attack"]) for point in points} == cases
    assert len(points) <= 60 * len(rows)
    assert {(each["target"], each["mechanism"], each["attack"]) for each in counts} == cases
    assert len(counts) == len(cases)
    assert "small, outlier: decision_tree, 8 of 8" in capsys.readouterr().err
    for row in rows:
        private = row["mechanism"] != NAMES[0]
        assert (row["promised"] == 1) if private else math.isnan(row["promised"])
        assert math.isnan(row["advantage_bound"]) != private
        assert row["n"] == 12
        assert row["trials"] == 40
        assert 0 <= row["auc_low"] <= row["auc"] <= row["auc_high"] <= 1
        assert row["certified"] >= 0
        assert (row["p_value"] <= 0.05) == (row["certified"] >= 1) if private else math.isnan(row["p_value"])
        assert 0 <= row["nonprivate_test_error"] <= 1
    plain = [row for row in rows if row["mechanism"] == NAMES[0] and row["attack"] == "optimal"]
    assert len(plain) == len(TARGETS)
    assert {row["auc"] for row in plain} == {1}
    assert all(row["test_error"] == row["nonprivate_test_error"] for row in plain)


@pytest.mark.slow
def test_the_same_seed_gives_the_same_bytes(small: Path, tmp_path: Path) -> None:
    first, again, other = (run(small, tmp_path / str(number), seed) for number, seed in enumerate((1, 1, 2)))
    for one, same, different in zip(first, again, other, strict=True):
        assert one.read_bytes() == same.read_bytes()
        assert one.read_bytes() != different.read_bytes()


@pytest.mark.slow
def test_the_fewest_trials_that_are_allowed_can_be_played() -> None:
    found = attack_all("small", records(8), records(50), 1.0, 0.02, Budget(8, 4), 0.95, 1)
    rows = [attacked.row for attacked in found]
    assert len(rows) == len(TARGETS) * len(NAMES) * len(ATTACKS)
    assert {row["lam"] for row in rows} == {0.02}


def test_a_higher_confidence_certifies_less(small: Path, tmp_path: Path) -> None:
    surer, less_sure = (read_table(run(small, tmp_path / f"{level}", confidence=level)[0]) for level in (0.99, 0.8))
    pairs = list(zip(surer, less_sure, strict=True))
    assert all(one["auc_low"] <= other["auc_low"] for one, other in pairs)
    assert any(one["certified"] < other["certified"] for one, other in pairs)


def test_numbers_that_cannot_be_played_are_refused() -> None:
    for trials, shadows, message in ((40, 3, "shadows is 3"), (9, 20, "trials is 9"), (6, 20, "trials is 6")):
        with pytest.raises(EpsilometerError, match=message):
            Budget(trials, shadows)
    with pytest.raises(EpsilometerError, match="tiny has 3 records"):
        list(attack_all("tiny", records(3), records(50), 1.0, 0.02, Budget(40, 20), 0.95, 1))
    with pytest.raises(EpsilometerError, match="epsilon is -1"):
        list(attack_all("small", records(10), records(50), -1.0, 0.02, Budget(40, 20), 0.95, 1))
