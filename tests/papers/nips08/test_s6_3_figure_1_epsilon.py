"""The order of Figure 1's methods and the epsilon behind it follow their tables."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from epsilometer.papers.nips08.claims.s6_3_figure_1_epsilon import (
    FIGURE_1_EPSILON,
    FIGURE_1_ONE_EPSILON,
    FIGURE_1_ORDER,
)
from tests.papers.nips08.experiment_tables import outcomes, setting, swapped

pytestmark = pytest.mark.slow


def test_with_the_methods_swapped_the_order_is_not_reproduced(tables: Path, tmp_path: Path) -> None:
    found = outcomes(FIGURE_1_ORDER, tables, tmp_path, "error_table/separable", swapped)
    assert found == ("reproduced", "not reproduced")


def test_an_unbounded_interval_recovers_no_epsilon(tables: Path, tmp_path: Path) -> None:
    unbounded = setting("high", math.inf, dataset="all four")
    found = outcomes(FIGURE_1_EPSILON, tables, tmp_path, "recovered_epsilon/nips08", unbounded)
    assert found == ("underspecified", "not reproduced")


def test_a_small_p_value_rejects_a_common_epsilon(tables: Path, tmp_path: Path) -> None:
    rejected = setting("p_value", 0.01)
    found = outcomes(FIGURE_1_ONE_EPSILON, tables, tmp_path, "recovered_epsilon/nips08", rejected)
    assert found == ("reproduced", "not reproduced")
