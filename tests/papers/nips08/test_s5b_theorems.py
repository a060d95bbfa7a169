"""Section 5 of nips08, Theorem 4: the lambda of its proof, and another."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from scipy.special import expit

from epsilometer.papers.nips08.claims.s5b_theorems import UNSTATED_LAMBDA
from tests.papers.nips08.theory import numbers_of

pytestmark = pytest.mark.slow


def test_the_proofs_lambda_is_small_enough_and_one_is_not(tmp_path: Path) -> None:
    numbers = numbers_of(UNSTATED_LAMBDA, tmp_path)
    assert numbers["at_the_proofs_lambda"] < numbers["allowed"] < numbers["at_lambda_1"]
    v = 0.0
    for _ in range(200):  # v = expit(-v/2)/2
        v = float(expit(-v / 2)) / 2
    assert numbers["at_lambda_1"] == pytest.approx(math.log1p(math.exp(-v / 2)) - math.log1p(math.exp(-2.0)))
