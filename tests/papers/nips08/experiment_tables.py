"""Tables of section 6's experiments with known numbers, and what a claim makes of them when one of them is altered."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from epsilometer.core import write_table
from epsilometer.data import DATASETS, SYNTHETIC, prepare_dataset
from epsilometer.papers.claim import Claim, Numbers, Outcome
from epsilometer.papers.nips08.experiments import PRINTED, error_summary
from tests.tables import read_table

Row = dict[str, Any]
Change = Callable[[Row], Row | None]

SIZES, EPSILONS = (100, 200, 300), (0.001, 0.1, 10.0)
ERRORS = {"standard": 0.0, "algorithm1": 0.3, "algorithm2": 0.2, "cms11": 0.25}
TILT = np.array([-2, -1, 0, 1, 2]) * 0.001  # of the five folds, the same for every method
SPREAD_OF_TILT = 0.001 * math.sqrt(2.5)
SUMMARY = "error_summary/nips08.csv"
SEED = 7


def write_tables(folder: Path) -> None:
    """A folder of results with known numbers: at the paper's errors, or at ERRORS, tilted from fold to fold."""
    for dataset in SYNTHETIC:
        path = folder / f"dataset/{dataset}.csv"
        prepare_dataset(DATASETS[dataset], path, points=3000, holdout=100, folds=5, seed=SEED, csv=None)
        write_table(folder / f"error_table/{dataset}.csv", figure_1(dataset))
        write_table(folder / f"learning_curve/{dataset}.csv", curves(dataset, "n", SIZES))
        write_table(folder / f"epsilon_curve/{dataset}.csv", curves(dataset, "epsilon", EPSILONS))
        write_table(folder / f"tuning/{dataset}.csv", tuning(dataset))
    write_table(folder / "recovered_epsilon/nips08.csv", recovered())
    write_summary(folder)


def write_summary(folder: Path) -> None:
    error_summary([folder / f"error_table/{dataset}.csv" for dataset in SYNTHETIC], table=folder / SUMMARY)


def figure_1(dataset: str) -> list[Row]:
    rows = []
    for method in ERRORS:
        mean = PRINTED.get((dataset, method), (0.25, 0.0))[0]
        for fold in range(5):
            for restart in range(1 if method == "standard" else 4):
                tilt = TILT[fold] if mean else 0.0
                error = mean + tilt + (0.0 if method == "standard" else (-1) ** restart * 0.002)
                rows.append(
                    {"dataset": dataset, "method": method, "epsilon": 0.02, "lam": 0.01, "n": 2400, "fold": fold}
                    | {"restart": restart, "error": error}
                )
    return rows


def curves(dataset: str, along: str, points: tuple[float, ...]) -> list[Row]:
    """Errors go down by a factor at each point, from ERRORS at the second; the standard one is flat."""
    rows = []
    for method, error in ERRORS.items():
        for step, x in enumerate(points):
            if method == "standard" and along == "epsilon" and step:
                continue
            factor = 1.0 if method == "standard" else (1.55, 1.0, 0.1)[step]
            for fold in range(5):
                place = {"epsilon": math.nan if method == "standard" else x} if along == "epsilon" else {along: x}
                spread = 0.0 if method == "standard" else 0.001
                rows.append(
                    {"dataset": dataset, "method": method, **place, "fold": fold, "restarts": 4, "records": 600}
                    | {"error": factor * error + (TILT[fold] if error else 0), "sd_restarts": spread}
                )
    return rows


def tuning(dataset: str) -> list[Row]:
    errors = {0.001: 0.2, 0.01: 0.1, 0.1: 0.3}
    return [
        {"dataset": dataset, "lam": lam, "fold": fold, "records": 100, "error": error}
        for lam, error in errors.items()
        for fold in range(5)
    ]


def recovered() -> list[Row]:
    cells = [*(cell for cell in PRINTED if cell[1] != "standard"), ("all four", "all four")]
    shared = {"epsilon": 0.02, "low": 0.019, "high": 0.021, "chi_square": 3.0, "p_value": 0.4}
    return [{"dataset": dataset, "method": method} | shared for dataset, method in cells]


# Measuring and deciding


def measured(claim: Claim, tables: Path) -> Numbers:
    return claim.measure(claim.evidence(tables, SEED)).numbers


def decided(claim: Claim, tables: Path) -> Outcome:
    return claim.decide(measured(claim, tables), claim.tolerances).outcome


def outcomes(claim: Claim, tables: Path, folder: Path, name: str, change: Change) -> tuple[Outcome, Outcome]:
    """What comes out from the tables as they are, and with one of them altered."""
    return decided(claim, tables), decided(claim, altered(tables, folder, name, change))


# Altering a table


def altered(tables: Path, folder: Path, name: str, change: Change) -> Path:
    """The same results but for one table, whose rows are changed or left out."""
    for path in tables.rglob("*.csv"):
        target = folder / path.relative_to(tables)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(path.read_text())
    rows = [change(dict(row)) for row in read_table(folder / f"{name}.csv")]
    write_table(folder / f"{name}.csv", [row for row in rows if row is not None])
    if name.startswith("error_table"):
        write_summary(folder)
    return folder


def swapped(row: Row) -> Row:
    """The two methods in each other's place."""
    other = {"algorithm1": "algorithm2", "algorithm2": "algorithm1"}
    return row | {"method": other.get(row["method"], row["method"])}


def setting(column: str, value: Any, **where: Any) -> Callable[[Row], Row]:
    """Put a value, or what a function makes of the old row, into the rows that match."""

    def change(row: Row) -> Row:
        if any(row[name] != wanted for name, wanted in where.items()):
            return row
        return row | {column: value(row) if callable(value) else value}

    return change


def tilted_by(factor: float) -> Callable[[Row], float]:
    return lambda row: row["error"] + (factor - 1) * float(TILT[row["fold"]])
