"""Gradient perturbation: noisy gradient descent, of which every noisy gradient is released.

The objective is sum_i l(theta; x_i, y_i), with convex l that are L-Lipschitz in theta, over C, the ball of radius R about 0.
From theta_0 = 0 on, theta_t = Proj_C(theta_{t-1} - eta(t) g_t), eta(t) = |C| / (G sqrt(t)), |C| = 2R (the diameter),
G^2 = n^2 L^2 + d sigma^2. The noisy gradient g_t is n times the gradient of one record, drawn anew for each step, or the
gradient of the whole sum, plus noise N(0, sigma^2 I). Given g_1 ... g_T everything else follows without the data.
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
"""At most about this many gradients of records are held at a time when a density is evaluated."""


@dataclass(frozen=True)
class GradientPerturbation:
    """What all variants share: the walk through C, and the transcript of the noisy gradients that lead it.

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
        """The noise's standard deviation in each coordinate, for n records."""
        raise NotImplementedError

    def sample(self, dataset: LabelledData, size: int, rng: np.random.Generator) -> Array:
        course = self._course(dataset)
        outputs = np.empty((size, course.steps, course.dimension))
        for step, (noisy, _) in enumerate(self._walk(dataset, course, size, rng)):
            outputs[:, step] = noisy
        return outputs.reshape(size, -1)

    def sample_final(self, dataset: LabelledData, size: int, rng: np.random.Generator) -> Array:
        """The parameters theta_T to which `sample` leads with the same generator; no transcript is kept."""
        last = deque(self._walk(dataset, self._course(dataset), size, rng), maxlen=1)
        return last.pop()[1]

    def final(self, n: int, outputs: Array) -> Array:
        """The parameters theta_T to which transcripts for n records lead: a row of d for each, without the data."""
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
        """The noisy gradients and the parameters after each step, of `size` walks side by side."""
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
    """The data as a walk uses them: the rows y_i x_i, their number n, and the probability of each."""

    rows: Array
    n: float
    shares: Array

    @classmethod
    def of(cls, dataset: LabelledData) -> _Records:
        weights = np.ones(len(dataset)) if dataset.weights is None else dataset.weights
        return cls(dataset.signed, dataset.n, weights / dataset.n)


@dataclass(frozen=True)
class _Course:
    """The numbers of a walk that depend on nothing but the shape of the data."""

    dimension: int
    steps: int
    sigma: float
    radius: float
    rate: float
    """|C| / G, the length of the first step for a gradient of length 1."""

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
    """Each step looks at one record i, drawn uniformly: g_t ~ (1/n) sum_i N(n grad l_i(theta_{t-1}), sigma^2 I)."""

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

    T = n^2 and sigma^2 = 32 L^2 n^2 log(n/delta) log(1/delta) / epsilon^2. What a step spends without sampling,
    epsilon / (2 sqrt(log(1/delta))), is amplified in the proof by a lemma for values below 1: the promise rests on
    epsilon < 2 sqrt(log(1/delta)), and far above that it is false.
    """

    source = "cs860, lecture 13, Algorithm 3; Bassily, Smith and Thakurta 2014, Algorithm 1"

    def number_of_steps(self, n: int) -> int:
        return n**2

    def sigma(self, n: int) -> float:
        return self.loss.lipschitz * n * math.sqrt(32 * math.log(n / self.delta) * math.log(1 / self.delta)) / self.epsilon


@dataclass(frozen=True)
class AccountedGradientPerturbation(_ChosenSteps, _SampledDescent):
    """Private stochastic projected gradient descent with the smallest sigma for which an accountant vouches.

    n times the gradients of two records are at most mu = 2 n L / sigma standard deviations apart; mu is the largest at which
    T steps that draw one record out of n are (epsilon, delta)-differentially private: `accounting.sampled_mu`.
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

    A replaced record moves the gradient by at most 2L, so T steps are as private as one Gaussian with means
    mu = 2 L sqrt(T) / sigma standard deviations apart; sigma is the smallest at which that is
    (epsilon, delta)-differentially private: `gaussian.analytic_sigma`.
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
    """Raise where the loss is none of a margin, or its Lipschitz constant does not hold on all of C."""
    if isinstance(loss, Distance):
        raise EpsilometerError(f"the loss is the {loss.name}; gradient perturbation needs a loss of labelled records")
    if isinstance(loss, Squared) and radius > loss.radius:
        raise EpsilometerError(f"radius is {radius:g}; the {loss.name} bounds its slope up to radius {loss.radius:g} only")


def _require_steps(steps: int | None) -> None:
    if steps is not None and (steps != int(steps) or steps < 1):
        raise EpsilometerError(f"steps is {steps:g}; it must be a whole number above 0")


FULL_SLOPE = Huber(0.5)
"""A loss of slope -1, the steepest, at every margin up to 1/2: in the ball of that radius gradients have length |x|."""


def _pairs() -> list[NeighbouringPair]:
    """Four records; the gradients of the one that is replaced are opposite at theta_0 = 0, and long."""
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
