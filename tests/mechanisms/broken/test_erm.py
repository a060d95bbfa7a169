"""Broken output and objective perturbation have the stated privacy loss; the correct variants satisfy their claim.

Each statistical test would fail with probability 1e-6 for another seed.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy import optimize, stats
from scipy.special import expit

from epsilometer.core import EpsilometerError, NeighbouringPair
from epsilometer.erm import Huber, Logistic, Squared
from epsilometer.mechanisms.broken.erm import (
    CoordinatewiseLaplace,
    ExponentialNorm,
    FreeIntercept,
    GammaOneNorm,
    LaplaceCoordinates,
    LinearCurvature,
    RescaledLoss,
    StoppedEarly,
    TunedRegularisation,
    WithIntercept,
    with_constant,
)
from epsilometer.mechanisms.catalogue import Entry, find
from epsilometer.mechanisms.neighbours import labelled_records
from epsilometer.mechanisms.objective_perturbation import ObjectivePerturbationCMS11
from epsilometer.mechanisms.output_perturbation import OutputPerturbation
from tests.mechanisms import agreement

EPSILONS = (0.1, 0.5, 1.0)
HUBER = Huber(0.5)


def log_ratio(mechanism: Any, pair: NeighbouringPair, outputs: Any) -> Any:
    return mechanism.log_density(pair.first, outputs) - mechanism.log_density(pair.second, outputs)


def spent(entry: Entry, epsilon: float) -> float:
    assert entry.flaw
    assert entry.true_epsilon is not None
    return entry.true_epsilon(epsilon)


def cloud(d: int, reach: float, size: int = 20_000) -> Any:
    """Outputs in all directions and at all distances up to `reach`."""
    rng = np.random.default_rng(0)
    directions = rng.standard_normal((size, d))
    return reach * rng.random((size, 1)) ** 3 * directions / np.linalg.norm(directions, axis=1, keepdims=True)


@pytest.mark.parametrize("noise", [ExponentialNorm(0.7), LaplaceCoordinates(0.7)])
def test_on_the_line_the_wrong_noise_is_right(noise: Any) -> None:
    x = np.linspace(-20, 20, 101)[:, None]
    np.testing.assert_allclose(noise.log_density(x), stats.laplace.logpdf(x[:, 0], scale=1 / 0.7), rtol=1e-12)


def test_the_norm_of_the_noise_is_exponential_in_every_dimension() -> None:
    """Norm and direction of samples; and the density times the area of a sphere is that of the norm."""
    noise, r = ExponentialNorm(0.7), np.array([1e-6, 0.3, 2.0, 9.0])
    for d, area in ((2, 2 * math.pi), (3, 4 * math.pi), (5, 8 * math.pi**2 / 3)):
        samples = noise.sample(20_000, d, np.random.default_rng(d))
        assert stats.kstest(np.linalg.norm(samples, axis=1), stats.expon(scale=1 / 0.7).cdf).pvalue > 1e-6
        assert stats.binomtest(int((samples[:, 0] > samples[:, 1]).sum()), 20_000).pvalue > 1e-6
        points = np.zeros((len(r), d))
        points[:, -1] = r
        density = np.exp(noise.log_density(points)) * area * r ** (d - 1)
        np.testing.assert_allclose(density, stats.expon.pdf(r, scale=1 / 0.7), rtol=1e-10)


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_gamma_one_has_a_pole_at_the_minimiser(epsilon: float) -> None:
    """In the plane the ratio at distance r from the minimiser (1/4, 0) is log(1/(2r)) + epsilon, within r rate."""
    entry = find("output_perturbation_gamma_one")
    mechanism: Any = entry.build(epsilon)
    assert isinstance(mechanism, GammaOneNorm)
    pair = entry.pairs()[0]
    for distance in (1e-2, 1e-4, 1e-6):
        ratio = log_ratio(mechanism, pair, np.array([[0.25, distance]]))[0]
        assert ratio == pytest.approx(math.log(0.5 / distance) + epsilon, abs=3 * distance * (1 + epsilon))
        assert ratio > 3 * epsilon
    assert spent(entry, epsilon) == math.inf
    sibling = OutputPerturbation(epsilon, 0.5, HUBER)
    outputs = np.concatenate([cloud(2, 3.0), np.array([[0.25, 1e-9], [0.25, 0.0]])])
    assert np.abs(log_ratio(sibling, pair, outputs)).max() == pytest.approx(epsilon, rel=1e-3)
    assert np.abs(log_ratio(sibling, pair, outputs)).max() <= epsilon * (1 + 1e-6)


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_laplace_coordinates_spend_the_root_of_the_dimension(epsilon: float) -> None:
    entry = find("output_perturbation_coordinates")
    mechanism: Any = entry.build(epsilon)
    assert isinstance(mechanism, CoordinatewiseLaplace)
    pair = entry.pairs()[0]
    assert np.abs(log_ratio(mechanism, pair, cloud(3, 3.0))).max() == pytest.approx(math.sqrt(3) * epsilon, rel=1e-6)
    assert spent(entry, epsilon) == pytest.approx(math.sqrt(3) * epsilon)
    sibling = OutputPerturbation(epsilon, 0.5, HUBER)
    assert np.abs(log_ratio(sibling, pair, cloud(3, 3.0))).max() <= epsilon * (1 + 1e-6)


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_a_free_intercept_moves_further_than_the_sensitivity(epsilon: float) -> None:
    """Without features it is sqrt(2) log(n+/n-): from 8 and 2 to 9 and 1, with n lam = 10, 5 sqrt(2) log(9/4) is spent."""
    entry = find("output_perturbation_free_intercept")
    mechanism: Any = entry.build(epsilon)
    counts = entry.pairs()[0]
    np.testing.assert_allclose(mechanism.centre(counts.first), [0.0, math.sqrt(2) * math.log(9)], atol=1e-6)
    np.testing.assert_allclose(mechanism.centre(counts.second), [0.0, math.sqrt(2) * math.log(4)], atol=1e-6)
    beyond = np.array([[0.0, 100.0], [0.0, -100.0]])
    exact = 5 * math.sqrt(2) * math.log(9 / 4) * epsilon
    np.testing.assert_allclose(log_ratio(mechanism, counts, beyond), [exact, -exact], rtol=1e-6)
    assert spent(entry, epsilon) >= exact * (1 - 1e-9) > 5 * epsilon
    sibling: Any = find("output_perturbation_intercept").build(epsilon)
    for pair in entry.pairs():
        worst = np.abs(log_ratio(mechanism, pair, 30 * cloud(2, 1.0))).max()
        assert 5 * epsilon < worst <= spent(entry, epsilon) * (1 + 1e-9)
        assert np.abs(log_ratio(sibling, pair, 30 * cloud(2, 1.0))).max() <= epsilon


@pytest.mark.parametrize(("build", "regularised"), [(WithIntercept, 1.0), (FreeIntercept, 0.0)])
def test_the_intercepts_fit_agrees_with_a_general_minimiser(build: Any, regularised: float) -> None:
    data = labelled_records([((0.5, -0.2), 1.0), ((0.9, 0.1), 1.0), ((-0.3, 0.4), 1.0), ((0.2, 0.7), -1.0)])
    extended = np.column_stack([data.features, np.ones(4)]) / math.sqrt(2) * data.labels[:, None]

    def objective(v: Any) -> float:
        penalty = 0.2 / 2 * (v[0] ** 2 + v[1] ** 2 + regularised * v[2] ** 2)
        return float(penalty - np.mean(np.log(expit(extended @ v))))

    expected = optimize.minimize(objective, np.zeros(3), method="BFGS", options={"gtol": 1e-9}).x
    np.testing.assert_allclose(build(1.0, 0.2).centre(data), expected, atol=1e-5)


def test_constant_features_keep_records_in_the_ball_and_their_weights() -> None:
    data = with_constant(labelled_records([((1.0,), 1.0), ((0.0,), -1.0)], (3.0, 2.0)))
    np.testing.assert_allclose(data.features, np.array([[1, 1], [0, 1]]) / math.sqrt(2))
    assert data.n == 5


@pytest.mark.parametrize("base", [HUBER, Logistic()])
def test_a_rescaled_loss_is_the_loss_of_rescaled_records(base: Any) -> None:
    """Slope and curvature by differences, the solver's in-place forms, and the bounds on both."""
    loss, z, h = RescaledLoss(base, 3.0), np.linspace(-2, 2, 801) + 1e-4, 1e-5
    np.testing.assert_allclose(loss.value(z), base.value(3 * z))
    np.testing.assert_allclose(loss.slope(z), (loss.value(z + h) - loss.value(z - h)) / (2 * h), atol=1e-4)
    np.testing.assert_allclose(loss.curvature(z), (loss.slope(z + h) - loss.slope(z - h)) / (2 * h), atol=1e-4)
    pulls = z.copy()
    loss.turn_into_pulls(pulls)
    np.testing.assert_allclose(pulls, -loss.slope(z), atol=1e-12)
    loss.turn_into_curvatures(pulls)
    np.testing.assert_allclose(pulls, loss.curvature(z), atol=1e-12)
    assert np.abs(loss.slope(z)).max() == pytest.approx(loss.lipschitz, rel=1e-2)
    assert np.abs(loss.curvature(z)).max() == pytest.approx(loss.curvature_bound, rel=1e-2)
    assert LinearCurvature(base, 3.0).curvature_bound == pytest.approx(loss.curvature_bound / 3)


