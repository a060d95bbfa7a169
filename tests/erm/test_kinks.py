"""The hinge's and the distance's minimisers against scipy, against closed forms, and against every step away from them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize

from epsilometer.core import Array, EpsilometerError, LabelledData
from epsilometer.erm import (
    LOGISTIC,
    DiagonalQuadratic,
    Distance,
    Hinge,
    NotConvergedError,
    Quadratic,
    Regulariser,
    kinks,
    minimiser,
)
from epsilometer.erm.kinks import minimise_distance, minimise_hinge

PROPERTY = settings(max_examples=150, deadline=None, derandomize=True, database=None)


def ball(n: int, d: int, seed: int) -> Array:
    rng = np.random.default_rng(seed)
    rows = rng.standard_normal((n, d))
    return rng.random((n, 1)) * rows / np.linalg.norm(rows, axis=1, keepdims=True)


def regulariser_for(d: int, diagonal: bool) -> Regulariser:
    return DiagonalQuadratic(tuple(1.0 + 2 * np.arange(d))) if diagonal else Quadratic()


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("lam", [0.01, 0.3])
@pytest.mark.parametrize("diagonal", [False, True])
def test_the_hinges_minimiser_is_that_of_its_dual(seed: int, lam: float, diagonal: bool) -> None:
    """max sum alpha - |A^T alpha|^2/(2 lam k) over 0 <= alpha <= 1/n, by scipy; w = A^T alpha/(lam k)."""
    signed, d = ball(12, 3, seed), 3
    regulariser = regulariser_for(d, diagonal)
    scale = lam * np.diag(regulariser.hessian(np.zeros((1, d))))

    def dual(alpha: Array) -> tuple[float, Array]:
        pull = alpha @ signed
        return float(pull @ (pull / scale) / 2 - alpha.sum()), signed @ (pull / scale) - 1

    found = optimize.minimize(
        dual,
        np.full(12, 1 / 24),
        jac=True,
        bounds=[(0, 1 / 12)] * 12,
        options={"ftol": 1e-15, "gtol": 1e-12, "maxiter": 5000},
    )
    w = minimise_hinge(signed, lam, regulariser)
    primal = lam * regulariser.value(w[None])[0] + np.mean(np.maximum(0, 1 - signed @ w))
    assert primal == pytest.approx(-found.fun, abs=1e-9)  # strong duality
    np.testing.assert_allclose(w, found.x @ signed / scale, atol=1e-4)


def test_the_hinge_on_the_line() -> None:
    """n lam w = 1 below the kink; at the kink, where the record's pull stops being needed, w = 1."""
    zeros = [[0.0]] * 3
    assert minimise_hinge(np.array([*zeros, [1.0]]), 0.5) == pytest.approx(0.5, abs=1e-12)
    assert minimise_hinge(np.array([*zeros, [-1.0]]), 0.5) == pytest.approx(-0.5, abs=1e-12)
    assert minimise_hinge(np.array([*zeros, [1.0]]), 0.1) == pytest.approx(1.0, abs=1e-12)


entries = st.sampled_from([-1.0, -0.5, -0.1, 0.0, 0.1, 0.5, 1.0])


@st.composite
def tables(draw: st.DrawFn) -> Array:
    """A few rows from few values, so that they coincide, oppose each other and lie on one line."""
    d = draw(st.integers(1, 3))
    rows = draw(st.lists(st.lists(entries, min_size=d, max_size=d), min_size=1, max_size=8))
    return np.array(rows) / np.sqrt(d)


def assert_no_step_improves(objective: object, w: Array) -> None:
    rng = np.random.default_rng(0)
    steps = np.concatenate([scale * rng.standard_normal((60, len(w))) for scale in (1e-5, 1e-2, 1.0)])
    values = [objective(w + step) for step in steps]  # type: ignore[operator]
    assert objective(w) <= min(values) + 1e-14  # type: ignore[operator]


@pytest.mark.slow
@PROPERTY
@given(signed=tables(), exponent=st.floats(-3, 1), seed=st.integers(0, 5), diagonal=st.booleans())
def test_no_step_improves_the_hinges_minimiser(signed: Array, exponent: float, seed: int, diagonal: bool) -> None:
    lam, regulariser = 10**exponent, regulariser_for(signed.shape[1], diagonal)
    weights = np.random.default_rng(seed).integers(1, 5, len(signed)).astype(float) if seed else None
    shares = np.ones(len(signed)) if weights is None else weights
    w = minimise_hinge(signed, lam, regulariser, weights)
    assert_no_step_improves(
        lambda v: lam * regulariser.value(v[None])[0] + shares @ np.maximum(0, 1 - signed @ v) / shares.sum(), w
    )


