"""The primer: slopes, neighbours and support vectors known by hand, and randomised bits by simulation."""

from __future__ import annotations

import math

import numpy as np
import pytest

from epsilometer.core import stream
from epsilometer.erm import LOGISTIC, Distance, Hinge, Squared
from epsilometer.mechanisms.randomized_response import RandomizedResponse
from epsilometer.papers.claim import Evidence
from epsilometer.papers.cs860.claims.s1_primer import INPUT_PERTURBATION, NEIGHBOURS, SUPPORT_VECTORS, steepest

pytestmark = pytest.mark.slow


def test_slopes_known_by_hand() -> None:
    assert steepest(Hinge(), 3.0, 10.0) == pytest.approx(3.0)
    assert steepest(Distance(), 0.5, 10.0) == pytest.approx(1.0)
    assert steepest(LOGISTIC, 1.0, 1.0) == pytest.approx(1 / (1 + math.exp(-1)), rel=1e-4)
    assert steepest(Squared(1.0), 1.0, 5.0) == pytest.approx(2 * (1 + 5), rel=1e-3)


def test_neighbours_and_support_vectors_by_hand(evidence: Evidence) -> None:
    assert NEIGHBOURS.measure(evidence).numbers == pytest.approx({"exchanged": 1.0, "removed": 0.5}, abs=1e-8)
    moved = SUPPORT_VECTORS.measure(evidence).numbers
    assert moved == pytest.approx({"others_left_out": 0.0, "one_left_out": 0.6, "one_closer": 3.0}, abs=1e-6)


def test_randomised_bits_are_as_noisy_as_said(evidence: Evidence) -> None:
    """The standard deviation of 2,000 estimates from 400 bits; 7% off has a probability below 1e-4."""
    response = RandomizedResponse.from_epsilon(1.0)
    bits = np.repeat([0, 1], [250, 150])
    answers = response.sample(bits, 2000, stream(1, "randomised bits"))
    estimates = (answers.mean(axis=1) - (0.5 - response.gamma)) / (2 * response.gamma)
    local = INPUT_PERTURBATION.measure(evidence).numbers["local"]
    assert estimates.std() == pytest.approx(0.01 * math.sqrt(local / 400), rel=0.07)
