"""Objective perturbation: the hinge loss by hand, and the cost of a rough minimum."""

from __future__ import annotations

import math

import pytest

from epsilometer.papers.claim import Evidence
from epsilometer.papers.cs860.claims.rough_minimum import delta_of_rough_minimum
from epsilometer.papers.cs860.claims.s3_objective_perturbation import OBJECTIVE_HINGE

pytestmark = pytest.mark.slow


def test_a_hinge_hides_noise_at_its_kink(evidence: Evidence) -> None:
    """P(-0.1 <= b <= 0.9) for a density (1/4) exp(-|b|/2)."""
    numbers = OBJECTIVE_HINGE.measure(evidence).numbers
    assert numbers["with_record"] == pytest.approx(1 - (math.exp(-0.05) + math.exp(-0.45)) / 2, abs=1e-4)
    assert numbers["without"] == 0


def test_only_a_rough_minimum_costs() -> None:
    """One that stops at once, whatever the data, costs nothing either."""
    assert delta_of_rough_minimum(1e-9) == 0
    assert delta_of_rough_minimum(1e3) == 0
    assert delta_of_rough_minimum(0.1) > 0.005
