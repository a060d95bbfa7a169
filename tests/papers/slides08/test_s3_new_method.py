"""The slides on the new method: Theorem 2 beside the table of the boundary, and the ratio in its proof."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from epsilometer.papers.slides08.claims.s3_new_method import PROOF_RATIO, THEOREM_2
from epsilometer.witnesses import verify
from tests.papers.nips08.theory import measured, numbers_of, with_boundary

pytestmark = pytest.mark.slow


def test_theorem_2_reads_its_least_share_from_the_table_of_the_boundary(tmp_path: Path) -> None:
    found = measured(THEOREM_2, with_boundary(tmp_path, (1.0, 1.0, 1.2), (1.0, 3.0, 0.5)))
    assert found.numbers["least"] == pytest.approx(0.5 / math.log(2))
    assert found.numbers["kept_from"] == 3
    assert found.witness is not None
    assert found.numbers["largest"] == pytest.approx(float(verify(found.witness)[0]) / math.log(2))


def test_the_noise_alone_goes_beyond_one_plus_epsilon(tmp_path: Path) -> None:
    numbers = numbers_of(PROOF_RATIO, tmp_path)
    assert 1 < numbers["least"] < numbers["largest"]
    assert numbers["share"] < 1
