"""A worked example: what is learnt from a table without names, and from the same counts under Laplace noise.

Two tables of the sources. postech prints nine patients with ages in bands and cut zip codes (after Kearns and Roth): who
knows that Rebecca is 55, a woman and among them is left with two diagnoses of eight. review prints five people with and
without cancer (Table I) and answers count(i), the ill among the first i: count(5) - count(4) is the diagnosis of Alice.

The bound. Before the release each of m candidate diagnoses is equally likely. If the release spends at most epsilon when one
diagnosis is replaced by another, then p_i(y) <= e^epsilon p_j(y) for all candidates and outputs y, so the posterior
p_i / sum_j p_j is at most 1 / (1 + (m - 1) e^-epsilon), and no guess is right more often than that. For m = 2 this is
e^epsilon / (1 + e^epsilon). Rescaled from chance, 0, to certainty, 1, it is (e^epsilon - 1) / (e^epsilon + m - 1).

The noise. All counts have Laplace noise of one scale b, and a = 1/b below.

- Alice, by an attacker who knows the other four diagnoses: count(5) less theirs is x + Z with x = 0 or 1. The likelihood
  ratio exp(a(|y| - |y - 1|)) grows in y and is 1 at 1/2, so the best guess is y > 1/2, right with 1 - P(Z > 1/2). A noisy
  count(4) tells this attacker nothing more.
- Alice, by review's attacker, who knows only her row and takes the difference x + Z - Z' of both counts. Z - Z' has the
  density a (1 + a|t|) e^(-a|t|) / 4, symmetric and falling in |t|, so again y > 1/2 is best. Its success does not depend on
  the other diagnoses; whatever an attacker believes of them, if it has nothing to do with hers, the best success lies
  between this one and the last one.
- Rebecca, by an attacker who knows all other records: subtracting them leaves one count of 1 among m = 8. The likelihood
  of diagnosis j is proportional to exp(a(|y_j| - |y_j - 1|)), which never falls in y_j: the largest is a best guess, and
  as good for every other patient.
- Rebecca, by postech's attacker, who knows her group of two: with r_j = exp(a(|y_j| - |y_j - 1|)), R their sum and
  s_j = exp(a(|y_j| - |y_j - 2|)), and both women's diagnoses independent and uniform, the posterior of j is proportional to
  r_j (R - r_j) + s_j. For i and j it differs by (r_i - r_j)(R - r_i - r_j) + s_i - s_j, so the largest count is a best
  guess again. The bound holds for the mean over all pairs of diagnoses, and then for the printed pair of two different
  ones as well: two equal ones are guessed at least as often (count 2 wins wherever one of two counts of 1 would).

The promise. epsilon means different things, and the table has a row for each: for each count alone, so that the two counts
promise 2 epsilon by sequential composition, or for both together; for a record replaced, or for one added or removed, so
that a replacement costs 2 epsilon (both sources speak of both: review of data sets of one size and of a deleted record,
postech of data sets with n - 1 records in common and of one that lacks a record). Of what the two counts promise, half is
spent on Alice, who is in one of them only.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.polynomial import Polynomial
from numpy.typing import NDArray

from epsilometer.core import Array, EpsilometerError, require_positive, stream
from epsilometer.core.arguments import AtLeastOne, Count, Positive
from epsilometer.mechanisms.k_anonymity import DIAGNOSES, GENDERS, PATIENTS, SMOKES
from epsilometer.mechanisms.laplace import (
    MEDICAL_RESULTS,
    Laplace,
    Query,
    count_first,
    count_five,
    counts_four_and_five,
    medical_pair,
)
from epsilometer.papers.anonymised_tables.rows import ATTACKS, CURVES
from epsilometer.papers.paper import Experiment

Patients = NDArray[np.int_]
"""A table that a source prints: a row for each person."""
Row = dict[str, Any]

CONFIDENCE = 0.95
CURVE_POINTS = 100
LOOK_UP = "Look up the rows that match what is known and guess their commonest diagnosis."
AGE, GENDER = 0, 1
"""Columns of postech's table."""
REBECCA = {AGE: 50, GENDER: GENDERS.index("female")}
"""What is known of her: 55 years, so in the band from 50, and a woman."""
REBECCAS_ROW = 5
"""Which of the two rows of her group she is, for an attacker who knows the other one; either gives the same success."""
ALICES_ROW = 4
OTHERS_COUNT = count_first(MEDICAL_RESULTS, ALICES_ROW)
"""The ill among the four people above Alice."""


