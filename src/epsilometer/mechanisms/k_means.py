"""Clustering by noisy Lloyd iterations."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from epsilometer.core import Array, EpsilometerError, Guarantee, NeighbouringPair, output_rows, require_positive
from epsilometer.mechanisms.catalogue import Entry


@dataclass(frozen=True)
class NoisyLloyd:
    """k-means whose T iterations each release noisy cluster sizes and sums and compute the new centres from them.

    Records are points of [-1, 1]^d; the first `centres` are public. Each point goes to the nearest centre (of equally near
    ones, the first). Sizes and sums get Laplace noise of scale (d + 1) T/epsilon, so an iteration costs epsilon/T under
    add-remove (proof: docs/proofs/counts.md). A new centre is the noisy sum divided by the noisy size, clipped to the cube;
    where the noisy size is below 1, the centre stays.

    An output is the whole transcript. Columns: for each iteration the k noisy sizes, then the k noisy sums, d numbers each.
    """

    epsilon: float
    centres: tuple[tuple[float, ...], ...]
    iterations: int
    source = (
        "review, section III-B1 cites graph clustering only [17]; Blum, Dwork, McSherry and Nissim 2005, SuLQ k-means; "
        "Su, Cao, Li, Bertino and Jin 2016, DPLloyd"
    )

    def __post_init__(self) -> None:
        _ = self.guarantee
        require_positive(iterations=self.iterations)
        if not self.centres or len({len(centre) for centre in self.centres}) != 1 or not self.centres[0]:
            raise EpsilometerError(f"centres are {self.centres}; they must be points of one dimension")

    @property
    def guarantee(self) -> Guarantee:
        return Guarantee(self.epsilon, "add-remove")

    @property
    def scale(self) -> float:
        """The scale of the noise on every size and sum."""
        return (len(self.centres[0]) + 1) * self.iterations / self.epsilon

    @property
    def width(self) -> int:
        """How many numbers an iteration releases."""
        return len(self.centres) * (len(self.centres[0]) + 1)

    def sample(self, dataset: NDArray[Any], size: int, rng: np.random.Generator) -> Array:
        points = self._checked_points(dataset)
        transcript = np.empty((size, self.iterations * self.width))
        centres = self._start_centres(size)
        for step in self._step_columns():
            exact = _sizes_and_sums(points, centres)
            transcript[:, step] = exact + rng.laplace(scale=self.scale, size=exact.shape)
            centres = _move(centres, transcript[:, step])
        return transcript

    def log_density(self, dataset: NDArray[Any], outputs: Array) -> Array:
        points = self._checked_points(dataset)
        outputs = output_rows(outputs, self.iterations * self.width)
        total = np.full(len(outputs), -self.iterations * self.width * math.log(2 * self.scale))
        centres = self._start_centres(len(outputs))
        for step in self._step_columns():
            total -= np.abs(outputs[:, step] - _sizes_and_sums(points, centres)).sum(axis=1) / self.scale
            centres = _move(centres, outputs[:, step])
        return total

    def final_centres(self, outputs: Array) -> Array:
        """The last centres of each transcript, (outputs, k, d): post-processing, at no cost in epsilon."""
        centres = self._start_centres(len(outputs))
        for step in self._step_columns():
            centres = _move(centres, outputs[:, step])
        return centres

    def _start_centres(self, size: int) -> Array:
        return np.broadcast_to(np.array(self.centres, dtype=float), (size, len(self.centres), len(self.centres[0])))

    def _step_columns(self) -> list[slice]:
        return [slice(number * self.width, (number + 1) * self.width) for number in range(self.iterations)]

    def _checked_points(self, dataset: NDArray[Any]) -> Array:
        points = np.asarray(dataset, dtype=float)
        d = len(self.centres[0])
        if points.ndim != 2 or len(points) == 0 or points.shape[1] != d:
            raise EpsilometerError(
                f"the data have shape {points.shape}; they must have a row of {d} coordinates for each record"
            )
        outside = points[~(np.abs(points) <= 1)]
        if len(outside):
            raise EpsilometerError(f"a coordinate is {outside[0]:g}; it must be in [-1, 1]")
        return points


def _sizes_and_sums(points: Array, centres: Array) -> Array:
    """The clusters' sizes and sums for each set of centres (size, k, d), as an iteration releases them, (size, k + k d)."""
    size, k, d = centres.shape
    sizes, sums = np.zeros((size, k)), np.zeros((size, k, d))
    squares = (centres**2).sum(axis=2)
    for point in points:  # one at a time, to avoid an array of size x points x clusters
        nearest = (squares - 2 * centres @ point).argmin(axis=1)
        inside = nearest[:, None] == np.arange(k)
        sizes += inside
        sums += inside[:, :, None] * point
    return np.hstack([sizes, sums.reshape(size, k * d)])


def _move(centres: Array, released: Array) -> Array:
    """The next centres from the noisy sizes and sums."""
    size, k, d = centres.shape
    sizes, sums = released[:, :k, None], released[:, k:].reshape(size, k, d)
    return np.where(sizes >= 1, np.clip(sums / np.maximum(sizes, 1.0), -1, 1), centres)


def _pairs() -> tuple[NeighbouringPair, ...]:
    cloud = [[0.6, 0.4], [0.5, 0.7], [0.8, 0.5], [-0.6, -0.5], [-0.4, -0.7]]
    return (
        NeighbouringPair(
            np.array(cloud), np.array([*cloud, [1.0, 1.0]]), "add-remove", "a point in a corner adds to all that is released"
        ),
        NeighbouringPair(
            np.array(cloud),
            np.array([*cloud, [0.02, -0.01]]),
            "add-remove",
            "a point between the clusters, on a side that the noise decides",
        ),
    )


ENTRIES = (
    Entry(
        "k_means",
        "k-means by noisy Lloyd iterations",
        lambda epsilon: NoisyLloyd(epsilon, ((0.5, 0.5), (-0.5, -0.5)), iterations=2),
        _pairs,
        true_epsilon=lambda epsilon: epsilon,
    ),
)
