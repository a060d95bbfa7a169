"""Tuning of lambda on the holdout, by cross-validation of standard logistic regression (nips08, section 6)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, TypedDict

import numpy as np

from epsilometer.core import stream
from epsilometer.core.arguments import Positive
from epsilometer.core.tables import Table
from epsilometer.data import read_dataset
from epsilometer.data.prepare import HOLDOUT
from epsilometer.papers.protocol import STANDARD, method, mistakes, with_progress


class TuningRow(TypedDict):
    """Test error of standard logistic regression on the holdout, for each regularisation and fold."""

    dataset: Annotated[str, "name of the data set"]
    lam: Annotated[float, "regularisation"]
    fold: Annotated[int, "the fold on which the model is tested"]
    records: Annotated[int, "records of the holdout"]
    error: Annotated[float, "share of the fold's records that are classified wrongly"]


TUNING = Table[TuningRow]("tuning/{dataset}", TuningRow)


def tuning(dataset: Path, *, lambdas: Sequence[Positive], table: Path) -> None:
    """The test error of every lambda in every fold of the holdout: the whole curve, not only its minimum."""
    prepared = read_dataset(dataset, HOLDOUT)
    rows: list[TuningRow] = []
    for lam in with_progress(sorted(lambdas), f"tuning {dataset.stem}"):
        for fold in range(prepared.folds):
            train, test = prepared.split(fold)
            error = mistakes(method(STANDARD, np.inf, lam), train, test, 1, stream(0)).mean()
            row = TuningRow(dataset=dataset.stem, lam=lam, fold=fold, records=len(prepared.data), error=float(error))
            rows.append(row)
    TUNING.write(table, rows)


def best_lambda(table: Path) -> float:
    """The lambda of a tuning table with the least mean error; the largest of equals, which costs the least noise."""
    errors: dict[float, list[float]] = {}
    for row in TUNING.read(table):
        errors.setdefault(row["lam"], []).append(row["error"])
    return min(errors, key=lambda lam: (round(np.mean(errors[lam]), 12), -lam))
