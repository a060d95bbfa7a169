"""The attacks' scores against their definitions, written out."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from scipy.special import expit, logit

from epsilometer.core import Array, EpsilometerError
from epsilometer.membership import attacks
from epsilometer.membership.roc import Scores, area


def test_loss_threshold_is_minus_the_logistic_loss() -> None:
    odds = np.array([-800.0, -2.0, 0.0, 3.0, 40.0])
    np.testing.assert_allclose(attacks.loss_threshold(odds[1:4]), np.log(expit(odds[1:4])), rtol=1e-12)
    assert (np.diff(attacks.loss_threshold(odds)) > 0).all()


def test_lira_online_is_the_log_ratio_of_the_fitted_gaussians() -> None:
    seen, unseen, odds = np.array([1.0, 2.0, 6.0]), np.array([-1.0, 0.5, 0.5, 2.0]), np.array([-3.0, 0.0, 2.5])
    expected = stats.norm.logpdf(odds, seen.mean(), seen.std(ddof=1)) - stats.norm.logpdf(
        odds, unseen.mean(), unseen.std(ddof=1)
    )
    np.testing.assert_allclose(attacks.lira_online(odds, seen, unseen), expected, rtol=1e-12)


def test_lira_orders_gaussian_models_as_well_as_the_true_likelihood_ratio() -> None:
    """N(1, 1) against N(0, 1): the area is Phi(1/sqrt(2)); the interval of 1 - 1e-6 misses it by chance with 1e-6."""
    rng = np.random.default_rng(0)
    members, others = rng.normal(1, 1, 20_000), rng.normal(0, 1, 20_000)
    shadows = rng.normal(1, 1, 4000), rng.normal(0, 1, 4000)
    online = area(Scores(attacks.lira_online(members, *shadows), attacks.lira_online(others, *shadows)))
    offline = area(Scores(attacks.lira_offline(members, shadows[1]), attacks.lira_offline(others, shadows[1])), 1 - 1e-6)
    truth = stats.norm.cdf(1 / np.sqrt(2))
    assert offline[1] < truth < offline[2]
    assert abs(online[0] - offline[0]) < 0.01


def test_lira_offline_is_the_probit_of_the_papers_score() -> None:
    unseen, odds = np.array([-1.0, 0.5, 0.5, 2.0]), np.array([-3.0, 0.0, 2.5])
    score = attacks.lira_offline(odds, unseen)
    np.testing.assert_allclose(stats.norm.cdf(score), 1 - stats.norm.sf(odds, unseen.mean(), unseen.std(ddof=1)), rtol=1e-12)


def test_shadow_models_that_all_agree_leave_finite_scores() -> None:
    same = np.full(5, 2.0)
    assert np.isfinite(attacks.lira_online(np.array([1.9, 2.0]), same, same)).all()
    assert attacks.lira_offline(np.array([2.0, 2.1]), same)[1] > 1e7


def test_lira_refuses_a_single_shadow_model() -> None:
    with pytest.raises(EpsilometerError, match="there are 1 shadow models"):
        attacks.lira_offline(np.zeros(2), np.zeros(1))


@pytest.mark.parametrize("gamma", [1.0, 2.0])
def test_rmia_counts_the_ratios_that_reach_gamma(gamma: float) -> None:
    rng = np.random.default_rng(1)
    odds, population = rng.normal(size=6), rng.normal(size=(6, 9))
    p_x, p_z = 0.6, rng.uniform(0.2, 0.8, 9)

    def naive(model: int) -> float:
        hits = 0
        for z in range(9):
            hits += (expit(odds[model]) / p_x) / (expit(population[model, z]) / p_z[z]) >= gamma
        return hits / 9

    expected = [naive(model) for model in range(6)]
    assert 0 < np.mean(expected) < 1
    np.testing.assert_array_equal(attacks.rmia(odds, population, p_x, p_z, gamma), expected)


def test_rmia_bears_probabilities_that_are_zero_in_floating_point() -> None:
    score = attacks.rmia(np.array([-900.0, 900.0]), np.array([[-800.0], [-800.0]]), 0.5, np.array([0.5]))
    np.testing.assert_array_equal(score, [0.0, 1.0])


def test_average_probabilities() -> None:
    seen, unseen = logit(np.array([0.8, 0.6])), logit(np.array([0.1, 0.3]))
    assert attacks.average_probability(seen, unseen) == pytest.approx((0.7 + 0.2) / 2)
    assert attacks.offline_average_probability(unseen, 0.4) == pytest.approx((1.4 * 0.2 + 0.6) / 2)
    assert attacks.offline_average_probability(unseen, 1.0) == pytest.approx(0.2)


@pytest.mark.parametrize("a", [0.0, 0.3, 1.0])
def test_remembering_finds_the_a_by_which_models_were_made(a: float) -> None:
    outside = np.array([0.2, 0.5, 0.9])
    trained = np.array([[True, False, True], [False, True, False], [True, True, False], [False, False, True]])
    probabilities: Array = np.where(trained, a * outside + (1 - a) - 1e-12, outside)
    assert attacks.fit_offline_scale(logit(probabilities), trained) == pytest.approx(a, abs=1e-9)


def test_remembering_needs_records_inside_and_outside() -> None:
    with pytest.raises(EpsilometerError, match="each of 2 records"):
        attacks.fit_offline_scale(np.zeros((3, 2)), np.ones((3, 2), dtype=bool))
