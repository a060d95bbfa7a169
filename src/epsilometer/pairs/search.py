"""The worst pair: a search over neighbouring data sets, and over outputs, for private risk minimisation.

The shared records, their multiplicities, the exchanged record and the output are all free. Many equal records are one row
with a weight, so a data set of a million records costs no more than one of five. Objective perturbation has a density that
is cheap, so that data and output are improved together:

    log p(w|D) - log p(w|D') = beta (|b'(w)| - |b(w)|) + log det n Hess J(w) - log det n Hess J'(w).

Output perturbation with noise of density ~ exp(-rate |b|) spends rate |w* - w'*|, which does not depend on the output.

`pairs.boundary` derives what such a search can find at most.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from epsilometer.core import Array, EpsilometerError, HasDensity, LabelledData, Mechanism, NeighbouringPair, Witness
from epsilometer.erm import Distance, Regulariser, SphericalNoise, minimiser, require_smooth
from epsilometer.erm.losses import SmoothLoss
from epsilometer.mechanisms.objective_perturbation import ObjectivePerturbation
from epsilometer.mechanisms.output_perturbation import OutputPerturbation

SMALLEST = -14.0  # the logarithm of the smallest length of a record that is tried
FARTHEST = 12.0  # the logarithm of the largest length of an output that is tried
STEP = 1e-5  # of the difference quotients
STAGES = ((40, 4), (250, 2))  # steps of the climb from each start, and how many of the best go on
SIMPLEX_EVALUATIONS = 150
SEARCHED = "found by search"
SATURATED = (2.0, 4.0, 7.0, 12.0)
"""Margins by which a textbook pair's exchanged records are wrong."""


@dataclass(frozen=True)
class WorstPair:
    """The neighbours found, the output that tells them apart best, and by how much."""

    pair: NeighbouringPair
    output: Array
    log_ratio: float
    """log p(output | first) - log p(output | second), from the mechanism's own density; never negative."""

    def witness(self, name: str, promised: float) -> Witness:
        """The same for the record, under the mechanism's name in the catalogue."""
        return Witness(name, promised, self.pair, self.output, self.log_ratio)


@dataclass(frozen=True)
class Scene:
    """Signed rows y x: one record or the other beside shared ones that count `counts` times; and an output."""

    one: Array
    other: Array
    shared: Array
    counts: Array
    output: Array
    reason: str

    def pair(self) -> NeighbouringPair:
        """The two data sets, whose labels are all +1, since only y x matters."""
        here = self.counts > 0
        counts = np.append(self.counts[here], 1.0)
        first, second = (
            LabelledData(np.vstack([self.shared[here], row]), np.ones(len(counts)), counts) for row in (self.one, self.other)
        )
        return NeighbouringPair(first, second, "replace-one", self.reason)


def worst_pair(
    mechanism: Mechanism, n: int, d: int, rng: np.random.Generator, *, shared_rows: int = 3, restarts: int = 4
) -> WorstPair:
    """The pair of n records in R^d, and the output, with the largest log-ratio that textbook pairs and a search give.

    The shared records take `shared_rows` distinct values; with 0, all of them lie at the origin. The search starts from
    the best textbook pair of each kind and from `restarts` random ones.
    """
    if n < 2 or d < 1:
        raise EpsilometerError(f"n is {n} and d is {d}; a pair needs at least 2 records in at least 1 dimension")
    problem = _problem(mechanism, n)
    if problem is None:
        raise EpsilometerError(
            f"there is no search for the worst pair of {type(mechanism).__name__} with these parameters; it is for output "
            "and objective perturbation of labelled data, with replace-one neighbours and delta = 0"
        )
    rows = max(shared_rows, 1)
    scenes = [*textbook_scenes(problem.strength, n, d), *(_random_scene(n, d, rows, rng) for _ in range(restarts))]
    if shared_rows == 0:
        scenes = [replace(scene, shared=np.zeros((1, d)), counts=np.array([n - 1.0])) for scene in scenes]
    candidates = problem.candidates(scenes, rows, shared_rows > 0)
    differing = [_rounded(scene) for scene in candidates if np.any(scene.one != scene.other)]
    return max((_measured(mechanism, scene) for scene in differing), key=lambda found: found.log_ratio)


