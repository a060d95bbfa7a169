"""From the scores of members and of others to what an attack achieves, and what a guarantee allows it to achieve."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincc, xlogy

from epsilometer.audits.confidence import (
    bound_at_rates,
    clopper_pearson_lower,
    clopper_pearson_upper,
    epsilon_lower_bound,
    p_value,
    require_confidence,
    require_delta,
)
from epsilometer.audits.sampled import choose_event
from epsilometer.core import Array, Counts, EpsilometerError, Guarantee

CONFIDENCE = 0.95
FALSE_POSITIVES = tuple(float(f"{rate:.6g}") for rate in np.geomspace(1e-3, 1.0, 49))
"""Where a curve is drawn: 16 points a decade."""
CANDIDATES = 200
"""How many thresholds are tried when one is chosen."""
SHARE, SHARE_OF_RATIOS = 0.5, 0.1
"""The share of the trials by which an event is chosen; of those with exact log-likelihood ratios."""
CHOOSING = (1 - 1e-4, 0.99, 0.75, 0.5, 0.25)
"""Confidences at which a threshold is chosen, until one gives a bound above 0."""


@dataclass(frozen=True)
class Scores:
    """An attack's scores of models with the target, and of models without it."""

    members: Array
    others: Array
    log_ratio: bool = False
    """Whether they are exact log-likelihood ratios: then few of them suffice to choose an event by."""

    def __post_init__(self) -> None:
        for scores in (self.members, self.others):
            if scores.ndim != 1 or len(scores) < 2:
                raise EpsilometerError(f"scores have shape {scores.shape}; there must be at least two, in a row")
            if np.isnan(scores).any():
                raise EpsilometerError(f"{int(np.isnan(scores).sum())} scores are nan; an attack must give numbers")

    def split(self, share: float) -> tuple[Scores, Scores]:
        """A share of the scores to choose by, and the others to measure on."""
        first, second = (max(2, int(share * len(part))) for part in (self.members, self.others))
        chosen = replace(self, members=self.members[:first], others=self.others[:second])
        return chosen, replace(self, members=self.members[first:], others=self.others[second:])

    def reversed(self) -> Scores:
        """The scores of the opposite question: was the target left out?"""
        return replace(self, members=-self.others, others=-self.members)


@dataclass(frozen=True)
class Curve:
    """The largest tpr at each fpr, randomised thresholds included: as measured, and its pointwise confidence bounds."""

    fpr: Array
    tpr: Array
    low: Array
    high: Array


def roc(scores: Scores, fpr: Array | None = None, confidence: float = CONFIDENCE) -> Curve:
    """The ROC at given false positive rates, with a band that holds pointwise, whatever the scores' distributions.

    Let t be the k-th largest of m scores of others. P(other > t) is at most a Beta(k, m - k + 1) variable in law, and
    P(other >= t) at least; so for a suitable k {score > t} has an fpr of at most f, and for another one {score >= t} has
    one of at least f, with the wanted probability. The members are independent of t, so Clopper-Pearson bounds on their
    share hold for either event, and the true tpr at f lies between the two.
    """
    require_confidence(confidence)
    rates = np.array(FALSE_POSITIVES) if fpr is None else np.asarray(fpr, dtype=float)
    each = -math.expm1(math.log((1 + confidence) / 2) / 2)  # two events for each side of the interval
    m, members = len(scores.others), np.sort(scores.members)
    descending = np.concatenate([[np.inf], np.sort(scores.others)[::-1], [-np.inf]])
    strict, lenient = _ranks(m, tuple(rates.tolist()), each)
    above = len(members) - np.searchsorted(members, descending[strict], side="right")
    at_least = len(members) - np.searchsorted(members, descending[lenient], side="left")
    low = np.where(strict > 0, clopper_pearson_lower(above, len(members), each), 0.0)
    high = np.where(lenient <= m, clopper_pearson_upper(at_least, len(members), each), 1.0)
    return Curve(rates, _at(scores, rates), low, high)


