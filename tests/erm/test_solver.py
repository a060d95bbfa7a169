"""The solver's minimisers against a gradient that is computed anew, against scipy, and against root finding on the line."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import optimize
from scipy.special import expit

from epsilometer.core import Array, EpsilometerError, stream
from epsilometer.data import SYNTHETIC
from epsilometer.erm import (
    LOGISTIC,
    TOLERANCE,
    DiagonalQuadratic,
    Huber,
    NotConvergedError,
    Objective,
    Quadratic,
    Squared,
    minimise,
    minimise_logistic,
    minimise_roughly,
)
from epsilometer.erm.losses import SmoothLoss

EPS = np.finfo(float).eps


def gradient(signed: Array, lam: float, linear: Array, w: Array) -> Array:
    """The gradient of J at one w, from the formula."""
    return lam * w + linear - expit(-(signed @ w)) @ signed / len(signed)


def rounding(signed: Array, lam: float, linear: Array, w: Array) -> float:
    """How much rounding alone may change that gradient: of its terms, and of the margins through the loss's curvature."""
    s = expit(-(signed @ w))
    margins = np.mean(s * (1 - s) * (np.abs(signed) @ np.abs(w)))
    return float(8 * EPS * (margins + lam * np.abs(w).max() + np.abs(linear).max() + 1))


def assert_stationary(signed: Array, lam: float, linear: Array, solutions: Array) -> None:
    assert solutions.shape == linear.shape
    for c, w in zip(linear, solutions, strict=True):
        assert np.abs(gradient(signed, lam, c, w)).max() <= TOLERANCE + rounding(signed, lam, c, w)


def sphere(n: int, d: int, rng: np.random.Generator) -> Array:
    directions = rng.standard_normal((n, d))
    return directions / np.linalg.norm(directions, axis=1, keepdims=True)


@pytest.mark.parametrize("noise", [0.0, 1e-9, 1e-3, 1.0, 1e3, 1e6])
@pytest.mark.parametrize("lam", [1e-4, 1e-2, 1.0, 100.0])
@pytest.mark.parametrize(("n", "d"), [(1, 1), (7, 3), (300, 10), (4000, 4)])
def test_gradients_vanish(n: int, d: int, lam: float, noise: float) -> None:
    rng = np.random.default_rng([n, d])
    signed = sphere(n, d, rng)
    linear = noise * rng.standard_normal((9, d))
    assert_stationary(signed, lam, linear, minimise_logistic(signed, lam, linear))


@pytest.mark.parametrize("lam", [1e-3, 0.1, 10.0])
@pytest.mark.parametrize("noise", [0.0, 0.01, 1.0, 30.0])
def test_minimisers_are_those_of_scipy(lam: float, noise: float) -> None:
    """Both gradients are below 1e-9, and J is lam-strongly convex: the minimisers differ by at most 2 sqrt(d) 1e-9 / lam."""
    rng = np.random.default_rng(8)
    signed = sphere(60, 3, rng)
    linear = noise * rng.standard_normal((4, 3))
    for c, w in zip(linear, minimise_logistic(signed, lam, linear), strict=True):

        def objective(v: Array, c: Array = c) -> float:
            return float(lam / 2 * v @ v + np.mean(np.logaddexp(0, -(signed @ v))) + c @ v)

        def slope(v: Array, c: Array = c) -> Array:
            return gradient(signed, lam, c, v)

        def hessian(v: Array) -> Array:
            s = expit(-(signed @ v))
            return lam * np.eye(3) + (signed.T * (s * (1 - s))) @ signed / len(signed)

        rough = optimize.minimize(objective, np.zeros(3), jac=slope, hess=hessian, method="trust-exact").x
        reference = optimize.root(slope, rough, jac=hessian, tol=1e-14).x
        assert np.abs(slope(reference)).max() < 1e-9
        assert np.linalg.norm(w - reference) <= 2 * np.sqrt(3) * TOLERANCE / lam
        assert objective(w) <= objective(reference) + 1e-12 * (1 + abs(objective(reference)))


def root_on_the_line(signed: Array, lam: float, c: float) -> float:
    """The zero of the increasing function J', which lies within (1 + |c|)/lam of 0, by bracketing alone."""
    reach = (1 + abs(c)) / lam
    return float(optimize.brentq(lambda w: lam * w + c - np.mean(signed * expit(-signed * w)), -reach, reach, xtol=1e-13))