def anonymised_tables(*, epsilons: Sequence[Positive], trials: AtLeastOne, seed: Count, table: Path, curves: Path) -> None:
    """Attacks on anonymised tables and on noisy counts: the success of each, and its closed form as a curve."""
    require_positive(trials=trials, **{f"epsilon {number}": eps for number, eps in enumerate(epsilons, start=1)})
    noisy = [row for attack in NOISY_ATTACKS for row in _noisy_rows(attack, epsilons, trials, seed)]
    ATTACKS.write(table, [*_postech_rows(), *_review_rows(), *noisy])
    CURVES.write(curves, [row for attack in NOISY_ATTACKS for row in _curve_rows(attack, epsilons)])


def anonymity(table: Patients) -> int:
    """k: the size of the smallest group of rows that agree in all columns but the last, which is the sensitive one."""
    return min(Counter(map(tuple, table[:, :-1].tolist())).values())


def best_guess(table: Patients, known: Mapping[int, int]) -> float:
    """How often the best guess of a person's sensitive value is right, if these columns of theirs are known.

    Each matching row is as likely as any other to be the person's, so it is the largest share of one value among them.
    """
    values = _matching(table, known)[:, -1].tolist()
    if not values:
        raise EpsilometerError(f"no row of the table matches {dict(known)}; it must describe someone in the table")
    return max(Counter(values).values()) / len(values)


def success_bound(promised: float, candidates: int) -> float:
    """The most that any guess among equally likely candidates can succeed: 1 / (1 + (m - 1) e^-epsilon)."""
    return 1 / (1 + (candidates - 1) * math.exp(-promised))


def advantage(success: float, candidates: int) -> float:
    """Success rescaled so that chance, 1/m, is 0 and certainty is 1."""
    return (candidates * success - 1) / (candidates - 1)


def one_count_success(rate: float) -> float:
    """1 - P(Z > 1/2) = 1 - e^(-a/2) / 2: Alice from one noisy count, all else known; `rate` is a = 1/b."""
    return 1 - math.exp(-rate / 2) / 2


def difference_success(rate: float) -> float:
    """1 - P(Z - Z' > 1/2) = 1 - e^(-a/2) (1 + a/4) / 2: Alice from the difference of two noisy counts."""
    return 1 - math.exp(-rate / 2) * (1 + rate / 4) / 2


def largest_count_success(rate: float, ones: int, zeros: int) -> float:
    """The probability that one count of 1 is the largest with noise, against `ones` more counts of 1 and `zeros` of 0.

    It is the integral of f(y - 1) F(y - 1)^s F(y)^r, with the noise's density f and distribution function F, s = `ones`,
    r = `zeros`. With q = e^-a, v = e^(-a|y|) and w = e^(-a(y-1)) the three pieces are

    - y < 0: (q/2)^(s+1) 2^-r int_0^1 v^(s+r) dv = (q/2)^(s+1) 2^-r / (s + r + 1),
    - 0 < y < 1: (q/2)^(s+1) int_q^1 v^(-s-2) (1 - v/2)^r dv, of which the power v^k of the last factor contributes
      q^(s+1) int_q^1 v^(k-s-2) dv = (q^(s+1) - q^k) / (k - s - 1), or a q^(s+1) if k = s + 1,
    - y > 1: int_0^1 (1 - w/2)^s (1 - qw/2)^r dw / 2.
    """
    q = math.exp(-rate)
    below = (q / 2) ** (ones + 1) / 2**zeros / (ones + zeros + 1)
    powers = [rate * q**k if k == ones + 1 else (q ** (ones + 1) - q**k) / (k - ones - 1) for k in range(zeros + 1)]
    between = sum(math.comb(zeros, k) * (-1 / 2) ** k * power for k, power in enumerate(powers)) / 2 ** (ones + 1)
    above = float((Polynomial([1, -1 / 2]) ** ones * Polynomial([1, -q / 2]) ** zeros).integ()(1)) / 2
    return below + between + above


