"""Each claim of nips08 on privacy and learning reads the table that it needs; `Evidence` refuses it any other."""

from __future__ import annotations

from pathlib import Path

import pytest

from epsilometer.core import EpsilometerError
from epsilometer.papers.claim import Claim
from epsilometer.papers.nips08.claims import (
    s1_introduction,
    s2b_sensitivity,
    s3_sensitivity_method,
    s4_objective_perturbation,
)
from tests.papers.nips08.theory import measured

pytestmark = pytest.mark.slow

MODULES = (s1_introduction, s2b_sensitivity, s3_sensitivity_method, s4_objective_perturbation)
CLAIMS = [claim for module in MODULES for claim in vars(module).values() if isinstance(claim, Claim) and claim.needs]


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.id)
def test_without_its_table_a_claim_is_not_measured(claim: Claim, tmp_path: Path) -> None:
    (need,) = claim.needs
    with pytest.raises(EpsilometerError, match=Path(need).name):
        measured(claim, tmp_path)
