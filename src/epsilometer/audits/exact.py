"""Exact audits: the largest log-likelihood ratio of a pair, its privacy loss, and the curve delta(epsilon).

For densities p and p' of the outputs on the two data sets, the pure epsilon of the pair is the supremum over outputs of
|log p - log p'|, and delta(epsilon) is the integral of (p - e^epsilon p')_+.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from epsilometer.audits.confidence import clopper_pearson_lower, clopper_pearson_upper
from epsilometer.core import Array, EpsilometerError, Estimate, HasDensity, HasSupport, NeighbouringPair, Witness

LARGEST_SAMPLE = 4000
"""More outputs than this, over both data sets, add nothing to the starting points of the search."""
RADII = np.logspace(-4, 8, 97)
"""How far from the centre the rays are looked at, in units of the spread; suprema are often at infinity or at a kink."""
FURTHEST = 1e9
"""The search goes no further than this, in units of the spread: beyond, rounding says more than the densities."""
ROUNDING = 8 * float(np.finfo(float).eps)
"""What rounding can add to a log-ratio, for each unit of the log-densities that are subtracted."""
CLIMBERS = 12
"""Starting points that are refined, half of them for either sign of the log-ratio."""
STEPS = 300
PATIENCE = 80
"""The climb ends when the best has not risen for so many steps; a step shrinks to nothing in 60."""
SMALLEST_GAIN = 1e-13
"""The relative gain below which a step of the climb is not taken."""
GROWING = 1e-6
"""The relative gain, over ten times the distance, from which a ratio counts as still growing."""
UNDERFLOW = -600.0
"""A log-density below this may have underflowed to -inf although the output is possible."""
ATOM_COUNT = 5
"""A value that a column of the samples holds as often as this, exactly, has a probability of its own."""


@dataclass(frozen=True)
class ExactLikelihoodRatio:
    """The supremum over outputs of |log p(w|D) - log p(w|D')|, and the output where it was found.

    Finitely many outputs are listed. Otherwise the log-ratio is maximised over outputs, from samples of both data sets and
    points far out; whatever is found is the value at an output, so it is never above the supremum, but for a point where a
    density is discontinuous. It is infinite only where an output of one data set is impossible under the other.
    """

    name: str
    """The mechanism's name in the catalogue, for the witness."""
    promised: float | None = None
    """The epsilon for which it was built; by default the one that its guarantee names."""

    def __call__(self, mechanism: Any, pair: NeighbouringPair, trials: int, rng: np.random.Generator) -> Estimate:
        ratio = _LogRatio(mechanism, pair)
        outputs = listed_outputs(mechanism, pair)
        if outputs is not None:
            return self._estimate(_best_listed(ratio, outputs), ratio, 0)
        size = min(max(trials, 2), LARGEST_SAMPLE) // 2
        first, second = (np.asarray(mechanism.sample(dataset, size, rng)) for dataset in (pair.first, pair.second))
        found = _impossible(ratio, first, second) or _search(ratio, np.concatenate([first, second]), rng)
        return self._estimate(found, ratio, 2 * size)

    def _estimate(self, found: _Found, ratio: _LogRatio, trials: int) -> Estimate:
        guarantee = ratio.mechanism.guarantee
        promised = self.promised
        if promised is None:
            promised = guarantee.epsilon if guarantee else math.inf
        log_ratio = float(ratio(found.output[None])[0])
        witness = Witness(self.name, promised, ratio.pair, found.output, log_ratio)
        epsilon = max(found.value, 0.0)
        return Estimate(epsilon, "exact likelihood ratio", 1.0, trials=trials, event=found.remark, witness=witness)


@dataclass(frozen=True)
class ExactPrivacyCurve:
    """The epsilon at which the exact curve delta(epsilon) meets the promised delta, in the worse direction.

    Where integration is out of reach, it is a lower bound from `trials` outputs at the stated confidence.
    """

    confidence: float = 0.95

    def __call__(self, mechanism: Any, pair: NeighbouringPair, trials: int, rng: np.random.Generator) -> Estimate:
        delta = mechanism.guarantee.delta if mechanism.guarantee else 0.0
        found = epsilon_at(mechanism, pair, delta, size=max(trials // 2, 1), rng=rng, confidence=self.confidence)
        drawn = 2 * max(trials // 2, 1) if found.method == SAMPLED else 0
        return Estimate(found.low, f"exact privacy curve, {found.method}", found.confidence, delta=delta, trials=drawn)


@dataclass(frozen=True)
class _LogRatio:
    """log p(w|D) - log p(w|D') of each output; nan where it is impossible under both."""

    mechanism: Any
    pair: NeighbouringPair

    def __post_init__(self) -> None:
        if not isinstance(self.mechanism, HasDensity):
            name = type(self.mechanism).__name__
            raise EpsilometerError(f"{name} does not know the density of its outputs; audit it from samples")

    def log_densities(self, outputs: NDArray[Any]) -> tuple[Array, Array]:
        with np.errstate(all="ignore"):  # far out, a square may overflow; what is not a number is not looked at
            first, second = (self.mechanism.log_density(data, outputs) for data in (self.pair.first, self.pair.second))
        return np.asarray(first, dtype=float), np.asarray(second, dtype=float)

    def __call__(self, outputs: NDArray[Any]) -> Array:
        first, second = self.log_densities(outputs)
        with np.errstate(invalid="ignore"):
            return first - second

    def secured(self, outputs: NDArray[Any]) -> tuple[Array, Array]:
        """|log-ratio| less what rounding can have added, and the log-ratio; -inf where a density is 0 or infinite."""
        first, second = self.log_densities(outputs)
        usable = np.isfinite(first) & np.isfinite(second)
        with np.errstate(invalid="ignore"):
            ratio = np.where(usable, first - second, 0.0)
            score = np.abs(ratio) - ROUNDING * (np.abs(first) + np.abs(second))
        return np.where(usable, score, -np.inf), ratio


@dataclass(frozen=True)
class _Found:
    """The largest |log-ratio|, where it is, and what is to be said about it."""

    value: float
    output: NDArray[Any]
    remark: str = ""


def listed_outputs(mechanism: Any, pair: NeighbouringPair) -> NDArray[Any] | None:
    """All outputs that are possible under either data set, each once; None where they cannot be listed."""
    if not isinstance(mechanism, HasSupport):
        return None
    try:
        outputs = np.concatenate([mechanism.support(pair.first), mechanism.support(pair.second)])
    except EpsilometerError:  # too many to list
        return None
    rows = outputs.reshape(len(outputs), -1) + 0  # -0.0 is 0.0
    _, place = np.unique(np.nan_to_num(rows.astype(float), nan=-1e300), axis=0, return_index=True)
    return outputs[np.sort(place)]


def _best_listed(ratio: _LogRatio, outputs: NDArray[Any]) -> _Found:
    values = np.abs(np.nan_to_num(ratio(outputs), nan=0.0, posinf=np.inf, neginf=-np.inf))
    best = int(np.argmax(values))
    return _Found(float(values[best]), outputs[best], _only_under_one() if np.isinf(values[best]) else "")


def _only_under_one() -> str:
    return "this output is possible under one data set only"


def _impossible(ratio: _LogRatio, first: NDArray[Any], second: NDArray[Any]) -> _Found | None:
    """An output that was drawn from one data set and is impossible under the other, if there is one.

    A density that underflowed is told from one that is 0 by its edge: on the way from where it is positive, it must vanish
    at once, or at least not below e^-600.
    """
    for side, (drawn, others) in enumerate(((first, second), (second, first))):
        own, other = (ratio.log_densities(drawn)[k] for k in (side, 1 - side))
        only = np.flatnonzero(np.isfinite(own) & np.isneginf(other))
        if len(only):
            output = drawn[only[np.argmax(own[only])]]
            if _edge_is_sharp(lambda points, k=1 - side: ratio.log_densities(points)[k], others, output):
                return _Found(math.inf, output, _only_under_one())
    return None


def _edge_is_sharp(log_density: Callable[..., Array], inside: NDArray[Any], output: NDArray[Any]) -> bool:
    """Whether the last positive density between the likeliest of the outputs `inside` and the given one is not tiny."""
    start = inside[np.argmax(log_density(inside))]
    if not (_is_real(inside) and np.all(np.isfinite(start)) and np.all(np.isfinite(output))):
        return True  # outputs without an in-between
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        positive = log_density((start + middle * (output - start))[None])[0] > -np.inf
        low, high = (middle, high) if positive else (low, middle)
    return bool(log_density((start + low * (output - start))[None])[0] > UNDERFLOW)


def _is_real(outputs: NDArray[Any]) -> bool:
    return bool(np.issubdtype(outputs.dtype, np.floating))


def _search(ratio: _LogRatio, samples: NDArray[Any], rng: np.random.Generator) -> _Found:
    """Thousands of candidates at once, then a climb from the best of either sign."""
    shape = samples.shape[1:]
    rows = samples.reshape(len(samples), -1)
    free = _free(rows)
    centre, spread = _centre_and_spread(rows, free)

    def secured(points: NDArray[Any]) -> tuple[Array, Array]:
        return ratio.secured(points.reshape(len(points), *shape))

    points, movable = _candidates(rows, free, centre, spread, rng)
    score, signed = secured(points)
    if not np.any(score > -np.inf):
        return _Found(0.0, samples[0], "no output has a positive density under both data sets")
    starts = np.concatenate([_top(np.where(sign * signed >= 0, score, -np.inf)) for sign in (1, -1)])
    landscape = _Landscape(lambda x: secured(x)[0], centre, spread)
    output, value, mask = landscape.climb(points[starts], movable[starts], rng)
    return _Found(value, output.reshape(shape), landscape.remark(output, value, mask, rng))


def _free(rows: NDArray[Any]) -> NDArray[np.bool_]:
    """Which numbers of which outputs may be varied: real ones that are no atoms (and not nan, which marks an absence)."""
    free = np.zeros(rows.shape, dtype=bool)
    if _is_real(rows):
        for column in range(rows.shape[1]):
            _, inverse, counts = np.unique(rows[:, column], return_inverse=True, return_counts=True)
            free[:, column] = (counts[inverse] < ATOM_COUNT) & np.isfinite(rows[:, column])
    return free


def _centre_and_spread(rows: NDArray[Any], free: NDArray[np.bool_]) -> tuple[Array, Array]:
    """Median and interquartile range of each column's free numbers; where there are none, 0 and 1."""
    centre, spread = np.zeros(rows.shape[1]), np.ones(rows.shape[1])
    for column in range(rows.shape[1]):
        values = rows[free[:, column], column]
        if len(values):
            low, centre[column], high = np.quantile(values, [0.25, 0.5, 0.75])
            spread[column] = (high - low) or abs(centre[column]) or 1.0
    return centre, spread


def _candidates(
    rows: NDArray[Any], free: NDArray[np.bool_], centre: Array, spread: Array, rng: np.random.Generator
) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """The samples; samples scaled about the centre; rays along the axes, the difference of the halves, and at random."""
    if not free.any():
        return rows, free
    half, d = len(rows) // 2, rows.shape[1]
    bases = rng.choice(len(rows), size=min(16, len(rows)), replace=False)
    signs = rng.choice([-1.0, 1.0], size=(8, d)) * (rng.random((8, d)) < 0.7)
    axes = np.concatenate([np.eye(d), -np.eye(d)])[rng.permutation(2 * d)[:24]]
    between = np.array([np.median(np.where(free, rows, 0.0)[part], axis=0) for part in (slice(half), slice(half, None))])
    across = (between[1] - between[0]) / spread
    directions = np.concatenate([axes, signs, rng.standard_normal((8, d)), [across, -across]])
    radii = RADII if d == 1 else RADII[::2]
    groups, masks = [rows], [free]
    for base in bases:
        origin = np.where(free[base], centre, rows[base])
        moves = np.concatenate([[(rows[base] - centre) / spread], directions[rng.permutation(len(directions))[:8]]])
        steps = np.where(free[base], (radii[:, None, None] * moves[None]).reshape(-1, d), 0.0)
        groups.append(np.where(free[base], origin + spread * np.nan_to_num(steps), rows[base]))
        masks.append(np.broadcast_to(free[base], groups[-1].shape))
    return np.concatenate(groups), np.concatenate(masks)


def _top(score: Array) -> NDArray[np.int64]:
    """The best few, of which no two have the same score to nine digits if it can be helped."""
    order = np.argsort(-score, kind="stable")
    order = order[score[order] > -np.inf]
    _, distinct = np.unique(np.round(score[order], 9), return_index=True)
    chosen = np.sort(distinct)[: CLIMBERS // 2]
    return order[chosen]


@dataclass(frozen=True)
class _Landscape:
    """A score of outputs, each a row, and the scale of each column."""

    score: Callable[[NDArray[Any]], Array]
    centre: Array
    spread: Array

    def climb(
        self, points: NDArray[Any], movable: NDArray[np.bool_], rng: np.random.Generator
    ) -> tuple[NDArray[Any], float, NDArray[np.bool_]]:
        """Pattern search from all points at once: along axes and at random, twice as far after a gain, half after none."""
        points = points.copy()
        values = self.score(points)
        if not movable.any():
            best = int(np.argmax(values))
            return points[best], float(values[best]), movable[best]
        count, d = points.shape
        steps = np.full(count, 1.0)
        numbers = np.arange(count)
        highest, since = float(values.max()), 0
        for _ in range(STEPS):
            directions = self._directions(d, rng)
            moves = steps[:, None, None] * directions[None] * self.spread
            trial = np.where(movable[:, None], points[:, None] + np.where(movable[:, None], moves, 0.0), points[:, None])
            reached = self.score(trial.reshape(-1, d)).reshape(count, -1)
            too_far = np.abs(np.nan_to_num((trial - self.centre) / self.spread)).max(axis=2) > FURTHEST
            reached = np.where(too_far & ~np.isnan(reached), -np.inf, reached)
            best = np.argmax(reached, axis=1)
            better = reached[numbers, best] > values + SMALLEST_GAIN * np.maximum(np.abs(values), 1e-3)
            points[better] = trial[numbers, best][better]
            values = np.where(better, reached[numbers, best], values)
            steps = np.clip(np.where(better, 2 * steps, steps / 2), 1e-18, FURTHEST)
            since = 0 if values.max() > highest else since + 1
            highest = max(highest, float(values.max()))
            if np.all(steps < 1e-17) or since > PATIENCE:
                break
        best_point = int(np.argmax(values))
        return points[best_point], float(values[best_point]), movable[best_point]

    @staticmethod
    def _directions(d: int, rng: np.random.Generator) -> Array:
        random = rng.standard_normal((4, d)) if d > 1 else np.array([[0.3]])
        directions = np.concatenate([np.eye(d), random])
        return np.concatenate([directions, -directions])

    def remark(self, output: NDArray[Any], value: float, movable: NDArray[np.bool_], rng: np.random.Generator) -> str:
        """Whether the ratio was still growing outwards, or towards this output; empty if neither."""
        if not movable.any():
            return ""
        away = np.where(movable, (output - self.centre) / self.spread, 0.0)
        radius = float(np.abs(away).max())
        outwards = np.array([1e-2, 1e-1, 1.0])[:, None] * away
        inner = self.score(np.where(movable, self.centre + self.spread * outwards, output))
        if radius > RADII[-1] / 10 and value - max(inner[:2].max(), 0.0) > GROWING * max(value, 1.0):
            return f"the log-ratio was still growing at the radius {radius:.3g}, in units of the outputs' spread"
        near = np.where(movable, output + 1e-6 * self.spread * self._directions(len(output), rng), output)
        if value - self.score(near).max() > 0.1:
            return f"the log-ratio was still growing towards this output, at the radius {radius:.3g} in units of the spread"
        return ""


@dataclass(frozen=True)
class PrivacyLoss:
    """The law of L = log p/p' under the first data set: values in order, each with its probability."""

    losses: Array
    """The atoms, if `exact`; otherwise one value for each output drawn. Infinite for an output impossible under p'."""
    probabilities: Array
    exact: bool


def privacy_loss_distribution(mechanism: Any, pair: NeighbouringPair, size: int, rng: np.random.Generator) -> PrivacyLoss:
    """The privacy loss: exact atoms where the outputs can be listed, else the losses of `size` outputs."""
    ratio = _LogRatio(mechanism, pair)
    outputs = listed_outputs(mechanism, pair)
    if outputs is None:
        losses = np.sort(ratio(np.asarray(mechanism.sample(pair.first, size, rng))))
        return PrivacyLoss(losses, np.full(size, 1 / size), exact=False)
    first, second = ratio.log_densities(outputs)
    possible = first > -np.inf
    losses, place = np.unique(first[possible] - second[possible], return_inverse=True)
    return PrivacyLoss(losses, np.asarray(np.bincount(place, weights=np.exp(first[possible])), dtype=float), exact=True)


LISTED, INTEGRATED, SAMPLED, SEARCHED = "by enumeration", "by quadrature", "by sampling", "by search over outputs"
SMALLEST_MASS_ERROR = 1e-6
"""A density whose integral is further from 1 than this is not integrated: it has atoms, or a grid cannot follow it."""
LARGEST_EVALUATIONS = {1: 1_000_000, 2: 800_000}
"""How many outputs a quadrature may look at, by the number of numbers in an output."""
BOX_TOLERANCE = {1: 1e-11, 2: 1e-9}
"""The share of the integral by which a box of the quadrature may be wrong, likewise."""
LARGEST_PASSES = 6
LARGEST_EPSILON = 500.0
"""A curve that is above delta here is taken to stay there."""


@dataclass(frozen=True)
class Bounded:
    """A number that lies between `low` and `high`, with the stated confidence; 1 for a computation."""

    value: float
    low: float
    high: float
    method: str
    confidence: float


def delta_at(
    mechanism: Any,
    pair: NeighbouringPair,
    epsilon: float,
    *,
    size: int = 100_000,
    rng: np.random.Generator | None = None,
    confidence: float = 0.95,
) -> Bounded:
    """delta(epsilon), the integral of (p - e^epsilon p')_+, from the first data set to the second.

    It is a sum where the outputs can be listed, and an integral for outputs of one or two numbers, with its estimated error.
    Otherwise delta = E_p[(1 - e^(epsilon - L))_+] = P[L - E > epsilon] for an independent E ~ Exp(1), a probability, for
    which `size` outputs give the Clopper-Pearson interval.
    """
    ratio = _LogRatio(mechanism, pair)
    outputs = listed_outputs(mechanism, pair)
    if outputs is not None:
        first, second = ratio.log_densities(outputs)
        return _exactly(math.fsum(_excess(first, second, epsilon)), LISTED)
    rng = np.random.default_rng(0) if rng is None else rng
    nodes = _nodes(ratio, epsilon, _Frame.of(mechanism, pair, rng))
    if nodes is not None:
        return _exactly(min(nodes.delta(epsilon), 1.0), INTEGRATED, nodes.error)
    losses = _losses(ratio, size, rng)
    hits = int(np.sum(losses - rng.exponential(size=size) > epsilon))
    each = (1 - confidence) / 2
    low, high = float(clopper_pearson_lower(hits, size, each)), float(clopper_pearson_upper(hits, size, each))
    return Bounded(float(np.mean(-np.expm1(np.minimum(epsilon - losses, 0)))), low, high, SAMPLED, confidence)


def epsilon_at(
    mechanism: Any,
    pair: NeighbouringPair,
    delta: float,
    *,
    size: int = 100_000,
    rng: np.random.Generator | None = None,
    confidence: float = 0.95,
) -> Bounded:
    """The epsilon at which the curve delta(epsilon) meets the given delta, the larger one of the two directions.

    From samples it is the (1 - delta)-quantile of L - E (see `delta_at`): an order statistic bounds it from below, each
    direction with half of the error probability. At delta = 0 it is the largest log-ratio of an output.
    """
    if not 0 <= delta < 1:
        raise EpsilometerError(f"delta is {delta:g}; it must be in [0, 1)")
    rng = np.random.default_rng(0) if rng is None else rng
    if delta == 0 and listed_outputs(mechanism, pair) is None:
        supremum = ExactLikelihoodRatio("")(mechanism, pair, LARGEST_SAMPLE, rng)
        return Bounded(supremum.epsilon, supremum.epsilon, math.inf, SEARCHED, 1.0)
    sides = [_epsilon_one_way(mechanism, side, delta, size, rng, confidence) for side in (pair, pair.reversed())]
    value, low, high = (max(getattr(side, name) for side in sides) for name in ("value", "low", "high"))
    worst = min(sides, key=lambda side: side.confidence)
    return Bounded(value, low, high, worst.method, worst.confidence)


def _epsilon_one_way(
    mechanism: Any, pair: NeighbouringPair, delta: float, size: int, rng: np.random.Generator, confidence: float
) -> Bounded:
    ratio = _LogRatio(mechanism, pair)
    outputs = listed_outputs(mechanism, pair)
    if outputs is not None:
        return _exactly(_epsilon_listed(*ratio.log_densities(outputs), delta), LISTED)
    integrated = _epsilon_integrated(ratio, delta, _Frame.of(mechanism, pair, rng))
    if integrated is not None:
        return integrated
    excess = np.sort(_losses(ratio, size, rng) - rng.exponential(size=size))[::-1]
    value = max(float(excess[min(int(delta * size), size - 1)]), 0.0)
    rank = _rank_above(delta, size, (1 - confidence) / 2)
    low = 0.0 if rank > size else float(np.clip(excess[rank - 1], 0.0, np.finfo(float).max))
    return Bounded(value, low, math.inf, SAMPLED, confidence)


def _losses(ratio: _LogRatio, size: int, rng: np.random.Generator) -> Array:
    return ratio(np.asarray(ratio.mechanism.sample(ratio.pair.first, size, rng)))


def _exactly(value: float, method: str, error: float = 0.0) -> Bounded:
    return Bounded(value, max(value - error, 0.0), value + error, method, 1.0)


def _excess(first: Array, second: Array, epsilon: float) -> Array:
    """(p - e^epsilon p')_+ of densities given by their logarithms, with no digits lost where p is much the larger."""
    with np.errstate(invalid="ignore", over="ignore", under="ignore"):
        excess = np.exp(first) * -np.expm1(np.minimum(epsilon - (first - second), 0))
    return np.where(first > -np.inf, np.nan_to_num(excess), 0.0)


def _epsilon_listed(first: Array, second: Array, delta: float) -> float:
    """The largest log((P(S) - delta)/P'(S)) over sets S of outputs: the best S holds the outputs of the largest losses."""
    possible = first > -np.inf
    first, second = first[possible], second[possible]
    order = np.argsort(second - first, kind="stable")
    if delta == 0:
        return max(float(first[order[0]] - second[order[0]]), 0.0)
    mass = np.cumsum(np.exp(first[order])) - delta
    with np.errstate(divide="ignore", over="ignore"):
        epsilons = np.log(np.maximum(mass, 0.0)) - np.log(np.cumsum(np.exp(second[order])))
    return max(float(np.max(np.where(mass > 0, epsilons, 0.0))), 0.0)


def _rank_above(delta: float, size: int, error: float) -> int:
    """The smallest k with P[Bin(size, delta) >= k] <= error; the k-th largest value is then below the quantile."""
    from scipy.stats import binom

    return int(binom.isf(error, size, delta)) + 1


@dataclass(frozen=True)
class _Frame:
    """Where the outputs lie: coordinates u with w = centre + scale sinh(u), which reach into heavy tails, cut into boxes."""

    centre: Array
    scale: Array
    cuts: tuple[Array, ...]
    shape: tuple[int, ...]

    @classmethod
    def of(cls, mechanism: Any, pair: NeighbouringPair, rng: np.random.Generator) -> _Frame | None:
        """The frame of outputs of one or two real numbers; None for others. Cuts at quantiles keep narrow peaks in sight."""
        samples = np.concatenate([np.asarray(mechanism.sample(data, 1000, rng)) for data in (pair.first, pair.second)])
        rows = samples.reshape(len(samples), -1)
        if rows.shape[1] not in LARGEST_EVALUATIONS or not _free(rows).all():
            return None
        centre, scale = _centre_and_spread(rows, np.ones(rows.shape, dtype=bool))
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
class _Nodes:
    """A quadrature rule that fits one epsilon: log p and log p' at its nodes, weights, and the estimated error of delta."""

    first: Array
    second: Array
    weights: Array
    error: float

    @property
    def mass(self) -> float:
        """The integral of p."""
        return float(np.sum(self.weights * np.exp(self.first)))

    def delta(self, epsilon: float) -> float:
        return float(np.sum(self.weights * _excess(self.first, self.second, epsilon)))

    def slope(self, epsilon: float) -> float:
        """-delta'(epsilon) = e^epsilon P'(L > epsilon)."""
        above = self.first > self.second + epsilon
        return float(np.sum(self.weights[above] * np.exp(epsilon + self.second[above])))


def _nodes(ratio: _LogRatio, epsilon: float, frame: _Frame | None) -> _Nodes | None:
    """The rule for this epsilon; None where the outputs have no frame or the density's mass is not 1."""
    if frame is None:
        return None

    def log_densities(u: Array) -> tuple[Array, Array]:
        outputs = frame.centre + frame.scale * np.sinh(u)
        first, second = ratio.log_densities(outputs.reshape(len(u), *frame.shape))
        stretch = np.log(frame.scale * np.cosh(u)).sum(axis=1)
        return np.nan_to_num(first + stretch, nan=-np.inf, posinf=0.0, neginf=-np.inf), second + stretch

    nodes = _adapted(log_densities, epsilon, *frame.boxes())
    return nodes if abs(nodes.mass - 1) <= SMALLEST_MASS_ERROR else None


def _epsilon_integrated(ratio: _LogRatio, delta: float, frame: _Frame | None) -> Bounded | None:
    """The root of delta(epsilon) = delta on nodes that are adapted to the last root found, until it stays."""
    from scipy.optimize import brentq

    epsilon, error = 0.0, math.inf
    for _ in range(LARGEST_PASSES):
        nodes = _nodes(ratio, epsilon, frame)
        if nodes is None:
            return None
        if nodes.delta(0.0) <= delta:
            return _exactly(0.0, INTEGRATED)
        if nodes.delta(LARGEST_EPSILON) > delta:
            return Bounded(math.inf, LARGEST_EPSILON, math.inf, INTEGRATED, 1.0)
        last = epsilon
        epsilon = float(brentq(_gap(nodes, delta), 0.0, LARGEST_EPSILON, xtol=1e-11))
        error = abs(epsilon - last) + nodes.error / nodes.slope(epsilon) + 1e-10
        if abs(epsilon - last) < 1e-8:
            break
    return _exactly(epsilon, INTEGRATED, error)


def _gap(nodes: _Nodes, delta: float) -> Callable[[float], float]:
    return lambda epsilon: math.log(max(nodes.delta(epsilon), 1e-300) / delta)


def _adapted(log_densities: Callable[[Array], tuple[Array, Array]], epsilon: float, low: Array, high: Array) -> _Nodes:
    """Gauss-Legendre rules on boxes, each divided along every side until the halves agree with the whole.

    They must agree on (p - e^epsilon p')_+ and on p, to a share of the integral, or until the evaluations are spent.
    """
    d = low.shape[1]
    points, weights = np.polynomial.legendre.leggauss(12 if d == 1 else 6)
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
            values = np.stack([_excess(logs[0], logs[1], epsilon), np.exp(logs[0])])
        return np.sum(values * own, axis=2), logs, own

    kept_logs, kept_weights = [], []
    total, error = np.zeros(2), 0.0
    (coarse, _, _), used = rule(low, high), len(low) * len(grid)
    while len(low):
        side = high - low
        child_low = (low[:, None] + corners * side[:, None]).reshape(-1, d)
        child_high = child_low + np.repeat(side, len(corners), axis=0) / 2
        children, logs, own = rule(child_low, child_high)
        used += len(child_low) * len(grid)
        fine = children.reshape(2, len(low), len(corners)).sum(axis=2)
        difference = np.abs(fine - coarse)
        tolerance = BOX_TOLERANCE[d] * (total + fine.sum(axis=1)) + 1e-18
        accepted = np.all(difference <= tolerance[:, None], axis=0) | np.all(side < 1e-14, axis=1)
        if used + len(corners) * len(grid) * int(np.sum(~accepted)) * len(corners) > LARGEST_EVALUATIONS[d]:
            accepted[:] = True
        total = total + fine[:, accepted].sum(axis=1)
        error += float(difference[0, accepted].sum())
        done = np.repeat(accepted, len(corners))
        kept_logs.append(logs[:, done].reshape(2, -1))
        kept_weights.append(own[done].ravel())
        low, high, coarse = child_low[~done], child_high[~done], children[:, ~done]
    first, second = np.concatenate(kept_logs, axis=1)
    return _Nodes(first, second, np.concatenate(kept_weights), error)
