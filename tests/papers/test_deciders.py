"""The judgements that the papers share: the borders between outcomes, and sentences with the numbers filled in."""

from __future__ import annotations

import math

import pytest

from epsilometer.papers.claim import Outcome
from epsilometer.papers.deciders import (
    BOUND,
    PRIVATE,
    ROUNDING,
    all_within_bound,
    all_within_slack,
    bound_decider,
    claimed_epsilon,
    decide_readings,
    fact_decider,
    fill_in,
    holds_if,
    is_decreasing,
    listed,
    listed_with_names,
    readings_decider,
    reproduced_if,
    two_readings,
    within_bound,
)

SLACK = {"slack": 0.5}


def test_a_statement_that_fails_says_what_holds_instead_and_one_that_holds_does_not() -> None:
    assert (holds_if(True, "It is 1.", "It is 2.").outcome, holds_if(True, "It is 1.", "It is 2.").instead) == ("holds", "")
    decision = holds_if(False, "It is 2.", "Two.")
    assert (decision.outcome, decision.sentence, decision.instead) == ("fails as printed", "It is 2.", "Two.")


def test_a_number_is_reproduced_or_not_and_a_remark_is_kept() -> None:
    assert reproduced_if(True, "It is 1.").outcome == "reproduced"
    decision = reproduced_if(False, "It is 2.", "It would be 1 elsewhere.")
    assert (decision.outcome, decision.instead) == ("not reproduced", "It would be 1 elsewhere.")


@pytest.mark.parametrize(
    ("share", "outcome"),
    [
        (0.89, "holds, loosely"),
        (0.9, "holds"),
        (1 + 1e-7, "holds"),
        (1 + 1e-5, "fails as printed"),
        (math.inf, "fails as printed"),
    ],
)
def test_a_bound_is_exceeded_near_or_loose_by_the_share_of_it_that_is_reached(share: float, outcome: Outcome) -> None:
    decision = within_bound(share, "It is 1.", BOUND, "It is more.")
    assert (decision.outcome, decision.instead) == (outcome, "It is more." if outcome == "fails as printed" else "")
    assert decision.factor == pytest.approx(1 / share if outcome == "holds, loosely" else math.nan, nan_ok=True)


@pytest.mark.parametrize(
    ("share", "factor", "outcome", "instead"),
    [
        (1.0, 1.1, "holds", ""),
        (1.0, 1.2, "holds, loosely", "half of it"),
        (0.1, 1.0, "holds", ""),
        (1.1, 1.2, "fails as printed", "twice as much"),
    ],
)
def test_a_factor_makes_a_bound_loose_only_if_the_bound_holds(
    share: float, factor: float, outcome: Outcome, instead: str
) -> None:
    decision = within_bound(share, "It is 1.", BOUND, "twice as much", factor=factor, tighter="half of it")
    assert (decision.outcome, decision.instead) == (outcome, instead)
    assert outcome != "holds, loosely" or decision.factor == factor


@pytest.mark.parametrize(
    ("every", "assumed", "outcome", "instead"),
    [
        (True, True, "holds", ""),
        (False, True, "underspecified", "The unit is not given."),
        (False, False, "fails as printed", "It is two."),
    ],
)
def test_a_statement_holds_in_every_reading_in_the_assumed_one_or_not_even_there(
    every: bool, assumed: bool, outcome: Outcome, instead: str
) -> None:
    decision = decide_readings(every, assumed, "It is 1.", "The unit is not given.", "It is two.")
    assert (decision.outcome, decision.instead) == (outcome, instead)


@pytest.mark.parametrize(
    ("assumed", "other", "outcome"),
    [
        (1.4, 1.5, "holds"),
        (1.4, 1.6, "underspecified"),
        (1.6, 1.4, "fails as printed"),
        (1.6, 1.6, "fails as printed"),
    ],
)
def test_a_bound_with_two_readings_may_hold_in_the_assumed_one_alone(assumed: float, other: float, outcome: Outcome) -> None:
    assert two_readings(assumed, other, "It is 1.", SLACK, "missing", "instead").outcome == outcome


def test_a_sentence_names_its_numbers_and_what_all_have_in_common() -> None:
    sentence = "a is {a:.2f}; of {count} numbers ({listed}) the largest is {largest:g}."
    assert fill_in(sentence, {"a": 0.125, "b b": 0.5}) == "a is 0.12; of 2 numbers (0.125, 0.5) the largest is 0.5."


