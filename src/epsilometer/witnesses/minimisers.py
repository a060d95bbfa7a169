"""Definitions of private risk minimisation: output and objective perturbation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from typing import Any

import mpmath as mp

from epsilometer.core import EpsilometerError, LabelledData, stream
from epsilometer.witnesses.definition import DIGITS, Definition, LogDensity, Number, log_laplace, require_length, table

NEARLY_ZERO = mp.mpf(10) ** (10 - DIGITS)
MOST_ROWS = 8
"""The largest number of distinct rows for the hinge loss, whose minimiser is searched among 3^rows candidates."""


@dataclass(frozen=True)
class _Loss:
    """A convex function of the margin z, the largest slope L and the largest curvature c."""

    value: Callable[[Number], Number]
    pull: Callable[[Number], Number]
    """-phi'(z)."""
    curvature: Callable[[Number], Number]
    lipschitz: int = 1
    curvature_bound: str = "1"


def _is_curved(z: Number) -> bool:
    """Whether the margin is in the quadratic part of the Huber loss of width 1/2."""
    return bool(abs(1 - z) <= mp.mpf(1) / 2)


LOGISTIC = _Loss(
    lambda z: mp.log1p(mp.exp(-z)),
    lambda z: 1 / (1 + mp.exp(z)),
    lambda z: 1 / ((1 + mp.exp(z)) * (1 + mp.exp(-z))),
    curvature_bound="0.25",
)
HUBER = _Loss(
    lambda z: (3 - 2 * z) ** 2 / 8 if _is_curved(z) else max(1 - z, mp.mpf(0)),
    lambda z: mp.mpf(3) / 2 - z if _is_curved(z) else mp.mpf(int(z < 1)),
    lambda z: mp.mpf(int(_is_curved(z))),
)
SQUARED = _Loss(lambda z: (1 - z) ** 2, lambda z: 2 * (1 - z), lambda z: mp.mpf(2), lipschitz=6, curvature_bound="2")  # noqa: ARG005
"""Its slope is at most 2 (1 + radius) = 6 where |w| <= radius = sqrt(2/lam) = 2, for lam = 1/2."""


