"""Densities of the noise, and the gradient and determinant that carry them over to minimisers."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import integrate, stats

from epsilometer.core import Array, EpsilometerError, LabelledData
from epsilometer.erm import LOGISTIC, DiagonalQuadratic, GaussianNoise, Huber, Noise, Objective, SphericalNoise, Squared
from epsilometer.erm.losses import SmoothLoss


@pytest.mark.parametrize(
    "noise", [SphericalNoise(0.7), SphericalNoise(30.0), GaussianNoise(0.2), GaussianNoise(5.0)], ids=repr
)
@pytest.mark.parametrize("d", [1, 2, 3, 6])
def test_the_mass_is_one(noise: Noise, d: int) -> None:
    """The density depends on the norm only: its integral over shells, whose area is 2 pi^(d/2)/Gamma(d/2) r^(d-1)."""
    area = 2 * math.pi ** (d / 2) / math.gamma(d / 2)

    def shell(r: float) -> float:
        return area * r ** (d - 1) * math.exp(noise.log_density(r * np.eye(d)[:1])[0])

    scale = 1 / noise.rate if isinstance(noise, SphericalNoise) else noise.sigma  # type: ignore[attr-defined]
    assert integrate.quad(shell, 0, 60 * scale, points=[scale, 5 * scale], limit=200)[0] == pytest.approx(1, abs=1e-9)


def test_they_are_scipys_densities() -> None:
    x = np.random.default_rng(0).standard_normal((50, 3))
    np.testing.assert_allclose(SphericalNoise(0.3).log_density(x[:, :1]), stats.laplace(scale=1 / 0.3).logpdf(x[:, 0]))
    np.testing.assert_allclose(GaussianNoise(0.4).log_density(x), stats.multivariate_normal(np.zeros(3), 0.16).logpdf(x))


def test_the_spherical_density_is_that_of_its_norm_spread_over_the_sphere() -> None:
    x = np.random.default_rng(1).standard_normal((50, 3))
    r = np.linalg.norm(x, axis=1)
    expected = stats.gamma(3, scale=1 / 0.3).logpdf(r) - np.log(4 * np.pi * r**2)
    np.testing.assert_allclose(SphericalNoise(0.3).log_density(x), expected)


def test_gaussian_samples_have_independent_normal_coordinates() -> None:
    """Each test fails by chance with probability 1e-6."""
    x = GaussianNoise(3.0).sample(20_000, 2, np.random.default_rng(2))
    for coordinate in (*x.T, (x[:, 0] + x[:, 1]) / np.sqrt(2), (x[:, 0] - x[:, 1]) / np.sqrt(2)):
        assert stats.kstest(coordinate, stats.norm(scale=3).cdf).pvalue > 1e-6


def ball(n: int, d: int) -> Array:
    rng = np.random.default_rng([n, d])
    rows = rng.standard_normal((n, d))
    return rng.random((n, 1)) * rows / np.linalg.norm(rows, axis=1, keepdims=True)


def objective(loss: SmoothLoss, weighted: bool = True) -> Objective:
    weights = np.array([1.0, 3.0, 2.0, 5.0, 1.0]) if weighted else None
    return Objective(loss, ball(5, 2), 0.2, DiagonalQuadratic((1.0, 4.0)), weights)


def risk(problem: Objective, w: Array) -> float:
    """J itself, from its formula."""
    counts = np.ones(len(problem.signed)) if problem.weights is None else problem.weights
    total = sum(k * float(problem.loss.value(np.array([a @ w]))[0]) for k, a in zip(counts, problem.signed, strict=True))
    return problem.lam * float(problem.regulariser.value(w[None])[0]) + total / float(counts.sum())


@pytest.mark.parametrize("loss", [LOGISTIC, Huber(0.5), Squared(9.0)], ids=repr)
@pytest.mark.parametrize("weighted", [False, True])
def test_gradient_and_determinant_are_those_of_the_risk(loss: SmoothLoss, weighted: bool) -> None:
    problem = objective(loss, weighted)
    points = 2 * np.random.default_rng(3).standard_normal((12, 2))
    h = 1e-4 * np.eye(2)
    for w, gradient, log_det in zip(points, problem.gradient(points), problem.log_det_hessian(points), strict=True):
        slopes = [(risk(problem, w + e) - risk(problem, w - e)) / 2e-4 for e in h]
        np.testing.assert_allclose(gradient, slopes, atol=1e-6)
        hessian = [
            [
                (risk(problem, w + e + f) - risk(problem, w + e - f) - risk(problem, w - e + f) + risk(problem, w - e - f))
                / 4e-8
                for e in h
            ]
            for f in h
        ]
        assert log_det == pytest.approx(math.log(problem.n**2 * np.linalg.det(hessian)), abs=1e-4)


@pytest.mark.parametrize("loss", [LOGISTIC, Huber(0.5)], ids=repr)
def test_a_weight_is_so_many_equal_records(loss: SmoothLoss) -> None:
    weighted = objective(loss)
    assert weighted.weights is not None
    repeated = Objective(
        loss, np.repeat(weighted.signed, weighted.weights.astype(int), axis=0), weighted.lam, weighted.regulariser
    )
    w = np.random.default_rng(4).standard_normal((9, 2))
    assert weighted.n == repeated.n == 12
    np.testing.assert_allclose(weighted.gradient(w), repeated.gradient(w), rtol=1e-12)
    np.testing.assert_allclose(weighted.log_det_hessian(w), repeated.log_det_hessian(w), rtol=1e-12)


def test_many_points_at_once_are_the_same_as_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    problem, w = objective(LOGISTIC), np.random.default_rng(5).standard_normal((101, 2))
    at_once = problem.gradient(w), problem.log_det_hessian(w)
    monkeypatch.setattr("epsilometer.erm.objective.MARGINS_AT_ONCE", 50)
    np.testing.assert_allclose(problem.gradient(w), at_once[0], rtol=1e-13)
    np.testing.assert_allclose(problem.log_det_hessian(w), at_once[1], rtol=1e-13)


def test_a_saturated_record_keeps_its_tiny_curvature() -> None:
    """1 - s would lose it: at a margin of -50, phi'' = e^-50."""
    problem = Objective(LOGISTIC, np.array([[1.0]]), 1e-30)
    assert problem.log_det_hessian(np.array([[-50.0]]))[0] == pytest.approx(-50, abs=1e-6)


def test_wrong_data_and_outputs_are_sentences() -> None:
    with pytest.raises(EpsilometerError, match="needs labelled data, not ndarray"):
        Objective.of(LOGISTIC, np.zeros((3, 2)), 0.1)
    data = LabelledData(np.zeros((3, 2)), np.ones(3))
    for shape in ((4,), (4, 3)):
        with pytest.raises(EpsilometerError, match=r"outputs have shape .* rows of length 2"):
            Objective.of(LOGISTIC, data, 0.1).gradient(np.zeros(shape))