def textbook_scenes(strength: float, n: int, d: int) -> Iterator[Scene]:
    """Known constructions for n records and n lam = `strength`.

    - All shared records at the origin, the exchanged one telling by its label, or by being there at all.
    - Many tiny shared records, which pull b as far as is wanted and hardly curve the risk: k records of length r pull with
      k r/2 and curve with k r^2/4.
    - In the plane, shared records along the first axis that hold w far out on it, so that records nearly along the second
      axis have any margin that is wanted: two opposite ones can both be wrong and saturated, or one of them undecided.
      k records of length r hold w at W where k r sigma(-r W) = n lam W; for k = n - 1 the largest such W has r W = 1.28,
      (n - 1) 0.278 = n lam W^2.
    - In the plane, shared records of length 1 that are all wrong by T, and w still farther out: b points nearly along them,
      for W = sqrt(T/lam) nearest, and so can a record.
    """
    axis = np.eye(d)[0]
    origin = np.zeros((1, d))
    others = np.array([n - 1.0])
    for w in (1e-3, 1.0, 4.0):
        yield Scene(-axis, 0.0 * axis, origin, others, w * axis, "the only record that counts")
        yield Scene(axis, -axis, origin, others, w * axis, "opposite labels")
        for pull in (0.5, 2.0, 20.0):
            tiny = np.array([-min(1.0, 2 * (pull + strength * w) / (n - 1)) * axis])
            yield Scene(-axis, 0.01 * axis, -tiny, others, w * axis, "one record that counts among many tiny ones")
            yield Scene(0.3 * axis, -axis, tiny, others, w * axis, "opposite records among many tiny ones")
    if d > 1:
        yield from _held(strength, n, d)
        yield from _far_out(strength, n, d)


def _held(strength: float, n: int, d: int) -> Iterator[Scene]:
    """Pairs in the plane of the first two axes, among records that hold w far out on the first."""
    for tension, radius in ((0.278, 1.278), (0.2, 0.54), (0.05, 0.105)):  # z sigma(-z) and z
        far = math.sqrt(tension * (n - 1) / strength)
        length = min(1.0, radius / far)
        tilt = min(0.3, 2 / (strength * far))  # pulls b down by about 2, more than a record can pull it up
        shared = np.array([length * _in_plane(d, math.cos(tilt), -math.sin(tilt))])
        for wrong in SATURATED:
            for margin, state in ((-wrong, "both wrong"), (-1.0, "one undecided"), (0.0, "one undecided")):
                one, other = (
                    _in_plane(d, across, sign * math.sqrt(1 - across**2))
                    for across, sign in ((max(margin / far, -0.9), 1.0), (max(-wrong / far, -0.9), -1.0))
                )
                reason = f"opposite records, {state}, where the others hold w far out"
                yield Scene(one, other, shared, np.array([n - 1.0]), far * np.eye(d)[0], reason)


def _far_out(strength: float, n: int, d: int) -> Iterator[Scene]:
    """Pairs in the plane of the first two axes, among records that are all wrong, which pull b along the second."""
    for wrong in SATURATED:
        far = math.sqrt(wrong * n / strength)
        across = min(wrong / far, 0.9)
        shared = _in_plane(d, -across, math.sqrt(1 - across**2))
        noise = (n - 1) * shared - strength * far * np.eye(d)[0]
        for margin, state in ((-wrong, "both wrong"), (-1.0, "one undecided"), (0.0, "one undecided")):
            back = max(margin / far, -0.9)
            one, other = _in_plane(d, back, -math.sqrt(1 - back**2)), noise / np.linalg.norm(noise)
            reason = f"opposite records, {state}, where the others are wrong as well"
            yield Scene(one, other, shared[None], np.array([n - 1.0]), far * np.eye(d)[0], reason)


