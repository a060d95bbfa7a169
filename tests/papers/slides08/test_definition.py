"""The slides' definition of privacy: shares of log(1 + epsilon) by hand, and losses that decide by it."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from epsilometer.papers.claim import Claim
from epsilometer.papers.slides08.claims.definition import shares_of_bound
from epsilometer.papers.slides08.claims.s1_definitions import LAPLACE
from epsilometer.papers.slides08.claims.s3_new_method import THEOREM_3
from tests.papers.evidence import with_verdicts
from tests.papers.nips08.theory import measured

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    ("claim", "mechanism"),
    [(LAPLACE, "laplace_count"), (THEOREM_3, "objective_perturbation_general")],
    ids=["laplace", "theorem_3"],
)
def test_a_loss_of_epsilon_is_too_much_and_one_of_its_logarithm_is_not(tmp_path: Path, claim: Claim, mechanism: str) -> None:
    losses = {"e^epsilon": {0.1: 0.1, 1.0: 1.0}, "1 + epsilon": {0.1: math.log(1.1), 1.0: math.log(2.0)}}
    outcomes = []
    for name, spent in losses.items():
        found = measured(claim, with_verdicts(tmp_path / name, {mechanism: spent}).results)
        outcomes.append(claim.decide(found.numbers, claim.tolerances).outcome)
        assert found.witness is not None
        assert found.witness.promised == 1
    assert outcomes == ["fails as printed", "holds"]


def test_shares_by_hand() -> None:
    shares = shares_of_bound({1.0: 0.9, 2.0: 1.0})
    expected = {"least": 1 / math.log(3), "largest": 0.9 / math.log(2), "share": 0.9}
    assert shares == pytest.approx(expected)
