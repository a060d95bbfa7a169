"""The shadow fits against scipy, scikit-learn, root finding on the line, and a gradient that is computed anew."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import optimize
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from epsilometer.core import Array, EpsilometerError
from epsilometer.erm import (
    LOGISTIC,
    QUADRATIC,
    TOLERANCE,
    DiagonalQuadratic,
    Huber,
    NotConvergedError,
    Objective,
    Quadratic,
    Regulariser,
    Squared,
    minimise,
    shadows,
)
from epsilometer.erm.losses import SmoothLoss
from epsilometer.erm.shadows import minimise_shadows

EPS = np.finfo(float).eps


def sphere(n: int, d: int, rng: np.random.Generator) -> Array:
    directions = rng.standard_normal((n, d))
    return directions / np.linalg.norm(directions, axis=1, keepdims=True)


def halves(fits: int, pool: int, rng: np.random.Generator) -> NDArray[np.bool_]:
    return np.asarray(rng.random((fits, pool)).argsort(axis=1) < pool // 2)


def assert_stationary(
    loss: SmoothLoss,
    signed: Array,
    counts: NDArray[Any],
    lam: float | Array,
    linear: Array,
    solutions: Array,
    regulariser: Regulariser = QUADRATIC,
) -> None:
    """The gradient of each fit, from the formula and its own records alone, up to what rounding may change it by."""
    assert solutions.shape == linear.shape
    lams = np.broadcast_to(lam, (len(counts),))
    for k, own_lam, c, w in zip(counts.astype(float), lams, linear, solutions, strict=True):
        held = signed[k > 0]
        pull = (k[k > 0] * loss.slope(held @ w)) @ held / k.sum()
        gradient = own_lam * regulariser.gradient(w[None])[0] + c + pull
        rounding = 20 * EPS * (1 + np.abs(c).max() + (own_lam + loss.curvature_bound) * np.abs(w).max())
        assert np.abs(gradient).max() <= TOLERANCE + rounding


def logistic_reference(records: Array, lam: float, c: Array) -> Array:
    """The minimiser for records that each count once, by scipy: a trust region, then root finding."""
    d = records.shape[1]

    def objective(v: Array) -> float:
        return float(lam / 2 * v @ v + np.mean(np.logaddexp(0, -(records @ v))) + c @ v)

    def slope(v: Array) -> Array:
        return lam * v + c - expit(-(records @ v)) @ records / len(records)

    def hessian(v: Array) -> Array:
        s = expit(-(records @ v))
        return lam * np.eye(d) + (records.T * (s * (1 - s))) @ records / len(records)

    rough = optimize.minimize(objective, np.zeros(d), jac=slope, hess=hessian, method="trust-exact").x
    return np.asarray(optimize.root(slope, rough, jac=hessian, tol=1e-14).x)


@pytest.mark.parametrize("noise", [0.0, 0.01, 1.0, 30.0])
@pytest.mark.parametrize(("pool", "d", "lam"), [(6, 1, 0.1), (40, 3, 0.03), (1500, 10, 0.03)])
def test_minimisers_are_those_of_scipy(pool: int, d: int, lam: float, noise: float) -> None:
    """To 1e-7: a gradient of 1e-9 in each component leaves at most sqrt(10) 1e-9 / 0.03."""
    rng = np.random.default_rng([pool, d])
    signed, counts = sphere(pool, d, rng), rng.integers(0, 4, (7, pool))
    counts[0], counts[1] = np.eye(pool)[0], 1  # one record, and all
    counts[:, -1] += 1
    linear = noise * rng.standard_normal((7, d))
    solutions = minimise_shadows(LOGISTIC, signed, counts, lam, linear)
    for k, c, w in zip(counts, linear, solutions, strict=True):
        assert np.abs(w - logistic_reference(np.repeat(signed, k, axis=0), lam, c)).max() <= 1e-7


def test_minimisers_are_those_of_scikit_learn() -> None:
    rng = np.random.default_rng(1)
    features, labels, counts = sphere(600, 5, rng), rng.choice([-1.0, 1.0], 600), rng.integers(0, 3, (6, 600))
    solutions = minimise_shadows(LOGISTIC, labels[:, None] * features, counts.astype(np.uint8), 0.01)
    for k, w in zip(counts, solutions, strict=True):
        rival = LogisticRegression(C=1 / (k.sum() * 0.01), fit_intercept=False, tol=1e-13, solver="newton-cholesky")
        assert np.abs(w - rival.fit(features, labels, sample_weight=k).coef_[0]).max() <= 1e-7


def root_on_the_line(records: Array, lam: float, c: float) -> float:
    """The zero of the increasing function J', which lies within (1 + |c|)/lam of 0, by bracketing alone."""
    reach = (1 + abs(c)) / lam
    return float(optimize.brentq(lambda w: lam * w + c - np.mean(records * expit(-records * w)), -reach, reach, xtol=1e-13))


