"""A small game, and trials of it that all train on the same records."""

from __future__ import annotations

import numpy as np

from epsilometer.core import LabelledData, stream
from epsilometer.data.synthetic import separable
from epsilometer.membership.batched import Batched, Categories, mechanisms
from epsilometer.membership.game import Game, Trials

LAM = 0.01
NAMES = tuple(mechanisms(1.0, Categories(np.arange(2), np.zeros(2))))
PRIVATE = NAMES[1:]


def records(size: int) -> LabelledData:
    return separable(size, stream(1, "membership", "records"))


def small_game(n: int = 12, pool: int = 30) -> Game:
    return Game(records(200).take(slice(pool)), target=3, n=n, lam=LAM)


def public() -> LabelledData:
    return records(200).take(slice(100, None))


def build(name: str, game: Game, epsilon: float = 1.0) -> Batched:
    return mechanisms(epsilon, Categories.of(public()))[name](game)


def repeated(game: Game, size: int) -> Trials:
    """Trials with one rest and one substitute throughout."""
    one = game.draw(4, stream(2, "membership", "repeated"))
    return Trials(game, np.repeat(one.rest[:1], size, axis=0), np.repeat(one.substitutes[:1], size))
