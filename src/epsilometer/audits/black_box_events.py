"""The choice of the black box's event: a score, a threshold and a direction, from training outputs alone."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, xlogy

from epsilometer.audits.black_box_scores import (
    LOOKED_AT,
    Column,
    Coordinate,
    Score,
    Trees,
    in_chunks,
    quick_scores,
    single_numbers,
)
from epsilometer.audits.confidence import bound_at_rates, clopper_pearson_lower, clopper_pearson_upper
from epsilometer.core import Array

TREES_MUST_GAIN = 1.03
"""Trees are slow to evaluate: they are taken where their expected bound is larger than any other by this factor."""
CAUTION = 0.02
"""The error of the bounds on an event's two probabilities by which events are compared: the best of many flatters itself."""
ALONE = 30
"""Outputs of one data set, and none of the other, from which on an event is taken to be nearly impossible for the other."""
ENOUGH = 200
"""Outputs of either data set that an event must have for calibrated odds to be trusted."""
SCREENED, FINALISTS = 50_000, 3
"""Rows of each data set by which scores are compared before all rows are spent on them, and how many of them then remain."""
STANDARD_ERRORS = 2.0
"""So many are taken off a bound that rests on calibrated odds."""
CORNERS = (0.05, 0.25, 0.5, 0.75, 0.9, 0.96, 0.985, 0.995)
"""The quantiles of a score at which the calibrated odds may bend."""
PRIOR = 0.1
"""The precision of the Gaussian prior of the weights of calibrated odds."""


@dataclass(frozen=True)
class Goal:
    """A Clopper-Pearson bound on epsilon from so many certification trials a side."""

    trials: int
    confidence: float
    delta: float

    def bound(self, p: Array, q: Array) -> Array:
        """What can be expected of events with these probabilities."""
        return bound_at_rates(p, q, self.trials, self.confidence, self.delta)


@dataclass(frozen=True)
class Event:
    """The outputs whose score, times -1 where it is the second data set that makes them likely, is at least `least`."""

    score: Score
    least: float
    under_first: bool
    expected: float
    """The bound that it can be expected to give."""
    text: str

    def __call__(self, rows: Array) -> NDArray[np.bool_]:
        """Which rows belong to it."""
        scores = self.score(rows)
        return scores >= self.least if self.under_first else -scores >= self.least


NOTHING = Event(Coordinate(0, 1.0), math.inf, True, 0.0, "nothing told the two data sets apart")
"""The event that never occurs."""


def choose_event(first: Array, second: Array, goal: Goal) -> Event:
    """The best event of all scores: a part of the rows teaches the scores, the others choose among them."""
    teach = len(first) * 2 // 5
    taught, chooses = [first[:teach], second[:teach]], [first[teach:], second[teach:]]
    columns = [Column.of(np.concatenate([rows[:LOOKED_AT, j] for rows in taught])) for j in range(first.shape[1])]
    best = max(
        _best_event(list(single_numbers(columns)), [first, second], goal),  # they are not learnt: all rows choose
        _best_event(list(quick_scores(taught[0], taught[1], columns)), chooses, goal),
        key=lambda event: event.expected,
    )
    if Trees.may_help(columns, len(taught[0])):
        trees = "boosted trees' log-odds", Trees.learn(*taught)
        event = _best_threshold(*trees, [rows[:SCREENED] for rows in chooses], goal)
        best = event if event.expected > TREES_MUST_GAIN * best.expected else best
    return best


def _best_event(scores: list[tuple[str, Score]], chooses: list[Array], goal: Goal) -> Event:
    """The best of all scores: where there are many rows, a part of them decides which few scores see all rows."""
    if len(scores) > FINALISTS and len(chooses[0]) > SCREENED:
        few = [rows[:SCREENED] for rows in chooses]
        expected = [_best_threshold(text, score, few, goal).expected for text, score in scores]
        scores = [scores[place] for place in np.argsort(expected, kind="stable")[-FINALISTS:]]
    events = [_best_threshold(text, score, chooses, goal) for text, score in scores]
    return max(events, key=lambda event: event.expected, default=NOTHING)


def _best_threshold(text: str, score: Score, sides: list[Array], goal: Goal) -> Event:
    """The threshold and the direction with the largest expected bound."""
    with np.errstate(invalid="ignore"):
        first, second = (np.sort(in_chunks(score, rows)) for rows in sides)
    best = NOTHING
    for under_first in (True, False):
        likely, other = (first, second) if under_first else (-second[::-1], -first[::-1])
        thresholds = _thresholds(likely)
        hits, other_hits = (len(side) - np.searchsorted(side, thresholds, side="left") for side in (likely, other))
        p = clopper_pearson_lower(hits, len(likely), CAUTION)
        q = clopper_pearson_upper(other_hits, len(other), CAUTION)
        q = np.where((other_hits == 0) & (hits >= ALONE), 0.5 / len(other), q)
        expected = np.maximum(goal.bound(p, q), _calibrated(thresholds, hits, other_hits, len(likely), goal))
        place = int(np.argmax(expected))
        if expected[place] > best.expected:
            sign, side = (">=", "first") if under_first else ("<=", "second")
            least = float(thresholds[place])
            whole = f"{text} {sign} {least if under_first else -least:.6g}, likelier under the {side} data set"
            best = Event(score, least, under_first, float(expected[place]), whole)
    return best


