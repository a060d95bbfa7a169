"""Figure 1 of nips08: the printed cells, the recovery of epsilon from curves whose epsilon is known, and the summary."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from epsilometer.core import EpsilometerError, write_table
from epsilometer.papers.nips08 import experiments
from epsilometer.papers.nips08.experiments import PRINTED, Curve, common_epsilon, error_summary, recovered_epsilon
from tests.tables import read_table

pytestmark = pytest.mark.slow

CELLS = [
    ("separable", "algorithm1"),
    ("separable", "algorithm2"),
    ("unseparable", "algorithm1"),
    ("unseparable", "algorithm2"),
]
SLOPE = 0.08  # how much an error falls when log epsilon grows by 1
FOLDS = 5
Cell = tuple[str, str]


def test_printed_numbers_are_those_of_the_paper() -> None:
    """Sensitivity method, new method and standard logistic regression, in the rows of Figure 1."""
    assert PRINTED == {
        ("separable", "algorithm1"): (0.2962, 0.0617),
        ("separable", "algorithm2"): (0.1426, 0.1284),
        ("separable", "standard"): (0, 0.0016),
        ("unseparable", "algorithm1"): (0.3257, 0.0536),
        ("unseparable", "algorithm2"): (0.1903, 0.1105),
        ("unseparable", "standard"): (0.0530, 0.1105),
    }


def curve(error: Any, noise: float = 0.01) -> Curve:
    grid = np.linspace(-6, 0, 61)
    return Curve(grid, np.asarray(error(grid), dtype=float), np.full(61, noise))


def test_a_curve_is_inverted() -> None:
    known = curve(lambda x: 0.25 * (1 - np.tanh(x + 3)))
    for log_epsilon in (-5.0, -3.07, -1.5):
        assert known.invert(0.25 * (1 - math.tanh(log_epsilon + 3))) == pytest.approx(log_epsilon, abs=0.01)
    assert known.invert(float(known.error[17])) == pytest.approx(known.log_epsilon[17], abs=1e-12)
    assert known.at(-3.0) == pytest.approx(0.25)
    assert known.noise_at(-3.0) == pytest.approx(0.01)


def test_errors_beyond_a_curve_have_no_epsilon() -> None:
    known = curve(lambda x: 0.3 - 0.05 * x)  # from 0.6 to 0.3
    assert known.invert(0.61) == -math.inf
    assert known.invert(0.29) == math.inf
    assert known.invert(0.6) == pytest.approx(-6)
    assert known.invert(0.3) == pytest.approx(0)


def test_a_bump_is_flattened_before_inversion() -> None:
    """Two errors out of order are both replaced by their mean, so the inverse stays unique."""
    bumpy = Curve(np.array([-3.0, -2.0, -1.0, 0.0]), np.array([0.5, 0.2, 0.3, 0.1]), np.full(4, 0.01))
    assert bumpy.at(-2.0) == pytest.approx(0.25)
    assert bumpy.at(-1.0) == pytest.approx(0.25)
    assert bumpy.invert(0.4) == pytest.approx(-2.6)
    assert bumpy.invert(0.2) == pytest.approx(-2 / 3)


def write_curves(
    folder: Path, epsilons: dict[Cell, float], noise: float, rng: np.random.Generator, shift: float = 0.0, points: int = 25
) -> list[Path]:
    """Epsilon curves that pass through each cell's printed error at its epsilon, with noise between folds.

    Half of the noise's variance is said to come from restarts, half from records. The printed error may itself be off,
    by a normal draw of standard deviation `shift`.
    """
    grid = np.logspace(-4, 0, points)
    trained = {"lam": 0.01, "n": 14_000, "restarts": 200, "records": 3500}
    spreads = trained | {"sd_restarts": 10 * noise, "sd_records": math.sqrt(1750) * noise}
    paths = []
    for dataset in ("separable", "unseparable"):
        rows: list[dict[str, Any]] = [
            {"dataset": dataset, "method": "standard", "epsilon": math.nan, "fold": fold, "error": 0.0} | spreads
            for fold in range(FOLDS)
        ]
        for name in ("algorithm1", "algorithm2", "cms11"):
            target = epsilons.get((dataset, name), 1.0)
            printed = PRINTED.get((dataset, name), (0.2, 0.0))[0] + shift * rng.standard_normal()
            for epsilon in grid:
                error = printed + SLOPE * math.log(target / epsilon)
                rows += [
                    {
                        "dataset": dataset,
                        "method": name,
                        "epsilon": float(epsilon),
                        "fold": fold,
                        "error": error + noise * rng.standard_normal(),
                    }
                    | spreads
                    for fold in range(FOLDS)
                ]
        write_table(folder / f"{dataset}.csv", rows)
        paths.append(folder / f"{dataset}.csv")
    return paths


def recover(folder: Path, curves: list[Path], seed: int = 1) -> dict[Cell, dict[str, Any]]:
    recovered_epsilon(curves, seed=seed, table=folder / "recovered.csv")
    return {(row["dataset"], row["method"]): row for row in read_table(folder / "recovered.csv")}


ALL = ("all four", "all four")


def test_a_known_epsilon_is_recovered(tmp_path: Path) -> None:
    """Folds scatter by 0.01, so each mean by 0.0045 and log epsilon by 0.056; six of those are allowed.

    The five intervals all cover with probability above 0.75 for another seed, the six-sigma bounds hold but for 1e-8.
    """
    curves = write_curves(tmp_path, dict.fromkeys(CELLS, 0.02), 0.01, np.random.default_rng(1))
    rows = recover(tmp_path, curves)
    assert list(rows) == [*CELLS, ALL]
    sigma = 0.01 / math.sqrt(FOLDS) / SLOPE
    for cell in CELLS:
        row = rows[cell]
        assert row["printed_error"] == PRINTED[cell][0]
        assert abs(math.log(row["epsilon"] / 0.02)) < 6 * sigma
        assert row["low"] < row["epsilon"] < row["high"]
        assert row["low"] < 0.02 < row["high"]
        assert row["error_at_common_epsilon"] == pytest.approx(PRINTED[cell][0], abs=6 * 0.0045)
        assert 2 * sigma < math.log(row["high"] / row["low"]) < 9 * sigma
    common = rows[ALL]
    assert abs(math.log(common["epsilon"] / 0.02)) < 3 * sigma
    assert common["low"] < 0.02 < common["high"]
    assert math.log(common["high"] / common["low"]) < 0.75 * math.log(rows[CELLS[0]]["high"] / rows[CELLS[0]]["low"])
    assert {row["one_epsilon_explains_all"] for row in rows.values()} == {True}
    assert common_epsilon(tmp_path / "recovered.csv") == common["epsilon"]


def test_the_verdict_is_a_chi_square_test(tmp_path: Path) -> None:
    """The statistic, computed anew on curves that are straight lines: a weighted mean and its residuals."""
    noise, rng = 0.004, np.random.default_rng(2)
    targets = dict(zip(CELLS, [0.02, 0.021, 0.0195, 0.0205], strict=True))
    rows = recover(tmp_path, write_curves(tmp_path, targets, noise, rng, points=60))
    weights, logs = [], []
    for cell in CELLS:
        table = pd.read_csv(tmp_path / f"{cell[0]}.csv")
        table = table[table["method"] == cell[1]]
        mean = table.groupby("epsilon")["error"].mean()
        line = np.polyfit(np.log(mean.index.to_numpy()), mean.to_numpy(), 1)
        logs.append((PRINTED[cell][0] - line[1]) / line[0])
        weights.append(line[0] ** 2 / (2 * noise**2 / FOLDS))
    expected = np.average(logs, weights=weights)
    assert math.log(rows[ALL]["epsilon"]) == pytest.approx(expected, abs=0.05)
    for row in rows.values():
        assert row["p_value"] == pytest.approx(stats.chi2(3).sf(row["chi_square"]), rel=1e-9)
        assert row["one_epsilon_explains_all"] is (row["p_value"] >= 0.05)


@pytest.mark.parametrize("split", ["methods", "data sets"])
def test_two_epsilons_are_told_apart(tmp_path: Path, split: str) -> None:
    """0.02 and 0.03 differ by 0.4 in log epsilon: 0.032 in the error, seven standard errors of a mean."""
    position, second = (1, "algorithm2") if split == "methods" else (0, "unseparable")
    targets = {cell: 0.03 if cell[position] == second else 0.02 for cell in CELLS}
    rows = recover(tmp_path, write_curves(tmp_path, targets, 0.01, np.random.default_rng(3)))
    assert {row["one_epsilon_explains_all"] for row in rows.values()} == {False}
    assert rows[ALL]["p_value"] < 1e-4
    assert 0.02 < rows[ALL]["epsilon"] < 0.03
    for cell, target in targets.items():
        assert rows[cell]["epsilon"] == pytest.approx(target, rel=0.25)


def test_intervals_cover_as_often_as_they_say(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sixty curve-cell pairs in which the printed error is off by its own standard error, as intervals of 95% assume.

    Of 60 independent intervals at 95%, fewer than 50 cover with probability 2e-4, so another seed would fail as rarely. Of
    intervals of half the width, which cover 67%, 50 or more would with probability 0.004.
    """
    monkeypatch.setattr(experiments, "REPLICATES", 200)
    covered, rng = 0, np.random.default_rng(4)
    for _ in range(15):
        curves = write_curves(tmp_path, dict.fromkeys(CELLS, 0.02), 0.01, rng, shift=0.01 / math.sqrt(FOLDS))
        rows = recover(tmp_path, curves)
        covered += sum(rows[cell]["low"] < 0.02 < rows[cell]["high"] for cell in CELLS)
    assert covered >= 50


