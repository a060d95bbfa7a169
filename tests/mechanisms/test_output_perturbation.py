"""Algorithm 1 adds noise of rate n lam epsilon / 2 to the minimiser.

Each Kolmogorov-Smirnov test would fail with probability 1e-6 for another seed.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from scipy import integrate, optimize, stats
from scipy.special import expit

from epsilometer.core import Array, EpsilometerError, Guarantee, LabelledData
from epsilometer.erm import (
    LOGISTIC,
    DiagonalQuadratic,
    Distance,
    Hinge,
    Huber,
    Loss,
    Quadratic,
    Regulariser,
    Squared,
    minimiser,
)
from epsilometer.mechanisms.catalogue import find
from epsilometer.mechanisms.controls import NonPrivateLogistic
from epsilometer.mechanisms.output_perturbation import OutputPerturbation
from tests.mechanisms import agreement
from tests.mechanisms.reference import ball, labelled


@pytest.mark.parametrize(("n", "lam", "epsilon"), [(40, 0.1, 0.5), (40, 0.001, 0.5), (7, 0.1, 0.5), (40, 0.1, 20.0)])
def test_the_noise_has_the_papers_scale(n: int, lam: float, epsilon: float) -> None:
    data = labelled(ball(n, 3, np.random.default_rng(0)))
    samples = OutputPerturbation(epsilon, lam).sample(data, 5000, np.random.default_rng(1))
    assert samples.shape == (5000, 3)
    noise = samples - NonPrivateLogistic(lam).sample(data, 1, np.random.default_rng(2))
    scale = 2 / (n * lam * epsilon)
    assert stats.kstest(np.linalg.norm(noise, axis=1), stats.gamma(3, scale=scale).cdf).pvalue > 1e-6
    for coordinate in (noise / np.linalg.norm(noise, axis=1, keepdims=True)).T:
        assert stats.kstest(coordinate, stats.uniform(-1, 2).cdf).pvalue > 1e-6  # uniform, for a direction in R^3


def test_the_rate_pays_for_the_sensitivity() -> None:
    """On the line the log density ratio of neighbours is rate |w - w'|, at most epsilon; root finding gives w."""

    def minimiser(signed: Array, lam: float) -> float:
        def slope(w: float) -> float:
            return float(lam * w - np.mean(signed * expit(-signed * w)))

        return float(optimize.brentq(slope, -1 / lam, 1 / lam, xtol=1e-14))

    epsilon, rng = 0.7, np.random.default_rng(3)
    worst = 0.0
    for lam in (1e-3, 0.1, 10.0):
        for shared in (np.zeros(0), np.zeros(5), np.ones(5), rng.uniform(-1, 1, 5)):
            n = len(shared) + 1
            distance = abs(minimiser(np.append(shared, 1.0), lam) - minimiser(np.append(shared, -1.0), lam))
            worst = max(worst, n * lam * epsilon / 2 * distance)
    assert 0.4 * epsilon < worst <= epsilon


def test_the_promise() -> None:
    assert OutputPerturbation(0.3, 0.01).guarantee == Guarantee(0.3, "replace-one")


def test_samples_depend_on_the_generator_alone() -> None:
    data, mechanism = labelled(ball(20, 2, np.random.default_rng(0))), OutputPerturbation(1.0, 0.1)
    one, same, other = (mechanism.sample(data, 3, np.random.default_rng(seed)) for seed in (1, 1, 2))
    assert np.array_equal(one, same)
    assert not np.any(one == other)
    assert len(np.unique(one, axis=0)) == 3


def fit(loss: str, signed: Array, lam: float) -> Array:
    """The minimiser of lam/2 |w|^2 and the mean loss, by scipy from the loss's formula."""
    values: dict[str, Callable[[Array], Array]] = {
        "logistic": lambda z: np.logaddexp(0, -z),
        "huber": lambda z: np.where(z > 1.5, 0, np.where(z < 0.5, 1 - z, (1.5 - z) ** 2 / 2)),
        "squared": lambda z: (1 - z) ** 2,
        "hinge": lambda z: np.maximum(0, 1 - z),
    }

    def risk(w: Array) -> float:
        return float(lam / 2 * w @ w) + float(np.mean(values[loss](signed @ w)))

    start = np.zeros(signed.shape[1])
    for _ in range(4):  # a simplex that is set up anew does not get stuck at a kink
        start = optimize.minimize(
            risk, start, method="Nelder-Mead", options={"xatol": 1e-11, "fatol": 1e-16, "maxiter": 4000}
        ).x
    return np.asarray(start)


LOSSES: dict[str, tuple[Loss, float]] = {  # with their Lipschitz constants
    "logistic": (LOGISTIC, 1.0),
    "huber": (Huber(0.5), 1.0),
    "hinge": (Hinge(), 1.0),
    "squared": (Squared(math.sqrt(2 / 0.4)), 2 * (1 + math.sqrt(2 / 0.4))),
}