@pytest.mark.parametrize("lam", [100.0, 1.0, 1e-3, 1e-5, 1e-6, 1e-7], ids=str)
def test_minimisers_on_the_line_are_those_of_bracketing(lam: float) -> None:
    """Linear terms on both sides of the largest pull, 1, beyond which the minimiser saturates every record."""
    for signed in (np.array([1.0]), np.array([1.0, 1.0, 0.3, -0.2, 0.0])):
        for c in (0.0, 0.04, 0.185, 0.25, 0.5, 0.75, 0.999, 1.0, 1.001, -0.3, -3.0, 1e6):
            w = minimise_logistic(signed[:, None], lam, np.array([[c]])).item()
            reference = root_on_the_line(signed, lam, c)
            assert abs(w - reference) <= 2 * TOLERANCE / lam + 1e-12 * abs(reference)


finite = st.floats(-1, 1).filter(lambda value: value == 0 or abs(value) > 1e-9)


@st.composite
def problems(draw: st.DrawFn, exponents: tuple[float, float]) -> tuple[Array, float, Array]:
    """Small problems: few or duplicate or zero rows, one-sided (separable) or not, noise of any size up to 1e6."""
    d = draw(st.integers(1, 3))
    row = st.one_of(st.just([0.0] * d), st.lists(finite, min_size=d, max_size=d))
    rows = draw(st.lists(row, min_size=1, max_size=6))
    repeats = draw(st.lists(st.integers(1, 3), min_size=len(rows), max_size=len(rows)))
    signed = np.repeat(np.array(rows) / np.sqrt(d), repeats, axis=0)
    if draw(st.booleans()):  # the labels follow the first coordinate: separable, if no row is zero
        signed = signed * np.where(signed[:, :1] < 0, -1.0, 1.0)
    lam = 10 ** draw(st.floats(*exponents))
    scale = draw(st.sampled_from([0.0, 1e-6, 1e-3, 0.1, 1.0, 100.0, 1e6]))
    linear = scale * np.array(draw(st.lists(st.lists(finite, min_size=d, max_size=d), min_size=1, max_size=4)))
    return signed, lam, linear


PROPERTY = settings(max_examples=250, deadline=None, derandomize=True, database=None)
SATURATED = (np.array([[1.0]]), 1e-4, np.array([[1e6], [-1e6], [0.5], [0.999]]))


@pytest.mark.slow
@PROPERTY
@given(problem=problems((-4.0, 2.0)))
@example(problem=SATURATED)
def test_any_small_problem_is_solved(problem: tuple[Array, float, Array]) -> None:
    assert_stationary(*problem, minimise_logistic(*problem))


@pytest.mark.slow
@PROPERTY
@given(problem=problems((-7.0, -4.0)))
@example(problem=(np.array([[1.0]]), 1e-7, np.array([[0.06]])))
def test_any_small_problem_with_hardly_any_regularisation_is_solved(problem: tuple[Array, float, Array]) -> None:
    assert_stationary(*problem, minimise_logistic(*problem))


@pytest.mark.parametrize(
    ("lam", "noise"),
    [(1e-7, 0.0), (1e-2, 1e-3), (1e-7, 1e-3), (1e-6, 1e-3)],
)
def test_separable_records(lam: float, noise: float) -> None:
    """Two or more records on one side of a hyperplane, whose unregularised minimiser is infinitely far away."""
    rng = np.random.default_rng(3)
    signed = sphere(200, 10, rng)
    signed *= np.sign(signed[:, :1])
    linear = noise * rng.standard_normal((20, 10))
    assert_stationary(signed, lam, linear, minimise_logistic(signed, lam, linear))


def test_sorted_records() -> None:
    """All labels +1 first, and records sorted by norm: any stretch of the rows misrepresents the others."""
    rng = np.random.default_rng(4)
    features = sphere(6000, 5, rng) * np.sort(rng.random(6000))[:, None]
    labels = np.where(np.arange(6000) < 4500, 1.0, -1.0)
    signed = labels[:, None] * features
    linear = 0.01 * rng.standard_normal((10, 5))
    in_order = minimise_logistic(signed, 0.01, linear)
    shuffled = minimise_logistic(signed[rng.permutation(6000)], 0.01, linear)
    assert_stationary(signed, 0.01, linear, in_order)
    assert np.abs(in_order - shuffled).max() <= 2 * np.sqrt(5) * TOLERANCE / 0.01


