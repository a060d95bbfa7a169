"""Section II-A of the survey: densities and distances are known by hand, and the tables decide the rest."""

from __future__ import annotations

import math
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from epsilometer.papers.anonymised_tables.experiments import difference_success
from epsilometer.papers.review.claims.s2a_definition import EPSILONS
from tests.papers.evidence import with_shares
from tests.papers.review.cases import FAILS, HOLDS, OPEN, SLACK
from tests.papers.review.helpers import alter_attacks, measured, outcome, write_attacks

pytestmark = pytest.mark.slow


def test_the_counts_with_noise_by_hand(tmp_path: Path) -> None:
    """count(4) = 2 and count(5) = 3, so densities at 2, 2.5 and 3 lie between those of noise 0 and 1: e^epsilon apart."""
    ratios = list(measured("same_probability", tmp_path).numbers.values())
    assert ratios == pytest.approx([math.exp(0.01), math.exp(0.1), 2.0, 3.0])


def test_outputs_come_together_as_epsilon_falls(tmp_path: Path) -> None:
    expected = [math.tanh(epsilon / 2) for epsilon in EPSILONS]  # 2 gamma
    assert list(measured("smaller_epsilon", tmp_path).numbers.values()) == pytest.approx(expected)


def test_the_audits_tell_deleted_from_exchanged_records(tmp_path: Path) -> None:
    with_shares(tmp_path, {"parallel_composition_as_printed": 2.0, "parallel_composition": 1.0})
    assert outcome("neighbours", tmp_path, SLACK) == OPEN
    with_shares(tmp_path, {"parallel_composition_as_printed": 1.0, "parallel_composition": 1.0})
    assert outcome("neighbours", tmp_path, SLACK) == HOLDS


def test_the_attacks_on_alice_are_read_from_their_table(tmp_path: Path) -> None:
    """Of 20,000 attacks, the share that succeeds is within 0.02 of its closed form but with probability 1e-7."""
    write_attacks(tmp_path, epsilons=[1.0, 5.0], trials=20_000)
    numbers = measured("difference_attack", tmp_path).numbers
    for epsilon in (1.0, 5.0):
        assert numbers[f"success at {epsilon:g}"] == pytest.approx(difference_success(epsilon), abs=0.02)
    checks, sure = ("subtraction", "difference_attack"), {"sure": 0.75}
    assert [outcome(check, tmp_path, sure) for check in checks] == [OPEN, OPEN]
    alter_attacks(tmp_path)
    assert [outcome(check, tmp_path, sure) for check in checks] == [FAILS, HOLDS]


def test_before_the_row_means_someone_else(tmp_path: Path) -> None:
    """Read so, the difference is the diagnosis in row 4, which is Alice's in half of all tables."""
    write_attacks(tmp_path)
    same = np.mean([table[3] == table[4] for table in product((0, 1), repeat=5)])
    assert dict(measured("subtraction", tmp_path).numbers) == {"up_to": 1.0, "before": same}