@pytest.mark.parametrize("epsilon", [*EPSILONS, 2.0])
def test_a_curvature_linear_in_the_norm_is_too_small(epsilon: float) -> None:
    """The supremum is attained at w = (1 - h)/R, the kink of the record (1, +1), and not exceeded on a fine grid."""
    entry = find("objective_perturbation_linear_norm")
    mechanism: Any = entry.build(epsilon)
    pair = entry.pairs()[0]
    grid = np.concatenate([np.linspace(-1, 1, 20_001), 0.05 + np.array([0.0, 1e-12]), [-50.0, 50.0]])[:, None]
    worst = np.abs(log_ratio(mechanism, pair, grid)).max()
    assert worst == pytest.approx(epsilon / 2 + math.log(1 + 10 * (math.exp(epsilon / 4) - 1)), rel=1e-6)
    assert spent(entry, epsilon) == pytest.approx(worst, rel=1e-6)
    assert worst > 1.4 * epsilon
    sibling = ObjectivePerturbationCMS11(epsilon, 1e-3, loss=RescaledLoss(HUBER, 10.0), extra_regularisation=True)
    assert np.abs(log_ratio(sibling, pair, grid)).max() <= epsilon


def test_rescaled_records_give_the_stated_density() -> None:
    mechanism: Any = find("objective_perturbation_linear_norm").build(0.5)
    data = find("objective_perturbation_linear_norm").pairs()[0].first
    p_value, mass = agreement.continuous_1d(mechanism, data, np.random.default_rng(1), centre=0.0, scale=0.5)
    assert p_value > agreement.FALSE_FAILURE
    assert mass == pytest.approx(1, abs=1e-3)  # the density has a jump at the kink of the loss


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_a_tuned_lambda_flips_and_takes_the_noise_along(epsilon: float) -> None:
    """Far out the log-ratio grows like n (lam - lam') epsilon / 2 times the distance."""
    entry = find("output_perturbation_tuned")
    mechanism: Any = entry.build(epsilon)
    pair = entry.pairs()[0]
    assert (mechanism.chosen_mechanism(pair.first).lam, mechanism.chosen_mechanism(pair.second).lam) == (0.01, 1.0)
    far, further = (log_ratio(mechanism, pair, np.array([[0.0, r]]))[0] for r in (1_000.0, 2_000.0))
    assert far > 100 * epsilon
    assert further - far == pytest.approx(6 * 0.99 * epsilon / 2 * 1_000, rel=1e-3)
    assert spent(entry, epsilon) == math.inf
    for lam in (0.01, 1.0):
        assert np.abs(log_ratio(OutputPerturbation(epsilon, lam), pair, cloud(2, 2_000.0))).max() <= epsilon


