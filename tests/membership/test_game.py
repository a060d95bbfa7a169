"""The game draws what it says, and its minimisers are those of the solver for a single fit."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from epsilometer.core import EpsilometerError, stream
from epsilometer.erm import LOGISTIC, minimiser
from epsilometer.membership.game import Game
from tests.membership.settings import LAM, records, small_game


def test_every_trial_trains_on_n_records_and_exchanges_the_target() -> None:
    game = small_game()
    trials = game.draw(200, stream(0, "test"))
    rows = np.arange(len(trials))
    assert (trials.rest.sum(axis=1) == game.n - 1).all()
    assert not trials.rest[:, game.target].any()
    assert (trials.substitutes != game.target).all()
    assert not trials.rest[rows, trials.substitutes].any()
    assert (trials.trained.sum(axis=1) == game.n).all()
    assert trials.trained[trials.members, game.target].all()
    assert not trials.trained[trials.others, game.target].any()
    assert trials.trained[rows, trials.substitutes][trials.others].all()


def test_rest_and_substitute_are_drawn_evenly() -> None:
    """Chi-square tests; each fails by chance with probability 1e-6."""
    game = small_game()
    trials = game.draw(20_000, stream(0, "even"))
    others = np.delete(np.arange(len(game.pool)), game.target)
    assert stats.chisquare(np.bincount(trials.substitutes, minlength=len(game.pool))[others]).pvalue > 1e-6
    share = (game.n - 1) / len(others)
    spread = np.sqrt(share * (1 - share) / len(trials) * len(others) / (len(others) - 1))
    z = (trials.rest[:, others].mean(axis=0) - share) / spread  # they sum to 0
    assert stats.chi2.sf(np.sum(z**2) * (len(others) - 1) / len(others), len(others) - 1) > 1e-6


def test_chunks_of_the_draw_leave_no_trial_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("epsilometer.membership.game.ORDERED_AT_ONCE", 100)
    trials = small_game().draw(50, stream(0, "chunks"))
    assert (trials.rest.sum(axis=1) == 11).all()
    assert len(np.unique(trials.rest, axis=0)) > 40


def test_minimisers_are_those_of_the_trials_own_records() -> None:
    trials = small_game().draw(8, stream(0, "test"))
    for trial in (0, 7):
        for member, found in ((True, trials.minimiser_with_target), (False, trials.minimiser_with_substitute)):
            expected = minimiser(LOGISTIC, trials.data(trial, member), LAM)
            np.testing.assert_allclose(found[trial], expected, atol=1e-6)
    np.testing.assert_array_equal(trials.minimiser[0], trials.minimiser_with_target[0])
    np.testing.assert_array_equal(trials.minimiser[7], trials.minimiser_with_substitute[7])


@pytest.mark.parametrize(
    ("target", "n", "message"),
    [(30, 12, "target is 30"), (-1, 12, "target is -1"), (3, 30, "n is 30; the pool has 30"), (3, 0, "n is 0")],
)
def test_impossible_games_are_refused(target: int, n: int, message: str) -> None:
    with pytest.raises(EpsilometerError, match=message):
        Game(records(30), target, n, LAM)


@pytest.mark.parametrize("size", [2, 7])
def test_the_number_of_trials_must_be_even_and_enough(size: int) -> None:
    with pytest.raises(EpsilometerError, match=f"there are {size} trials"):
        small_game().draw(size, stream(0, "test"))