def test_a_printed_error_outside_a_curve_gives_no_number(tmp_path: Path) -> None:
    """One cell's error is passed below the grid, another's above it: 0 and infinity, in intervals too."""
    targets = dict.fromkeys(CELLS, 0.02) | {CELLS[0]: 1e-6, CELLS[3]: 100.0}
    rows = recover(tmp_path, write_curves(tmp_path, targets, 0.003, np.random.default_rng(5)))
    assert (rows[CELLS[0]]["epsilon"], rows[CELLS[0]]["low"], rows[CELLS[0]]["high"]) == (0, 0, 0)
    assert rows[CELLS[3]]["epsilon"] == rows[CELLS[3]]["low"] == rows[CELLS[3]]["high"] == math.inf
    assert rows[ALL]["one_epsilon_explains_all"] is False
    assert rows[CELLS[1]]["epsilon"] == pytest.approx(0.02, rel=0.2)


def test_recovery_depends_on_the_seed_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(experiments, "REPLICATES", 50)
    curves = write_curves(tmp_path, dict.fromkeys(CELLS, 0.02), 0.01, np.random.default_rng(6))
    one, same, other = (recover(tmp_path, curves, seed)[ALL] for seed in (1, 1, 2))
    assert (one["low"], one["high"]) == (same["low"], same["high"])
    assert (one["low"], one["high"]) != (other["low"], other["high"])
    assert one["epsilon"] == other["epsilon"]