@cache
def _ranks(m: int, rates: tuple[float, ...], error: float) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The largest k with P(Beta(k, m - k + 1) > f) <= error, or 0, and the smallest with P(... < f) <= error, or m + 1."""
    k = np.arange(1, m + 1)[:, None]
    beyond = betaincc(k, m - k + 1, np.array(rates)[None])  # grows with k
    strict = np.sum(beyond <= error, axis=0)
    lenient = m - np.sum(1 - beyond <= error, axis=0) + 1
    return strict, lenient


def _at(scores: Scores, rates: Array) -> Array:
    """The measured tpr at each rate, by randomising between the thresholds on either side."""
    thresholds = np.unique(np.concatenate([scores.members, scores.others]))[::-1]
    hits, alarms = _reached(scores.members, thresholds), _reached(scores.others, thresholds)
    fpr, tpr = (np.concatenate([[0.0], found]) for found in (alarms / len(scores.others), hits / len(scores.members)))
    return np.asarray(np.interp(rates, fpr, tpr))  # at an fpr that several thresholds share: the last, and largest, tpr


def _reached(scores: Array, thresholds: Array) -> NDArray[np.intp]:
    """How many scores reach each threshold."""
    return len(scores) - np.searchsorted(np.sort(scores), thresholds, side="left")


def beats(one: Scores, other: Scores, confidence: float = CONFIDENCE) -> bool:
    """Whether one attack has, at some fpr of `FALSE_POSITIVES`, certainly a larger tpr than another.

    True with probability at most 1 - confidence if it has a larger one nowhere: each of the bounds that are compared is
    allowed an equal share of the error.
    """
    each = 1 - (1 - confidence) / len(FALSE_POSITIVES)
    return bool(np.any(roc(one, confidence=each).low > roc(other, confidence=each).high))


def area(scores: Scores, confidence: float = CONFIDENCE) -> tuple[float, float, float]:
    """The area under the ROC, P(member > other) + P(equal)/2, and its confidence interval.

    The Mann-Whitney estimate U is an average over permutations of means of k = min(members, others) independent variables
    in [0, 1], so by convexity their Chernoff bound holds for it (Hoeffding 1963): P(U >= u) <= exp(-k KL(u | area)) for
    u above the area, and likewise below. The interval is where k KL(U | area) <= log(2/(1 - confidence)).
    """
    require_confidence(confidence)
    others = np.sort(scores.others)
    below, not_above = (np.searchsorted(others, scores.members, side=side) for side in ("left", "right"))
    estimate = float((below + not_above).mean() / (2 * len(others)))
    reach = math.log(2 / (1 - confidence)) / min(len(scores.members), len(others))
    return estimate, _edge(estimate, 0.0, reach), _edge(estimate, 1.0, reach)


def _edge(estimate: float, end: float, reach: float) -> float:
    """The point towards `end` at which KL(estimate | point) is `reach`."""
    near, far = estimate, end
    for _ in range(60):
        middle = (near + far) / 2
        near, far = (middle, far) if _divergence(estimate, middle) <= reach else (near, middle)
    return near


def _divergence(p: float, q: float) -> float:
    """KL(p | q) of two coins."""
    if q in (0.0, 1.0):
        return 0.0 if p == q else math.inf
    return float(xlogy(p, p / q) + xlogy(1 - p, (1 - p) / (1 - q)))


def advantage(scores: Scores, confidence: float = CONFIDENCE) -> tuple[float, float, float]:
    """tpr - fpr at the threshold that is best on one half of the trials, measured on the other, and its interval.

    Each end of the interval takes a Clopper-Pearson bound on each of the two independent rates.
    """
    require_confidence(confidence)
    chosen, fresh = scores.split(SHARE)
    thresholds = _candidates(chosen)
    gains = _reached(chosen.members, thresholds) / len(chosen.members) - _reached(chosen.others, thresholds) / len(
        chosen.others
    )
    counts = _count(fresh, float(thresholds[np.argmax(gains)]))
    each = -math.expm1(math.log((1 + confidence) / 2) / 2)
    hits, alarms = (counts.hits, counts.trials), (counts.other_hits, counts.other_trials)
    low = clopper_pearson_lower(*hits, each) - clopper_pearson_upper(*alarms, each)
    high = clopper_pearson_upper(*hits, each) - clopper_pearson_lower(*alarms, each)
    return counts.hits / counts.trials - counts.other_hits / counts.other_trials, float(low), float(high)


def certified_epsilon(scores: Scores, delta: float = 0.0, confidence: float = CONFIDENCE) -> float:
    """A lower bound on epsilon: the Clopper-Pearson bound on the counts of an event that was chosen on other trials."""
    return epsilon_lower_bound(event_counts(scores, delta, confidence), confidence, delta)


def event_counts(scores: Scores, delta: float = 0.0, confidence: float = CONFIDENCE) -> Counts:
    """An event is chosen on a part of the trials, and counted on the others: bounds and p-values hold for any choice.

    {score >= t} is counted for members against others, or {score <= t} for others against members.
    """
    require_delta(delta)
    chosen, fresh = scores.split(SHARE_OF_RATIOS if scores.log_ratio else SHARE)
    if scores.log_ratio:
        pooled = np.concatenate([chosen.members, chosen.others])
        forward, threshold = choose_event(pooled, min(len(fresh.members), len(fresh.others)), confidence, delta)
    else:
        forward, threshold = _choose(chosen, delta)
    return _count(fresh if forward else fresh.reversed(), threshold)


def _choose(scores: Scores, delta: float) -> tuple[bool, float]:
    """The side and the threshold by which these scores themselves certify most, at the first confidence that they can.

    The highest confidence comes first, so that no rare event is chosen for having been lucky.
    """
    sides = [(forward, side, _candidates(side)) for forward, side in ((True, scores), (False, scores.reversed()))]
    trials = min(len(scores.members), len(scores.others))
    for confidence in CHOOSING:
        options = []
        for forward, side, thresholds in sides:
            p, q = (_reached(part, thresholds) / len(part) for part in (side.members, side.others))
            bounds = bound_at_rates(p, q, trials, confidence, delta)
            place = int(np.argmax(bounds))
            options.append((float(bounds[place]), forward, float(thresholds[place])))
        best, forward, threshold = max(options)
        if best > 0:
            break
    return forward, threshold


def inside_allowed_region(scores: Scores, guarantee: Guarantee, confidence: float = CONFIDENCE) -> bool:
    """Whether the scores are consistent with the guarantee: false with probability at most 1 - confidence if it holds."""
    return certified_epsilon(scores, guarantee.delta, confidence) <= guarantee.epsilon


def _candidates(scores: Scores) -> Array:
    """Thresholds in geometric steps of rank from either end of all scores."""
    ordered = np.sort(np.concatenate([scores.members, scores.others]))
    ranks = np.unique(np.geomspace(1, len(ordered), CANDIDATES // 2).astype(int)) - 1
    return np.unique(ordered[np.concatenate([ranks, len(ordered) - 1 - ranks])])


def _count(scores: Scores, threshold: float) -> Counts:
    """How often {score >= threshold} occurs for members and for others."""
    hits, alarms = (int(np.count_nonzero(part >= threshold)) for part in (scores.members, scores.others))
    return Counts(hits, len(scores.members), alarms, len(scores.others))


def allowed_tpr(fpr: Array, guarantee: Guarantee) -> Array:
    """The largest tpr that the guarantee allows at an fpr: min(1, e^epsilon fpr + delta, 1 - e^-epsilon (1 - fpr - delta)).

    These are the two inequalities of the game (Kairouz, Oh and Viswanath 2015).
    """
    rates, epsilon, delta = np.asarray(fpr, dtype=float), guarantee.epsilon, guarantee.delta
    falling = 1 - math.exp(-epsilon) * (1 - rates - delta)
    return np.minimum(np.minimum(1.0, falling), math.exp(min(epsilon, 700.0)) * rates + delta)


def allowed_advantage(guarantee: Guarantee) -> float:
    """(e^epsilon - 1 + 2 delta)/(e^epsilon + 1): tpr - fpr where the two bounds of the allowed region meet."""
    return math.tanh(guarantee.epsilon / 2) + 2 * guarantee.delta / (math.exp(min(guarantee.epsilon, 700.0)) + 1)


def allowed_area(guarantee: Guarantee) -> float:
    """The area below the allowed region's border: lines from (0, delta) over their meeting point to (1 - delta, 1)."""
    delta = guarantee.delta
    corner = (1 - delta) / (math.exp(min(guarantee.epsilon, 700.0)) + 1)
    return corner * (delta + 1 - corner) / 2 + (1 - delta - corner) * (2 - corner) / 2 + delta


