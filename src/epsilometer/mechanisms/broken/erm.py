"""Broken private risk minimisation, each a small change of output or objective perturbation."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.special import xlogy

from epsilometer.core import Array, Dataset, EpsilometerError, Guarantee, LabelledData, NeighbouringPair, require_positive
from epsilometer.erm import (
    LOGISTIC,
    Huber,
    Noise,
    Objective,
    Regulariser,
    SphericalNoise,
    count,
    minimise_roughly,
    minimiser,
    require_smooth,
)
from epsilometer.erm.losses import SmoothLoss
from epsilometer.mechanisms.catalogue import Entry
from epsilometer.mechanisms.neighbours import Record, labelled_records
from epsilometer.mechanisms.objective_perturbation import ObjectivePerturbationCMS11
from epsilometer.mechanisms.output_perturbation import OutputPerturbation

HUBER = Huber(0.5)
NORM_BOUND = 10.0
"""R, the bound on the norm of the records in `LinearNormObjective`."""
CANDIDATES = (0.01, 1.0)


@dataclass(frozen=True)
class ExponentialNorm:
    """Noise with a uniform direction and an exponential norm, of density rate exp(-rate r), in every dimension.

    The density in R^d is rate exp(-rate r) r^(1-d) divided by the area of the unit sphere; it is infinite at 0 for d >= 2.
    """

    rate: float

    def sample(self, size: int, d: int, rng: np.random.Generator) -> Array:
        direction = rng.standard_normal((size, d))
        direction /= np.linalg.norm(direction, axis=1, keepdims=True)
        return rng.exponential(1 / self.rate, size=(size, 1)) * direction

    def log_density(self, vectors: Array) -> Array:
        d, norm = vectors.shape[1], np.linalg.norm(vectors, axis=1)
        sphere = math.log(2) + d / 2 * math.log(math.pi) - math.lgamma(d / 2)
        return math.log(self.rate) - self.rate * norm - xlogy(d - 1, norm) - sphere


@dataclass(frozen=True)
class LaplaceCoordinates:
    """Noise with independent Laplace coordinates, density (rate/2)^d exp(-rate |b|_1)."""

    rate: float

    def sample(self, size: int, d: int, rng: np.random.Generator) -> Array:
        return rng.laplace(scale=1 / self.rate, size=(size, d))

    def log_density(self, vectors: Array) -> Array:
        return vectors.shape[1] * math.log(self.rate / 2) - self.rate * np.abs(vectors).sum(axis=1)


def _rate(noise: Noise) -> float:
    """The rate of output perturbation's noise, epsilon over the sensitivity."""
    if not isinstance(noise, SphericalNoise):
        raise EpsilometerError(f"the noise is a {type(noise).__name__}, which has no rate; take delta = 0")
    return noise.rate


class GammaOneNorm(OutputPerturbation):
    """Broken: output perturbation with the noise's norm from Gamma(1) instead of Gamma(d), at the same rate.

    For d >= 2 the density has a pole at the minimiser, so the likelihood ratio of neighbours is unbounded.
    """

    source = "nips08, Algorithm 1, with a Gamma(1) for the norm"

    def noise(self, n: float) -> Noise:
        return ExponentialNorm(_rate(super().noise(n)))


class CoordinatewiseLaplace(OutputPerturbation):
    """Broken: output perturbation with Laplace noise of scale 2/(n lam epsilon) on each coordinate.

    The sensitivity 2/(n lam) bounds the L2 norm of the minimiser's shift. This noise needs a bound on the L1 norm, which is
    up to sqrt(d) times as large.
    """

    source = "nips08, Algorithm 1, with independent coordinates"

    def noise(self, n: float) -> Noise:
        return LaplaceCoordinates(_rate(super().noise(n)))


@dataclass(frozen=True)
class AllButTheLast:
    """N(w) = (w_1^2 + ... + w_{d-1}^2)/2, without the last coordinate, the intercept.

    It is not strongly convex. The attribute wrongly states the constant 1, from which the broken mechanism calibrates.
    """

    strong_convexity = 1.0

    def value(self, w: Array) -> Array:
        return np.einsum("ki,ki->k", w[:, :-1], w[:, :-1]) / 2

    def gradient(self, w: Array) -> Array:
        return w * self._kept(w)

    def hessian(self, w: Array) -> Array:
        return np.diag(self._kept(w))

    def _kept(self, w: Array) -> Array:
        return np.append(np.ones(w.shape[1] - 1), 0.0)


