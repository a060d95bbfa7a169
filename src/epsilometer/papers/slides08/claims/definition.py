"""The slides' own definition of privacy, and how a privacy loss is decided by it.

The slides call a random function epsilon-private if no output is more than 1 + epsilon times as likely under a neighbouring
data set. So the privacy loss may reach log(1 + epsilon), which is less than epsilon.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from epsilometer.papers.claim import Decide, Evidence, Measure, Measured
from epsilometer.papers.deciders import bound_decider
from epsilometer.papers.measures import catalogue_shares, exact_witness, largest_share

EPSILONS = (0.1, 0.5, 1.0, 2.0)
"""Where a loss that is in proportion to epsilon is compared with log(1 + epsilon)."""


def shares_of_bound(losses: Mapping[float, float]) -> dict[str, float]:
    """The losses by epsilon as shares of log(1 + epsilon), least and largest; and the largest share of epsilon itself."""
    shares = [loss / math.log1p(promised) for promised, loss in losses.items()]
    return {"least": min(shares), "largest": max(shares), "share": largest_share(dict(losses))}


def shares_of_proportional(loss: float) -> dict[str, float]:
    """The same where the loss is `loss` at epsilon = 1, and in proportion to epsilon."""
    return shares_of_bound({promised: promised * loss for promised in EPSILONS})


def audited_by_definition(mechanism: str) -> Measure:
    """The shares that a mechanism of the catalogue spends, and the output that tells most as a witness."""

    def measure(evidence: Evidence) -> Measured:
        return Measured(shares_of_bound(catalogue_shares(evidence, mechanism)), exact_witness(evidence, mechanism))

    return measure


def slides_epsilon(of: str, instead: str) -> Decide:
    """Decides on a claimed epsilon by the largest share of log(1 + epsilon).

    `of` says whose losses they are, `instead` what holds if log(1 + epsilon) is exceeded.
    """
    sentence = (
        f"As shares of log(1 + epsilon), the losses are {{least:.5g}} to {{largest:.4g}} ({of}); the largest share of "
        "epsilon is {share:.4g}. A witness for epsilon = 1 is to be set against log 2."
    )
    return bound_decider(sentence, instead, share="largest")
