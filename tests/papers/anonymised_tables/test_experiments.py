"""The attacks on anonymised tables: closed forms by quadrature, guesses against the posterior, shares against bounds."""

from __future__ import annotations

import math
import shutil
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats
from scipy.integrate import quad

from epsilometer.core import Array, EpsilometerError, stream
from epsilometer.figures.figure import draw_all
from epsilometer.mechanisms.k_anonymity import DIAGNOSES, PATIENTS
from epsilometer.mechanisms.laplace import MEDICAL_RESULTS, Laplace, counts_four_and_five, medical_pair
from epsilometer.mechanisms.noisy_max import NoisyMax
from epsilometer.papers.anonymised_tables.experiments import (
    NOISY_ATTACKS,
    advantage,
    anonymised_tables,
    anonymity,
    best_guess,
    diagnosis_counts,
    difference_success,
    largest_count_success,
    one_count_success,
    success_bound,
)
from epsilometer.papers.anonymised_tables.figures import FIGURES
from tests.tables import read_table

pytestmark = pytest.mark.slow

EPSILONS = [0.01, 0.1, 0.5, 1.0, 2.0, 5.0]
TRIALS = 20_000
FALSE_ALARM = 1e-6
"""Probability with which one honest simulated share fails its test."""
WOMEN = (5, 8)
"""The rows of Rebecca's group."""


def write_tables(paths: tuple[Path, Path], seed: int = 1, epsilons: list[float] = EPSILONS, trials: int = TRIALS) -> None:
    """The table of attacks, and that of curves."""
    anonymised_tables(epsilons=epsilons, trials=trials, seed=seed, table=paths[0], curves=paths[1])


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("anonymised_tables")
    paths = folder / "anonymised_tables/worked_example.csv", folder / "anonymised_tables/curves.csv"
    write_tables(paths)
    return paths


@pytest.fixture(scope="module")
def exact(tables: tuple[Path, Path]) -> list[dict[str, Any]]:
    return [row for row in read_table(tables[0]) if math.isnan(row["epsilon"])]


@pytest.fixture(scope="module")
def noisy(tables: tuple[Path, Path]) -> list[dict[str, Any]]:
    return [row for row in read_table(tables[0]) if not math.isnan(row["epsilon"])]


# What the tables give away without noise.


def test_levels_of_k_anonymity(exact: list[dict[str, Any]]) -> None:
    assert anonymity(PATIENTS) == 2
    assert anonymity(PATIENTS[:5]) == 2
    assert anonymity(PATIENTS[1:6]) == 1
    assert anonymity(MEDICAL_RESULTS[:, None]) == 5
    levels = {(row["example"], row["released"].startswith("the table without")): row["k"] for row in exact if row["k"] > 0}
    assert levels == {("postech", False): 1, ("postech", True): 2, ("review", False): 1, ("review", True): 5}


def test_every_patients_best_guess_by_counting_them_by_hand(exact: list[dict[str, Any]]) -> None:
    """Men from 60 on: two of three have lung cancer; in the other groups, two have two diagnoses."""
    everyone = [row["success"] for row in exact if row["person"].startswith("the patient")]
    assert everyone == pytest.approx([2 / 3, 1 / 2, 2 / 3, 1 / 2, 2 / 3, 1 / 2, 1 / 2, 1 / 2, 1 / 2])
    (mean,) = [row["success"] for row in exact if row["person"] == "a patient at random"]
    assert mean == pytest.approx(5 / 9)


@pytest.mark.parametrize(
    ("knows", "success"),
    [
        ("that she is in the table", 2 / 9),
        ("that Rebecca is 55 and in the table", 1 / 4),
        ("that Rebecca is 55, a woman and in the table", 1 / 2),
        ("all other records of the table", 1),
        ("her name", 1),
    ],
)
def test_what_is_known_of_rebecca_decides(exact: list[dict[str, Any]], knows: str, success: float) -> None:
    (row,) = [row for row in exact if row["person"] == "Rebecca" and row["attacker_knows"] == knows]
    assert row["success"] == row["closed_form"] == pytest.approx(success)


def test_the_difference_of_exact_counts_is_alices_diagnosis(exact: list[dict[str, Any]]) -> None:
    (row,) = [row for row in exact if row["released"] == "count(5) and count(4)"]
    assert row["success"] == row["bound"] == 1
    (row,) = [row for row in exact if row["released"] == "the table without names"]
    assert row["success"] == pytest.approx(3 / 5)


