"""The data sets of section 6 as points of a sphere: their margin, and whether they are uniform on it."""

from __future__ import annotations

import math

import numpy as np
from scipy.optimize import nnls
from scipy.special import betainc, chdtrc, kolmogorov

from epsilometer.core import Array, LabelledData
from epsilometer.data import read_dataset
from epsilometer.data.prepare import EXPERIMENT
from epsilometer.data.synthetic import DIMENSION
from epsilometer.papers.claim import Evidence, Numbers


def records(evidence: Evidence, dataset: str) -> LabelledData:
    """All records of the experiments on a data set."""
    return read_dataset(evidence.path(f"dataset/{dataset}"), EXPERIMENT).data


def widest_margin(signed: Array) -> tuple[Array, float]:
    """The unit vector w with the largest min_i w.z_i over rows z_i of norm 1, and that margin; 0 where none is positive.

    Least-distance programming: the shortest w with Zw >= 1 is -r'/r_0, where r = (r', r_0) is the residual of the
    non-negative least-squares problem (Z^T; 1^T) u = (0; 1), and there is none if r = 0 (Lawson and Hanson 1974).
    Rows are added when they are violated; if a part of them is not separable, neither is the whole.
    """
    direction = signed.mean(axis=0)
    active: set[int] = set()
    while True:
        worst = np.argsort(signed @ direction)[: 4 * signed.shape[1]]
        if active.issuperset(worst.tolist()):
            break
        active.update(worst.tolist())
        rows = signed[sorted(active)]
        equations = np.vstack([rows.T, np.ones(len(rows))])
        target = np.append(np.zeros(signed.shape[1]), 1.0)
        residual = equations @ nnls(equations, target)[0] - target
        if np.linalg.norm(residual) < 1e-9:
            return direction / np.linalg.norm(direction), 0.0
        direction = -residual[:-1] / residual[-1]
    direction /= np.linalg.norm(direction)
    return direction, float((signed @ direction).min())


def measured_uniformity(data: LabelledData, normal: Array, margin: float) -> dict[str, float]:
    """Norms; and p-values of the offsets' law (Kolmogorov-Smirnov) and of the directions along the hyperplane."""
    features = data.features
    offset = np.sort(np.abs(features @ normal))
    offset = offset[offset > margin]
    empty = betainc(0.5, (DIMENSION - 1) / 2, margin**2)
    law = (betainc(0.5, (DIMENSION - 1) / 2, offset**2) - empty) / (1 - empty)
    steps = np.arange(len(offset) + 1) / len(offset)
    distance = max(np.max(steps[1:] - law), np.max(law - steps[:-1]))
    along = features - np.outer(features @ normal, normal)
    along /= np.linalg.norm(along, axis=1, keepdims=True)
    return {
        "records": float(len(features)),
        "dimension": float(features.shape[1]),
        "largest deviation of a norm": float(np.abs(np.linalg.norm(features, axis=1) - 1).max()),
        "p-value of the offsets": float(kolmogorov(math.sqrt(len(offset)) * distance)),
        "p-value of the directions": uniform_directions(along, DIMENSION - 1),
    }


def uniform_directions(directions: Array, dimension: int) -> float:
    """The p-value of unit vectors of a subspace: that they favour no direction, and no axis.

    With n vectors of dimension p, n p |mean|^2 is nearly chi-square with p degrees of freedom (Rayleigh), and, with S the
    mean of x x^T, n p (p + 2)/2 (tr S^2 - 1/p) with (p - 1)(p + 2)/2 (Bingham); the result is twice the smaller p-value.
    """
    n, p = len(directions), dimension
    second = directions.T @ directions / n
    rayleigh = n * p * float(np.sum(directions.mean(axis=0) ** 2))
    bingham = n * p * (p + 2) / 2 * (float(np.sum(second**2)) - 1 / p)
    return min(1.0, 2 * min(float(chdtrc(p, rayleigh)), float(chdtrc((p - 1) * (p + 2) / 2, bingham))))


def is_uniform(numbers: Numbers, tolerances: Numbers) -> bool:
    """Whether dimension and norms are right, and neither test rejects uniformity."""
    return (
        numbers["dimension"] == DIMENSION
        and numbers["largest deviation of a norm"] <= tolerances["norm"]
        and min(numbers["p-value of the offsets"], numbers["p-value of the directions"]) >= tolerances["significance"]
    )


def uniformity_in_words(numbers: Numbers) -> str:
    """Dimension, norms and p-values, as the sentences of evidence show them."""
    return (
        f"{numbers['records']:.0f} records in {numbers['dimension']:.0f} dimensions, norm within "
        f"{numbers['largest deviation of a norm']:.1g} of 1, p = {numbers['p-value of the offsets']:.2f} for uniform "
        f"offsets and {numbers['p-value of the directions']:.2f} for uniform directions"
    )
