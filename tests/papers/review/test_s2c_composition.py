"""Section II-C of the survey: the audits decide on composition, and a violation comes with an output that proves it."""

from __future__ import annotations

from pathlib import Path

import pytest

from epsilometer.witnesses import verify
from tests.papers.evidence import with_shares
from tests.papers.review.cases import FAILS, HOLDS, PRIVATE
from tests.papers.review.helpers import measured, outcome

pytestmark = pytest.mark.slow


def test_composition_follows_the_table_and_its_witness_is_verified(tmp_path: Path) -> None:
    shares = {"parallel_composition_as_printed": 2.0, "parallel_composition": 1.0, "sequential_composition": 1.0}
    with_shares(tmp_path, shares)
    witness = measured("parallel", tmp_path).witness
    assert witness is not None
    assert float(abs(verify(witness)[0])) == pytest.approx(2.0)
    assert outcome("parallel", tmp_path, PRIVATE) == FAILS
    assert outcome("sequential", tmp_path, PRIVATE) == HOLDS
    with_shares(tmp_path, shares | {"parallel_composition_as_printed": 1.0, "sequential_composition": 1.1})
    assert outcome("parallel", tmp_path, PRIVATE) == HOLDS
    assert outcome("sequential", tmp_path, PRIVATE) == FAILS
