"""The choice of the event of a black-box audit: a score, a threshold and a direction, from training outputs alone."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, xlogy

from epsilometer.auditors.black_box.scores import (
    INSPECTED,
    Column,
    Coordinate,
    Score,
    Trees,
    evaluate_in_chunks,
    quick_scores,
    single_numbers,
)
from epsilometer.auditors.confidence import bound_at_rates, clopper_pearson_lower, clopper_pearson_upper
from epsilometer.core import Array

LEAST_GAIN_OF_TREES = 1.03
"""Boosted trees, which are slow to evaluate, are chosen only if their expected bound is this many times the next best."""
COMPARISON_ERROR = 0.02
"""Events are compared by confidence bounds on their two probabilities with this error, not by the observed shares: among
many candidates, the one with the largest observed ratio overestimates its own (selection bias)."""
SEEN_ON_ONE_SIDE = 30
"""If at least this many outputs of one data set are in an event and none of the other, it is assumed to be nearly impossible
under the other."""
LEAST_CALIBRATED = 200
"""The fewest training outputs in an event for which calibrated odds are used."""
SCREENED, FINALISTS = 50_000, 3
"""All scores are compared on the first SCREENED rows of each data set, and the best FINALISTS of them on all rows."""
STANDARD_ERRORS = 2.0
"""How many standard errors are subtracted from a bound by calibrated odds."""
CORNERS = (0.05, 0.25, 0.5, 0.75, 0.9, 0.96, 0.985, 0.995)
"""The quantiles of a score at which the slope of the calibrated log-odds may change."""
PRIOR = 0.1
"""The precision of the Gaussian prior on the weights of the calibration."""


@dataclass(frozen=True)
class Goal:
    """What events are chosen by: the Clopper-Pearson bound on epsilon from `trials` certification outputs a side."""

    trials: int
    confidence: float
    delta: float

    def bound(self, p: Array, q: Array) -> Array:
        """The expected bound of events with these probabilities."""
        return bound_at_rates(p, q, self.trials, self.confidence, self.delta)


@dataclass(frozen=True)
class Event:
    """The outputs with score >= least, or with -score >= least if the event is likelier under the second data set."""

    score: Score
    least: float
    under_first: bool
    expected: float
    """The expected bound on epsilon."""
    text: str

    def __call__(self, rows: Array) -> NDArray[np.bool_]:
        """A mask of the rows that lie in the event."""
        scores = self.score(rows)
        return scores >= self.least if self.under_first else -scores >= self.least


NO_EVENT = Event(Coordinate(0, 1.0), math.inf, True, 0.0, "nothing told the two data sets apart")
"""The event that never occurs."""


def choose_event(first: Array, second: Array, goal: Goal) -> Event:
    """The event with the largest expected bound: two fifths of the rows train the scores, the others choose among them."""
    size = len(first) * 2 // 5
    learning, choosing = [first[:size], second[:size]], [first[size:], second[size:]]
    columns = [Column.of(np.concatenate([rows[:INSPECTED, j] for rows in learning])) for j in range(first.shape[1])]
    best = max(
        _best_event(list(single_numbers(columns)), [first, second], goal),  # not learnt, so that all rows may choose
        _best_event(list(quick_scores(learning[0], learning[1], columns)), choosing, goal),
        key=lambda event: event.expected,
    )
    if Trees.may_help(columns, len(learning[0])):
        trees = "boosted trees' log-odds", Trees.learn(*learning)
        event = _best_threshold(*trees, [rows[:SCREENED] for rows in choosing], goal)
        best = event if event.expected > LEAST_GAIN_OF_TREES * best.expected else best
    return best


def _best_event(scores: list[tuple[str, Score]], choosing: list[Array], goal: Goal) -> Event:
    """The event with the largest expected bound; many scores are first reduced to a few on a part of the rows."""
    if len(scores) > FINALISTS and len(choosing[0]) > SCREENED:
        few = [rows[:SCREENED] for rows in choosing]
        expected = [_best_threshold(text, score, few, goal).expected for text, score in scores]
        scores = [scores[place] for place in np.argsort(expected, kind="stable")[-FINALISTS:]]
    events = [_best_threshold(text, score, choosing, goal) for text, score in scores]
    return max(events, key=lambda event: event.expected, default=NO_EVENT)


def _best_threshold(text: str, score: Score, sides: list[Array], goal: Goal) -> Event:
    """The threshold and the direction with the largest expected bound."""
    with np.errstate(invalid="ignore"):
        first, second = (np.sort(evaluate_in_chunks(score, rows)) for rows in sides)
    best = NO_EVENT
    for under_first in (True, False):
        likely, other = (first, second) if under_first else (-second[::-1], -first[::-1])
        thresholds = _thresholds(likely)
        hits, other_hits = (len(side) - np.searchsorted(side, thresholds, side="left") for side in (likely, other))
        p = clopper_pearson_lower(hits, len(likely), COMPARISON_ERROR)
        q = clopper_pearson_upper(other_hits, len(other), COMPARISON_ERROR)
        q = np.where((other_hits == 0) & (hits >= SEEN_ON_ONE_SIDE), 0.5 / len(other), q)
        expected = np.maximum(goal.bound(p, q), _calibrated_bounds(thresholds, hits, other_hits, len(likely), goal))
        place = int(np.argmax(expected))
        if expected[place] > best.expected:
            sign, side = (">=", "first") if under_first else ("<=", "second")
            least = float(thresholds[place])
            whole = f"{text} {sign} {least if under_first else -least:.6g}, likelier under the {side} data set"
            best = Event(score, least, under_first, float(expected[place]), whole)
    return best


def _calibrated_bounds(thresholds: Array, hits: NDArray[Any], other_hits: NDArray[Any], size: int, goal: Goal) -> Array:
    """The expected bound at each threshold if the log-odds are a smooth function of the score; 0 where that is not used.

    This extrapolates to events that are too rare to be compared by their counts. A logistic regression on the score and on
    the score truncated at some quantiles calibrates the odds. It is used only for events of at least `LEAST_CALIBRATED`
    outputs whose counts agree with it, and `STANDARD_ERRORS` standard errors are subtracted from the bound.
    """
    inside, other_inside = -np.diff(hits, append=0), -np.diff(other_hits, append=0)  # between a threshold and the next
    total = (inside + other_inside).astype(float)
    finite = np.isfinite(thresholds)
    if np.count_nonzero(total[finite]) < 8:
        return np.zeros(len(thresholds))
    middle = np.append((thresholds[:-1] + thresholds[1:]) / 2, thresholds[-1])
    middle = np.where(np.isfinite(middle), middle, thresholds[finite].min())
    features, odds, covariance = _calibrated_odds(_truncated_scores(middle, total), inside, total)
    p, q = (np.cumsum((total * share)[::-1])[::-1] for share in (odds, 1 - odds))
    everything = np.maximum(p + q, 1.0)
    mean = np.cumsum((total[:, None] * features)[::-1], axis=0)[::-1] / everything[:, None]
    error = np.sqrt(np.einsum("td,de,te->t", mean, covariance, mean))
    contradiction = (p - hits) / np.sqrt(np.maximum(p * q / everything, 1e-9))
    bound = goal.bound((p / size).clip(0, 1), (q / size).clip(0, 1))
    return np.where((everything >= LEAST_CALIBRATED) & (contradiction < 1), bound - STANDARD_ERRORS * error, 0.0).clip(0)


def _calibrated_odds(features: Array, positive: NDArray[Any], total: Array) -> tuple[Array, Array, Array]:
    """Features, odds and covariance of the weights of a linear or a piecewise linear model, chosen by Akaike's criterion.

    By this criterion each additional weight must increase the log-likelihood by 1.
    """
    straight, bent = features[:, :2], features
    fits = []
    for columns in (straight, bent):
        weights, covariance = _fit_logistic(columns, positive, total)
        odds = expit(columns @ weights)
        likelihood = np.sum(xlogy(positive, odds) + xlogy(total - positive, 1 - odds))
        fits.append((float(likelihood) - columns.shape[1], (columns, odds, covariance)))
    return fits[1][1] if fits[1][0] > fits[0][0] else fits[0][1]


def _truncated_scores(middle: Array, total: Array) -> Array:
    """A constant, the score, and the score truncated at quantiles, with mean 0 and standard deviation 1."""
    share = np.cumsum(total) / total.sum()
    quantiles = np.unique(np.interp(CORNERS, share, middle))
    features = np.column_stack([middle, *(np.minimum(middle, quantile) for quantile in quantiles)])
    centre = np.average(features, axis=0, weights=total)
    spread = np.sqrt(np.average((features - centre) ** 2, axis=0, weights=total))
    return np.column_stack([np.ones(len(middle)), (features - centre) / np.where(spread > 0, spread, 1.0)])


def _fit_logistic(features: Array, positive: NDArray[Any], total: Array) -> tuple[Array, Array]:
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
    """Candidate thresholds: the scores at geometrically and at evenly spaced ranks from the top, each once."""
    n = len(scores)
    above = np.concatenate([np.geomspace(min(20, n), n, 200), np.linspace(1, n, 200)])
    return np.unique(scores[n - np.unique(above.astype(int))])
