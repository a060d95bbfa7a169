"""Reference distributions of the mechanisms' outputs, from the formulas of the papers alone."""

from __future__ import annotations

import numpy as np
from scipy.special import expit

from epsilometer.core import Array, LabelledData


def labelled(signed: Array) -> LabelledData:
    """Records with the given signed rows y x, with both labels."""
    labels = np.where(np.arange(len(signed)) % 2, -1.0, 1.0)
    return LabelledData(labels[:, None] * signed, labels)


def ball(n: int, d: int, rng: np.random.Generator) -> Array:
    """Random rows in the unit ball, of all norms."""
    directions = rng.standard_normal((n, d))
    return rng.random((n, 1)) * directions / np.linalg.norm(directions, axis=1, keepdims=True)


def noise_behind(w: Array, signed: Array, lam: float) -> Array:
    """The noise b that makes each row of w the minimiser of J(w) + b.w/n: b = -n grad J(w)."""
    return expit(-(w @ signed.T)) @ signed - len(signed) * lam * w


def log_density(w: Array, signed: Array, lam: float, rate: float) -> Array:
    """The log density, up to a constant, of objective perturbation's output: exp(-rate |b(w)|) |det db/dw|."""
    s = expit(-(w @ signed.T))
    hessians = np.einsum("ki,ip,iq->kpq", s * (1 - s), signed, signed) + len(signed) * lam * np.eye(signed.shape[1])
    return -rate * np.linalg.norm(noise_behind(w, signed, lam), axis=1) + np.linalg.slogdet(hessians)[1]
