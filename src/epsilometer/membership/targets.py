"""The targets of membership inference: a record of median influence, the most influential one, and an inserted outlier."""

from __future__ import annotations

import numpy as np

from epsilometer.core import Array, LabelledData
from epsilometer.erm import LOGISTIC
from epsilometer.erm.fit import minimiser
from epsilometer.erm.shadows import minimise_shadows
from epsilometer.membership.game import Game

AVERAGE, EXPOSED, OUTLIER = "average", "most exposed", "outlier"
TARGETS = {AVERAGE: "an average record", EXPOSED: "the most exposed record", OUTLIER: "an inserted outlier"}
"""What each target is called in figures and on the page, by its name in the tables."""


def influences(pool: LabelledData, lam: float) -> Array:
    """The influence of each record: the distance by which the minimiser over the pool moves if the record is left out."""
    left_out = minimise_shadows(LOGISTIC, pool.signed, ~np.eye(len(pool), dtype=bool), lam)
    distances: Array = np.linalg.norm(left_out - minimiser(LOGISTIC, pool, lam), axis=1)
    return distances


def add_outlier(pool: LabelledData, lam: float) -> LabelledData:
    """The pool with an outlier as its last record: x = w/|w| with the label -1, where w is the minimiser over the pool.

    No record of norm at most 1 has a smaller margin under w, so none has a larger loss.
    """
    w = minimiser(LOGISTIC, pool, lam)
    return LabelledData(np.vstack([pool.features, w / np.linalg.norm(w)]), np.append(pool.labels, -1.0))


def games(pool: LabelledData, n: int, lam: float) -> dict[str, Game]:
    """A game for each target: the record of median influence, that of largest influence, and the outlier."""
    order = np.argsort(influences(pool, lam), kind="stable")
    return {
        AVERAGE: Game(pool, int(order[len(order) // 2]), n, lam),
        EXPOSED: Game(pool, int(order[-1]), n, lam),
        OUTLIER: Game(add_outlier(pool, lam), len(pool), n, lam),
    }
