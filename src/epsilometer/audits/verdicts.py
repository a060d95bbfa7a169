"""Verdicts: what the estimates of a report say about the promises, corrected for how many there are."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from epsilometer.audits.confidence import bound_at_rates, epsilon_lower_bound, holm, p_value, require_confidence
from epsilometer.audits.one_run import one_run_bound, one_run_p_value
from epsilometer.core import Counts, Estimate, Guarantee, Guesses, Verdict

SLACK = 1e-9
"""How far rounding may carry an exact value beyond the promise, as a share of it."""
TIGHT = 0.9
"""The share of the promise that a bound must reach to call the promise tight."""
COULD_HAVE_TOLD = 0.5
"""The share of the promise that the trials must be able to certify, if it were spent in full, to be worth a verdict."""


@dataclass(frozen=True)
class Audit:
    """One promise and every estimate that was made to test it."""

    guarantee: Guarantee
    estimates: tuple[Estimate, ...]


@dataclass(frozen=True)
class Finding:
    """A verdict and what it rests on."""

    verdict: Verdict
    bound: float
    """The largest certified lower bound on epsilon at the promised delta; 0 if there is none."""
    p_value: float
    """The smallest p-value of a sampled estimate against the promise, after Holm's correction; 1 if there is none."""


def verdict(guarantee: Guarantee, estimates: Sequence[Estimate], confidence: float = 0.95) -> Verdict:
    """The verdict on one promise, if nothing else is audited."""
    return findings([Audit(guarantee, tuple(estimates))], confidence)[0].verdict


def findings(audits: Sequence[Audit], confidence: float = 0.95) -> list[Finding]:
    """The verdicts of a whole report: with probability `confidence`, none of its promises is called violated wrongly.

    Holm's correction runs over every sampled estimate of every audit. An exact estimate needs none, and one that rests on
    a model proves nothing.
    """
    require_confidence(confidence)
    raw = [[against(estimate, audit.guarantee) for estimate in audit.estimates if _sampled(estimate)] for audit in audits]
    adjusted = iter(holm([value for values in raw for value in values]).tolist())
    smallest = [min((next(adjusted) for _ in values), default=1.0) for values in raw]
    return [_finding(audit, p, 1 - confidence) for audit, p in zip(audits, smallest, strict=True)]


def against(estimate: Estimate, guarantee: Guarantee) -> float:
    """The p-value of a sampled estimate against a promise.

    Where it has several counts or guesses, their smallest p-value times their number; where it has none, its error
    probability if the bound exceeds the promise, or 1.
    """
    values = [p_value(counts, guarantee.epsilon, guarantee.delta) for counts in estimate.counts]
    values += [one_run_p_value(guesses, guarantee.epsilon, guarantee.delta) for guesses in estimate.guesses]
    if values:
        return min(1.0, len(values) * min(values))
    return 1 - estimate.confidence if _bound_at(estimate, guarantee.delta) > guarantee.epsilon else 1.0


def _finding(audit: Audit, p: float, error: float) -> Finding:
    guarantee = audit.guarantee
    certified = [estimate for estimate in audit.estimates if not estimate.model_based]
    bound = max((_bound_at(estimate, guarantee.delta) for estimate in certified), default=0.0)
    exact = max((_bound_at(estimate, guarantee.delta) for estimate in certified if not _sampled(estimate)), default=0.0)
    outcome: Verdict = "consistent"
    if p <= error or exact > guarantee.epsilon * (1 + SLACK):
        outcome = "violated"
    elif bound >= TIGHT * guarantee.epsilon:
        outcome = "tight"
    elif not any(_could_have_told(estimate, guarantee) for estimate in certified):
        outcome = "underpowered"
    return Finding(outcome, bound, p)


def _sampled(estimate: Estimate) -> bool:
    """Whether the estimate can err by chance and rests on nothing but its samples."""
    return estimate.confidence < 1 and not estimate.model_based


def _bound_at(estimate: Estimate, delta: float) -> float:
    """The bound at the promised delta: a bound at a larger delta holds there too, one at a smaller delta need not.

    From counts the bound can be had at any delta.
    """
    if estimate.delta >= delta:
        return estimate.epsilon
    if not estimate.counts:
        return 0.0
    each = 1 - (1 - estimate.confidence) / len(estimate.counts)
    return max(epsilon_lower_bound(counts, each, delta) for counts in estimate.counts)


def _could_have_told(estimate: Estimate, guarantee: Guarantee) -> bool:
    """Whether a mechanism that spends its whole promise would have been noticed by this estimate.

    It would have if the bound comes near, or if the event was frequent enough: had it been as much rarer under the other
    data set as the promise allows, the trials would have certified a good share of the promise.
    """
    enough = COULD_HAVE_TOLD * guarantee.epsilon
    if _bound_at(estimate, guarantee.delta) >= enough:
        return True
    if not _sampled(estimate):
        return estimate.delta <= guarantee.delta and estimate.epsilon <= guarantee.epsilon * (1 + SLACK)
    reach = [_within_reach(counts, guarantee, estimate.confidence) for counts in estimate.counts]
    reach += [_guessed_at_best(guesses, guarantee, estimate.confidence) for guesses in estimate.guesses]
    return max(reach, default=0.0) >= enough


def _within_reach(counts: Counts, guarantee: Guarantee, confidence: float) -> float:
    """The bound that this event would have given, had it been as rare under the other data set as the promise allows.

    Both p - delta <= e^epsilon q and, for the complement, 1 - q - delta <= e^epsilon (1 - p) limit q from below.
    """
    trials = min(counts.trials, counts.other_trials)
    if trials == 0:
        return 0.0
    p = counts.hits / counts.trials
    epsilon, delta = min(guarantee.epsilon, 700.0), guarantee.delta
    q = max(0.0, (p - delta) * math.exp(-epsilon), 1 - delta - math.exp(epsilon) * (1 - p))
    return float(bound_at_rates(p, q, trials, confidence, delta))


def _guessed_at_best(guesses: Guesses, guarantee: Guarantee, confidence: float) -> float:
    """The bound that as many right guesses as the promise lets one expect would have given."""
    right = math.floor(guesses.guesses / (1 + math.exp(-guarantee.epsilon)))
    return one_run_bound(replace(guesses, right=right), 1 - confidence, guarantee.delta)