class _AnotherCentre(OutputPerturbation):
    """Output perturbation around a point other than the minimiser on the original data."""

    def centre(self, dataset: Dataset) -> Array:
        """The point to which the noise is added."""
        raise NotImplementedError

    def _centre_and_noise(self, dataset: Dataset) -> tuple[Array, Noise]:
        return self.centre(dataset), self.noise(count(dataset))


class WithIntercept(_AnotherCentre):
    """Output perturbation of a model with an intercept: records (x, 1)/sqrt(2), whose last coordinate is the intercept's.

    Outputs have d + 1 columns, the intercept last. The intercept is regularised like the other coordinates, which the
    sensitivity requires.
    """

    source = "nips08, Algorithm 1, with a constant feature"

    def centre(self, dataset: Dataset) -> Array:
        return minimiser(self.loss, with_constant(dataset), self._lam(count(dataset)), self.regulariser)


@dataclass(frozen=True)
class FreeIntercept(WithIntercept):
    """Broken: the intercept is not regularised, but the noise is calibrated for a strongly convex regulariser.

    Without features the intercept is sqrt(2) log(n_+/n_-). One record moves it by a distance that does not depend on lam,
    whereas the noise decreases with lam.
    """

    regulariser: Regulariser = AllButTheLast()
    source = "nips08, Algorithm 1, with a constant feature that is not regularised"

    def centre(self, dataset: Dataset) -> Array:
        if isinstance(dataset, LabelledData) and len(np.unique(dataset.labels)) == 1:
            raise EpsilometerError(
                f"every label is {dataset.labels[0]:g}; an intercept that is not regularised is finite with both labels only"
            )
        return super().centre(dataset)


def with_constant(dataset: Dataset) -> LabelledData:
    """The records (x, 1)/sqrt(2), in the unit ball if x is."""
    if not isinstance(dataset, LabelledData):
        raise EpsilometerError(f"an intercept needs labelled data, not {type(dataset).__name__}")
    features = np.column_stack([dataset.features, np.ones(len(dataset))]) / math.sqrt(2)
    return LabelledData(features, dataset.labels, dataset.weights)


@dataclass(frozen=True)
class RescaledLoss:
    """phi(R z): the loss of records x of norm up to R, given as x/R in the unit ball; L is multiplied by R, c by R^2."""

    base: SmoothLoss
    norm_bound: float
    name = "loss of rescaled records"

    def __post_init__(self) -> None:
        require_smooth(self.base)
        require_positive(norm_bound=self.norm_bound)

    @property
    def lipschitz(self) -> float:
        return self.norm_bound * self.base.lipschitz

    @property
    def curvature_bound(self) -> float:
        return self.norm_bound**2 * self.base.curvature_bound

    @property
    def bounded_slope(self) -> bool:
        return self.base.bounded_slope

    def value(self, margins: Array) -> Array:
        return self.base.value(self.norm_bound * margins)

    def slope(self, margins: Array) -> Array:
        return self.norm_bound * self.base.slope(self.norm_bound * margins)

    def curvature(self, margins: Array) -> Array:
        return self.norm_bound**2 * self.base.curvature(self.norm_bound * margins)

    def turn_into_pulls(self, margins: Array) -> None:
        margins *= self.norm_bound
        self.base.turn_into_pulls(margins)
        margins *= self.norm_bound

    def turn_into_curvatures(self, pulls: Array) -> None:
        pulls /= self.norm_bound
        self.base.turn_into_curvatures(pulls)
        pulls *= self.norm_bound**2


class LinearCurvature(RescaledLoss):
    """Broken: states the curvature bound c R; the correct bound is c R^2."""

    @property
    def curvature_bound(self) -> float:
        return self.norm_bound * self.base.curvature_bound


class LinearNormObjective(ObjectivePerturbationCMS11):
    """Broken: objective perturbation of CMS11 for records of norm up to R, with the curvature bound c R instead of c R^2.

    So beta accounts for 2 log(1 + c R/(n lam)), whereas the determinant changes by a factor 1 + c R^2/(n lam).
    """

    source = "Chaudhuri, Monteleoni and Sarwate 2011, Algorithm 2, with a curvature that is linear in the norm"