@pytest.mark.parametrize("period", [2, 3, 4, 6, 8])
def test_periodic_records(period: int) -> None:
    """Every second to eighth record is of another kind, so that evenly spaced rows may all be of one kind."""
    rng = np.random.default_rng(5)
    signed = sphere(6000, 4, rng)
    signed[::period] *= 1e-3
    signed[1::period] = [0.5, 0.5, 0.5, -0.5]
    linear = 0.05 * rng.standard_normal((10, 4))
    assert_stationary(signed, 1e-3, linear, minimise_logistic(signed, 1e-3, linear))


@pytest.mark.parametrize("lam", [1.0, 0.01, 1e-4])
def test_a_batch_equals_its_fits_one_by_one(lam: float) -> None:
    """Within what the tolerance allows: 1e-8 for lam = 1. Fits of very different sizes share the batch."""
    rng = np.random.default_rng(6)
    signed = sphere(2000, 10, rng)
    linear = sphere(12, 10, rng) * np.logspace(-6, 3, 12)[:, None]
    linear[5] = 0
    batch = minimise_logistic(signed, lam, linear)
    for c, w in zip(linear, batch, strict=True):
        alone = minimise_logistic(signed, lam, c[None])[0]
        assert np.linalg.norm(alone - w) <= 2 * np.sqrt(10) * TOLERANCE / lam + 1e-13 * np.linalg.norm(w)


def test_the_same_call_gives_the_same_bits() -> None:
    rng = np.random.default_rng(7)
    signed, linear = sphere(3000, 6, rng), rng.standard_normal((30, 6))
    assert np.array_equal(minimise_logistic(signed, 0.01, linear), minimise_logistic(signed, 0.01, linear))


def test_arguments_are_left_alone() -> None:
    rng = np.random.default_rng(9)
    signed, linear = sphere(50, 3, rng), rng.standard_normal((5, 3))
    before = signed.copy(), linear.copy()
    minimise_logistic(signed, 0.1, linear)
    assert np.array_equal(signed, before[0])
    assert np.array_equal(linear, before[1])


@pytest.mark.slow
@pytest.mark.parametrize("noise", [0.0, 1.0])
@pytest.mark.parametrize("n", [50, 2000])
def test_an_unreachable_tolerance_is_an_error_that_names_numbers(n: int, noise: float) -> None:
    """In ten dimensions rounding leaves no gradient at exactly zero."""
    rng = np.random.default_rng(10)
    signed = sphere(n, 10, rng)
    with pytest.raises(NotConvergedError) as caught:
        minimise_logistic(signed, 0.1, noise * rng.standard_normal((3, 10)), tolerance=1e-30)
    assert isinstance(caught.value, EpsilometerError)
    for part in ("fits did not converge", "the largest gradient component is ", "the tolerance is 1e-30"):
        assert part in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.slow
def test_noise_beyond_what_doubles_can_resolve_is_an_error() -> None:
    """A gradient that is a difference of numbers near 1e12 cannot be known to 1e-9."""
    signed = sphere(50, 3, np.random.default_rng(11))
    with pytest.raises(NotConvergedError, match=r"^4 of 4 fits did not converge: the largest gradient component is \S+, "):
        minimise_logistic(signed, 0.1, 1e12 * sphere(4, 3, np.random.default_rng(12)))


def risk_gradient(objective: Objective, linear: Array, w: Array) -> Array:
    """The gradient of any objective at one w, row by row, from the formula."""
    counts = np.ones(len(objective.signed)) if objective.weights is None else objective.weights
    pull = sum(
        k * float(objective.loss.slope(np.array([a @ w]))[0]) * a for k, a in zip(counts, objective.signed, strict=True)
    )
    return objective.lam * objective.regulariser.gradient(w[None])[0] + linear + pull / counts.sum()


@pytest.mark.slow
@pytest.mark.parametrize("loss", [LOGISTIC, Huber(0.5), Huber(0.05), Squared(1.0)], ids=repr)
@pytest.mark.parametrize("diagonal", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("n", "lam", "noise"), [(9, 1e-3, 0.1), (9, 1.0, 10.0), (400, 1e-2, 0.03), (3500, 0.1, 0.3)])
def test_gradients_vanish_for_every_loss(
    loss: SmoothLoss, diagonal: bool, weighted: bool, n: int, lam: float, noise: float
) -> None:
    rng = np.random.default_rng(n)
    regulariser = DiagonalQuadratic((0.5, 1.0, 4.0)) if diagonal else Quadratic()
    weights = rng.uniform(0.5, 30.0, n) if weighted else None
    objective = Objective(loss, sphere(n, 3, rng), lam, regulariser, weights)
    linear = noise * rng.standard_normal((6, 3))
    for c, w in zip(linear, minimise(objective, linear), strict=True):
        assert np.abs(risk_gradient(objective, c, w)).max() <= TOLERANCE * 1.01


