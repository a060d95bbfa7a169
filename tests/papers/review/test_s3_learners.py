"""Section III of the survey: the audits decide on its learners; efficiency and usefulness move as the formulas say."""

from __future__ import annotations

from pathlib import Path

import pytest

from epsilometer.papers.review.claims.s3_learners import SIZES
from tests.papers.review.cases import HOLDS, LEARNERS, NAMED, OPEN
from tests.papers.review.helpers import assert_audits_decide, measured

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(("check", "mechanisms"), LEARNERS.items())
def test_an_altered_table_of_verdicts_alters_the_decision(tmp_path: Path, check: str, mechanisms: list[str]) -> None:
    assert_audits_decide(check, mechanisms, HOLDS, tmp_path)


@pytest.mark.parametrize(("check", "mechanisms"), NAMED.items())
def test_a_learner_without_an_algorithm_stays_open_or_fails(tmp_path: Path, check: str, mechanisms: list[str]) -> None:
    assert_audits_decide(check, mechanisms, OPEN, tmp_path)


def test_private_predictions_come_near_as_records_are_added(tmp_path: Path) -> None:
    numbers = measured("useless", tmp_path).numbers
    assert numbers["1000"] / numbers["1e+07"] == pytest.approx(1e4)
    scale = 4 * 4.0 * 2.0 / (0.1 * 1000)  # 4 C sqrt(2D)/(epsilon n), C = 4, D = 2
    assert scale * 2 < numbers["1000"] < scale * 8  # the length of four Laplace variables is seldom below 2 or above 8


def test_efficiency_moves_in_opposite_directions(tmp_path: Path) -> None:
    numbers = measured("efficiency", tmp_path).numbers
    assert numbers[f"vanishing {SIZES[-1]}"] > 10 * numbers[f"vanishing {SIZES[0]}"]
    assert numbers[f"growing {SIZES[-1]}"] < numbers[f"growing {SIZES[0]}"] / 10
