"""The checks of nips08 on privacy and learning: each decides both ways, and measures what is there."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from scipy import integrate, stats
from scipy.special import expit, gammainc

from epsilometer.audits.verify import verify
from epsilometer.claims import nips08
from epsilometer.claims.ledger import Evidence, Outcome
from epsilometer.claims.nips08 import experiments, learning, privacy
from epsilometer.claims.nips08.learning import (
    ALGORITHMS,
    SETTINGS,
    Goal,
    draw_records,
    expected_loss,
    lemma_3_bound,
    lemma_4_bound,
    needed_size,
    regularised_risk,
    theorem_4_size,
    theorem_5_size,
)
from epsilometer.core import EpsilometerError, stream, write_table
from epsilometer.data.synthetic import separable
from epsilometer.erm import LOGISTIC, Objective
from tests.claims.evidence import with_verdicts

Numbers = dict[str, float]
CHECKS = privacy.CHECKS | learning.CHECKS
PROMISE = {"slack": 1e-6, "tight": 0.9}
SLACK = {"slack": 1e-9}
COVERAGE = {"confidence": 0.999, "loose": 0.1}
GROWTH = {"faster": 0.1, "tight": 0.9}
BOUNDS = {"least": 1.0, "largest": 1.0, "least_if_long": 1.0, "equal_if_long": 0.1, "least_if_private": 1.5}
REGRETS = {f"algorithm {k} at {lam:g}": value for k in (1, 2) for lam, value in ((1, 1), (0.1, 2), (0.01, 4), (0.001, 8))}


def coverage(within: float, factor: float) -> Numbers:
    """One case at level 0.95, with a thousand runs."""
    return {"within, a": within, "runs, a": 1000.0, "level, a": 0.95, "factor, a": factor}


def growth(needed: float) -> Numbers:
    """Needed along d, where 4 times as many records are stated; as stated along the others."""
    stated = {f"{kind}, {axis}": 4.0 for kind in ("needed", "stated") for axis in ("d", "epsilon", "r")}
    return {**stated, "needed, d": needed, "constant": 0.2}


def promise(share: float, **others: float) -> list[tuple[Numbers, Outcome]]:
    """The share within its promise, near it, and beyond it."""
    return [
        ({"share": share, **others}, "holds"),
        ({"share": share / 2, **others}, "holds, loosely"),
        ({"share": share * 1.1, **others}, "fails as printed"),
    ]


BOTH_SIDES: dict[str, tuple[Numbers, list[tuple[Numbers, Outcome]]]] = {
    "neighbours": (
        SLACK,
        [
            ({"exchanged": 0.9, "removed_near": 0.5, "removed_far": 0.9}, "holds"),
            ({"exchanged": 0.9, "removed_near": 0.5, "removed_far": 1.1}, "underspecified"),
            ({"exchanged": 1.1, "removed_near": 0.5, "removed_far": 0.9}, "fails as printed"),
        ],
    ),
    "definition_in_words": (
        SLACK,
        [
            ({"difference": 0.5, "relative": 1.0}, "holds"),
            ({"difference": 0.5, "relative": 1.1}, "underspecified"),
            ({"difference": 1.1, "relative": 1.2}, "fails as printed"),
        ],
    ),
    "adversary": ({"sure": 0.95}, [({"posterior_at_1": 0.94}, "holds"), ({"posterior_at_1": 0.96}, "underspecified")]),
    "sensitivity_formula": (
        {"same": 1e-6},
        [({"here": 1.0, "there": 1.0 + 1e-8}, "holds"), ({"here": 1.0, "there": 1.1}, "underspecified")],
    ),
    "laplace": (PROMISE, promise(1.0, share_with_scale=1.0)),
    "smooth_laplace": (PROMISE, promise(1.0, share_with_quartic_noise=0.4)),
    "smooth_is_less": (
        {"less": 0.5},
        [({"concentrated": 0.4, "split": 1.0}, "holds"), ({"concentrated": 0.6, "split": 1.0}, "fails as printed")],
    ),
    "lemma_1": (PROMISE, promise(1.0)),
    "lemma_4_step": (PROMISE, promise(2.0)),
    "lemma_1_proof": (
        SLACK,
        [
            ({"printed": 0.0, "absolute": 0.0, "eigenbasis": 0.0}, "holds"),
            ({"printed": 0.1, "absolute": 0.0, "eigenbasis": 0.0}, "fails as printed"),
            ({"printed": 0.1, "absolute": 0.1, "eigenbasis": 0.1}, "fails as printed"),
        ],
    ),
    "corollary_2": (PROMISE, promise(1.0, share_at_the_papers_lambda=0.4, share_on_the_line=0.3)),
    "regularisation": (
        {"falls": 0.1},
        [
            ({f"{what}_at_{lam:g}": 1 / lam for what in ("shift", "noise") for lam in (1e-3, 1e-2, 1e-1)}, "holds"),
            (
                {"shift_at_0.001": 3, "shift_at_0.01": 2, "shift_at_0.1": 1}
                | {f"noise_at_{lam:g}": 1.0 for lam in (1e-3, 1e-2, 1e-1)},
                "fails as printed",
            ),
        ],
    ),
    "theorem_1": (PROMISE, promise(1.0)),
    "gamma_norm": ({"same": 1e-6}, [({"distance": 1e-7}, "holds"), ({"distance": 1e-5}, "fails as printed")]),
    "theorem_2": (PROMISE, promise(1.0, exceeded_up_to=1.9, kept_from=2.1)),
    "any_lambda": (PROMISE, promise(1.0, **{"spent_at_0.01": 1.0})),
    "noise_shift": (PROMISE, promise(1.0)),
    "change_of_variables": (
        {"same": 1e-3},
        [
            ({"noise": 1.0, "outputs": 1.0005, "with_determinant": 1.0}, "holds"),
            ({"noise": 1.0, "outputs": 1.1, "with_determinant": 1.1}, "fails as printed"),
        ],
    ),
    "theorem_3": (PROMISE, promise(1.0, share_when_corrected=0.9)),
    "no_sensitivity": (
        SLACK | {"same": 1e-9},
        [
            ({"ten_times_lambda": 1.0, "ten_times_n": 1.0, "twice_the_slope": 1.0}, "holds"),
            ({"ten_times_lambda": 1.0, "ten_times_n": 1.0, "twice_the_slope": 2.0}, "fails as printed"),
        ],
    ),
    "anonymised": ({"largest_epsilon": 20.0}, [({"spent": math.inf}, "holds"), ({"spent": 3.0}, "fails as printed")]),
    **{
        name: (
            COVERAGE,
            [
                (coverage(950, 1.0), "holds"),
                (coverage(1000, 2.0), "holds, loosely"),
                (coverage(920, 0.9), "fails as printed"),  # the upper end of the interval is 0.944
            ],
        )
        for name in ("lemma_3", "lemma_4", "lemma_5")
    },
    "curvature": (
        PROMISE,
        [({"largest": 1.0}, "holds"), ({"largest": 0.25}, "holds, loosely"), ({"largest": 1.1}, "fails as printed")],
    ),
    "lemma_4_tighter": (
        SLACK,
        [
            ({"largest": 1.0, "at_a_half": 0.5, "equal_at": 1.0}, "holds"),
            ({"largest": 1.1, "at_a_half": 0.5, "equal_at": 0.9}, "fails as printed"),
        ],
    ),
    "degradation": (
        {"rises": 0.1},
        [
            (REGRETS | {f"algorithm 1 at {lam:g}": 1 / lam for lam in (1, 0.1, 0.01, 0.001)}, "holds"),
            (REGRETS | {f"algorithm 2 at {lam:g}": 1 / lam for lam in (1, 0.1, 0.01, 0.001)}, "fails as printed"),
            (REGRETS | {"algorithm 2 at 0.001": 4.0}, "fails as printed"),
        ],
    ),
    "unstated_lambda": (
        SLACK,
        [
            ({"allowed": 0.1, "at_the_proofs_lambda": 0.05, "at_lambda_1": 0.05}, "holds"),
            ({"allowed": 0.1, "at_the_proofs_lambda": 0.05, "at_lambda_1": 0.5}, "underspecified"),
            ({"allowed": 0.1, "at_the_proofs_lambda": 0.2, "at_lambda_1": 0.5}, "fails as printed"),
        ],
    ),
    **{
        name: (GROWTH, [(growth(4.0), "holds"), (growth(2.0), "holds, loosely"), (growth(8.0), "fails as printed")])
        for name in ("theorem_4_growth", "theorem_5_growth")
    },
    "names_algorithm_2": (
        SLACK,
        [
            (BOUNDS, "holds"),
            (BOUNDS | {"largest": 5.0}, "holds, loosely"),
            (BOUNDS | {"least": 0.9}, "fails as printed"),
        ],
    ),
    "never_lower": (SLACK, [(BOUNDS, "holds"), (BOUNDS | {"least": 0.9}, "fails as printed")]),
    "significantly_stronger": (
        {"stronger": 0.1},
        [(BOUNDS | {"least_if_long": 1.2}, "holds"), (BOUNDS, "fails as printed")],
    ),
    "needed_sizes": (
        {"fewer": 0.1},
        [({"least": 1.2, "largest": 3.0}, "holds"), ({"least": 1.05, "largest": 3.0}, "fails as printed")],
    ),
    "short_w0": (
        SLACK,
        [
            ({"least": 0.31, "of_zero": 0.69, "claimed": 0.31, "with_e": 0.31}, "holds"),
            ({"least": 0.31, "of_zero": 0.69, "claimed": 0.32, "with_e": 0.31}, "fails as printed"),
        ],
    ),
    "running_time": (
        {"similar": 1.5},
        [({"without": 8, "at epsilon 1": 1.4}, "holds"), ({"without": 8, "at epsilon 1": 1.6}, "fails as printed")],
    ),
}
CASES = [
    (name, numbers, tolerances, outcome) for name, (tolerances, cases) in BOTH_SIDES.items() for numbers, outcome in cases
]


@pytest.mark.parametrize(("name", "numbers", "tolerances", "outcome"), CASES)
def test_decides(name: str, numbers: Numbers, tolerances: Numbers, outcome: Outcome) -> None:
    assert CHECKS[name].decide(numbers, tolerances).outcome == outcome


def test_every_check_has_a_case_on_each_side() -> None:
    outcomes = {name: {outcome for other, *_, outcome in CASES if other == name} for name in CHECKS}
    assert not [name for name, found in outcomes.items() if len(found) < 2]


def test_the_paper_has_the_checks_of_all_three_modules() -> None:
    parts = (privacy.CHECKS, learning.CHECKS, experiments.CHECKS)
    assert len(nips08.CHECKS) == sum(map(len, parts))


# Evidence from tables


@pytest.mark.parametrize(
    ("check", "mechanism", "other"),
    [
        ("laplace", "laplace_standard_deviation", "laplace_count"),
        ("smooth_laplace", "smooth_median_as_printed", "smooth_median"),
        ("theorem_3", "objective_perturbation_general", "objective_perturbation_huber"),
    ],
)
def test_a_table_with_other_losses_decides_otherwise(tmp_path: Path, check: str, mechanism: str, other: str) -> None:
    outcomes = []
    for number, loss in enumerate((0.5, 0.99, 1.2)):
        evidence = with_verdicts(tmp_path / str(number), {mechanism: {1.0: loss, 2.0: 0.8}, other: {1.0: 1.0}})
        outcomes.append(CHECKS[check].decide(CHECKS[check].measure(evidence).numbers, PROMISE).outcome)
    assert outcomes == ["holds, loosely", "holds", "fails as printed"]


def test_theorem_1_falls_with_a_loss_in_the_table(tmp_path: Path) -> None:
    check = CHECKS["theorem_1"]
    shares = []
    for number, loss in enumerate((0.5, 1.3)):
        measured = check.measure(with_verdicts(tmp_path / str(number), {"output_perturbation": {1.0: loss}}))
        shares.append(measured.numbers["share"])
        assert (check.decide(measured.numbers, PROMISE).outcome == "fails as printed") == (loss > 1)
    assert 0.95 < shares[0] < 1  # the search's own pair
    assert shares[1] == 1.3


def test_an_anonymised_table_that_tells_little_would_be_private(tmp_path: Path) -> None:
    check = CHECKS["anonymised"]
    for number, (loss, outcome) in enumerate(((math.inf, "holds"), (0.1, "fails as printed"))):
        numbers = check.measure(with_verdicts(tmp_path / str(number), {"k_anonymity": {0.1: loss}})).numbers
        assert check.decide(numbers, {"largest_epsilon": 20.0}).outcome == outcome


def test_a_table_without_the_mechanism_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(EpsilometerError, match="no row of laplace_standard_deviation"):
        CHECKS["laplace"].measure(with_verdicts(tmp_path, {"other": {1.0: 1.0}}))


def boundary(folder: Path) -> Evidence:
    cells = [(1.0, 1.0, 1.2), (1.0, 1.9, 1.01), (1.0, 2.1, 1.0), (0.5, 8.0, 0.5), (0.1, 1.0, 0.1)]
    rows = [{"epsilon": e, "n_lam": m, "spent": spent, "exceeds": spent > e} for e, m, spent in cells]
    write_table(folder / "boundary/nips08.csv", rows)
    return Evidence(folder, 1)


def test_theorem_2_falls_by_a_witness_that_anyone_can_check(tmp_path: Path) -> None:
    measured = CHECKS["theorem_2"].measure(boundary(tmp_path))
    assert measured.numbers["exceeded_up_to"] == 1.9
    assert measured.numbers["kept_from"] == 2.1
    assert measured.witness is not None
    log_ratio, sentence = verify(measured.witness)
    assert "exceeds the promised epsilon" in sentence
    assert measured.numbers["share"] == pytest.approx(float(log_ratio) / measured.witness.promised)


# What the checks compute themselves


@pytest.fixture
def nothing(tmp_path: Path) -> Evidence:
    """Evidence without tables."""
    return Evidence(tmp_path, 2008)


def test_removing_a_record_costs_what_two_gamma_norms_say(nothing: Evidence) -> None:
    numbers = CHECKS["neighbours"].measure(nothing).numbers
    rates = 102 * 0.01 / 2, 101 * 0.01 / 2
    for name, distance in (("removed_near", 10.0), ("removed_far", 1000.0)):
        length = distance * 2 / (102 * 0.01)
        expected = abs(2 * math.log(rates[0] / rates[1]) - (rates[0] - rates[1]) * length)
        assert numbers[name] == pytest.approx(expected, rel=1e-6)


def test_randomised_response_by_hand(nothing: Evidence) -> None:
    words, adversary = (CHECKS[name].measure(nothing).numbers for name in ("definition_in_words", "adversary"))
    assert words["difference"] == pytest.approx(math.tanh(0.05) / 0.1)  # e^eps/(1 + e^eps) - 1/(1 + e^eps) = tanh(eps/2)
    assert words["relative"] == pytest.approx(math.expm1(2.0) / 2)
    assert adversary["posterior_at_5"] == pytest.approx(1 / (1 + math.exp(-5)))


def test_the_sensitivity_formula_at_the_origin_by_hand(nothing: Evidence) -> None:
    """Only the last record counts, so that n lam w = sigma(-w), and two opposite records are twice that apart."""
    w = 0.0
    for _ in range(100):
        w = float(expit(-w)) / 20
    numbers = CHECKS["sensitivity_formula"].measure(nothing).numbers
    assert numbers["at the origin"] == pytest.approx(2 * 20 * w, rel=1e-6)


def test_densities_of_outputs_have_the_determinant(nothing: Evidence) -> None:
    numbers = CHECKS["change_of_variables"].measure(nothing).numbers
    pull, curvature = float(expit(-0.01)), float(expit(0.01) * expit(-0.01))
    noise = -(abs(pull - 0.01 * 0.01) - 0.01 * 0.01) / 2
    assert numbers["noise"] == pytest.approx(noise)
    assert numbers["outputs"] == pytest.approx(noise + math.log1p(curvature / 0.01), abs=1e-6)
    assert numbers["with_determinant"] == pytest.approx(numbers["outputs"], abs=1e-6)


def test_lemma_1_is_nearly_attained_and_its_proof_is_not_right(nothing: Evidence) -> None:
    assert 0.9 < CHECKS["lemma_1"].measure(nothing).numbers["share"] <= 1
    proof = CHECKS["lemma_1_proof"].measure(nothing).numbers
    assert proof["printed"] > proof["absolute"] > 0.1
    assert proof["eigenbasis"] < 1e-12
    moved = -np.linalg.solve([[2.0, 1.0], [1.0, 2.0]], [1.0, 0.0])  # an example by hand: G2 = 1
    assert moved[1] == pytest.approx(1 / 3)  # and the gradient's second coordinate is 0


def test_the_norm_would_differ_with_another_gamma(nothing: Evidence, monkeypatch: pytest.MonkeyPatch) -> None:
    assert CHECKS["gamma_norm"].measure(nothing).numbers["distance"] < 1e-6
    gamma = stats.gamma
    monkeypatch.setattr(stats, "gamma", lambda d, scale: gamma(d + 0.1, scale=scale))
    assert CHECKS["gamma_norm"].measure(nothing).numbers["distance"] > 1e-2


def test_shares_of_sensitivity_are_below_one_and_smaller_on_the_line(nothing: Evidence) -> None:
    numbers = CHECKS["corollary_2"].measure(nothing).numbers
    assert 0.95 < numbers["share"] < 1
    assert 0.5 < numbers["share_on_the_line"] < 1.0518 / 2  # `pairs.boundary` derives the end
    assert CHECKS["noise_shift"].measure(nothing).numbers["share"] == pytest.approx(0.98, abs=0.005)


def test_any_lambda_falls_by_a_witness(nothing: Evidence) -> None:
    measured = CHECKS["any_lambda"].measure(nothing)
    assert measured.numbers["spent_at_0.1"] == pytest.approx(1.0)  # n lam epsilon = 10
    assert measured.numbers["spent_at_1e-06"] > measured.numbers["spent_at_0.0001"] > measured.numbers["share"] > 3
    assert measured.witness is not None
    assert "exceeds" in verify(measured.witness)[1]


def test_the_noise_follows_the_slope_alone(nothing: Evidence) -> None:
    expected = {"ten_times_lambda": 1.0, "ten_times_n": 1.0, "twice_the_slope": 2.0}
    assert CHECKS["no_sensitivity"].measure(nothing).numbers == pytest.approx(expected)


def test_regularisation_bounds_the_shift_by_the_noise(nothing: Evidence) -> None:
    """In the plane the mean noise is 2/rate = 4/(n lam), twice the sensitivity's bound."""
    numbers = CHECKS["regularisation"].measure(nothing).numbers
    for lam in (1e-3, 1e-2, 1e-1):
        assert numbers[f"noise_at_{lam:g}"] == pytest.approx(4 / (1000 * lam))
        assert 0.4 / (1000 * lam) < numbers[f"shift_at_{lam:g}"] < 2 / (1000 * lam)


