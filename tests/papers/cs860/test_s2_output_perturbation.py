"""Output perturbation: Lemma 1 by hand."""

from __future__ import annotations

import pytest

from epsilometer.papers.claim import Evidence
from epsilometer.papers.cs860.claims.s2_output_perturbation import LEMMA_1
from tests.papers.cs860.cases import BOUND

pytestmark = pytest.mark.slow


def test_lemma_1_by_hand(evidence: Evidence) -> None:
    """max(0, 1 - theta) + 2 theta^2 is smallest at 1/4, so the two minimisers are 1/2 = 2/lambda apart, whatever n is."""
    moved = LEMMA_1.measure(evidence).numbers
    assert [moved[f"hinge_at_{n}"] for n in (1, 8, 1000)] == pytest.approx([1.0, 1.0, 1.0], abs=1e-8)
    assert 0.97 < moved["logistic_at_200000"] <= 1
    assert LEMMA_1.decide(moved, BOUND).factor == pytest.approx(200_000 / moved["logistic_at_200000"])