@pytest.mark.parametrize("d", [1, 2])
@pytest.mark.parametrize("name", LOSSES)
def test_the_density_is_that_of_noise_around_the_minimiser(name: str, d: int) -> None:
    """Around scipy's minimiser: a Laplace density on the line, rate^2/(2 pi) exp(-rate |b|) in the plane."""
    loss, lipschitz = LOSSES[name]
    n, lam, epsilon = 9, 0.4, 0.7
    signed = ball(n, d, np.random.default_rng(4))
    outputs = 3 * np.random.default_rng(5).standard_normal((50, d))
    distance = np.linalg.norm(outputs - fit(name, signed, lam), axis=1)
    rate = epsilon * n * lam / (2 * lipschitz)
    expected = (np.log(rate / 2) if d == 1 else np.log(rate**2 / (2 * np.pi))) - rate * distance
    found = OutputPerturbation(epsilon, lam, loss).log_density(labelled(signed), outputs)
    np.testing.assert_allclose(found, expected, atol=1e-5)


@pytest.mark.parametrize("delta", [0.0, 1e-5])
@pytest.mark.parametrize("name", LOSSES)
def test_samples_have_the_stated_density(name: str, delta: float) -> None:
    mechanism = OutputPerturbation(0.7, 0.4, LOSSES[name][0], delta=delta)
    for d in (1, 2):
        data, rng = labelled(ball(9, d, np.random.default_rng(6))), np.random.default_rng(7)
        if d == 1:
            p_value, mass = agreement.continuous_1d(mechanism, data, rng, 0.0, 1.0, size=5000)
        else:
            p_value, mass = agreement.continuous_2d(mechanism, data, rng, size=5000)
        assert mass == pytest.approx(1, abs=1e-3)
        assert p_value > agreement.FALSE_FAILURE


def test_samples_of_a_geometric_median() -> None:
    points = ball(9, 2, np.random.default_rng(8))
    mechanism = OutputPerturbation(2.0, 0.3, Distance())
    p_value, mass = agreement.continuous_2d(mechanism, points, np.random.default_rng(9), size=5000)
    assert mass == pytest.approx(1, abs=1e-3)
    assert p_value > agreement.FALSE_FAILURE


LINE = np.linspace(-12, 12, 4801)[:, None]


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
@pytest.mark.parametrize("name", ["huber", "hinge", "geometric_median"])
def test_some_pairs_spend_all_of_epsilon(name: str, epsilon: float) -> None:
    entry = find(f"output_perturbation_{name}")
    ((pair,), mechanism) = entry.pairs(), entry.build(epsilon)
    assert isinstance(mechanism, OutputPerturbation)
    ratio = np.abs(mechanism.log_density(pair.first, LINE) - mechanism.log_density(pair.second, LINE))
    assert entry.true_epsilon is not None
    assert ratio.max() == pytest.approx(epsilon, rel=1e-9) == entry.true_epsilon(epsilon)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
def test_logistic_regression_spends_nearly_all_of_it_in_the_plane_and_half_on_the_line(epsilon: float) -> None:
    entry = find("output_perturbation")
    plane, line = entry.pairs()
    mechanism = entry.build(epsilon)
    assert isinstance(mechanism, OutputPerturbation)
    x, y = np.meshgrid(np.linspace(40, 70, 61), np.linspace(-15, 15, 301))
    for pair, outputs, low, high in (
        (plane, np.column_stack([x.ravel(), y.ravel()]), 0.97, 1.0),
        (line, LINE, 0.49, 0.5),
    ):
        ratio = np.abs(mechanism.log_density(pair.first, outputs) - mechanism.log_density(pair.second, outputs))
        assert low * epsilon < ratio.max() <= high * epsilon


@pytest.mark.parametrize("regulariser", [Quadratic(), DiagonalQuadratic((2.0, 0.7))], ids=repr)
@pytest.mark.parametrize("name", LOSSES)
def test_the_sensitivity_is_never_passed(name: str, regulariser: Regulariser) -> None:
    """Minimisers of neighbours, for worst-case and random records, are at most 2L/(n lam mu) apart."""
    loss, lipschitz = LOSSES[name]
    lam, rng = 0.4 / regulariser.strong_convexity, np.random.default_rng(10)
    changed = [np.array([[1.0, 0.0]]), np.array([[-1.0, 0.0]]), np.array([[0.0, 0.0]]), np.array([[0.6, 0.8]])]
    for shared in (np.zeros((3, 2)), ball(3, 2, rng), np.tile([[0.0, 1.0]], (3, 1))):
        fits = [minimiser(loss, labelled(np.vstack([shared, last])), lam, regulariser) for last in changed]
        farthest = max(np.linalg.norm(one - other) for one in fits for other in fits)
        assert farthest <= 2 * lipschitz / (4 * 0.4) * (1 + 1e-9)


