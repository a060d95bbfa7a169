"""Neighbouring data sets with a large privacy loss for private risk minimisation."""

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


def pair_with_exchanged_record(
    n: int, shared: Sequence[Record], one: Record, other: Record, reason: str
) -> NeighbouringPair:
    """Two data sets of n records: the shared ones, the exchanged one, and the rest at the origin.

    A record at the origin has no gradient, so it does not affect the minimiser.
    """
    rest = n - 1 - len(shared)
    counts = [1.0] * len(shared) + [1.0] + [float(rest)] * (rest > 0)
    origin = [([0.0] * len(one[0]), 1.0)] * (rest > 0)
    first, second = (labelled_records([*shared, record, *origin], counts) for record in (one, other))
    return NeighbouringPair(first, second, "replace-one", reason)


def opposite_labels(n: int, shared: Sequence[Record] = ()) -> NeighbouringPair:
    """In one dimension, the record (1, +1) is replaced by (1, -1).

    For the hinge and the Huber loss of width h, the gradients of the two records differ by 2 wherever |w| < 1 - h, which is
    the maximum. For the logistic loss they differ by 1; the maximum in one dimension is 1.05.
    """
    reason = "one label changes, and with it the whole pull on w near zero"
    return pair_with_exchanged_record(n, shared, ((1.0,), 1.0), ((1.0,), -1.0), reason)


def only_record_that_counts(n: int) -> NeighbouringPair:
    """In one dimension, (1, +1) is replaced by (0, +1) and all others are at 0: only the first makes the risk curved."""
    return pair_with_exchanged_record(
        n, (), ((1.0,), 1.0), ((0.0,), 1.0), "one record alone makes the risk curved, or nothing does"
    )


def saturated_opponents(n: int = 200_000) -> NeighbouringPair:
    """In the plane, two opposite records that are both misclassified by a large margin.

    With lam = 20/n, the n - 1 shared records (0.025, 0) hold the minimiser near w = (53, 0). There the records (-0.2, 0.98)
    and (-0.2, -0.98) have margins of about -10, where the slope of the logistic loss is almost 1 and its curvature almost 0.
    So their gradients differ by 1.96, close to the maximum of 2.
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
    """In the plane, a pair on which objective perturbation of 2008 exceeds epsilon at the settings of its learning curve.

    With lam = 0.01 and epsilon = 0.0184 the privacy loss is 1.85 epsilon at n = 1,000, at w = (35, 1), and still 1.005
    epsilon at n = 5,200. At that w the n - 1 shared records (-0.28, 0.96) have margin -8.84: their slope is almost 1 and
    their curvature almost 0. They determine the direction of b(w), which is nearly that of the record (-0.55, 0.83),
    misclassified as well. The record (0, -1) has margin -1, where the loss is curved, and its gradient has nearly the
    opposite direction.
    """
    if n < 2:
        raise EpsilometerError(f"n is {n}; a pair needs at least 2 records")
    majority, counts = ((-0.28, 0.96), 1.0), (n - 1.0, 1.0)
    first, second = (labelled_records([majority, (record, 1.0)], counts) for record in ((0.0, -1.0), (-0.55, 0.83)))
    reason = "opposite records, one of them undecided, among others that are all wrong and hold the noise in their direction"
    return NeighbouringPair(first, second, "replace-one", reason)
