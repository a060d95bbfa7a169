"""What the papers' claims measure in common: read from small tables, or known by hand."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from epsilometer.core import EpsilometerError, write_table
from epsilometer.mechanisms.laplace import Laplace, count_five, medical_pair
from epsilometer.papers import measures
from epsilometer.papers.claim import Evidence
from epsilometer.papers.measures import (
    ATTACKS,
    VERDICTS,
    answers,
    attack_successes,
    attacks,
    audited,
    audited_with_corrected,
    catalogue_shares,
    computed,
    drawn,
    exact_loss,
    exact_losses,
    exact_witness,
    find_worst_pair,
    largest_share,
    spent_share,
    spent_shares,
    success,
)
from tests.papers.evidence import with_shares, with_verdicts


def attack(example: str, knows: str, epsilon: float, rate: float) -> dict[str, object]:
    return {
        "example": example,
        "released": "a table",
        "attacker_knows": knows,
        "epsilon": epsilon,
        "success": rate,
        "bound": 1.0,
    }


@pytest.fixture
def attacked(tmp_path: Path) -> Evidence:
    rows = [
        attack("review", "a name", math.nan, 0.5),
        attack("postech", "a name", 1.0, 0.6),
        attack("postech", "a name", math.nan, 0.75),
        attack("postech", "nothing", math.nan, 0.25),
    ]
    write_table(tmp_path / f"{ATTACKS}.csv", rows)
    return Evidence(tmp_path, 1, (ATTACKS,), False)


def test_draws_come_from_the_stream_of_that_name_and_formulas_draw_nothing(tmp_path: Path) -> None:
    """A claim without `computes` gets no stream, so a formula is measured and a draw is refused."""

    @computed
    def half() -> dict[str, float]:
        return {"half": 0.5}

    @drawn("a name")
    def draw(rng: np.random.Generator) -> dict[str, float]:
        return {"draw": float(rng.random())}

    evidence = Evidence(tmp_path, 7)
    assert draw(evidence).numbers == {"draw": float(evidence.stream("a name").random())}
    assert half(Evidence(tmp_path, 7, computes=False)).numbers == {"half": 0.5}
    with pytest.raises(ValueError, match="draws random numbers"):
        draw(Evidence(tmp_path, 7, computes=False))


def test_the_answers_of_two_coins() -> None:
    zero, one = answers(0.25)
    assert zero == pytest.approx([0.75, 0.25])
    assert one == pytest.approx([0.25, 0.75])


def test_the_file_of_a_table_is_found_if_the_claim_declares_it(tmp_path: Path) -> None:
    evidence = Evidence(tmp_path, 1, needs=("dataset/separable",))
    assert evidence.path("dataset/separable") == tmp_path / "dataset/separable.csv"
    assert Evidence(tmp_path, 1).path("dataset/unseparable") == tmp_path / "dataset/unseparable.csv"
    for read in (evidence.path, evidence.table):
        with pytest.raises(ValueError, match="reads the table dataset/unseparable, which its `needs` do not name"):
            read("dataset/unseparable")


def test_a_privacy_loss_is_exact_or_a_bound_that_counts_beyond_the_claim_only_if_the_report_says_so(tmp_path: Path) -> None:
    row = {"mechanism": "a", "sampled_curve": 0.3, "verdict": "consistent"}
    rows = [
        row | {"promised": 0.1, "exact": 0.05},
        row | {"promised": 0.2, "exact": math.nan},
        row | {"promised": 0.25, "exact": math.nan, "verdict": "violated"},
        row | {"promised": 0.4, "exact": math.nan},
        row | {"promised": 1.0, "exact": 9.0, "mechanism": "b"},
    ]
    write_table(tmp_path / f"{VERDICTS}.csv", rows)
    spent = catalogue_shares(Evidence(tmp_path, 1), "a")
    assert spent == {0.1: 0.05, 0.2: 0.2, 0.25: 0.3, 0.4: 0.3}
    assert largest_share(spent) == pytest.approx(1.2)


def test_the_largest_share_is_taken_and_a_missing_mechanism_is_a_sentence(tmp_path: Path) -> None:
    evidence = with_shares(tmp_path, {"a": 0.5, "b": 0.8, "c": 0.9})
    assert spent_share(evidence, "a", "b") == pytest.approx(0.8)
    assert spent_shares(one=("a",), two=("b", "a"))(evidence).numbers == pytest.approx({"one": 0.5, "two": 0.8})
    with pytest.raises(EpsilometerError, match="no row of d; audit it first"):
        spent_share(evidence, "a", "d")


def test_the_share_is_the_largest_over_all_claimed_epsilons(tmp_path: Path) -> None:
    evidence = with_verdicts(tmp_path, {"a": {0.1: 0.09, 1.0: 0.5}})
    assert spent_share(evidence, "a") == pytest.approx(0.9)


def test_an_audit_that_found_a_violation_comes_with_an_output_that_proves_it(tmp_path: Path) -> None:
    """The Gaussian mechanism has a delta above 0, so that no single output proves anything."""
    measure = audited("laplace_count", "randomized_response")
    kept = measure(with_shares(tmp_path, {"laplace_count": 1.0, "randomized_response": 0.5}))
    assert kept.numbers == pytest.approx({"share": 1.0, "least_share": 0.5})
    assert kept.witness is None
    broken = measure(with_shares(tmp_path, {"laplace_count": 1.0, "randomized_response": 1.5}))
    assert broken.numbers == pytest.approx({"share": 1.5, "least_share": 1.0})
    assert broken.witness is not None
    assert broken.witness.mechanism == "randomized_response"
    assert audited("gaussian_classic")(with_shares(tmp_path, {"gaussian_classic": 1.5})).witness is None


def test_a_mechanism_as_printed_has_a_witness_and_stands_beside_the_corrected_ones(tmp_path: Path) -> None:
    evidence = with_shares(tmp_path, {"randomized_response": 1.5, "laplace_count": 1.0})
    found = audited_with_corrected("randomized_response", share_with_noise="laplace_count")(evidence)
    assert found.numbers == pytest.approx({"share": 1.5, "share_with_noise": 1.0})
    assert found.witness is not None
    assert found.witness.mechanism == "randomized_response"


def test_the_witness_of_randomised_response_spends_its_epsilon(tmp_path: Path) -> None:
    witness = exact_witness(Evidence(tmp_path, 1), "randomized_response", 0.5)
    assert witness is not None
    assert abs(witness.log_ratio) == pytest.approx(0.5)


def test_the_exact_loss_of_a_noisy_count_is_its_epsilon_or_twice_that(tmp_path: Path) -> None:
    evidence, pair = Evidence(tmp_path, 1), medical_pair(4, "Alice's diagnosis")
    enough, half = Laplace(count_five, 1, 0.5), Laplace(count_five, 0.5, 0.5)
    assert exact_loss(evidence, enough, pair) == pytest.approx(0.5)
    assert exact_losses(pair, enough=enough, half=half)(evidence).numbers == pytest.approx({"enough": 0.5, "half": 1.0})


def test_the_worst_pair_is_searched_for_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[tuple[object, ...]] = []
    monkeypatch.setattr(measures, "worst_pair", lambda _, n, d, rng: calls.append((n, d, rng.random())))
    evidence = Evidence(tmp_path, 1)
    for n in (100, 100, 200):
        find_worst_pair(evidence, "output_perturbation", 1.0, n, 2)
    drawn_numbers = [evidence.stream("worst pair", "output_perturbation", 1.0, n, 2).random() for n in (100, 200)]
    assert calls == [(100, 2, drawn_numbers[0]), (200, 2, drawn_numbers[1])]
    find_worst_pair.cache_clear()


def test_the_attacks_on_a_table_without_noise_are_told_from_the_others(attacked: Evidence) -> None:
    rows = attacks(attacked, "postech")
    assert len(rows) == 3
    assert success(rows, "a name") == 0.75
    measure = attack_successes("postech", named="a name", blind="nothing")
    assert measure(attacked).numbers == {"named": 0.75, "blind": 0.25}