def diagnosis_counts(patients: Patients) -> Array:
    """How many of Rebecca's group have each of the eight diagnoses: replacing a record moves them by 2 in L1 at most."""
    return np.bincount(_matching(patients, REBECCA)[:, -1], minlength=len(DIAGNOSES)).astype(float)


def _matching(table: Patients, known: Mapping[int, int]) -> Patients:
    """The rows with these values in these columns."""
    return table[(table[:, list(known)] == list(known.values())).all(axis=1)]


@dataclass(frozen=True)
class NoisyAttack:
    """An attack on counts with Laplace noise, its success in closed form, and how to simulate it."""

    example: str
    person: str
    attack: str
    released: str
    attacker_knows: str
    candidates: int
    query: Query
    sensitivity: float
    """L1, when one diagnosis is replaced by another."""
    share: float
    """How much of what the release promises is spent on this person."""
    readings: Mapping[str, float]
    """What epsilon is for, and how many times epsilon the release then promises."""
    closed_form: Callable[[float], float]
    """The success of the best guess at a = 1/b."""
    simulate: Callable[[Laplace, int, np.random.Generator], int]
    """How many of a number of attacks on a mechanism succeed."""

    def mechanism(self, promised: float) -> Laplace:
        return Laplace(self.query, self.sensitivity, promised)


def guess_alice(statistic: Callable[[Array], Array]) -> Callable[[Laplace, int, np.random.Generator], int]:
    """Attacks that call Alice ill where a statistic of the outputs exceeds 1/2; she is ill in half of them."""
    pair = medical_pair(ALICES_ROW, "Alice is ill or not")

    def simulate(mechanism: Laplace, trials: int, rng: np.random.Generator) -> int:
        ill = rng.binomial(trials, 0.5)
        called_ill = statistic(mechanism.sample(pair.first, ill, rng)) > 0.5
        called_well = statistic(mechanism.sample(pair.second, trials - ill, rng)) <= 0.5
        return int(called_ill.sum() + called_well.sum())

    return simulate


def guess_rebecca_by_group(mechanism: Laplace, trials: int, rng: np.random.Generator) -> int:
    """Attacks that guess the largest noisy count of the printed group; Rebecca is either woman of it."""
    guesses = mechanism.sample(PATIENTS, trials, rng).argmax(axis=1)
    return int(np.sum(guesses == rng.choice(_matching(PATIENTS, REBECCA)[:, -1], size=trials)))


def guess_rebecca_among_known(mechanism: Laplace, trials: int, rng: np.random.Generator) -> int:
    """Attacks that subtract all other records and guess the largest of what is left; Rebecca may have anything."""
    known = diagnosis_counts(np.delete(PATIENTS, REBECCAS_ROW, axis=0))
    hits = 0
    for diagnosis, times in enumerate(rng.multinomial(trials, np.full(len(DIAGNOSES), 1 / len(DIAGNOSES)))):
        patients = PATIENTS.copy()
        patients[REBECCAS_ROW, -1] = diagnosis
        left = mechanism.sample(patients, int(times), rng) - known
        hits += int(np.sum(left.argmax(axis=1) == diagnosis))
    return hits


