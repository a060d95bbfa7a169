"""Objective perturbation: its noise, its calibration, and what its density says about the privacy that it promises.

A Kolmogorov-Smirnov test here would fail with probability 1e-6 for another seed.
"""

from __future__ import annotations

import math
import re

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import integrate, stats

from epsilometer.core import Array, EpsilometerError, Guarantee, Mechanism
from epsilometer.mechanisms.objective_perturbation import ObjectivePerturbation2008, ObjectivePerturbationCMS11
from tests.mechanisms.reference import ball, labelled, log_density, noise_behind

C = 0.25
QUICKLY = settings(max_examples=200, deadline=None, derandomize=True, database=None)


def cost(n: int, lam: float) -> float:
    """CMS11's price of the Hessian, as printed there."""
    return math.log(1 + 2 * C / (n * lam) + C**2 / (n * lam) ** 2)


CASES: dict[str, tuple[Mechanism, int, float, float]] = {  # mechanism, n, the noise's rate, the regularisation
    "2008": (ObjectivePerturbation2008(0.8, 0.05), 30, 0.4, 0.05),
    "2008, tiny n lam": (ObjectivePerturbation2008(0.8, 0.001), 5, 0.4, 0.001),
    "cms11": (ObjectivePerturbationCMS11(0.8, 0.05), 30, (0.8 - cost(30, 0.05)) / 2, 0.05),
    "cms11, more regularised": (
        ObjectivePerturbationCMS11(0.8, 0.001, extra_regularisation=True),
        30,
        0.2,
        C / (30 * (math.exp(0.2) - 1)),
    ),
}


@pytest.mark.parametrize("d", [1, 4])
@pytest.mark.parametrize("case", CASES)
def test_the_noise_behind_the_output_has_the_papers_law(case: str, d: int) -> None:
    """b = -n grad J(w) has a Gamma norm in R^d, and is Laplace on the line."""
    mechanism, n, rate, lam = CASES[case]
    signed = ball(n, d, np.random.default_rng(1))
    samples = mechanism.sample(labelled(signed), 4000, np.random.default_rng(2))
    noise = noise_behind(samples, signed, lam)
    assert stats.kstest(np.linalg.norm(noise, axis=1), stats.gamma(d, scale=1 / rate).cdf).pvalue > 1e-6
    if d == 1:
        assert stats.kstest(noise[:, 0], stats.laplace(scale=1 / rate).cdf).pvalue > 1e-6


@pytest.mark.parametrize("case", CASES)
def test_the_output_has_the_density_that_the_privacy_tests_use(case: str) -> None:
    """The samples on the line against the integral of exp(-rate |b(w)|) |b'(w)| rate/2, which must be a density."""
    mechanism, n, rate, lam = CASES[case]
    signed = ball(n, 1, np.random.default_rng(3))
    reach = 60 / rate / (n * lam)
    grid = np.unique(np.sinh(np.linspace(-1, 1, 40_001) * np.arcsinh(reach)))
    density = rate / 2 * np.exp(log_density(grid[:, None], signed, lam, rate))
    distribution = integrate.cumulative_simpson(density, x=grid, initial=0)
    assert abs(distribution[-1] - 1) < 1e-5
    samples = mechanism.sample(labelled(signed), 4000, np.random.default_rng(4))[:, 0]
    assert stats.kstest(np.interp(samples, grid, distribution), "uniform").pvalue > 1e-6


@QUICKLY
@given(epsilon=st.floats(1e-3, 20), lam=st.floats(1e-7, 10), n=st.integers(1, 10**6))
def test_cms11_calibration_is_the_printed_formula(epsilon: float, lam: float, n: int) -> None:
    assume(abs(epsilon - cost(n, lam)) > 1e-9)
    for extra in (False, True):
        mechanism = ObjectivePerturbationCMS11(epsilon, lam, extra_regularisation=extra)
        if epsilon > cost(n, lam):
            rate, used = mechanism.calibration(n)
            assert rate == pytest.approx((epsilon - cost(n, lam)) / 2, rel=1e-6, abs=1e-12)
            assert used == lam
        elif extra:
            rate, used = mechanism.calibration(n)
            added = C / (n * (math.exp(epsilon / 4) - 1)) - lam
            assert added > 0
            assert rate == epsilon / 4
            assert used == pytest.approx(lam + added, rel=1e-9)
            assert cost(n, used) == pytest.approx(epsilon / 2, rel=1e-6)
        else:
            with pytest.raises(EpsilometerError, match="too small for objective perturbation"):
                mechanism.calibration(n)


