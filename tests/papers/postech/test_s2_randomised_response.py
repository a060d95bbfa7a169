"""Randomised response by hand."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from epsilometer.mechanisms.randomized_response import RandomizedResponse
from epsilometer.papers.postech.claims.s2_randomised_response import COINS, GAMMAS, LEARNS_NOTHING, UNBIASED
from tests.papers.postech.decided import measured

pytestmark = pytest.mark.slow


def test_randomised_response_by_hand(tmp_path: Path) -> None:
    assert measured(COINS, tmp_path) == {"kept_if_yes": 0.75, "kept_if_no": 0.75}
    gammas = measured(GAMMAS, tmp_path)
    assert gammas["epsilon_at_0.25"] == pytest.approx(math.log(3))
    assert gammas["bits_at_0.25"] == pytest.approx(0.75 * math.log2(3) - 1)  # 1 - H(3/4)
    learnt = measured(LEARNS_NOTHING, tmp_path)
    assert learnt["posterior"] == pytest.approx(0.75)
    assert learnt["deviation"] == pytest.approx(math.sqrt(0.75 / 1000))  # (1/4 - gamma^2)/(4 gamma^2) of each person
    assert measured(UNBIASED, tmp_path)["error"] < 1e-15


def test_the_bias_is_seen_where_there_is_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(RandomizedResponse, "estimate_share", lambda _, outputs: outputs.mean(axis=1))
    error = measured(UNBIASED, tmp_path)["error"]
    assert error == pytest.approx(0.45)  # at gamma = 0.05, all ones come out as 0.55