def test_smooth_sensitivities_of_medians_by_hand(nothing: Evidence) -> None:
    """Split data have the whole range as their local sensitivity; spaced by 0.001, (k + 1) 0.001 e^(-k/10) counts."""
    numbers = CHECKS["smooth_is_less"].measure(nothing).numbers
    assert numbers["split"] == pytest.approx(1.0)
    inside = max((k + 1) * 0.001 * math.exp(-k / 10) for k in range(50))
    outside = max((1.0 - 0.45) * math.exp(-0.1 * k) for k in range(50, 101))
    assert numbers["concentrated"] == pytest.approx(max(inside, outside), rel=0.1)


# Learning


def test_lemma_bounds_by_hand() -> None:
    log = math.log(40.0)
    assert lemma_3_bound(2, 0.5, 10, 1.0, 0.05) == pytest.approx(2 * 4 * 1.5 * log**2 / (0.25 * 100))
    assert lemma_4_bound(2, 0.5, 10, 1.0, 0.05) == pytest.approx(8 * 4 * log**2 / (0.5 * 100))


def test_lemma_4_is_tighter_up_to_a_third(nothing: Evidence) -> None:
    """4 lam < 1 + lam."""
    numbers = CHECKS["lemma_4_tighter"].measure(nothing).numbers
    assert numbers["equal_at"] == pytest.approx(1 / 3)
    assert numbers["at_a_half"] == pytest.approx(4 * 0.5 / 1.5)


