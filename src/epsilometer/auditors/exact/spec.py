"""The records of the exact auditors: the likelihood ratio at delta = 0, the privacy curve at delta > 0."""

from __future__ import annotations

from dataclasses import replace

from epsilometer.auditors.exact.curve import ExactPrivacyCurve
from epsilometer.auditors.exact.supremum import ExactLikelihoodRatio
from epsilometer.auditors.spec import AuditorSpec, Subject
from epsilometer.core import Auditor, HasDensity


def _exact(subject: Subject, confidence: float) -> Auditor:
    if subject.delta > 0:
        return ExactPrivacyCurve(confidence)
    return ExactLikelihoodRatio(subject.name, subject.promised)


EXACT = AuditorSpec(
    name="exact",
    column="exact",
    label="exact",
    about="Knows the density. Computes the largest privacy loss of the pair, or its epsilon at the claimed delta.",
    order=20,
    colour="black",
    marker="D",
    applies=lambda subject: isinstance(subject.mechanism, HasDensity),
    build=_exact,
    budget="search",
)
SAMPLED_CURVE = replace(
    EXACT,
    name="sampled curve",
    column="sampled_curve",
    label="sampled curve, certified",
    about="What the exact privacy curve gives where integration is out of reach: a bound from sampled privacy losses.",
    order=30,
    marker="d",
    filled=False,
    applies=lambda _: False,  # results of the privacy curve get this name if they are sampled
)
SPEC = (EXACT, SAMPLED_CURVE)
