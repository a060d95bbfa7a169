"""The game of membership inference: was this person's record among those that the model was trained on?

A trial draws from a pool without the target z a set R of n - 1 records and a substitute z'. A model is trained on R + z (the
target is a member) or on R + z' (it is not). The attacker sees the model and gives it a score, large for members. Under
(epsilon, delta), every attack has tpr <= e^epsilon fpr + delta and 1 - fpr <= e^epsilon (1 - tpr) + delta. No
attack has more power than the log-likelihood ratio of the model under R + z and R + z'. Proof: docs/proofs/membership.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from epsilometer.core import Array, EpsilometerError, LabelledData, require_positive
from epsilometer.erm import LOGISTIC
from epsilometer.erm.shadows import minimise_shadows

ORDERED_AT_ONCE = 1 << 20
"""The most random numbers that are held in memory at once while records are drawn."""


@dataclass(frozen=True)
class Game:
    """A pool of records, one of them the target; n of the pool are trained on, with regularisation lam."""

    pool: LabelledData
    target: int
    n: int
    lam: float

    def __post_init__(self) -> None:
        require_positive(lam=self.lam)
        if not 0 <= self.target < len(self.pool):
            raise EpsilometerError(f"target is {self.target}; it must be a row of the pool, from 0 to {len(self.pool) - 1}")
        if not 1 <= self.n < len(self.pool):
            raise EpsilometerError(
                f"n is {self.n}; the pool has {len(self.pool)} records, so it must be from 1 to {len(self.pool) - 1}: "
                "one must be left to take the target's place"
            )

    @property
    def target_record(self) -> LabelledData:
        return self.pool.take(slice(self.target, self.target + 1))

    def draw(self, size: int, rng: np.random.Generator) -> Trials:
        """`size` independent trials; the target is a member in the first half of them."""
        if size < 4 or size % 2:
            raise EpsilometerError(f"there are {size} trials; there must be an even number of at least 4")
        others = np.delete(np.arange(len(self.pool)), self.target)
        rest = np.zeros((size, len(self.pool)), dtype=bool)
        substitutes = np.empty(size, dtype=np.intp)
        step = max(1, ORDERED_AT_ONCE // len(others))
        for first in range(0, size, step):
            some = slice(first, min(first + step, size))
            order = others[rng.random((some.stop - first, len(others))).argpartition(self.n - 1, axis=1)]
            np.put_along_axis(rest[some], order[:, : self.n - 1], True, axis=1)
            substitutes[some] = order[:, self.n - 1]
        return Trials(self, rest, substitutes)


@dataclass(frozen=True)
class Trials:
    """The training records of each trial: the rest R, as a mask over the pool, and the target or its substitute."""

    game: Game
    rest: NDArray[np.bool_]
    substitutes: NDArray[np.intp]

    def __len__(self) -> int:
        return len(self.rest)

    @property
    def members(self) -> slice:
        """The trials in which the target is a member."""
        return slice(0, len(self) // 2)

    @property
    def others(self) -> slice:
        """The trials in which the target is not a member."""
        return slice(len(self) // 2, None)

    @property
    def with_target(self) -> NDArray[np.bool_]:
        mask = self.rest.copy()
        mask[:, self.game.target] = True
        return mask

    @property
    def with_substitute(self) -> NDArray[np.bool_]:
        mask = self.rest.copy()
        mask[np.arange(len(mask)), self.substitutes] = True
        return mask

    @property
    def trained(self) -> NDArray[np.bool_]:
        """The mask of training records in each trial."""
        return np.concatenate([self.with_target[self.members], self.with_substitute[self.others]])

    def data(self, trial: int, member: bool) -> LabelledData:
        """The records of one trial, with the target or with its substitute."""
        return self.game.pool.take((self.with_target if member else self.with_substitute)[trial])

    @cached_property
    def minimiser_with_target(self) -> Array:
        """The minimisers of the regularised logistic risk, a row for each trial, if the target is a member."""
        return minimise_shadows(LOGISTIC, self.game.pool.signed, self.with_target, self.game.lam)

    @cached_property
    def minimiser_with_substitute(self) -> Array:
        """The minimisers if the substitute takes its place."""
        return minimise_shadows(LOGISTIC, self.game.pool.signed, self.with_substitute, self.game.lam)

    @property
    def minimiser(self) -> Array:
        """The minimisers for the training records of each trial."""
        return np.concatenate([self.minimiser_with_target[self.members], self.minimiser_with_substitute[self.others]])