_TWO_COUNTS: dict[str, Any] = {
    "example": "review",
    "person": "Alice",
    "released": "count(5) and count(4)",
    "candidates": 2,
    "query": counts_four_and_five,
    "sensitivity": 2,
    "share": 0.5,
    "readings": {"each of the two counts": 2.0, "both counts together": 1.0},
}
_GROUP_COUNTS: dict[str, Any] = {
    "example": "postech",
    "person": "Rebecca",
    "released": "how many women from 50 to 60 have each diagnosis",
    "candidates": len(DIAGNOSES),
    "query": diagnosis_counts,
    "sensitivity": 2,
    "share": 1.0,
    "readings": {"one record replaced": 1.0, "one record added or removed": 2.0},
}
NOISY_ATTACKS = (
    NoisyAttack(
        attack="Take the noisy count(4) from the noisy count(5) and call Alice ill above 1/2.",
        attacker_knows="that Alice is in row 5",
        closed_form=difference_success,
        simulate=guess_alice(lambda outputs: outputs[:, 1] - outputs[:, 0]),
        **_TWO_COUNTS,
    ),
    NoisyAttack(
        attack="Take the known diagnoses from the noisy count(5) and call Alice ill above 1/2; count(4) adds nothing.",
        attacker_knows="the other four diagnoses",
        closed_form=one_count_success,
        simulate=guess_alice(lambda outputs: outputs[:, 1] - OTHERS_COUNT),
        **_TWO_COUNTS,
    ),
    NoisyAttack(
        example="review",
        person="Alice",
        attack="Take the known diagnoses from the noisy count(5) and call Alice ill above 1/2.",
        released="count(5)",
        attacker_knows="the other four diagnoses",
        candidates=2,
        query=count_five,
        sensitivity=1,
        share=1.0,
        readings={"the one count": 1.0},
        closed_form=one_count_success,
        simulate=guess_alice(lambda outputs: outputs - OTHERS_COUNT),
    ),
    NoisyAttack(
        attack="Guess the diagnosis with the largest noisy count in Rebecca's group.",
        attacker_knows="that Rebecca is 55, a woman and in the table",
        closed_form=lambda rate: largest_count_success(rate, 1, len(DIAGNOSES) - 2),
        simulate=guess_rebecca_by_group,
        **_GROUP_COUNTS,
    ),
    NoisyAttack(
        attack="Take all other records from the noisy counts of Rebecca's group and guess the largest that is left.",
        attacker_knows="all other records of the table",
        closed_form=lambda rate: largest_count_success(rate, 0, len(DIAGNOSES) - 1),
        simulate=guess_rebecca_among_known,
        **_GROUP_COUNTS,
    ),
)


def _noisy_rows(attack: NoisyAttack, epsilons: Sequence[float], trials: int, seed: int) -> list[Row]:
    from statsmodels.stats.proportion import proportion_confint  # slow to import, and not needed to import this module

    rows = []
    for reading, factor in attack.readings.items():
        for epsilon in epsilons:
            promised = factor * epsilon
            mechanism = attack.mechanism(promised)
            rng = stream(seed, "anonymised_tables", attack.released, attack.attacker_knows, reading, f"{epsilon:g}")
            hits = attack.simulate(mechanism, trials, rng)
            low, high = proportion_confint(hits, trials, 1 - CONFIDENCE, method="beta")
            rows.append(
                _row(
                    attack.example,
                    attack.person,
                    attack.attack,
                    attack.released,
                    attack.attacker_knows,
                    attack.candidates,
                    hits / trials,
                    attack.closed_form(1 / mechanism.scale),
                    epsilon=epsilon,
                    epsilon_for=reading,
                    promised=promised,
                    spent=attack.share * promised,
                    low=float(low),
                    high=float(high),
                    trials=trials,
                )
            )
    return rows


def _curve_rows(attack: NoisyAttack, epsilons: Sequence[float]) -> list[Row]:
    """Closed form and bound of one attack, from the smallest to the largest epsilon that it promises."""
    promises = [factor * epsilon for factor in attack.readings.values() for epsilon in epsilons]
    return [
        {
            "example": attack.example,
            "released": attack.released,
            "attacker_knows": attack.attacker_knows,
            "promised": promised,
            "closed_form": attack.closed_form(1 / attack.mechanism(promised).scale),
            "bound": success_bound(promised, attack.candidates),
        }
        for promised in np.geomspace(min(promises), max(promises), CURVE_POINTS).tolist()
    ]


