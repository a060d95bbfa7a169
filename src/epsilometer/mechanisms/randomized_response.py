"""Randomised response: every bit is flipped with a fixed probability."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from epsilometer.core import Array, EpsilometerError, Guarantee, NeighbouringPair, output_rows
from epsilometer.mechanisms.catalogue import Entry

Bits = NDArray[np.int64]

LONGEST_SUPPORT = 20
"""The largest number of persons for which all 2^n outputs are listed."""


@dataclass(frozen=True)
class RandomizedResponse:
    """Each of n bits is kept with probability 1/2 + gamma and flipped with probability 1/2 - gamma, independently.

    A data set is an array with the bit of each person; an output has one column for each person, their noisy bit. One
    person's bit changes the probability of an output by a factor of at most (1/2 + gamma)/(1/2 - gamma), and of exactly
    that factor or its inverse if the bit is replaced: epsilon = log((1/2 + gamma)/(1/2 - gamma)), log 3 at gamma = 1/4.
    """

    gamma: float
    source = "postech, randomized response and its theorem; Warner 1965"

    def __post_init__(self) -> None:
        if not 0 < self.gamma < 0.5:
            raise EpsilometerError(f"gamma is {self.gamma:g}; it must be above 0 and below 1/2")

    @classmethod
    def from_epsilon(cls, epsilon: float) -> RandomizedResponse:
        """The mechanism with this claimed epsilon: gamma = (e^epsilon - 1)/(2 (e^epsilon + 1)) = tanh(epsilon/2)/2."""
        return cls(math.tanh(Guarantee(epsilon, "replace-one").epsilon / 2) / 2)

    @property
    def guarantee(self) -> Guarantee:
        return Guarantee(2 * math.atanh(2 * self.gamma), "replace-one")

    def sample(self, dataset: NDArray[Any], size: int, rng: np.random.Generator) -> Bits:
        bits = require_bits(dataset)
        return bits ^ (rng.random((size, len(bits))) < 0.5 - self.gamma)

    def log_density(self, dataset: NDArray[Any], outputs: NDArray[Any]) -> Array:
        bits = require_bits(dataset)
        outputs = output_rows(outputs, len(bits))
        possible = np.all((outputs == 0) | (outputs == 1), axis=1)
        kept = np.sum(outputs == bits, axis=1)
        log_probability = kept * math.log(0.5 + self.gamma) + (len(bits) - kept) * math.log(0.5 - self.gamma)
        return np.where(possible, log_probability, -np.inf)

    def support(self, dataset: NDArray[Any]) -> Bits:
        """All 2^n sequences of bits, in the order of binary numbers."""
        n = len(require_bits(dataset))
        if n > LONGEST_SUPPORT:
            raise EpsilometerError(f"{n} persons have 2^{n} outputs; they are listed for at most {LONGEST_SUPPORT} persons")
        return np.arange(2**n)[:, None] >> np.arange(n)[::-1] & 1

    def estimate_share(self, outputs: NDArray[Any]) -> Array:
        """For each output, an unbiased estimate of the share of ones: the mean of (Y - 1/2 + gamma)/(2 gamma)."""
        return np.mean((outputs - 0.5 + self.gamma) / (2 * self.gamma), axis=1)


def require_bits(dataset: NDArray[Any]) -> Bits:
    """The data set as integers, if it is a non-empty sequence of zeros and ones."""
    records = np.asarray(dataset)
    if records.ndim != 1 or len(records) == 0:
        raise EpsilometerError(f"the data set has shape {records.shape}; it must be a non-empty sequence of bits")
    wrong = np.flatnonzero((records != 0) & (records != 1))
    if len(wrong):
        raise EpsilometerError(f"record {wrong[0] + 1} is {records[wrong[0]]:g}; a record must be 0 or 1")
    return records.astype(np.int64)


def _pairs() -> list[NeighbouringPair]:
    return [
        NeighbouringPair(
            np.array([0]),
            np.array([1]),
            "replace-one",
            "a survey of one person: both answers reach the bound",
        ),
        NeighbouringPair(
            np.array([0, 1, 1, 0]),
            np.array([0, 1, 1, 1]),
            "replace-one",
            "the last person of four changes their answer: every output reaches the bound, in one direction or the other",
        ),
    ]


ENTRIES = (
    Entry(
        "randomized_response",
        "Randomised response on one bit for each person",
        RandomizedResponse.from_epsilon,
        _pairs,
        true_epsilon=lambda epsilon: epsilon,
    ),
)
