"""Section 2 of nips08, the definition of privacy: the numbers of its three readings, by hand."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from epsilometer.papers.nips08.claims.s2a_definitions import ADVERSARY, DEFINITION_IN_WORDS, NEIGHBOURS
from tests.papers.nips08.theory import numbers_of

pytestmark = pytest.mark.slow


def test_removing_a_record_costs_what_two_gamma_norms_say(tmp_path: Path) -> None:
    numbers = numbers_of(NEIGHBOURS, tmp_path)
    rates = 102 * 0.01 / 2, 101 * 0.01 / 2
    for name, distance in (("removed_near", 10.0), ("removed_far", 1000.0)):
        length = distance * 2 / (102 * 0.01)
        expected = abs(2 * math.log(rates[0] / rates[1]) - (rates[0] - rates[1]) * length)
        assert numbers[name] == pytest.approx(expected, rel=1e-6)


def test_randomised_response_by_hand(tmp_path: Path) -> None:
    words, adversary = (numbers_of(claim, tmp_path) for claim in (DEFINITION_IN_WORDS, ADVERSARY))
    assert words["difference"] == pytest.approx(math.tanh(0.05) / 0.1)  # e^eps/(1 + e^eps) - 1/(1 + e^eps) = tanh(eps/2)
    assert words["relative"] == pytest.approx(math.expm1(2.0) / 2)
    assert adversary["posterior_at_5"] == pytest.approx(1 / (1 + math.exp(-5)))
