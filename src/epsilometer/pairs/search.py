"""The search for the worst pair: neighbouring data sets and an output with the largest privacy loss, for risk minimisation.

The search varies the shared records, their multiplicities, the exchanged record and the output. Equal records are one row
with a weight. For objective perturbation it maximises the log-ratio of the densities over data and output together. For
output perturbation with noise of density ~ exp(-rate |b|) it maximises rate |w* - w'*|, the supremum over outputs.

Upper bounds on what the search can find: docs/proofs/boundary.md.
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

LOG_SHORTEST_RECORD = -14.0  # the logarithm of the smallest norm of a record in the search
LOG_FARTHEST_OUTPUT = 12.0  # the logarithm of the largest norm of an output in the search
STEP = 1e-5  # step of the difference quotients
STAGES = ((40, 4), (250, 2))  # for each stage: ascent steps from each start, and the number of the best kept
SIMPLEX_EVALUATIONS = 150
SEARCHED = "found by search"
SATURATED = (2.0, 4.0, 7.0, 12.0)
"""The margins, in absolute value, of misclassified exchanged records in the textbook pairs."""


@dataclass(frozen=True)
class WorstPair:
    """The worst pair found, the output with the largest log-ratio, and that log-ratio."""

    pair: NeighbouringPair
    output: Array
    log_ratio: float
    """log p(output | first) - log p(output | second), from the mechanism's own density; never negative."""

    def witness(self, name: str, promised: float) -> Witness:
        """A witness of this log-ratio, under the mechanism's name in the catalogue."""
        return Witness(name, promised, self.pair, self.output, self.log_ratio)


@dataclass(frozen=True)
class Scene:
    """A candidate: signed rows y x of both exchanged and the shared records, the latter's counts, and an output."""

    one: Array
    other: Array
    shared: Array
    counts: Array
    output: Array
    reason: str

    def pair(self) -> NeighbouringPair:
        """The two neighbouring data sets; all labels are +1, since only y x matters."""
        here = self.counts > 0
        counts = np.append(self.counts[here], 1.0)
        first, second = (
            LabelledData(np.vstack([self.shared[here], row]), np.ones(len(counts)), counts) for row in (self.one, self.other)
        )
        return NeighbouringPair(first, second, "replace-one", self.reason)


def worst_pair(
    mechanism: Mechanism, n: int, d: int, rng: np.random.Generator, *, shared_rows: int = 3, restarts: int = 4
) -> WorstPair:
    """The pair of n records in R^d and the output with the largest log-ratio, among textbook pairs and by a search.

    The shared records take `shared_rows` distinct values; with 0, all of them lie at the origin. The search starts
    from the best textbook pair of each kind and from `restarts` random ones.
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
    differing = [_round_counts(scene) for scene in candidates if np.any(scene.one != scene.other)]
    return max((_measure(mechanism, scene) for scene in differing), key=lambda found: found.log_ratio)


def textbook_scenes(strength: float, n: int, d: int) -> Iterator[Scene]:
    """Known constructions for n records and n lam = `strength`, from which the search starts.

    They are described in docs/proofs/boundary.md: shared records at the origin; many tiny ones; in the plane, records that
    hold the minimiser far out on the first axis; and records that are all misclassified by a margin T.
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
        yield from _scenes_held_far_out(strength, n, d)
        yield from _scenes_all_wrong(strength, n, d)


