"""The claim on plain minimisation follows the table of verdicts."""

from __future__ import annotations

from pathlib import Path

import pytest

from epsilometer.papers.postech.claims.s6_minimisation import ERM
from tests.papers.evidence import with_shares
from tests.papers.postech.cases import FAILS, HOLDS
from tests.papers.postech.decided import outcome

pytestmark = pytest.mark.slow


def test_the_audit_of_plain_minimisation_is_read_from_the_table(tmp_path: Path) -> None:
    with_shares(tmp_path, {"non_private_logistic": 9.0})
    assert outcome(ERM, tmp_path) == HOLDS
    with_shares(tmp_path, {"non_private_logistic": 0.1})
    assert outcome(ERM, tmp_path) == FAILS