@pytest.mark.slow
@PROPERTY
@given(points=tables(), exponent=st.floats(-3, 1), diagonal=st.booleans())
def test_no_step_improves_the_median(points: Array, exponent: float, diagonal: bool) -> None:
    lam, regulariser = 10**exponent, regulariser_for(points.shape[1], diagonal)
    w = minimise_distance(points, lam, regulariser)
    assert_no_step_improves(lambda v: lam * regulariser.value(v[None])[0] + np.mean(np.linalg.norm(v - points, axis=1)), w)


def test_the_weighted_hinge_is_that_of_repeated_records() -> None:
    signed, weights = ball(5, 2, 7), np.array([1.0, 2.0, 5.0, 1.0, 3.0])
    repeated = minimise_hinge(np.repeat(signed, weights.astype(int), axis=0), 0.1)
    np.testing.assert_allclose(minimise_hinge(signed, 0.1, weights=weights), repeated, atol=1e-9)


def test_medians_in_closed_form() -> None:
    """A point with more than its share, the middle of an equilateral triangle, and the balance with the regulariser."""
    heavy = np.array([[0.3, 0.4]] * 5 + [[-1.0, 0.0], [0.0, -1.0]])
    assert minimise_distance(heavy, 1e-3).tolist() == [0.3, 0.4]
    angles = 2 * np.pi * np.arange(3) / 3
    triangle = np.column_stack([np.cos(angles), np.sin(angles)])
    assert minimise_distance(triangle, 1e-6) == pytest.approx(0, abs=1e-9)
    assert minimise_distance(np.array([[-1.0]] * 3 + [[1.0]] * 4), 0.5) == pytest.approx(1 / 3.5, abs=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_the_median_is_that_of_scipy(seed: int) -> None:
    points = ball(15, 2, seed)

    def risk(v: Array) -> float:
        return float(0.05 * v @ v + np.mean(np.linalg.norm(v - points, axis=1)))

    found = optimize.minimize(
        risk,
        points.mean(axis=0),
        method="Nelder-Mead",
        options={"xatol": 1e-9, "fatol": 1e-15},
    )
    np.testing.assert_allclose(minimise_distance(points, 0.1), found.x, atol=1e-6)


def test_the_door_takes_what_the_loss_is_made_for() -> None:
    data = LabelledData(ball(4, 2, 1), np.array([1.0, -1.0, 1.0, 1.0]))
    np.testing.assert_array_equal(minimiser(Hinge(), data, 0.1), minimise_hinge(data.signed, 0.1))
    np.testing.assert_array_equal(minimiser(Distance(), data.features, 0.1), minimise_distance(data.features, 0.1))
    with pytest.raises(EpsilometerError, match="takes points"):
        minimiser(Distance(), data, 0.1)
    for loss in (Hinge(), LOGISTIC):
        with pytest.raises(EpsilometerError, match="needs labelled data"):
            minimiser(loss, data.features, 0.1)
    for points, complaint in (
        (np.zeros((0, 2)), r"shape \(0, 2\)"),
        (np.zeros(3), r"shape \(3,\)"),
        (np.array([[np.nan]]), "nan"),
        (np.array([["a"]]), "table of numbers"),
    ):
        with pytest.raises(EpsilometerError, match=complaint):
            minimiser(Distance(), points, 0.1)


def test_what_is_not_optimal_is_not_returned(monkeypatch: pytest.MonkeyPatch) -> None:
    """A wrong candidate is noticed: here, one that is pushed off the minimiser."""
    monkeypatch.setattr(kinks, "_minimise_with_unit_margins", lambda *_: np.array([0.123]))
    with pytest.raises(NotConvergedError, match="hinge loss's fit did not converge: the largest gradient component is "):
        minimise_hinge(np.array([[1.0], [0.0]]), 0.5)
    monkeypatch.setattr(kinks, "TOLERANCE", -1.0)
    with pytest.raises(NotConvergedError, match="geometric median did not converge"):
        minimise_distance(ball(5, 2, 2), 0.1)