def test_the_risk_has_the_gradient_that_the_solver_uses() -> None:
    data, w, step = separable(50, stream(1, "risk")), np.linspace(-1, 1, 10), 1e-6
    ends = [regularised_risk(data, 0.1, w + sign * step * np.eye(10)) for sign in (1, -1)]
    assert (ends[0] - ends[1]) / (2 * step) == pytest.approx(
        Objective.of(LOGISTIC, data, 0.1).gradient(w[None])[0], abs=1e-8
    )


def test_norms_are_within_lemma_5_as_often_as_a_gamma(nothing: Evidence) -> None:
    """Six shares, each within 5 standard deviations: a false failure has a probability of about 4e-6."""
    numbers = CHECKS["lemma_5"].measure(nothing).numbers
    for d in (1, 2, 10):
        for delta in (0.05, 0.5):
            within = numbers[f"within, d={d} delta={delta:g}"] / 20_000
            expected = float(gammainc(d, d * math.log(d / delta)))
            assert abs(within - expected) <= 5 * math.sqrt(max(expected * (1 - expected), 1e-9) / 20_000)


def test_regrets_without_curvature_are_known(nothing: Evidence) -> None:
    """With all records at 0, w = -b/(n lam), so that Lemma 4 is loose by 4, and Lemma 3 by 1 + 1/lam = 2.

    The quantile of |b|^2 is estimated with a relative standard deviation of at most 4%; 20% is five of them.
    """
    for check, factor in (("lemma_4", 4.0), ("lemma_3", 2.0)):
        numbers = CHECKS[check].measure(nothing).numbers
        for delta in ("0.05", "0.5"):
            assert numbers[f"factor, d=1 lam=1 flat delta={delta}"] == pytest.approx(factor, rel=0.2)


