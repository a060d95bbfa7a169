"""The checks of review: each has a case on either side, measures what is known by hand, and follows the tables."""

from __future__ import annotations

import math
from itertools import permutations, product
from pathlib import Path

import numpy as np
import pytest

from epsilometer.audits.verify import verify
from epsilometer.claims.ledger import Evidence
from epsilometer.claims.review import (
    BETA,
    CHECKS,
    EPSILONS,
    RATES,
    SIZE,
    SIZES,
    VALUES,
    data_sets,
    measure_efficiency,
    measure_four_people,
    measure_local_noise,
    measure_same_probability,
    measure_smaller_epsilon,
    measure_smooth,
    measure_smooth_noise,
    measure_useless,
)
from epsilometer.core import EpsilometerError, read_table, write_table
from epsilometer.experiments.anonymised_tables import anonymised_tables, difference_success
from epsilometer.mechanisms.smooth_sensitivity import median_smooth_sensitivity
from tests.claims.evidence import sides, with_shares

SLACK = {"slack": 1e-9}
PRIVATE = {"slack": 1e-9, "tight": 0.9}
SAME = {"same": 1e-12}
HOLDS, LOOSELY, FAILS, OPEN = "holds", "holds, loosely", "fails as printed", "underspecified"
LEARNERS = {
    "bayes_input": ["beta_bernoulli_input"],
    "bayes_output": ["beta_bernoulli_output"],
    "bayes_divergence": ["beta_bernoulli_hellinger"],
    "naive_bayes": ["naive_bayes"],
    "linear_regression": ["posterior_sampling", "posterior_sampling_adaptive"],
    "kernel_svm": ["kernel_svm"],
    "exponential": ["exponential_median", "exponential_most_frequent"],
    "laplace": ["laplace_count", "laplace_difference_attack"],
}
NAMED = {
    "decision_tree": ["decision_tree"],
    "k_means": ["k_means"],
    "linear_svm": ["output_perturbation_hinge"],
    "logistic_regression": ["output_perturbation", "objective_perturbation_cms11"],
    "feature_selection": ["feature_selection"],
}


def people(inside: float, outside: float) -> dict[str, float]:
    return {"published_in": 1.0, "published_out": 0.0, "withheld_in": inside, "withheld_out": outside}


def apart(*values: float) -> dict[str, float]:
    return {f"{epsilon:g}": value for epsilon, value in zip(EPSILONS, values, strict=True)}


def smooth(excess: float, stretch: float) -> dict[str, float]:
    return {
        "least_excess_symmetric_difference": excess,
        "stretch_symmetric_difference": stretch,
        "least_excess_exchanged": 0.0,
        "stretch_exchanged": 1.0,
    }


def efficiency(vanishing: float, growing: float) -> dict[str, float]:
    """The values at the largest size; 10 before."""
    last = dict(zip(RATES, (vanishing, growing), strict=True))
    return {f"{name} {n}": last[name] if n == SIZES[-1] else 10.0 for name in RATES for n in SIZES}


