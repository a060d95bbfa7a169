"""Gradient perturbation: noisy projected gradient descent that releases every noisy gradient.

The objective is sum_i l(theta; x_i, y_i), with convex l that are L-Lipschitz in theta, over C, the ball of radius R about 0.
From theta_0 = 0 on, theta_t = Proj_C(theta_{t-1} - eta(t) g_t), eta(t) = |C| / (G sqrt(t)), |C| = 2R (the diameter),
G^2 = n^2 L^2 + d sigma^2. The noisy gradient g_t is n times the gradient of one record, drawn anew for each step, or the
gradient of the whole sum, plus noise N(0, sigma^2 I). The parameters follow from g_1 ... g_T by post-processing.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from epsilometer.core import Array, EpsilometerError, Guarantee, LabelledData, NeighbouringPair, require_positive
from epsilometer.erm.losses import LOGISTIC, Distance, Huber, MarginLoss, Squared
from epsilometer.mechanisms.accounting import sampled_mu
from epsilometer.mechanisms.catalogue import Entry
from epsilometer.mechanisms.gaussian import analytic_sigma

CHUNK = 1 << 19
"""A density is evaluated for at most about this many gradients of records at a time, to limit memory."""


@dataclass(frozen=True)
class GradientPerturbation:
    """The common part of all variants: projected descent in C, and the transcript of its noisy gradients.

    An output is a transcript of T d columns: the d coordinates of g_1, then those of g_2, and so on.
    """

    epsilon: float
    delta: float = 1e-5
    radius: float = 1.0
    loss: MarginLoss = LOGISTIC

    def __post_init__(self) -> None:
        if not self.guarantee.delta > 0:
            raise EpsilometerError(f"delta is {self.delta:g}; Gaussian noise needs one above 0")
        require_positive(radius=self.radius)
        _require_bounded_slope(self.loss, self.radius)

    @property
    def guarantee(self) -> Guarantee:
        return Guarantee(self.epsilon, "replace-one", self.delta)

    def number_of_steps(self, n: int) -> int:
        """T, for n records."""
        raise NotImplementedError

    def sigma(self, n: int) -> float:
        """The standard deviation of the noise in each coordinate, for n records."""
        raise NotImplementedError

    def sample(self, dataset: LabelledData, size: int, rng: np.random.Generator) -> Array:
        course = self._course(dataset)
        outputs = np.empty((size, course.steps, course.dimension))
        for step, (noisy, _) in enumerate(self._walk(dataset, course, size, rng)):
            outputs[:, step] = noisy
        return outputs.reshape(size, -1)

    def sample_final(self, dataset: LabelledData, size: int, rng: np.random.Generator) -> Array:
        """The last parameters theta_T of the walks that `sample` takes with the same generator."""
        last = deque(self._walk(dataset, self._course(dataset), size, rng), maxlen=1)
        return last.pop()[1]

    def final(self, n: int, outputs: Array) -> Array:
        """The last parameters theta_T, (size, d), that follow from transcripts for n records."""
        steps = self.number_of_steps(n)
        if outputs.ndim != 2 or outputs.shape[1] == 0 or outputs.shape[1] % steps:
            raise EpsilometerError(f"transcripts have shape {outputs.shape}; they must be rows of {steps} gradients")
        course = self.course_of(n, outputs.shape[1] // steps)
        parameters = course.start(len(outputs))
        for step, noisy in enumerate(course.unfold(outputs)):
            parameters = course.move(step, parameters, noisy)
        return parameters

    def log_density(self, dataset: LabelledData, outputs: Array) -> Array:
        course, records = self._course(dataset), _Records.of(dataset)
        chunk = max(1, CHUNK // len(dataset))
        parts = [self._log_density(records, course, outputs[i : i + chunk]) for i in range(0, max(1, len(outputs)), chunk)]
        return np.concatenate(parts)

    def _log_density(self, records: _Records, course: _Course, outputs: Array) -> Array:
        """The log-density of each step given those before it, summed over the steps."""
        parameters = course.start(len(outputs))
        total = np.full(len(outputs), -course.steps * course.dimension * math.log(math.sqrt(2 * math.pi) * course.sigma))
        for step, noisy in enumerate(course.unfold(outputs)):
            total += self._log_step(records, course.sigma, parameters, noisy)
            parameters = course.move(step, parameters, noisy)
        return total

    def _walk(
        self, dataset: LabelledData, course: _Course, size: int, rng: np.random.Generator
    ) -> Iterator[tuple[Array, Array]]:
        """After each step, the noisy gradients and the parameters of `size` independent walks."""
        records, parameters = _Records.of(dataset), course.start(size)
        for step in range(course.steps):
            noisy = self._gradient(records, parameters, rng)
            noisy += rng.normal(0, course.sigma, noisy.shape)
            parameters = course.move(step, parameters, noisy)
            yield noisy, parameters

    def _gradient(self, records: _Records, parameters: Array, rng: np.random.Generator) -> Array:
        """The gradients to which noise is added."""
        raise NotImplementedError

    def _log_step(self, records: _Records, sigma: float, parameters: Array, noisy: Array) -> Array:
        """log((2 pi sigma^2)^(d/2) times the density) of noisy gradients at these parameters."""
        raise NotImplementedError

    def _course(self, dataset: LabelledData) -> _Course:
        if not float(dataset.n).is_integer():
            raise EpsilometerError(f"the weights add up to {dataset.n:g}; gradient perturbation needs whole records")
        return self.course_of(int(dataset.n), dataset.features.shape[1])

    def course_of(self, n: int, dimension: int) -> _Course:
        sigma = self.sigma(n)
        bound = math.sqrt((n * self.loss.lipschitz) ** 2 + dimension * sigma**2)
        return _Course(dimension, self.number_of_steps(n), sigma, self.radius, 2 * self.radius / bound)


@dataclass(frozen=True)
class _Records:
    """The signed rows y_i x_i, the number of records n, and the probability with which each row is drawn."""

    rows: Array
    n: float
    shares: Array

    @classmethod
    def of(cls, dataset: LabelledData) -> _Records:
        weights = np.ones(len(dataset)) if dataset.weights is None else dataset.weights
        return cls(dataset.signed, dataset.n, weights / dataset.n)


@dataclass(frozen=True)
class _Course:
    """The parameters of the descent that depend only on the shape of the data."""

    dimension: int
    steps: int
    sigma: float
    radius: float
    rate: float
    """|C| / G = eta(1), the first step size."""

    def start(self, size: int) -> Array:
        return np.zeros((size, self.dimension))

    def move(self, step: int, parameters: Array, noisy: Array) -> Array:
        """The next parameters; `step` counts from 0."""
        target = parameters - self.rate / math.sqrt(step + 1) * noisy
        norms = np.sqrt(np.einsum("sd,sd->s", target, target))
        return target * (self.radius / np.maximum(norms, self.radius))[:, None]

    def unfold(self, outputs: Array) -> Array:
        """Transcripts as an array of (step, transcript, coordinate)."""
        if outputs.ndim != 2 or outputs.shape[1] != self.steps * self.dimension:
            raise EpsilometerError(
                f"transcripts have shape {outputs.shape}; they must have {self.steps} x {self.dimension} columns"
            )
        return outputs.reshape(len(outputs), self.steps, self.dimension).swapaxes(0, 1)


@dataclass(frozen=True)
class _SampledDescent(GradientPerturbation):
    """Each step uses one record i, drawn uniformly: g_t ~ (1/n) sum_i N(n grad l_i(theta_{t-1}), sigma^2 I)."""

    def _gradient(self, records: _Records, parameters: Array, rng: np.random.Generator) -> Array:
        drawn = records.rows[rng.choice(len(records.rows), len(parameters), p=records.shares)]
        slopes = self.loss.slope(np.einsum("sd,sd->s", parameters, drawn))
        return records.n * slopes[:, None] * drawn

    def _log_step(self, records: _Records, sigma: float, parameters: Array, noisy: Array) -> Array:
        rows = records.rows
        lengths = records.n * self.loss.slope(parameters @ rows.T)
        squares = np.sum(noisy**2, axis=1)[:, None] - 2 * lengths * (noisy @ rows.T) + lengths**2 * np.sum(rows**2, axis=1)
        exponents = squares / (-2 * sigma**2)
        largest = exponents.max(axis=1)
        return largest + np.log(np.exp(exponents - largest[:, None]) @ records.shares)


@dataclass(frozen=True)
class _ChosenSteps(GradientPerturbation):
    """Descent with a number of steps of the user's choice."""

    steps: int | None = None
    """T; n^2 where none is given."""

    def __post_init__(self) -> None:
        super().__post_init__()
        _require_steps(self.steps)

    def number_of_steps(self, n: int) -> int:
        return self.steps or n**2


