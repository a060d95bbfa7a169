"""A support vector machine with a Gaussian kernel, approximated by random Fourier features, with noisy weights."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from epsilometer.core import Array, Guarantee, LabelledData, NeighbouringPair, output_rows, require_positive, stream
from epsilometer.erm import NotConvergedError
from epsilometer.mechanisms.catalogue import Entry
from epsilometer.mechanisms.laplace import log_laplace

VIOLATION = 1e-12
"""The largest violation of the optimality conditions that a solution may have."""

SWEEPS = 100_000


@dataclass(frozen=True)
class FourierFeatureSVM:
    """PrivateSVM-RFF: the weights of an SVM on random Fourier features, each with Laplace noise.

    The features are phi(x) = D^(-1/2) (cos r_1.x, ..., cos r_D.x, sin r_1.x, ..., sin r_D.x), with frequencies r_i ~ N(0,
    I/bandwidth^2) from the public `seed`. The weights w* in R^(2D) minimise |w|^2/2 + (C/n) sum_i max(0, 1 - y_i
    w.phi(x_i)). The paper's scale of the noise is 2^2.5 L C sqrt(D)/(epsilon n), with L = 1 for the hinge loss; half of it,
    which `tight` uses, suffices. The output's columns are those of phi. Proof: docs/proofs/output_perturbation.md.
    """

    epsilon: float
    frequencies: int = 2
    bandwidth: float = 0.5
    C: float = 4.0
    tight: bool = False
    seed: int = 3
    source = "review, section III-A5 [15]; Rubinstein, Bartlett, Huang and Taft 2012, PrivateSVM-RFF"

    def __post_init__(self) -> None:
        _ = self.guarantee
        require_positive(frequencies=self.frequencies, bandwidth=self.bandwidth, C=self.C)

    @property
    def guarantee(self) -> Guarantee:
        return Guarantee(self.epsilon, "replace-one")

    def scale(self, n: float) -> float:
        """The scale of the noise for n records."""
        stability = 2 if self.tight else 4
        return stability * self.C * math.sqrt(2 * self.frequencies) / (self.epsilon * n)

    def frequency_vectors(self, d: int) -> Array:
        """r_1 ... r_D for records of d features, a row each."""
        drawn = stream(self.seed, "random Fourier features", d).standard_normal((self.frequencies, d))
        return drawn / self.bandwidth

    def features(self, x: Array) -> Array:
        """phi of each row."""
        angles = x @ self.frequency_vectors(x.shape[1]).T
        return np.hstack([np.cos(angles), np.sin(angles)]) / math.sqrt(self.frequencies)

    def weights(self, dataset: LabelledData) -> Array:
        """w*."""
        signed = dataset.labels[:, None] * self.features(dataset.features)
        counts = np.ones(len(dataset)) if dataset.weights is None else dataset.weights
        return _minimise_hinge(signed, self.C / dataset.n * counts)

    def sample(self, dataset: LabelledData, size: int, rng: np.random.Generator) -> Array:
        weights = self.weights(dataset)
        return weights + rng.laplace(scale=self.scale(dataset.n), size=(size, len(weights)))

    def log_density(self, dataset: LabelledData, outputs: Array) -> Array:
        weights, scale = self.weights(dataset), self.scale(dataset.n)
        return log_laplace(output_rows(outputs, len(weights)) - weights, scale)

    def predict(self, outputs: Array, x: Array) -> Array:
        """The label, -1 or 1, of each row of x under each output, (outputs, rows): post-processing."""
        return np.where(outputs @ self.features(x).T >= 0, 1.0, -1.0)


def _minimise_hinge(signed: Array, caps: Array) -> Array:
    """The minimiser of |w|^2/2 + sum_i caps_i max(0, 1 - w.a_i) for rows a_i of norm 1, by dual coordinate ascent.

    The dual is max sum_i m_i - |w|^2/2 with w = sum_i m_i a_i, 0 <= m_i <= caps_i; a step maximises it over one m_i. If the
    projected gradient of the dual has no component above v, then |w - w*|^2 <= v sum_i caps_i.
    """
    multipliers, w = np.zeros(len(signed)), np.zeros(signed.shape[1])
    for _ in range(SWEEPS):
        for row, cap, number in zip(signed, caps, range(len(signed)), strict=True):
            moved = min(max(multipliers[number] + 1 - row @ w, 0.0), cap)
            w = w + (moved - multipliers[number]) * row
            multipliers[number] = moved
        w = multipliers @ signed
        slope = 1 - signed @ w
        slope[(multipliers >= caps) & (slope > 0)] = 0
        slope[(multipliers <= 0) & (slope < 0)] = 0
        if np.abs(slope).max() <= VIOLATION:
            return w
    raise NotConvergedError(f"the SVM's dual still gains at a rate of {np.abs(slope).max():.2g} after {SWEEPS} sweeps")


def _diagonal_point(mechanism: FourierFeatureSVM) -> Array:
    """A short x in the plane with |cos r_i.x| = |sin r_i.x| = 1/sqrt(2) for both frequencies."""
    angles = math.pi / 4 * np.array([[1.0, 1.0], [1.0, -1.0]])
    candidates = np.asarray(np.linalg.solve(mechanism.frequency_vectors(2), angles).T, dtype=np.float64)
    return candidates[np.linalg.norm(candidates, axis=1).argmin()]


def _pairs() -> tuple[NeighbouringPair, ...]:
    point = _diagonal_point(FourierFeatureSVM(1.0))
    labels = np.array([1.0, 1.0, -1.0, -1.0])
    contested = [LabelledData(np.tile(point, (5, 1)), np.append(labels, last)) for last in (1.0, -1.0)]
    rows = np.array([[0.9, 0.1], [0.5, 0.6], [-0.2, 0.8], [-0.7, -0.3], [0.1, -0.9]])
    spread = [LabelledData(np.vstack([rows, last]), np.append(labels, [1.0, -1.0])) for last in ([0.4, 0.1], [0.0, 0.0])]
    return (
        NeighbouringPair(
            contested[0],
            contested[1],
            "replace-one",
            "a contested point: the exchanged label moves all weights as far as can be",
        ),
        NeighbouringPair(spread[0], spread[1], "replace-one", "a record in the midst of others moves to the origin"),
    )


ENTRIES = (
    Entry(
        "kernel_svm",
        "Kernel SVM by random Fourier features, with the paper's noise",
        FourierFeatureSVM,
        _pairs,
        true_epsilon=lambda epsilon: epsilon / 2,
    ),
    Entry(
        "kernel_svm_tight",
        "Kernel SVM by random Fourier features, with half the paper's noise",
        lambda epsilon: FourierFeatureSVM(epsilon, tight=True),
        _pairs,
        true_epsilon=lambda epsilon: epsilon,
    ),
)