@pytest.mark.slow
@PROPERTY
@given(
    problem=problems((-3.0, 2.0)),
    width=st.sampled_from([1e-3, 0.1, 0.5, 3.0]),
    seed=st.integers(0, 3),
    diagonal=st.booleans(),
)
def test_the_second_derivatives_jumps_stop_nothing(
    problem: tuple[Array, float, Array], width: float, seed: int, diagonal: bool
) -> None:
    signed, lam, linear = problem
    d = signed.shape[1]
    regulariser = DiagonalQuadratic(tuple(1.0 + np.arange(d))) if diagonal else Quadratic()
    weights = np.random.default_rng(seed).integers(1, 9, len(signed)).astype(float) if seed else None
    objective = Objective(Huber(width), signed, lam, regulariser, weights)
    linear = np.clip(linear, -100, 100)
    for c, w in zip(linear, minimise(objective, linear), strict=True):
        slack = 20 * EPS * (1 + np.abs(w).max()) / width  # of the margins, through the curvature
        assert np.abs(risk_gradient(objective, c, w)).max() <= TOLERANCE + slack


@pytest.mark.parametrize("loss", [LOGISTIC, Huber(0.5), Squared(1.0)], ids=repr)
@pytest.mark.parametrize("rows", [6, 500])
def test_weights_are_repetitions(loss: SmoothLoss, rows: int) -> None:
    rng = np.random.default_rng(20)
    signed, counts, linear = sphere(rows, 2, rng), rng.integers(1, 7, rows), 0.1 * rng.standard_normal((5, 2))
    weighted = minimise(Objective(loss, signed, 0.05, weights=counts.astype(float)), linear)
    repeated = minimise(Objective(loss, np.repeat(signed, counts, axis=0), 0.05), linear)
    assert np.abs(weighted - repeated).max() <= 2 * np.sqrt(2) * TOLERANCE / 0.05


def test_restarts_beyond_one_block_are_all_solved() -> None:
    """More columns than are solved at once, with few rows and with many."""
    rng = np.random.default_rng(21)
    for n, restarts in ((2, 70_000), (300, 600)):
        signed, linear = sphere(n, 1, rng), rng.standard_normal((restarts, 1))
        objective = Objective(LOGISTIC, signed, 0.5)
        assert np.abs(objective.gradient(minimise(objective, linear)) + linear).max() <= TOLERANCE * 1.01


@pytest.mark.parametrize("gradient_norm", [1e-2, 1e-5])
@pytest.mark.parametrize("loss", [LOGISTIC, Huber(0.5)], ids=repr)
def test_rough_minimisers_are_rough_and_no_rougher(loss: SmoothLoss, gradient_norm: float) -> None:
    """They stop at the first small gradient: most gradient norms are within a factor of five of the limit."""
    rng = np.random.default_rng(22)
    objective = Objective(loss, sphere(30, 2, rng), 0.02, DiagonalQuadratic((1.0, 3.0)), rng.uniform(1, 4, 30))
    linear = rng.standard_normal((500, 2))
    rough = minimise_roughly(objective, linear, gradient_norm)
    norms = [np.linalg.norm(risk_gradient(objective, c, w)) for c, w in zip(linear, rough, strict=True)]
    assert max(norms) <= gradient_norm * (1 + 1e-9)
    assert np.median(norms) > gradient_norm / 5
    distance = np.linalg.norm(rough - minimise(objective, linear), axis=1)
    assert distance.max() <= gradient_norm / 0.02 + 1e-6


def test_an_unreachable_gradient_norm_is_an_error() -> None:
    objective = Objective(LOGISTIC, sphere(5, 2, np.random.default_rng(23)), 0.1)
    with pytest.raises(NotConvergedError, match="1 of 1 fits did not reach a gradient of norm -1e-30"):
        minimise_roughly(objective, np.array([[0.3, -0.4]]), -1e-30)


def test_many_rows_without_noise_are_finished_where_the_curvature_jumps() -> None:
    """Newton's method alone does not converge here: the Huber loss is piecewise quadratic, and lambda is tiny."""
    data = SYNTHETIC["unseparable"](2_000, stream(0, "huber"))
    objective = Objective.of(Huber(0.5), data, 1e-6)
    w = minimise(objective, np.zeros((1, data.features.shape[1])))
    assert np.abs(objective.gradient(w)).max() <= TOLERANCE
