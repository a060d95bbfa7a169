"""The claims of config/claims.yaml: each has its check, and no check is decided in advance."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from epsilometer.claims.ledger import SOURCES, Source, checks, load_claims
from tests.claims import test_cs860, test_nips08, test_nips08_experiments, test_postech, test_review, test_slides08

ROOT = Path(__file__).parents[2]
OWN_TO_THE_SLIDES = {check for check, *_ in test_slides08.CASES}
NIPS08 = [*test_nips08.CASES, *test_nips08_experiments.CASES]
CASES: dict[str, list[Any]] = {
    "nips08": NIPS08,
    "slides08": [*test_slides08.CASES, *(case for case in NIPS08 if case[0] not in OWN_TO_THE_SLIDES)],
    "postech": test_postech.CASES,
    "review": test_review.CASES,
    "cs860": test_cs860.CASES,
}


@pytest.mark.parametrize("source", SOURCES)
def test_with_its_own_tolerances_every_claim_can_come_out_either_way(source: Source) -> None:
    for claim in load_claims(ROOT / "config/claims.yaml"):
        if claim.source == source:
            decide = checks(source)[claim.check].decide
            cases = [numbers for check, numbers, _, _ in CASES[source] if check == claim.check]
            outcomes = {decide(numbers, claim.tolerances).outcome for numbers in cases}
            assert len(outcomes) >= 2, f"{claim.id} is decided in advance: {outcomes}"


@pytest.mark.parametrize("source", ["nips08", "postech", "review", "cs860"])
def test_no_check_is_left_without_a_claim(source: Source) -> None:
    assert set(checks(source)) == {
        claim.check for claim in load_claims(ROOT / "config/claims.yaml") if claim.source == source
    }