def test_runs_are_the_same_each_time(nothing: Evidence) -> None:
    first, second = (learning._regrets.__wrapped__(nothing, "algorithm 2", SETTINGS[0]) for _ in range(2))
    assert np.array_equal(first, second)


def test_expected_loss_agrees_with_an_integral_and_with_records() -> None:
    """The mean over 100,000 records has a standard deviation of 0.003 or less; 0.02 is six of them."""
    w = np.array([[2.0, 1.0, -1.0, 3.0, 0.5]])
    across = math.sqrt(0.75) * float(np.linalg.norm(w[0, 1:]))
    density = integrate.quad(lambda t: math.sqrt(1 - t * t), -1, 1)[0]
    value = integrate.quad(lambda t: math.sqrt(1 - t * t) * math.log1p(math.exp(-1 - across * t)), -1, 1)[0] / density
    assert expected_loss(w)[0] == pytest.approx(value, rel=1e-6)
    records = draw_records(100_000, 5, stream(1, "records"))
    assert np.allclose(np.linalg.norm(records.features, axis=1), 1)
    assert float(np.mean(LOGISTIC.value(records.signed @ w[0]))) == pytest.approx(value, abs=0.02)


@pytest.mark.parametrize("algorithm", list(ALGORITHMS))
def test_needed_size_is_where_fresh_runs_begin_to_reach_the_goal(nothing: Evidence, algorithm: str) -> None:
    """With half as many records again, and a third fewer; the search has an error of a few per cent."""
    goal = Goal(d=4, epsilon=0.4)
    needed = needed_size(nothing, algorithm, goal)
    reached = []
    for factor in (1 / 1.5, 1.5):
        rng = stream(7, "fresh", algorithm, factor)
        data = draw_records(round(factor * needed), goal.d, rng)
        losses = expected_loss(ALGORITHMS[algorithm](goal.epsilon, goal.lam).sample(data, 400, rng))
        reached.append(float(np.mean(losses <= goal.loss)))
    assert reached[0] < 0.9 < reached[1]


