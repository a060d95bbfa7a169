"""What a claim of postech makes of evidence."""

from __future__ import annotations

from pathlib import Path

from epsilometer.papers.claim import Claim, Numbers, Outcome

SEED = 1


def measured(claim: Claim, results: Path) -> Numbers:
    return claim.measure(claim.evidence(results, SEED)).numbers


def outcome(claim: Claim, results: Path) -> Outcome:
    return claim.decide(measured(claim, results), claim.tolerances).outcome