def remedies(epsilon: float, lam: float, n: int) -> tuple[float, float]:
    """The epsilon and the lambda that the refusal says to stay above."""
    with pytest.raises(EpsilometerError) as caught:
        ObjectivePerturbationCMS11(epsilon, lam).calibration(n)
    sentence = str(caught.value)
    assert "\n" not in sentence
    for value in (f"epsilon = {epsilon:g}", f"lambda = {lam:g}", f"n = {n}"):
        assert value in sentence
    found = re.search(r"take epsilon above (\S+), or lambda above (\S+), or ask for extra regularisation", sentence)
    assert found
    return float(found[1]), float(found[2])


@QUICKLY
@given(epsilon=st.floats(1e-3, 20), lam=st.floats(1e-7, 10), n=st.integers(1, 10**6))
def test_the_remedies_that_a_refusal_names_work(epsilon: float, lam: float, n: int) -> None:
    """Either alone, a thousandth above; a thousandth below, neither would do."""
    assume(epsilon < cost(n, lam) * 0.99)
    enough_epsilon, enough_lam = remedies(epsilon, lam, n)
    assert ObjectivePerturbationCMS11(enough_epsilon * 1.001, lam).calibration(n)[0] > 0
    assert ObjectivePerturbationCMS11(epsilon, enough_lam * 1.001).calibration(n)[0] > 0
    with pytest.raises(EpsilometerError):
        ObjectivePerturbationCMS11(enough_epsilon * 0.999, lam).calibration(n)
    with pytest.raises(EpsilometerError):
        ObjectivePerturbationCMS11(epsilon, enough_lam * 0.999).calibration(n)


@QUICKLY
@given(epsilon=st.floats(1e-3, 1), n=st.integers(1, 100))
def test_anything_above_the_remedies_works(epsilon: float, n: int) -> None:
    assume(epsilon < cost(n, 1e-3) * 0.99)
    enough_epsilon, enough_lam = remedies(epsilon, 1e-3, n)
    ObjectivePerturbationCMS11(math.nextafter(enough_epsilon, math.inf), 1e-3).calibration(n)
    ObjectivePerturbationCMS11(epsilon, math.nextafter(enough_lam, math.inf)).calibration(n)


def test_a_refusal_draws_nothing() -> None:
    rng = np.random.default_rng(1)
    with pytest.raises(EpsilometerError, match="n = 9"):
        ObjectivePerturbationCMS11(0.1, 1e-4).sample(labelled(ball(9, 2, np.random.default_rng(0))), 3, rng)
    assert rng.random() == np.random.default_rng(1).random()


def neighbours(d: int) -> list[tuple[Array, Array]]:
    """Pairs of data sets that differ in their last record, which takes telling places among others of all kinds."""
    rng = np.random.default_rng(5)
    e = np.eye(d)[0]
    shared = [np.zeros((0, d)), np.zeros((6, d)), np.tile(e, (6, 1)), np.vstack([np.tile(e, (3, 1)), -np.tile(e, (3, 1))])]
    shared += [ball(6, d, rng) for _ in range(5)]
    changed = [(e, -e), (e, 0 * e), (0 * e, -e), (0.05 * e, 0 * e), (0.3 * e, -e)]
    changed += [(one, other) for one, other in ball(10, d, rng).reshape(5, 2, d)]
    return [(np.vstack([rows, one]), np.vstack([rows, other])) for rows in shared for one, other in changed]