Case = tuple[str, dict[str, float], dict[str, float], str]
CASES: list[Case] = [
    ("identifiers", {"unnamed": 0.6, "blind": 0.2}, {"margin": 0.1}, HOLDS),
    ("identifiers", {"unnamed": 0.2, "blind": 0.2}, {"margin": 0.1}, FAILS),
    ("background", {"spent": math.inf, "success": 1.0}, {"largest epsilon": 10, "sure": 0.99}, HOLDS),
    ("background", {"spent": 1.0, "success": 1.0}, {"largest epsilon": 10, "sure": 0.99}, FAILS),
    ("background", {"spent": math.inf, "success": 0.5}, {"largest epsilon": 10, "sure": 0.99}, FAILS),
    ("grouped", {"by_diagnosis": 2.0, "by_the_others": 2.0}, {"diversity": 2}, HOLDS),
    ("grouped", {"by_diagnosis": 1.0, "by_the_others": 2.0}, {"diversity": 2}, FAILS),
    ("four_people", people(1.0, 0.0), {}, HOLDS),
    ("four_people", people(0.0, 2.0), {}, FAILS),
    ("four_people", people(1.0, 1.0), {}, FAILS),
    ("neighbours", {"deleted": 1.0, "exchanged": 1.0}, SLACK, HOLDS),
    ("neighbours", {"deleted": 1.0, "exchanged": 2.0}, SLACK, OPEN),
    ("subtraction", {"up_to": 1.0, "before": 1.0}, {"sure": 1}, HOLDS),
    ("subtraction", {"up_to": 1.0, "before": 0.5}, {"sure": 1}, OPEN),
    ("subtraction", {"up_to": 0.7, "before": 0.5}, {"sure": 1}, FAILS),
    ("same_probability", {"0.01": 1.01, "0.1": 1.05}, {"almost": 0.1}, HOLDS),
    ("same_probability", {"0.01": 1.01, "1.099": 3.0}, {"almost": 0.1}, OPEN),
    ("same_probability", {"0.01": 1.5, "1.099": 3.0}, {"almost": 0.1}, FAILS),
    ("difference_attack", {"success at 1": 0.6, "success at 5": 0.7}, {"sure": 0.75}, HOLDS),
    ("difference_attack", {"success at 1": 0.6, "success at 5": 0.9}, {"sure": 0.75}, OPEN),
    ("difference_attack", {"success at 1": 0.8, "success at 5": 0.9}, {"sure": 0.75}, FAILS),
    ("smaller_epsilon", apart(0.8, 0.5, 0.1, 0.01, 0.0), SAME, HOLDS),
    ("smaller_epsilon", apart(0.8, 0.5, 0.1, 0.01, 0.005), SAME, FAILS),
    ("smaller_epsilon", apart(0.8, 0.9, 0.1, 0.01, 0.0), SAME, FAILS),
    ("count_sensitivity", {"count": 1.0}, SAME, HOLDS),
    ("count_sensitivity", {"count": 2.0}, SAME, FAILS),
    ("mean_and_median", {"count": 1.0, "mean": 2.0, "median": 10.0}, {"range": 100}, HOLDS),
    ("mean_and_median", {"count": 1.0, "mean": 0.2, "median": 1.0}, {"range": 100}, OPEN),
    ("mean_and_median", {"count": 1.0, "mean": 0.001, "median": 1.0}, {"range": 100}, FAILS),
    ("local_definition", {"global": 1.0, "printed": 0.3, "least_with_x_fixed": 0.0}, SAME, HOLDS),
    ("local_definition", {"global": 1.0, "printed": 1.0, "least_with_x_fixed": 0.0}, SAME, FAILS),
    ("local_is_smaller", {"count": 0.2, "median": 0.3}, {"much smaller": 0.5}, HOLDS),
    ("local_is_smaller", {"count": 1.0, "median": 0.3}, {"much smaller": 0.5}, OPEN),
    ("local_is_smaller", {"count": 1.0, "median": 0.9}, {"much smaller": 0.5}, FAILS),
    ("equation_4", {"largest_gap": 0.0}, SAME, HOLDS),
    ("equation_4", {"largest_gap": 0.5}, SAME, FAILS),
    ("local_noise", {"pairs": 10.0, "log_ratio": 20.0}, {"largest epsilon": 10}, HOLDS),
    ("local_noise", {"pairs": 0.0, "log_ratio": 0.0}, {"largest epsilon": 10}, FAILS),
    ("smooth_upper", smooth(0.0, 2.0), SAME, HOLDS),
    ("smooth_upper", smooth(-0.1, 2.0), SAME, FAILS),
    ("smooth_stretch", smooth(0.0, 1.0), SLACK, HOLDS),
    ("smooth_stretch", smooth(0.0, 2.0), SLACK, FAILS),
    ("smooth_noise", {"share_at_10": 0.5, "share_at_1000": 0.9, "share_of_quartic": 0.4}, SLACK, HOLDS),
    ("smooth_noise", {"share_at_10": 0.5, "share_at_1000": 90.0, "share_of_quartic": 0.4}, SLACK, OPEN),
    ("smooth_noise", {"share_at_10": 0.5, "share_at_1000": 90.0, "share_of_quartic": 1.4}, SLACK, FAILS),
    ("parallel", {"share": 1.0, "share_deleted": 1.0}, PRIVATE, HOLDS),
    ("parallel", {"share": 0.5, "share_deleted": 0.5}, PRIVATE, LOOSELY),
    ("parallel", {"share": 2.0, "share_deleted": 1.0}, PRIVATE, FAILS),
    ("sequential", {"share": 1.0}, PRIVATE, HOLDS),
    ("sequential", {"share": 0.5}, PRIVATE, LOOSELY),
    ("sequential", {"share": 1.2}, PRIVATE, FAILS),
    ("laplace_norm", {"L1": 1.0, "L2": 1.0}, SLACK, HOLDS),
    ("laplace_norm", {"L1": 1.0, "L2": 1.41}, SLACK, OPEN),
    ("laplace_norm", {"L1": 1.2, "L2": 1.41}, SLACK, FAILS),
    ("noise_grows", {"0.01": 100.0, "0.1": 10.0}, {}, HOLDS),
    ("noise_grows", {"0.01": 1.0, "0.1": 10.0}, {}, FAILS),
    ("exponential_probability", {"sum": 1.0, "proportional": 1.0}, SAME, HOLDS),
    ("exponential_probability", {"sum": 22.0, "proportional": 1.0}, SAME, FAILS),
    ("efficiency", efficiency(0.01, 0.1), {"efficient": 0.1}, HOLDS),
    ("efficiency", efficiency(1e6, 0.1), {"efficient": 0.1}, FAILS),
    ("useless", {"1000": 1.6, "100000": 0.5}, {"useful": 0.01}, HOLDS),
    ("useless", {"1000": 1.6, "100000": 0.001}, {"useful": 0.01}, FAILS),
    *((name, {"share": 1.0}, PRIVATE, HOLDS) for name in LEARNERS),
    *((name, {"share": 0.5}, PRIVATE, LOOSELY) for name in LEARNERS),
    *((name, {"share": 1.2}, PRIVATE, FAILS) for name in LEARNERS),
    *((name, {"share": 1.0}, SLACK, OPEN) for name in NAMED),
    *((name, {"share": 1.2}, SLACK, FAILS) for name in NAMED),
]