@dataclass(frozen=True)
class _Objective:
    """n J(w) = strength/2 sum_j kept_j w_j^2 + sum_i k_i phi(a_i.w), for rows a_i = y_i x_i that count k_i times each."""

    loss: _Loss
    rows: list[list[Number]]
    counts: list[Number]
    strength: Number = 0
    kept: tuple[int, ...] = ()
    """1 for a regularised coordinate, 0 for another; empty if all are regularised."""

    @classmethod
    def of(cls, loss: _Loss, dataset: Any, output: Sequence[Number], constant: bool = False) -> _Objective:
        """The objective without a regulariser; with `constant`, on the records (x, 1)/sqrt(2)."""
        if not isinstance(dataset, LabelledData):
            raise EpsilometerError("the witness's data sets must be labelled data")
        require_length(output, dataset.features.shape[1] + constant)
        labels, features = dataset.labels.tolist(), dataset.features.tolist()
        records = [
            [mp.mpf(x) / mp.sqrt(2) for x in (*record, 1)] if constant else map(mp.mpf, record) for record in features
        ]
        rows = [[mp.mpf(y) * x for x in record] for y, record in zip(labels, records, strict=True)]
        weights = [1.0] * len(rows) if dataset.weights is None else dataset.weights.tolist()
        return cls(loss, rows, [mp.mpf(weight) for weight in weights])

    def regularised(self, strength: Number) -> _Objective:
        return replace(self, strength=strength)

    @property
    def n(self) -> Number:
        return mp.fsum(self.counts)

    def margins(self, w: Sequence[Number]) -> list[Number]:
        return [mp.fdot(a, w) for a in self.rows]

    def value(self, w: Sequence[Number]) -> Number:
        losses = (k * self.loss.value(z) for k, z in zip(self.counts, self.margins(w), strict=True))
        return mp.fdot(self._penalties(w), [x * x for x in w]) / 2 + mp.fsum(losses)

    def gradient(self, w: Sequence[Number]) -> list[Number]:
        pulls = [k * self.loss.pull(z) for k, z in zip(self.counts, self.margins(w), strict=True)]
        pulled = [mp.fdot(pulls, column) for column in zip(*self.rows, strict=True)]
        return [penalty * x - pull for penalty, x, pull in zip(self._penalties(w), w, pulled, strict=True)]

    def hessian(self, w: Sequence[Number]) -> Any:
        result = mp.diag(self._penalties(w))
        for a, k, z in zip(self.rows, self.counts, self.margins(w), strict=True):
            column = mp.matrix(a)
            result += k * self.loss.curvature(z) * column * column.T
        return result

    def _penalties(self, w: Sequence[Number]) -> list[Number]:
        return [self.strength * factor for factor in self.kept or (1,) * len(w)]

    def minimiser(self) -> list[Number]:
        """The minimiser to nearly 50 digits, by Newton's method with steps halved until the value decreases."""
        w = [mp.mpf(0)] * len(self.rows[0])
        for _ in range(200):
            step = mp.lu_solve(self.hessian(w), -mp.matrix(self.gradient(w)))
            size, here = mp.mpf(1), self.value(w)
            length = mp.norm(step)
            if length < NEARLY_ZERO * (1 + mp.norm(w)):
                return w
            while length > mp.mpf("1e-10") and self.value(_move(w, step, size)) > here:
                size /= 2
            w = _move(w, step, size)
        raise EpsilometerError("Newton's method finds no minimiser of the witness's objective in 200 steps")

    def descend_until(self, gradient_norm: Number) -> list[Number]:
        """The first iterate of accelerated descent from 0 with |grad J| <= gradient_norm; the step is 1/(c + lam)."""
        lam = self.strength / self.n
        largest = mp.mpf(self.loss.curvature_bound) + lam
        ratio = mp.sqrt(largest / lam)
        momentum = (ratio - 1) / (ratio + 1)
        here = before = [mp.mpf(0)] * len(self.rows[0])
        while mp.norm(gradient := [slope / self.n for slope in self.gradient(here)]) > gradient_norm:
            after = _move(here, gradient, -1 / largest)
            here, before = [x + momentum * (x - y) for x, y in zip(after, before, strict=True)], after
        return here


def _move(w: Sequence[Number], step: Any, size: Number) -> list[Number]:
    return [x + size * s for x, s in zip(w, step, strict=True)]


def _hinge_minimiser(rows: list[list[Number]], counts: list[Number], strength: Number) -> list[Number]:
    """The minimiser of strength/2 |w|^2 + sum_i k_i max(0, 1 - a_i.w), by enumeration of the active sets.

    The optimality conditions are strength w = sum_i m_i a_i with m_i = k_i where a_i.w < 1, m_i = 0 where a_i.w > 1 and 0 <=
    m_i <= k_i where a_i.w = 1. The objective is strongly convex, so exactly one w satisfies them. Equal rows are merged, and
    rows of zeros are left out.
    """
    together: dict[tuple[Number, ...], Number] = {}
    for a, k in zip(rows, counts, strict=True):
        if any(a):
            together[tuple(a)] = together.get(tuple(a), mp.mpf(0)) + k
    if len(together) > MOST_ROWS:
        raise EpsilometerError(f"the witness's data have {len(together)} different records; at most {MOST_ROWS} are tried")
    for guess in product((0, 1, None), repeat=len(together)):
        w = _solve_with_pulls(guess, together, strength, len(rows[0]))
        if w is not None:
            return w
    raise EpsilometerError("no minimiser of the witness's hinge loss was found: some records depend on each other")


