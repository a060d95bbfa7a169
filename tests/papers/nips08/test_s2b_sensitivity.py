"""Section 2 of nips08, sensitivity: its formula and smooth sensitivity by hand, and the audits of noise made for it."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from scipy.special import expit

from epsilometer.core import EpsilometerError
from epsilometer.papers.claim import Claim
from epsilometer.papers.nips08.claims.s2b_sensitivity import (
    LAPLACE,
    SENSITIVITY_FORMULA,
    SMOOTH_IS_LESS,
    SMOOTH_LAPLACE,
)
from epsilometer.papers.nips08.claims.s4_objective_perturbation import THEOREM_3
from tests.papers.evidence import with_verdicts
from tests.papers.nips08.theory import measured, numbers_of, outcome_of

pytestmark = pytest.mark.slow


def test_the_sensitivity_formula_at_the_origin_by_hand(tmp_path: Path) -> None:
    """Only the last record counts, so that n lam w = sigma(-w), and two opposite records are twice that apart."""
    w = 0.0
    for _ in range(100):
        w = float(expit(-w)) / 20
    numbers = numbers_of(SENSITIVITY_FORMULA, tmp_path)
    assert numbers["at the origin"] == pytest.approx(2 * 20 * w, rel=1e-6)


@pytest.mark.parametrize(
    ("claim", "mechanism", "other"),
    [
        (LAPLACE, "laplace_standard_deviation", "laplace_count"),
        (SMOOTH_LAPLACE, "smooth_median_as_printed", "smooth_median"),
        (THEOREM_3, "objective_perturbation_general", "objective_perturbation_huber"),
    ],
    ids=["laplace", "smooth_laplace", "theorem_3"],
)
def test_a_table_with_other_losses_decides_otherwise(tmp_path: Path, claim: Claim, mechanism: str, other: str) -> None:
    outcomes = []
    for number, loss in enumerate((0.5, 0.99, 1.2)):
        evidence = with_verdicts(tmp_path / str(number), {mechanism: {1.0: loss, 2.0: 0.8}, other: {1.0: 1.0}})
        outcomes.append(outcome_of(claim, evidence.results))
    assert outcomes == ["holds, loosely", "holds", "fails as printed"]


def test_a_table_without_the_mechanism_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(EpsilometerError, match="no row of laplace_standard_deviation"):
        measured(LAPLACE, with_verdicts(tmp_path, {"other": {1.0: 1.0}}).results)


def test_smooth_sensitivities_of_medians_by_hand(tmp_path: Path) -> None:
    """Split data have the whole range as their local sensitivity; spaced by 0.001, (k + 1) 0.001 e^(-k/10) counts."""
    numbers = numbers_of(SMOOTH_IS_LESS, tmp_path)
    assert numbers["split"] == pytest.approx(1.0)
    inside = max((k + 1) * 0.001 * math.exp(-k / 10) for k in range(50))
    outside = max((1.0 - 0.45) * math.exp(-0.1 * k) for k in range(50, 101))
    assert numbers["concentrated"] == pytest.approx(max(inside, outside), rel=0.1)
