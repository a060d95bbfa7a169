"""The attacked mechanisms, each training all models of a game at once.

The output of a batched mechanism in a trial has the distribution of the catalogue's mechanism on the trial's records; tests
compare the two. Its log-ratio is log p(output | R + z) - log p(output | R + z'), in which most terms cancel.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from epsilometer.core import Array, Guarantee, LabelledData
from epsilometer.erm import LOGISTIC, TOLERANCE
from epsilometer.erm.shadows import minimise_shadows
from epsilometer.mechanisms.controls import NonPrivateLogistic
from epsilometer.mechanisms.decision_tree import RandomDecisionTrees
from epsilometer.mechanisms.gradient_perturbation import FullBatchGradientPerturbation
from epsilometer.mechanisms.laplace import log_laplace
from epsilometer.mechanisms.naive_bayes import CLASSES, NoisyNaiveBayes
from epsilometer.mechanisms.objective_perturbation import (
    ObjectivePerturbation,
    ObjectivePerturbation2008,
    ObjectivePerturbationCMS11,
)
from epsilometer.mechanisms.output_perturbation import OutputPerturbation
from epsilometer.membership.game import Game, Trials

MARGINS_AT_ONCE = 1 << 18

DECIMALS = 9
"""The decimals to which a log-ratio with atoms is rounded."""

DELTA = 1e-5
STEPS, RADIUS = 10, 5.0
"""The number of steps of gradient perturbation, and the radius of the ball that holds its iterates."""
CATEGORICAL_FEATURES = 5
TREES, HEIGHT = 3, 2


class Batched(Protocol):
    """A mechanism that trains a model for each trial of a game."""

    @property
    def guarantee(self) -> Guarantee | None:
        """The claimed guarantee."""

    def release(self, trials: Trials, rng: np.random.Generator) -> Array:
        """One output for each trial, as rows."""

    def log_ratio(self, trials: Trials, outputs: Array) -> Array:
        """The log-likelihood ratio of each output, with the target against its substitute in the training data."""

    def log_odds(self, outputs: Array, records: LabelledData) -> Array:
        """log(p/(1 - p)) of each record's own label under each output, (outputs, records)."""

    def log_odds_without_noise(self, trials: Trials, records: LabelledData) -> Array:
        """These log-odds under models of the trials that are trained without noise, (trials, records)."""


class _Linear:
    """Outputs that are the w of a linear classifier, whose margin y w.x is the log-odds of y."""

    def log_odds(self, outputs: Array, records: LabelledData) -> Array:
        return outputs @ records.signed.T

    def log_odds_without_noise(self, trials: Trials, records: LabelledData) -> Array:
        return trials.minimiser @ records.signed.T


@dataclass(frozen=True)
class BatchedMinimiser(_Linear):
    """Logistic regression without noise: an output identifies its training set unless two models coincide."""

    mechanism: NonPrivateLogistic

    @property
    def guarantee(self) -> None:
        return None

    def release(self, trials: Trials, rng: np.random.Generator) -> Array:  # noqa: ARG002
        return trials.minimiser

    def log_ratio(self, trials: Trials, outputs: Array) -> Array:
        """Plus or minus infinity, by the nearer of the two possible models; 0 where they agree to the solver's tolerance.

        J is lam-strongly convex, so a point with gradient g is within |g|/lam of the minimiser.
        """
        from_target, from_substitute = (
            np.linalg.norm(outputs - model, axis=1)
            for model in (trials.minimiser_with_target, trials.minimiser_with_substitute)
        )
        difference = from_substitute - from_target
        told_apart = np.abs(difference) > 2 * math.sqrt(outputs.shape[1]) * TOLERANCE / trials.game.lam
        return np.where(told_apart, np.copysign(np.inf, difference), 0.0)


@dataclass(frozen=True)
class BatchedOutput(_Linear):
    """Output perturbation: the minimisers plus noise."""

    mechanism: OutputPerturbation

    @property
    def guarantee(self) -> Guarantee:
        return self.mechanism.guarantee

    def release(self, trials: Trials, rng: np.random.Generator) -> Array:
        size, d = len(trials), trials.game.pool.features.shape[1]
        return trials.minimiser + self.mechanism.noise(trials.game.n).sample(size, d, rng)

    def log_ratio(self, trials: Trials, outputs: Array) -> Array:
        density = self.mechanism.noise(trials.game.n).log_density
        return density(outputs - trials.minimiser_with_target) - density(outputs - trials.minimiser_with_substitute)