def _solve_with_pulls(
    guess: Sequence[int | None], rows: dict[tuple[Number, ...], Number], strength: Number, d: int
) -> list[Number] | None:
    """The w for rows with m_i = 0 (state 0), m_i = k_i (1) or margin 1 (None); None if it violates the conditions."""
    kinked = [a for a, state in zip(rows, guess, strict=True) if state is None]
    if len(kinked) > d:
        return None
    fixed = [k * state for k, state in zip(rows.values(), guess, strict=True) if state is not None]
    others = [a for a, state in zip(rows, guess, strict=True) if state is not None]
    base = [mp.fsum(m * a[j] for m, a in zip(fixed, others, strict=True)) for j in range(d)]
    pulls: list[Number] = []
    if kinked:
        gram = mp.matrix([[mp.fdot(a, b) for b in kinked] for a in kinked])
        if abs(mp.det(gram)) < NEARLY_ZERO:
            return None
        pulls = list(mp.lu_solve(gram, mp.matrix([strength - mp.fdot(a, base) for a in kinked])))
    w = [(base[j] + mp.fsum(m * a[j] for m, a in zip(pulls, kinked, strict=True))) / strength for j in range(d)]
    weights = [k for k, state in zip(rows.values(), guess, strict=True) if state is None]
    between = all(-NEARLY_ZERO <= m <= k + NEARLY_ZERO for m, k in zip(pulls, weights, strict=True))
    margins = [(mp.fdot(a, w), state) for a, state in zip(rows, guess, strict=True) if state is not None]
    return w if between and all(z <= 1 if state else z >= 1 for z, state in margins) else None


Noise = Callable[[Sequence[Number], Number], Number]
"""The log-density of a noise vector for a rate."""


def _log_spherical(noise: Sequence[Number], rate: Number) -> Number:
    """The density exp(-rate |b|) rate^d Gamma(d/2)/(2 pi^(d/2) Gamma(d)) on R^d."""
    d = len(noise)
    return d * mp.log(rate) - mp.loggamma(d) - rate * mp.norm(noise) - _log_sphere(d)


def _log_sphere(d: int) -> Number:
    """The logarithm of the area 2 pi^(d/2)/Gamma(d/2) of the unit sphere in R^d."""
    half = mp.mpf(d) / 2
    return mp.log(2) + half * mp.log(mp.pi) - mp.loggamma(half)


def _log_exponential_norm(noise: Sequence[Number], rate: Number) -> Number:
    """A uniform direction and a norm r of density rate e^(-rate r), divided by the area of the sphere of radius r."""
    norm = mp.norm(noise)
    return mp.log(rate) - rate * norm - _log_sphere(len(noise)) - ((len(noise) - 1) * mp.log(norm) if len(noise) > 1 else 0)


def _log_coordinates(noise: Sequence[Number], rate: Number) -> Number:
    """Independent Laplace coordinates, density (rate/2)^d exp(-rate |b|_1)."""
    return log_laplace([mp.mpf(0)] * len(noise), noise, [1 / rate] * len(noise))


def _output_perturbation(lam: str, loss: _Loss = LOGISTIC, log_noise: Noise = _log_spherical) -> LogDensity:
    """The minimiser of J plus noise, of rate n lam epsilon/(2L) (nips08, Algorithm 1)."""

    def log_density(epsilon: Number, dataset: Any, output: list[Number]) -> Number:
        objective = _Objective.of(loss, dataset, output)
        strength = objective.n * mp.mpf(lam)
        return _log_noise_around(
            objective.regularised(strength).minimiser(), output, strength * epsilon / (2 * loss.lipschitz), log_noise
        )

    return log_density


def _log_noise_around(
    centre: Sequence[Number], output: Sequence[Number], rate: Number, log_noise: Noise = _log_spherical
) -> Number:
    return log_noise([o - c for o, c in zip(output, centre, strict=True)], rate)


def _intercept_model(epsilon: Number, dataset: Any, output: list[Number], free: bool = False) -> Number:
    """A logistic regression of records (x, 1)/sqrt(2), lam = 1; with `free` the last coordinate is not regularised."""
    objective = _Objective.of(LOGISTIC, dataset, output, constant=True)
    strength = objective.n
    if free:
        objective = replace(objective, kept=(1,) * (len(output) - 1) + (0,))
    return _log_noise_around(objective.regularised(strength).minimiser(), output, strength * epsilon / 2)