def test_someone_who_is_not_in_the_table_is_an_error() -> None:
    with pytest.raises(EpsilometerError, match=r"no row of the table matches \{0: 40\}"):
        best_guess(PATIENTS, {0: 40})


# Closed forms against quadrature.


@pytest.mark.parametrize("rate", [0.005, 0.1, 0.5, 1.0, 2.5, 5.0, 12.0])
def test_alices_closed_forms_are_half_of_one_plus_the_total_variation(rate: float) -> None:
    """The best guess between two equally likely hypotheses is right with (1 + TV) / 2; TV by quadrature."""

    def one(t: float) -> float:
        return rate / 2 * math.exp(-rate * abs(t))

    def two(t: float) -> float:
        """The density of the difference of two, itself by quadrature."""
        low, high = min(0.0, t), max(0.0, t)
        middle = quad(lambda s: one(s) * one(s - t), low, high, epsabs=1e-13)[0]
        return middle + 2 * quad(lambda s: one(s) * one(s - t), high, high + 40 / rate, epsabs=1e-13)[0]

    def best(density: Callable[[float], float]) -> float:
        def gap(y: float) -> float:
            return abs(density(y - 1) - density(y))

        far = 40 / rate
        pieces = [(-far, 0.0), (0.0, 0.5), (0.5, 1.0), (1.0, 1 + far)]
        return 0.5 + sum(quad(gap, low, high, epsabs=1e-11, limit=200)[0] for low, high in pieces) / 4

    assert one_count_success(rate) == pytest.approx(best(one), abs=1e-8)
    assert difference_success(rate) == pytest.approx(best(two), abs=1e-8)


@pytest.mark.parametrize("rate", [0.005, 0.1, 0.5, 1.0, 2.5, 5.0, 12.0])
@pytest.mark.parametrize(("ones", "zeros"), [(0, 1), (0, 7), (1, 6), (2, 3), (3, 0)])
def test_the_largest_of_noisy_counts_by_quadrature(rate: float, ones: int, zeros: int) -> None:
    law = stats.laplace(scale=1 / rate)

    def density(y: float) -> float:
        return float(law.pdf(y - 1) * law.cdf(y - 1) ** ones * law.cdf(y) ** zeros)

    pieces = [(-40 / rate, 0.0), (0.0, 1.0), (1.0, 1 + 40 / rate)]
    expected = sum(quad(density, low, high, epsabs=1e-12, limit=200)[0] for low, high in pieces)
    assert largest_count_success(rate, ones, zeros) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("rate", [0.1, 1.0, 4.0])
def test_the_largest_of_noisy_counts_is_report_noisy_max(rate: float) -> None:
    rows = np.eye(len(DIAGNOSES))[PATIENTS[list(WOMEN), -1]]
    probability = np.exp(NoisyMax(2 * rate).log_density(rows, PATIENTS[list(WOMEN), -1]))
    assert largest_count_success(rate, 1, 6) == pytest.approx(probability[0], abs=1e-10)
    assert largest_count_success(rate, 1, 6) == pytest.approx(probability[1], abs=1e-10)
    alone = np.exp(NoisyMax(2 * rate).log_density(rows[:1], PATIENTS[list(WOMEN[:1]), -1]))
    assert largest_count_success(rate, 0, 7) == pytest.approx(alone[0], abs=1e-10)


def test_the_closed_forms_go_from_chance_to_what_no_noise_gives() -> None:
    for attack, without_noise in zip(NOISY_ATTACKS, (1, 1, 1, 1 / 2, 1), strict=True):
        assert attack.closed_form(1e-9) == pytest.approx(1 / attack.candidates, abs=1e-8)
        assert attack.closed_form(1000.0) == pytest.approx(without_noise, abs=1e-12)


def test_two_candidates_are_the_difference_of_two_counts() -> None:
    """With two diagnoses the larger count wins: as for Alice, with a difference of 2 instead of 1 to see."""
    for rate in (0.1, 1.0, 3.0):
        assert largest_count_success(rate, 0, 1) == pytest.approx(difference_success(2 * rate), abs=1e-14)


# The guesses are the best there are: no candidate has a larger posterior.