@dataclass(frozen=True)
class BatchedObjective(_Linear):
    """Objective perturbation: the minimisers of J(w) + b.w/n, with a b for each trial."""

    mechanism: ObjectivePerturbation

    @property
    def guarantee(self) -> Guarantee:
        return self.mechanism.guarantee

    def release(self, trials: Trials, rng: np.random.Generator) -> Array:
        signed, n = trials.game.pool.signed, trials.game.n
        noise, lam = self.mechanism.plan(n)
        return minimise_shadows(LOGISTIC, signed, trials.trained, lam, noise.sample(len(trials), signed.shape[1], rng) / n)

    def log_ratio(self, trials: Trials, outputs: Array) -> Array:
        """The difference of log h(b(w)) + log |det n Hess J(w)|: see `ObjectivePerturbation`."""
        return np.concatenate([self._log_ratio(trials, rows, outputs[rows]) for rows in _slices(trials)])

    def _log_ratio(self, trials: Trials, rows: slice, outputs: Array) -> Array:
        game = trials.game
        signed, d = game.pool.signed, outputs.shape[1]
        noise, lam = self.mechanism.plan(game.n)
        rest, margins = trials.rest[rows], outputs @ signed.T
        products = (signed[:, :, None] * signed[:, None, :]).reshape(len(signed), d * d)
        pull = -(LOGISTIC.slope(margins) * rest) @ signed - game.n * lam * outputs
        hessian = ((LOGISTIC.curvature(margins) * rest) @ products).reshape(-1, d, d) + game.n * lam * np.eye(d)

        def log_density(record: Array) -> Array:
            margin = np.einsum("ki,ki->k", outputs, record)
            b = pull - LOGISTIC.slope(margin)[:, None] * record
            whole = hessian + LOGISTIC.curvature(margin)[:, None, None] * record[:, :, None] * record[:, None, :]
            return noise.log_density(b) + np.linalg.slogdet(whole)[1]

        target = np.broadcast_to(signed[game.target], outputs.shape)
        return log_density(target) - log_density(signed[trials.substitutes[rows]])


@dataclass(frozen=True)
class BatchedDescent(_Linear):
    """Noisy gradient descent on the logistic loss; an output is the transcript of all noisy gradients."""

    mechanism: FullBatchGradientPerturbation
    n: int

    @property
    def guarantee(self) -> Guarantee:
        return self.mechanism.guarantee

    def release(self, trials: Trials, rng: np.random.Generator) -> Array:
        d, trained = trials.game.pool.features.shape[1], trials.trained
        noise = rng.normal(0, self.mechanism.sigma(self.n), (len(trials), self.mechanism.number_of_steps(self.n) * d))
        return np.concatenate([self._walk(trials.game.pool, trained[rows], noise[rows]) for rows in _slices(trials)])

    def _walk(self, pool: LabelledData, trained: NDArray[np.bool_], noise: Array) -> Array:
        course = self.mechanism.course_of(self.n, pool.features.shape[1])
        parameters, transcript = course.start(len(noise)), noise.copy()
        for step, noisy in enumerate(course.unfold(transcript)):
            noisy += self._gradient(pool, trained, parameters)
            parameters = course.move(step, parameters, noisy)
        return transcript

    def _gradient(self, pool: LabelledData, trained: NDArray[np.bool_], parameters: Array) -> Array:
        pulls = parameters @ pool.signed.T
        LOGISTIC.turn_into_pulls(pulls)
        pulls *= trained
        return -pulls @ pool.signed

    def log_ratio(self, trials: Trials, outputs: Array) -> Array:
        return np.concatenate([self._log_ratio(trials, rows, outputs[rows]) for rows in _slices(trials)])

    def _log_ratio(self, trials: Trials, rows: slice, outputs: Array) -> Array:
        pool = trials.game.pool
        course = self.mechanism.course_of(self.n, pool.features.shape[1])
        records = (pool.signed[[trials.game.target]], pool.signed[trials.substitutes[rows]])
        parameters, total = course.start(len(outputs)), np.zeros(len(outputs))
        for step, noisy in enumerate(course.unfold(outputs)):
            left = noisy - self._gradient(pool, trials.rest[rows], parameters)
            target, substitute = (LOGISTIC.slope(_dot(parameters, each))[:, None] * each for each in records)
            total += _dot(left - substitute, left - substitute) - _dot(left - target, left - target)
            parameters = course.move(step, parameters, noisy)
        return total / (2 * course.sigma**2)

    def log_odds(self, outputs: Array, records: LabelledData) -> Array:
        return super().log_odds(self.mechanism.final(self.n, outputs), records)


