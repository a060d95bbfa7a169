"""The one-run audit: its statistics against sums over all outcomes and simulations, and whole runs of the mechanisms."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from scipy.stats import binom

from epsilometer.auditors.one_run import (
    Canaries,
    OneRun,
    canaries_for,
    count_canaries,
    gradient_canaries,
    one_run_bound,
    one_run_p_value,
    parameter_canaries,
    right_guesses,
)
from epsilometer.core import EpsilometerError, Guarantee, Guesses, Mechanism, stream
from epsilometer.evidence.verdicts import verdict
from epsilometer.mechanisms.catalogue import catalogue, find
from epsilometer.mechanisms.gradient_perturbation import FullBatchGradientPerturbation
from epsilometer.mechanisms.naive_bayes import NoisyNaiveBayes
from epsilometer.mechanisms.objective_perturbation import ObjectivePerturbationCMS11
from epsilometer.mechanisms.output_perturbation import OutputPerturbation


@pytest.mark.parametrize("epsilon", [0.0, 0.5, 2.0])
@pytest.mark.parametrize("delta", [0.0, 1e-4])
def test_p_value_is_the_sum_in_the_theorem(epsilon: float, delta: float) -> None:
    canaries, guesses = 60, 40
    chance = math.exp(epsilon) / (1 + math.exp(epsilon))
    probability = [math.comb(guesses, k) * chance**k * (1 - chance) ** (guesses - k) for k in range(guesses + 1)]
    for right in (1, 17, 30, 39, 40):
        surplus = max(sum(probability[right - i : right]) / i for i in range(1, right + 1))
        wanted = min(1.0, sum(probability[right:]) + 2 * canaries * delta * surplus)
        assert one_run_p_value(Guesses(right, guesses, canaries), epsilon, delta) == pytest.approx(
            wanted, rel=1e-9, abs=1e-13
        )


@pytest.mark.parametrize("delta", [0.0, 1e-5, 1e-3])
@pytest.mark.parametrize("right", [5, 8])
def test_too_few_right_guesses_give_the_bound_zero(right: int, delta: float) -> None:
    assert one_run_bound(Guesses(right, 10, 10), 0.05, delta) == 0
    assert one_run_p_value(Guesses(right, 10, 10), 0.0, delta) > 0.05


@pytest.mark.parametrize("delta", [0.0, 1e-5, 1e-3])
def test_bound_is_where_the_p_value_reaches_the_error(delta: float) -> None:
    for canaries, guesses, right in ((1000, 1000, 800), (1000, 250, 240), (50, 50, 50), (10, 10, 10)):
        seen = Guesses(right, guesses, canaries)
        bound = one_run_bound(seen, 0.05, delta)
        assert bound > 0
        assert max(one_run_p_value(seen, epsilon, delta) for epsilon in np.linspace(0, bound - 1e-6, 50)) <= 0.05
        assert one_run_p_value(seen, bound + 1e-6, delta) > 0.05
    assert one_run_bound(Guesses(50, 50, 50), 0.05) == pytest.approx(
        math.log(0.05 ** (1 / 50) / (1 - 0.05 ** (1 / 50))), rel=1e-9
    )


def test_bound_exceeds_the_truth_in_at_most_five_percent_of_randomized_responses() -> None:
    """Right guesses are Binomial(r, q) at worst; P(failure by chance) < 1e-3 (99.9% quantile of the binomial)."""
    repetitions, epsilon, canaries = 4000, 1.0, 300
    rng = stream(0, "one run", "coverage")
    right = rng.binomial(canaries, 1 / (1 + math.exp(-epsilon)), repetitions)
    bounds = {int(k): one_run_bound(Guesses(int(k), canaries, canaries), 0.05) for k in np.unique(right)}
    above = sum(bounds[int(k)] > epsilon for k in right)
    assert above <= binom.ppf(0.999, repetitions, 0.05)
    assert above > 0.01 * repetitions  # it is not needlessly timid: the exact rate is just below 5%


@pytest.mark.slow
def test_choice_among_shares_is_paid_for() -> None:
    """Scores that are coins flipped by randomized response, with ties; P(failure by chance) < 1e-3."""
    repetitions, epsilon, canaries = 1000, 0.7, 200
    rng = stream(0, "one run", "shares")
    above = 0
    for _ in range(repetitions):
        coins = rng.random(canaries) < 0.5
        kept = rng.random(canaries) < 1 / (1 + math.exp(-epsilon))
        above += OneRun(shares=(0.1, 0.25, 0.5, 1.0)).from_scores((coins == kept).astype(float), coins).epsilon > epsilon
    assert above <= binom.ppf(0.999, repetitions, 0.05)


def test_guesses_are_the_extreme_scores() -> None:
    scores, coins = np.array([3.0, -2.0, 0.1, -0.2, 5.0]), np.array([True, True, False, False, True])
    assert right_guesses(scores, coins, 4) == 3  # heads for 5 and 3 are right, tails for -0.2 too, for -2 not
    assert right_guesses(scores, coins, 5) == 4
    assert right_guesses(scores, coins, 1) == 0


def output_perturbation(epsilon: float) -> Mechanism:
    return OutputPerturbation(epsilon, lam=0.1)


def objective_perturbation(epsilon: float) -> Mechanism:
    return ObjectivePerturbationCMS11(epsilon, lam=0.1)


def naive_bayes(epsilon: float) -> Mechanism:
    return NoisyNaiveBayes(epsilon, (60,))


def gradient_perturbation(epsilon: float) -> Mechanism:
    return FullBatchGradientPerturbation(epsilon, delta=1e-5, steps=3)


PIPELINES: list[tuple[Callable[[float], Mechanism], Callable[[int], Canaries]]] = [
    (output_perturbation, parameter_canaries),
    (objective_perturbation, parameter_canaries),
    (naive_bayes, count_canaries),
    (gradient_perturbation, gradient_canaries),
]


@pytest.mark.slow
@pytest.mark.parametrize(("build", "canaries"), PIPELINES, ids=lambda function: function.__name__)
def test_whole_runs_do_not_overclaim(build: Callable[[float], Mechanism], canaries: Callable[[int], Canaries]) -> None:
    """100 trainings at epsilon 1; P(failure by chance) < 1e-3 even if the bound were exactly at its 5%."""
    mechanism, rng = build(1.0), stream(0, "one run", build.__name__)
    estimates = [OneRun()(mechanism, canaries(60), rng) for _ in range(100)]
    assert sum(estimate.epsilon > 1.0 for estimate in estimates) <= binom.ppf(0.999, 100, 0.05)
    assert {estimate.trials for estimate in estimates} == {1}


@pytest.mark.parametrize(
    ("build", "canaries", "number", "epsilon", "least"),
    [
        (output_perturbation, parameter_canaries, 60, 400.0, 1.0),
        (objective_perturbation, parameter_canaries, 60, 400.0, 1.0),
        (naive_bayes, count_canaries, 60, 20.0, 1.0),
        (gradient_perturbation, gradient_canaries, 400, 20.0, 1.0),
    ],
    ids=["output", "objective", "naive-bayes", "gradient"],
)
def test_one_training_finds_much_of_a_large_epsilon(
    build: Callable[[float], Mechanism], canaries: Callable[[int], Canaries], number: int, epsilon: float, least: float
) -> None:
    estimate = OneRun()(build(epsilon), canaries(number), stream(0, "one run", "power", build.__name__))
    assert least <= estimate.epsilon <= epsilon
    assert "right guesses" in estimate.event


@pytest.mark.slow
def test_every_erm_entry_naive_bayes_and_descent_has_canaries_and_no_other() -> None:
    """Both adjacencies, models with an intercept, and every loss; the correct ones are not called violated at 1e-6."""
    names = {name for name, entry in catalogue().items() if canaries_for(entry.build(1.0), 30)}
    assert {
        "naive_bayes",
        "objective_perturbation_kst12",
        "output_perturbation_hinge",
        "output_perturbation_intercept",
    } <= names
    assert {"gradient_perturbation_printed", "nips08_algorithm_1_n1000"} <= names
    assert not {"laplace_count", "output_perturbation_geometric_median", "kernel_svm"} & names
    correct = {}
    for name in sorted(names):
        mechanism = catalogue()[name].build(1.0)
        runnable = canaries_for(mechanism, 30)
        assert runnable
        estimate = OneRun(confidence=1 - 1e-6)(*runnable, stream(0, "one run", name))
        assert estimate.guesses[0].canaries == 30
        if not catalogue()[name].flaw:
            correct[name] = estimate.epsilon
    assert len(correct) >= 10
    assert max(correct.values()) <= 1.0


def test_one_training_convicts_noise_that_is_far_too_small() -> None:
    """The norm of the noise is drawn from Gamma(1) instead of Gamma(100): nearly every coin can be read off."""
    entry = find("output_perturbation_gamma_one")
    runnable = canaries_for(entry.build(1.0), 100)
    assert runnable
    estimate = OneRun()(*runnable, stream(0, "gamma one"))
    assert estimate.epsilon > 1.5
    assert verdict(Guarantee(1.0, "replace-one"), [estimate]) == "violated"


def test_delta_lowers_the_bound_and_comes_from_the_guarantee() -> None:
    assert one_run_bound(Guesses(390, 400, 400), 0.05, 1e-4) < one_run_bound(Guesses(390, 400, 400), 0.05)
    mechanism = FullBatchGradientPerturbation(1.0, delta=1e-5, steps=1)
    assert OneRun()(mechanism, gradient_canaries(20), stream(0, "delta")).delta == 1e-5
    assert OneRun(delta=0.0)(mechanism, gradient_canaries(20), stream(0, "delta")).delta == 0.0


def test_errors_name_the_value() -> None:
    with pytest.raises(EpsilometerError, match=r"shares is \(0\.5, 1\.5\)"):
        OneRun(shares=(0.5, 1.5))
    with pytest.raises(EpsilometerError, match="number of canaries is 0"):
        parameter_canaries(0)
    with pytest.raises(EpsilometerError, match="5 right guesses of 4"):
        one_run_p_value(Guesses(5, 4, 10), 1.0)
