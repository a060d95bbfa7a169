"""The regularised empirical risk."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from epsilometer.core import Array, Dataset, EpsilometerError, LabelledData, output_rows
from epsilometer.erm.losses import SmoothLoss
from epsilometer.erm.regularisers import QUADRATIC, Regulariser

MARGINS_AT_ONCE = 1 << 20  # 8 MB


@dataclass(frozen=True)
class Objective:
    """J(w) = lam N(w) + (1/n) sum_i k_i phi(a_i.w), for rows a_i = y_i x_i that count k_i times, n = sum_i k_i."""

    loss: SmoothLoss
    signed: Array
    lam: float
    regulariser: Regulariser = QUADRATIC
    weights: Array | None = None

    @classmethod
    def of(cls, loss: SmoothLoss, dataset: Dataset, lam: float, regulariser: Regulariser = QUADRATIC) -> Objective:
        """The regularised empirical risk of labelled data."""
        data = labelled(dataset)
        return cls(loss, data.signed, lam, regulariser, data.weights)

    @property
    def n(self) -> float:
        """The number of records."""
        return float(len(self.signed)) if self.weights is None else float(self.weights.sum())

    @property
    def strong_convexity(self) -> float:
        """A lower bound on the eigenvalues of every Hessian of J."""
        return self.lam * self.regulariser.strong_convexity

    def gradient(self, w: Array) -> Array:
        """The gradients (k, d) of J at the rows of w."""
        return np.concatenate([self._gradient(part) for part in self._parts(w)])

    def log_det_hessian(self, w: Array) -> Array:
        """log det of the Hessian of n J at the rows of w, (k,)."""
        return np.concatenate([_log_det(self._hessian_of_sum(part)) for part in self._parts(w)])

    def _gradient(self, w: Array) -> Array:
        slopes = self._multiply_by_counts(self.loss.slope(w @ self.signed.T))
        return self.lam * self.regulariser.gradient(w) + slopes @ self.signed / self.n

    def _hessian_of_sum(self, w: Array) -> Array:
        rows, d = self.signed.shape
        curvatures = self._multiply_by_counts(self.loss.curvature(w @ self.signed.T))
        products = (self.signed[:, :, None] * self.signed[:, None, :]).reshape(rows, d * d)
        return (curvatures @ products).reshape(-1, d, d) + self.n * self.lam * self.regulariser.hessian(w)

    def _multiply_by_counts(self, of_rows: Array) -> Array:
        return of_rows if self.weights is None else of_rows * self.weights

    def _parts(self, w: Array) -> Iterator[Array]:
        """Blocks of rows of w, small enough to hold all their margins in memory."""
        w = output_rows(w, self.signed.shape[1])
        step = max(1, MARGINS_AT_ONCE // len(self.signed))
        yield from (w[first : first + step] for first in range(0, max(len(w), 1), step))


def labelled(dataset: Dataset) -> LabelledData:
    """The data set; an error unless it is labelled data."""
    if not isinstance(dataset, LabelledData):
        raise EpsilometerError(f"a loss of the margin needs labelled data, not {type(dataset).__name__}")
    return dataset


def _log_det(matrices: Array) -> Array:
    """log det of positive definite matrices."""
    if matrices.shape[-1] == 1:
        return np.log(matrices[:, 0, 0])
    return np.linalg.slogdet(matrices)[1]