@dataclass(frozen=True)
class Categories:
    """The features that categorical mechanisms use, and the thresholds by which these are made binary."""

    columns: NDArray[np.intp]
    thresholds: Array

    @classmethod
    def of(cls, public: LabelledData, number: int = CATEGORICAL_FEATURES) -> Categories:
        """The features whose binary versions, cut at the median, covary most with the label on public records."""
        thresholds = np.median(public.features, axis=0)
        above = public.features > thresholds
        covariance = np.abs(public.labels @ (above - above.mean(axis=0)))
        columns = np.sort(np.argsort(-covariance, kind="stable")[:number])
        return cls(columns, thresholds[columns])

    @property
    def values(self) -> tuple[int, ...]:
        """The number of values of each feature."""
        return (2,) * len(self.columns)

    def records(self, data: LabelledData) -> NDArray[np.int_]:
        """A row for each record: 0 or 1 for each feature, and the label as 0 or 1."""
        above = data.features[:, self.columns] > self.thresholds
        return np.column_stack([above, data.labels > 0]).astype(int)


@dataclass(frozen=True)
class BatchedCounts:
    """Noisy counts of categorical records: naive Bayes, or random decision trees."""

    mechanism: NoisyNaiveBayes | RandomDecisionTrees
    categories: Categories
    pool: LabelledData

    @property
    def guarantee(self) -> Guarantee:
        return self.mechanism.guarantee

    @cached_property
    def _cells(self) -> Array:
        """What each record of the pool adds to the counts, (records, counts)."""
        kinds, places = np.unique(self.categories.records(self.pool), axis=0, return_inverse=True)
        return np.stack([self.mechanism.counts(kind[None]) for kind in kinds])[places.ravel()]

    def release(self, trials: Trials, rng: np.random.Generator) -> Array:
        counts = self._counts(trials)
        return counts + rng.laplace(scale=self.mechanism.scale, size=counts.shape)

    def log_ratio(self, trials: Trials, outputs: Array) -> Array:
        """The log-ratio, rounded: it has atoms, since all outputs beyond both counts have one ratio up to rounding."""
        left, cells = outputs - trials.rest @ self._cells, self._cells
        with_target, with_substitute = left - cells[trials.game.target], left - cells[trials.substitutes]
        scale = self.mechanism.scale
        return np.round(log_laplace(with_target, scale) - log_laplace(with_substitute, scale), DECIMALS)

    def log_odds(self, outputs: Array, records: LabelledData) -> Array:
        features = self.categories.records(records)[:, :-1]
        if isinstance(self.mechanism, NoisyNaiveBayes):
            return naive_bayes_odds(self.mechanism, outputs, features) * records.labels
        return tree_odds(self.mechanism, outputs, features) * records.labels

    def log_odds_without_noise(self, trials: Trials, records: LabelledData) -> Array:
        return self.log_odds(self._counts(trials), records)

    def _counts(self, trials: Trials) -> Array:
        return np.asarray(trials.trained @ self._cells)


def naive_bayes_odds(mechanism: NoisyNaiveBayes, outputs: Array, features: NDArray[Any]) -> Array:
    """log p(1 | features) - log p(0 | features), from counts that are raised to at least 0, plus 1, as in `predict`."""
    smooth = np.log(np.maximum(outputs, 0.0) + 1)
    odds = np.repeat((smooth[:, 1] - smooth[:, 0])[:, None], len(features), axis=1)
    first = CLASSES
    for feature, number in enumerate(mechanism.values):
        table = smooth[:, first : first + CLASSES * number].reshape(-1, CLASSES, number)
        share = table - np.log(np.exp(table).sum(axis=2, keepdims=True))
        odds += (share[:, 1] - share[:, 0])[:, features[:, feature]]
        first += CLASSES * number
    return odds