@dataclass(frozen=True)
class PrintedGradientPerturbation(_SampledDescent):
    """Private stochastic projected gradient descent as printed.

    T = n^2 and sigma^2 = 32 L^2 n^2 log(n/delta) log(1/delta) / epsilon^2. Without sampling a step costs
    epsilon / (2 sqrt(log(1/delta))), and the proof applies amplification by sampling, whose lemma needs a value below 1. So
    the guarantee is proved for epsilon < 2 sqrt(log(1/delta)) only, and it is false far above.
    """

    source = "cs860, lecture 13, Algorithm 3; Bassily, Smith and Thakurta 2014, Algorithm 1"

    def number_of_steps(self, n: int) -> int:
        return n**2

    def sigma(self, n: int) -> float:
        return self.loss.lipschitz * n * math.sqrt(32 * math.log(n / self.delta) * math.log(1 / self.delta)) / self.epsilon


@dataclass(frozen=True)
class AccountedGradientPerturbation(_ChosenSteps, _SampledDescent):
    """Private stochastic projected gradient descent with the smallest sigma that the accountant certifies.

    n times the gradients of two records are at most mu = 2 n L / sigma standard deviations apart. `accounting.sampled_mu` is
    the largest mu at which T steps, each on one record drawn out of n, are (epsilon, delta)-differentially private.
    """

    source = (
        "cs860, lecture 13, Algorithm 3; Bassily, Smith and Thakurta 2014, Algorithm 1; "
        "sigma by the dominating pairs of Zhu, Dong and Wang 2022"
    )

    def sigma(self, n: int) -> float:
        return 2 * n * self.loss.lipschitz / sampled_mu(self.epsilon, self.delta, 1 / n, self.number_of_steps(n))


