"""The least error possible in a cell of Figure 1."""

from __future__ import annotations

import pytest
from scipy import integrate

from epsilometer.papers.nips08.claims.figure_1 import bayes_error

pytestmark = pytest.mark.slow


def test_the_least_error_is_the_flipped_share_of_the_band() -> None:
    """By quadrature: a coordinate on the sphere in ten dimensions has a density proportional to (1 - u^2)^(7/2)."""
    band, whole = (integrate.quad(lambda u: (1 - u * u) ** 3.5, 0, top)[0] for top in (0.1, 1))
    assert bayes_error("unseparable") == pytest.approx(0.2 * band / whole, rel=1e-9)
    assert bayes_error("separable") == 0
