"""The slides on learning: what more certainty costs, and the logarithm that their bounds lack."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from epsilometer.papers.nips08.claims import s5b_theorems
from epsilometer.papers.slides08.claims.s4_learning import NO_PROBABILITY, THEOREM_4_GROWTH
from tests.papers.nips08.theory import numbers_of

pytestmark = pytest.mark.slow


def test_more_certainty_takes_more_records(tmp_path: Path) -> None:
    numbers = numbers_of(NO_PROBABILITY, tmp_path)
    assert numbers["in_98_percent"] > 1.2 * numbers["in_half"]


def test_the_slides_bounds_lack_the_logarithm(tmp_path: Path) -> None:
    slides, paper = (numbers_of(claim, tmp_path) for claim in (THEOREM_4_GROWTH, s5b_theorems.THEOREM_4_GROWTH))
    assert slides["stated, d"] == pytest.approx(4)
    assert paper["stated, d"] == pytest.approx(4 * math.log(160) / math.log(40))
    assert slides["needed, d"] == paper["needed, d"]
    assert [numbers["stated, epsilon"] for numbers in (slides, paper)] == pytest.approx([8, 8])