def outputs_of(mechanism: Laplace, dataset: Any, name: str) -> Array:
    return mechanism.sample(dataset, 2000, stream(2, "guesses", name))


@pytest.mark.parametrize("promised", [0.2, 1.0, 6.0])
def test_alice_is_called_ill_where_that_is_likelier(promised: float) -> None:
    pair = medical_pair(4, "Alice")
    mechanism = Laplace(counts_four_and_five, 2, promised)
    outputs = outputs_of(mechanism, pair.first, "Alice")
    loss = mechanism.log_density(pair.first, outputs) - mechanism.log_density(pair.second, outputs)
    guess = outputs[:, 1] - 2 > 0.5
    assert np.all(np.where(guess, loss, -loss) >= -1e-12)
    assert 0 < guess.sum() < len(guess)


def with_women(*diagnoses: int) -> Any:
    patients = PATIENTS.copy()
    patients[list(WOMEN), -1] = diagnoses
    return patients


@pytest.mark.parametrize("promised", [0.2, 1.0, 6.0])
def test_rebeccas_guesses_maximise_the_posterior(promised: float) -> None:
    """By enumeration of all 64 pairs of diagnoses: one marginal is postech's attacker, one row is who knows the rest."""
    mechanism = Laplace(diagnosis_counts, 2, promised)
    outputs = outputs_of(mechanism, PATIENTS, "Rebecca")
    every = range(len(DIAGNOSES))
    likelihood = np.exp([mechanism.log_density(with_women(*pair), outputs) for pair in product(every, every)])
    likelihood = likelihood.reshape(len(every), len(every), -1)
    trials = np.arange(len(outputs))

    by_group = likelihood.sum(axis=1)
    assert np.all(by_group[outputs.argmax(axis=1), trials] >= by_group.max(axis=0) * (1 - 1e-9))

    other = int(PATIENTS[WOMEN[1], -1])
    left = outputs - diagnosis_counts(np.delete(PATIENTS, WOMEN[0], axis=0))
    known = likelihood[:, other]
    assert np.all(known[left.argmax(axis=1), trials] >= known.max(axis=0) * (1 - 1e-9))
    assert not np.all(known[left.argmin(axis=1), trials] >= known.max(axis=0) * (1 - 1e-9))

    for candidates in (by_group, known):
        posterior = candidates / candidates.sum(axis=0)
        assert posterior.max() <= success_bound(promised, len(DIAGNOSES)) + 1e-12


# The bound.


def test_the_bound_is_the_two_formulas_of_two_candidates() -> None:
    for epsilon in EPSILONS:
        bound = success_bound(epsilon, 2)
        assert bound == pytest.approx(math.exp(epsilon) / (1 + math.exp(epsilon)))
        assert advantage(bound, 2) == pytest.approx((math.exp(epsilon) - 1) / (math.exp(epsilon) + 1))
        eight = (math.exp(epsilon) - 1) / (math.exp(epsilon) + 7)
        assert advantage(success_bound(epsilon, 8), 8) == pytest.approx(eight)
    assert success_bound(math.inf, 8) == 1


def test_the_bound_is_attained_by_randomized_response() -> None:
    """A release that says the truth with probability e^epsilon / (e^epsilon + m - 1), else one of the others."""
    for candidates in (2, 8):
        truth, other = math.exp(1.5), 1.0
        law = np.full((candidates, candidates), other) + (truth - other) * np.eye(candidates)
        law /= law.sum(axis=1, keepdims=True)
        assert law.max(axis=0).sum() / candidates == pytest.approx(success_bound(1.5, candidates))


def test_no_closed_form_exceeds_its_bound(tables: tuple[Path, Path], noisy: list[dict[str, Any]]) -> None:
    for row in noisy:
        assert row["closed_form"] < row["bound_for_person"] <= row["bound"]
        assert row["promised"] == pytest.approx(row["spent"] * (2 if row["released"] == "count(5) and count(4)" else 1))
    curves = read_table(tables[1])
    assert len(curves) == 100 * len(NOISY_ATTACKS)
    assert all(row["closed_form"] < row["bound"] for row in curves)