def test_the_fewest_errors_win_and_the_larger_of_equals() -> None:
    one_sided = labelled_records([((1.0,), 1.0)] * 3)
    assert TunedRegularisation(1.0, (0.1, 3.0, 0.5)).chosen_mechanism(one_sided).lam == 3.0
    odd, many = ((-0.3, 0.95), 1.0), ((1.0, 0.0), 1.0)
    weighted, repeated = labelled_records([many, odd], (5.0, 1.0)), labelled_records([many] * 5 + [odd])
    for data in (weighted, repeated):
        assert TunedRegularisation(1.0).chosen_mechanism(data).lam == 0.01


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_one_record_decides_whether_the_descent_goes_on(epsilon: float) -> None:
    """It stays at 0, or takes a step of at least 0.1025/0.3 where the sensitivity is 2/(400 * 0.05) = 0.1."""
    entry = find("output_perturbation_stopped_early")
    mechanism: Any = entry.build(epsilon)
    pair = entry.pairs()[0]
    assert mechanism.centre(pair.first) == pytest.approx([0.0])
    assert mechanism.centre(pair.second)[0] >= 0.1025 / 0.3 - 1e-9
    grid = np.linspace(-20, 20, 4_001)[:, None]
    worst = np.abs(log_ratio(mechanism, pair, grid)).max()
    assert worst == pytest.approx(spent(entry, epsilon), rel=1e-9)
    assert worst > 3 * epsilon
    assert np.abs(log_ratio(OutputPerturbation(epsilon, 0.05), pair, grid)).max() <= epsilon


