"""When Algorithm 2 is better: the rule for little noise, and the curves."""

from __future__ import annotations

from pathlib import Path

import pytest

from epsilometer.papers.postech.claims.s8_2_better_algorithm import BETTER_EXPERIMENTS, BETTER_REGRET
from tests.papers.postech.cases import FAILS, HOLDS, OPEN
from tests.papers.postech.curves import write_curves
from tests.papers.postech.decided import measured, outcome

pytestmark = pytest.mark.slow


def test_the_rule_for_the_better_algorithm_is_right_where_the_noise_is_small(tmp_path: Path) -> None:
    """Five standard errors of either of 18 ratios: fails by chance with 1e-5 or less."""
    numbers = measured(BETTER_REGRET, tmp_path)
    small = [label for label in numbers if label.startswith("rule, d=1 lam=1 ")]
    assert len(small) == 2 + 2
    for label in (name.removeprefix("rule, ") for name in small):
        ratio = numbers[f"not preferred, {label}"]
        assert ratio == pytest.approx(numbers[f"rule, {label}"], abs=5 * numbers[f"error, {label}"] + 0.02)


def test_the_curves_tell_which_algorithm_is_better(tmp_path: Path) -> None:
    better = write_curves(tmp_path / "better", 0.1)
    leads = [name for name in measured(BETTER_EXPERIMENTS, better) if name.startswith("lead")]
    assert len(leads) == 2 * (2 + 3)  # with 10 records, the Hessian alone costs more than epsilon = 0.1
    assert outcome(BETTER_EXPERIMENTS, better) == HOLDS
    assert outcome(BETTER_EXPERIMENTS, write_curves(tmp_path / "same", 0.3)) == OPEN
    assert outcome(BETTER_EXPERIMENTS, write_curves(tmp_path / "worse", 0.4)) == FAILS