def _postech_rows() -> list[Row]:
    """Everything that can be learnt without noise from postech's table, by enumeration of the rows that match."""
    named = _with_names(PATIENTS)

    def row(person: str, knows: str, table: Patients, success: float) -> Row:
        released = "the table with names" if table is named else "the table without names, ages in bands, zip codes cut"
        return _row("postech", person, LOOK_UP, released, knows, len(DIAGNOSES), success, success, k=anonymity(table))

    everyone = [best_guess(PATIENTS, dict(enumerate(patient[:-1]))) for patient in PATIENTS.tolist()]
    return [
        row("Rebecca", "her name", named, best_guess(named, {0: REBECCAS_ROW})),
        row("Rebecca", "that she is in the table", PATIENTS, best_guess(PATIENTS, {})),
        row("Rebecca", "that Rebecca is 55 and in the table", PATIENTS, best_guess(PATIENTS, {AGE: REBECCA[AGE]})),
        row("Rebecca", "that Rebecca is 55, a woman and in the table", PATIENTS, best_guess(PATIENTS, REBECCA)),
        row("Rebecca", "all other records of the table", PATIENTS, best_guess(PATIENTS[[REBECCAS_ROW]], {})),  # what is left
        *(
            row(f"the patient in row {number}", _described(patient), PATIENTS, success)
            for number, (patient, success) in enumerate(zip(PATIENTS.tolist(), everyone, strict=True), start=1)
        ),
        row("a patient at random", "age, gender, zip code and smoking", PATIENTS, float(np.mean(everyone))),
    ]


def _review_rows() -> list[Row]:
    """What can be learnt without noise from review's table; the difference is checked on all 32 tables of five people."""
    unnamed = MEDICAL_RESULTS[:, None]
    named = _with_names(unnamed)
    tables = np.array(list(np.ndindex((2,) * len(MEDICAL_RESULTS))))
    differences = np.array([counts_four_and_five(table) @ [-1, 1] for table in tables])
    found = float(np.mean(differences == tables[:, ALICES_ROW]))

    def row(attack: str, released: str, knows: str, success: float, k: float) -> Row:
        return _row("review", "Alice", attack, released, knows, 2, success, success, k=k)

    subtract = "Take count(4) from count(5): what is left is Alice's diagnosis."
    return [
        row(LOOK_UP, "the table with names", "her name", best_guess(named, {0: ALICES_ROW}), anonymity(named)),
        row(LOOK_UP, "the table without names", "that she is in the table", best_guess(unnamed, {}), anonymity(unnamed)),
        row(subtract, "count(5) and count(4)", "that Alice is in row 5", found, math.nan),
    ]


def _with_names(table: Patients) -> Patients:
    """The table with a first column that is different in every row."""
    return np.column_stack([np.arange(len(table)), table])


def _described(patient: Sequence[int]) -> str:
    age, gender, place, smoker, _ = patient
    return f"{GENDERS[gender]}, {age} to {age + 10}, zip code {place}**, smoker: {SMOKES[smoker]}, in the table"


def _row(
    example: str,
    person: str,
    attack: str,
    released: str,
    attacker_knows: str,
    candidates: int,
    success: float,
    closed_form: float,
    *,
    k: float = math.nan,
    epsilon: float = math.nan,
    epsilon_for: str = "",
    promised: float = math.inf,
    spent: float = math.inf,
    low: float = math.nan,
    high: float = math.nan,
    trials: float = math.nan,
) -> Row:
    """One row of the table; a release without noise promises nothing, and its bound is 1."""
    bound = success_bound(promised, candidates)
    return {
        "example": example,
        "person": person,
        "attack": attack,
        "released": released,
        "attacker_knows": attacker_knows,
        "k": k,
        "candidates": candidates,
        "epsilon": epsilon,
        "epsilon_for": epsilon_for,
        "promised": promised,
        "spent": spent,
        "success": success,
        "low": low,
        "high": high,
        "closed_form": closed_form,
        "bound": bound,
        "bound_for_person": success_bound(spent, candidates),
        "advantage": advantage(success, candidates),
        "advantage_bound": advantage(bound, candidates),
        "trials": trials,
    }


EXPERIMENTS = (
    Experiment(
        anonymised_tables,
        parts=lambda _: ["worked_example"],
        options=lambda settings, _: settings.anonymised_tables.model_dump() | {"seed": settings.seed},
        also={"curves": "anonymised_tables/curves"},
        message="Attacks on anonymised tables, with and without noise",
    ),
)
