"""The widest margin of a hyperplane, and the test of uniform directions."""

from __future__ import annotations

import math

import numpy as np
import pytest

from epsilometer.data.synthetic import separable, unseparable
from epsilometer.papers.nips08.claims.geometry import uniform_directions, widest_margin

pytestmark = pytest.mark.slow


def test_the_widest_margin_of_an_arc_is_the_cosine_of_its_half() -> None:
    angles = np.random.default_rng(5).uniform(-1.2, 1.1, 200)
    points = np.column_stack([np.cos(angles), np.sin(angles)])
    normal, margin = widest_margin(points)
    assert margin == pytest.approx(math.cos((angles.max() - angles.min()) / 2), rel=1e-9)
    assert margin == pytest.approx((points @ normal).min())
    assert np.linalg.norm(normal) == pytest.approx(1)
    assert widest_margin(np.vstack([points, -points[:1]]))[1] == 0


def test_the_widest_margin_of_the_paper_s_data() -> None:
    assert widest_margin(separable(3000, np.random.default_rng(6)).signed)[1] >= 0.03
    assert widest_margin(unseparable(3000, np.random.default_rng(6)).signed)[1] == 0


def test_uniform_directions_are_not_suspected_and_others_are() -> None:
    """At most one in twenty p-values is below 0.05: of 2000, at most 130 but for a chance of 1e-3 (they number about 98)."""
    rng = np.random.default_rng(8)
    drawn = rng.standard_normal((2000, 300, 4))
    drawn /= np.linalg.norm(drawn, axis=2, keepdims=True)
    p_values = np.array([uniform_directions(directions, 4) for directions in drawn])
    assert 60 <= (p_values < 0.05).sum() <= 130
    pooled = drawn.reshape(-1, 4)[:20_000]
    assert uniform_directions(pooled[pooled[:, 0] > -0.9], 4) < 1e-3  # a direction
    assert uniform_directions(pooled[np.abs(pooled[:, 0]) < 0.9], 4) < 1e-3  # an axis
