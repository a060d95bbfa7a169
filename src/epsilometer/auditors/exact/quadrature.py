"""Integrals over outputs of one or two real numbers, by adaptive quadrature."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from epsilometer.auditors.exact.ratio import LogRatio, centre_and_spread, excess, free_numbers
from epsilometer.core import Array, NeighbouringPair

SMALLEST_MASS_ERROR = 1e-6
"""The largest deviation of a density's integral from 1. Beyond it there are atoms, or peaks too narrow for the grid."""
LARGEST_EVALUATIONS = {1: 1_000_000, 2: 800_000}
"""The most evaluations of a quadrature, by the number of real numbers in an output."""
BOX_TOLERANCE = {1: 1e-11, 2: 1e-9}
"""The tolerated error of a box as a share of the integral, by the number of real numbers in an output."""


@dataclass(frozen=True)
class Frame:
    """The coordinates u of outputs w = centre + scale sinh(u), which cover heavy tails, and their division into boxes."""

    centre: Array
    scale: Array
    cuts: tuple[Array, ...]
    shape: tuple[int, ...]

    @classmethod
    def of(cls, mechanism: Any, pair: NeighbouringPair, rng: np.random.Generator) -> Frame | None:
        """The frame for outputs of one or two real numbers, or None. Cuts at sample quantiles resolve narrow peaks."""
        samples = np.concatenate([np.asarray(mechanism.sample(data, 1000, rng)) for data in (pair.first, pair.second)])
        rows = samples.reshape(len(samples), -1)
        if rows.shape[1] not in LARGEST_EVALUATIONS or not free_numbers(rows).all():
            return None
        centre, scale = centre_and_spread(rows, np.ones(rows.shape, dtype=bool))
        coarse, reach, quantiles = (
            (np.linspace(0, 1, 514), 40.0, 33) if rows.shape[1] == 1 else (np.linspace(0, 1, 13), 16.0, 7)
        )
        cuts = []
        for k in range(rows.shape[1]):
            halves = (rows[:1000, k], rows[1000:, k])
            marks = np.concatenate([np.quantile(half, np.linspace(0.01, 0.99, quantiles)) for half in halves])
            inner = np.arcsinh((marks - centre[k]) / scale[k])
            cuts.append(np.unique(np.concatenate([(2 * coarse - 1) * reach, inner])))
        return cls(centre, scale, tuple(cuts), samples.shape[1:])

    def boxes(self) -> tuple[Array, Array]:
        """The low and the high corner of each box."""
        low = np.stack(np.meshgrid(*(cut[:-1] for cut in self.cuts), indexing="ij"), axis=-1)
        high = np.stack(np.meshgrid(*(cut[1:] for cut in self.cuts), indexing="ij"), axis=-1)
        return low.reshape(-1, len(self.cuts)), high.reshape(-1, len(self.cuts))


@dataclass(frozen=True)
class Nodes:
    """A quadrature rule adapted to some epsilons: log p and log p' at its nodes, its weights, and its estimated errors."""

    first: Array
    second: Array
    weights: Array
    errors: Array
    """The estimated error of delta at each of these epsilons."""

    @property
    def mass(self) -> float:
        """The integral of p."""
        return float(np.sum(self.weights * np.exp(self.first)))

    def delta(self, epsilon: float) -> float:
        return float(np.sum(self.weights * excess(self.first, self.second, epsilon)))

    def slope(self, epsilon: float) -> float:
        """-delta'(epsilon) = e^epsilon P'(L > epsilon)."""
        above = self.first > self.second + epsilon
        return float(np.sum(self.weights[above] * np.exp(epsilon + self.second[above])))


