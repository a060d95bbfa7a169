"""Privacy accounting for the Gaussian mechanism, with and without sampling of one record.

Throughout, mu is the distance between the two means of one step in standard deviations of the noise. T adaptive steps
without sampling are exactly as private as one Gaussian with mu sqrt(T), for which see `gaussian`. With one record drawn out
of n in each step, the account is exact for one step and an upper bound on delta for more. Proof: docs/proofs/accounting.md.
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
"""Cells of the grid of privacy losses per epsilon / sqrt(T). Losses are rounded upwards, so any number is safe; more cells
give a tighter bound."""

ROUNDING = 1e-15
"""Added to delta for each step: composition by fast Fourier transforms has a rounding error of about 1e-16 per step."""

TOLERANCE = 1e-4
"""The relative width of the final bisection interval for mu; its lower end, which satisfies the bound, is returned."""


def sampled_delta(epsilon: float, mu: float, q: float, steps: int) -> float:
    """An upper bound on delta at epsilon > 0 for `steps` Gaussian releases, each of one record drawn with probability q."""
    spent = float(_compose_loss(mu, q, steps, _grid_interval(epsilon, steps)).get_delta_for_epsilon(epsilon))
    return min(1.0, max(0.0, spent) + steps * ROUNDING)


@lru_cache(maxsize=1024)
def sampled_mu(epsilon: float, delta: float, q: float, steps: int) -> float:
    """The largest mu at which `sampled_delta` is at most delta, too small by a relative TOLERANCE at most."""
    _require_epsilon_and_delta(epsilon, delta)
    if delta < 4 * steps * ROUNDING:
        raise EpsilometerError(
            f"delta is {delta:g}; for {steps} steps the accountant's rounding asks for at least {4 * steps * ROUNDING:g}"
        )
    without_sampling = 1 / analytic_sigma(epsilon, delta, math.sqrt(steps))
    return _largest_up_to(lambda mu: sampled_delta(epsilon, mu, q, steps) <= delta, without_sampling, TOLERANCE)


def sampled_profile(epsilons: Array, mu: float, q: float) -> Array:
    """The privacy profile delta(epsilon) of one step's dominating pair, for real epsilons of either sign.

    The pair is (mixture, Gaussian) for epsilon >= 0 and (Gaussian, mixture) below.
    """
    from dp_accounting.pld.privacy_loss_mechanism import AdjacencyType, GaussianPrivacyLoss

    def deltas_for(side: Any, part: Array) -> Array:
        if part.size == 0:
            return part
        loss = GaussianPrivacyLoss(1 / mu, sensitivity=1.0, sampling_prob=q, adjacency_type=side)
        return np.asarray(loss.get_delta_for_epsilon(part))

    below = epsilons < 0
    profile = np.empty(len(epsilons))
    profile[~below] = deltas_for(AdjacencyType.REMOVE, epsilons[~below])
    profile[below] = deltas_for(AdjacencyType.ADD, epsilons[below])
    return np.clip(profile, 0.0, 1.0)


def _compose_loss(mu: float, q: float, steps: int, interval: float) -> Any:
    """The privacy loss distribution of `steps` dominating pairs, by the connect-the-dots discretisation of the profile."""
    from dp_accounting.pld import pld_pmf
    from dp_accounting.pld.privacy_loss_distribution import PrivacyLossDistribution
    from dp_accounting.pld.privacy_loss_mechanism import GaussianPrivacyLoss

    highest = math.ceil(GaussianPrivacyLoss(1 / mu, sampling_prob=q).connect_dots_bounds().epsilon_upper / interval)
    deltas = sampled_profile(np.arange(-highest, highest + 1) * interval, mu, q)
    dots = pld_pmf.create_pmf_pessimistic_connect_dots_fixed_gap(interval, -highest, highest, deltas)
    return PrivacyLossDistribution(dots).self_compose(steps)


def _grid_interval(epsilon: float, steps: int) -> float:
    """The width of a cell of the grid of privacy losses; epsilon is a node of the grid.

    The width shrinks like 1/sqrt(T), so that rounding T losses adds little to the spread of their sum.
    """
    return epsilon / (CELLS_PER_EPSILON * math.ceil(math.sqrt(steps)))


def _largest_up_to(holds: Callable[[float], bool], guess: float, tolerance: float) -> float:
    """The largest number up to which `holds` is true, too small by the relative tolerance at most."""
    low, high = guess, 2 * guess
    while holds(high):
        low, high = high, 2 * high
    while not holds(low):
        low, high = low / 2, low
    while high > low * (1 + tolerance):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low


def _require_epsilon_and_delta(epsilon: float, delta: float) -> None:
    require_positive(epsilon=epsilon)
    if not 0 < delta < 1:
        raise EpsilometerError(f"delta is {delta:g}; Gaussian noise needs one above 0 and below 1")
