"""The sampled likelihood-ratio test: a certified lower bound on epsilon from outputs and their log-likelihood ratio."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit

from epsilometer.auditors.confidence import (
    bound_at_rates,
    epsilon_lower_bound,
    largest_expected_bound,
    require_confidence,
    require_delta,
)
from epsilometer.auditors.spec import AuditorSpec
from epsilometer.core import (
    Array,
    Counts,
    EpsilometerError,
    Estimate,
    HasDensity,
    Mechanism,
    MechanismLike,
    NeighbouringPair,
    with_density,
)

CANDIDATES = 150
"""How many thresholds are tried in each direction, in geometric steps of the event's probability."""
ROUNDING = 1e-9
"""Scores that differ by less, relative to the score or to 1, belong to one atom and differ by rounding alone."""
ENOUGH_TO_CHOOSE = 400
"""The outputs, over both data sets, that choose the event, even if `share` gives fewer; at most half of all outputs."""
MOST_TO_CHOOSE = 5_000_000
"""The most outputs that choose the event: all of them are held in memory at once."""

LOWER_CONFIDENCES = (0.75, 0.5, 0.25)
"""The confidences by which an event is chosen, one after the other, where none is expected to certify anything."""


@dataclass(frozen=True)
class EventOptions:
    """How an event on the log-likelihood ratio is chosen and counted."""

    confidence: float = 0.95
    delta: float | None = None
    """The delta at which epsilon is bounded; by default that of the mechanism's guarantee, or 0."""
    share: float = 0.05
    """The share of the outputs on which the event is chosen."""
    chunk: int = 1 << 16
    """How many outputs are held in memory at once while counting."""

    def __post_init__(self) -> None:
        require_confidence(self.confidence)
        if self.delta is not None:
            require_delta(self.delta)
        if not 0 < self.share < 1:
            raise EpsilometerError(f"share is {self.share:g}; it must be above 0 and below 1")
        if self.chunk < 1:
            raise EpsilometerError(f"chunk is {self.chunk}; it must be at least 1")


@dataclass(frozen=True)
class SampledLikelihoodRatio(EventOptions):
    """Chooses an event {log p(o|first) - log p(o|second) >= t}, or its mirror image, and counts it on fresh outputs.

    By Neyman and Pearson no event tells the two data sets apart better. Direction and t are chosen on a small share of the
    outputs; the Clopper-Pearson bound on the others is valid whatever was chosen, and even if the density is wrong.

    `confidence` is the probability with which the bound holds, and `delta` the delta at which epsilon is bounded: by default
    that of the mechanism's guarantee, or 0. On a `share` of the outputs the event is chosen; `chunk` of them are held in
    memory at once. Calling it takes a mechanism that knows its density, a pair, the number of outputs to draw over both data
    sets, and a random generator.

    >>> import numpy as np
    >>> from epsilometer import SampledLikelihoodRatio, find
    >>> entry = find("laplace_count")
    >>> estimate = SampledLikelihoodRatio(0.99)(entry.build(1.0), entry.pairs()[0], 100_000, np.random.default_rng(0))
    >>> bool(0.95 < estimate.epsilon <= 1.0)
    True
    """

    def __call__(self, mechanism: MechanismLike, pair: NeighbouringPair, trials: int, rng: np.random.Generator) -> Estimate:
        known = with_density(mechanism)
        delta = delta_for(known, self.delta)
        to_choose, to_certify = division(trials, self.share)
        scores = pooled_scores(known, pair, to_choose, rng, self.chunk)
        forward, threshold = choose_event(scores, to_certify, self.confidence, delta)
        counts = count_event(known, pair, to_certify, rng, forward, threshold, self.chunk)
        return Estimate(
            epsilon=epsilon_lower_bound(counts, self.confidence, delta),
            method="sampled likelihood ratio",
            confidence=self.confidence,
            delta=delta,
            trials=2 * (to_choose + to_certify),
            counts=(counts,),
            event=describe_event(forward, threshold),
        )