@dataclass(frozen=True)
class TunedRegularisation:
    """Broken: output perturbation with the lam that makes the fewest training errors (in a tie, the larger lam).

    The choice is not private. Where one record changes it, the scale of the noise changes too, and the likelihood ratio is
    unbounded in the tails.
    """

    epsilon: float
    candidates: tuple[float, ...] = CANDIDATES
    source = "nips08, Algorithm 1, with lambda tuned on the private data"

    def __post_init__(self) -> None:
        _ = self.guarantee
        if not self.candidates:
            raise EpsilometerError("there is no candidate for lambda; there must be at least 1")
        require_positive(**{f"candidate {number + 1}": lam for number, lam in enumerate(self.candidates)})

    @property
    def guarantee(self) -> Guarantee:
        return Guarantee(self.epsilon, "replace-one")

    def chosen_mechanism(self, dataset: LabelledData) -> OutputPerturbation:
        """Output perturbation with the chosen lam."""
        largest_first = sorted(self.candidates, reverse=True)
        return OutputPerturbation(self.epsilon, min(largest_first, key=partial(_count_errors, dataset)))

    def sample(self, dataset: LabelledData, size: int, rng: np.random.Generator) -> Array:
        return self.chosen_mechanism(dataset).sample(dataset, size, rng)

    def log_density(self, dataset: LabelledData, outputs: Array) -> Array:
        return self.chosen_mechanism(dataset).log_density(dataset, outputs)


def _count_errors(dataset: LabelledData, lam: float) -> float:
    """The number of records that the minimiser misclassifies."""
    wrong = dataset.signed @ minimiser(LOGISTIC, dataset, lam) <= 0
    return float(wrong.sum() if dataset.weights is None else dataset.weights[wrong].sum())


@dataclass(frozen=True)
class StoppedEarly(_AnotherCentre):
    """Broken: output perturbation of the first iterate of gradient descent with |grad J| <= gradient_norm.

    The sensitivity 2/(n lam) holds for the exact minimiser. The iterate may be gradient_norm/lam away from it, and one
    record can decide whether the descent takes another step.
    """

    gradient_norm: float = 0.101
    source = "nips08, Algorithm 1, with a minimum that is approximate (cf. Iyengar et al. 2019)"

    def __post_init__(self) -> None:
        super().__post_init__()
        require_positive(gradient_norm=self.gradient_norm)

    def centre(self, dataset: Dataset) -> Array:
        if not isinstance(dataset, LabelledData):
            raise EpsilometerError(f"gradient descent needs labelled data, not {type(dataset).__name__}")
        objective = Objective.of(require_smooth(self.loss), dataset, self._lam(dataset.n), self.regulariser)
        return minimise_roughly(objective, np.zeros((1, dataset.features.shape[1])), self.gradient_norm)[0]


def _pair_differing_in_last(shared: Sequence[Record], one: Record, other: Record, reason: str) -> NeighbouringPair:
    """A replace-one pair: the shared records, and one record or the other as the last."""
    return NeighbouringPair(labelled_records([*shared, one]), labelled_records([*shared, other]), "replace-one", reason)


def _opposite_label_pairs(direction: Sequence[float]) -> tuple[NeighbouringPair, ...]:
    """A record with label +1 or -1 among seven zero records: the Huber minimiser is +-direction/(8 lam)."""
    zero = [0.0] * len(direction)
    reason = "one label changes, which moves the minimiser as far as the sensitivity allows"
    return (_pair_differing_in_last([(zero, 1.0)] * 7, (direction, 1.0), (direction, -1.0), reason),)


def _rare_label_pairs() -> tuple[NeighbouringPair, ...]:
    nothing, left, right = (0.0,), (-0.5,), (0.5,)
    counts = _pair_differing_in_last(
        [(nothing, 1.0)] * 8 + [(nothing, -1.0)],
        (nothing, 1.0),
        (nothing, -1.0),
        "one label of ten is rare, and the intercept is the logarithm of the labels' ratio",
    )
    features = _pair_differing_in_last(
        [(left, 1.0)] * 4 + [(right, 1.0)] * 4 + [(left, -1.0)],
        (right, 1.0),
        (right, -1.0),
        "one label of ten is rare, and the features tell little about it",
    )
    return counts, features


def _changed_choice_pairs() -> tuple[NeighbouringPair, ...]:
    return (
        _pair_differing_in_last(
            [((1.0, 0.0), 1.0)] * 5,
            ((-0.3, 0.95), 1.0),
            ((1.0, 0.0), 1.0),
            "a weak regulariser gets the odd record right and a strong one does not; without it they are equal",
        ),
    )


def _curvature_pairs() -> tuple[NeighbouringPair, ...]:
    up, down = ((1.0,), 1.0), ((1.0,), -1.0)
    reason = "one label changes, and just above the kink of the loss both the pull on w and the curvature change with it"
    return (_pair_differing_in_last([down, down], up, down, reason),)


def _stopping_threshold_pairs() -> tuple[NeighbouringPair, ...]:
    """400 records at 1, of which 240 or 241 are positive: the gradient at 0 has norm 0.1 or 0.1025."""
    records = [((1.0,), 1.0), ((1.0,), -1.0)]
    return (
        NeighbouringPair(
            labelled_records(records, (240.0, 160.0)),
            labelled_records(records, (241.0, 159.0)),
            "replace-one",
            "the gradient at the start is just small enough to stop there, or just too large",
        ),
    )