def _tuned_regularisation(epsilon: Number, dataset: Any, output: list[Number]) -> Number:
    """Output perturbation with lam = 1 or 0.01, whichever has fewer training errors; in a tie, 1."""
    objective = _Objective.of(LOGISTIC, dataset, output)
    strengths = [objective.n * mp.mpf(lam) for lam in ("1", "0.01")]
    centres = [objective.regularised(strength).minimiser() for strength in strengths]
    wrong = [mp.fsum(k for k, z in zip(objective.counts, objective.margins(w), strict=True) if z <= 0) for w in centres]
    chosen = 1 if wrong[1] < wrong[0] else 0
    return _log_noise_around(centres[chosen], output, strengths[chosen] * epsilon / 2)


def _early_stopping(epsilon: Number, dataset: Any, output: list[Number]) -> Number:
    """Output perturbation, lam = 0.05, of the first iterate of the descent with a gradient of norm at most 0.101."""
    objective = _Objective.of(LOGISTIC, dataset, output)
    strength = objective.n * mp.mpf("0.05")
    return _log_noise_around(objective.regularised(strength).descend_until(mp.mpf("0.101")), output, strength * epsilon / 2)


def _hinge(epsilon: Number, dataset: Any, output: list[Number]) -> Number:
    """Output perturbation of a support vector machine, lam = 1/2."""
    objective = _Objective.of(HUBER, dataset, output)
    strength = objective.n / 2
    return _log_noise_around(_hinge_minimiser(objective.rows, objective.counts, strength), output, strength * epsilon / 2)


def _median(epsilon: Number, dataset: Any, output: list[Number]) -> Number:
    """Output perturbation of a median: w on the line minimises n lam w^2/2 + sum_i |w - x_i|, lam = 1/2.

    Between two points the slope is n lam w + k with an integer k from -n to n. So the minimiser is one of the points, or
    -k/(n lam) for some k.
    """
    points = [point for (point,) in table(dataset, 1)]
    require_length(output, 1)
    strength = mp.mpf(len(points)) / 2
    candidates = [*points, *(k / strength for k in range(-len(points), len(points) + 1))]
    centre = min(candidates, key=lambda w: strength * w**2 / 2 + mp.fsum(abs(w - x) for x in points))
    return _log_noise_around([centre], output, strength * epsilon / 2)


def _fourier_machine(epsilon: Number, dataset: Any, output: list[Number], stability: int = 4) -> Number:
    """A support vector machine, C = 4, on phi(x) = (cos r_1.x, cos r_2.x, sin r_1.x, sin r_2.x)/sqrt(2), r_i public.

    Every weight gets Laplace noise of scale `stability` C sqrt(2 * 2)/(epsilon n).
    """
    if not isinstance(dataset, LabelledData):
        raise EpsilometerError("the witness's data sets must be labelled data")
    d = dataset.features.shape[1]
    frequencies = (stream(3, "random Fourier features", d).standard_normal((2, d)) * 2).tolist()
    rows = []
    for y, x in zip(dataset.labels.tolist(), dataset.features.tolist(), strict=True):
        angles = [mp.fdot(r, x) for r in frequencies]
        rows.append([y * side(angle) / mp.sqrt(2) for side in (mp.cos, mp.sin) for angle in angles])
    weights = [1.0] * len(rows) if dataset.weights is None else dataset.weights.tolist()
    n = mp.fsum(weights)
    centre = _hinge_minimiser(rows, [4 * mp.mpf(weight) / n for weight in weights], mp.mpf(1))
    return log_laplace(centre, output, [stability * 8 / (epsilon * n)] * 4)


Plan = Callable[[Number, _Objective], tuple[Number, Number]]
"""The rate of the noise and the strength n lam of the regularisation, from epsilon and the objective."""


def _objective_perturbation(loss: _Loss, plan: Plan, norm: int = 1) -> LogDensity:
    """log h(b(w)) + log det n Hess J(w), where b(w) = -n grad J(w) and h ~ exp(-rate |b|); records are x/`norm`."""

    def log_density(epsilon: Number, dataset: Any, output: list[Number]) -> Number:
        objective = _Objective.of(loss, dataset, output)
        rate, strength = plan(epsilon, objective)
        stretched = [[norm * x for x in a] for a in objective.rows]
        objective = replace(objective, rows=stretched, strength=strength)
        noise = [-slope for slope in objective.gradient(output)]
        return _log_spherical(noise, rate) + mp.log(mp.det(objective.hessian(output)))

    return log_density