def _in_plane(d: int, x: float, y: float) -> Array:
    return np.concatenate([[x, y], np.zeros(d - 2)])


def _random_scene(n: int, d: int, rows: int, rng: np.random.Generator) -> Scene:
    directions = rng.standard_normal((rows + 3, d))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    lengths = np.concatenate([[1.0, 1.0, 10 ** rng.uniform(-1, 2)], 10 ** rng.uniform(-3, 0, rows)])
    one, other, output, *shared = directions * lengths[:, None]
    counts = np.maximum(rng.dirichlet(np.ones(rows)) * (n - 1), 1e-6)
    return Scene(one, other, np.array(shared), _whole(counts, n - 1), output, SEARCHED)


def _with_rows(scene: Scene, rows: int) -> Scene:
    """The same scene with its first shared row divided among several, a little apart, so that they can part."""
    copies = rows + 1 - len(scene.shared)
    if copies < 2:
        return scene
    part = np.full(copies, scene.counts[0] / copies)
    apart = scene.shared[:1] * (1 - 0.02 * np.arange(copies))[:, None]
    return replace(scene, shared=np.vstack([apart, scene.shared[1:]]), counts=np.concatenate([part, scene.counts[1:]]))


def _whole(counts: Array, total: int) -> Array:
    """The counts rounded to whole numbers with the given sum: those with the largest remainders are rounded up."""
    scaled = counts * total / counts.sum()
    whole = np.floor(scaled)
    up = np.argsort(whole - scaled, kind="stable")[: round(total - whole.sum())]
    whole[up] += 1
    return whole


def _rounded(scene: Scene) -> Scene:
    return replace(scene, counts=_whole(scene.counts, round(scene.counts.sum())))


def _measured(mechanism: Mechanism, scene: Scene) -> WorstPair:
    """The log-ratio by the mechanism's own density, in the direction in which it is positive."""
    assert isinstance(mechanism, HasDensity)
    pair = scene.pair()
    first, second = (float(mechanism.log_density(data, scene.output[None])[0]) for data in (pair.first, pair.second))
    return WorstPair(pair if first >= second else pair.reversed(), scene.output, abs(first - second))


