"""The claims on the definition, by hand and from the table of verdicts."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from epsilometer.papers.postech.claims.s3_definition import CONTAINS_ONE, NEIGHBOURS, SINGLE_OUTPUTS
from tests.papers.evidence import with_shares
from tests.papers.postech.cases import HOLDS, OPEN
from tests.papers.postech.decided import measured, outcome

pytestmark = pytest.mark.slow


def test_definition_by_hand(tmp_path: Path) -> None:
    assert measured(SINGLE_OUTPUTS, tmp_path) == pytest.approx({"of_an_output": 0.001, "of_a_set": 1.0})
    numbers = measured(CONTAINS_ONE, tmp_path)
    assert (numbers["first"], numbers["second"]) == (1.0, 0.0)
    assert numbers["randomised"] == pytest.approx(math.log(3))


def test_both_kinds_of_neighbours_are_read_from_the_table(tmp_path: Path) -> None:
    shares = {"parallel_composition": 1.0, "histogram_wrong_adjacency": 2.0}
    with_shares(tmp_path, shares)
    assert outcome(NEIGHBOURS, tmp_path) == OPEN
    with_shares(tmp_path, shares | {"histogram_wrong_adjacency": 1.0})
    assert outcome(NEIGHBOURS, tmp_path) == HOLDS
