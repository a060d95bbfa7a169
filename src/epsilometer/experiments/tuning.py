"""Tuning of lambda on the holdout, by cross-validation of standard logistic regression (nips08, section 6)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from epsilometer.core import read_table, stream, write_table
from epsilometer.data import read_dataset
from epsilometer.data.prepare import HOLDOUT
from epsilometer.experiments.protocol import STANDARD, method, mistakes, with_progress


def tuning(dataset: Path, output: Path, *, lambdas: Sequence[float]) -> None:
    """Write the test error of every lambda in every fold: the whole curve, not only its minimum."""
    prepared = read_dataset(dataset, HOLDOUT)
    rows = []
    for lam in with_progress(sorted(lambdas), f"tuning {dataset.stem}"):
        for fold in range(prepared.folds):
            train, test = prepared.split(fold)
            error = mistakes(method(STANDARD, np.inf, lam), train, test, 1, stream(0)).mean()
            rows.append({"dataset": dataset.stem, "lam": lam, "fold": fold, "records": len(prepared.data), "error": error})
    write_table(output, rows)


def best_lambda(table: Path) -> float:
    """The lambda of a tuning table with the least mean error; the largest of equals, which costs the least noise."""
    errors: dict[float, list[float]] = {}
    for row in read_table(table, "lam", "error"):
        errors.setdefault(row["lam"], []).append(row["error"])
    return min(errors, key=lambda lam: (round(np.mean(errors[lam]), 12), -lam))