def limit(
    mechanism: Mechanism,
    pair: NeighbouringPair,
    trials: int,
    rng: np.random.Generator,
    confidence: float = 0.95,
    delta: float | None = None,
    draws: int = 200_000,
) -> float:
    """The largest epsilon that a test of a single event is expected to certify from `trials` outputs over both data sets.

    The probabilities of the optimal events are estimated from `draws` outputs; see `largest_expected_bound`.
    """
    delta = delta_for(mechanism, delta)
    scores = pooled_scores(mechanism, pair, max(draws // 2, 1), rng, 1 << 16)
    return max(largest_expected_bound(*event_rates(part)[1:], trials // 2, confidence, delta) for part in (scores, -scores))


def delta_for(mechanism: Mechanism, delta: float | None) -> float:
    """The given delta, or else that of the mechanism's guarantee, or else 0."""
    if delta is not None:
        return delta
    return 0.0 if mechanism.guarantee is None else mechanism.guarantee.delta


def division(trials: int, share: float) -> tuple[int, int]:
    """How many outputs of each data set choose the event, and how many certify the bound."""
    if trials < 4:
        raise EpsilometerError(f"trials is {trials}; it must be at least 4: two for each data set, to choose and to certify")
    side = trials // 2
    to_choose = min(max(int(share * side), ENOUGH_TO_CHOOSE // 2), side // 2, MOST_TO_CHOOSE // 2)
    return to_choose, side - to_choose


def log_ratios(
    mechanism: Mechanism, pair: NeighbouringPair, dataset: Any, size: int, rng: np.random.Generator, chunk: int
) -> Iterator[Array]:
    """log p(o|first) - log p(o|second) of `size` outputs o on `dataset`, in chunks; nan if both densities are 0."""
    if not isinstance(mechanism, HasDensity):
        raise EpsilometerError(f"{type(mechanism).__name__} has no density, so there is no likelihood ratio to audit it by")
    for start in range(0, size, chunk):
        outputs = mechanism.sample(dataset, min(chunk, size - start), rng)
        with np.errstate(invalid="ignore"):  # -inf minus -inf
            yield mechanism.log_density(pair.first, outputs) - mechanism.log_density(pair.second, outputs)


def pooled_scores(mechanism: Mechanism, pair: NeighbouringPair, side: int, rng: np.random.Generator, chunk: int) -> Array:
    """The log-likelihood ratios of `side` outputs of each data set, in one array."""
    parts = [
        part for dataset in (pair.first, pair.second) for part in log_ratios(mechanism, pair, dataset, side, rng, chunk)
    ]
    scores = np.concatenate(parts)
    return scores[~np.isnan(scores)]


def event_rates(scores: Array) -> tuple[Array, Array, Array]:
    """Thresholds t, and the probabilities of {score >= t} under the first and the second data set, from pooled scores.

    The scores are log-likelihood ratios of outputs of both data sets in equal parts. Given its score s, an output comes from
    the first with probability sigmoid(s) and from the second with sigmoid(-s). Summing these weights instead of counting the
    two samples separately makes the ratio of the two probabilities far less noisy.
    """
    ordered = np.sort(scores)[::-1]
    if len(ordered) == 0:
        return np.zeros(1), np.ones(1), np.ones(1)
    ranks = np.unique(np.geomspace(1, len(ordered), CANDIDATES).astype(int))
    at = ordered[ranks - 1]
    thresholds = np.unique(at - ROUNDING * np.where(np.isfinite(at), np.fmax(1, np.abs(at)), 0.0))
    last = np.searchsorted(-ordered, -thresholds, side="right") - 1
    under_first, under_second = np.cumsum(expit(ordered)), np.cumsum(expit(-ordered))
    tiny = np.finfo(float).tiny
    p, q = (total[last] / max(float(total[-1]), tiny) for total in (under_first, under_second))
    return thresholds, p, q


def choose_event(scores: Array, trials: int, confidence: float, delta: float) -> tuple[bool, float]:
    """The direction and the threshold with the largest expected bound from `trials` further outputs of each data set.

    If no event is expected to certify anything, the lower confidences are tried in turn; after these, the event is
    {score >= 0}, whose probabilities under the two data sets differ most (their total variation distance).
    """
    families = [(forward, *event_rates(scores if forward else -scores)) for forward in (True, False)]
    for level in (confidence, *(lower for lower in LOWER_CONFIDENCES if lower < confidence)):
        best, event = 0.0, (True, 0.0)
        for forward, thresholds, p, q in families:
            bounds = bound_at_rates(p, q, trials, level, delta)
            place = int(np.argmax(bounds))
            if bounds[place] > best:
                best, event = float(bounds[place]), (forward, float(thresholds[place]))
        if best > 0:
            break
    return event


def count_event(
    mechanism: Mechanism,
    pair: NeighbouringPair,
    trials: int,
    rng: np.random.Generator,
    forward: bool,
    threshold: float,
    chunk: int,
) -> Counts:
    """The counts of {score >= t} under the first and second data set, or of {-score >= t} under the second and first."""
    hits = []
    for dataset in (pair.first, pair.second):
        parts = log_ratios(mechanism, pair, dataset, trials, rng, chunk)
        hits.append(sum(int(np.count_nonzero((part if forward else -part) >= threshold)) for part in parts))
    here, there = hits if forward else reversed(hits)
    return Counts(here, trials, there, trials)


def describe_event(forward: bool, threshold: float) -> str:
    """The event in words."""
    one, other = ("first", "second") if forward else ("second", "first")
    return f"log p(output | {one}) - log p(output | {other}) >= {threshold:.12g}"


SPEC = AuditorSpec(
    name="sampled",
    column="sampled",
    label="sampled ratio",
    about="Knows the density. Counts how often the log-likelihood ratio exceeds a threshold under either data set.",
    order=40,
    colour="#0173b2",
    marker="o",
    applies=lambda subject: isinstance(subject.mechanism, HasDensity),
    build=lambda _, confidence: SampledLikelihoodRatio(confidence),
    efficiency=True,
)
