"""The claims on a claimed epsilon, and that on relaxed assumptions, follow the table of verdicts."""

from __future__ import annotations

from pathlib import Path

import pytest

from epsilometer.core import EpsilometerError
from epsilometer.papers.claim import Claim
from epsilometer.papers.postech.claims.s4_randomised_response_theorem import LN_3
from epsilometer.papers.postech.claims.s5_noise import GAUSSIAN, LAPLACE
from epsilometer.papers.postech.claims.s6_minimisation import RELAXED
from epsilometer.papers.postech.claims.s7_privacy_guarantee import ALGORITHM_1, ALGORITHM_2
from tests.papers.evidence import with_shares
from tests.papers.postech.cases import FAILS, HOLDS
from tests.papers.postech.decided import measured, outcome

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    ("claim", "mechanisms"),
    [
        (LN_3, ["randomized_response"]),
        (LAPLACE, ["laplace_count", "laplace_difference_attack"]),
        (GAUSSIAN, ["gaussian_classic"]),
        (RELAXED, ["output_perturbation_hinge", "objective_perturbation_huber"]),
        (ALGORITHM_1, ["output_perturbation", "output_perturbation_huber"]),
        (ALGORITHM_2, ["objective_perturbation_cms11", "objective_perturbation_huber"]),
    ],
    ids=lambda value: value.id if isinstance(value, Claim) else "",
)
def test_an_altered_table_of_verdicts_alters_the_decision(tmp_path: Path, claim: Claim, mechanisms: list[str]) -> None:
    for name, share, expected in (("kept", 0.95, HOLDS), ("broken", 1.2, FAILS)):
        with_shares(tmp_path / name, dict.fromkeys(mechanisms, share))
        assert outcome(claim, tmp_path / name) == expected
    with_shares(tmp_path / "empty", {"another": 1.0})
    with pytest.raises(EpsilometerError, match="has no row of"):
        measured(claim, tmp_path / "empty")
