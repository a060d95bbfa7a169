"""Exact audits from densities: the largest log-likelihood ratio of a pair, its privacy loss, and delta(epsilon).

For densities p and p' of the outputs on the two data sets, the pure epsilon of the pair is the supremum over outputs of
|log p - log p'|, and delta(epsilon) is the integral of (p - e^epsilon p')_+.
"""

from epsilometer.auditors.exact.curve import (
    INTEGRATED,
    LISTED,
    SAMPLED,
    SEARCHED,
    Bounded,
    ExactPrivacyCurve,
    PrivacyLoss,
    delta_at,
    epsilon_at,
    privacy_loss_distribution,
    privacy_loss_rows,
)
from epsilometer.auditors.exact.ratio import listed_outputs
from epsilometer.auditors.exact.supremum import ExactLikelihoodRatio

__all__ = [
    "INTEGRATED",
    "LISTED",
    "SAMPLED",
    "SEARCHED",
    "Bounded",
    "ExactLikelihoodRatio",
    "ExactPrivacyCurve",
    "PrivacyLoss",
    "delta_at",
    "epsilon_at",
    "listed_outputs",
    "privacy_loss_distribution",
    "privacy_loss_rows",
]
