"""What the claims of several papers measure: formulas, random draws, audits, worst pairs, attacks on printed tables."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache, wraps
from typing import Any

import numpy as np

from epsilometer.auditors.exact import ExactLikelihoodRatio
from epsilometer.core import Array, EpsilometerError, NeighbouringPair, Witness
from epsilometer.mechanisms.catalogue import find
from epsilometer.mechanisms.randomized_response import RandomizedResponse
from epsilometer.pairs.search import WorstPair, worst_pair
from epsilometer.papers.claim import Evidence, Measure, Measured, Numbers

VERDICTS = "verdicts/catalogue"
"""The table of audits of every mechanism of the catalogue."""
ATTACKS = "anonymised_tables/worked_example"
"""The table of attacks on the printed tables of the sources."""
PROOF_OF_VIOLATION = "the output that proves a violation, if the audits found one"
"""What a claim whose measure is `audited(...)` computes beyond reading the table of audits."""


# Formulas and random draws


def computed(numbers: Callable[[], Numbers]) -> Measure:
    """The measure of a claim that reads no table and draws no random numbers."""

    @wraps(numbers)
    def measure(_: Evidence) -> Measured:
        return Measured(numbers())

    return measure


def drawn(name: str) -> Callable[[Callable[[np.random.Generator], Numbers]], Measure]:
    """Makes a measure of a function of random numbers, which come from the ledger's stream of this name."""

    def decorate(numbers: Callable[[np.random.Generator], Numbers]) -> Measure:
        @wraps(numbers)
        def measure(evidence: Evidence) -> Measured:
            return Measured(numbers(evidence.stream(name)))

        return measure

    return decorate


def answers(gamma: float) -> tuple[Array, Array]:
    """The probabilities of the answers 0 and 1 where the truth is 0, and where it is 1."""
    mechanism = RandomizedResponse(gamma)
    zero, one = (np.exp(mechanism.log_density(np.array([truth]), np.array([[0], [1]]))) for truth in (0, 1))
    return zero, one


# Privacy losses from the table of audits


def catalogue_shares(evidence: Evidence, mechanism: str) -> dict[float, float]:
    """The privacy loss of a mechanism of the catalogue, by its claimed epsilon, from the table of verdicts.

    It is exact; or, where only sampling can tell, a 95% bound, which counts beyond the claimed epsilon only if the verdict
    of the whole report, which allows for chance, says so too.
    """
    rows = evidence.table(VERDICTS, "mechanism", "promised", "exact", "sampled_curve", "verdict")
    spent = {}
    for row in rows:
        if row["mechanism"] == mechanism:
            most = math.inf if row["verdict"] == "violated" else row["promised"]
            sampled = math.isnan(row["exact"])
            spent[row["promised"]] = min(row["sampled_curve"], most) if sampled else row["exact"]
    if not spent:
        raise EpsilometerError(f"the table {VERDICTS} has no row of {mechanism}; audit it first")
    return spent


def largest_share(spent: dict[float, float]) -> float:
    """The largest privacy loss as a share of the claimed epsilon."""
    return max(loss / promised for promised, loss in spent.items())


def spent_share(evidence: Evidence, *mechanisms: str) -> float:
    """The largest privacy loss of these mechanisms as a share of their claimed epsilon, from the table of verdicts."""
    return max(largest_share(catalogue_shares(evidence, mechanism)) for mechanism in mechanisms)


def spent_shares(**mechanisms: tuple[str, ...]) -> Measure:
    """The measure that reads `spent_share` for each group of mechanisms, under the group's name."""

    def measure(evidence: Evidence) -> Measured:
        return Measured({name: spent_share(evidence, *group) for name, group in mechanisms.items()})

    return measure


def audited(*mechanisms: str) -> Measure:
    """The largest and the least share that mechanisms of the catalogue spend, and a witness of one that exceeds its epsilon.

    Where delta is above 0, no single output proves anything, so there is none.
    """

    def measure(evidence: Evidence) -> Measured:
        shares = {name: spent_share(evidence, name) for name in mechanisms}
        worst_name = max(shares, key=lambda name: shares[name])
        guarantee = find(worst_name).build(1.0).guarantee
        provable = shares[worst_name] > 1 and guarantee is not None and guarantee.delta == 0
        witness = exact_witness(evidence, worst_name) if provable else None
        return Measured({"share": shares[worst_name], "least_share": min(shares.values())}, witness)

    return measure


def audited_with_corrected(printed: str, **corrected: str) -> Measure:
    """The share that a mechanism of the catalogue spends as printed, with a witness, and those of corrected ones by name."""
    shares = spent_shares(share=(printed,), **{name: (mechanism,) for name, mechanism in corrected.items()})

    def measure(evidence: Evidence) -> Measured:
        return Measured(shares(evidence).numbers, exact_witness(evidence, printed))

    return measure


# Privacy losses on a pair


def exact_witness(evidence: Evidence, mechanism: str, promised: float = 1.0) -> Witness | None:
    """The output with the largest privacy loss among the catalogue's pairs for a mechanism."""
    entry = find(mechanism)
    audit, rng = ExactLikelihoodRatio(mechanism), evidence.stream("witness", mechanism)
    found = [audit(entry.build(promised), pair, 4000, rng) for pair in entry.pairs()]
    return max(found, key=lambda estimate: estimate.epsilon).witness


def exact_loss(evidence: Evidence, mechanism: Any, pair: NeighbouringPair) -> float:
    """The largest log-ratio of an output on a pair."""
    return ExactLikelihoodRatio("")(mechanism, pair, 1000, evidence.stream("exactly spent", pair.reason)).epsilon


def exact_losses(pair: NeighbouringPair, **mechanisms: Any) -> Measure:
    """The measure that computes `exact_loss` of each mechanism on one pair, under the mechanism's name."""

    def measure(evidence: Evidence) -> Measured:
        return Measured({name: exact_loss(evidence, mechanism, pair) for name, mechanism in mechanisms.items()})

    return measure


@cache
def find_worst_pair(evidence: Evidence, mechanism: str, promised: float, n: int, d: int) -> WorstPair:
    """The worst pair that the search finds for a mechanism of the catalogue."""
    return worst_pair(find(mechanism).build(promised), n, d, evidence.stream("worst pair", mechanism, promised, n, d))


# Attacks on the printed tables


def attacks(evidence: Evidence, example: str) -> list[dict[str, Any]]:
    """The rows of the attacks on one source's table."""
    needed = ("example", "released", "attacker_knows", "epsilon", "success", "bound")
    return [row for row in evidence.table(ATTACKS, *needed) if row["example"] == example]


def success(rows: list[dict[str, Any]], knows: str) -> float:
    """How often the attack without noise is right that knows this."""
    return next(float(row["success"]) for row in rows if row["attacker_knows"] == knows and math.isnan(row["epsilon"]))


def attack_successes(example: str, **knows: str) -> Measure:
    """The measure that reads `success` on one source's table for each kind of knowledge, under its name."""

    def measure(evidence: Evidence) -> Measured:
        rows = attacks(evidence, example)
        return Measured({name: success(rows, known) for name, known in knows.items()})

    return measure
