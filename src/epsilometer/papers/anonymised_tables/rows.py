"""The tables of the attacks on printed tables."""

from __future__ import annotations

from typing import Annotated, Any, TypedDict

from epsilometer.core.tables import EMPTY, Table


class AttackRow(TypedDict):
    """The success of every attack on a printed table, by reading of epsilon and epsilon."""

    example: Annotated[str, "the source that prints the table"]
    person: Annotated[str, "whose diagnosis is guessed"]
    attack: Annotated[str, "what the attacker does"]
    released: Annotated[str, "what is published"]
    attacker_knows: Annotated[str, "what the attacker knows already"]
    k: Annotated[float, "the published table's level of k-anonymity; empty for counts", EMPTY]
    candidates: Annotated[int, "diagnoses that are possible beforehand"]
    epsilon: Annotated[float, "epsilon of the noise; empty without noise", EMPTY]
    epsilon_for: Annotated[str, "what epsilon is claimed for; empty without noise", EMPTY]
    promised: Annotated[float, "epsilon that is claimed for one diagnosis replaced"]
    spent: Annotated[float, "what of that is spent on this person"]
    success: Annotated[float, "probability that the guess is right"]
    low: Annotated[float, "lower end of its 95% Clopper-Pearson interval; empty where it is enumerated", EMPTY]
    high: Annotated[float, "upper end of that interval", EMPTY]
    closed_form: Annotated[float, "the same probability in closed form"]
    bound: Annotated[float, "the most that any attack can succeed, at `promised`"]
    bound_for_person: Annotated[float, "the same, at `spent`"]
    advantage: Annotated[float, "success, rescaled from chance to certainty"]
    advantage_bound: Annotated[float, "bound, rescaled from chance to certainty"]
    trials: Annotated[float, "simulated attacks; empty where it is enumerated", EMPTY]


class CurveRow(TypedDict):
    """Closed form and bound of each attack on noisy counts, at many values of epsilon."""

    example: Annotated[str, "the source that prints the table"]
    released: Annotated[str, "what is published"]
    attacker_knows: Annotated[str, "what the attacker knows already"]
    promised: Annotated[float, "epsilon that is claimed for one diagnosis replaced"]
    closed_form: Annotated[float, "probability that the guess is right"]
    bound: Annotated[float, "the most that any attack can succeed"]


ATTACKS = Table[Any]("anonymised_tables/worked_example", AttackRow)
CURVES = Table[Any]("anonymised_tables/curves", CurveRow)