def _scenes_held_far_out(strength: float, n: int, d: int) -> Iterator[Scene]:
    """Pairs in the plane of the first two axes; the shared records hold the minimiser far out on the first axis."""
    for tension, radius in ((0.278, 1.278), (0.2, 0.54), (0.05, 0.105)):  # z sigma(-z) and z
        far = math.sqrt(tension * (n - 1) / strength)
        length = min(1.0, radius / far)
        tilt = min(0.3, 2 / (strength * far))  # moves b down by about 2, more than a record can move it up
        shared = np.array([length * _plane_vector(d, math.cos(tilt), -math.sin(tilt))])
        for wrong in SATURATED:
            for margin, state in ((-wrong, "both wrong"), (-1.0, "one undecided"), (0.0, "one undecided")):
                one, other = (
                    _plane_vector(d, across, sign * math.sqrt(1 - across**2))
                    for across, sign in ((max(margin / far, -0.9), 1.0), (max(-wrong / far, -0.9), -1.0))
                )
                reason = f"opposite records, {state}, where the others hold w far out"
                yield Scene(one, other, shared, np.array([n - 1.0]), far * np.eye(d)[0], reason)


def _scenes_all_wrong(strength: float, n: int, d: int) -> Iterator[Scene]:
    """Pairs in the plane of the first two axes; the shared records, all misclassified, point b along the second axis."""
    for wrong in SATURATED:
        far = math.sqrt(wrong * n / strength)
        across = min(wrong / far, 0.9)
        shared = _plane_vector(d, -across, math.sqrt(1 - across**2))
        noise = (n - 1) * shared - strength * far * np.eye(d)[0]
        for margin, state in ((-wrong, "both wrong"), (-1.0, "one undecided"), (0.0, "one undecided")):
            back = max(margin / far, -0.9)
            one, other = _plane_vector(d, back, -math.sqrt(1 - back**2)), noise / np.linalg.norm(noise)
            reason = f"opposite records, {state}, where the others are wrong as well"
            yield Scene(one, other, shared[None], np.array([n - 1.0]), far * np.eye(d)[0], reason)


def _plane_vector(d: int, x: float, y: float) -> Array:
    return np.concatenate([[x, y], np.zeros(d - 2)])


def _random_scene(n: int, d: int, rows: int, rng: np.random.Generator) -> Scene:
    directions = rng.standard_normal((rows + 3, d))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    lengths = np.concatenate([[1.0, 1.0, 10 ** rng.uniform(-1, 2)], 10 ** rng.uniform(-3, 0, rows)])
    one, other, output, *shared = directions * lengths[:, None]
    counts = np.maximum(rng.dirichlet(np.ones(rows)) * (n - 1), 1e-6)
    return Scene(one, other, np.array(shared), _round_to_total(counts, n - 1), output, SEARCHED)


def _split_first_row(scene: Scene, rows: int) -> Scene:
    """The scene with its first shared row split into several slightly different ones, which the search can then separate."""
    copies = rows + 1 - len(scene.shared)
    if copies < 2:
        return scene
    part = np.full(copies, scene.counts[0] / copies)
    apart = scene.shared[:1] * (1 - 0.02 * np.arange(copies))[:, None]
    return replace(scene, shared=np.vstack([apart, scene.shared[1:]]), counts=np.concatenate([part, scene.counts[1:]]))


def _round_to_total(counts: Array, total: int) -> Array:
    """The counts rounded to integers with the given sum, by the largest remainders."""
    scaled = counts * total / counts.sum()
    whole = np.floor(scaled)
    up = np.argsort(whole - scaled, kind="stable")[: round(total - whole.sum())]
    whole[up] += 1
    return whole


def _round_counts(scene: Scene) -> Scene:
    return replace(scene, counts=_round_to_total(scene.counts, round(scene.counts.sum())))


