"""Composition: several mechanisms on one data set, or on disjoint parts of it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from epsilometer.core import (
    Adjacency,
    Array,
    EpsilometerError,
    Guarantee,
    HasDensity,
    HasSupport,
    LabelledData,
    NeighbouringPair,
    require_positive,
)
from epsilometer.core.nouns import Mechanism
from epsilometer.mechanisms.catalogue import Entry
from epsilometer.mechanisms.laplace import Laplace, count_five, medical_pair

Partition = Callable[[Any], NDArray[Any]]
"""The number of its part, from 0, for each record of a data set."""


@dataclass(frozen=True)
class _Composition:
    """Independent outputs of several mechanisms: the columns of the first, then those of the second, and so on.

    It has a density, the product of the parts' densities, if every part has one; the same holds for the support.
    """

    parts: Sequence[Mechanism]
    log_density: Callable[[Any, NDArray[Any]], Array] = field(init=False, repr=False, compare=False)
    """The log-density of each row; present only if every part has a density."""
    support: Callable[[Any], NDArray[Any]] = field(init=False, repr=False, compare=False)
    """Every combination of the parts' outputs; present only if every part has a support."""

    def __post_init__(self) -> None:
        if not self.parts:
            raise EpsilometerError("there are 0 mechanisms; at least 1 is needed to compose")
        require_positive(epsilon=self.guarantee.epsilon)
        if all(isinstance(part, HasDensity) for part in self.parts):
            object.__setattr__(self, "log_density", self._log_density)
        if all(isinstance(part, HasSupport) for part in self.parts):
            object.__setattr__(self, "support", self._support)

    @property
    def guarantee(self) -> Guarantee:
        raise NotImplementedError

    def shares(self, dataset: Any) -> list[Any]:
        """The records that each part is run on."""
        raise NotImplementedError

    def sample(self, dataset: Any, size: int, rng: np.random.Generator) -> NDArray[Any]:
        shares = self.shares(dataset)
        return np.column_stack([part.sample(share, size, rng) for part, share in zip(self.parts, shares, strict=True)])

    def _log_density(self, dataset: Any, outputs: NDArray[Any]) -> Array:
        total = np.zeros(len(outputs))
        for part, share, own in self._split(dataset, outputs):
            total += part.log_density(share, own)
        return total

    def _split(self, dataset: Any, outputs: NDArray[Any]) -> Iterator[tuple[Any, Any, NDArray[Any]]]:
        """Each part with its records and its columns, the latter in the shape of the part's own outputs."""
        shares = self.shares(dataset)
        shapes = [_output_shape(part, share) for part, share in zip(self.parts, shares, strict=True)]
        ends = np.cumsum([math.prod(shape) for shape in shapes])
        if outputs.ndim != 2 or outputs.shape[1] != ends[-1]:
            raise EpsilometerError(f"the outputs have shape {outputs.shape}; they must have {ends[-1]} columns")
        columns = np.split(outputs, ends[:-1], axis=1)
        for part, share, shape, own in zip(self.parts, shares, shapes, columns, strict=True):
            yield part, share, own.reshape(len(outputs), *shape)

    def _support(self, dataset: Any) -> NDArray[Any]:
        tables = []
        for part, share in zip(self.parts, self.shares(dataset), strict=True):
            assert isinstance(part, HasSupport)
            outputs = np.asarray(part.support(share))
            tables.append(outputs.reshape(len(outputs), -1))
        rows = np.indices([len(table) for table in tables]).reshape(len(tables), -1)
        return np.column_stack([table[row] for table, row in zip(tables, rows, strict=True)])


@dataclass(frozen=True)
class SequentialComposition(_Composition):
    """All mechanisms run on the whole data set with independent randomness: epsilons and deltas add up."""

    source = "review, Theorem 2; McSherry 2010"

    @property
    def guarantee(self) -> Guarantee:
        epsilons, deltas, adjacency = promises(self.parts)
        return Guarantee(sum(epsilons), adjacency, sum(deltas))

    def shares(self, dataset: Any) -> list[Any]:
        return [dataset] * len(self.parts)


@dataclass(frozen=True)
class ParallelComposition(_Composition):
    """Each mechanism runs on its own part of the data set; `partition` gives for each record the number of its part.

    A record's part depends on its value or on its place in the data set (`by`). With e the largest epsilon of the parts, the
    guarantee is e by value under add-remove, e by place under replace-one, and 2 e by value under replace-one; by place
    under add-remove there is none. Proof: docs/proofs/counts.md.
    """

    partition: Partition
    adjacency: Adjacency = "add-remove"
    by: Literal["value", "place"] = "value"
    source = "review, Theorem 1; McSherry 2010"

    @property
    def guarantee(self) -> Guarantee:
        epsilons, deltas, promised = promises(self.parts)
        epsilon, delta = max(epsilons), max(deltas)
        if self.by == "place" and self.adjacency == "add-remove":
            raise EpsilometerError("by is 'place' and adjacency is 'add-remove'; a partition by place needs 'replace-one'")
        needed: Adjacency = "replace-one" if self.by == "place" else "add-remove"
        if promised != needed:
            raise EpsilometerError(f"the mechanisms promise {promised}; a partition by {self.by} needs {needed}")
        if self.by == "value" and self.adjacency == "replace-one":
            return Guarantee(2 * epsilon, "replace-one", (1 + math.exp(min(epsilon, 700))) * delta)
        return Guarantee(epsilon, self.adjacency, delta)

    def shares(self, dataset: Any) -> list[Any]:
        numbers = np.asarray(self.partition(dataset))
        if numbers.shape != (len(dataset),):
            raise EpsilometerError(
                f"the partition has shape {numbers.shape} for {len(dataset)} records; it must number each"
            )
        wrong = np.flatnonzero(~np.isin(numbers, np.arange(len(self.parts))))
        if len(wrong):
            raise EpsilometerError(
                f"record {wrong[0] + 1} is in part {numbers[wrong[0]]:g}; a part must be one of 0 to {len(self.parts) - 1}"
            )
        return [_take_rows(dataset, np.flatnonzero(numbers == number)) for number in range(len(self.parts))]