def test_stated_sizes_by_hand() -> None:
    goal = Goal(d=10, epsilon=0.1, r=3.0, excess=0.04, delta=0.1)
    log = math.log(100.0)
    assert theorem_4_size(goal) == pytest.approx(max(9 / 0.0016, 10 * log * 3 / 0.004))
    assert theorem_5_size(goal) == pytest.approx(10 * log * 9 / (0.008 * 0.1))
    assert theorem_5_size(goal, logs=False) == pytest.approx(10 * 9 / (0.008 * 0.1))
    assert theorem_4_size(Goal(epsilon=100.0)) == theorem_5_size(Goal(epsilon=100.0)) == pytest.approx(1600)


def test_the_larger_bound_is_never_lower_and_sometimes_equal(nothing: Evidence) -> None:
    numbers = CHECKS["never_lower"].measure(nothing).numbers
    assert numbers["least"] == numbers["least_if_long"] == 1
    assert 0 < numbers["equal_if_long"] < 1
    assert numbers["least_if_private"] > 1


def test_the_proofs_lambda_is_small_enough_and_one_is_not(nothing: Evidence) -> None:
    numbers = CHECKS["unstated_lambda"].measure(nothing).numbers
    assert numbers["at_the_proofs_lambda"] < numbers["allowed"] < numbers["at_lambda_1"]
    v = 0.0
    for _ in range(200):  # v = expit(-v/2)/2
        v = float(expit(-v / 2)) / 2
    assert numbers["at_lambda_1"] == pytest.approx(math.log1p(math.exp(-v / 2)) - math.log1p(math.exp(-2.0)))


def test_short_classifiers_and_curvature_by_hand(nothing: Evidence) -> None:
    numbers = CHECKS["short_w0"].measure(nothing).numbers
    assert numbers["least"] == pytest.approx(math.log(1 + 1 / math.e))
    assert numbers["claimed"] == pytest.approx(math.log(11))
    assert CHECKS["curvature"].measure(nothing).numbers["largest"] == pytest.approx(0.25)


def test_running_time_counts_evaluations_of_a_solver_that_converges(nothing: Evidence) -> None:
    numbers = CHECKS["running_time"].measure(nothing).numbers
    assert 3 <= numbers["without"] <= 50
    assert all(0.5 < value < 3 for name, value in numbers.items() if name != "without")


def test_regret_grows_as_lambda_falls(nothing: Evidence) -> None:
    numbers = CHECKS["degradation"].measure(nothing).numbers
    assert numbers["algorithm 1 at 0.001"] > 10 * numbers["algorithm 2 at 0.001"] > 10 * numbers["algorithm 2 at 1"]
