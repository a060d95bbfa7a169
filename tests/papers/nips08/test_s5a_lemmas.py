"""Section 5 of nips08, the lemmas: where Lemma 4's bound is the smaller one, and the norms of Lemma 5."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from scipy.special import gammainc

from epsilometer.papers.nips08.claims.s5a_lemmas import LEMMA_4_TIGHTER, LEMMA_5
from tests.papers.nips08.theory import numbers_of

pytestmark = pytest.mark.slow


def test_lemma_4_is_tighter_up_to_a_third(tmp_path: Path) -> None:
    """4 lam < 1 + lam."""
    numbers = numbers_of(LEMMA_4_TIGHTER, tmp_path)
    assert numbers["equal_at"] == pytest.approx(1 / 3)
    assert numbers["at_a_half"] == pytest.approx(4 * 0.5 / 1.5)


def test_norms_are_within_lemma_5_as_often_as_a_gamma(tmp_path: Path) -> None:
    """Six shares, each within 5 standard deviations: a false failure has a probability of about 4e-6."""
    numbers = numbers_of(LEMMA_5, tmp_path)
    for d in (1, 2, 10):
        for delta in (0.05, 0.5):
            within = numbers[f"within, d={d} delta={delta:g}"] / 20_000
            expected = float(gammainc(d, d * math.log(d / delta)))
            assert abs(within - expected) <= 5 * math.sqrt(max(expected * (1 - expected), 1e-9) / 20_000)
