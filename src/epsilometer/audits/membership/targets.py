"""Whose membership is at stake: an average record, the most exposed one, and an inserted outlier."""

from __future__ import annotations

import numpy as np

from epsilometer.audits.membership.game import Game
from epsilometer.core import Array, LabelledData
from epsilometer.erm import LOGISTIC
from epsilometer.erm.fit import minimiser
from epsilometer.erm.shadows import minimise_shadows

AVERAGE, EXPOSED, OUTLIER = TARGETS = ("average", "most exposed", "outlier")


def influences(pool: LabelledData, lam: float) -> Array:
    """How far the minimiser over the pool moves, in norm, when a record is left out: exactly, by a fit for each record."""
    left_out = minimise_shadows(LOGISTIC, pool.signed, ~np.eye(len(pool), dtype=bool), lam)
    distances: Array = np.linalg.norm(left_out - minimiser(LOGISTIC, pool, lam), axis=1)
    return distances


def with_outlier(pool: LabelledData, lam: float) -> LabelledData:
    """The pool and, last, the record that its minimiser w finds most wrong: x = w/|w|, of norm 1, with the label -1.

    No record of norm at most 1 has a smaller margin, so none has a steeper loss at w.
    """
    w = minimiser(LOGISTIC, pool, lam)
    return LabelledData(np.vstack([pool.features, w / np.linalg.norm(w)]), np.append(pool.labels, -1.0))


def games(pool: LabelledData, n: int, lam: float) -> dict[str, Game]:
    """A game for each target: the record of median influence, the one of the largest, and the outlier."""
    order = np.argsort(influences(pool, lam), kind="stable")
    return {
        AVERAGE: Game(pool, int(order[len(order) // 2]), n, lam),
        EXPOSED: Game(pool, int(order[-1]), n, lam),
        OUTLIER: Game(with_outlier(pool, lam), len(pool), n, lam),
    }
