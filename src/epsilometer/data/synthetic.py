"""The two synthetic distributions of nips08, section 6: uniform on the unit sphere in ten dimensions."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from epsilometer.core import Array, LabelledData

DIMENSION = 10
MARGIN = 0.03
NOISY_BAND = 0.1
FLIP_PROBABILITY = 0.2


def separable(points: int, rng: np.random.Generator) -> LabelledData:
    """Records at a distance above 0.03 from the generating hyperplane, which passes through the origin; separable by it."""
    normal = _draw_on_sphere(1, rng)[0]
    features = np.empty((0, DIMENSION))
    while len(features) < points:
        drawn = _draw_on_sphere(points, rng)
        features = np.concatenate([features, drawn[np.abs(drawn @ normal) > MARGIN]])
    features = features[:points]
    return LabelledData(features, np.sign(features @ normal))


def unseparable(points: int, rng: np.random.Generator) -> LabelledData:
    """Labels of points within 0.1 of the generating hyperplane are flipped with probability 0.2."""
    normal = _draw_on_sphere(1, rng)[0]
    features = _draw_on_sphere(points, rng)
    offset = features @ normal
    flipped = (np.abs(offset) <= NOISY_BAND) & (rng.random(points) < FLIP_PROBABILITY)
    return LabelledData(features, np.where(flipped, -1.0, 1.0) * np.where(offset >= 0, 1.0, -1.0))


SYNTHETIC: dict[str, Callable[[int, np.random.Generator], LabelledData]] = {
    "separable": separable,
    "unseparable": unseparable,
}
"""Both distributions by name."""


def _draw_on_sphere(points: int, rng: np.random.Generator) -> Array:
    gaussian = rng.standard_normal((points, DIMENSION))
    return gaussian / np.linalg.norm(gaussian, axis=1, keepdims=True)
