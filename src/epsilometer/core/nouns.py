"""Guarantee, labelled data and mechanism."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal, Protocol, get_args, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from epsilometer.core.errors import EpsilometerError

Array = NDArray[np.float64]
Adjacency = Literal["replace-one", "add-remove"]

NORM_SLACK = 1e-9
"""How far rounding may carry a record beyond the unit ball."""


@dataclass(frozen=True)
class Guarantee:
    """What a mechanism promises: (epsilon, delta)-differential privacy for one adjacency.

    `epsilon` is above 0, `delta` in [0, 1), and `adjacency` says which data sets are neighbours: "replace-one" if they
    differ in the value of one record, "add-remove" if one of them has a record more.

    >>> Guarantee(1.0, "replace-one", delta=1e-5)
    Guarantee(epsilon=1.0, adjacency='replace-one', delta=1e-05)
    >>> Guarantee(0.0, "replace-one")
    Traceback (most recent call last):
    epsilometer.core.errors.EpsilometerError: epsilon is 0; it must be above 0
    """

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
    """Records in the unit ball with labels -1 or +1; checked, never mended, at construction.

    `features` is a table with a row for each record, and `labels` has a number for each. With `weights`, row i stands for
    weights[i] equal records, so that a data set of millions can be small.

    >>> data = LabelledData(np.array([[0.6, 0.8], [0.0, 0.1]]), np.array([1.0, -1.0]), weights=np.array([1.0, 99.0]))
    >>> len(data), data.n
    (2, 100.0)
    """

    features: Array
    labels: Array
    weights: Array | None = None

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
        if self.weights is not None:
            if self.weights.shape != self.labels.shape:
                raise EpsilometerError(f"there are {len(self)} records but weights of shape {self.weights.shape}")
            _refuse(~(self.weights > 0), "has weight {:g}; a weight must be above 0", self.weights)

    def __len__(self) -> int:
        """The number of rows."""
        return len(self.features)

    @property
    def n(self) -> float:
        """The number of records: rows, counted with their weights."""
        return float(len(self)) if self.weights is None else float(self.weights.sum())

    @property
    def signed(self) -> Array:
        """The rows y_i x_i, on which losses of the margin y w.x depend."""
        return self.labels[:, None] * self.features

    def take(self, rows: NDArray[Any] | slice) -> LabelledData:
        """The records at `rows`, which were checked already."""
        part = object.__new__(LabelledData)
        object.__setattr__(part, "features", self.features[rows])
        object.__setattr__(part, "labels", self.labels[rows])
        object.__setattr__(part, "weights", None if self.weights is None else self.weights[rows])
        return part


Dataset = LabelledData | NDArray[Any]
"""Labelled data, or an array with a row (or a scalar) for each record."""


def _refuse(bad: NDArray[np.bool_], complaint: str, values: Array | None = None) -> None:
    """Raise for the first bad record, with its number (counted from 1), its value and how many more there are."""
    if bad.any():
        first = int(np.flatnonzero(bad)[0])
        value = math.nan if values is None else values[first]
        others = int(bad.sum()) - 1
        raise EpsilometerError(
            f"record {first + 1} {complaint.format(value)}" + (f" (and {others} more such records)" if others else "")
        )


def require_positive(**values: float) -> None:
    """Raise, with the name and the value, for the first of these parameters that is not a positive finite number."""
    for name, value in values.items():
        if not 0 < value < math.inf:
            raise EpsilometerError(f"{name} is {value:g}; it must be a number above 0")


def output_rows(outputs: NDArray[Any], numbers: int) -> Array:
    """The outputs as rows of `numbers` numbers each, if they are that."""
    rows = np.asarray(outputs, dtype=float)
    if rows.ndim != 2 or rows.shape[1] != numbers:
        raise EpsilometerError(f"the outputs have shape {rows.shape}; for these data they must be rows of length {numbers}")
    return rows


@dataclass(frozen=True)
class NeighbouringPair:
    """Two data sets that differ in one record, and why they are worth a look.

    `first` and `second` are arrays with a row (or a number) for each record, or `LabelledData`. `adjacency` says in what
    they differ, and is checked: one record is exchanged ("replace-one"), or one of them has a record more ("add-remove").
    The `reason` says in a few words why this pair may show how much is spent.

    >>> pair = NeighbouringPair(np.array([1.0, 0.0]), np.array([0.0, 0.0]), "replace-one", "the sum differs by one")
    >>> pair.reversed().first.tolist()
    [0.0, 0.0]
    >>> NeighbouringPair(np.array([1.0, 1.0]), np.zeros(2), "replace-one", "two differ")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    epsilometer.core.errors.EpsilometerError: the data sets are no replace-one neighbours: one record exchanged ...
    """

    first: Dataset
    second: Dataset
    adjacency: Adjacency
    reason: str

    def __post_init__(self) -> None:
        first, second = _counted(self.first), _counted(self.second)
        difference = {record: first.get(record, 0) - second.get(record, 0) for record in first | second}
        changes = sorted(change for change in difference.values() if abs(change) > 1e-9)
        if changes != [-1, 1] if self.adjacency == "replace-one" else changes not in ([-1], [1]):
            wanted = "one record exchanged" if self.adjacency == "replace-one" else "one record more or less"
            raise EpsilometerError(f"the data sets are no {self.adjacency} neighbours: {wanted} is wanted, not {changes}")

    def reversed(self) -> NeighbouringPair:
        """The same pair, looked at from the other side."""
        return NeighbouringPair(self.second, self.first, self.adjacency, self.reason)


def _counted(dataset: Dataset) -> dict[bytes, float]:
    """How often each record occurs."""
    weights: Any
    if isinstance(dataset, LabelledData):
        rows, weights = np.column_stack([dataset.features, dataset.labels]), dataset.weights
    else:
        rows, weights = np.asarray(dataset).reshape(len(dataset), -1), None
    counts: dict[bytes, float] = {}
    for row, weight in zip(rows + 0.0, np.ones(len(rows)) if weights is None else weights, strict=True):  # -0.0 is 0.0
        counts[row.tobytes()] = counts.get(row.tobytes(), 0.0) + float(weight)
    return counts


class Mechanism(Protocol):
    """Draws outputs from a data set.

    Any object with these three members is one; a plain function will do where nothing is claimed. One that knows its output
    density also has `log_density(dataset, outputs)`, and one with finitely many outputs `support(dataset)`.
    """

    @property
    def guarantee(self) -> Guarantee | None:
        """What is promised; None for a mechanism that promises nothing."""

    @property
    def source(self) -> str:
        """Where the mechanism is defined: source, algorithm or theorem."""

    def sample(self, dataset: Any, size: int, rng: np.random.Generator) -> NDArray[Any]:
        """`size` independent outputs, stacked along the first axis."""


@runtime_checkable
class HasDensity(Protocol):
    """A mechanism that knows the density of its outputs, or their probability where they are discrete."""

    def log_density(self, dataset: Any, outputs: NDArray[Any]) -> Array:
        """The log-density of each output; -inf where it is impossible."""


@runtime_checkable
class HasSupport(Protocol):
    """A mechanism with finitely many outputs, which it can list."""

    def support(self, dataset: Any) -> NDArray[Any]:
        """Every possible output, stacked along the first axis."""
