"""The opening slides of postech: what a table with names, and one without them, gives away."""

from __future__ import annotations

from epsilometer.mechanisms.k_anonymity import GENDERS, PATIENTS, KAnonymousTable
from epsilometer.papers.claim import Claim, Decision, Evidence, Measured, Numbers
from epsilometer.papers.deciders import holds_if, readings_decider
from epsilometer.papers.measures import ATTACKS, attack_successes, attacks, success

REBECCAS_AGE = 55


def decide_tables_leak(numbers: Numbers, tolerances: Numbers) -> Decision:
    """Both tables must give more away than presence does."""
    named, unnamed, blind = (numbers[name] for name in ("named", "unnamed", "blind"))
    sentence = (
        f"A diagnosis is guessed right in {named:.0%} with names, and in {unnamed:.0%} without, from what the table shows "
        f"of a patient; in {blind:.0%} from presence alone."
    )
    leaks = min(named, unnamed) > blind + tolerances["margin"]
    return holds_if(leaks, sentence, "One of the tables gives hardly more away than presence.")


TABLES_LEAK = Claim(
    id="postech-anonymised-tables-leak",
    locator='slides "Why privacy guarantees in learning?"',
    statement="A data set with names gives private information away, and one without names can do so too.",
    needs=(ATTACKS,),
    measure=attack_successes(
        "postech", named="her name", unnamed="age, gender, zip code and smoking", blind="that she is in the table"
    ),
    decide=decide_tables_leak,
    tolerances={"margin": 0.1},
    link=f"{ATTACKS}.csv",
)


def measure_rebecca(evidence: Evidence) -> Measured:
    """How many diagnoses the released table leaves for someone of 55, and for a woman of 55; and how a best guess does."""
    table, rows = KAnonymousTable(), attacks(evidence, "postech")
    released = table.release(PATIENTS)
    left = {gender: table.possible_diagnoses(released, REBECCAS_AGE, gender) for gender in GENDERS}
    numbers = {
        "left_by_age": float(len(set.union(*left.values()))),
        "left_by_age_and_gender": float(len(left["female"])),
        "success_by_age": success(rows, "that Rebecca is 55 and in the table"),
        "success_by_age_and_gender": success(rows, "that Rebecca is 55, a woman and in the table"),
    }
    return Measured(numbers)


REBECCA = Claim(
    id="postech-rebecca",
    locator="slide with the anonymised data set",
    statement="Who knows that Rebecca is 55 and in the table knows that she has one of two diseases.",
    needs=(ATTACKS,),
    computes="the diagnoses that the released table leaves",
    measure=measure_rebecca,
    decide=readings_decider(
        "Age and presence leave {left_by_age:g} diseases (best guess right in {success_by_age:.0%}), with the gender "
        "{left_by_age_and_gender:g} ({success_by_age_and_gender:.0%}).",
        lambda numbers, tolerances: numbers["left_by_age"] == tolerances["diseases"],
        "That she is a woman is used but not among what is said to be known; we assumed that the name tells it.",
        assumed=lambda numbers, tolerances: numbers["left_by_age_and_gender"] == tolerances["diseases"],
        instead="{left_by_age_and_gender:g} diseases are left.",
    ),
    tolerances={"diseases": 2},
    link=f"{ATTACKS}.csv",
)