def _measure(mechanism: Mechanism, scene: Scene) -> WorstPair:
    """The log-ratio by the mechanism's own density, with the pair ordered so that it is not negative."""
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
        """The log-ratios of k scenes: one, other and w are (k, d), shared (k, rows, d) and counts (k, rows)."""
        margins = np.einsum("krd,kd->kr", shared, w)
        common = -self.n_lam * self.regulariser.gradient(w)
        common -= np.einsum("kr,krd->kd", counts * self.loss.slope(margins), shared)
        curved = np.einsum("kr,kri,krj->kij", counts * self.loss.curvature(margins), shared, shared)
        curved += self.n_lam * self.regulariser.hessian(w)
        (pull, log_det), (other_pull, other_log_det) = (self._record_terms(row, w, curved) for row in (one, other))
        noise, other_noise = common + pull, common + other_pull
        lengths = np.linalg.norm(noise, axis=1) + np.linalg.norm(other_noise, axis=1)
        longer = np.einsum("kd,kd->k", other_pull - pull, noise + other_noise) / np.maximum(lengths, 1e-300)
        return self.rate * longer + log_det - other_log_det

    def _record_terms(self, row: Array, w: Array, curved: Array) -> tuple[Array, Array]:
        """A record's contribution to b(w), and the logarithm of the factor by which it increases the determinant."""
        margins = np.einsum("kd,kd->k", row, w)
        solved = np.linalg.solve(curved, row[:, :, None])[:, :, 0]
        factor = self.loss.curvature(margins) * np.einsum("kd,kd->k", row, solved)
        return -self.loss.slope(margins)[:, None] * row, np.log1p(factor)

    def candidates(self, scenes: list[Scene], rows: int, free: bool) -> list[Scene]:
        """The best textbook scenes unchanged, and scenes improved by ascent; its last stage has integer counts."""
        drawn = [scene for scene in scenes if scene.reason == SEARCHED]
        textbook = sorted((scene for scene in scenes if scene.reason != SEARCHED), key=self._value)
        known = list({scene.reason: scene for scene in textbook}.values())  # the best of each kind
        found = [_split_first_row(scene, rows) for scene in [*known, *drawn]]
        for steps, kept in STAGES:
            climbed = (self._climb_from(scene, free, True, steps) for scene in found)
            found = sorted(climbed, key=self._value, reverse=True)[:kept]
        return known + [self._climb_from(_round_counts(scene), free, False, STAGES[-1][0]) for scene in found]

    def _value(self, scene: Scene) -> float:
        parts = scene.one, scene.other, scene.shared, scene.counts, scene.output
        return float(self.log_ratios(*(part[None] for part in parts))[0])

    def _climb_from(self, scene: Scene, free: bool, free_counts: bool, steps: int) -> Scene:
        rows, d = scene.shared.shape

        def value(points: Array) -> Array:
            one, other, shared, counts, w = _decode(points, rows, d)
            if not free:
                shared = np.zeros_like(shared)
            fixed = np.broadcast_to(scene.counts, counts.shape)
            return self.log_ratios(one, other, shared, counts * scene.counts.sum() if free_counts else fixed, w) / self.rate

        point = _climb(value, _encode(scene), _bounds(rows, d), steps)
        one, other, shared, counts, w = (part[0] for part in _decode(point[None], rows, d))
        counts = counts * scene.counts.sum() if free_counts else scene.counts
        return replace(scene, one=one, other=other, shared=shared if free else scene.shared, counts=counts, output=w)


@dataclass(frozen=True)
class _OutputProblem:
    """Output perturbation with noise of density ~ exp(-rate |b|): maximise the distance between the minimisers."""

    mechanism: OutputPerturbation
    rate: float
    lam: float
    strength: float

    def candidates(self, scenes: list[Scene], rows: int, free: bool) -> list[Scene]:
        """The best scene unchanged, and improved by a Nelder-Mead search; the output is the first minimiser."""
        from scipy.optimize import minimize

        best = _round_counts(_split_first_row(max(scenes, key=self._value), rows))
        low, high = np.array(_bounds(rows, len(best.one))).T

        def scene_at(point: Array) -> Scene:
            one, other, shared, _, _ = (part[0] for part in _decode(np.clip(point, low, high)[None], rows, len(best.one)))
            return replace(best, one=one, other=other, shared=shared if free else best.shared)

        simplex: Any = partial(minimize, method="Nelder-Mead")
        options = {"maxfev": SIMPLEX_EVALUATIONS, "xatol": 1e-6, "fatol": 1e-9}
        start = np.clip(_encode(best), low, high)
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
    """Whether `worst_pair` supports this mechanism with n records."""
    return _problem(mechanism, n) is not None