@dataclass(frozen=True)
class _ObjectiveProblem:
    """Objective perturbation with noise of density ~ exp(-rate |b|)."""

    loss: SmoothLoss
    regulariser: Regulariser
    rate: float
    n_lam: float

    @property
    def strength(self) -> float:
        return self.n_lam * self.regulariser.strong_convexity

    def log_ratios(self, one: Array, other: Array, shared: Array, counts: Array, w: Array) -> Array:
        """Of many scenes at once: one, other and w are (k, d), shared (k, rows, d) and counts (k, rows)."""
        margins = np.einsum("krd,kd->kr", shared, w)
        common = -self.n_lam * self.regulariser.gradient(w)
        common -= np.einsum("kr,krd->kd", counts * self.loss.slope(margins), shared)
        curved = np.einsum("kr,kri,krj->kij", counts * self.loss.curvature(margins), shared, shared)
        curved += self.n_lam * self.regulariser.hessian(w)
        (pull, log_det), (other_pull, other_log_det) = (self._of_record(row, w, curved) for row in (one, other))
        noise, other_noise = common + pull, common + other_pull
        lengths = np.linalg.norm(noise, axis=1) + np.linalg.norm(other_noise, axis=1)
        longer = np.einsum("kd,kd->k", other_pull - pull, noise + other_noise) / np.maximum(lengths, 1e-300)
        return self.rate * longer + log_det - other_log_det

    def _of_record(self, row: Array, w: Array, curved: Array) -> tuple[Array, Array]:
        """A record's pull on b, and the logarithm of the factor by which it increases the determinant."""
        margins = np.einsum("kd,kd->k", row, w)
        solved = np.linalg.solve(curved, row[:, :, None])[:, :, 0]
        factor = self.loss.curvature(margins) * np.einsum("kd,kd->k", row, solved)
        return -self.loss.slope(margins)[:, None] * row, np.log1p(factor)

    def candidates(self, scenes: list[Scene], rows: int, free: bool) -> list[Scene]:
        """The best scenes as they are, and with everything improved together; the last time with whole counts."""
        drawn = [scene for scene in scenes if scene.reason == SEARCHED]
        textbook = sorted((scene for scene in scenes if scene.reason != SEARCHED), key=self._value)
        known = list({scene.reason: scene for scene in textbook}.values())  # the best of each kind
        found = [_with_rows(scene, rows) for scene in [*known, *drawn]]
        for steps, kept in STAGES:
            climbed = (self._climbed(scene, free, True, steps) for scene in found)
            found = sorted(climbed, key=self._value, reverse=True)[:kept]
        return known + [self._climbed(_rounded(scene), free, False, STAGES[-1][0]) for scene in found]

    def _value(self, scene: Scene) -> float:
        parts = scene.one, scene.other, scene.shared, scene.counts, scene.output
        return float(self.log_ratios(*(part[None] for part in parts))[0])

    def _climbed(self, scene: Scene, free: bool, free_counts: bool, steps: int) -> Scene:
        rows, d = scene.shared.shape

        def value(points: Array) -> Array:
            one, other, shared, counts, w = _decoded(points, rows, d)
            if not free:
                shared = np.zeros_like(shared)
            fixed = np.broadcast_to(scene.counts, counts.shape)
            return self.log_ratios(one, other, shared, counts * scene.counts.sum() if free_counts else fixed, w) / self.rate

        point = _climb(value, _encoded(scene), _bounds(rows, d), steps)
        one, other, shared, counts, w = (part[0] for part in _decoded(point[None], rows, d))
        counts = counts * scene.counts.sum() if free_counts else scene.counts
        return replace(scene, one=one, other=other, shared=shared if free else scene.shared, counts=counts, output=w)


@dataclass(frozen=True)
class _OutputProblem:
    """Output perturbation with noise of density ~ exp(-rate |b|): the farther the minimisers, the better."""

    mechanism: OutputPerturbation
    rate: float
    lam: float
    strength: float

    def candidates(self, scenes: list[Scene], rows: int, free: bool) -> list[Scene]:
        """The best scene as it is, and with its records moved by a simplex search; the output is the first minimiser."""
        from scipy.optimize import minimize

        best = _rounded(_with_rows(max(scenes, key=self._value), rows))
        low, high = np.array(_bounds(rows, len(best.one))).T

        def scene_at(point: Array) -> Scene:
            one, other, shared, _, _ = (part[0] for part in _decoded(np.clip(point, low, high)[None], rows, len(best.one)))
            return replace(best, one=one, other=other, shared=shared if free else best.shared)

        simplex: Any = partial(minimize, method="Nelder-Mead")
        options = {"maxfev": SIMPLEX_EVALUATIONS, "xatol": 1e-6, "fatol": 1e-9}
        start = np.clip(_encoded(best), low, high)
        point = simplex(lambda point: -self._value(scene_at(point)), start, options=options).x
        return [replace(scene, output=self._centres(scene)[0]) for scene in (best, scene_at(point))]

    def _value(self, scene: Scene) -> float:
        if not np.any(scene.one != scene.other):
            return 0.0
        first, second = self._centres(scene)
        return self.rate * float(np.linalg.norm(first - second))

    def _centres(self, scene: Scene) -> tuple[Array, Array]:
        pair = scene.pair()
        loss, regulariser = self.mechanism.loss, self.mechanism.regulariser
        return minimiser(loss, pair.first, self.lam, regulariser), minimiser(loss, pair.second, self.lam, regulariser)


