"""Gradient descent: steps and sums by hand, and the worst function between its proved bounds."""

from __future__ import annotations

import math

import numpy as np
import pytest

from epsilometer.erm import Hinge
from epsilometer.papers.cs860.claims.descent import convergence_bound, descend, last_iterate, sign
from epsilometer.papers.cs860.claims.records import kinked

pytestmark = pytest.mark.slow


def test_the_worst_function_is_as_bad_as_proved() -> None:
    """Harvey et al. prove log(T)/32; the bound of Shamir and Zhang is the other side."""
    for steps in (16, 256, 2048):
        assert math.log(steps) / 32 <= last_iterate(steps) <= convergence_bound(steps) * math.sqrt(steps)


def test_descent_by_hand() -> None:
    """From 0.5 on |theta| with rate 1/2: 0, then 0 - 0.5/sqrt(2); the edge holds back the other start."""
    assert descend(sign, np.array([0.5]), 2, 0.5, 1.0) == pytest.approx([-0.5 / math.sqrt(2)])
    assert descend(lambda theta: -np.ones_like(theta), np.array([0.9]), 1, 0.5, 1.0) == pytest.approx([1.0])


def test_the_kinked_sum_is_what_it_says() -> None:
    theta = np.linspace(-1, 2, 31)
    total = Hinge().value(theta[:, None] @ kinked(15).signed.T).sum(axis=1)
    assert total == pytest.approx(5 * (2 + np.abs(theta - 1)))
