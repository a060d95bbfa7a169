"""Guarantee, labelled data and mechanism."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal, Protocol, get_args

import numpy as np
from numpy.typing import NDArray

from epsilometer.core.errors import EpsilometerError

Array = NDArray[np.float64]
Adjacency = Literal["replace-one", "add-remove"]

NORM_SLACK = 1e-9
"""How far rounding may carry a record beyond the unit ball."""


@dataclass(frozen=True)
class Guarantee:
    """What a mechanism promises: (epsilon, delta)-differential privacy for one adjacency."""

    epsilon: float
    adjacency: Adjacency
    delta: float = 0.0

    def __post_init__(self) -> None:
        if not self.epsilon > 0:
            raise EpsilometerError(f"epsilon is {self.epsilon:g}; it must be above 0")
        if not 0 <= self.delta < 1:
            raise EpsilometerError(f"delta is {self.delta:g}; it must be in [0, 1)")
        if self.adjacency not in get_args(Adjacency):
            raise EpsilometerError(f"adjacency is {self.adjacency!r}; it must be one of {', '.join(get_args(Adjacency))}")


@dataclass(frozen=True)
class LabelledData:
    """Records in the unit ball with labels -1 or +1; checked, never mended, at construction."""

    features: Array
    labels: Array

    def __post_init__(self) -> None:
        if self.features.ndim != 2 or len(self.features) == 0:
            raise EpsilometerError(
                f"features have shape {self.features.shape}; they must be a non-empty table, a row for each record"
            )
        if self.labels.shape != (len(self.features),):
            raise EpsilometerError(f"there are {len(self.features)} records but labels of shape {self.labels.shape}")
        _refuse(
            np.any(~np.isfinite(self.features), axis=1), "has a missing or infinite value; fill it or leave the record out"
        )
        norms = np.linalg.norm(self.features, axis=1)
        _refuse(norms > 1 + NORM_SLACK, "has norm {:.6g}; scale the records by a public bound to at most 1", norms)
        _refuse(~np.isin(self.labels, (-1.0, 1.0)), "has label {:g}; a label must be -1 or 1", self.labels)

    def __len__(self) -> int:
        return len(self.features)

    def take(self, rows: NDArray[Any] | slice) -> LabelledData:
        """The records at `rows`, which were checked already."""
        part = object.__new__(LabelledData)
        object.__setattr__(part, "features", self.features[rows])
        object.__setattr__(part, "labels", self.labels[rows])
        return part


def _refuse(bad: NDArray[np.bool_], complaint: str, values: Array | None = None) -> None:
    """Raise for the first bad record, with its number (counted from 1), its value and how many more there are."""
    if bad.any():
        first = int(np.flatnonzero(bad)[0])
        value = math.nan if values is None else values[first]
        others = int(bad.sum()) - 1
        raise EpsilometerError(
            f"record {first + 1} {complaint.format(value)}" + (f" (and {others} more such records)" if others else "")
        )


class Mechanism(Protocol):
    """Draws outputs from a data set."""

    @property
    def guarantee(self) -> Guarantee | None:
        """What is promised; None for a mechanism that promises nothing."""

    @property
    def source(self) -> str:
        """Where the mechanism is defined: source, algorithm or theorem."""

    def sample(self, dataset: Any, size: int, rng: np.random.Generator) -> Array:
        """`size` independent outputs, stacked along the first axis."""
