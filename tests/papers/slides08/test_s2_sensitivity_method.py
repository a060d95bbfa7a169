"""The slides on the sensitivity method: the sign, the sensitivity on the line, a record left out, Theorem 1's witness."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from scipy.special import expit

from epsilometer.papers.claim import Claim
from epsilometer.papers.slides08.claims.s2_sensitivity_method import (
    EQUAL_SENSITIVITY,
    LEAVE_ONE_OUT,
    OBJECTIVE_SIGN,
    THEOREM_1,
)
from epsilometer.papers.slides08.claims.s3_new_method import ALGORITHM_2_SIGN
from epsilometer.witnesses import verify
from tests.papers.nips08.theory import measured, numbers_of

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("claim", [OBJECTIVE_SIGN, ALGORITHM_2_SIGN], ids=["objective_sign", "algorithm_2_sign"])
def test_the_printed_sign_mirrors_the_right_one(tmp_path: Path, claim: Claim) -> None:
    numbers = numbers_of(claim, tmp_path)
    assert numbers["printed"] > 0.95
    assert numbers["printed"] + numbers["minus"] == pytest.approx(1, abs=0.02)


def test_the_line_bounds_the_sensitivity_as_brute_force_does(tmp_path: Path) -> None:
    numbers = numbers_of(EQUAL_SENSITIVITY, tmp_path)
    x, p = np.meshgrid(np.linspace(0, 10, 1001), np.linspace(0, 1, 1001))
    both = np.maximum(p * expit(-p * x) + expit(x), expit(-x) + p * expit(p * x))
    assert numbers["possible_on_the_line"] == pytest.approx(float(both.max()) / 2, abs=1e-4)
    assert numbers["share_on_the_line"] <= numbers["possible_on_the_line"]


def test_leaving_a_record_out_comes_near_its_bound(tmp_path: Path) -> None:
    """For n = 2 and lam = 1 by hand: w_1 = expit(-w_1), and (1, 0) against (-1, 0) leaves w_2 = 0."""
    numbers = numbers_of(LEAVE_ONE_OUT, tmp_path)
    assert 0.95 < numbers["share"] <= 1
    assert 0.95 < numbers["share_with_n_kept"] <= 1
    w = 0.0
    for _ in range(200):
        w = float(expit(-w))
    assert 2 * w < numbers["share"]


def test_theorem_1_has_a_witness_beyond_one_plus_epsilon(tmp_path: Path) -> None:
    found = measured(THEOREM_1, tmp_path)
    assert found.witness is not None
    log_ratio, _ = verify(found.witness)
    assert math.log(2) < float(log_ratio) < 1
    assert found.numbers["share"] == pytest.approx(float(log_ratio))
    assert found.numbers["least"] == pytest.approx(0.1 * float(log_ratio) / math.log(1.1))
