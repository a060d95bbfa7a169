"""What objective perturbation loses when its solver stops before the minimum."""

from __future__ import annotations

import math

import numpy as np

from epsilometer.core import Array
from epsilometer.erm import Huber, Objective, SphericalNoise, minimise_roughly
from epsilometer.erm.objective import labelled
from epsilometer.mechanisms.neighbours import opposite_labels
from epsilometer.mechanisms.objective_perturbation import ObjectivePerturbationCMS11

CELLS, BINS = 400_000, 100


def laplace_grid(rate: float, size: int) -> Array:
    """The middles of `size` equally likely cells of noise with density ~ exp(-rate |b|) on the line."""
    levels = (np.arange(size) + 0.5) / size
    return np.where(levels < 0.5, np.log(2 * levels), -np.log(2 - 2 * levels)) / rate


def delta_of_rough_minimum(gradient_norm: float) -> float:
    """A lower bound on delta at epsilon = 1 of objective perturbation that stops at a gradient this small.

    CMS11's calibration, eight records on the line, Huber loss; of lambda = 0.2, 1 and 5, at 1, where it does most harm.
    Equally likely cells of noise are pushed forward to bins of outputs. Proof: docs/proofs/cs860.md.
    """
    outputs = _rough_outputs(gradient_norm)
    edges = np.unique(np.quantile(np.concatenate(outputs), np.linspace(0, 1, BINS + 1)[1:-1]))
    bins = [np.searchsorted(edges, w) for w in outputs]
    misjudged = max(np.count_nonzero(np.diff(places)) for places in bins) * (1 + math.e) / CELLS
    first, second = (np.bincount(places, minlength=len(edges) + 1) / CELLS for places in bins)
    reached = max(float(np.sum(np.maximum(p - math.e * q, 0))) for p, q in ((first, second), (second, first)))
    return max(reached - misjudged, 0.0)


def _rough_outputs(gradient_norm: float) -> list[Array]:
    """The outputs on two neighbouring data sets, one for each cell of noise."""
    loss, pair = Huber(0.5), opposite_labels(8)
    noise, lam = ObjectivePerturbationCMS11(1.0, 1.0, loss=loss).plan(8)
    assert isinstance(noise, SphericalNoise)
    linear = laplace_grid(noise.rate, CELLS)[:, None] / 8
    objectives = [Objective.of(loss, labelled(data), lam) for data in (pair.first, pair.second)]
    return [minimise_roughly(objective, linear, gradient_norm)[:, 0] for objective in objectives]
