"""Section I of review: why tables without names, and k-anonymous tables, do not protect the people in them."""

from __future__ import annotations

from typing import Any

from epsilometer.mechanisms.k_anonymity import PATIENTS
from epsilometer.papers.claim import Claim, Decision, Evidence, Measured, Numbers
from epsilometer.papers.deciders import fact_decider, holds_if
from epsilometer.papers.measures import (
    ATTACKS,
    VERDICTS,
    attack_successes,
    attacks,
    catalogue_shares,
    computed,
    success,
)

IDENTIFIERS = Claim(
    id="review-identifiers-not-enough",
    locator="section I, second paragraph",
    statement="Deleting names and other identifiers is not enough to protect private information.",
    needs=(ATTACKS,),
    measure=attack_successes("postech", unnamed="age, gender, zip code and smoking", blind="that she is in the table"),
    decide=fact_decider(
        "In a table of nine patients without names, a diagnosis is guessed right in {unnamed:.0%} from the other columns, "
        "in {blind:.0%} from presence alone.",
        lambda numbers, tolerances: numbers["unnamed"] > numbers["blind"] + tolerances["margin"],
        "The other columns tell hardly anything here.",
    ),
    tolerances={"margin": 0.1},
    link=f"{ATTACKS}.csv",
)


def measure_background(evidence: Evidence) -> Measured:
    """The exact privacy loss of a 2-anonymous table, and how often an attacker succeeds who knows all its other records."""
    known = success(attacks(evidence, "postech"), "all other records of the table")
    return Measured({"spent": min(catalogue_shares(evidence, "k_anonymity").values()), "success": known})


BACKGROUND = Claim(
    id="review-background-knowledge",
    locator="section I, fourth paragraph",
    statement=(
        "k-anonymity and its successors cannot prevent attacks by those who know much, in the extreme all other records."
    ),
    needs=(ATTACKS, VERDICTS),
    measure=measure_background,
    decide=fact_decider(
        "Who knows all other records of a 2-anonymous table finds the last diagnosis in {success:.0%}; the exact audit "
        "gives epsilon = {spent:g}.",
        lambda numbers, tolerances: (
            numbers["spent"] > tolerances["largest epsilon"] and numbers["success"] > tolerances["sure"]
        ),
        "This table withstands that knowledge.",
    ),
    tolerances={"largest epsilon": 10, "sure": 0.99},
    link=f"{ATTACKS}.csv",
)


@computed
def measure_diagnoses_in_groups() -> dict[str, float]:
    """The least number of different diagnoses in a group of two patients or more, for two ways to group them."""
    columns = {"by_diagnosis": PATIENTS[:, -1:], "by_the_others": PATIENTS[:, :-1]}
    return {name: _least_diversity(chosen) for name, chosen in columns.items()}


def _least_diversity(columns: Any) -> float:
    """The least number of different diagnoses among patients who agree in all these columns."""
    groups: dict[tuple[int, ...], list[int]] = {}
    for key, diagnosis in zip(map(tuple, columns.tolist()), PATIENTS[:, -1].tolist(), strict=True):
        groups.setdefault(key, []).append(diagnosis)
    return float(min(len(set(group)) for group in groups.values() if len(group) > 1))


GROUPED = Claim(
    id="review-groups-of-equal-sensitive-values",
    locator="section I, fourth paragraph",
    statement=(
        "To withstand attacks on homogeneous groups, these methods group records with equal sensitive values, and publish "
        "groups that are large enough."
    ),
    computes="the number of different diagnoses in each group of the nine patients",
    measure=measure_diagnoses_in_groups,
    decide=fact_decider(
        "In a group of patients with the same diagnosis there is {by_diagnosis:g}, so membership tells it; in groups of the "
        "same age band, gender, zip code and smoking there are at least {by_the_others:g}.",
        lambda numbers, tolerances: numbers["by_diagnosis"] >= tolerances["diversity"],
        "Records are grouped by their quasi-identifiers.",
    ),
    tolerances={"diversity": 2},
)


@computed
def measure_possible_cities() -> dict[str, float]:
    """The cities where the fourth person can live, in and outside Los Angeles, if a city is published and if none is.

    Two of the four live in Los Angeles and one in New York. A city with three or more of the four is published.
    """
    cities = ("Los Angeles", "New York", "elsewhere")
    known = ["Los Angeles", "Los Angeles", "New York"]
    left: dict[bool, list[str]] = {True: [], False: []}
    for city in cities:
        everyone = [*known, city]
        left[max(everyone.count(name) for name in cities) >= 3].append(city)
    return {
        f"{name}_{place}": float(sum((city == "Los Angeles") == (place == "in") for city in left[published]))
        for name, published in (("published", True), ("withheld", False))
        for place in ("in", "out")
    }


def decide_four_people(numbers: Numbers, _: Numbers) -> Decision:
    inside, outside = numbers["withheld_in"], numbers["withheld_out"]
    sentence = (
        f"Of three cities, the fourth person can live in {inside + outside:g} if nothing is released, of which {inside:g} "
        f"is Los Angeles, and in {numbers['published_in'] + numbers['published_out']:g} if a city is, of which "
        f"{numbers['published_in']:g} is."
    )
    instead = "A release shows that the fourth person lives in Los Angeles, and its absence that they do not."
    return holds_if(outside == 0 < inside, sentence, instead)


FOUR_PEOPLE = Claim(
    id="review-fourth-person",
    locator="section I, example of four people",
    statement=(
        "If a city with three of four people is published, and two are known to live in Los Angeles and one in New York, "
        "nothing being released shows that the fourth lives in Los Angeles."
    ),
    computes="the cities in which the fourth person can live, with and without a release",
    measure=measure_possible_cities,
    decide=decide_four_people,
)
