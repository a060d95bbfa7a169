"""What the experiments share: the four methods, and the test error of each restart in each fold."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from epsilometer.core import LabelledData, Mechanism
from epsilometer.mechanisms.controls import NonPrivateLogistic
from epsilometer.mechanisms.objective_perturbation import ObjectivePerturbation2008, ObjectivePerturbationCMS11
from epsilometer.mechanisms.output_perturbation import OutputPerturbation

STANDARD, ALGORITHM_1, ALGORITHM_2, CMS11 = "standard", "algorithm1", "algorithm2", "cms11"
METHODS = {
    STANDARD: "Standard logistic regression",
    ALGORITHM_1: "Sensitivity method (Algorithm 1)",
    ALGORITHM_2: "New method (Algorithm 2, as printed in 2008)",
    CMS11: "Objective perturbation (CMS11)",
}
"""What each method is called in figures and on the page, by its name in the tables."""
SUMMARY_COLUMNS = {
    "dataset": "Data",
    "method": "Method",
    "epsilon": "Epsilon",
    "mean": "Measured mean",
    "sd_folds": "Spread over folds",
    "sd_restarts": "Spread over restarts",
}
"""The columns of a table of mean test errors, and their heads on the page."""
PRIVATE = (ALGORITHM_1, ALGORITHM_2, CMS11)


def method(name: str, epsilon: float, lam: float) -> Mechanism:
    """The mechanism of that name; CMS11 regularises more, as its paper says, where epsilon is too small for lambda."""
    match name:
        case "standard":
            return NonPrivateLogistic(lam)
        case "algorithm1":
            return OutputPerturbation(epsilon, lam)
        case "algorithm2":
            return ObjectivePerturbation2008(epsilon, lam)
        case "cms11":
            return ObjectivePerturbationCMS11(epsilon, lam, extra_regularisation=True)
    raise ValueError(name)


def restarts_of(name: str, restarts: int) -> int:
    """How many restarts a method needs: one where nothing is random."""
    return 1 if name == STANDARD else restarts


def mistakes(
    mechanism: Mechanism, train: LabelledData, test: LabelledData, restarts: int, rng: np.random.Generator
) -> NDArray[np.bool_]:
    """Which test records, rows, each restart's classifier sgn(w.x), a column, gets wrong."""
    return test.signed @ mechanism.sample(train, restarts, rng).T <= 0


T = TypeVar("T")


def with_progress(items: Iterable[T], what: str) -> Iterator[T]:
    """The items, with a line on standard error about every five seconds that says how far it has come."""
    everything = list(items)
    said = time.monotonic()
    for number, item in enumerate(everything):
        if time.monotonic() - said > 5:
            said = time.monotonic()
            print(f"{what}: {number} of {len(everything)}", file=sys.stderr, flush=True)
        yield item