def _epsilon_of_shift(
    build: Callable[[float], _AnotherCentre], pairs: Callable[[], Sequence[NeighbouringPair]], epsilon: float
) -> float:
    """The epsilon of spherical noise: its rate times the distance between the centres, attained on the line through both."""
    mechanism = build(epsilon)
    return max(
        _rate(mechanism.noise(count(pair.first)))
        * float(np.linalg.norm(mechanism.centre(pair.first) - mechanism.centre(pair.second)))
        for pair in pairs()
    )


def _build_linear_norm(epsilon: float) -> LinearNormObjective:
    return LinearNormObjective(epsilon, 1e-3, loss=LinearCurvature(HUBER, NORM_BOUND), extra_regularisation=True)


def _true_epsilon_of_linear_norm(epsilon: float) -> float:
    """2 beta R + log(1 + c R^2/(n lam)), attained at the Huber loss's kink, with lam after the extra regularisation."""
    return epsilon / 2 + math.log1p(NORM_BOUND * math.expm1(epsilon / 4))


def _build_free_intercept(epsilon: float) -> FreeIntercept:
    return FreeIntercept(epsilon, lam=1.0)


def _build_stopped_early(epsilon: float) -> StoppedEarly:
    return StoppedEarly(epsilon, lam=0.05)


def _build_with_intercept(epsilon: float) -> WithIntercept:
    return WithIntercept(epsilon, lam=1.0)


ENTRIES = (
    Entry(
        "output_perturbation_gamma_one",
        "output perturbation with the norm of the noise from Gamma(1)",
        lambda epsilon: GammaOneNorm(epsilon, lam=0.5, loss=HUBER),
        lambda: _opposite_label_pairs((1.0, 0.0)),
        flaw="The norm of the noise is drawn from Gamma(1) in every dimension; only Gamma(d) makes the density exponential "
        "in the norm, this one is infinite at the minimiser.",
        true_epsilon=lambda epsilon: math.inf,  # noqa: ARG005
    ),
    Entry(
        "output_perturbation_coordinates",
        "output perturbation with Laplace noise on each coordinate",
        lambda epsilon: CoordinatewiseLaplace(epsilon, lam=0.5, loss=HUBER),
        lambda: _opposite_label_pairs([1 / math.sqrt(3)] * 3),
        flaw="Independent Laplace coordinates pay for the L1 norm of the minimiser's shift, but the sensitivity "
        "bounds its Euclidean norm.",
        true_epsilon=lambda epsilon: math.sqrt(3) * epsilon,
    ),
    Entry(
        "output_perturbation_intercept",
        "output perturbation with an intercept",
        _build_with_intercept,
        _rare_label_pairs,
        true_epsilon=partial(_epsilon_of_shift, _build_with_intercept, _rare_label_pairs),
    ),
    Entry(
        "output_perturbation_free_intercept",
        "output perturbation with an intercept that is not regularised",
        _build_free_intercept,
        _rare_label_pairs,
        flaw="The intercept is left out of the regulariser, so that the objective is not strongly convex and the "
        "sensitivity 2/(n lambda) does not hold for it.",
        true_epsilon=partial(_epsilon_of_shift, _build_free_intercept, _rare_label_pairs),
    ),
    Entry(
        "objective_perturbation_linear_norm",
        "objective perturbation with a curvature linear in the records' norm",
        _build_linear_norm,
        _curvature_pairs,
        flaw="The records have norm up to R, and the bound on the curvature is taken as c R where it is c R^2.",
        true_epsilon=_true_epsilon_of_linear_norm,
    ),
    Entry(
        "output_perturbation_tuned",
        "output perturbation with lambda tuned on the private data",
        TunedRegularisation,
        _changed_choice_pairs,
        flaw="Lambda is chosen by its errors on the private data, and nothing is paid for that; a record can change it, and "
        "with it the scale of the noise.",
        true_epsilon=lambda epsilon: math.inf,  # noqa: ARG005
    ),
    Entry(
        "output_perturbation_stopped_early",
        "output perturbation of a minimisation that stops early",
        _build_stopped_early,
        _stopping_threshold_pairs,
        flaw="The noise is calibrated for the exact minimiser, but gradient descent stops at a small gradient, and one "
        "record can decide whether it goes on.",
        true_epsilon=partial(_epsilon_of_shift, _build_stopped_early, _stopping_threshold_pairs),
    ),
)
