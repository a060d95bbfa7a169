"""Section 4 of nips08: the witnesses against Algorithm 2, the densities of its outputs, its running time and its regret."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from scipy.special import expit

from epsilometer.papers.nips08.claims.s4_objective_perturbation import (
    ANY_LAMBDA,
    CHANGE_OF_VARIABLES,
    DEGRADATION,
    NOISE_SHIFT,
    RUNNING_TIME,
    THEOREM_2,
)
from epsilometer.witnesses import verify
from tests.papers.nips08.theory import measured, numbers_of, with_boundary

pytestmark = pytest.mark.slow


def test_running_time_counts_evaluations_of_a_solver_that_converges(tmp_path: Path) -> None:
    numbers = numbers_of(RUNNING_TIME, tmp_path)
    assert 3 <= numbers["without"] <= 50
    assert all(0.5 < value < 3 for name, value in numbers.items() if name != "without")


def test_theorem_2_falls_by_a_witness_that_anyone_can_check(tmp_path: Path) -> None:
    cells = [(1.0, 1.0, 1.2), (1.0, 1.9, 1.01), (1.0, 2.1, 1.0), (0.5, 8.0, 0.5), (0.1, 1.0, 0.1)]
    found = measured(THEOREM_2, with_boundary(tmp_path, *cells))
    assert found.numbers["exceeded_up_to"] == 1.9
    assert found.numbers["kept_from"] == 2.1
    assert found.witness is not None
    log_ratio, sentence = verify(found.witness)
    assert "exceeds the promised epsilon" in sentence
    assert found.numbers["share"] == pytest.approx(float(log_ratio) / found.witness.promised)


def test_the_noise_vectors_are_nearly_as_far_apart_as_can_be(tmp_path: Path) -> None:
    assert numbers_of(NOISE_SHIFT, tmp_path)["share"] == pytest.approx(0.98, abs=0.005)


def test_densities_of_outputs_have_the_determinant(tmp_path: Path) -> None:
    numbers = numbers_of(CHANGE_OF_VARIABLES, tmp_path)
    pull, curvature = float(expit(-0.01)), float(expit(0.01) * expit(-0.01))
    noise = -(abs(pull - 0.01 * 0.01) - 0.01 * 0.01) / 2
    assert numbers["noise"] == pytest.approx(noise)
    assert numbers["outputs"] == pytest.approx(noise + math.log1p(curvature / 0.01), abs=1e-6)
    assert numbers["with_determinant"] == pytest.approx(numbers["outputs"], abs=1e-6)


def test_any_lambda_falls_by_a_witness(tmp_path: Path) -> None:
    found = measured(ANY_LAMBDA, tmp_path)
    assert found.numbers["spent_at_0.1"] == pytest.approx(1.0)  # n lam epsilon = 10
    assert found.numbers["spent_at_1e-06"] > found.numbers["spent_at_0.0001"] > found.numbers["share"] > 3
    assert found.witness is not None
    assert "exceeds" in verify(found.witness)[1]


def test_regret_grows_as_lambda_falls(tmp_path: Path) -> None:
    numbers = numbers_of(DEGRADATION, tmp_path)
    assert numbers["algorithm 1 at 0.001"] > 10 * numbers["algorithm 2 at 0.001"] > 10 * numbers["algorithm 2 at 1"]
