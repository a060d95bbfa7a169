"""What the claims of several sections share: settings, a witness, and the worst pair for Algorithm 1."""

from __future__ import annotations

from epsilometer.pairs.search import WorstPair
from epsilometer.papers.claim import Evidence
from epsilometer.papers.measures import find_worst_pair

MANY, WEAK = 200_000, 1e-4
"""Records and lambda at which two records can pull w with almost their whole length, in opposite directions."""
FIRST_SIZE, PAPERS_LAM = 1_000, 0.01
"""The first point of the paper's learning curve, and its lambda."""
WITNESS = "the output with the largest privacy loss, as a witness"
"""What a claim on audited mechanisms computes beyond reading the audits' table."""


def worst_for_algorithm_1(evidence: Evidence) -> WorstPair:
    """The worst pair found for Algorithm 1 at epsilon = 1, in the plane.

    Algorithm 1 spends epsilon |w - w'|/(2/(n lam)), so its privacy loss there is |w - w'| as a share of 2/(n lam).
    """
    return find_worst_pair(evidence, "output_perturbation", 1.0, MANY, 2)