@dataclass(frozen=True)
class ParallelCompositionAsPrinted(ParallelComposition):
    """The parallel theorem as review prints it: the largest epsilon, with replace-one neighbours and any partition.

    Its Definition 1 compares data sets of the same size that differ in one record. With a partition by the records' values
    such a record can change the outputs of two parts at once, and the true cost is the sum of both.
    """

    adjacency: Adjacency = "replace-one"
    source = "review, Definition 1 and Theorem 1"

    @property
    def guarantee(self) -> Guarantee:
        epsilons, deltas, _ = promises(self.parts)
        return Guarantee(max(epsilons), self.adjacency, max(deltas))


def promises(parts: Sequence[Mechanism]) -> tuple[list[float], list[float], Adjacency]:
    """The epsilons and deltas of all parts, and the adjacency that they must agree on."""
    guarantees = []
    for number, part in enumerate(parts, start=1):
        if part.guarantee is None:
            raise EpsilometerError(f"mechanism {number} is {type(part).__name__}, which promises nothing; it must promise")
        guarantees.append(part.guarantee)
    adjacency = guarantees[0].adjacency
    for number, guarantee in enumerate(guarantees, start=1):
        if guarantee.adjacency != adjacency:
            raise EpsilometerError(
                f"mechanism {number} promises {guarantee.adjacency} and mechanism 1 {adjacency}; they must agree"
            )
    return [guarantee.epsilon for guarantee in guarantees], [guarantee.delta for guarantee in guarantees], adjacency


def _output_shape(part: Mechanism, share: Any) -> tuple[int, ...]:
    """The shape of one output, from an example that is not released."""
    return np.shape(part.sample(share, 1, np.random.default_rng(0)))[1:]


def _take_rows(dataset: Any, rows: NDArray[Any]) -> Any:
    return dataset.take(rows) if isinstance(dataset, LabelledData) else np.asarray(dataset)[rows]


def _noisy_record_counts(*epsilons: float) -> tuple[Laplace, ...]:
    """For each epsilon a mechanism that counts the records of its part, private under add-remove."""
    return tuple(Laplace(len, 1, epsilon, "add-remove") for epsilon in epsilons)


def category(dataset: NDArray[Any]) -> NDArray[Any]:
    """The partition of a data set of categories 0, 1, ..., in which each record is the number of its part."""
    return np.asarray(dataset)


def _sequential_pairs() -> list[NeighbouringPair]:
    return [medical_pair(4, "Alice's diagnosis moves both releases of the count by their whole sensitivity")]


def _add_remove_pairs() -> list[NeighbouringPair]:
    return [
        NeighbouringPair(
            np.array([0, 0, 1]),
            np.array([0, 0, 1, 0]),
            "add-remove",
            "one record more in the part with the larger epsilon; the other part stays as it is",
        )
    ]


def _replace_one_pairs() -> list[NeighbouringPair]:
    return [
        NeighbouringPair(
            np.array([0, 0, 1]),
            np.array([0, 1, 1]),
            "replace-one",
            "one record leaves the first part and enters the second, so both counts move",
        )
    ]


ENTRIES = (
    Entry(
        "sequential_composition",
        "Sequential composition, the same count twice",
        lambda epsilon: SequentialComposition(
            (Laplace(count_five, 1, epsilon / 3), Laplace(count_five, 1, 2 * epsilon / 3)),
        ),
        _sequential_pairs,
        true_epsilon=lambda epsilon: epsilon,
    ),
    Entry(
        "parallel_composition",
        "Parallel composition, a histogram under add-remove",
        lambda epsilon: ParallelComposition(_noisy_record_counts(epsilon, epsilon / 2), category),
        _add_remove_pairs,
        true_epsilon=lambda epsilon: epsilon,
    ),
    Entry(
        "parallel_composition_replace_one",
        "Parallel composition, a histogram under replace-one, which pays twice",
        lambda epsilon: ParallelComposition(_noisy_record_counts(epsilon / 2, epsilon / 2), category, "replace-one"),
        _replace_one_pairs,
        true_epsilon=lambda epsilon: epsilon,
    ),
    Entry(
        "parallel_composition_as_printed",
        "Parallel composition, a histogram under replace-one, which pays once",
        lambda epsilon: ParallelCompositionAsPrinted(_noisy_record_counts(epsilon, epsilon), category),
        _replace_one_pairs,
        flaw="The theorem holds for add-remove neighbours; a replaced record can leave one part and enter another, and then "
        "both parts spend their epsilon.",
        true_epsilon=lambda epsilon: 2 * epsilon,
    ),
)