def tree_odds(mechanism: RandomDecisionTrees, outputs: Array, features: NDArray[Any]) -> Array:
    """The log-odds of label 1 from its share in the records' leaves, averaged over the trees.

    Negative counts are replaced by 0, and 1 is added to all counts, so that no share is 0 or 1.
    """
    share, first = np.zeros((len(outputs), len(features))), 0
    for tree in range(mechanism.trees):
        inside = mechanism.membership(tree, features)
        last = first + CLASSES * inside.shape[1]
        leaf = np.maximum(outputs[:, first:last].reshape(len(outputs), -1, CLASSES), 0.0) + 1
        share += (leaf[:, :, 1] / leaf.sum(axis=2))[:, inside.argmax(axis=1)] / mechanism.trees
        first = last
    return np.log(share) - np.log1p(-share)


NON_PRIVATE = "non_private_logistic"


@dataclass(frozen=True)
class AttackedMechanism:
    """A mechanism whose releases are attacked."""

    title: str
    """Its name in figures and on the page."""
    build: Callable[[float, Categories, Game], Batched]
    """Takes the claimed epsilon, the categories and the game; returns the batched mechanism."""


def _build_trees(epsilon: float, categories: Categories, game: Game) -> Batched:
    binary = categories.values
    trees = RandomDecisionTrees(epsilon, binary, min(HEIGHT, len(binary)), TREES)
    return BatchedCounts(trees, categories, game.pool)


def _build_descent(epsilon: float, _: Categories, game: Game) -> Batched:
    return BatchedDescent(FullBatchGradientPerturbation(epsilon, DELTA, RADIUS, steps=STEPS), game.n)


def _build_cms11(epsilon: float, _: Categories, game: Game) -> Batched:
    return BatchedObjective(ObjectivePerturbationCMS11(epsilon, game.lam, extra_regularisation=True))


MECHANISMS = {
    NON_PRIVATE: AttackedMechanism("no privacy", lambda _, __, game: BatchedMinimiser(NonPrivateLogistic(game.lam))),
    "output_perturbation": AttackedMechanism(
        "output perturbation", lambda epsilon, _, game: BatchedOutput(OutputPerturbation(epsilon, game.lam))
    ),
    "objective_perturbation_2008": AttackedMechanism(
        "objective perturbation, as printed in 2008",
        lambda epsilon, _, game: BatchedObjective(ObjectivePerturbation2008(epsilon, game.lam)),
    ),
    "objective_perturbation_cms11": AttackedMechanism("objective perturbation, as in CMS11", _build_cms11),
    "output_perturbation_gaussian": AttackedMechanism(
        "output perturbation, Gaussian",
        lambda epsilon, _, game: BatchedOutput(OutputPerturbation(epsilon, game.lam, delta=DELTA)),
    ),
    "gradient_perturbation_full_batch": AttackedMechanism("gradient perturbation", _build_descent),
    "naive_bayes": AttackedMechanism(
        "naive Bayes",
        lambda epsilon, categories, game: BatchedCounts(NoisyNaiveBayes(epsilon, categories.values), categories, game.pool),
    ),
    "decision_tree": AttackedMechanism("random decision trees", _build_trees),
}
"""Every attacked mechanism by its name in the catalogue; all but the first claim an epsilon."""


def mechanisms(epsilon: float, categories: Categories) -> dict[str, Callable[[Game], Batched]]:
    """The builder of each attacked mechanism for a game, by name."""
    return {name: partial(each.build, epsilon, categories) for name, each in MECHANISMS.items()}


def _slices(trials: Trials) -> Iterator[slice]:
    """Slices of the trials for which the margins of the whole pool fit in memory."""
    step = max(1, MARGINS_AT_ONCE // len(trials.game.pool))
    yield from (slice(first, first + step) for first in range(0, len(trials), step))


def _dot(first: Array, second: Array) -> Array:
    """The inner product of each row of one matrix with the row of the other."""
    return np.asarray(np.einsum("ki,ki->k", first, np.broadcast_to(second, first.shape)))