@dataclass(frozen=True)
class FullBatchGradientPerturbation(_ChosenSteps, GradientPerturbation):
    """Projected gradient descent on the whole sum: g_t ~ N(sum_i grad l_i(theta_{t-1}), sigma^2 I).

    Replacing a record changes the gradient by at most 2L, so T steps are as private as one Gaussian with means
    mu = 2 L sqrt(T) / sigma standard deviations apart. `gaussian.analytic_sigma` is the smallest sigma at which that is
    (epsilon, delta)-differentially private.
    """

    source = (
        "cs860, lecture 13, Algorithm 1 with the noise of Algorithm 3; "
        "sigma by Balle and Wang 2018, Theorem 8, and Dong, Roth and Su 2022, Corollary 3.3"
    )

    def sigma(self, n: int) -> float:
        return analytic_sigma(self.epsilon, self.delta, 2 * self.loss.lipschitz * math.sqrt(self.number_of_steps(n)))

    def _gradient(self, records: _Records, parameters: Array, _rng: np.random.Generator) -> Array:
        return self._whole_gradient(records, parameters)

    def _log_step(self, records: _Records, sigma: float, parameters: Array, noisy: Array) -> Array:
        distances = noisy - self._whole_gradient(records, parameters)
        return np.sum(distances**2, axis=1) / (-2 * sigma**2)

    def _whole_gradient(self, records: _Records, parameters: Array) -> Array:
        slopes = self.loss.slope(parameters @ records.rows.T)
        return (records.n * records.shares * slopes) @ records.rows


def _require_bounded_slope(loss: MarginLoss, radius: float) -> None:
    """Raise an error unless the loss is a margin loss whose Lipschitz constant holds on all of C."""
    if isinstance(loss, Distance):
        raise EpsilometerError(f"the loss is the {loss.name}; gradient perturbation needs a loss of labelled records")
    if isinstance(loss, Squared) and radius > loss.radius:
        raise EpsilometerError(f"radius is {radius:g}; the {loss.name} bounds its slope up to radius {loss.radius:g} only")


def _require_steps(steps: int | None) -> None:
    if steps is not None and (steps != int(steps) or steps < 1):
        raise EpsilometerError(f"steps is {steps:g}; it must be a whole number above 0")


FULL_SLOPE = Huber(0.5)
"""A loss of slope -1, the maximum, at every margin up to 1/2: for |theta| <= 1/2 every gradient has norm |x|."""


def _pairs() -> list[NeighbouringPair]:
    """Four records; at theta_0 = 0 the gradients of the exchanged record are opposite and of maximal norm."""
    along, across = np.ones((4, 1)), np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 1.0], [0.0, 1.0]])
    return [
        NeighbouringPair(
            LabelledData(along, np.array([1.0, -1.0, -1.0, -1.0])),
            LabelledData(along, np.array([-1.0, -1.0, -1.0, -1.0])),
            "replace-one",
            "the record turns its gradient round, from against all others to with them: the worst pair of a single step",
        ),
        NeighbouringPair(
            LabelledData(across, np.array([1.0, 1.0, 1.0, -1.0])),
            LabelledData(across, np.array([-1.0, 1.0, 1.0, -1.0])),
            "replace-one",
            "the record turns its gradient round, and the others' are at right angles to it",
        ),
    ]


ENTRIES = (
    Entry(
        "gradient_perturbation_printed",
        "noisy stochastic gradient descent on logistic loss, noise as printed",
        PrintedGradientPerturbation,
        _pairs,
    ),
    Entry(
        "gradient_perturbation_accountant",
        "noisy stochastic gradient descent on Huber loss, noise by an accountant",
        lambda epsilon: AccountedGradientPerturbation(epsilon, radius=0.5, loss=FULL_SLOPE),
        _pairs,
    ),
    Entry(
        "gradient_perturbation_full_batch",
        "noisy gradient descent on Huber loss, three steps, noise by composition of Gaussians",
        lambda epsilon: FullBatchGradientPerturbation(epsilon, radius=0.5, loss=FULL_SLOPE, steps=3),
        _pairs,
    ),
)