@pytest.mark.parametrize("lam", [100.0, 0.1, 1e-3, 1e-6], ids=str)
def test_minimisers_on_the_line_are_those_of_bracketing(lam: float) -> None:
    """Linear terms on both sides of the largest pull, 1, beyond which the minimiser saturates every record."""
    rows = np.array([1.0, 1.0, 0.3, -0.2, 0.0, -1.0])
    counts = np.array([[1, 1, 1, 1, 1, 1], [1, 0, 0, 0, 0, 0], [0, 0, 0, 0, 1, 0], [0, 3, 0, 0, 0, 1], [5, 0, 9, 0, 1, 0]])
    for c in (0.0, 0.25, 0.999, 1.001, -0.3, -3.0, 1e4):
        solutions = minimise_shadows(LOGISTIC, rows[:, None], counts, lam, np.full((5, 1), c))
        for k, w in zip(counts, solutions[:, 0], strict=True):
            root = root_on_the_line(np.repeat(rows, k), lam, c)
            assert abs(w - root) <= 2 * TOLERANCE / lam + 1e-12 * abs(root)


@pytest.mark.slow
@pytest.mark.parametrize("lam", [1e-2, 1e-4, 1e-7])
@pytest.mark.parametrize("noise", [0.0, 1e-3, 0.1, 1e3])
def test_separable_records(lam: float, noise: float) -> None:
    """The unregularised minimiser of every fit is infinitely far away; some fits have one record, some all."""
    rng = np.random.default_rng(3)
    signed = sphere(700, 6, rng)
    signed *= np.sign(signed[:, :1])
    counts = rng.random((40, 700)) < np.geomspace(1e-3, 1, 40)[:, None]
    counts[:, 0] = True
    linear = noise * rng.standard_normal((40, 6))
    assert_stationary(LOGISTIC, signed, counts, lam, linear, minimise_shadows(LOGISTIC, signed, counts, lam, linear))


@pytest.mark.parametrize("loss", [LOGISTIC, Huber(0.5), Huber(0.05), Squared(1.0)], ids=repr)
@pytest.mark.parametrize("regulariser", [Quadratic(), DiagonalQuadratic((0.5, 1.0, 4.0))], ids=["plain", "diagonal"])
@pytest.mark.parametrize(("pool", "lam", "noise"), [(9, 1e-3, 0.1), (9, 1.0, 10.0), (600, 1e-2, 0.03), (600, 1e-5, 0.01)])
def test_gradients_vanish_for_every_loss(
    loss: SmoothLoss, regulariser: Regulariser, pool: int, lam: float, noise: float
) -> None:
    """Each fit with a lam of its own, as the extra regularisation of CMS11 asks for where n differs."""
    rng = np.random.default_rng(pool)
    signed, counts = sphere(pool, 3, rng), rng.uniform(0, 3, (20, pool)) * (rng.random((20, pool)) < 0.5)
    counts[:, 0] += 1
    lams, linear = lam * rng.uniform(0.5, 5.0, 20), noise * rng.standard_normal((20, 3))
    solutions = minimise_shadows(loss, signed, counts, lams, linear, regulariser)
    assert_stationary(loss, signed, counts, lams, linear, solutions, regulariser)


