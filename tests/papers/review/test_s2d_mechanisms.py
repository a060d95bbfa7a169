"""Section II-D of the survey: the audits decide on its mechanisms."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from tests.papers.review.cases import HOLDS, MECHANISMS
from tests.papers.review.helpers import assert_audits_decide, measured

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(("check", "mechanisms"), MECHANISMS.items())
def test_an_altered_table_of_verdicts_alters_the_decision(tmp_path: Path, check: str, mechanisms: list[str]) -> None:
    assert_audits_decide(check, mechanisms, HOLDS, tmp_path)


def test_two_counts_lose_what_the_norms_say(tmp_path: Path) -> None:
    """Each count moves by 1, so the loss is 2 over the scale: 2/2 with the L1 sensitivity, 2/sqrt(2) with the L2 one."""
    assert dict(measured("laplace_norm", tmp_path).numbers) == pytest.approx({"L1": 1.0, "L2": math.sqrt(2)})


def test_the_weights_of_the_exponential_mechanism_by_hand(tmp_path: Path) -> None:
    """Counts 6, 0 and 0 at epsilon = 1 with sensitivity 1 have the weights e^3, 1 and 1."""
    numbers = measured("exponential_probability", tmp_path).numbers
    assert dict(numbers) == pytest.approx({"sum": math.exp(3) + 2, "proportional": 1.0})
