"""The log-likelihood ratio of a pair, the support where it can be listed, and the location and spread of outputs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from epsilometer.core import Array, EpsilometerError, HasSupport, NeighbouringPair, with_density

ROUNDING = 8 * float(np.finfo(float).eps)
"""The largest rounding error of a log-ratio, as a share of the sum of the two absolute log-densities."""
LOG_LEAST, LOG_LEAST_NORMAL = math.log(5e-324) - 1, math.log(np.finfo(float).tiny) + 1
ATOM_COUNT = 5
"""A value that occurs at least this many times in a column of the samples is an atom."""


@dataclass(frozen=True)
class LogRatio:
    """log p(w|D) - log p(w|D') of each output w; nan if both densities are 0."""

    mechanism: Any
    pair: NeighbouringPair

    def __post_init__(self) -> None:
        with_density(self.mechanism)

    def log_densities(self, outputs: NDArray[Any]) -> tuple[Array, Array]:
        with np.errstate(all="ignore"):  # a square may overflow far out; nan is handled by the callers
            first, second = (self.mechanism.log_density(data, outputs) for data in (self.pair.first, self.pair.second))
        return np.asarray(first, dtype=float), np.asarray(second, dtype=float)

    def __call__(self, outputs: NDArray[Any]) -> Array:
        first, second = self.log_densities(outputs)
        with np.errstate(invalid="ignore"):
            return first - second

    def secured(self, outputs: NDArray[Any]) -> tuple[Array, Array]:
        """|log-ratio| less its rounding error, and the log-ratio; -inf and 0 where a density is 0, infinite or subnormal.

        A log-density that was computed as the logarithm of a subnormal number has few correct digits.
        """
        first, second = self.log_densities(outputs)
        usable = np.isfinite(first) & np.isfinite(second) & ~_is_subnormal(first) & ~_is_subnormal(second)
        with np.errstate(invalid="ignore"):
            ratio = np.where(usable, first - second, 0.0)
            score = np.abs(ratio) - ROUNDING * (np.abs(first) + np.abs(second))
        return np.where(usable, score, -np.inf), ratio


def _is_subnormal(log_density: Array) -> NDArray[np.bool_]:
    """Whether it may be the logarithm of a subnormal double, which has fewer digits than others."""
    return (log_density > LOG_LEAST) & (log_density < LOG_LEAST_NORMAL)


def listed_outputs(mechanism: Any, pair: NeighbouringPair) -> NDArray[Any] | None:
    """The union of the supports under the two data sets, each output once; None if it cannot be listed."""
    if not isinstance(mechanism, HasSupport):
        return None
    try:
        outputs = np.concatenate([mechanism.support(pair.first), mechanism.support(pair.second)])
    except EpsilometerError:  # too many to list
        return None
    rows = outputs.reshape(len(outputs), -1) + 0  # -0.0 is 0.0
    _, place = np.unique(np.nan_to_num(rows.astype(float), nan=-1e300), axis=0, return_index=True)
    return outputs[np.sort(place)]


def is_real(outputs: NDArray[Any]) -> bool:
    return bool(np.issubdtype(outputs.dtype, np.floating))


def free_numbers(rows: NDArray[Any]) -> NDArray[np.bool_]:
    """A mask of the numbers in outputs that a search may vary: finite real numbers that are not atoms."""
    free = np.zeros(rows.shape, dtype=bool)
    if is_real(rows):
        for column in range(rows.shape[1]):
            _, inverse, counts = np.unique(rows[:, column], return_inverse=True, return_counts=True)
            free[:, column] = (counts[inverse] < ATOM_COUNT) & np.isfinite(rows[:, column])
    return free


def centre_and_spread(rows: NDArray[Any], free: NDArray[np.bool_]) -> tuple[Array, Array]:
    """Median and interquartile range of each column's free numbers; where there are none, 0 and 1."""
    centre, spread = np.zeros(rows.shape[1]), np.ones(rows.shape[1])
    for column in range(rows.shape[1]):
        values = rows[free[:, column], column]
        if len(values):
            low, centre[column], high = np.quantile(values, [0.25, 0.5, 0.75])
            spread[column] = (high - low) or abs(centre[column]) or 1.0
    return centre, spread


def excess(first: Array, second: Array, epsilon: float) -> Array:
    """(p - e^epsilon p')_+ from log p and log p', without cancellation where p is much larger."""
    with np.errstate(invalid="ignore", over="ignore", under="ignore"):
        above = np.exp(first) * -np.expm1(np.minimum(epsilon - (first - second), 0))
    return np.where(first > -np.inf, np.nan_to_num(above), 0.0)
