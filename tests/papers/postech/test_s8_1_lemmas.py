"""Regrets where they have a closed form, and the lemmas' bounds as quantiles of the noise."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from epsilometer.papers.claim import Evidence
from epsilometer.papers.nips08.claims.regret import RECORDS, Setting
from epsilometer.papers.postech.claims.regrets import left_for_noise, lemma_1_bound, lemma_2_bound, regrets
from epsilometer.papers.postech.claims.s8_1_lemmas import GRADIENT_BOUND
from tests.papers.postech.decided import measured

pytestmark = pytest.mark.slow


def test_regrets_on_flat_data_have_their_closed_form(tmp_path: Path) -> None:
    """lam b^2/2 with b = g/(n lam rate'), g exponential: the mean square of g is 2. Fails by chance with 1e-6 or less."""
    setting = Setting(1, 0.01, 1.0, 40_000, flat=True)
    left = left_for_noise(1.0, RECORDS * 0.01)
    for algorithm, epsilon in ((1, 1.0), (2, left)):
        mean = 4 / (0.01 * (RECORDS * epsilon) ** 2)
        values = regrets(Evidence(tmp_path, 1), algorithm, setting)
        assert values.mean() == pytest.approx(mean, abs=5 * math.sqrt(20 / len(values)) * mean / 2)  # var of g^2 is 20


def test_the_bounds_are_quantiles_of_noise_on_the_line() -> None:
    """|b| exceeds log(1/delta)/rate with probability delta; regrets are at most (c + lam)/2 |b|^2 and |b|^2/(n^2 lam)."""
    setting, delta = Setting(1, 0.5, 2.0, 1), 0.05
    first = math.log(1 / delta) / (RECORDS * setting.lam * setting.epsilon / 2)
    assert lemma_1_bound(setting, setting.epsilon, delta) == pytest.approx((0.25 + setting.lam) / 2 * first**2)
    second = math.log(1 / delta) / (setting.epsilon / 2)
    assert lemma_2_bound(setting, setting.epsilon, delta) == pytest.approx(second**2 / (RECORDS**2 * setting.lam))


def test_a_bounded_gradient_does_not_bound_the_regret(tmp_path: Path) -> None:
    """The regret is |b| - s log 2 far out: kept if |b| <= limit + 0.0007 or so, with |b| exponential of mean 1/500."""
    numbers = measured(GRADIENT_BOUND, tmp_path)
    assert numbers["steepest"] <= 1
    share = numbers["within, "] / numbers["runs, "]
    assert share < -math.expm1(-500 * (2e-5 + 1e-3))  # far below 0.95


def test_the_same_seed_gives_the_same_regrets(tmp_path: Path) -> None:
    setting = Setting(1, 0.02, 1.0, 50)
    first = regrets(Evidence(tmp_path, 7), 1, setting)
    regrets.cache_clear()
    assert np.array_equal(first, regrets(Evidence(tmp_path, 7), 1, setting))
