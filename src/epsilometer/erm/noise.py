"""Noise vectors, and their densities."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

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


class Noise(Protocol):
    """A distribution of vectors in any dimension."""

    def sample(self, size: int, d: int, rng: np.random.Generator) -> Array:
        """`size` vectors in R^d, (size, d)."""

    def log_density(self, vectors: Array) -> Array:
        """The log-density at each row of (k, d)."""


@dataclass(frozen=True)
class SphericalNoise:
    """Density exp(-rate |b|) rate^d Gamma(d/2) / (2 pi^(d/2) Gamma(d)) on R^d."""

    rate: float

    def sample(self, size: int, d: int, rng: np.random.Generator) -> Array:
        return spherical_noise(size, d, self.rate, rng)

    def log_density(self, vectors: Array) -> Array:
        d = vectors.shape[1]
        sphere = math.log(2) + d / 2 * math.log(math.pi) - math.lgamma(d / 2)  # the area of the unit sphere
        return d * math.log(self.rate) - math.lgamma(d) - sphere - self.rate * np.linalg.norm(vectors, axis=1)


@dataclass(frozen=True)
class GaussianNoise:
    """Independent coordinates of standard deviation sigma."""

    sigma: float

    def sample(self, size: int, d: int, rng: np.random.Generator) -> Array:
        return rng.normal(0.0, self.sigma, (size, d))

    def log_density(self, vectors: Array) -> Array:
        scaled = vectors / self.sigma
        constant = vectors.shape[1] * (math.log(self.sigma) + math.log(2 * math.pi) / 2)
        return -np.einsum("ki,ki->k", scaled, scaled) / 2 - constant
