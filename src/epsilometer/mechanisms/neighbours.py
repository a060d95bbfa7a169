"""Neighbouring data sets that stress private risk minimisation, built from the geometry of the losses."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from epsilometer.core import EpsilometerError, LabelledData, NeighbouringPair

Record = tuple[Sequence[float], float]
"""The features and the label."""


def labelled_records(records: Sequence[Record], weights: Sequence[float] | None = None) -> LabelledData:
    """Labelled data from records."""
    features, labels = zip(*records, strict=True)
    counts = None if weights is None else np.array(weights, dtype=float)
    return LabelledData(np.array(features, dtype=float), np.array(labels, dtype=float), counts)


def exchanged(n: int, shared: Sequence[Record], one: Record, other: Record, reason: str) -> NeighbouringPair:
    """n records each: some that are shared, one that is exchanged, and the rest at the origin, where they do nothing."""
    rest = n - 1 - len(shared)
    counts = [1.0] * len(shared) + [1.0] + [float(rest)] * (rest > 0)
    origin = [([0.0] * len(one[0]), 1.0)] * (rest > 0)
    first, second = (labelled_records([*shared, record, *origin], counts) for record in (one, other))
    return NeighbouringPair(first, second, "replace-one", reason)


def opposite_labels(n: int, shared: Sequence[Record] = ()) -> NeighbouringPair:
    """On the line, (1, +1) against (1, -1).

    For the hinge and the Huber loss, of any width h, both records have slope 1 wherever |w| < 1 - h: their gradients differ
    by 2, the most that is possible. For the logistic loss they differ by 1; a little more, 1.05, is possible on the line.
    """
    reason = "one label changes, and with it the whole pull on w near zero"
    return exchanged(n, shared, ((1.0,), 1.0), ((1.0,), -1.0), reason)


def only_record_that_counts(n: int) -> NeighbouringPair:
    """On the line, (1, +1) against (0, +1), the others being at 0: all curvature of the risk is that of one record."""
    return exchanged(n, (), ((1.0,), 1.0), ((0.0,), 1.0), "one record alone makes the risk curved, or nothing does")


def saturated_opponents(n: int = 200_000) -> NeighbouringPair:
    """In the plane, two records on whose other side w is held, so that both have a slope of nearly 1 in opposite directions.

    n - 1 records (0.025, 0) push w along the first axis until their loss balances a regularisation of lam = 20/n, at
    w = (53, 0) or so. There the records (-0.2, 0.98) and (-0.2, -0.98) are wrong by a margin of 10: each pulls with nearly
    its whole length, 0.98 of it up or down, and adds no curvature. The gradients differ by 1.96.
    """
    up, down = ((-0.2, 0.96**0.5), 1.0), ((-0.2, -(0.96**0.5)), 1.0)
    held, counts = ((0.025, 0.0), 1.0), (float(n - 1), 1.0)
    return NeighbouringPair(
        labelled_records([held, up], counts),
        labelled_records([held, down], counts),
        "replace-one",
        "two opposite records that w gets far wrong, as the many others hold it there: each pulls as hard as it can",
    )


def wrong_majority(n: int) -> NeighbouringPair:
    """In the plane, a pair on which objective perturbation of 2008 exceeds epsilon along its own learning curve.

    With lam = 0.01 and epsilon = 0.0184 it does so from n = 1,000, where it spends 1.85 epsilon at w = (35, 1), to
    n = 5,200, where it spends 1.005 epsilon. There the n - 1 records (-0.28, 0.96) are wrong by 8.84: they hardly curve the
    risk, and pull b with their whole length, nearly along the record (-0.55, 0.83), which is wrong too. The record (0, -1)
    is wrong by 1 only, so it is curved, and pulls the other way.
    """
    if n < 2:
        raise EpsilometerError(f"n is {n}; a pair needs at least 2 records")
    majority, counts = ((-0.28, 0.96), 1.0), (n - 1.0, 1.0)
    first, second = (labelled_records([majority, (record, 1.0)], counts) for record in ((0.0, -1.0), (-0.55, 0.83)))
    reason = "opposite records, one of them undecided, among others that are all wrong and hold the noise in their direction"
    return NeighbouringPair(first, second, "replace-one", reason)