def nodes_for(ratio: LogRatio, epsilons: Sequence[float], frame: Frame | None) -> Nodes | None:
    """The rule for these epsilons; None if the outputs have no frame or the integral of p is not 1."""
    if frame is None:
        return None

    def log_densities(u: Array) -> tuple[Array, Array]:
        outputs = frame.centre + frame.scale * np.sinh(u)
        first, second = ratio.log_densities(outputs.reshape(len(u), *frame.shape))
        stretch = np.log(frame.scale * np.cosh(u)).sum(axis=1)
        return np.nan_to_num(first + stretch, nan=-np.inf, posinf=0.0, neginf=-np.inf), second + stretch

    nodes = _adapt_boxes(log_densities, epsilons, *frame.boxes())
    return nodes if abs(nodes.mass - 1) <= SMALLEST_MASS_ERROR else None


@cache
def _lobatto(count: int) -> tuple[Array, Array]:
    """Gauss-Lobatto nodes on [-1, 1] and weights. They include both ends, so that a kink next to an end is noticed."""
    last = np.polynomial.Legendre.basis(count - 1)
    points = np.concatenate([[-1.0], np.sort(last.deriv().roots().real), [1.0]])
    return points, 2 / (count * (count - 1) * last(points) ** 2)


def _adapt_boxes(
    log_densities: Callable[[Array], tuple[Array, Array]], epsilons: Sequence[float], low: Array, high: Array
) -> Nodes:
    """Gauss-Lobatto rules on boxes, which are halved along every side until the parts agree with the whole.

    The integrals of p and of each (p - e^epsilon p')_+ must agree to `BOX_TOLERANCE`, unless the evaluations are used up.
    """
    d = low.shape[1]
    points, weights = _lobatto(12 if d == 1 else 6)
    grid = np.stack(np.meshgrid(*[points] * d, indexing="ij"), axis=-1).reshape(-1, d)
    weight = np.prod(np.stack(np.meshgrid(*[weights] * d, indexing="ij"), axis=-1).reshape(-1, d), axis=1)
    corners = np.stack(np.meshgrid(*[[0.0, 0.5]] * d, indexing="ij"), axis=-1).reshape(-1, d)

    def rule(low: Array, high: Array) -> tuple[Array, Array, Array]:
        """The integrals over each box, the log-densities at its nodes, and their weights."""
        half = (high - low) / 2
        u = (low + half)[:, None] + half[:, None] * grid
        logs = np.stack(log_densities(u.reshape(-1, d))).reshape(2, len(low), len(grid))
        own = weight * np.prod(half, axis=1)[:, None]
        with np.errstate(under="ignore"):
            values = np.stack([*(excess(logs[0], logs[1], epsilon) for epsilon in epsilons), np.exp(logs[0])])
        return np.sum(values * own, axis=2), logs, own

    kept_logs, kept_weights = [], []
    total, errors = np.zeros(len(epsilons) + 1), np.zeros(len(epsilons))
    (coarse, _, _), used = rule(low, high), len(low) * len(grid)
    while len(low):
        side = high - low
        child_low = (low[:, None] + corners * side[:, None]).reshape(-1, d)
        child_high = child_low + np.repeat(side, len(corners), axis=0) / 2
        children, logs, own = rule(child_low, child_high)
        used += len(child_low) * len(grid)
        fine = children.reshape(len(total), len(low), len(corners)).sum(axis=2)
        difference = np.abs(fine - coarse)
        tolerance = BOX_TOLERANCE[d] * (total + fine.sum(axis=1)) + 1e-18
        accepted = np.all(difference <= tolerance[:, None], axis=0) | np.all(side < 1e-14, axis=1)
        if used + len(corners) * len(grid) * int(np.sum(~accepted)) * len(corners) > LARGEST_EVALUATIONS[d]:
            accepted[:] = True
        total = total + fine[:, accepted].sum(axis=1)
        errors += difference[:-1, accepted].sum(axis=1)
        done = np.repeat(accepted, len(corners))
        kept_logs.append(logs[:, done].reshape(2, -1))
        kept_weights.append(own[done].ravel())
        low, high, coarse = child_low[~done], child_high[~done], children[:, ~done]
    first, second = np.concatenate(kept_logs, axis=1)
    return Nodes(first, second, np.concatenate(kept_weights), errors)