def outputs(d: int) -> Array:
    """Outputs w at which to compare densities: a fine grid on the line, random points elsewhere, from tiny to saturating."""
    if d == 1:
        half = np.concatenate([np.linspace(0, 20, 2001), np.logspace(math.log10(20), 5, 500)])
        return np.concatenate([-half, half])[:, None]
    rng = np.random.default_rng(6)
    directions = rng.standard_normal((2000, d))
    return 10 ** rng.uniform(-3, 4, (2000, 1)) * directions / np.linalg.norm(directions, axis=1, keepdims=True)


def largest_log_ratio(one: Array, other: Array, lam: float, rate: float) -> float:
    """The largest log density ratio of the outputs on two data sets; the constants of both densities are the same."""
    w = outputs(one.shape[1])
    return float(np.abs(log_density(w, one, lam, rate) - log_density(w, other, lam, rate)).max())


@pytest.mark.parametrize("d", [1, 2])
@pytest.mark.parametrize("n_lam", [1e-4, 1e-2, 1.0, 100.0])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0, 20.0])
def test_cms11_keeps_its_promise(d: int, n_lam: float, epsilon: float) -> None:
    """Between neighbours the density changes by a factor of at most e^epsilon, wherever the output falls."""
    for one, other in neighbours(d):
        n = len(one)
        rate, lam = ObjectivePerturbationCMS11(epsilon, n_lam / n, extra_regularisation=True).calibration(n)
        assert largest_log_ratio(one, other, lam, rate) <= epsilon * (1 + 1e-9)


@pytest.mark.parametrize("n_lam", [1e-6, 1e-4, 1e-2])
def test_the_version_of_2008_breaks_its_promise(n_lam: float) -> None:
    """Where the regularisation is small, one record decides the Hessian: the density ratio passes e^epsilon by far."""
    epsilon = 0.1
    zeros = np.zeros((6, 1))
    one, other = np.vstack([zeros, [[1.0]]]), np.vstack([zeros, [[0.0]]])
    excess = math.log(1 + 0.25 / n_lam)  # at w = 0, where the changed record's curvature is 1/4
    assert largest_log_ratio(one, other, n_lam / 7, epsilon / 2) >= excess - epsilon / 2
    assert excess - epsilon / 2 > 10 * epsilon


def test_the_version_of_2008_breaks_its_promise_among_saturated_records() -> None:
    """The other records need not be zero: far out they saturate, and a small record that does not is all the curvature."""
    epsilon, lam = 0.1, 1e-7
    shared = np.tile([[1.0], [-1.0]], (10, 1))
    one, other = np.vstack([shared, [[0.05]]]), np.vstack([shared, [[0.0]]])
    assert largest_log_ratio(one, other, lam, epsilon / 2) > 20 * epsilon
    with pytest.raises(EpsilometerError, match="too small"):
        ObjectivePerturbationCMS11(epsilon, lam).calibration(len(one))


def test_the_version_of_2008_keeps_its_promise_where_regularisation_is_large() -> None:
    """So the tests above do not fail whatever they are given."""
    for one, other in neighbours(1):
        assert largest_log_ratio(one, other, 1e4 / len(one), 0.1 / 2) <= 0.1


@pytest.mark.parametrize("kind", [ObjectivePerturbation2008, ObjectivePerturbationCMS11])
def test_the_promise(kind: type[ObjectivePerturbation2008] | type[ObjectivePerturbationCMS11]) -> None:
    assert kind(0.3, 0.01).guarantee == Guarantee(0.3, "replace-one")
    with pytest.raises(EpsilometerError, match="epsilon is -1"):
        _ = kind(-1.0, 0.01).guarantee


def test_samples_depend_on_the_generator_alone() -> None:
    data, mechanism = labelled(ball(20, 2, np.random.default_rng(0))), ObjectivePerturbation2008(1.0, 0.1)
    one, same, other = (mechanism.sample(data, 3, np.random.default_rng(seed)) for seed in (1, 1, 2))
    assert np.array_equal(one, same)
    assert not np.any(one == other)
    assert len(np.unique(one, axis=0)) == 3
