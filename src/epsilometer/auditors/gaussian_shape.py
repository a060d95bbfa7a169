"""The Gaussian-shaped estimate: epsilon at a delta if the mechanism leaks like normal noise (mu-GDP)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from epsilometer.auditors.confidence import clopper_pearson_lower, clopper_pearson_upper, require_confidence, require_delta
from epsilometer.auditors.sampled import (
    EventOptions,
    count_event,
    delta_for,
    describe_event,
    division,
    event_rates,
    pooled_scores,
)
from epsilometer.auditors.spec import AuditorSpec
from epsilometer.core import (
    Array,
    Counts,
    EpsilometerError,
    Estimate,
    HasDensity,
    MechanismLike,
    NeighbouringPair,
    with_density,
)
from epsilometer.mechanisms.gaussian import gaussian_log_delta


@dataclass(frozen=True)
class GaussianShape(EventOptions):
    """Bounds mu from one threshold on the log-likelihood ratio, and reads epsilon off the curve of N(0, 1) against N(mu, 1).

    Dong, Roth and Su 2022: a test with false positive rate a and false negative rate b shows that mu is at least
    Phi^-1(1 - a) - Phi^-1(b). Only if the mechanism really has this shape does epsilon at a small delta follow from a
    threshold in the middle of the outputs: the estimate is model-based, and never proves a violation. Its delta must be
    above 0.

    `confidence` is the probability with which the bound holds, and `delta` the delta at which epsilon is bounded: by default
    that of the mechanism's guarantee. On a `share` of the outputs the threshold is chosen; `chunk` of them are held in
    memory at once. Calling it takes a mechanism that knows its density, a pair, the number of outputs to draw over both data
    sets, and a random generator.

    >>> import numpy as np
    >>> from epsilometer import GaussianShape, find
    >>> entry = find("gaussian_analytic")
    >>> estimate = GaussianShape()(entry.build(1.0), entry.pairs()[0], 100_000, np.random.default_rng(0))
    >>> bool(0.9 < estimate.epsilon <= 1.0), estimate.model_based
    (True, True)
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.delta is not None:
            _require_positive_delta(self.delta)

    def __call__(self, mechanism: MechanismLike, pair: NeighbouringPair, trials: int, rng: np.random.Generator) -> Estimate:
        known = with_density(mechanism)
        delta = delta_for(known, self.delta)
        _require_positive_delta(delta)
        to_choose, to_certify = division(trials, self.share)
        scores = pooled_scores(known, pair, to_choose, rng, self.chunk)
        thresholds, p, q = event_rates(scores)
        threshold = float(thresholds[np.argmax(_mu_at(p * to_certify, q * to_certify, to_certify, self.confidence))])
        counts = count_event(known, pair, to_certify, rng, True, threshold, self.chunk)
        return Estimate(
            epsilon=epsilon_of_mu(mu_lower_bound(counts, self.confidence), delta),
            method="Gaussian shape",
            confidence=self.confidence,
            delta=delta,
            trials=2 * (to_choose + to_certify),
            counts=(counts,),
            event=describe_event(True, threshold),
            model_based=True,
        )


def mu_lower_bound(counts: Counts, confidence: float) -> float:
    """A lower confidence bound on mu: Phi^-1(lower(p)) - Phi^-1(upper(q)), or 0 if that is negative (Clopper-Pearson)."""
    require_confidence(confidence)
    each = -math.expm1(math.log(confidence) / 2)
    p = float(clopper_pearson_lower(counts.hits, counts.trials, each))
    q = float(clopper_pearson_upper(counts.other_hits, counts.other_trials, each))
    return max(0.0, float(ndtri(p) - ndtri(q))) if p > q else 0.0


def epsilon_of_mu(mu: float, delta: float) -> float:
    """The epsilon at which N(0, 1) against N(mu, 1) has this delta; 0 if its delta at epsilon = 0 is at most that.

    The exact delta decreases in epsilon (Balle and Wang 2018, Theorem 8). Bisection returns the lower end of the bracket.
    """
    _require_positive_delta(delta)
    target = math.log(delta)
    if mu <= 0 or gaussian_log_delta(0.0, 1 / mu) <= target:
        return 0.0
    low, high = 0.0, 1.0
    while gaussian_log_delta(high, 1 / mu) > target:
        low, high = high, 2 * high
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if gaussian_log_delta(middle, 1 / mu) > target else (low, middle)
    return low


def _mu_at(hits: Array, other_hits: Array, trials: int, confidence: float) -> Array:
    """The bound on mu at counts that need not be whole numbers; it may be negative."""
    each = -math.expm1(math.log(confidence) / 2)
    p, q = clopper_pearson_lower(hits, trials, each), clopper_pearson_upper(other_hits, trials, each)
    return np.where((p > 0) & (q < 1), ndtri(p.clip(1e-300)) - ndtri(q), -np.inf)


def _require_positive_delta(delta: float) -> None:
    require_delta(delta)
    if delta == 0:
        raise EpsilometerError("delta is 0; a Gaussian shape has an epsilon only at a delta above 0")


SPEC = AuditorSpec(
    name="Gaussian shape",
    column="gaussian_shape",
    label="Gaussian shape",
    about="Knows the density, and assumes that the privacy loss is that of two Gaussians; decides no verdict.",
    order=50,
    colour="#949494",
    marker="v",
    applies=lambda subject: subject.delta > 0 and isinstance(subject.mechanism, HasDensity),
    build=lambda subject, confidence: GaussianShape(confidence, delta=subject.delta),
    model_based=True,
)