def test_both_readings_of_epsilon_are_there(noisy: list[dict[str, Any]]) -> None:
    factors = {(row["epsilon_for"], round(row["promised"] / row["epsilon"], 9)) for row in noisy}
    assert factors == {
        ("each of the two counts", 2),
        ("both counts together", 1),
        ("the one count", 1),
        ("one record replaced", 1),
        ("one record added or removed", 2),
    }
    assert len(noisy) == (4 * 2 + 1) * len(EPSILONS)


# Simulated shares.


def test_simulated_shares_are_those_of_the_closed_forms(noisy: list[dict[str, Any]]) -> None:
    """54 exact binomial tests: an honest table fails with probability at most 5.4e-5."""
    for row in noisy:
        hits = round(row["success"] * row["trials"])
        assert stats.binomtest(hits, TRIALS, row["closed_form"]).pvalue > FALSE_ALARM, row
        assert row["low"] < row["success"] < row["high"]
        assert stats.binomtest(hits, TRIALS, row["low"], "greater").pvalue == pytest.approx(0.025, rel=1e-6)
        assert stats.binomtest(hits, TRIALS, row["high"], "less").pvalue == pytest.approx(0.025, rel=1e-6)


def test_simulated_shares_exceed_no_bound_beyond_chance(noisy: list[dict[str, Any]]) -> None:
    """54 one-sided tests: an honest table fails with probability at most 5.4e-5."""
    for row in noisy:
        hits = round(row["success"] * row["trials"])
        assert stats.binomtest(hits, TRIALS, row["bound_for_person"], "greater").pvalue > FALSE_ALARM, row


@pytest.mark.parametrize("attack", NOISY_ATTACKS, ids=lambda attack: f"{attack.released}; {attack.attacker_knows}")
def test_too_little_noise_exceeds_the_bound(attack: Any) -> None:
    """Ten times what a promise of 0.2 allows: found out, but with probability below 1e-12 in each case."""
    hits = attack.simulate(attack.mechanism(2.0), TRIALS, stream(3, "too little", attack.attack))
    assert (
        stats.binomtest(hits, TRIALS, success_bound(0.2 * attack.share, attack.candidates), "greater").pvalue < FALSE_ALARM
    )


# Files.


def test_the_same_seed_gives_the_same_bytes(tables: tuple[Path, Path], tmp_path: Path) -> None:
    again = tmp_path / "a.csv", tmp_path / "b.csv"
    write_tables(again)
    assert [path.read_bytes() for path in again] == [path.read_bytes() for path in tables]
    write_tables(again, seed=2)
    assert again[0].read_bytes() != tables[0].read_bytes()
    assert again[1].read_bytes() == tables[1].read_bytes()


@pytest.mark.parametrize(("epsilons", "trials", "words"), [([1.0, -1.0], 10, "epsilon 2 is -1"), ([1.0], 0, "trials is 0")])
def test_bad_settings_are_a_sentence(tmp_path: Path, epsilons: list[float], trials: int, words: str) -> None:
    with pytest.raises(EpsilometerError, match=words):
        write_tables((tmp_path / "a.csv", tmp_path / "b.csv"), 0, epsilons, trials)
    assert not list(tmp_path.iterdir())


def test_the_figure_shows_every_attack_and_is_the_same_each_time(tables: tuple[Path, Path], tmp_path: Path) -> None:
    results, pictures = tables[0].parents[1], [tmp_path / name / "anonymised_tables.svg" for name in "ab"]
    for picture in pictures:
        draw_all(FIGURES, results, {}, picture.parent)
    text = pictures[0].read_text()
    for attack in NOISY_ATTACKS:
        assert f">attacker knows {attack.attacker_knows}<" in text
    assert ">the same attacker without noise: 0.5<" in text
    assert pictures[1].read_text() == text


def test_a_figure_of_no_table_is_a_sentence(tables: tuple[Path, Path], tmp_path: Path) -> None:
    with pytest.raises(EpsilometerError, match="cannot read the table"):
        draw_all(FIGURES, tmp_path, {}, tmp_path)
    (tmp_path / "anonymised_tables").mkdir()
    shutil.copy(tables[1], tmp_path / "anonymised_tables/worked_example.csv")
    refused = "has no column person; it is no table of anonymised_tables/worked_example$"
    with pytest.raises(EpsilometerError, match=refused):
        draw_all(FIGURES, tmp_path, {}, tmp_path)
    assert not list(tmp_path.glob("*.svg"))