def _plan_2008(lam: str) -> Plan:
    """nips08, Algorithm 2: the rate is epsilon/2."""
    return lambda epsilon, objective: (epsilon / 2, objective.n * mp.mpf(lam))


def _plan_general(epsilon: Number, objective: _Objective) -> tuple[Number, Number]:  # noqa: ARG001
    """nips08, Theorem 3: the rate is epsilon/2, with G(w) = 0.1 |w|^2/2 for every n."""
    return epsilon / 2, mp.mpf("0.1")


def _plan_2011(lam: str, norm: int = 1) -> Plan:
    """CMS11, Algorithm 2: epsilon' = epsilon - 2 log(1 + c/(n lam)), or more regularisation if that is <= 0.

    Records of norm up to R have slopes up to R. The curvature bound c R is the flaw of `linear_norm`; c R^2 is correct.
    """

    def plan(epsilon: Number, objective: _Objective) -> tuple[Number, Number]:
        c, strength = norm * mp.mpf(objective.loss.curvature_bound), objective.n * mp.mpf(lam)
        remaining = epsilon - 2 * mp.log1p(c / strength)
        if remaining <= 0:
            remaining, strength = epsilon / 2, c / mp.expm1(epsilon / 4)
        return remaining / (2 * norm), strength

    return plan


def _plan_2012(epsilon: Number, objective: _Objective) -> tuple[Number, Number]:
    """Kifer, Smith and Thakurta 2012, Algorithm 1: the strength is max(0.1, 2c/epsilon), the rate epsilon/2."""
    return epsilon / 2, max(mp.mpf("0.1"), 2 * mp.mpf(objective.loss.curvature_bound) / epsilon)


AS_IN_2008 = {
    "algorithm_1": Definition(_output_perturbation("0.01")),
    "algorithm_2": Definition(_objective_perturbation(LOGISTIC, _plan_2008("0.01"))),
    "cms11": Definition(_objective_perturbation(LOGISTIC, _plan_2011("0.01"))),
}
"""With the lambda of the paper's experiments, for every size of the data set."""
DEFINITIONS: dict[str, Definition] = {
    **{f"nips08_{name}_n{n}": definition for name, definition in AS_IN_2008.items() for n in (1_000, 14_000)},
    "kernel_svm": Definition(_fourier_machine),
    "kernel_svm_tight": Definition(partial(_fourier_machine, stability=2)),
    "objective_perturbation_2008": Definition(_objective_perturbation(LOGISTIC, _plan_2008("1e-4"))),
    "objective_perturbation_cms11": Definition(_objective_perturbation(LOGISTIC, _plan_2011("1e-4"))),
    "objective_perturbation_general": Definition(_objective_perturbation(HUBER, _plan_general)),
    "objective_perturbation_huber": Definition(_objective_perturbation(HUBER, _plan_2011("5"))),
    "objective_perturbation_kst12": Definition(_objective_perturbation(HUBER, _plan_2012), "add-remove"),
    "objective_perturbation_linear_norm": Definition(_objective_perturbation(HUBER, _plan_2011("1e-3", norm=10), norm=10)),
    "output_perturbation": Definition(_output_perturbation("1e-4")),
    "output_perturbation_coordinates": Definition(_output_perturbation("0.5", HUBER, _log_coordinates)),
    "output_perturbation_free_intercept": Definition(partial(_intercept_model, free=True)),
    "output_perturbation_gamma_one": Definition(_output_perturbation("0.5", HUBER, _log_exponential_norm)),
    "output_perturbation_geometric_median": Definition(_median),
    "output_perturbation_hinge": Definition(_hinge),
    "output_perturbation_huber": Definition(_output_perturbation("0.5", HUBER)),
    "output_perturbation_intercept": Definition(_intercept_model),
    "output_perturbation_squared": Definition(_output_perturbation("0.5", SQUARED)),
    "output_perturbation_stopped_early": Definition(_early_stopping),
    "output_perturbation_tuned": Definition(_tuned_regularisation),
}