def can_be_searched(mechanism: Mechanism, n: int) -> bool:
    """Whether `worst_pair` is for this mechanism."""
    return _problem(mechanism, n) is not None


def _problem(mechanism: Mechanism, n: int) -> _ObjectiveProblem | _OutputProblem | None:
    """What to search for, if it is one of the mechanisms that this is about."""
    if isinstance(mechanism, ObjectivePerturbation) and mechanism.guarantee.adjacency == "replace-one":
        noise, lam = mechanism.plan(n)
        if isinstance(noise, SphericalNoise):
            return _ObjectiveProblem(require_smooth(mechanism.loss), mechanism.regulariser, noise.rate, n * lam)
    if type(mechanism) is OutputPerturbation and not isinstance(mechanism.loss, Distance):  # others may add another centre
        output_noise = mechanism.noise(n)
        lam = mechanism.lam / n if mechanism.summed else mechanism.lam
        if isinstance(output_noise, SphericalNoise):
            return _OutputProblem(mechanism, output_noise.rate, lam, n * lam * mechanism.regulariser.strong_convexity)
    return None


def _encoded(scene: Scene) -> Array:
    """Directions and log-lengths of all vectors, then the logarithms of the counts."""
    vectors = np.vstack([scene.one, scene.other, scene.output, scene.shared])
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    directions = np.where(lengths > 0, vectors / np.maximum(lengths, 1e-300), np.eye(vectors.shape[1])[0])
    logs = np.log(np.maximum(lengths, math.exp(SMALLEST)))
    shares = np.log(np.maximum(scene.counts, 1e-3) / scene.counts.sum())
    return np.concatenate([np.hstack([logs, directions]).ravel(), shares])


def _decoded(points: Array, rows: int, d: int) -> tuple[Array, Array, Array, Array, Array]:
    """One record, the other, the shared ones, their shares of the whole, and the output, for each point."""
    split = (rows + 3) * (d + 1)
    parts = points[:, :split].reshape(len(points), rows + 3, d + 1)
    norms = np.linalg.norm(parts[:, :, 1:], axis=2, keepdims=True)
    vectors = np.exp(parts[:, :, :1]) * parts[:, :, 1:] / np.maximum(norms, 1e-300)
    shares = np.exp(points[:, split:] - points[:, split:].max(axis=1, keepdims=True))
    return vectors[:, 0], vectors[:, 1], vectors[:, 3:], shares / shares.sum(axis=1, keepdims=True), vectors[:, 2]


def _bounds(rows: int, d: int) -> list[tuple[float, float]]:
    ends = [0.0, 0.0, FARTHEST] + [0.0] * rows
    return [bound for end in ends for bound in [(SMALLEST, end), *[(-2.0, 2.0)] * d]] + [(-30.0, 1.0)] * rows


def _climb(value: Callable[[Array], Array], start: Array, bounds: list[tuple[float, float]], most_steps: int) -> Array:
    """Quasi-Newton ascent, all difference quotients of a step in one batch."""
    from scipy.optimize import minimize

    low, high = np.array(bounds).T
    steps = STEP * np.eye(len(start))

    def fun(point: Array) -> tuple[float, Array]:
        ahead, behind = np.minimum(point + steps, high), np.maximum(point - steps, low)
        values = value(np.vstack([point[None], ahead, behind]))
        width = np.diagonal(ahead - behind)
        k = len(point)
        return -values[0], -(values[1 : k + 1] - values[k + 1 :]) / np.maximum(width, 1e-12)

    start = np.clip(start, low, high)
    return np.clip(
        minimize(
            fun,
            start,
            jac=True,
            method="L-BFGS-B",
            bounds=bounds,
            options={"maxiter": most_steps, "ftol": 1e-13, "gtol": 1e-9},
        ).x,
        low,
        high,
    )
