"""Losses and regularisers against difference quotients, against the formulas' pieces, and against their stated bounds."""

from __future__ import annotations

import numpy as np
import pytest

from epsilometer.core import Array, EpsilometerError
from epsilometer.erm import (
    LOGISTIC,
    DiagonalQuadratic,
    Distance,
    Hinge,
    Huber,
    Quadratic,
    Regulariser,
    Squared,
    require_smooth,
)
from epsilometer.erm.losses import MarginLoss, SmoothLoss

SMOOTH: list[SmoothLoss] = [LOGISTIC, Huber(0.5), Huber(0.1), Huber(2.0), Squared(3.0)]
GRID = np.linspace(-7.0, 7.0, 14_001) + 1e-4  # off the Huber losses' jumps


def quotient(function: object, z: Array, step: float = 1e-6) -> Array:
    """The central difference quotient."""
    return (function(z + step) - function(z - step)) / (2 * step)  # type: ignore[operator]


@pytest.mark.parametrize("loss", SMOOTH, ids=repr)
def test_slope_and_curvature_are_derivatives(loss: SmoothLoss) -> None:
    assert np.abs(quotient(loss.value, GRID) - loss.slope(GRID)).max() < 1e-7
    assert np.abs(quotient(loss.slope, GRID) - loss.curvature(GRID)).max() < 1e-7


@pytest.mark.parametrize("loss", SMOOTH, ids=repr)
def test_the_bounds_are_reached_and_not_passed(loss: SmoothLoss) -> None:
    """The squared loss's slope on a ball of radius 3, the others' everywhere."""
    z = np.linspace(-3, 3, 6001) if isinstance(loss, Squared) else np.linspace(-40, 40, 80_001)
    assert np.abs(loss.slope(z)).max() == pytest.approx(loss.lipschitz, rel=1e-12)
    assert loss.curvature(z).max() == pytest.approx(loss.curvature_bound, rel=1e-12)
    assert (loss.curvature(z) >= 0).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("loss", SMOOTH, ids=repr)
def test_the_solvers_kernels_are_the_same_functions(loss: SmoothLoss, dtype: type) -> None:
    margins: Array = np.array([-60.0, -3.0, -0.4, 0.0, 0.3, 0.77, 1.0, 1.3, 2.2, 60.0]).astype(dtype)
    kernel = margins.copy()
    accuracy = 2e-5 if dtype is np.float32 else 1e-12
    loss.turn_into_pulls(kernel)
    assert kernel.dtype == dtype
    np.testing.assert_allclose(kernel, -loss.slope(margins), rtol=accuracy, atol=accuracy)
    loss.turn_into_curvatures(kernel)
    assert kernel.dtype == dtype
    np.testing.assert_allclose(kernel, loss.curvature(margins), rtol=accuracy, atol=accuracy)


def test_the_huber_loss_has_the_papers_pieces() -> None:
    h = 0.25
    pieces = {-2.0: 3.0, 0.5: 0.5, 0.75: 0.25, 1.0: h / 4, 1.2: 0.05**2 / (4 * h), 1.25: 0.0, 3.0: 0.0}
    assert Huber(h).value(np.array(list(pieces))) == pytest.approx(list(pieces.values()), abs=1e-15)
    assert Huber(h).curvature_bound == 1 / (2 * h)


def test_a_narrow_huber_loss_is_nearly_the_hinge() -> None:
    """They differ most at the kink, by h/4."""
    difference = Huber(1e-3).value(GRID) - Hinge().value(GRID)
    assert (difference >= 0).all()
    assert Huber(1e-3).value(np.array([1.0])) - Hinge().value(np.array([1.0])) == pytest.approx(1e-3 / 4)
    assert difference.max() <= 1e-3 / 4


def test_the_hinge_has_slope_minus_one_below_one_and_none_above() -> None:
    assert Hinge().slope(np.array([-5.0, 0.99, 1.01])).tolist() == [-1, -1, 0]
    assert Hinge().lipschitz == Distance().lipschitz == 1


def test_the_squared_loss_is_that_of_regression_on_labels() -> None:
    rng = np.random.default_rng(0)
    x, w, y = rng.standard_normal((20, 3)), rng.standard_normal(3), rng.choice([-1.0, 1.0], 20)
    np.testing.assert_allclose(Squared(1.0).value(y * (x @ w)), (x @ w - y) ** 2, rtol=1e-12)


@pytest.mark.parametrize(
    ("loss", "sentence"),
    [
        (Hinge(), "hinge loss is not differentiable .*take output perturbation"),
        (Distance(), "distance to a point is not differentiable .*take output perturbation"),
        (Squared(2.0), "squared loss has a bounded slope on a ball only.*take output perturbation"),
    ],
)
def test_objective_perturbation_refuses_the_others(loss: MarginLoss | Distance, sentence: str) -> None:
    with pytest.raises(EpsilometerError, match=sentence):
        require_smooth(loss)
    assert require_smooth(LOGISTIC) is LOGISTIC


@pytest.mark.parametrize("bad", [0.0, -1.0, float("nan"), float("inf")])
def test_widths_and_radii_are_positive_numbers(bad: float) -> None:
    with pytest.raises(EpsilometerError, match=f"width is {bad:g}"):
        Huber(bad)
    with pytest.raises(EpsilometerError, match=f"radius is {bad:g}"):
        Squared(bad)
    with pytest.raises(EpsilometerError, match="each a number above 0"):
        DiagonalQuadratic((1.0, bad))


@pytest.mark.parametrize("regulariser", [Quadratic(), DiagonalQuadratic((0.5, 3.0, 1.0))], ids=repr)
def test_regularisers_are_consistent(regulariser: Regulariser) -> None:
    w = np.random.default_rng(1).standard_normal((7, 3))
    for axis in range(3):
        step = 1e-6 * np.eye(3)[axis]
        slopes = (regulariser.value(w + step) - regulariser.value(w - step)) / 2e-6
        np.testing.assert_allclose(slopes, regulariser.gradient(w)[:, axis], atol=1e-8)
        rows = (regulariser.gradient(w + step) - regulariser.gradient(w - step)) / 2e-6
        np.testing.assert_allclose(rows, np.broadcast_to(regulariser.hessian(w), (7, 3, 3))[:, axis], atol=1e-8)
    assert np.linalg.eigvalsh(regulariser.hessian(w)).min() == regulariser.strong_convexity


def test_a_diagonal_has_a_factor_for_each_coordinate() -> None:
    with pytest.raises(EpsilometerError, match="2 factors for 3 coordinates"):
        DiagonalQuadratic((1.0, 2.0)).gradient(np.zeros((1, 3)))
    with pytest.raises(EpsilometerError, match="must be some"):
        DiagonalQuadratic(())