def _calibrated(thresholds: Array, hits: NDArray[Any], other_hits: NDArray[Any], size: int, goal: Goal) -> Array:
    """The expected bound of each threshold if the log-odds are a smooth function of the score: rare events need that.

    The odds are calibrated by a logistic regression on the score, straight and cut off at some quantiles. It counts only
    where at least `ENOUGH` outputs are in the event and do not contradict it, and some standard errors are taken off.
    """
    inside, other_inside = -np.diff(hits, append=0), -np.diff(other_hits, append=0)  # between a threshold and the next
    total = (inside + other_inside).astype(float)
    finite = np.isfinite(thresholds)
    if np.count_nonzero(total[finite]) < 8:
        return np.zeros(len(thresholds))
    middle = np.append((thresholds[:-1] + thresholds[1:]) / 2, thresholds[-1])
    middle = np.where(np.isfinite(middle), middle, thresholds[finite].min())
    features, odds, covariance = _odds(_cut_off(middle, total), inside, total)
    p, q = (np.cumsum((total * share)[::-1])[::-1] for share in (odds, 1 - odds))
    everything = np.maximum(p + q, 1.0)
    mean = np.cumsum((total[:, None] * features)[::-1], axis=0)[::-1] / everything[:, None]
    error = np.sqrt(np.einsum("td,de,te->t", mean, covariance, mean))
    contradiction = (p - hits) / np.sqrt(np.maximum(p * q / everything, 1e-9))
    bound = goal.bound((p / size).clip(0, 1), (q / size).clip(0, 1))
    return np.where((everything >= ENOUGH) & (contradiction < 1), bound - STANDARD_ERRORS * error, 0.0).clip(0)


def _odds(features: Array, positive: NDArray[Any], total: Array) -> tuple[Array, Array, Array]:
    """Features, odds and the weights' covariance: of a straight line, unless bends gain more likelihood than they cost.

    That is Akaike's criterion: each bend must gain 1 in log-likelihood.
    """
    straight, bent = features[:, :2], features
    fits = []
    for columns in (straight, bent):
        weights, covariance = _logistic(columns, positive, total)
        odds = expit(columns @ weights)
        likelihood = np.sum(xlogy(positive, odds) + xlogy(total - positive, 1 - odds))
        fits.append((float(likelihood) - columns.shape[1], (columns, odds, covariance)))
    return fits[1][1] if fits[1][0] > fits[0][0] else fits[0][1]


def _cut_off(middle: Array, total: Array) -> Array:
    """A constant, the score and the score cut off at quantiles, all of unit spread."""
    share = np.cumsum(total) / total.sum()
    quantiles = np.unique(np.interp(CORNERS, share, middle))
    features = np.column_stack([middle, *(np.minimum(middle, quantile) for quantile in quantiles)])
    centre = np.average(features, axis=0, weights=total)
    spread = np.sqrt(np.average((features - centre) ** 2, axis=0, weights=total))
    return np.column_stack([np.ones(len(middle)), (features - centre) / np.where(spread > 0, spread, 1.0)])


def _logistic(features: Array, positive: NDArray[Any], total: Array) -> tuple[Array, Array]:
    """Weights and covariance of a logistic regression on grouped data with a Gaussian prior, by Newton's method."""
    weights, prior = np.zeros(features.shape[1]), PRIOR * np.eye(features.shape[1])
    for _ in range(30):
        odds = expit(features @ weights)
        gradient = features.T @ (positive - total * odds) - prior @ weights
        hessian = (features.T * (total * odds * (1 - odds))) @ features + prior
        step = np.linalg.solve(hessian, gradient)
        weights += step * min(1.0, 2.0 / max(float(np.abs(step).max()), 1e-12))
        if np.abs(step).max() < 1e-6:
            break
    return weights, np.asarray(np.linalg.inv(hessian), dtype=np.float64)


def _thresholds(scores: Array) -> Array:
    """Distinct scores, of which as many are above as a geometric and an even series say."""
    n = len(scores)
    above = np.concatenate([np.geomspace(min(20, n), n, 200), np.linspace(1, n, 200)])
    return np.unique(scores[n - np.unique(above.astype(int))])
