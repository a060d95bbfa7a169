"""Verdicts on the claimed epsilons of a report from all of its estimates, with Holm's correction."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from epsilometer.auditors.confidence import bound_at_rates, epsilon_lower_bound, holm, p_value, require_confidence
from epsilometer.auditors.one_run import one_run_bound, one_run_p_value
from epsilometer.core import Counts, Estimate, Guarantee, Guesses, Verdict

SLACK = 1e-9
"""The relative rounding error of exact values: one that exceeds the claimed epsilon by no more than this is not above it."""
TIGHT = 0.9
"""The share of the claimed epsilon that a lower bound must reach for the verdict `tight`."""
POWERFUL = 0.5
"""The share of the claimed epsilon that the trials must be able to certify, if it is spent in full, to count as powerful."""


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
    """The verdict on one promise, if nothing else is audited.

    `guarantee` is the promise, and `estimates` are the lower bounds on what is spent, of any auditors and pairs. The verdict
    is "violated" if an exact bound, or with probability `confidence` a sampled one, exceeds the promise; "tight" if a bound
    comes near it; "underpowered" if the trials could not have told; and else "consistent".

    >>> from epsilometer import Estimate, Guarantee
    >>> verdict(Guarantee(1.0, "replace-one"), [Estimate(1.2, "exact", 1.0)])
    'violated'
    >>> verdict(Guarantee(1.0, "replace-one"), [Estimate(0.5, "exact", 1.0)])
    'consistent'
    """
    return findings([Audit(guarantee, tuple(estimates))], confidence)[0].verdict


def findings(audits: Sequence[Audit], confidence: float = 0.95) -> list[Finding]:
    """The verdicts of a whole report; with probability `confidence`, no true claim among them is called violated.

    Holm's correction covers all sampled estimates of all audits. Exact estimates need no correction. Estimates that assume
    a model never count as evidence of a violation.
    """
    require_confidence(confidence)
    raw = [
        [p_value_against_claim(estimate, audit.guarantee) for estimate in audit.estimates if _is_sampled(estimate)]
        for audit in audits
    ]
    adjusted = iter(holm([value for values in raw for value in values]).tolist())
    smallest = [min((next(adjusted) for _ in values), default=1.0) for values in raw]
    return [_finding(audit, p, 1 - confidence) for audit, p in zip(audits, smallest, strict=True)]


def p_value_against_claim(estimate: Estimate, guarantee: Guarantee) -> float:
    """The p-value of a sampled estimate against a claimed guarantee.

    For several counts or guesses it is their smallest p-value times their number (Bonferroni). For an estimate without
    counts it is its error probability if the bound exceeds the claimed epsilon, and 1 otherwise.
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
    exact = max((_bound_at(estimate, guarantee.delta) for estimate in certified if not _is_sampled(estimate)), default=0.0)
    outcome: Verdict = "consistent"
    if p <= error or exact > guarantee.epsilon * (1 + SLACK):
        outcome = "violated"
    elif bound >= TIGHT * guarantee.epsilon:
        outcome = "tight"
    elif not any(_had_power(estimate, guarantee) for estimate in certified):
        outcome = "underpowered"
    return Finding(outcome, bound, p)


def _is_sampled(estimate: Estimate) -> bool:
    """Whether the estimate is a confidence bound from samples, without an assumed model."""
    return estimate.confidence < 1 and not estimate.model_based


def _bound_at(estimate: Estimate, delta: float) -> float:
    """The lower bound at the given delta.

    A bound at a larger delta is valid here too. One at a smaller delta need not be: it is recomputed from its counts, and is
    0 if there are none.
    """
    if estimate.delta >= delta:
        return estimate.epsilon
    if not estimate.counts:
        return 0.0
    each = 1 - (1 - estimate.confidence) / len(estimate.counts)
    return max(epsilon_lower_bound(counts, each, delta) for counts in estimate.counts)


def _had_power(estimate: Estimate, guarantee: Guarantee) -> bool:
    """Whether this estimate had the power to certify a good share of the claimed epsilon, if it is spent in full.

    It had if its bound is that large. It also had if its event was frequent enough: if the bound would have been that large
    with the event as rare under the other data set as the claim allows.
    """
    wanted = POWERFUL * guarantee.epsilon
    if _bound_at(estimate, guarantee.delta) >= wanted:
        return True
    if not _is_sampled(estimate):
        return estimate.delta <= guarantee.delta and estimate.epsilon <= guarantee.epsilon * (1 + SLACK)
    reach = [_attainable_bound(counts, guarantee, estimate.confidence) for counts in estimate.counts]
    reach += [_attainable_guessing_bound(guesses, guarantee, estimate.confidence) for guesses in estimate.guesses]
    return max(reach, default=0.0) >= wanted


def _attainable_bound(counts: Counts, guarantee: Guarantee, confidence: float) -> float:
    """The expected bound if the event were as rare under the other data set as the claim allows.

    The inequalities p - delta <= e^epsilon q and, for the complement, 1 - q - delta <= e^epsilon (1 - p) bound q from below.
    """
    trials = min(counts.trials, counts.other_trials)
    if trials == 0:
        return 0.0
    p = counts.hits / counts.trials
    epsilon, delta = min(guarantee.epsilon, 700.0), guarantee.delta
    q = max(0.0, (p - delta) * math.exp(-epsilon), 1 - delta - math.exp(epsilon) * (1 - p))
    return float(bound_at_rates(p, q, trials, confidence, delta))


def _attainable_guessing_bound(guesses: Guesses, guarantee: Guarantee, confidence: float) -> float:
    """The bound from the largest expected number of right guesses that the claim allows."""
    right = math.floor(guesses.guesses / (1 + math.exp(-guarantee.epsilon)))
    return one_run_bound(replace(guesses, right=right), 1 - confidence, guarantee.delta)
