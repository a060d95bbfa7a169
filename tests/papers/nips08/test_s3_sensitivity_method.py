"""Section 3 of nips08: Algorithm 1's noise and worst pairs, Lemma 1 and the step of its proof."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from epsilometer.papers.nips08.claims.s3_sensitivity_method import (
    COROLLARY_2,
    CURVATURE,
    GAMMA_NORM,
    LEMMA_1,
    LEMMA_1_PROOF,
    THEOREM_1,
)
from tests.papers.evidence import with_verdicts
from tests.papers.nips08.theory import numbers_of

pytestmark = pytest.mark.slow


def test_the_norm_would_differ_with_another_gamma(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert numbers_of(GAMMA_NORM, tmp_path)["distance"] < 1e-6
    gamma = stats.gamma
    monkeypatch.setattr(stats, "gamma", lambda d, scale: gamma(d + 0.1, scale=scale))
    assert numbers_of(GAMMA_NORM, tmp_path)["distance"] > 1e-2


def test_theorem_1_falls_with_a_loss_in_the_table(tmp_path: Path) -> None:
    shares = []
    for number, loss in enumerate((0.5, 1.3)):
        evidence = with_verdicts(tmp_path / str(number), {"output_perturbation": {1.0: loss}})
        numbers = numbers_of(THEOREM_1, evidence.results)
        shares.append(numbers["share"])
        assert (THEOREM_1.decide(numbers, THEOREM_1.tolerances).outcome == "fails as printed") == (loss > 1)
    assert 0.95 < shares[0] < 1  # the search's own pair
    assert shares[1] == 1.3


def test_lemma_1_is_nearly_attained_and_its_proof_is_not_right(tmp_path: Path) -> None:
    assert 0.9 < numbers_of(LEMMA_1, tmp_path)["share"] <= 1
    proof = numbers_of(LEMMA_1_PROOF, tmp_path)
    assert proof["printed"] > proof["absolute"] > 0.1
    assert proof["eigenbasis"] < 1e-12
    moved = -np.linalg.solve([[2.0, 1.0], [1.0, 2.0]], [1.0, 0.0])  # an example by hand: G2 = 1
    assert moved[1] == pytest.approx(1 / 3)  # and the gradient's second coordinate is 0


def test_shares_of_sensitivity_are_below_one_and_smaller_on_the_line(tmp_path: Path) -> None:
    numbers = numbers_of(COROLLARY_2, tmp_path)
    assert 0.95 < numbers["share"] < 1
    assert 0.5 < numbers["share_on_the_line"] < 1.0518 / 2  # `pairs.boundary` derives the end


def test_curvature_by_hand(tmp_path: Path) -> None:
    assert numbers_of(CURVATURE, tmp_path)["largest"] == pytest.approx(0.25)
