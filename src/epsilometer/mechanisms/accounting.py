"""Accounting for Gaussian noise: the delta that is spent at an epsilon, and how far apart the means may be.

Throughout, mu is the distance of two means in standard deviations of the noise, for one step, and alpha = e^epsilon.

One Gaussian is treated in `gaussian`. T adaptive steps are exactly as private as one with mu sqrt(T) (Dong, Roth and
Su 2022, Corollary 3.3).

One record drawn out of n, then Gaussian noise, where neighbours replace one record. Given the past, a step draws from
P = (1-q) A + q B with the first data set and from Q = (1-q) A + q B' with the second: q = 1/n, B and B' are the noisy
gradients of the record that is replaced, A is the mixture over the others. For alpha >= 1 and beta = 1 + (alpha - 1)/q,
H_alpha(P || Q) = q H_beta(B || (1 - alpha/beta) A + (alpha/beta) B') (advanced joint convexity: Balle, Barthe and Gaboardi
2018, Theorem 2). That is at most q H_beta(N(mu, 1) || N(0, 1)), because B is within mu of B' and of each part of A; this
equals H_alpha((1-q) N(0, 1) + q N(mu, 1) || N(0, 1)) and is attained when A = B'. For alpha < 1 exchange the roles by
H_alpha(P || Q) = 1 - alpha + alpha H_{1/alpha}(Q || P): the bound is H_alpha(N(0, 1) || (1-q) N(0, 1) + q N(mu, 1)).

Together these two halves are the privacy profile of one pair of distributions, which dominates every step, and dominating
pairs compose adaptively (Zhu, Dong and Wang 2022). Composing the worst data sets of one step with themselves instead would
be no bound in general (Lebeda, Regehr, Kamath and Steinke 2024). For one step the account is exact; for more it is an upper
bound.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from epsilometer.core import Array, EpsilometerError, require_positive
from epsilometer.mechanisms.gaussian import analytic_sigma

CELLS_PER_EPSILON = 50
"""The losses' grid has this many cells for each epsilon / sqrt(T); it rounds upwards, so more are tighter but not safer."""

ROUNDING = 1e-15
"""Added to delta for each step: the composition by Fourier transforms has errors of about 1e-16 a step."""

TOLERANCE = 1e-4
"""The relative width of the interval from which the smaller, safe mu is taken."""


def sampled_delta(epsilon: float, mu: float, q: float, steps: int) -> float:
    """An upper bound on delta at epsilon > 0 of `steps` Gaussians, each on one record out of 1/q."""
    spent = float(_composed(mu, q, steps, _grid(epsilon, steps)).get_delta_for_epsilon(epsilon))
    return min(1.0, max(0.0, spent) + steps * ROUNDING)


@lru_cache(maxsize=1024)
def sampled_mu(epsilon: float, delta: float, q: float, steps: int) -> float:
    """The largest mu, within a relative TOLERANCE below, at which `sampled_delta` is at most delta."""
    _require(epsilon, delta)
    if delta < 4 * steps * ROUNDING:
        raise EpsilometerError(
            f"delta is {delta:g}; for {steps} steps the accountant's rounding asks for at least {4 * steps * ROUNDING:g}"
        )
    without_sampling = 1 / analytic_sigma(epsilon, delta, math.sqrt(steps))
    return _largest(lambda mu: sampled_delta(epsilon, mu, q, steps) <= delta, without_sampling, TOLERANCE)


def sampled_profile(epsilons: Array, mu: float, q: float) -> Array:
    """The dominating profile of one step at any real epsilons: the mixture first above 0, the mixture second below."""
    from dp_accounting.pld.privacy_loss_mechanism import AdjacencyType, GaussianPrivacyLoss

    def half(side: Any, part: Array) -> Array:
        if part.size == 0:
            return part
        loss = GaussianPrivacyLoss(1 / mu, sensitivity=1.0, sampling_prob=q, adjacency_type=side)
        return np.asarray(loss.get_delta_for_epsilon(part))

    below = epsilons < 0
    profile = np.empty(len(epsilons))
    profile[~below] = half(AdjacencyType.REMOVE, epsilons[~below])
    profile[below] = half(AdjacencyType.ADD, epsilons[below])
    return np.clip(profile, 0.0, 1.0)


def _composed(mu: float, q: float, steps: int, interval: float) -> Any:
    """The privacy loss distribution of `steps` dominating pairs, which connects the dots of the profile."""
    from dp_accounting.pld import pld_pmf
    from dp_accounting.pld.privacy_loss_distribution import PrivacyLossDistribution
    from dp_accounting.pld.privacy_loss_mechanism import GaussianPrivacyLoss

    highest = math.ceil(GaussianPrivacyLoss(1 / mu, sampling_prob=q).connect_dots_bounds().epsilon_upper / interval)
    deltas = sampled_profile(np.arange(-highest, highest + 1) * interval, mu, q)
    dots = pld_pmf.create_pmf_pessimistic_connect_dots_fixed_gap(interval, -highest, highest, deltas)
    return PrivacyLossDistribution(dots).self_compose(steps)


def _grid(epsilon: float, steps: int) -> float:
    """A cell of the losses' grid, of which epsilon is a node: rounding T losses then adds little to their spread."""
    return epsilon / (CELLS_PER_EPSILON * math.ceil(math.sqrt(steps)))


def _largest(holds: Callable[[float], bool], guess: float, tolerance: float) -> float:
    """The largest number, within a relative tolerance below, up to which `holds` is true, by doubling and halving."""
    low, high = guess, 2 * guess
    while holds(high):
        low, high = high, 2 * high
    while not holds(low):
        low, high = low / 2, low
    while high > low * (1 + tolerance):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low


def _require(epsilon: float, delta: float) -> None:
    require_positive(epsilon=epsilon)
    if not 0 < delta < 1:
        raise EpsilometerError(f"delta is {delta:g}; Gaussian noise needs one above 0 and below 1")