def test_the_gaussian_form_has_the_classical_scale() -> None:
    data = labelled(ball(9, 2, np.random.default_rng(11)))
    mechanism = OutputPerturbation(0.5, 0.2, delta=1e-6)
    assert mechanism.guarantee == Guarantee(0.5, "replace-one", 1e-6)
    centre = minimiser(LOGISTIC, data, 0.2)
    sigma = 2 / (9 * 0.2) * math.sqrt(2 * math.log(1.25e6)) / 0.5
    outputs = np.random.default_rng(12).standard_normal((20, 2))
    expected = stats.multivariate_normal(centre, sigma**2).logpdf(outputs)
    np.testing.assert_allclose(mechanism.log_density(data, outputs), expected, rtol=1e-9)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 2.0])
def test_the_gaussian_form_keeps_its_promise_on_the_line(epsilon: float) -> None:
    """delta(epsilon) = the integral of (p - e^epsilon q)+ is below delta; at a quarter of epsilon it is not."""
    entry = find("output_perturbation_gaussian")
    ((pair,), mechanism) = entry.pairs(), entry.build(epsilon)
    assert isinstance(mechanism, OutputPerturbation)
    x = np.linspace(-30, 30, 200_001) / epsilon
    p, q = (np.exp(mechanism.log_density(data, x[:, None])) for data in (pair.first, pair.second))
    assert integrate.trapezoid(np.maximum(p - np.exp(epsilon) * q, 0), x) <= 1e-5
    assert integrate.trapezoid(np.maximum(p - np.exp(epsilon / 4) * q, 0), x) > 1e-5


def test_gaussian_noise_that_is_too_small_is_refused() -> None:
    """The classical scale suffices up to epsilon = 1, and for this delta beyond 2, but not for every epsilon."""
    for epsilon in (1.0, 2.0):
        OutputPerturbation(epsilon, 0.1, delta=1e-5)
    with pytest.raises(EpsilometerError, match="epsilon is 50; with delta = 1e-05 the classical Gaussian noise is too"):
        OutputPerturbation(50.0, 0.1, delta=1e-5)


@pytest.mark.parametrize("delta", [0.0, 1e-4])
def test_a_sum_of_losses_is_n_times_a_mean(delta: float) -> None:
    """The sensitivity of its minimiser is 2L/lam, whatever n is."""
    data = labelled(ball(9, 2, np.random.default_rng(13)))
    outputs = np.random.default_rng(14).standard_normal((20, 2))
    summed = OutputPerturbation(0.5, 9 * 0.2, delta=delta, summed=True)
    mean = OutputPerturbation(0.5, 0.2, delta=delta)
    np.testing.assert_allclose(summed.log_density(data, outputs), mean.log_density(data, outputs), rtol=1e-12)
    few, many = summed.noise(9), summed.noise(9000)
    points = np.array([[0.3, 0.1]])
    assert few.log_density(points) == pytest.approx(many.log_density(points), rel=1e-12)


def test_weights_are_repetitions() -> None:
    signed, weights = ball(4, 2, np.random.default_rng(15)), np.array([1.0, 3.0, 2.0, 2.0])
    weighted = LabelledData(signed, np.ones(4), weights)
    repeated = LabelledData(np.repeat(signed, weights.astype(int), axis=0), np.ones(8))
    outputs = np.random.default_rng(16).standard_normal((20, 2))
    for loss in (LOGISTIC, Huber(0.5), Hinge()):
        mechanism = OutputPerturbation(0.5, 0.2, loss)
        np.testing.assert_allclose(
            mechanism.log_density(weighted, outputs), mechanism.log_density(repeated, outputs), atol=1e-7
        )


def test_bad_parameters_are_sentences() -> None:
    for bad, complaint in (
        ({"epsilon": 0.0}, "epsilon is 0"),
        ({"lam": 0.0}, "lam is 0"),
        ({"delta": 1.0}, "delta is 1"),
        ({"delta": -0.1}, "delta is -0.1"),
    ):
        with pytest.raises(EpsilometerError, match=complaint):
            OutputPerturbation(**({"epsilon": 1.0, "lam": 0.1} | bad))  # type: ignore[arg-type]


def test_a_radius_that_minimisers_can_leave_is_refused() -> None:
    data = labelled(ball(5, 1, np.random.default_rng(17)))
    with pytest.raises(EpsilometerError, match=r"bounded for \|w\| <= 1, but the minimiser can have norm 2"):
        OutputPerturbation(1.0, 0.5, Squared(1.0)).sample(data, 1, np.random.default_rng(0))
