"""Test error as a function of what varies: nothing (the table), the number of training records, or epsilon."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from epsilometer.core import EpsilometerError, stream, write_table
from epsilometer.data import read_dataset
from epsilometer.data.prepare import EXPERIMENT
from epsilometer.experiments.protocol import (
    METHODS,
    PRIVATE,
    STANDARD,
    method,
    mistakes,
    restarts_of,
    with_progress,
)


def error_table(dataset: Path, output: Path, *, epsilon: float, lam: float, restarts: int, seed: int) -> None:
    """Write the test error of each method, fold and restart: the observations behind Figure 1."""
    prepared = read_dataset(dataset, EXPERIMENT)
    rows = []
    for name in METHODS:
        for fold in with_progress(range(prepared.folds), f"{name} on {dataset.stem}, folds"):
            train, test = prepared.split(fold)
            rng = stream(seed, "error_table", dataset.stem, name, fold)
            wrong = mistakes(method(name, epsilon, lam), train, test, restarts_of(name, restarts), rng)
            rows += [
                {
                    "dataset": dataset.stem,
                    "method": name,
                    "epsilon": np.nan if name == STANDARD else epsilon,
                    "lam": lam,
                    "n": len(train),
                    "fold": fold,
                    "restart": restart,
                    "error": error,
                }
                for restart, error in enumerate(wrong.mean(axis=0))
            ]
    write_table(output, rows)


def learning_curve(
    dataset: Path, output: Path, *, epsilon: float, lam: float, increment: float, restarts: int, seed: int
) -> None:
    """Write the test error after each increment of the training records, of which a fraction may stand for `increment`."""
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
    write_table(output, rows)


def epsilon_curve(dataset: Path, output: Path, *, epsilons: Sequence[float], lam: float, restarts: int, seed: int) -> None:
    """Write the test error of each private method at each epsilon, and of the standard one, which has none."""
    prepared = read_dataset(dataset, EXPERIMENT)
    rows = []
    cases = [(STANDARD, np.nan), *((name, epsilon) for name in PRIVATE for epsilon in sorted(epsilons))]
    for name, epsilon in with_progress(cases, f"epsilon curve of {dataset.stem}"):
        for fold in range(prepared.folds):
            train, test = prepared.split(fold)
            rng = stream(seed, "epsilon_curve", dataset.stem, name, fold, epsilon)
            wrong = mistakes(method(name, epsilon, lam), train, test, restarts_of(name, restarts), rng)
            rows.append(_summary(dataset, name, epsilon, lam, len(train), fold, wrong))
    write_table(output, rows)


def _sizes(records: int, increment: float) -> list[int]:
    step = round(increment * records) if increment < 1 else int(increment)
    if not 1 <= step <= records:
        raise EpsilometerError(f"the increment {increment:g} gives no size of at most {records} training records")
    return [step * k for k in range(1, records // step + 1)]


def _summary(
    dataset: Path, name: str, epsilon: float, lam: float, n: int, fold: int, wrong: NDArray[np.bool_]
) -> dict[str, Any]:
    """One fold's mean error, and how much it varies from restart to restart and from test record to test record."""
    of_restarts, of_records = wrong.mean(axis=0), wrong.mean(axis=1)
    return {
        "dataset": dataset.stem,
        "method": name,
        "epsilon": np.nan if name == STANDARD else epsilon,
        "lam": lam,
        "n": n,
        "fold": fold,
        "restarts": len(of_restarts),
        "records": len(of_records),
        "error": float(of_restarts.mean()),
        "sd_restarts": float(np.std(of_restarts, ddof=1)) if len(of_restarts) > 1 else 0.0,
        "sd_records": float(np.std(of_records, ddof=1)),
    }
