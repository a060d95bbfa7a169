"""Test error as a function of what varies: nothing (the table), the number of training records, or epsilon."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, TypedDict

import numpy as np
from numpy.typing import NDArray

from epsilometer.core import EpsilometerError, stream
from epsilometer.core.arguments import AtLeastOne, Count, Epsilon, Lambda, Positive
from epsilometer.core.tables import EMPTY, Table
from epsilometer.data import read_dataset
from epsilometer.data.prepare import EXPERIMENT
from epsilometer.papers.protocol import (
    METHODS,
    PRIVATE,
    STANDARD,
    method,
    mistakes,
    restarts_of,
    with_progress,
)


class TrainedRow(TypedDict):
    """What was trained on what."""

    dataset: Annotated[str, "name of the data set"]
    method: Annotated[str, "standard, algorithm1, algorithm2 or cms11"]
    epsilon: Annotated[float, "claimed epsilon; empty for the standard method, which claims none", EMPTY]
    lam: Annotated[float, "regularisation"]
    n: Annotated[int, "training records"]
    fold: Annotated[int, "the fold on which the model is tested"]


class ErrorRow(TrainedRow):
    """Test error of each method, fold and restart: the observations behind Figure 1 of nips08."""

    restart: Annotated[int, "number of the run"]
    error: Annotated[float, "share of the fold's records that are classified wrongly"]


class CurveRow(TrainedRow):
    """Mean test error of each method in each fold."""

    restarts: Annotated[int, "runs"]
    records: Annotated[int, "test records"]
    error: Annotated[float, "share of wrong classifications, over all runs and test records"]
    sd_restarts: Annotated[float, "standard deviation of the runs' errors"]
    sd_records: Annotated[float, "standard deviation of the test records' shares of runs that classify them wrongly"]


class EpsilonCurveRow(CurveRow):
    """Test error of each private method at each epsilon, and of the standard one, in each fold."""


class LearningCurveRow(CurveRow):
    """Test error of each method after each increment of training records, in each fold."""


ERROR_TABLE = Table[ErrorRow]("error_table/{dataset}", ErrorRow)
EPSILON_CURVE = Table[CurveRow]("epsilon_curve/{dataset}", EpsilonCurveRow)
LEARNING_CURVE = Table[CurveRow]("learning_curve/{dataset}", LearningCurveRow)


def error_table(dataset: Path, *, epsilon: Epsilon, lam: Lambda, restarts: AtLeastOne, seed: Count, table: Path) -> None:
    """The test error of each method, fold and restart: the observations behind Figure 1."""
    prepared = read_dataset(dataset, EXPERIMENT)
    rows: list[ErrorRow] = []
    for name in METHODS:
        for fold in with_progress(range(prepared.folds), f"{name} on {dataset.stem}, folds"):
            train, test = prepared.split(fold)
            rng = stream(seed, "error_table", dataset.stem, name, fold)
            wrong = mistakes(method(name, epsilon, lam), train, test, restarts_of(name, restarts), rng)
            rows += [
                ErrorRow(**_trained(dataset, name, epsilon, lam, len(train), fold), restart=restart, error=float(error))
                for restart, error in enumerate(wrong.mean(axis=0))
            ]
    ERROR_TABLE.write(table, rows)


def learning_curve(
    dataset: Path,
    *,
    epsilon: Epsilon,
    lam: Lambda,
    increment: Positive,
    restarts: AtLeastOne,
    seed: Count,
    table: Path,
) -> None:
    """The test error after each increment of the training records, of which a fraction may stand for `increment`."""
    prepared = read_dataset(dataset, EXPERIMENT)
    sizes = _sizes(min(len(prepared.split(fold)[0]) for fold in range(prepared.folds)), increment)
    rows = []
    for name in METHODS:
        for fold in with_progress(range(prepared.folds), f"{name} on {dataset.stem}, folds"):
            train, test = prepared.split(fold)
            for n in sizes:
                rng = stream(seed, "learning_curve", dataset.stem, name, fold, n)
                part = train.take(slice(n))
                wrong = mistakes(method(name, epsilon, lam), part, test, restarts_of(name, restarts), rng)
                rows.append(_summary(dataset, name, epsilon, lam, n, fold, wrong))
    LEARNING_CURVE.write(table, rows)


def epsilon_curve(
    dataset: Path, *, epsilons: Sequence[Positive], lam: Lambda, restarts: AtLeastOne, seed: Count, table: Path
) -> None:
    """The test error of each private method at each epsilon, and of the standard one, which has none."""
    prepared = read_dataset(dataset, EXPERIMENT)
    rows = []
    cases = [(STANDARD, np.nan), *((name, epsilon) for name in PRIVATE for epsilon in sorted(epsilons))]
    for name, epsilon in with_progress(cases, f"epsilon curve of {dataset.stem}"):
        for fold in range(prepared.folds):
            train, test = prepared.split(fold)
            rng = stream(seed, "epsilon_curve", dataset.stem, name, fold, epsilon)
            wrong = mistakes(method(name, epsilon, lam), train, test, restarts_of(name, restarts), rng)
            rows.append(_summary(dataset, name, epsilon, lam, len(train), fold, wrong))
    EPSILON_CURVE.write(table, rows)


def _sizes(records: int, increment: float) -> list[int]:
    step = round(increment * records) if increment < 1 else int(increment)
    if not 1 <= step <= records:
        raise EpsilometerError(f"the increment {increment:g} gives no size of at most {records} training records")
    return [step * k for k in range(1, records // step + 1)]


def _summary(dataset: Path, name: str, epsilon: float, lam: float, n: int, fold: int, wrong: NDArray[np.bool_]) -> CurveRow:
    """One fold's mean error, and how much it varies from restart to restart and from test record to test record."""
    of_restarts, of_records = wrong.mean(axis=0), wrong.mean(axis=1)
    return CurveRow(
        **_trained(dataset, name, epsilon, lam, n, fold),
        restarts=len(of_restarts),
        records=len(of_records),
        error=float(of_restarts.mean()),
        sd_restarts=float(np.std(of_restarts, ddof=1)) if len(of_restarts) > 1 else 0.0,
        sd_records=float(np.std(of_records, ddof=1)),
    )


def _trained(dataset: Path, name: str, epsilon: float, lam: float, n: int, fold: int) -> TrainedRow:
    claimed = np.nan if name == STANDARD else epsilon
    return TrainedRow(dataset=dataset.stem, method=name, epsilon=claimed, lam=lam, n=n, fold=fold)
