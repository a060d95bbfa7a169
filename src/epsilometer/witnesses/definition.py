"""The common parts of the definitions: data sets as 50-digit numbers, and the densities of common noise distributions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import mpmath as mp
import numpy as np

from epsilometer.core import Adjacency, EpsilometerError, LabelledData

DIGITS = 50
Number = Any
"""An mpmath number."""
LogDensity = Callable[[Number, Any, list[Number]], Number]
"""The log-density of an output, as a function of the claimed epsilon, the data set and the output."""


@dataclass(frozen=True)
class Definition:
    """An independent definition of a mechanism of the catalogue."""

    log_density: LogDensity
    adjacency: Adjacency = "replace-one"
    delta: float = 0.0


def numbers(dataset: Any) -> list[Number]:
    """The records of a data set of numbers."""
    if isinstance(dataset, LabelledData) or np.ndim(dataset) != 1:
        raise EpsilometerError("the witness's data sets must be sequences of numbers")
    return [mp.mpf(float(value)) for value in dataset]


def table(dataset: Any, columns: int | None = None) -> list[list[Number]]:
    """The records of a data set of rows, all of the same (or the given) length."""
    if (
        isinstance(dataset, LabelledData)
        or np.ndim(dataset) != 2
        or np.shape(dataset)[1] != (columns or np.shape(dataset)[1])
    ):
        raise EpsilometerError(
            f"the witness's data sets must be tables of numbers{f' with {columns} columns' * bool(columns)}"
        )
    return [[mp.mpf(float(value)) for value in row] for row in dataset]


def bits(dataset: Any) -> list[Number]:
    """The records of a data set of zeros and ones."""
    values = numbers(dataset)
    for number, bit in enumerate(values, start=1):
        if bit not in (0, 1):
            raise EpsilometerError(f"record {number} of the witness's data set is {mp.nstr(bit, 8)}; it must be 0 or 1")
    return values


def counts_of_columns(dataset: Any) -> list[Number]:
    """The answers to counting queries on a table of zeros and ones: the number of ones in each column."""
    rows = table(dataset)
    if any(bit not in (0, 1) for row in rows for bit in row):
        raise EpsilometerError("the witness's data sets must be tables of zeros and ones")
    return [mp.fsum(column) for column in zip(*rows, strict=True)]


def require_length(output: Sequence[Number], length: int) -> None:
    """Raise an error for an output of another length."""
    if len(output) != length:
        raise EpsilometerError(f"the witness's output has {len(output)} numbers; it must have {length}")


def log_laplace(answers: Sequence[Number], output: Sequence[Number], scales: Sequence[Number]) -> Number:
    """The log-density of answers with independent noise of density exp(-|z|/b)/(2b)."""
    require_length(output, len(answers))
    return mp.fsum(-abs(o - a) / b - mp.log(2 * b) for o, a, b in zip(output, answers, scales, strict=True))


def log_chosen(weights: dict[Number, Number], output: list[Number]) -> Number:
    """The log-probability of a choice among finitely many numbers, each with probability ~ e^weight."""
    require_length(output, 1)
    if output[0] not in weights:
        return -mp.inf
    return weights[output[0]] - mp.log(mp.fsum(mp.exp(weight) for weight in weights.values()))
