"""The job that prepares a data set, whichever layer or paper it comes from."""

from __future__ import annotations

from pathlib import Path

from epsilometer.core import EpsilometerError
from epsilometer.core.arguments import AtLeastOne, Count, Positive
from epsilometer.data import prepare_dataset
from epsilometer.papers.registry import datasets


def dataset(
    name: str,
    *,
    holdout: Positive,
    folds: AtLeastOne,
    seed: Count,
    table: Path,
    points: Count = 0,
    csv: Path | None = None,
) -> None:
    """Draw or read a data set, check it, and divide it into holdout and experiment, each in folds.

    `holdout` is a number of records for data that are drawn, and a share of the records for all others.
    """
    known = datasets()
    if name not in known:
        raise EpsilometerError(f"there is no data set {name!r}; there are {', '.join(known)}")
    prepare_dataset(known[name], table, points=points, holdout=holdout, folds=folds, seed=seed, csv=csv)
