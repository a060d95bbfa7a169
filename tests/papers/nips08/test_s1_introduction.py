"""Abstract and section 1 of nips08: what an anonymised table gives away, and what the new method's noise depends on."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from epsilometer.papers.nips08.claims.s1_introduction import ANONYMISED, NO_SENSITIVITY
from tests.papers.evidence import with_verdicts
from tests.papers.nips08.theory import numbers_of, outcome_of

pytestmark = pytest.mark.slow


def test_an_anonymised_table_that_tells_little_would_be_private(tmp_path: Path) -> None:
    for number, (loss, outcome) in enumerate(((math.inf, "holds"), (0.1, "fails as printed"))):
        evidence = with_verdicts(tmp_path / str(number), {"k_anonymity": {0.1: loss}})
        assert outcome_of(ANONYMISED, evidence.results) == outcome


def test_the_noise_follows_the_slope_alone(tmp_path: Path) -> None:
    expected = {"ten_times_lambda": 1.0, "ten_times_n": 1.0, "twice_the_slope": 2.0}
    assert numbers_of(NO_SENSITIVITY, tmp_path) == pytest.approx(expected)