def test_a_small_gradient_comes_close_to_the_minimiser() -> None:
    data = find("output_perturbation_stopped_early").pairs()[0].first
    exact = optimize.brentq(lambda w: 0.05 * w - 0.6 * expit(-w) + 0.4 * expit(w), -5, 5, xtol=1e-14)
    assert StoppedEarly(1.0, 0.05, gradient_norm=1e-10).centre(data) == pytest.approx([exact], abs=1e-8)


@pytest.mark.parametrize(
    "name",
    ["output_perturbation_gamma_one", "output_perturbation_coordinates", "output_perturbation_free_intercept"],
)
def test_samplers_pass_the_ratio_identity(name: str) -> None:
    entry = find(name)
    for pair in entry.pairs():
        assert agreement.ratio_identity(entry.build(0.3), pair, np.random.default_rng(0)) > agreement.FALSE_FAILURE


def test_what_is_refused() -> None:
    one_label = labelled_records([((1.0,), 1.0)] * 3)
    with pytest.raises(EpsilometerError, match="every label is 1; an intercept that is not regularised"):
        FreeIntercept(1.0, 1.0).sample(one_label, 3, np.random.default_rng(0))
    with pytest.raises(EpsilometerError, match="an intercept needs labelled data, not ndarray"):
        WithIntercept(1.0, 1.0).sample(np.zeros((3, 2)), 3, np.random.default_rng(0))
    with pytest.raises(EpsilometerError, match="gradient descent needs labelled data, not ndarray"):
        StoppedEarly(1.0, 1.0).sample(np.zeros((3, 2)), 3, np.random.default_rng(0))
    with pytest.raises(EpsilometerError, match="gradient_norm is 0; it must be"):
        StoppedEarly(1.0, 1.0, gradient_norm=0.0)
    with pytest.raises(EpsilometerError, match="no candidate for lambda"):
        TunedRegularisation(1.0, ())
    with pytest.raises(EpsilometerError, match="candidate 2 is -1"):
        TunedRegularisation(1.0, (1.0, -1.0))
    with pytest.raises(EpsilometerError, match="norm_bound is 0"):
        RescaledLoss(HUBER, 0.0)
    with pytest.raises(EpsilometerError, match="bounded slope on a ball only"):
        RescaledLoss(Squared(2.0), 1.0)
    with pytest.raises(EpsilometerError, match="GaussianNoise, which has no rate"):
        GammaOneNorm(0.5, 1.0, delta=1e-5).noise(10)
