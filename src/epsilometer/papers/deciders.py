"""How claims are decided: a few judgements that the papers share, and how their sentences list numbers.

The first functions return a decision. Those below `fill_in` return a decider: what a `Claim` has for `decide`. They take
texts that are format strings: {name:.3g} is the number of that name, {largest} the largest of all numbers, {listed} all of
them with three digits, and {count} how many there are, unless a number has that name itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import pairwise

from epsilometer.papers.claim import Decide, Decision, Numbers

ROUNDING = {"slack": 1e-9}
"""The tolerance of a statement that holds exactly: rounding errors alone."""
PRIVATE = ROUNDING | {"tight": 0.9}
"""The tolerances of a claimed epsilon: rounding errors, and the share of it from which on it counts as attained."""
BOUND = {"slack": 1e-6, "tight": 0.9}
"""The tolerances of an upper bound: numerical error, and the share of it from which on it counts as attained."""

Condition = Callable[[Numbers, Numbers], bool]
"""Whether the numbers satisfy a statement, within the tolerances."""


# Decisions from numbers


def holds_if(condition: bool, sentence: str, instead: str) -> Decision:
    """An identity or an order: it holds, or it fails, and then `instead` says what holds."""
    return Decision("holds", sentence) if condition else Decision("fails as printed", sentence, instead=instead)


def reproduced_if(same: bool, sentence: str, instead: str = "") -> Decision:
    """An experiment: its printed number comes out, or it does not."""
    return Decision("reproduced" if same else "not reproduced", sentence, instead=instead)


def within_bound(
    share: float, sentence: str, tolerances: Numbers, instead: str, factor: float | None = None, tighter: str = ""
) -> Decision:
    """A bound: the largest value found, as a share of it, is beyond it (1 + `slack`), near it, or below `tight`.

    The bound is loose by 1/share, or by the `factor` that is given; `tighter` says what suffices where it is loose.
    """
    if share > 1 + tolerances["slack"]:
        return Decision("fails as printed", sentence, instead=instead)
    loose = 1 / share if factor is None else factor
    if loose * tolerances["tight"] > 1:
        return Decision("holds, loosely", sentence, factor=loose, instead=tighter)
    return Decision("holds", sentence)


def decide_readings(every: bool, assumed: bool, sentence: str, missing: str, instead: str = "") -> Decision:
    """A statement that leaves something out: it holds in every reading, in the one that we assume, or not even there.

    `missing` says what is left out and what we assumed, `instead` what holds if the assumed reading fails.
    """
    if every:
        return Decision("holds", sentence)
    if assumed:
        return Decision("underspecified", sentence, instead=missing)
    return Decision("fails as printed", sentence, instead=instead)


def two_readings(assumed: float, other: float, sentence: str, tolerances: Numbers, missing: str, instead: str) -> Decision:
    """A bound with two readings: the share of it that is reached in the reading that we assume, and in the other."""
    most = 1 + tolerances["slack"]
    return decide_readings(max(assumed, other) <= most, assumed <= most, sentence, missing, instead)


# Deciders of claims


def fill_in(sentence: str, numbers: Numbers) -> str:
    """The sentence with the numbers in the places of their names."""
    values = numbers.values()
    return sentence.format(**{"largest": max(values), "listed": listed(values), "count": len(values), **numbers})


def fact_decider(sentence: str, holds: Condition, instead: str) -> Decide:
    """Decides that a fact holds if a condition does, and otherwise fails: `instead` says what holds."""

    def decide(numbers: Numbers, tolerances: Numbers) -> Decision:
        return holds_if(holds(numbers, tolerances), fill_in(sentence, numbers), fill_in(instead, numbers))

    return decide


def bound_decider(sentence: str, instead: str, share: str | None = None) -> Decide:
    """Decides on a bound by the share of it that is reached: the number called `share`, or else the largest of all."""

    def decide(numbers: Numbers, tolerances: Numbers) -> Decision:
        reached = max(numbers.values()) if share is None else numbers[share]
        return within_bound(reached, fill_in(sentence, numbers), tolerances, fill_in(instead, numbers))

    return decide


def readings_decider(
    sentence: str, every: Condition, missing: str, assumed: Condition | None = None, instead: str = ""
) -> Decide:
    """Decides on a statement that leaves something out: whether it holds in every reading, or in the one that we assume.

    Without `assumed` we say what we assumed, but there is nothing that could fail under it.
    """

    def decide(numbers: Numbers, tolerances: Numbers) -> Decision:
        holds = assumed is None or assumed(numbers, tolerances)
        texts = (fill_in(text, numbers) for text in (sentence, missing, instead))
        return decide_readings(every(numbers, tolerances), holds, *texts)

    return decide


def claimed_epsilon(of: str, instead: str = "More noise is needed.") -> Decide:
    """Decides on a claimed epsilon, by the privacy loss of the worst pair found as a `share` of it.

    `of` says what was audited, `instead` what holds if the claimed epsilon is exceeded.
    """
    sentence = f"The worst pair found spends {{share:.4g}} times the promised epsilon ({of})."
    return bound_decider(sentence, instead, share="share")


def all_within_slack(numbers: Numbers, tolerances: Numbers) -> bool:
    """Whether no number exceeds `slack`: differences that should be 0."""
    return max(numbers.values()) <= tolerances["slack"]


def all_within_bound(numbers: Numbers, tolerances: Numbers) -> bool:
    """Whether no number exceeds 1 + `slack`: shares of a bound."""
    return max(numbers.values()) <= 1 + tolerances["slack"]


# Lists of numbers


def listed(values: Iterable[float], digits: int = 3) -> str:
    """The numbers in a row, with so many digits."""
    return ", ".join(f"{value:.{digits}g}" for value in values)


def listed_with_names(numbers: Numbers, digits: int = 3) -> str:
    """The numbers in a row, each followed by its name in parentheses."""
    return ", ".join(f"{value:.{digits}g} ({name})" for name, value in numbers.items())


def is_decreasing(values: Iterable[float]) -> bool:
    """Whether each value is below the one before it."""
    return all(later < earlier for earlier, later in pairwise(values))
