"""The claims on all curves together follow them."""

from __future__ import annotations

from pathlib import Path

import pytest

from epsilometer.papers.nips08.claims.s6_8_overall import COST_INEVITABLE, COST_NOT_TERRIBLE, SIMULATIONS_SUPERIOR
from tests.papers.nips08.experiment_tables import EPSILONS, SIZES, measured, outcomes, setting

pytestmark = pytest.mark.slow


def test_every_point_of_figure_2_counts_once(tables: Path) -> None:
    numbers = measured(SIMULATIONS_SUPERIOR, tables)
    assert sum(name.startswith("new at") for name in numbers) == 2 * (len(SIZES) - 1 + len(EPSILONS))


def test_a_large_loss_at_every_epsilon_is_not_mild(tables: Path, tmp_path: Path) -> None:
    large = setting("error", 0.45, method="algorithm2")
    found = outcomes(COST_NOT_TERRIBLE, tables, tmp_path, "epsilon_curve/separable", large)
    assert found == ("underspecified", "not reproduced")


def test_one_epsilon_without_any_loss_refutes_that_it_is_inevitable(tables: Path, tmp_path: Path) -> None:
    none = setting("error", 0.0, method="algorithm1", epsilon=10)
    found = outcomes(COST_INEVITABLE, tables, tmp_path, "epsilon_curve/separable", none)
    assert found == ("holds", "fails as printed")
