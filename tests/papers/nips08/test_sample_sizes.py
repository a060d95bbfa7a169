"""The sample sizes of Theorems 4 and 5: stated ones by hand, and the distributions on which they are measured."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from scipy import integrate

from epsilometer.core import stream
from epsilometer.erm import LOGISTIC
from epsilometer.papers.claim import Evidence
from epsilometer.papers.nips08.claims.regret import ALGORITHMS
from epsilometer.papers.nips08.claims.sample_sizes import (
    Goal,
    draw_records,
    expected_loss,
    needed_size,
    theorem_4_size,
    theorem_5_size,
)

pytestmark = pytest.mark.slow


def test_expected_loss_agrees_with_an_integral_and_with_records() -> None:
    """The mean over 100,000 records has a standard deviation of 0.003 or less; 0.02 is six of them."""
    w = np.array([[2.0, 1.0, -1.0, 3.0, 0.5]])
    across = math.sqrt(0.75) * float(np.linalg.norm(w[0, 1:]))
    density = integrate.quad(lambda t: math.sqrt(1 - t * t), -1, 1)[0]
    value = integrate.quad(lambda t: math.sqrt(1 - t * t) * math.log1p(math.exp(-1 - across * t)), -1, 1)[0] / density
    assert expected_loss(w)[0] == pytest.approx(value, rel=1e-6)
    records = draw_records(100_000, 5, stream(1, "records"))
    assert np.allclose(np.linalg.norm(records.features, axis=1), 1)
    assert float(np.mean(LOGISTIC.value(records.signed @ w[0]))) == pytest.approx(value, abs=0.02)


@pytest.mark.parametrize("algorithm", list(ALGORITHMS))
def test_needed_size_is_where_fresh_runs_begin_to_reach_the_goal(tmp_path: Path, algorithm: str) -> None:
    """With half as many records again, and a third fewer; the search has an error of a few per cent."""
    goal = Goal(d=4, epsilon=0.4)
    needed = needed_size(Evidence(tmp_path, 2008), algorithm, goal)
    reached = []
    for factor in (1 / 1.5, 1.5):
        rng = stream(7, "fresh", algorithm, factor)
        data = draw_records(round(factor * needed), goal.d, rng)
        losses = expected_loss(ALGORITHMS[algorithm](goal.epsilon, goal.lam).sample(data, 400, rng))
        reached.append(float(np.mean(losses <= goal.loss)))
    assert reached[0] < 0.9 < reached[1]


def test_stated_sizes_by_hand() -> None:
    goal = Goal(d=10, epsilon=0.1, r=3.0, excess=0.04, delta=0.1)
    log = math.log(100.0)
    assert theorem_4_size(goal) == pytest.approx(max(9 / 0.0016, 10 * log * 3 / 0.004))
    assert theorem_5_size(goal) == pytest.approx(10 * log * 9 / (0.008 * 0.1))
    assert theorem_5_size(goal, logs=False) == pytest.approx(10 * 9 / (0.008 * 0.1))
    assert theorem_4_size(Goal(epsilon=100.0)) == theorem_5_size(Goal(epsilon=100.0)) == pytest.approx(1600)
