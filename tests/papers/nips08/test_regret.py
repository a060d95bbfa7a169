"""The bounds on the regret by hand, the risk behind it, and regrets whose distribution is known."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from epsilometer.core import stream
from epsilometer.data.synthetic import separable
from epsilometer.erm import LOGISTIC, Objective
from epsilometer.papers.claim import Claim, Evidence
from epsilometer.papers.nips08.claims.regret import SETTINGS, lemma_3_bound, lemma_4_bound, regrets, regularised_risk
from epsilometer.papers.nips08.claims.s3_sensitivity_method import LEMMA_3
from epsilometer.papers.nips08.claims.s5a_lemmas import LEMMA_4
from tests.papers.nips08.theory import numbers_of

pytestmark = pytest.mark.slow


def test_lemma_bounds_by_hand() -> None:
    log = math.log(40.0)
    assert lemma_3_bound(2, 0.5, 10, 1.0, 0.05) == pytest.approx(2 * 4 * 1.5 * log**2 / (0.25 * 100))
    assert lemma_4_bound(2, 0.5, 10, 1.0, 0.05) == pytest.approx(8 * 4 * log**2 / (0.5 * 100))


def test_the_risk_has_the_gradient_that_the_solver_uses() -> None:
    data, w, step = separable(50, stream(1, "risk")), np.linspace(-1, 1, 10), 1e-6
    ends = [regularised_risk(data, 0.1, w + sign * step * np.eye(10)) for sign in (1, -1)]
    assert (ends[0] - ends[1]) / (2 * step) == pytest.approx(
        Objective.of(LOGISTIC, data, 0.1).gradient(w[None])[0], abs=1e-8
    )


@pytest.mark.parametrize(("claim", "factor"), [(LEMMA_4, 4.0), (LEMMA_3, 2.0)], ids=["lemma_4", "lemma_3"])
def test_regrets_without_curvature_are_known(tmp_path: Path, claim: Claim, factor: float) -> None:
    """With all records at 0, w = -b/(n lam), so that Lemma 4 is loose by 4, and Lemma 3 by 1 + 1/lam = 2.

    The quantile of |b|^2 is estimated with a relative standard deviation of at most 4%; 20% is five of them.
    """
    numbers = numbers_of(claim, tmp_path)
    for delta in ("0.05", "0.5"):
        assert numbers[f"factor, d=1 lam=1 flat delta={delta}"] == pytest.approx(factor, rel=0.2)


def test_runs_are_the_same_each_time(tmp_path: Path) -> None:
    first, second = (regrets.__wrapped__(Evidence(tmp_path, 2008), "algorithm 2", SETTINGS[0]) for _ in range(2))
    assert np.array_equal(first, second)
