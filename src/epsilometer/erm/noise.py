"""Noise vectors."""

from __future__ import annotations

import numpy as np

from epsilometer.core import Array


def spherical_noise(size: int, d: int, rate: float, rng: np.random.Generator) -> Array:
    """`size` vectors with density proportional to exp(-rate |b|) on R^d.

    In polar coordinates the density of the norm is proportional to r^(d-1) exp(-rate r), a Gamma(d, 1/rate), and the
    direction is uniform (nips08, Algorithms 1 and 2).
    """
    direction = rng.standard_normal((size, d))
    direction /= np.linalg.norm(direction, axis=1, keepdims=True)
    return rng.gamma(d, 1 / rate, size=(size, 1)) * direction