@pytest.mark.parametrize(("check", "numbers", "tolerances", "outcome"), CASES)
def test_the_numbers_decide(check: str, numbers: dict[str, float], tolerances: dict[str, float], outcome: str) -> None:
    assert CHECKS[check].decide(numbers, tolerances).outcome == outcome


def test_every_check_has_a_case_on_each_side() -> None:
    outcomes = sides(CASES)
    assert outcomes.keys() == CHECKS.keys()
    assert min(map(len, outcomes.values())) >= 2


# Numbers that are known otherwise


@pytest.fixture
def evidence(tmp_path: Path) -> Evidence:
    return Evidence(tmp_path, 1)


def test_the_grid_holds_all_data_sets_and_their_distances() -> None:
    every = data_sets()
    assert len(every.values) == math.comb(len(VALUES) + SIZE - 1, SIZE)
    for one, other in ((3, 70), (0, 125), (40, 41), (60, 60)):
        first, second = every.values[one], every.values[other]
        fewest = min(int(np.sum(first != np.array(order))) for order in set(permutations(second.tolist())))
        assert every.distance[one, other] == fewest


def test_sensitivities_by_hand() -> None:
    every = data_sets()
    assert [every.global_sensitivity(query) for query in ("count", "mean", "median")] == pytest.approx([1.0, 0.2, 1.0])
    where = {tuple(values): place for place, values in enumerate(every.values.tolist())}
    local = every.local_sensitivity("median")
    assert local[where[0.0, 0.0, 0.0, 0.0, 1.0]] == 0.0  # three zeros stay
    assert local[where[0.0, 0.25, 0.5, 0.5, 1.0]] == 0.25  # the median 0.5 can fall to 0.25, or stay
    assert every.local_sensitivity("mean")[where[0.25, 0.25, 0.5, 0.5, 0.5]] == pytest.approx(0.75 / 5)


