"""The tables: every target, mechanism and attack, the same bytes each time, and errors that say what is wrong."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from epsilometer.audits.membership import membership
from epsilometer.audits.membership.report import ATTACKS, attack_rows
from epsilometer.audits.membership.targets import TARGETS
from epsilometer.core import EpsilometerError, read_table
from epsilometer.data import prepare_dataset
from tests.audits.membership.settings import NAMES, records


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("membership") / "small.csv"
    prepare_dataset("separable", path, points=24, holdout=60, folds=2, seed=1, csv=None)
    return path


def run(dataset: Path, folder: Path, seed: int = 1) -> tuple[Path, Path]:
    output, curves = folder / "rows.csv", folder / "roc.csv"
    membership(dataset, output, roc=curves, epsilon=1.0, trials=40, shadows=20, seed=seed)
    return output, curves


def test_tables_hold_every_target_mechanism_and_attack(
    small: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output, curves = run(small, tmp_path)
    rows, points = read_table(output), read_table(curves)
    cases = {(row["target"], row["mechanism"], row["attack"]) for row in rows}
    assert cases == {(target, name, attack) for target in TARGETS for name in NAMES for attack in ATTACKS}
    assert len(rows) == len(cases)
    assert {(point["target"], point["mechanism"], point["attack"]) for point in points} == cases
    assert len(points) <= 60 * len(rows)
    assert "small, outlier: decision_tree, 8 of 8" in capsys.readouterr().err
    for row in rows:
        private = row["mechanism"] != NAMES[0]
        assert (row["epsilon"] == 1) if private else math.isnan(row["epsilon"])
        assert math.isnan(row["advantage_bound"]) != private
        assert row["n"] == 12
        assert row["trials"] == 40
        assert 0 <= row["auc_low"] <= row["auc"] <= row["auc_high"] <= 1
        assert row["certified_epsilon"] >= 0
        assert (row["p_value"] <= 0.05) == (row["certified_epsilon"] >= 1) if private else math.isnan(row["p_value"])
        assert 0 <= row["nonprivate_test_error"] <= 1
        if not private and row["attack"] == "optimal":
            assert row["auc"] == 1
            assert row["test_error"] == row["nonprivate_test_error"]


def test_the_same_seed_gives_the_same_bytes(small: Path, tmp_path: Path) -> None:
    first, again, other = (run(small, tmp_path / str(number), seed) for number, seed in enumerate((1, 1, 2)))
    for one, same, different in zip(first, again, other, strict=True):
        assert one.read_bytes() == same.read_bytes()
        assert one.read_bytes() != different.read_bytes()


def test_the_fewest_trials_that_are_allowed_can_be_played() -> None:
    rows = [row for row, _ in attack_rows("small", records(8), records(50), 1.0, 0.02, 8, 4, 1)]
    assert len(rows) == len(TARGETS) * len(NAMES) * len(ATTACKS)
    assert {row["lam"] for row in rows} == {0.02}


def test_numbers_that_cannot_be_played_are_refused(small: Path, tmp_path: Path) -> None:
    for trials, shadows, message in ((40, 3, "shadows is 3"), (9, 20, "trials is 9"), (6, 20, "trials is 6")):
        with pytest.raises(EpsilometerError, match=message):
            membership(
                small, tmp_path / "o.csv", roc=tmp_path / "r.csv", epsilon=1.0, trials=trials, shadows=shadows, seed=1
            )
    assert not (tmp_path / "o.csv").exists()
    with pytest.raises(EpsilometerError, match="tiny has 3 records"):
        list(attack_rows("tiny", records(3), records(50), 1.0, 0.02, 40, 20, 1))
    with pytest.raises(EpsilometerError, match="epsilon is -1"):
        list(attack_rows("small", records(10), records(50), -1.0, 0.02, 40, 20, 1))
