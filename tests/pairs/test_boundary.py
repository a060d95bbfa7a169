"""The largest loss of objective perturbation: the formula against brute force, and explicit violations."""

from __future__ import annotations

import math
import time

import numpy as np
import pytest
from scipy.special import expit

from epsilometer.core import Array, EpsilometerError, HasDensity, NeighbouringPair
from epsilometer.mechanisms.neighbours import wrong_majority
from epsilometer.mechanisms.objective_perturbation import ObjectivePerturbation2008, ObjectivePerturbationCMS11
from epsilometer.pairs.boundary import (
    boundary_table,
    largest_log_ratio,
    least_n_lam,
    spent_by_2008,
    spent_by_cms11,
    undecided_record,
)

SETTINGS = [(0.0092, 10.0), (0.0092, 100.0), (0.5, 1e-3), (0.5, 1.0), (0.5, 20.0), (5.0, 0.01), (5.0, 10.0), (50.0, 1.0)]
EPSILON, LAM = 0.0184, 0.01
"""Of the learning curve of 2008."""
FAR_OUT = np.array([35.0, 1.0])


def log_ratio(mechanism: HasDensity, pair: NeighbouringPair, w: Array) -> float:
    first, second = (mechanism.log_density(data, w[None])[0] for data in (pair.first, pair.second))
    return float(first - second)


@pytest.mark.parametrize(("rate", "n_lam"), SETTINGS)
def test_the_plane_is_the_maximum_over_pulls(rate: float, n_lam: float) -> None:
    pull = np.linspace(0, 1, 200_001)
    brute = np.max(rate * (1 + pull) + np.log1p(pull * (1 - pull) / n_lam))
    assert largest_log_ratio(rate, n_lam) == pytest.approx(brute, rel=1e-9)
    assert largest_log_ratio(rate, n_lam) >= brute * (1 - 1e-14)


@pytest.mark.parametrize(("rate", "n_lam"), SETTINGS)
def test_the_line_is_the_maximum_over_two_records_and_an_output(rate: float, n_lam: float) -> None:
    """Any records in [-1, 1], of the same or of different signs, at any output."""
    rng = np.random.default_rng(1)
    one, other = np.sign(rng.uniform(-1, 1, (2, 300_000))) * 10 ** -np.maximum(rng.uniform(-1, 3, (2, 300_000)), 0)
    w = 10 ** rng.uniform(-2, 1.5, 300_000)
    pulls, curvatures = ([f(a * w) * a**k for a in (one, other)] for f, k in ((lambda z: expit(-z), 1), (_curvature, 2)))
    values = rate * np.abs(pulls[0] - pulls[1]) + np.abs(np.log((n_lam + curvatures[0]) / (n_lam + curvatures[1])))
    assert 0.97 * largest_log_ratio(rate, n_lam, 1) <= values.max() <= largest_log_ratio(rate, n_lam, 1) * (1 + 1e-12)


def _curvature(z: Array) -> Array:
    return expit(z) * expit(-z)


def test_gradients_on_the_line_differ_by_more_than_one() -> None:
    """Not by 1 at most, as opposite labels might suggest: 1.0517 where one record is shorter than the other."""
    assert largest_log_ratio(1.0, 1e9, 1) == pytest.approx(1.0517, abs=1e-4)
    x, p = 4.04, 0.317
    assert p * expit(-p * x) + expit(x) == pytest.approx(1.0517, abs=1e-4)


def test_the_line_is_within_the_plane() -> None:
    rate, n_lam = np.meshgrid(np.logspace(-3, 2, 12), np.logspace(-4, 4, 12))
    line, plane = largest_log_ratio(rate, n_lam, 1), largest_log_ratio(rate, n_lam, 2)
    assert np.all(line <= plane)
    assert np.all(plane <= 2 * rate + np.log1p(0.25 / n_lam))
    assert np.array_equal(plane, largest_log_ratio(rate, n_lam, 7))


@pytest.mark.parametrize("epsilon", [0.001, EPSILON, 0.1, 1.0, 3.0, 20.0])
def test_2008_keeps_its_promise_exactly_from_two_over_epsilon_on(epsilon: float) -> None:
    assert least_n_lam(epsilon) == 2 / epsilon
    above = spent_by_2008(epsilon, 2 / epsilon * np.array([1 + 1e-9, 1.1, 10, 1e6]))
    np.testing.assert_allclose(above, epsilon, rtol=1e-12)
    t = 0.003
    excess = float(spent_by_2008(epsilon, 2 * (1 - t) / epsilon)) - epsilon
    assert excess == pytest.approx(t**2 * epsilon / (8 + 2 * epsilon), rel=0.05)


def test_the_excess_where_little_is_regularised() -> None:
    assert float(spent_by_2008(0.01, 1e-6)) - 0.01 == pytest.approx(math.log(1 / 4e-6) - 0.01 / 4, rel=1e-4)


