"""The checks of cs860: each decides both ways, and what they measure agrees with what is known by hand or otherwise."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from scipy.special import ndtr

from epsilometer.claims.cs860 import (
    CHECKS,
    convergence_bound,
    delta_of_rough_minimum,
    descend,
    final_delta,
    kinked,
    last_iterate,
    measure_objective_hinge,
    sampled_tail,
    spent_share,
    steepest,
    transcript_delta,
)
from epsilometer.claims.cs860 import amplified as spent_after_sampling
from epsilometer.claims.ledger import Evidence
from epsilometer.core import EpsilometerError, stream
from epsilometer.erm import LOGISTIC, Distance, Hinge, Huber, Squared
from epsilometer.mechanisms.accounting import sampled_delta
from epsilometer.mechanisms.gradient_perturbation import PrintedGradientPerturbation
from epsilometer.mechanisms.neighbours import labelled_records
from epsilometer.mechanisms.randomized_response import RandomizedResponse
from tests.claims.evidence import with_shares

BOUND = {"slack": 1e-6, "tight": 0.9}
SLACK = {"slack": 1e-6}
DELTAS = {"delta_at_1e-09": 0.0, "delta_at_0.01": 0.0, "delta_at_0.03": 0.01, "delta_at_0.1": 0.02, "output_share": 4.0}
SPARE = {"delta_share": 0.5, "least_spare": 4.0, "most_spare": 9.0, "audited": 0.5}
EXCESS = {"share": 0.03} | {f"multiple_at_{epsilon}_{n}": 4.0 for epsilon in (4, 16) for n in (60, 120, 240)}
BEYOND = {"transcript_epsilon": 500.0, "transcript_delta": 0.4, "final_epsilon": 5e4, "final_delta": 0.06}
METHODS = {f"{name}{end}": 0.01 for name in ("approximate minima", "gradient") for end in ("", ", error")}

Case = tuple[str, dict[str, float], dict[str, float], str]
CASES: list[Case] = [
    ("lipschitz_gradient", {"a": 1.0}, SLACK, "holds"),
    ("lipschitz_gradient", {"a": 1.0, "b": 1.2}, SLACK, "fails as printed"),
    ("slope_geometric_median", {"share_at_length_1": 1.0}, BOUND, "holds"),
    ("slope_geometric_median", {"share_at_length_1": 1.1}, BOUND, "fails as printed"),
    ("slope_hinge", {"share_at_length_1": 1.0}, BOUND, "holds"),
    ("slope_hinge", {"share_at_length_1": 0.5}, BOUND, "holds, loosely"),
    ("slope_logistic", {"within_100": 1.0, "within_10000": 1.0}, {"growth": 0.01}, "holds"),
    ("slope_logistic", {"within_100": 1.0, "within_10000": 2.0}, {"growth": 0.01}, "underspecified"),
    ("slope_linear_regression", {"within_100": 2.0, "within_10000": 2.0}, {"growth": 0.01}, "holds"),
    ("slope_linear_regression", {"within_100": 200.0, "within_10000": 2e4}, {"growth": 0.01}, "underspecified"),
    ("convex", {"a": -1.0, "b": 1e-16}, {"slack": 1e-9}, "holds"),
    ("convex", {"a": -1.0, "b": 0.1}, {"slack": 1e-9}, "fails as printed"),
    ("mean", {"least_lead": 1.0}, {"least": 1e-3}, "holds"),
    ("mean", {"least_lead": -0.1}, {"least": 1e-3}, "fails as printed"),
    ("median", {"a_record": 1.0, "moved": 1.0}, {"always": 1.0}, "holds"),
    ("median", {"a_record": 0.9, "moved": 1.0}, {"always": 1.0}, "fails as printed"),
    (
        "support_vectors",
        {"others_left_out": 0.0, "one_left_out": 0.6, "one_closer": 3.0},
        {"slack": 1e-6, "dramatic": 0.5},
        "holds",
    ),
    (
        "support_vectors",
        {"others_left_out": 0.2, "one_left_out": 0.6, "one_closer": 3.0},
        {"slack": 1e-6, "dramatic": 0.5},
        "fails as printed",
    ),
    ("neighbours", {"exchanged": 1.0, "removed": 1.0}, {"same": 0.01}, "holds"),
    ("neighbours", {"exchanged": 1.0, "removed": 0.5}, {"same": 0.01}, "underspecified"),
    ("input_perturbation", {"local": 9000.0, "central": 140.0}, {"more": 2.0}, "holds"),
    ("input_perturbation", {"local": 150.0, "central": 140.0}, {"more": 2.0}, "fails as printed"),
    ("interpolation", {"distinct": 0.0, "equal_x": 0.0}, {"slack": 1e-9}, "holds"),
    ("interpolation", {"distinct": 0.0, "equal_x": 2.0}, {"slack": 1e-9}, "underspecified"),
    ("interpolation", {"distinct": 1.0, "equal_x": 2.0}, {"slack": 1e-9}, "fails as printed"),
    ("holds_back", {"free": 100.0, "regularised": 3.0}, {"less": 2.0}, "holds"),
    ("holds_back", {"free": 4.0, "regularised": 3.0}, {"less": 2.0}, "fails as printed"),
    ("overfitting", {"free": 0.4, "regularised": 0.1}, {"less": 2.0}, "holds"),
    ("overfitting", {"free": 0.1, "regularised": 0.1}, {"less": 2.0}, "fails as printed"),
    ("formalised", {"small_y": 0.03, "large_y": 0.9}, SLACK, "holds"),
    ("formalised", {"small_y": 0.03, "large_y": 30.0}, SLACK, "fails as printed"),
    ("lambda_limits", {"zero": 0.0, "infinite": 1e-12}, {"slack": 1e-9}, "holds"),
    ("lambda_limits", {"zero": 0.0, "infinite": 0.1}, {"slack": 1e-9}, "fails as printed"),
    ("lemma_1", {"hinge_at_1": 1.0, "hinge_at_8": 7.9}, BOUND, "holds"),
    ("lemma_1", {"hinge_at_1": 1.0, "hinge_at_8": 1.0}, BOUND, "holds, loosely"),
    ("lemma_1", {"hinge_at_1": 1.0, "hinge_at_8": 8.1}, BOUND, "fails as printed"),
    ("lemma_1_cited", {"hinge_at_1": 1.0}, SLACK, "holds"),
    ("lemma_1_cited", {"hinge_at_1": 1.0, "hinge_at_8": 1.0}, SLACK, "fails as printed"),
    ("gaussian_output", {"share": 0.95, "noise": 1.05}, BOUND, "holds"),
    ("gaussian_output", {"share": 0.8, "noise": 10.0}, BOUND, "holds, loosely"),
    ("gaussian_output", {"share": 1.2, "noise": 10.0}, BOUND, "fails as printed"),
    ("gaussian_constant", {"at_1": 4.8, "at_1000": 5.0}, {"growth": 2.0}, "holds"),
    ("gaussian_constant", {"at_1": 4.8, "at_1000": 200.0}, {"growth": 2.0}, "underspecified"),
    ("objective_gamma", {"share": 0.99}, BOUND, "holds"),
    ("objective_gamma", {"share": 1.01}, BOUND, "fails as printed"),
    ("objective_gaussian", {"share": 0.5}, BOUND, "holds, loosely"),
    ("objective_gaussian", {"share": 1.5}, BOUND, "fails as printed"),
    ("objective_scale", {"priced": 0.9, "not_priced": 1.0}, SLACK, "holds"),
    ("objective_scale", {"priced": 0.9, "not_priced": 25.0}, SLACK, "underspecified"),
    ("objective_scale", {"priced": 1.1, "not_priced": 25.0}, SLACK, "fails as printed"),
    ("objective_hinge", {"with_record": 0.0, "without": 0.0}, {"slack": 1e-3}, "holds"),
    ("objective_hinge", {"with_record": 0.2, "without": 0.0}, {"slack": 1e-3}, "fails as printed"),
    ("exact_minimum", DELTAS, {"none": 1e-9, "harm": 1e-3}, "holds"),
    ("exact_minimum", DELTAS | {"delta_at_1e-09": 0.01}, {"none": 1e-9, "harm": 1e-3}, "fails as printed"),
    (
        "exact_minimum",
        DELTAS | {"delta_at_0.03": 0.0, "delta_at_0.1": 0.0},
        {"none": 1e-9, "harm": 1e-3},
        "fails as printed",
    ),
    ("approximate_minimum", {"share": 0.3}, BOUND, "holds, loosely"),
    ("approximate_minimum", {"share": 1.3}, BOUND, "fails as printed"),
    ("floating_point", {"share": math.inf, "snapped": 1.0}, SLACK, "holds"),
    ("floating_point", {"share": 1.0, "snapped": 1.0}, SLACK, "fails as printed"),
    ("best_empirical", METHODS, {"among_best": 2.0, "deviations": 3.0}, "reproduced"),
    ("best_empirical", METHODS | {"approximate minima": 0.2}, {"among_best": 2.0, "deviations": 3.0}, "not reproduced"),
    ("never_reached", {"logistic": 0.1, "quadratic": 0.1}, {"reached": 0.0}, "holds"),
    ("never_reached", {"logistic": 0.1, "quadratic": 0.0}, {"reached": 0.0}, "fails as printed"),
    ("zero_gradient", {"inside": 0.0, "on_the_edge": 0.0}, {"slack": 1e-9}, "holds"),
    ("zero_gradient", {"inside": 0.0, "on_the_edge": 0.3}, {"slack": 1e-9}, "fails as printed"),
    ("theorem_2", {"kink": 0.2, "worst": 0.03, "coins": 0.1}, BOUND, "holds, loosely"),
    ("theorem_2", {"kink": 0.2, "worst": 1.3, "coins": 0.1}, BOUND, "fails as printed"),
    ("any_horizon", {"excess": 0.0, "claimed": 0.0}, SLACK, "holds"),
    ("any_horizon", {"excess": 1.0, "claimed": 0.0}, SLACK, "fails as printed"),
    ("first_step", {"theorem_2": 1.0, "algorithm_1": 1.0}, {"same": 1e-9}, "holds"),
    ("first_step", {"theorem_2": math.inf, "algorithm_1": 1.0}, {"same": 1e-9}, "underspecified"),
    ("learning_rate", {"printed_at_10": 0.3, "printed_at_300": 0.4, "right_at_300": 0.1}, SLACK, "holds"),
    ("learning_rate", {"printed_at_10": 0.3, "printed_at_300": 4.0, "right_at_300": 0.1}, SLACK, "fails as printed"),
    ("enough_steps", {"at_64": 0.24, "at_4096": 0.25}, {"growth": 0.1}, "holds"),
    ("enough_steps", {"at_64": 0.24, "at_4096": 0.44}, {"growth": 0.1}, "fails as printed"),
    ("gradient_count", {"full": 3.0, "stochastic": 2.0}, {"exponent": 0.2}, "holds"),
    ("gradient_count", {"full": 2.5, "stochastic": 1.5}, {"exponent": 0.2}, "fails as printed"),
    ("moments", {"bias": 0.0, "second": 1.0}, {"slack": 1e-9}, "holds"),
    ("moments", {"bias": 0.1, "second": 1.0}, {"slack": 1e-9}, "fails as printed"),
    ("stochastic", {"full": 0.01, "stochastic": 0.03}, BOUND, "holds, loosely"),
    ("stochastic", {"full": 0.01, "stochastic": 2.0}, BOUND, "fails as printed"),
    ("noisy_moment", {"second": 0.99, "standard_error": 0.01, "bias": 1.0}, {"deviations": 4.0}, "holds"),
    ("noisy_moment", {"second": 1.1, "standard_error": 0.01, "bias": 1.0}, {"deviations": 4.0}, "fails as printed"),
    ("utility", EXCESS, BOUND, "holds, loosely"),
    ("utility", EXCESS | {"share": 1.5}, BOUND, "fails as printed"),
    ("utility_large_epsilon", {"at_4": 1.0, "at_1000": 1.0, "at_100000": 2.0}, {"growth": 5.0}, "holds"),
    ("utility_large_epsilon", {"at_4": 1.0, "at_1000": 6.0, "at_100000": 500.0}, {"growth": 5.0}, "fails as printed"),
    ("gradient_sensitivity", {"exchanged": 1.0, "removed": 1.0}, SLACK, "holds"),
    ("gradient_sensitivity", {"exchanged": 2.0, "removed": 1.0}, SLACK, "fails as printed"),
    ("step_loss", {"printed": 1e-7, "exchanged": 0.4}, BOUND, "holds, loosely"),
    ("step_loss", {"printed": 1e-7, "exchanged": 1.4}, BOUND, "fails as printed"),
    ("lemma_3", {"share": 0.86, "share_at_2": 1.6}, BOUND, "holds, loosely"),
    ("lemma_3", {"share": 1.1, "share_at_2": 1.6}, BOUND, "fails as printed"),
    ("sampled_step_loss", {"share": 0.95}, BOUND, "holds"),
    ("sampled_step_loss", {"share": 7.0}, BOUND, "fails as printed"),
    ("composition", {"epsilon": 0.9, "delta": 1.0, "n": 100.0}, SLACK, "holds"),
    ("composition", {"epsilon": 1.5, "delta": 1.0, "n": 100.0}, SLACK, "fails as printed"),
    ("algorithm_3", SPARE, BOUND, "holds, loosely"),
    ("algorithm_3", SPARE | {"least_spare": 1.05}, BOUND, "holds"),
    ("algorithm_3", SPARE | {"delta_share": 2.0}, BOUND, "underspecified"),
    ("algorithm_3", SPARE | {"audited": 1.2}, BOUND, "fails as printed"),
    ("any_epsilon", BEYOND | {"final_delta": 0.0}, {"delta": 1e-5}, "holds"),
    ("any_epsilon", BEYOND, {"delta": 1e-5}, "fails as printed"),
]


@pytest.mark.parametrize(("check", "numbers", "tolerances", "outcome"), CASES)
def test_numbers_decide(check: str, numbers: dict[str, float], tolerances: dict[str, float], outcome: str) -> None:
    assert CHECKS[check].decide(numbers, tolerances).outcome == outcome


def test_every_check_has_a_case_on_each_side() -> None:
    sides = {check: {outcome for name, _, _, outcome in CASES if name == check} for check in CHECKS}
    assert [check for check, outcomes in sides.items() if len(outcomes) < 2] == []


# What is read from tables

READ = {
    "gaussian_output": "output_perturbation_gaussian",
    "objective_gamma": "objective_perturbation_cms11",
    "objective_gaussian": "objective_perturbation_gaussian",
    "objective_scale": "objective_perturbation_kst12",
    "approximate_minimum": "approximate_minimum_perturbation",
    "algorithm_3": "gradient_perturbation_printed",
}
ALSO_READ = ("objective_perturbation_kst12", "objective_perturbation_huber", "objective_perturbation_general")


@pytest.mark.parametrize("check", READ)
def test_an_altered_table_flips_the_verdict(check: str, tmp_path: Path) -> None:
    shares = dict.fromkeys([*READ.values(), *ALSO_READ], 0.5)
    kept = CHECKS[check].measure(with_shares(tmp_path / "kept", shares))
    broken = CHECKS[check].measure(with_shares(tmp_path / "broken", shares | {READ[check]: 1.5}))
    assert CHECKS[check].decide(kept.numbers, BOUND).outcome in ("holds", "holds, loosely")
    assert CHECKS[check].decide(broken.numbers, BOUND).outcome == "fails as printed"


def test_floating_point_is_decided_by_the_table(tmp_path: Path) -> None:
    check = CHECKS["floating_point"]
    for share, outcome in ((math.inf, "holds"), (1.0, "fails as printed")):
        numbers = check.measure(with_shares(tmp_path, {"laplace_floating_point": share, "snapping": 1.0})).numbers
        assert check.decide(numbers, SLACK).outcome == outcome


def test_the_largest_share_is_taken_and_a_missing_mechanism_is_a_sentence(tmp_path: Path) -> None:
    evidence = with_shares(tmp_path, {"a": 0.5, "b": 0.8})
    assert spent_share(evidence, "a", "b") == pytest.approx(0.8)
    with pytest.raises(EpsilometerError, match="no row of c; audit it first"):
        spent_share(evidence, "a", "c")


# What is computed


@pytest.fixture
def evidence(tmp_path: Path) -> Evidence:
    return Evidence(tmp_path, 2008)


def test_slopes_known_by_hand() -> None:
    assert steepest(Hinge(), 3.0, 10.0) == pytest.approx(3.0)
    assert steepest(Distance(), 0.5, 10.0) == pytest.approx(1.0)
    assert steepest(LOGISTIC, 1.0, 1.0) == pytest.approx(1 / (1 + math.exp(-1)), rel=1e-4)
    assert steepest(Squared(1.0), 1.0, 5.0) == pytest.approx(2 * (1 + 5), rel=1e-3)


def test_lemma_1_by_hand(evidence: Evidence) -> None:
    """max(0, 1 - theta) + 2 theta^2 is smallest at 1/4, so the two minimisers are 1/2 = 2/lambda apart, whatever n is."""
    moved = CHECKS["lemma_1"].measure(evidence).numbers
    assert [moved[f"hinge_at_{n}"] for n in (1, 8, 1000)] == pytest.approx([1.0, 1.0, 1.0], abs=1e-8)
    assert 0.97 < moved["logistic_at_200000"] <= 1
    assert CHECKS["lemma_1"].decide(moved, BOUND).factor == pytest.approx(200_000 / moved["logistic_at_200000"])


def test_neighbours_and_support_vectors_by_hand(evidence: Evidence) -> None:
    assert CHECKS["neighbours"].measure(evidence).numbers == pytest.approx({"exchanged": 1.0, "removed": 0.5}, abs=1e-8)
    moved = CHECKS["support_vectors"].measure(evidence).numbers
    assert moved == pytest.approx({"others_left_out": 0.0, "one_left_out": 0.6, "one_closer": 3.0}, abs=1e-6)


def test_randomised_bits_are_as_noisy_as_said(evidence: Evidence) -> None:
    """The standard deviation of 2,000 estimates from 400 bits; 7% off has a probability below 1e-4."""
    response = RandomizedResponse.from_epsilon(1.0)
    bits = np.repeat([0, 1], [250, 150])
    answers = response.sample(bits, 2000, stream(1, "randomised bits"))
    estimates = (answers.mean(axis=1) - (0.5 - response.gamma)) / (2 * response.gamma)
    local = CHECKS["input_perturbation"].measure(evidence).numbers["local"]
    assert estimates.std() == pytest.approx(0.01 * math.sqrt(local / 400), rel=0.07)


def test_a_hinge_hides_noise_at_its_kink(evidence: Evidence) -> None:
    """P(-0.1 <= b <= 0.9) for a density (1/4) exp(-|b|/2)."""
    numbers = measure_objective_hinge(evidence).numbers
    assert numbers["with_record"] == pytest.approx(1 - (math.exp(-0.05) + math.exp(-0.45)) / 2, abs=1e-4)
    assert numbers["without"] == 0


def test_only_a_rough_minimum_costs() -> None:
    """One that stops at once, whatever the data, costs nothing either."""
    assert delta_of_rough_minimum(1e-9) == 0
    assert delta_of_rough_minimum(1e3) == 0
    assert delta_of_rough_minimum(0.1) > 0.005


def test_the_worst_function_is_as_bad_as_proved() -> None:
    """Harvey et al. prove log(T)/32; the bound of Shamir and Zhang is the other side."""
    for steps in (16, 256, 2048):
        assert math.log(steps) / 32 <= last_iterate(steps) <= convergence_bound(steps) * math.sqrt(steps)


def test_descent_by_hand() -> None:
    """From 0.5 on |theta| with rate 1/2: 0, then 0 - 0.5/sqrt(2); the edge holds back the other start."""
    slope = lambda theta: np.where(theta < 0, -1.0, 1.0)  # noqa: E731
    assert descend(slope, np.array([0.5]), 2, 0.5, 1.0) == pytest.approx([-0.5 / math.sqrt(2)])
    assert descend(lambda theta: -np.ones_like(theta), np.array([0.9]), 1, 0.5, 1.0) == pytest.approx([1.0])


def test_the_kinked_sum_is_what_it_says() -> None:
    theta = np.linspace(-1, 2, 31)
    total = Hinge().value(theta[:, None] @ kinked(15).signed.T).sum(axis=1)
    assert total == pytest.approx(5 * (2 + np.abs(theta - 1)))


@pytest.mark.parametrize(("inner", "n", "size"), [(0.5, 6, 2), (0.999, 8, 3), (2.0, 10, 1), (0.7, 4, 4)])
def test_sampling_amplifies_by_the_exact_formula(inner: float, n: int, size: int) -> None:
    assert spent_after_sampling(inner, n, size) == pytest.approx(math.log1p(size / n * math.expm1(inner)))


@pytest.mark.parametrize(("mu", "q", "limit"), [(1.0, 0.2, 0.1), (2.0, 0.5, 0.3), (0.5, 1.0, 0.2)])
def test_the_tail_of_a_sampled_gaussian_agrees_with_quadrature(mu: float, q: float, limit: float) -> None:
    x = np.linspace(-12, 14, 2_000_001)
    plain = np.exp(-(x**2) / 2) / math.sqrt(2 * math.pi)
    mixture = (1 - q) * plain + q * np.exp(-((x - mu) ** 2) / 2) / math.sqrt(2 * math.pi)
    loss = np.log(mixture / plain)
    tails = (np.sum(mixture[loss > limit]), np.sum(plain[-loss > limit]))
    assert sampled_tail(mu, q, limit) == pytest.approx(max(tails) * (x[1] - x[0]), rel=1e-4)


def test_the_loss_of_a_step_agrees_with_quadrature() -> None:
    """At n = 1, delta = 1e-2 and the largest epsilon the loss of N(m, 1) against N(0, 1) is m x - m^2/2."""
    delta = 1e-2
    epsilon = 2 * math.sqrt(math.log(1 / delta))
    m = 2 / PrintedGradientPerturbation(epsilon, delta).sigma(1)
    x = np.linspace(-12, 14, 2_000_001)
    beyond = m * x - m**2 / 2 > epsilon / (2 * math.sqrt(math.log(1 / delta)))
    tail = np.sum(np.exp(-((x[beyond] - m) ** 2) / 2)) * (x[1] - x[0]) / math.sqrt(2 * math.pi)
    worst = CHECKS["step_loss"].measure(Evidence(Path(), 0)).numbers["exchanged"]
    assert worst == pytest.approx(tail / (delta / 2), rel=1e-3)


def test_lower_bounds_on_delta_stay_below_the_accountant() -> None:
    for epsilon in (20.0, 50.0, 100.0):
        mu = 2 * 4 / PrintedGradientPerturbation(epsilon).sigma(4)
        assert transcript_delta(epsilon, 4) <= sampled_delta(epsilon, mu, 1 / 4, 16)
        assert final_delta(epsilon, 4) <= sampled_delta(epsilon, mu, 1 / 4, 16)


def test_a_transcript_at_epsilon_500_tells_more_than_it_may() -> None:
    """P[loss > 500] by 4,000 simulated transcripts is above the bound on delta, up to an error of 1e-4 or less."""
    rng, n = stream(1, "transcripts"), 10
    mu = 2 * n / PrintedGradientPerturbation(500.0).sigma(n)
    noise = rng.standard_normal((4000, n * n)) + mu * (rng.random((4000, n * n)) < 1 / n)
    loss = np.sum(np.log1p(np.expm1(mu * noise - mu**2 / 2) / n), axis=1)
    assert 0.3 < transcript_delta(500.0, n) <= np.mean(loss > 500) + 0.03


def test_the_final_parameters_alone_tell_as_much_as_computed() -> None:
    """At epsilon = 50,000 two equal records never lead below 0; with one turned round 1/16 of the runs do, or more."""
    mechanism, rng = PrintedGradientPerturbation(5e4, radius=0.5, loss=Huber(0.5)), stream(1, "final")
    equal, turned = ([((1.0,), 1.0), ((1.0,), label)] for label in (1.0, -1.0))
    assert mechanism.sample_final(labelled_records(equal), 4000, rng).min() > 0
    below = np.mean(mechanism.sample_final(labelled_records(turned), 4000, rng) < 0)
    assert final_delta(5e4, 2) == pytest.approx(1 / 16)
    assert below > 1 / 16 - 0.015  # with probability 1 - 1e-4
    assert float(ndtr(-1 / mechanism.sigma(2))) < 1e-300


@pytest.mark.parametrize("check", ["convex", "moments", "overfitting", "noisy_moment"])
def test_measures_are_the_same_on_each_run(check: str, tmp_path: Path) -> None:
    first, second = (CHECKS[check].measure(Evidence(tmp_path / name, 7)).numbers for name in ("a", "b"))
    assert first == second
