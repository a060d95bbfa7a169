"""Private stochastic gradient descent: the tail of a step's privacy loss by quadrature."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from epsilometer.mechanisms.gradient_perturbation import PrintedGradientPerturbation
from epsilometer.papers.claim import Evidence
from epsilometer.papers.cs860.claims.s6_private_descent_privacy import STEP_LOSS

pytestmark = pytest.mark.slow


def test_the_loss_of_a_step_agrees_with_quadrature() -> None:
    """At n = 1, delta = 1e-2 and the largest epsilon the loss of N(m, 1) against N(0, 1) is m x - m^2/2."""
    delta = 1e-2
    epsilon = 2 * math.sqrt(math.log(1 / delta))
    m = 2 / PrintedGradientPerturbation(epsilon, delta).sigma(1)
    x = np.linspace(-12, 14, 2_000_001)
    beyond = m * x - m**2 / 2 > epsilon / (2 * math.sqrt(math.log(1 / delta)))
    tail = np.sum(np.exp(-((x[beyond] - m) ** 2) / 2)) * (x[1] - x[0]) / math.sqrt(2 * math.pi)
    worst = STEP_LOSS.measure(Evidence(Path(), 0)).numbers["exchanged"]
    assert worst == pytest.approx(tail / (delta / 2), rel=1e-3)