def test_the_order_of_the_curves_does_not_matter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(experiments, "REPLICATES", 50)
    curves = write_curves(tmp_path, dict.fromkeys(CELLS, 0.02), 0.01, np.random.default_rng(7))
    forwards = recover(tmp_path, curves)
    backwards = recover(tmp_path, curves[::-1])
    assert [row["epsilon"] for row in forwards.values()] == [row["epsilon"] for row in backwards.values()]


@pytest.mark.parametrize("points", [2, 3, 4])
def test_a_grid_of_few_epsilons(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, points: int) -> None:
    monkeypatch.setattr(experiments, "REPLICATES", 20)
    curves = write_curves(tmp_path, dict.fromkeys(CELLS, 0.02), 0.01, np.random.default_rng(8), points=points)
    assert recover(tmp_path, curves)[ALL]["epsilon"] == pytest.approx(0.02, rel=0.3)


def test_folds_that_agree_exactly(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As they do where every record is classified rightly."""
    monkeypatch.setattr(experiments, "REPLICATES", 20)
    curves = write_curves(tmp_path, dict.fromkeys(CELLS, 0.02), 0.0, np.random.default_rng(9))
    assert recover(tmp_path, curves)[ALL]["epsilon"] == pytest.approx(0.02, rel=0.01)


def test_a_missing_cell_is_a_sentence(tmp_path: Path) -> None:
    curves = write_curves(tmp_path, dict.fromkeys(CELLS, 0.02), 0.01, np.random.default_rng(10))
    with pytest.raises(EpsilometerError, match="none of the epsilon curves has algorithm1 on unseparable"):
        recovered_epsilon(curves[:1], seed=1, table=tmp_path / "r.csv")
    assert not (tmp_path / "r.csv").exists()


def test_a_table_without_the_common_epsilon_is_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(experiments, "REPLICATES", 20)
    curves = write_curves(tmp_path, dict.fromkeys(CELLS, 0.02), 0.01, np.random.default_rng(12), points=4)
    recover(tmp_path, curves)
    cells = [row for row in read_table(tmp_path / "recovered.csv") if row["dataset"] != "all four"]
    write_table(tmp_path / "t.csv", cells)
    with pytest.raises(EpsilometerError, match=r"t\.csv has no row for all four cells"):
        common_epsilon(tmp_path / "t.csv")


def test_a_table_of_another_kind_is_a_sentence(tmp_path: Path) -> None:
    """The epsilon is not taken from a table of errors, curves are not taken for errors, nor errors for curves."""
    (curve, _) = write_curves(tmp_path / "curves", {}, 0.01, np.random.default_rng(13), points=2)
    errors = write_errors(tmp_path / "separable.csv", np.random.default_rng(14))
    no_errors = r"separable\.csv has no column restart; it is no table of error_table/\{dataset\}$"
    no_curve = r"separable\.csv has no column restarts; it is no table of epsilon_curve/\{dataset\}$"
    with pytest.raises(
        EpsilometerError, match=r"has no column printed_error; it is no table of recovered_epsilon/\{paper\}$"
    ):
        common_epsilon(errors)
    with pytest.raises(EpsilometerError, match=no_errors):
        error_summary([curve], table=tmp_path / "s.csv")
    with pytest.raises(EpsilometerError, match=no_curve):
        recovered_epsilon([errors], seed=1, table=tmp_path / "r.csv")
    assert not list(tmp_path.glob("[rs].csv"))


def write_errors(path: Path, rng: np.random.Generator) -> Path:
    rows: list[dict[str, Any]] = []
    for name in ("standard", "algorithm1", "algorithm2", "cms11"):
        for fold in range(FOLDS):
            level = rng.random()
            rows += [
                {
                    "dataset": path.stem,
                    "method": name,
                    "epsilon": math.nan if name == "standard" else 0.7,
                    "lam": 0.01,
                    "n": 40,
                    "fold": fold,
                    "restart": restart,
                    "error": level + rng.random(),
                }
                for restart in range(1 if name == "standard" else 6)
            ]
    rng.shuffle(rows)
    write_table(path, rows)
    return path


def test_the_summary_has_the_means_and_spreads_of_pandas(tmp_path: Path) -> None:
    """The spread over folds is that of their means; over restarts, the root of the mean variance inside a fold."""
    rng = np.random.default_rng(11)
    paths = [write_errors(tmp_path / f"{name}.csv", rng) for name in ("separable", "unseparable", "own")]
    error_summary(paths, table=tmp_path / "summary.csv")
    summary = pd.read_csv(tmp_path / "summary.csv").set_index(["dataset", "method"])
    assert len(summary) == 12
    for path in paths:
        for name, group in pd.read_csv(path).groupby("method"):
            row = summary.loc[(path.stem, name)]
            folds = group.groupby("fold")["error"]
            assert row["mean"] == pytest.approx(group["error"].mean(), rel=1e-12)
            assert row["sd_folds"] == pytest.approx(folds.mean().std(), rel=1e-12)
            within = 0.0 if name == "standard" else math.sqrt(folds.var().mean())
            assert row["sd_restarts"] == pytest.approx(within, rel=1e-12)
            assert row["lam"] == 0.01
            assert math.isnan(row["epsilon"]) if name == "standard" else row["epsilon"] == 0.7
            printed = PRINTED.get((path.stem, str(name)), (math.nan, math.nan))
            assert np.array_equal([row["printed_mean"], row["printed_spread"]], printed, equal_nan=True)
    assert summary["printed_mean"].notna().sum() == 6


def test_a_missing_method_is_a_sentence(tmp_path: Path) -> None:
    rows = read_table(write_errors(tmp_path / "e.csv", np.random.default_rng(15)))
    write_table(tmp_path / "e.csv", [row for row in rows if row["method"] == "standard"])
    with pytest.raises(EpsilometerError, match=r"e\.csv has no row for the method algorithm1"):
        error_summary([tmp_path / "e.csv"], table=tmp_path / "s.csv")