def test_the_smooth_sensitivity_is_that_of_the_library(evidence: Evidence) -> None:
    every = data_sets()
    found = every.smooth_sensitivity("median", BETA, every.distance)
    assert found == pytest.approx([median_smooth_sensitivity(values, 1.0, BETA) for values in every.values])
    numbers = measure_smooth(evidence).numbers
    assert numbers["stretch_exchanged"] == pytest.approx(1.0)
    assert numbers["stretch_symmetric_difference"] == pytest.approx(2.0)


def test_noise_by_local_sensitivity_by_hand(evidence: Evidence) -> None:
    """P(|noise| <= 1e-9) = 1 - exp(-1e-9/LS), at most about 1e-9/LS, for LS = 1."""
    assert measure_local_noise(evidence).numbers["log_ratio"] == pytest.approx(math.log(1e9), rel=1e-6)


def test_laplace_noise_by_smooth_sensitivity_by_hand(tmp_path: Path) -> None:
    """Medians 0; S = e^(-beta) and 1 at beta = 1/10: far out the log-densities differ by |o| (1/S - 1) - log(1/S)."""
    numbers = measure_smooth_noise(with_shares(tmp_path, {"smooth_median": 0.4})).numbers
    for output in (10.0, 1000.0):
        assert numbers[f"share_at_{output:g}"] == pytest.approx(abs(output * math.expm1(0.1) - 0.1))


def test_the_fourth_person_by_hand(evidence: Evidence) -> None:
    assert dict(measure_four_people(evidence).numbers) == people(0.0, 2.0)


def test_the_counts_with_noise_by_hand(evidence: Evidence) -> None:
    """count(4) = 2 and count(5) = 3, so densities at 2, 2.5 and 3 lie between those of noise 0 and 1: e^epsilon apart."""
    ratios = list(measure_same_probability(evidence).numbers.values())
    assert ratios == pytest.approx([math.exp(0.01), math.exp(0.1), 2.0, 3.0])


def test_outputs_come_together_as_epsilon_falls(evidence: Evidence) -> None:
    expected = [math.tanh(epsilon / 2) for epsilon in EPSILONS]  # 2 gamma
    assert list(measure_smaller_epsilon(evidence).numbers.values()) == pytest.approx(expected)


def test_private_predictions_come_near_as_records_are_added(evidence: Evidence) -> None:
    numbers = measure_useless(evidence).numbers
    assert numbers["1000"] / numbers["1e+07"] == pytest.approx(1e4)
    scale = 4 * 4.0 * 2.0 / (0.1 * 1000)  # 4 C sqrt(2D)/(epsilon n), C = 4, D = 2
    assert scale * 2 < numbers["1000"] < scale * 8  # the length of four Laplace variables is seldom below 2 or above 8


def test_efficiency_moves_in_opposite_directions(evidence: Evidence) -> None:
    numbers = measure_efficiency(evidence).numbers
    assert numbers[f"vanishing {SIZES[-1]}"] > 10 * numbers[f"vanishing {SIZES[0]}"]
    assert numbers[f"growing {SIZES[-1]}"] < numbers[f"growing {SIZES[0]}"] / 10


# The tables decide


