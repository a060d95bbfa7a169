"""What the experiments share: the four methods, and the test error of each restart in each fold."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator
from typing import TypeVar

import numpy as np

from epsilometer.core import Array, LabelledData, Mechanism
from epsilometer.mechanisms.controls import NonPrivateLogistic
from epsilometer.mechanisms.objective_perturbation import ObjectivePerturbation2008, ObjectivePerturbationCMS11
from epsilometer.mechanisms.output_perturbation import OutputPerturbation

STANDARD, ALGORITHM_1, ALGORITHM_2, CMS11 = METHODS = ("standard", "algorithm1", "algorithm2", "cms11")
PRIVATE = METHODS[1:]


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


def error_rates(
    mechanism: Mechanism, train: LabelledData, test: LabelledData, restarts: int, rng: np.random.Generator
) -> Array:
    """The share of test records that each restart's classifier sgn(w.x) gets wrong."""
    weights = mechanism.sample(train, restarts, rng)
    return np.mean((test.labels[:, None] * test.features) @ weights.T <= 0, axis=0)


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
