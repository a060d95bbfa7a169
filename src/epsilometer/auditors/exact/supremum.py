"""The supremum of the log-likelihood ratio over outputs."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from epsilometer.auditors.exact.ratio import LogRatio, centre_and_spread, free_numbers, is_real, listed_outputs
from epsilometer.core import Array, Estimate, NeighbouringPair, Witness

LARGEST_SAMPLE = 4000
"""The most outputs, over both data sets, from which the search starts."""
RADII = np.logspace(-4, 8, 97)
"""The radii of candidates on rays from the centre, in units of the spread; suprema are often at infinity or a kink."""
LARGEST_RADIUS = 1e9
"""The largest radius of the search, in units of the spread; beyond it, rounding errors dominate the densities."""
STARTING_POINTS = 12
"""Starting points of the climb, half of them for either sign of the log-ratio, in addition to the best of each kind."""
BASES = 16
"""Outputs from which rays start, in addition to one of each kind."""
MORE_DRAWS = 10_000
"""Further outputs drawn of each data set, to find rare kinds of outputs."""
MOST_KINDS = 64
"""The most kinds of outputs that are searched; if there are more, the most frequent ones."""
STEPS = 300
ROUGH_STEPS = 40
FINALISTS = 6
"""The number of points that continue after `ROUGH_STEPS` steps."""
PATIENCE = 80
"""The climb ends after so many steps without a gain; 60 halvings make a step negligible."""
SMALLEST_GAIN = 1e-13
"""The relative gain below which a step of the climb is not taken."""
LEAST_GROWTH = 1e-6
"""The relative gain over a tenfold radius from which a log-ratio counts as still growing."""
GROWTH_RADIUS = 1e150
"""A log-ratio that still grows at the end of the search is followed to this radius, in units of the spread."""
LEAST_LOG_DENSITY = -600.0
"""A log-density below this may have underflowed to -inf although the output is possible."""


@dataclass(frozen=True)
class ExactLikelihoodRatio:
    """The supremum over outputs of |log p(w|D) - log p(w|D')|, and the output where it was found.

    Finitely many outputs are listed. Otherwise the log-ratio is maximised over outputs, from samples of both data sets and
    points far out; whatever is found is the value at an output, so it is never above the supremum, but for a point where a
    density is discontinuous. It is infinite only where an output of one data set is impossible under the other: that a
    ratio grows wherever it is evaluated shows no more than the largest value found, so that one is reported, with a remark.

    `name` is the mechanism's name in the catalogue, for the witness, and `promised` the epsilon that it claims: by default
    that of its guarantee. Calling it takes a mechanism that knows its density, a pair, the number of outputs from which the
    search starts, and a random generator.

    >>> import numpy as np
    >>> from epsilometer import ExactLikelihoodRatio, find
    >>> entry = find("laplace_standard_deviation")
    >>> estimate = ExactLikelihoodRatio(entry.name)(entry.build(1.0), entry.pairs()[0], 1_000, np.random.default_rng(0))
    >>> round(estimate.epsilon, 6), estimate.confidence
    (1.414214, 1.0)
    """

    name: str = ""
    """The mechanism's name in the catalogue, for the witness."""
    promised: float | None = None
    """The epsilon for which it was built; by default the one that its guarantee names."""

    def __call__(self, mechanism: Any, pair: NeighbouringPair, trials: int, rng: np.random.Generator) -> Estimate:
        ratio = LogRatio(mechanism, pair)
        outputs = listed_outputs(mechanism, pair)
        if outputs is not None:
            return self._estimate(_best_listed(ratio, outputs), ratio, 0)
        size = min(max(trials, 2), LARGEST_SAMPLE) // 2
        first, second = (np.asarray(mechanism.sample(dataset, size, rng)) for dataset in (pair.first, pair.second))
        samples = np.concatenate([first, second])
        found = _impossible_output(ratio, first, second)
        if found is not None:
            return self._estimate(found, ratio, len(samples))
        more = _draw_more_if_mixed(ratio, samples, rng)
        return self._estimate(_search(ratio, samples, more, rng), ratio, len(samples) + len(more))

    def _estimate(self, found: _Found, ratio: LogRatio, trials: int) -> Estimate:
        guarantee = ratio.mechanism.guarantee
        promised = self.promised
        if promised is None:
            promised = guarantee.epsilon if guarantee else math.inf
        log_ratio = float(ratio(found.output[None])[0])
        witness = Witness(self.name, promised, ratio.pair, found.output, log_ratio)
        epsilon = max(found.value, 0.0)
        return Estimate(epsilon, "exact likelihood ratio", 1.0, trials=trials, event=found.remark, witness=witness)


@dataclass(frozen=True)
class _Found:
    """The largest |log-ratio|, the output where it was found, and a remark on it."""

    value: float
    output: NDArray[Any]
    remark: str = ""


def _best_listed(ratio: LogRatio, outputs: NDArray[Any]) -> _Found:
    values = np.abs(np.nan_to_num(ratio(outputs), nan=0.0, posinf=np.inf, neginf=-np.inf))
    best = int(np.argmax(values))
    return _Found(float(values[best]), outputs[best], _one_sided_remark() if np.isinf(values[best]) else "")


def _one_sided_remark() -> str:
    return "this output is possible under one data set only"


def _impossible_output(ratio: LogRatio, first: NDArray[Any], second: NDArray[Any]) -> _Found | None:
    """An output that was drawn from one data set and has density 0 under the other; None if there is none.

    The density must drop to 0 from above e^-600 on the segment from an output of the other data set; otherwise it may have
    underflowed.
    """
    for side, (drawn, others) in enumerate(((first, second), (second, first))):
        own, other = (ratio.log_densities(drawn)[k] for k in (side, 1 - side))
        only = np.flatnonzero(np.isfinite(own) & np.isneginf(other))
        if len(only):
            output = drawn[only[np.argmax(own[only])]]
            if _has_sharp_edge(lambda points, k=1 - side: ratio.log_densities(points)[k], others, output):
                return _Found(math.inf, output, _one_sided_remark())
    return None


def _has_sharp_edge(log_density: Callable[..., Array], inside: NDArray[Any], output: NDArray[Any]) -> bool:
    """Whether the density, from the likeliest of the outputs `inside` to the given one, drops to 0 from above e^-600."""
    start = inside[np.argmax(log_density(inside))]
    if not (is_real(inside) and np.all(np.isfinite(start)) and np.all(np.isfinite(output))):
        return True  # there is no segment between such outputs
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        positive = log_density((start + middle * (output - start))[None])[0] > -np.inf
        low, high = (middle, high) if positive else (low, middle)
    return bool(log_density((start + low * (output - start))[None])[0] > LEAST_LOG_DENSITY)


def _draw_more_if_mixed(ratio: LogRatio, samples: NDArray[Any], rng: np.random.Generator) -> NDArray[Any]:
    """Further outputs if some of their numbers are fixed and others free, since a kind of output may be rare; else none."""
    free = free_numbers(samples.reshape(len(samples), -1))
    if free.all() or not free.any():
        return samples[:0]
    pair = ratio.pair
    return np.concatenate([np.asarray(ratio.mechanism.sample(data, MORE_DRAWS, rng)) for data in (pair.first, pair.second)])


def _search(ratio: LogRatio, samples: NDArray[Any], more: NDArray[Any], rng: np.random.Generator) -> _Found:
    """The largest |log-ratio|: many candidates at once, then a climb from the best of either sign and of each kind."""
    shape = samples.shape[1:]
    rows = np.concatenate([samples, more]).reshape(len(samples) + len(more), -1)
    free = free_numbers(rows)
    kept = _with_one_of_each_kind(rows, free, len(samples))
    rows, free = rows[kept], free[kept]
    centre, spread = centre_and_spread(rows, free)

    def secured(points: NDArray[Any]) -> tuple[Array, Array]:
        return ratio.secured(points.reshape(len(points), *shape))

    candidates = _candidates(rows, free, centre, spread, rng)
    score, signed = secured(candidates.points)
    if not np.any(score > -np.inf):
        return _Found(0.0, samples[0], "no output has a positive density under both data sets")
    starts = np.concatenate(
        [_best_candidates(np.where(sign * signed >= 0, score, -np.inf), candidates.kinds) for sign in (1, -1)]
    )
    landscape = _Landscape(lambda x: secured(x)[0], centre, spread)
    output, value, mask = landscape.climb(candidates.points[starts], candidates.movable[starts], rng)
    return _Found(value, output.reshape(shape), landscape.remark(output, value, mask, rng))


@dataclass(frozen=True)
class _Candidates:
    """Candidate outputs, each a row, with a mask of the numbers that may be varied, and their kinds."""

    points: NDArray[Any]
    movable: NDArray[np.bool_]
    kinds: NDArray[np.int64]


def _kinds(rows: NDArray[Any], free: NDArray[np.bool_]) -> NDArray[np.int64]:
    """The kind of each output; outputs of one kind have the same fixed numbers with the same values."""
    fixed = np.where(free, 0.0, np.nan_to_num(rows.astype(float), nan=-1e300))
    _, kinds = np.unique(np.column_stack([fixed, free]), axis=0, return_inverse=True)
    return np.asarray(kinds.ravel(), dtype=np.int64)


def _with_one_of_each_kind(rows: NDArray[Any], free: NDArray[np.bool_], size: int) -> NDArray[np.int64]:
    """The indices of the first `size` outputs and of one output of each kind that is not among them."""
    _, earliest = np.unique(_kinds(rows, free), return_index=True)
    return np.concatenate([np.arange(size), np.sort(earliest[earliest >= size])])


def _candidates(
    rows: NDArray[Any], free: NDArray[np.bool_], centre: Array, spread: Array, rng: np.random.Generator
) -> _Candidates:
    """The samples, and points on rays: from samples away from the centre, along axes, and in other directions.

    Some rays start from an output of each kind, since the largest log-ratio may be that of a rare kind.
    """
    if not free.any():
        return _Candidates(rows, free, np.zeros(len(rows), dtype=np.int64))
    kinds = _kinds(rows, free)
    half, d = len(rows) // 2, rows.shape[1]
    _, representatives, counts = np.unique(kinds, return_index=True, return_counts=True)
    representatives = representatives[np.argsort(-counts, kind="stable")][:MOST_KINDS]
    bases = np.concatenate([representatives, rng.choice(len(rows), size=min(BASES, len(rows)), replace=False)])
    between = np.array([np.median(np.where(free, rows, 0.0)[part], axis=0) for part in (slice(half), slice(half, None))])
    across = (between[1] - between[0]) / spread
    radii = RADII if d == 1 else RADII[::2]
    groups, masks = [rows], [free]
    for base in bases:
        moves = np.concatenate([[(rows[base] - centre) / spread], _directions(free[base], across, rng)])
        steps = (radii[:, None, None] * moves[None]).reshape(-1, d)
        groups.append(np.where(free[base], centre + spread * np.nan_to_num(steps), rows[base]))
        masks.append(np.broadcast_to(free[base], groups[-1].shape))
    owners = np.repeat(kinds[bases], [len(group) for group in groups[1:]])
    return _Candidates(np.concatenate(groups), np.concatenate(masks), np.concatenate([kinds, owners]))


def _directions(free: NDArray[np.bool_], across: Array, rng: np.random.Generator) -> Array:
    """Eight directions in which an output may be varied: along its free axes, diagonal ones, others, and `across`."""
    d = len(free)
    along = np.eye(d)[free]
    axes = np.concatenate([along, -along])
    signs = rng.choice([-1.0, 1.0], size=(8, d)) * (rng.random((8, d)) < 0.7)
    others = np.concatenate([signs, rng.standard_normal((8, d)), [across, -across]])
    if len(axes) <= 4:
        return np.concatenate([axes, others[rng.permutation(len(others))[: 8 - len(axes)]]])
    directions = np.concatenate([axes[rng.permutation(len(axes))[:24]], others])
    return directions[rng.permutation(len(directions))[:8]]


def _best_candidates(score: Array, kinds: NDArray[np.int64]) -> NDArray[np.int64]:
    """The candidates with the highest distinct scores (to nine digits), and the best of each kind."""
    order = np.argsort(-score, kind="stable")
    order = order[score[order] > -np.inf]
    _, distinct = np.unique(np.round(score[order], 9), return_index=True)
    few = order[np.sort(distinct)[: STARTING_POINTS // 2]]
    _, best = np.unique(kinds[order], return_index=True)
    of_each_kind = order[np.sort(best)[:MOST_KINDS]]
    return np.concatenate([few, of_each_kind[~np.isin(of_each_kind, few)]])


@dataclass(frozen=True)
class _Landscape:
    """A score of outputs, to be maximised, and the location and scale of each column."""

    score: Callable[[NDArray[Any]], Array]
    centre: Array
    spread: Array

    def climb(
        self, points: NDArray[Any], movable: NDArray[np.bool_], rng: np.random.Generator
    ) -> tuple[NDArray[Any], float, NDArray[np.bool_]]:
        """Pattern search from all points at once, along axes and in random directions.

        A step is doubled after a gain and halved otherwise. After `ROUGH_STEPS` steps only the best points continue.
        """
        values = self.score(points)
        steps = np.ones(len(points))
        highest, since = float(values.max()), 0
        for number in range(STEPS if movable.any() else 0):
            if number == ROUGH_STEPS:
                best = np.argsort(-values, kind="stable")[:FINALISTS]
                points, movable, values, steps = points[best], movable[best], values[best], steps[best]
            points, values, steps = self._step(points, movable, values, steps, self._directions(points.shape[1], rng))
            since = 0 if values.max() > highest else since + 1
            highest = max(highest, float(values.max()))
            if np.all(steps < 1e-17) or since > PATIENCE:
                break
        best_point = int(np.argmax(values))
        return points[best_point], float(values[best_point]), movable[best_point]

    def _step(
        self, points: NDArray[Any], movable: NDArray[np.bool_], values: Array, steps: Array, directions: Array
    ) -> tuple[NDArray[Any], Array, Array]:
        """Each point, moved to the best of its neighbours if that is better; its value, and its next step length."""
        moves = np.where(movable[:, None], steps[:, None, None] * directions[None] * self.spread, 0.0)
        trial = np.where(movable[:, None], points[:, None] + moves, points[:, None])
        far = np.abs(np.nan_to_num((trial - self.centre) / self.spread)).max(axis=2) > LARGEST_RADIUS
        tried = np.any(moves != 0, axis=2) & ~far
        reached = np.full(tried.shape, -np.inf)
        reached[tried] = self.score(trial[tried])
        numbers, best = np.arange(len(points)), np.argmax(reached, axis=1)
        better = reached[numbers, best] > values + SMALLEST_GAIN * np.maximum(np.abs(values), 1e-3)
        points = np.where(better[:, None], trial[numbers, best], points)
        values = np.where(better, reached[numbers, best], values)
        return points, values, np.clip(np.where(better, 2 * steps, steps / 2), 1e-18, LARGEST_RADIUS)

    @staticmethod
    def _directions(d: int, rng: np.random.Generator) -> Array:
        random = rng.standard_normal((4, d)) if d > 1 else np.array([[0.3]])
        directions = np.concatenate([np.eye(d), random])
        return np.concatenate([directions, -directions])

    def remark(self, output: NDArray[Any], value: float, movable: NDArray[np.bool_], rng: np.random.Generator) -> str:
        """A remark if the log-ratio was still growing outwards or towards this output; otherwise empty."""
        if not movable.any():
            return ""
        away = np.where(movable, (output - self.centre) / self.spread, 0.0)
        radius = float(np.abs(away).max())
        outwards = np.array([1e-2, 1e-1, 1.0])[:, None] * away
        inner = self.score(np.where(movable, self.centre + self.spread * outwards, output))
        if radius > RADII[-1] / 10 and value - max(inner[:2].max(), 0.0) > LEAST_GROWTH * max(value, 1.0):
            return f"the log-ratio was still growing at the radius {radius:.3g}, in units of the outputs' spread" + (
                f", and at every tenfold up to {GROWTH_RADIUS:.0e}" if self._grows_on(output, away, movable, radius) else ""
            )
        near = np.where(movable, output + 1e-6 * self.spread * self._directions(len(output), rng), output)
        if value - self.score(near).max() > 0.1:
            return f"the log-ratio was still growing towards this output, at the radius {radius:.3g} in units of the spread"
        return ""

    def _grows_on(self, output: NDArray[Any], away: Array, movable: NDArray[np.bool_], radius: float) -> bool:
        """Whether the log-ratio gains at every tenfold of the radius up to `GROWTH_RADIUS`: a strong hint, not a proof."""
        tenfold = 10.0 ** np.arange(math.log10(GROWTH_RADIUS / radius))
        values = self.score(np.where(movable, self.centre + self.spread * tenfold[:, None] * away, output))
        return bool(np.all(np.diff(values) > LEAST_GROWTH * np.maximum(values[:-1], 1.0)))