def outcome(check: str, evidence: Evidence, tolerances: dict[str, float]) -> str:
    return CHECKS[check].decide(CHECKS[check].measure(evidence).numbers, tolerances).outcome


@pytest.mark.parametrize(("check", "mechanisms"), [*LEARNERS.items(), *NAMED.items()])
def test_an_altered_table_of_verdicts_alters_the_decision(tmp_path: Path, check: str, mechanisms: list[str]) -> None:
    for mechanism in mechanisms:
        kept = dict.fromkeys(mechanisms, 0.95)
        assert outcome(check, with_shares(tmp_path, kept), PRIVATE) == (OPEN if check in NAMED else HOLDS)
        assert outcome(check, with_shares(tmp_path, kept | {mechanism: 1.2}), PRIVATE) == FAILS
    with pytest.raises(EpsilometerError, match="has no row of"):
        CHECKS[check].measure(with_shares(tmp_path, {"another": 1.0}))


def test_composition_follows_the_table_and_its_witness_is_verified(tmp_path: Path) -> None:
    shares = {"parallel_composition_as_printed": 2.0, "parallel_composition": 1.0, "sequential_composition": 1.0}
    evidence = with_shares(tmp_path / "found", shares)
    witness = CHECKS["parallel"].measure(evidence).witness
    assert witness is not None
    assert float(abs(verify(witness)[0])) == pytest.approx(2.0)
    assert outcome("parallel", evidence, PRIVATE) == FAILS
    assert outcome("neighbours", evidence, SLACK) == OPEN
    assert outcome("sequential", evidence, PRIVATE) == HOLDS
    altered = {"parallel_composition_as_printed": 1.0, "parallel_composition": 1.0, "sequential_composition": 1.1}
    evidence = with_shares(tmp_path / "altered", altered)
    assert outcome("parallel", evidence, PRIVATE) == HOLDS
    assert outcome("neighbours", evidence, SLACK) == HOLDS
    assert outcome("sequential", evidence, PRIVATE) == FAILS


def test_the_attacks_are_read_from_their_table(tmp_path: Path) -> None:
    """Of 20,000 attacks, the share that succeeds is within 0.02 of its closed form but with probability 1e-7."""
    table = tmp_path / "anonymised_tables/worked_example.csv"
    anonymised_tables(table, tmp_path / "curves.csv", epsilons=[1.0, 5.0], trials=20_000, seed=1)
    evidence = with_shares(tmp_path, {"k_anonymity": math.inf})
    numbers = CHECKS["difference_attack"].measure(evidence).numbers
    for epsilon in (1.0, 5.0):
        assert numbers[f"success at {epsilon:g}"] == pytest.approx(difference_success(epsilon), abs=0.02)
    kept = {"margin": 0.1, "largest epsilon": 10.0, "sure": 0.75}
    expected = {"identifiers": HOLDS, "background": HOLDS, "subtraction": OPEN, "difference_attack": OPEN}
    assert {check: outcome(check, evidence, kept) for check in expected} == expected
    rows = read_table(table)
    for row in rows:
        row["success"] = 0.5 if row["example"] == "review" else 0.2
    write_table(table, rows)
    expected = {"identifiers": FAILS, "background": FAILS, "subtraction": FAILS, "difference_attack": HOLDS}
    assert {check: outcome(check, evidence, kept) for check in expected} == expected


def test_before_the_row_means_someone_else(tmp_path: Path) -> None:
    """Read so, the difference is the diagnosis in row 4, which is Alice's in half of all tables."""
    anonymised_tables(
        tmp_path / "anonymised_tables/worked_example.csv", tmp_path / "curves.csv", epsilons=[1.0], trials=100, seed=1
    )
    same = np.mean([table[3] == table[4] for table in product((0, 1), repeat=5)])
    assert dict(CHECKS["subtraction"].measure(Evidence(tmp_path, 1)).numbers) == {"up_to": 1.0, "before": same}
