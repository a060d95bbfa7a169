"""Formulas for steps on a random record: amplification by sampling, tails of the privacy loss, lower bounds on delta."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
from scipy.special import gammaln, log_ndtr, ndtr
from scipy.stats import binom

from epsilometer.mechanisms.gradient_perturbation import PrintedGradientPerturbation
from epsilometer.papers.cs860.claims.constants import DELTA


def amplified(inner: float, n: int, size: int) -> float:
    """What randomised response to "is the one among the sampled records?" spends, by enumeration of the subsets.

    The data are a one and n - 1 zeros, or n zeros; the inner answer is inner-private.
    """
    high, low = math.exp(inner) / (1 + math.exp(inner)), 1 / (1 + math.exp(inner))
    subsets = list(combinations(range(n), size))
    yes = sum(high if 0 in subset else low for subset in subsets) / len(subsets)
    return max(abs(math.log(yes / low)), abs(math.log((1 - yes) / (1 - low))))


def sampled_tail(mu: float, q: float, limit: float) -> float:
    """The probability, in the worse direction, that the loss of (1-q) N(0,1) + q N(mu,1) against N(0,1) exceeds a limit.

    Proof: docs/proofs/cs860.md.
    """
    above = (math.log1p(math.expm1(limit) / q) + mu**2 / 2) / mu
    mixture_first = (1 - q) * float(ndtr(-above)) + q * float(ndtr(mu - above))
    left = 1 + math.expm1(-limit) / q
    mixture_second = float(ndtr((math.log(left) + mu**2 / 2) / mu)) if left > 0 else 0.0
    return max(mixture_first, mixture_second)


def transcript_delta(epsilon: float, n: int) -> float:
    """A lower bound on delta at epsilon of all noisy gradients of Algorithm 3, by one event.

    One record against n - 1 others, or with them, under a loss of slope 1 throughout C. The event: k or more of the n^2
    noisy gradients are above 0.7 mu, mu = 2 n L/sigma, in units of sigma. Proof: docs/proofs/cs860.md.
    """
    mu = 2 * n / PrintedGradientPerturbation(epsilon, DELTA).sigma(n)
    q, steps = 1 / n, n * n
    hit = (1 - q) * float(ndtr(-0.7 * mu)) + q * float(ndtr(0.3 * mu))
    k = np.arange(1, steps + 1)
    log_other = gammaln(steps + 1) - gammaln(k + 1) - gammaln(steps - k + 1) + k * log_ndtr(-0.7 * mu)
    return float(np.max(binom.sf(k - 1, steps, hit) - np.exp(np.minimum(epsilon + log_other, 700.0))))


def final_delta(epsilon: float, n: int) -> float:
    """A lower bound on delta at epsilon of the final parameters alone, on the same data. The event: theta_T < 0.

    Proof: docs/proofs/cs860.md.
    """
    steps = n * n
    log_astray = math.log(steps) + float(log_ndtr(-n / 2 / PrintedGradientPerturbation(epsilon, DELTA).sigma(n)))
    return float(n) ** -steps * -math.expm1(min(log_astray, 0.0)) - math.exp(min(epsilon + log_astray, 700.0))