def summary(scores: Scores, guarantee: Guarantee | None, confidence: float = CONFIDENCE) -> dict[str, Any]:
    """What an attack achieves, beside what the guarantee allows: the columns of a row of a table."""
    row: dict[str, Any] = {"trials": len(scores.members) + len(scores.others)}
    row |= _named("auc", area(scores, confidence))
    row["auc_bound"] = allowed_area(guarantee) if guarantee else math.nan
    row |= _named("advantage", advantage(scores, confidence))
    row["advantage_bound"] = allowed_advantage(guarantee) if guarantee else math.nan
    rates = np.array([0.001, 0.01])
    curve = roc(scores, rates, confidence)
    for place, rate in enumerate(rates):
        row |= _named(f"tpr_at_{rate:g}", (curve.tpr[place], curve.low[place], curve.high[place]))
        row[f"tpr_at_{rate:g}_bound"] = float(allowed_tpr(rate, guarantee)) if guarantee else math.nan
    delta = guarantee.delta if guarantee else 0.0
    counts = event_counts(scores, delta, confidence)
    row["certified_epsilon"] = epsilon_lower_bound(counts, confidence, delta)
    row["p_value"] = p_value(counts, guarantee.epsilon, delta) if guarantee else math.nan
    return row


def _named(name: str, values: tuple[float, float, float]) -> dict[str, float]:
    estimate, low, high = map(float, values)
    return {name: estimate, f"{name}_low": low, f"{name}_high": high}