def hard_fits() -> tuple[Array, NDArray[np.int64], Array, Array]:
    """Very weak regularisation, with which steps damped by the gradient norm alone stall for the Huber loss."""
    rng = np.random.default_rng(4)
    signed = sphere(400, 6, rng)
    signed *= np.sign(signed[:, :1]) * np.where(rng.random((400, 1)) < 0.1, -1.0, 1.0)
    return signed, rng.integers(0, 3, (30, 400)), 1e-6 * rng.uniform(1, 2, 30), 0.03 * rng.standard_normal((30, 6))


@pytest.mark.parametrize("loss", [LOGISTIC, Huber(0.5), Huber(0.05)], ids=repr)
def test_hard_fits_are_solved_as_a_batch(loss: SmoothLoss, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the fallback to the solver for single fits."""
    monkeypatch.delattr(shadows, "minimise")
    signed, counts, lams, linear = hard_fits()
    solutions = minimise_shadows(loss, signed, counts, lams, linear)
    assert_stationary(loss, signed, counts, lams, linear, solutions)


def test_what_the_batch_leaves_is_solved_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the stage for hard fits, that is most of them."""
    monkeypatch.setattr(shadows, "DOWNHILL_STEPS", 0)
    signed, counts, lams, linear = hard_fits()
    solutions = minimise_shadows(LOGISTIC, signed, counts, lams, linear)
    assert_stationary(LOGISTIC, signed, counts, lams, linear, solutions)


@pytest.mark.parametrize("loss", [LOGISTIC, Huber(0.5)], ids=repr)
def test_each_fit_is_that_of_the_solver_for_one(loss: SmoothLoss) -> None:
    rng = np.random.default_rng(5)
    signed, linear, lams = sphere(500, 4, rng), 0.02 * rng.standard_normal((8, 4)), np.geomspace(0.01, 1, 8)
    counts = halves(8, 500, rng)
    solutions = minimise_shadows(loss, signed, counts, lams, linear)
    for k, lam, c, w in zip(counts, lams, linear, solutions, strict=True):
        alone = minimise(Objective(loss, signed[k], float(lam)), c)[0]
        assert np.linalg.norm(w - alone) <= 2 * np.sqrt(4) * TOLERANCE / lam


@pytest.mark.parametrize("noise", [0.0, 0.01])
def test_chunks_do_not_matter(noise: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither how many fits and rows are taken at once, nor which other fits share the call."""
    rng = np.random.default_rng(6)
    signed, counts, linear = sphere(900, 10, rng), halves(300, 900, rng), noise * rng.standard_normal((300, 10))
    usual = minimise_shadows(LOGISTIC, signed, counts, 0.01, linear)
    backwards = minimise_shadows(LOGISTIC, signed, counts[::-1], 0.01, linear[::-1])[::-1]
    few = minimise_shadows(LOGISTIC, signed, counts[:3], 0.01, linear[:3])
    monkeypatch.setattr(shadows, "FITS_AT_ONCE", 7)
    monkeypatch.setattr(shadows, "ROWS_AT_ONCE", 100)
    small = minimise_shadows(LOGISTIC, signed, counts, 0.01, linear)
    assert np.abs(usual - backwards).max() <= 1e-10
    assert np.abs(usual[:3] - few).max() <= 1e-10
    assert np.abs(usual - small).max() <= 1e-10


def test_the_type_of_the_counts_does_not_matter() -> None:
    rng = np.random.default_rng(7)
    signed, mask = sphere(50, 3, rng), halves(5, 50, rng)
    usual = minimise_shadows(LOGISTIC, signed, mask, 0.1)
    for kind in (np.uint8, np.int8, np.int64, np.float32, np.float64):
        assert np.array_equal(minimise_shadows(LOGISTIC, signed, mask.astype(kind), 0.1), usual)


@pytest.mark.slow
def test_a_mask_is_not_blown_up() -> None:
    """The 12 MB of this mask would be 96 MB in double precision; what is allocated beside it is less than half of that."""
    rng = np.random.default_rng(8)
    signed, mask = sphere(4000, 2, rng), rng.random((3000, 4000), dtype=np.float32) < 0.5
    tracemalloc.start()
    minimise_shadows(LOGISTIC, signed, mask, 0.1)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 40e6


def test_the_same_call_gives_the_same_bits_and_leaves_its_arguments_alone() -> None:
    rng = np.random.default_rng(9)
    signed, counts, linear = sphere(300, 4, rng), rng.integers(0, 3, (20, 300)), rng.standard_normal((20, 4))
    before = signed.copy(), counts.copy(), linear.copy()
    first = minimise_shadows(LOGISTIC, signed, counts, 0.01, linear)
    assert np.array_equal(minimise_shadows(LOGISTIC, signed, counts, 0.01, linear), first)
    for argument, copy in zip((signed, counts, linear), before, strict=True):
        assert np.array_equal(argument, copy)


@pytest.mark.slow
def test_an_unreachable_tolerance_is_an_error() -> None:
    """In ten dimensions rounding leaves no gradient at exactly zero."""
    rng = np.random.default_rng(10)
    with pytest.raises(NotConvergedError, match=r"did not converge: the largest gradient component is .* is 1e-30"):
        minimise_shadows(LOGISTIC, sphere(60, 10, rng), halves(2, 60, rng), 0.1, tolerance=1e-30)


ONES = np.ones((2, 3), dtype=bool)


@pytest.mark.parametrize(
    ("counts", "lam", "linear", "message"),
    [
        (np.array([[1, 0, 0], [0, 0, 0]]), 0.1, None, "the counts of fit 2 sum to 0; every fit needs a record"),
        (np.array([[1.0, np.inf, 0.0]]), 0.1, None, "the counts of fit 1 sum to inf"),
        (np.array([[1, -2, 4]]), 0.1, None, "the smallest count is -2; a count must be 0 or above"),
        (np.array([[1.0, np.nan, 4.0]]), 0.1, None, "the smallest count is nan"),
        (np.array([["a", "b", "c"]]), 0.1, None, "the counts are of type <U1"),
        (np.ones((2, 4)), 0.1, None, r"the counts have shape \(2, 4\) for rows of shape \(3, 2\)"),
        (np.ones(3), 0.1, None, r"the counts have shape \(3,\)"),
        (np.ones((0, 3)), 0.1, None, r"the counts have shape \(0, 3\) .* one or more fits"),
        (ONES, 0.0, None, "lam is 0; it must be a number above 0"),
        (ONES, np.array([0.1, -1.0]), None, "lam is -1; it must be a number above 0"),
        (ONES, np.array([0.1, np.inf]), None, "lam is inf"),
        (ONES, float("nan"), None, "lam is nan"),
        (ONES, np.ones(3), None, r"lam has shape \(3,\); it must be one number, or one for each of the 2 fits"),
        (ONES, 0.1, np.zeros((3, 2)), r"the linear terms have shape \(3, 2\); they must have shape \(2, 2\)"),
        (ONES, 0.1, np.array([[0.0, 1.0], [np.nan, 0.0]]), "a linear term is nan; each must be finite"),
    ],
)
def test_what_cannot_be_fitted_is_an_error(
    counts: NDArray[Any], lam: float | Array, linear: Array | None, message: str
) -> None:
    with pytest.raises(EpsilometerError, match=message):
        minimise_shadows(LOGISTIC, np.eye(3)[:, :2], counts, lam, linear)
