"""Claims of nips08 that the slides repeat: the same measure, decision and tolerances, at another place.

A module of the slides' claims imports the module of nips08 that has the claim, and not the claim itself, since every claim
that is a constant of a module counts as one of its paper.
"""

from __future__ import annotations

from dataclasses import replace

from epsilometer.papers.claim import Claim


def repeated(claim: Claim, claim_id: str, locator: str, statement: str = "") -> Claim:
    """A claim of nips08 as the slides have it, in their words if these differ."""
    return replace(claim, id=claim_id, locator=locator, statement=statement or claim.statement, headline=False)
