"""Figures 2a and 2b follow the learning curves."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from epsilometer.papers.nips08.claims.s6_6_learning_curves import FIGURE_2A_FINAL, FIGURE_2A_SIZES, FIGURE_2B_SIZES
from tests.papers.nips08.experiment_tables import measured, outcomes, swapped

pytestmark = pytest.mark.slow


def test_with_the_methods_swapped_neither_end_nor_sizes_are_reproduced(tables: Path, tmp_path: Path) -> None:
    both = ("reproduced", "not reproduced")
    assert outcomes(FIGURE_2A_FINAL, tables, tmp_path / "final", "learning_curve/separable", swapped) == both
    assert outcomes(FIGURE_2B_SIZES, tables, tmp_path / "sizes", "learning_curve/unseparable", swapped) == both


def test_the_last_size_is_left_to_the_claim_on_the_end(tables: Path) -> None:
    lead = measured(FIGURE_2A_SIZES, tables)
    assert [name for name in lead if name.startswith("new at")] == ["new at 100", "new at 200"]
    assert lead["new at 200"] == pytest.approx(0.1 / math.sqrt(2 * 0.001**2 / 4 / 5))  # the tilt is common to both
