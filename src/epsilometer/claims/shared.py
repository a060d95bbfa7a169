"""What the checks of several sources share: the audits' tables, worst pairs, and how a promise is judged."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from functools import cache, partial
from typing import Any

import numpy as np

from epsilometer.audits.exact import ExactLikelihoodRatio
from epsilometer.claims.ledger import Decision, Evidence, Measured, Numbers
from epsilometer.core import Array, EpsilometerError, NeighbouringPair, Witness
from epsilometer.mechanisms.catalogue import find
from epsilometer.mechanisms.randomized_response import RandomizedResponse
from epsilometer.pairs.search import WorstPair, worst_pair


def catalogue_shares(evidence: Evidence, mechanism: str) -> dict[float, float]:
    """What a mechanism of the catalogue spends, by the epsilon that it promises, from the table of verdicts.

    It is exact; or, where only sampling can tell, a 95% bound, which counts beyond the promise only if the verdict of the
    whole report, which allows for chance, says so too.
    """
    rows = evidence.table("verdicts/catalogue", "mechanism", "promised", "exact", "sampled_curve", "verdict")
    spent = {}
    for row in rows:
        if row["mechanism"] == mechanism:
            most = math.inf if row["verdict"] == "violated" else row["promised"]
            sampled = math.isnan(row["exact"])
            spent[row["promised"]] = min(row["sampled_curve"], most) if sampled else row["exact"]
    if not spent:
        raise EpsilometerError(f"the table verdicts/catalogue has no row of {mechanism}; audit it first")
    return spent


def largest_share(spent: dict[float, float]) -> float:
    """The largest loss as a share of what was promised."""
    return max(loss / promised for promised, loss in spent.items())


def exact_witness(evidence: Evidence, mechanism: str, promised: float = 1.0) -> Witness | None:
    """The output that tells most among the catalogue's pairs for a mechanism."""
    entry = find(mechanism)
    audit, rng = ExactLikelihoodRatio(mechanism), evidence.stream("witness", mechanism)
    found = [audit(entry.build(promised), pair, 4000, rng) for pair in entry.pairs()]
    return max(found, key=lambda estimate: estimate.epsilon).witness


@cache
def worst(evidence: Evidence, mechanism: str, promised: float, n: int, d: int) -> WorstPair:
    """The worst pair that the search finds for a mechanism of the catalogue."""
    return worst_pair(find(mechanism).build(promised), n, d, evidence.stream("worst pair", mechanism, promised, n, d))


def decide_privacy(numbers: Numbers, tolerances: Numbers, of: str, instead: str) -> Decision:
    """Whether the worst pair, as a `share` of the promise, goes beyond it, and if not, how near it comes."""
    share = numbers["share"]
    sentence = f"The worst pair found spends {share:.4g} times the promised epsilon ({of})."
    return bounded(share, sentence, tolerances, instead)


def bounded(share: float, sentence: str, tolerances: Numbers, instead: str) -> Decision:
    """Whether what was reached, as a share of a bound, is within it, and if so, how near it comes."""
    if share > 1 + tolerances["slack"]:
        return Decision("fails as printed", sentence, instead=instead)
    if share < tolerances["tight"]:
        return Decision("holds, loosely", sentence, factor=1 / share)
    return Decision("holds", sentence)


def two_readings(assumed: float, other: float, sentence: str, tolerances: Numbers, missing: str, instead: str) -> Decision:
    """Whether what is spent, as a share, keeps the promise in both readings of a statement, or only in the one we assume."""
    if max(assumed, other) <= 1 + tolerances["slack"]:
        return Decision("holds", sentence)
    if assumed <= 1 + tolerances["slack"]:
        return Decision("underspecified", sentence, instead=missing)
    return Decision("fails as printed", sentence, instead=instead)


def listed(values: Iterable[float], digits: int = 3) -> str:
    """The numbers in a row, with so many digits."""
    return ", ".join(f"{value:.{digits}g}" for value in values)


def answers(gamma: float) -> tuple[Array, Array]:
    """The probabilities of the answers 0 and 1 where the truth is 0, and where it is 1."""
    mechanism = RandomizedResponse(gamma)
    zero, one = (np.exp(mechanism.log_density(np.array([truth]), np.array([[0], [1]]))) for truth in (0, 1))
    return zero, one


def attacks(evidence: Evidence, example: str) -> list[dict[str, Any]]:
    """The rows of the attacks on one source's table."""
    needed = ("example", "released", "attacker_knows", "epsilon", "success", "bound")
    return [row for row in evidence.table("anonymised_tables/worked_example", *needed) if row["example"] == example]


def audited(*mechanisms: str) -> Callable[[Evidence], Measured]:
    """The largest and the least share that mechanisms of the catalogue spend, and a witness of one that breaks its promise.

    Where delta is above 0, no single output proves anything, so there is none.
    """

    def measure(evidence: Evidence) -> Measured:
        shares = {name: largest_share(catalogue_shares(evidence, name)) for name in mechanisms}
        worst_name = max(shares, key=lambda name: shares[name])
        guarantee = find(worst_name).build(1.0).guarantee
        provable = shares[worst_name] > 1 and guarantee is not None and guarantee.delta == 0
        witness = exact_witness(evidence, worst_name) if provable else None
        return Measured({"share": shares[worst_name], "least_share": min(shares.values())}, witness)

    return measure


def either(holds: bool, sentence: str, instead: str) -> Decision:
    """Holds, or fails with what holds instead."""
    return Decision("holds", sentence) if holds else Decision("fails as printed", sentence, instead=instead)


def exactly_spent(evidence: Evidence, mechanism: Any, pair: NeighbouringPair) -> float:
    """The largest log-ratio of an output on a pair."""
    return ExactLikelihoodRatio("")(mechanism, pair, 1000, evidence.stream("exactly spent", pair.reason)).epsilon


def privately(of: str, instead: str = "More noise is needed.") -> Callable[[Numbers, Numbers], Decision]:
    """The decision on a promise, with what was audited and what holds if it is broken."""
    return partial(decide_privacy, of=of, instead=instead)


def success(rows: list[dict[str, Any]], knows: str) -> float:
    """How often the attack without noise is right that knows this."""
    return next(float(row["success"]) for row in rows if row["attacker_knows"] == knows and math.isnan(row["epsilon"]))