@pytest.mark.parametrize("epsilon", [EPSILON, 0.3, 1.0, 5.0])
def test_the_boundary_on_the_line(epsilon: float) -> None:
    n_lam = least_n_lam(epsilon, 1)
    assert n_lam < 2 / epsilon
    assert spent_by_2008(epsilon, n_lam * 0.99, 1) > epsilon > spent_by_2008(epsilon, n_lam * 1.01, 1)


def test_cms11_is_clean_everywhere() -> None:
    epsilon, n_lam = np.meshgrid(np.logspace(-3, 2, 200), np.logspace(-6, 6, 200))
    price = np.log1p(0.25 / n_lam)
    bound = np.where(2 * price < epsilon, epsilon - price, 0.75 * epsilon)
    assert np.all(spent_by_cms11(epsilon, n_lam) <= bound * (1 + 1e-9))
    assert np.all(bound < epsilon)
    assert np.all(spent_by_cms11(epsilon[::20, ::20], n_lam[::20, ::20], 1) < epsilon[::20, ::20])


def test_cms11_by_formula_has_the_mechanisms_calibration() -> None:
    for epsilon, n_lam in ((1.0, 20.0), (1.0, 0.1), (0.05, 2.0)):
        rate, lam = ObjectivePerturbationCMS11(epsilon, n_lam / 100, extra_regularisation=True).calibration(100)
        assert spent_by_cms11(epsilon, n_lam) == pytest.approx(float(largest_log_ratio(rate, 100 * lam)), rel=1e-12)


@pytest.mark.parametrize("n", [1000, 3000, 5200])
def test_2008_breaks_its_promise_along_its_own_learning_curve(n: int) -> None:
    """A pair and an output in round numbers; the ratio is that of the mechanism's own densities."""
    pair, output = wrong_majority(n), FAR_OUT
    spent = log_ratio(ObjectivePerturbation2008(EPSILON, LAM), pair, output)
    assert EPSILON < spent < spent_by_2008(EPSILON, n * LAM)
    corrected = ObjectivePerturbationCMS11(EPSILON, LAM, extra_regularisation=True)
    assert abs(log_ratio(corrected, pair, output)) < EPSILON


def test_2008_spends_nearly_twice_its_epsilon_at_a_thousand_records() -> None:
    pair, output = wrong_majority(1000), FAR_OUT
    assert log_ratio(ObjectivePerturbation2008(EPSILON, LAM), pair, output) == pytest.approx(1.8468 * EPSILON, rel=1e-4)


@pytest.mark.parametrize(("n", "exceeds"), [(1000, True), (1700, True), (2000, False)])
def test_the_undecided_record_is_worked_out_by_hand(n: int, exceeds: bool) -> None:
    pair, output = undecided_record(n)
    spent = log_ratio(ObjectivePerturbation2008(EPSILON, LAM), pair, output)
    assert spent == pytest.approx(math.log1p(1 / (4 * n * LAM + 100 * (n - 1) / n**2)) + EPSILON / 4, rel=1e-9)
    assert (spent > EPSILON) == exceeds
    assert spent < spent_by_2008(EPSILON, n * LAM, 1)


@pytest.mark.slow
@pytest.mark.parametrize("d", [1, 2])
def test_the_table_is_tidy_and_quick(d: int) -> None:
    epsilons, n_lams = np.logspace(-3, 1, 50), np.logspace(-2, 4, 50)
    start = time.process_time()
    rows = boundary_table(epsilons.tolist(), n_lams.tolist(), d)
    assert time.process_time() - start < 5
    assert len(rows) == 2500
    assert list(rows[0]) == ["epsilon", "n_lam", "spent", "exceeds", "share"]
    for row in rows[::37]:
        assert row["spent"] == pytest.approx(float(spent_by_2008(row["epsilon"], row["n_lam"], d)), rel=1e-12)
        assert row["share"] == pytest.approx(row["spent"] / row["epsilon"])


def test_the_table_says_where_the_promise_is_exceeded_in_the_plane() -> None:
    rows = boundary_table(np.logspace(-3, 1, 10).tolist(), np.logspace(-2, 4, 10).tolist(), 2)
    assert [row["exceeds"] for row in rows] == [row["n_lam"] < 2 / row["epsilon"] for row in rows]
    assert {row["exceeds"] for row in rows} == {True, False}


def test_bad_values_are_sentences() -> None:
    with pytest.raises(EpsilometerError, match="n lam is 0"):
        spent_by_2008(1.0, 0.0)
    with pytest.raises(EpsilometerError, match="epsilon is -1"):
        least_n_lam(-1.0)
    with pytest.raises(EpsilometerError, match="d is 0"):
        largest_log_ratio(1.0, 1.0, 0)
    with pytest.raises(EpsilometerError, match="n is 3"):
        undecided_record(3)
    with pytest.raises(EpsilometerError, match="n is 1;"):
        wrong_majority(1)
