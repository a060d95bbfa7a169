"""The theorem on randomised response gives the same numbers again."""

from __future__ import annotations

from pathlib import Path

import pytest

from epsilometer.papers.postech.claims.s4_randomised_response_theorem import LN_3
from tests.papers.evidence import with_shares

pytestmark = pytest.mark.slow


def test_the_same_evidence_gives_the_same_numbers(tmp_path: Path) -> None:
    shares = with_shares(tmp_path, {"randomized_response": 1.0})
    assert LN_3.measure(shares) == LN_3.measure(shares)