def test_a_number_of_that_name_comes_before_what_all_have_in_common() -> None:
    numbers = {"largest": 1.0, "count": 7.0, "another": 9.0}
    assert fill_in("{largest:g}, {count:g}, {listed}", numbers) == "1, 7, 1, 7, 9"


@pytest.mark.parametrize(
    ("largest", "within_slack", "within_bound"), [(0.5, True, True), (1.5, False, True), (2.0, False, False)]
)
def test_the_largest_number_is_within_its_limit_or_not(largest: float, within_slack: bool, within_bound: bool) -> None:
    numbers = {"a": -3.0, "b": largest}
    assert all_within_slack(numbers, SLACK) is within_slack
    assert all_within_bound(numbers, SLACK) is within_bound


def test_a_fact_is_decided_by_its_condition_on_numbers_and_tolerances() -> None:
    decide = fact_decider("It is {a:g}.", lambda numbers, tolerances: numbers["a"] <= tolerances["most"], "Up to {a:g}.")
    assert decide({"a": 2.0}, {"most": 2.0}) == holds_if(True, "It is 2.", "")
    assert decide({"a": 2.0}, {"most": 1.0}) == holds_if(False, "It is 2.", "Up to 2.")


def test_a_bound_is_decided_by_the_number_that_is_named_or_else_by_the_largest() -> None:
    numbers = {"share": 0.95, "beyond": 1.5}
    assert bound_decider("{share} of 1.", "-", share="share")(numbers, BOUND).outcome == "holds"
    decision = bound_decider("{share} of 1.", "Up to {beyond}.")(numbers, BOUND)
    assert (decision.outcome, decision.instead) == ("fails as printed", "Up to 1.5.")


@pytest.mark.parametrize(("value", "outcome"), [(0.5, "holds"), (1.0, "underspecified"), (2.0, "fails as printed")])
def test_what_is_left_out_matters_or_not_and_an_assumption_may_fail(value: float, outcome: Outcome) -> None:
    texts = "It is {a:g}.", "The unit of {a:g} is not given.", "It is {a:g}."
    decide = readings_decider(texts[0], all_within_slack, texts[1], all_within_bound, texts[2])
    every, assumed = value <= 0.5, value <= 1.5
    expected = decide_readings(every, assumed, *(text.format(a=value) for text in texts))
    assert decide({"a": value}, SLACK) == expected
    assert expected.outcome == outcome


def test_an_assumption_without_a_condition_cannot_fail() -> None:
    decide = readings_decider("It is {a:g}.", all_within_slack, "The unit is not given.")
    assert decide({"a": 2.0}, SLACK).outcome == "underspecified"
    assert decide({"a": 0.5}, SLACK).outcome == "holds"


def test_a_claimed_epsilon_is_decided_by_its_share_and_says_what_was_audited() -> None:
    decide, numbers = claimed_epsilon("a count", "With {other:g} it holds."), {"share": 1.5, "other": 2.0}
    decision = decide(numbers, PRIVATE)
    assert decision.sentence == "The worst pair found spends 1.5 times the promised epsilon (a count)."
    assert (decision.outcome, decision.instead) == ("fails as printed", "With 2 it holds.")
    assert decide(numbers | {"share": 1.0}, PRIVATE).outcome == "holds"
    assert claimed_epsilon("a count")({"share": 0.5}, PRIVATE).factor == 2
    assert claimed_epsilon("a count")({"share": 1.5}, PRIVATE).instead == "More noise is needed."


def test_the_tolerances_that_papers_share() -> None:
    """The ledger shows them in this order, and the documentation quotes them."""
    assert list(ROUNDING.items()) == [("slack", 1e-9)]
    assert list(PRIVATE.items()) == [("slack", 1e-9), ("tight", 0.9)]
    assert list(BOUND.items()) == [("slack", 1e-6), ("tight", 0.9)]


def test_numbers_in_a_row_with_and_without_their_names() -> None:
    assert listed([0.12345, 12345.0]) == "0.123, 1.23e+04"
    assert listed([0.12345], digits=1) == "0.1"
    assert listed_with_names({"a": 0.12345, "at 2": 3.0}) == "0.123 (a), 3 (at 2)"
    assert listed_with_names({"a": 0.12345}, digits=4) == "0.1235 (a)"


@pytest.mark.parametrize(
    ("values", "falls"), [([3.0, 2.0, -1.0], True), ([3.0, 2.0, 2.0], False), ([1.0, 2.0], False), ([1.0], True)]
)
def test_values_fall_strictly_or_do_not(values: list[float], falls: bool) -> None:
    assert is_decreasing(values) is falls
