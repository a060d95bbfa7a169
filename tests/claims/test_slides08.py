"""The checks of slides08: each decides both ways, by the slides' own definition, and measures what is there."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from scipy.special import expit

from epsilometer.audits.verify import verify
from epsilometer.claims import nips08
from epsilometer.claims.ledger import Evidence, Outcome
from epsilometer.claims.slides08 import CHECKS, slides_shares
from epsilometer.core import write_table
from tests.claims.evidence import with_verdicts

Numbers = dict[str, float]
PROMISE = {"slack": 1e-6, "tight": 0.9}
COVERAGE = {"confidence": 0.999, "misses": 0.0}
GROWTH = {"faster": 0.1, "tight": 0.9}
BOUNDS = {"least": 1.0, "largest": 1.0, "least_if_long": 1.0, "equal_if_long": 0.1, "least_if_private": 1.5}


def coverage(within: float) -> Numbers:
    """One case at level 0.95, with a thousand runs."""
    return {"within, a": within, "runs, a": 1000.0, "level, a": 0.95, "factor, a": 2.0}


def growth(needed: float) -> Numbers:
    """Needed along d, where 4 times as many records are stated; as stated along the others."""
    stated = {f"{kind}, {axis}": 4.0 for kind in ("needed", "stated") for axis in ("d", "epsilon", "r")}
    return {**stated, "needed, d": needed, "constant": 0.2}


def sensitivities(line: float) -> Numbers:
    return {"share": 1.0, "share_at_the_papers_lambda": 1.0, "share_on_the_line": line, "possible_on_the_line": 1.0}


PRIVACY: list[tuple[Numbers, Outcome]] = [
    ({"least": 0.5, "largest": 1.0, "share": 0.9, "kept_from": 2.1}, "holds"),
    ({"least": 0.5, "largest": 0.8, "share": 0.7, "kept_from": 2.1}, "holds, loosely"),
    ({"least": 0.5, "largest": 1.1, "share": 1.0, "kept_from": 2.1}, "fails as printed"),
]
BOTH_SIDES: dict[str, tuple[Numbers, list[tuple[Numbers, Outcome]]]] = {
    **dict.fromkeys(("laplace", "theorem_1", "theorem_2", "theorem_3", "proof_ratio"), (PROMISE, PRIVACY)),
    **{
        name: (
            {"largest_error": 0.5},
            [({"printed": 0.1, "minus": 0.1}, "holds"), ({"printed": 0.9, "minus": 0.1}, "fails as printed")],
        )
        for name in ("objective_sign", "algorithm_2_sign")
    },
    "equal_sensitivity": ({"equal": 0.1}, [(sensitivities(0.95), "holds"), (sensitivities(0.5), "fails as printed")]),
    "leave_one_out": (
        PROMISE,
        [
            ({"share": 0.95, "share_with_n_kept": 0.9}, "holds"),
            ({"share": 0.5, "share_with_n_kept": 0.5}, "holds, loosely"),
            ({"share": 1.1, "share_with_n_kept": 0.9}, "fails as printed"),
        ],
    ),
    "no_probability": (
        {"same": 0.1},
        [({"in_half": 100, "in_98_percent": 105}, "holds"), ({"in_half": 100, "in_98_percent": 120}, "underspecified")],
    ),
    **{
        name: (GROWTH, [(growth(4.0), "holds"), (growth(2.0), "holds, loosely"), (growth(8.0), "fails as printed")])
        for name in ("theorem_4_growth", "theorem_5_growth")
    },
    "significantly_tighter": (
        {"stronger": 0.1},
        [(BOUNDS | {"least_if_long": 1.2}, "holds"), (BOUNDS, "fails as printed")],
    ),
    "short_w0": (
        {"slack": 1e-9},
        [({"least": 0.31, "with_e": 0.31}, "holds"), ({"least": 0.30, "with_e": 0.31}, "fails as printed")],
    ),
    **{
        name: (
            COVERAGE,
            [
                (coverage(1000), "holds"),
                (coverage(990), "underspecified"),
                (coverage(920), "fails as printed"),  # the upper end of the interval is 0.944
            ],
        )
        for name in ("lemma_algorithm_1", "lemma_algorithm_2")
    },
}
CASES = [
    (name, numbers, tolerances, outcome) for name, (tolerances, cases) in BOTH_SIDES.items() for numbers, outcome in cases
]


@pytest.mark.parametrize(("name", "numbers", "tolerances", "outcome"), CASES)
def test_decides(name: str, numbers: Numbers, tolerances: Numbers, outcome: Outcome) -> None:
    assert CHECKS[name].decide(numbers, tolerances).outcome == outcome


def test_every_check_has_a_case_on_each_side_or_is_the_papers() -> None:
    own = {name for name, check in CHECKS.items() if nips08.CHECKS.get(name) is not check}
    outcomes = {name: {outcome for other, *_, outcome in CASES if other == name} for name in own}
    assert not [name for name, found in outcomes.items() if len(found) < 2]


# Evidence from tables


@pytest.mark.parametrize(
    ("check", "mechanism"), [("laplace", "laplace_count"), ("theorem_3", "objective_perturbation_general")]
)
def test_a_loss_of_epsilon_is_too_much_and_one_of_its_logarithm_is_not(tmp_path: Path, check: str, mechanism: str) -> None:
    losses = {"e^epsilon": {0.1: 0.1, 1.0: 1.0}, "1 + epsilon": {0.1: math.log(1.1), 1.0: math.log(2.0)}}
    outcomes = []
    for name, spent in losses.items():
        measured = CHECKS[check].measure(with_verdicts(tmp_path / name, {mechanism: spent}))
        outcomes.append(CHECKS[check].decide(measured.numbers, PROMISE).outcome)
        assert measured.witness is not None
        assert measured.witness.promised == 1
    assert outcomes == ["fails as printed", "holds"]


def test_shares_by_hand() -> None:
    shares = slides_shares({1.0: 0.9, 2.0: 1.0})
    expected = {"least": 1 / math.log(3), "largest": 0.9 / math.log(2), "share": 0.9}
    assert shares == pytest.approx(expected)


def test_theorem_2_reads_its_least_share_from_the_table_of_the_boundary(tmp_path: Path) -> None:
    rows = [
        {"epsilon": 1.0, "n_lam": n_lam, "spent": spent, "exceeds": spent > 1} for n_lam, spent in ((1.0, 1.2), (3.0, 0.5))
    ]
    write_table(tmp_path / "boundary/nips08.csv", rows)
    measured = CHECKS["theorem_2"].measure(Evidence(tmp_path, 1))
    assert measured.numbers["least"] == pytest.approx(0.5 / math.log(2))
    assert measured.numbers["kept_from"] == 3
    assert measured.witness is not None
    assert measured.numbers["largest"] == pytest.approx(float(verify(measured.witness)[0]) / math.log(2))


# What the checks compute themselves


@pytest.fixture
def nothing(tmp_path: Path) -> Evidence:
    """Evidence without tables."""
    return Evidence(tmp_path, 2008)


def test_theorem_1_has_a_witness_beyond_one_plus_epsilon(nothing: Evidence) -> None:
    measured = CHECKS["theorem_1"].measure(nothing)
    assert measured.witness is not None
    log_ratio, _ = verify(measured.witness)
    assert math.log(2) < float(log_ratio) < 1
    assert measured.numbers["share"] == pytest.approx(float(log_ratio))
    assert measured.numbers["least"] == pytest.approx(0.1 * float(log_ratio) / math.log(1.1))


def test_the_noise_alone_goes_beyond_one_plus_epsilon(nothing: Evidence) -> None:
    numbers = CHECKS["proof_ratio"].measure(nothing).numbers
    assert 1 < numbers["least"] < numbers["largest"]
    assert numbers["share"] < 1


@pytest.mark.parametrize("check", ["objective_sign", "algorithm_2_sign"])
def test_the_printed_sign_mirrors_the_right_one(nothing: Evidence, check: str) -> None:
    numbers = CHECKS[check].measure(nothing).numbers
    assert numbers["printed"] > 0.95
    assert numbers["printed"] + numbers["minus"] == pytest.approx(1, abs=0.02)


def test_the_line_bounds_the_sensitivity_as_brute_force_does(nothing: Evidence) -> None:
    numbers = CHECKS["equal_sensitivity"].measure(nothing).numbers
    x, p = np.meshgrid(np.linspace(0, 10, 1001), np.linspace(0, 1, 1001))
    both = np.maximum(p * expit(-p * x) + expit(x), expit(-x) + p * expit(p * x))
    assert numbers["possible_on_the_line"] == pytest.approx(float(both.max()) / 2, abs=1e-4)
    assert numbers["share_on_the_line"] <= numbers["possible_on_the_line"]


def test_leaving_a_record_out_comes_near_its_bound(nothing: Evidence) -> None:
    """For n = 2 and lam = 1 by hand: w_1 = expit(-w_1), and (1, 0) against (-1, 0) leaves w_2 = 0."""
    numbers = CHECKS["leave_one_out"].measure(nothing).numbers
    assert 0.95 < numbers["share"] <= 1
    assert 0.95 < numbers["share_with_n_kept"] <= 1
    w = 0.0
    for _ in range(200):
        w = float(expit(-w))
    assert 2 * w < numbers["share"]


def test_more_certainty_takes_more_records(nothing: Evidence) -> None:
    numbers = CHECKS["no_probability"].measure(nothing).numbers
    assert numbers["in_98_percent"] > 1.2 * numbers["in_half"]


def test_the_slides_bounds_lack_the_logarithm(nothing: Evidence) -> None:
    slides, paper = (checks["theorem_4_growth"].measure(nothing).numbers for checks in (CHECKS, nips08.CHECKS))
    assert slides["stated, d"] == pytest.approx(4)
    assert paper["stated, d"] == pytest.approx(4 * math.log(160) / math.log(40))
    assert slides["needed, d"] == paper["needed, d"]
    assert [numbers["stated, epsilon"] for numbers in (slides, paper)] == pytest.approx([8, 8])
