"""Section I of the survey: the attacks' table decides, and the example of four people is known by hand."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from tests.papers.evidence import with_shares
from tests.papers.review.cases import FAILS, HOLDS, people
from tests.papers.review.helpers import alter_attacks, measured, outcome, write_attacks

pytestmark = pytest.mark.slow


def test_the_fourth_person_by_hand(tmp_path: Path) -> None:
    assert dict(measured("four_people", tmp_path).numbers) == people(0.0, 2.0)


def test_groups_with_the_same_diagnosis_have_one(tmp_path: Path) -> None:
    numbers = measured("grouped", tmp_path).numbers
    assert numbers["by_diagnosis"] == 1.0
    assert numbers["by_the_others"] == 2.0


def test_the_attacks_on_the_patients_are_read_from_their_table(tmp_path: Path) -> None:
    """These attacks are enumerated: their success does not depend on a seed."""
    write_attacks(tmp_path)
    with_shares(tmp_path, {"k_anonymity": math.inf})
    kept = {"margin": 0.1, "largest epsilon": 10.0, "sure": 0.75}
    checks = ("identifiers", "background")
    assert [outcome(check, tmp_path, kept) for check in checks] == [HOLDS, HOLDS]
    alter_attacks(tmp_path)
    assert [outcome(check, tmp_path, kept) for check in checks] == [FAILS, FAILS]