def _problem(mechanism: Mechanism, n: int) -> _ObjectiveProblem | _OutputProblem | None:
    """The maximisation problem for a supported mechanism, otherwise None."""
    if isinstance(mechanism, ObjectivePerturbation) and mechanism.guarantee.adjacency == "replace-one":
        noise, lam = mechanism.plan(n)
        if isinstance(noise, SphericalNoise):
            return _ObjectiveProblem(require_smooth(mechanism.loss), mechanism.regulariser, noise.rate, n * lam)
    if type(mechanism) is OutputPerturbation and not isinstance(mechanism.loss, Distance):  # a subclass may move the centre
        output_noise = mechanism.noise(n)
        lam = mechanism.lam / n if mechanism.summed else mechanism.lam
        if isinstance(output_noise, SphericalNoise):
            return _OutputProblem(mechanism, output_noise.rate, lam, n * lam * mechanism.regulariser.strong_convexity)
    return None


def _encode(scene: Scene) -> Array:
    """The scene as a point of the search: log-lengths and directions of all vectors, then the log-shares of the counts."""
    vectors = np.vstack([scene.one, scene.other, scene.output, scene.shared])
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    directions = np.where(lengths > 0, vectors / np.maximum(lengths, 1e-300), np.eye(vectors.shape[1])[0])
    logs = np.log(np.maximum(lengths, math.exp(LOG_SHORTEST_RECORD)))
    shares = np.log(np.maximum(scene.counts, 1e-3) / scene.counts.sum())
    return np.concatenate([np.hstack([logs, directions]).ravel(), shares])


def _decode(points: Array, rows: int, d: int) -> tuple[Array, Array, Array, Array, Array]:
    """For each point: one record, the other, the shared ones, their shares of the total count, and the output."""
    split = (rows + 3) * (d + 1)
    parts = points[:, :split].reshape(len(points), rows + 3, d + 1)
    norms = np.linalg.norm(parts[:, :, 1:], axis=2, keepdims=True)
    vectors = np.exp(parts[:, :, :1]) * parts[:, :, 1:] / np.maximum(norms, 1e-300)
    shares = np.exp(points[:, split:] - points[:, split:].max(axis=1, keepdims=True))
    return vectors[:, 0], vectors[:, 1], vectors[:, 3:], shares / shares.sum(axis=1, keepdims=True), vectors[:, 2]


def _bounds(rows: int, d: int) -> list[tuple[float, float]]:
    ends = [0.0, 0.0, LOG_FARTHEST_OUTPUT] + [0.0] * rows
    return [bound for end in ends for bound in [(LOG_SHORTEST_RECORD, end), *[(-2.0, 2.0)] * d]] + [(-30.0, 1.0)] * rows


def _climb(value: Callable[[Array], Array], start: Array, bounds: list[tuple[float, float]], most_steps: int) -> Array:
    """Quasi-Newton ascent (L-BFGS-B); all difference quotients of a step are evaluated in one batch."""
    from scipy.optimize import minimize

    low, high = np.array(bounds).T
    steps = STEP * np.eye(len(start))

    def negative_value_and_gradient(point: Array) -> tuple[float, Array]:
        ahead, behind = np.minimum(point + steps, high), np.maximum(point - steps, low)
        values = value(np.vstack([point[None], ahead, behind]))
        width = np.diagonal(ahead - behind)
        k = len(point)
        return -values[0], -(values[1 : k + 1] - values[k + 1 :]) / np.maximum(width, 1e-12)

    start = np.clip(start, low, high)
    return np.clip(
        minimize(
            negative_value_and_gradient,
            start,
            jac=True,
            method="L-BFGS-B",
            bounds=bounds,
            options={"maxiter": most_steps, "ftol": 1e-13, "gtol": 1e-9},
        ).x,
        low,
        high,
    )
