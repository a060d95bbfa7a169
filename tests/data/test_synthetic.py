"""The synthetic data sets have the shape, the margin and the noise that nips08 describes.

The generating hyperplane is not asked for: both distributions are symmetric around its normal, so the mean of y x points
along it, and its records must fit it.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy import stats

from epsilometer.core import Array, LabelledData
from epsilometer.data import SYNTHETIC
from epsilometer.data.synthetic import separable, unseparable


@pytest.fixture(scope="module")
def noisy() -> LabelledData:
    return unseparable(200_000, np.random.default_rng(1))


def estimated_normal(data: LabelledData) -> Array:
    mean = np.mean(data.labels[:, None] * data.features, axis=0)
    return mean / np.linalg.norm(mean)


@pytest.mark.parametrize("draw", SYNTHETIC.values(), ids=SYNTHETIC)
@pytest.mark.parametrize("points", [1, 2, 777])
def test_shape_norms_and_labels(draw: Callable[[int, np.random.Generator], LabelledData], points: int) -> None:
    data = draw(points, np.random.default_rng(0))
    assert data.features.shape == (points, 10)
    assert np.abs(np.sqrt(np.sum(data.features**2, axis=1)) - 1).max() < 1e-12
    assert set(data.labels) <= {-1.0, 1.0}


@pytest.mark.parametrize("draw", SYNTHETIC.values(), ids=SYNTHETIC)
def test_the_generator_decides_everything(draw: Callable[[int, np.random.Generator], LabelledData]) -> None:
    one, same, other = (draw(50, np.random.default_rng(seed)) for seed in (3, 3, 4))
    assert np.array_equal(one.features, same.features)
    assert np.array_equal(one.labels, same.labels)
    assert not np.array_equal(one.features, other.features)


def test_separable_has_a_margin_just_above_the_stated_one() -> None:
    """20,000 records leave the widest gap through the origin at 0.03 and hardly more; without a gap it would be near 0.

    The widest gap comes from a support vector machine on the records near the boundary, each with its mirror image, which
    forces the separator through the origin; all records then confirm it.
    """
    from sklearn.svm import SVC

    data = separable(20_000, np.random.default_rng(5))
    signed = data.labels[:, None] * data.features
    near = signed[np.argsort(signed @ estimated_normal(data))[:1500]]
    machine = SVC(kernel="linear", C=1e8).fit(np.vstack([near, -near]), np.repeat([1, -1], len(near)))
    normal = machine.coef_[0] / np.linalg.norm(machine.coef_[0])
    assert 0.03 < np.min(signed @ normal) < 0.033


def test_separable_labels_are_balanced() -> None:
    """Binomial test; another seed would fail with probability 1e-6."""
    labels = separable(10_000, np.random.default_rng(6)).labels
    assert stats.binomtest(int(np.sum(labels > 0)), len(labels), 0.5).pvalue > 1e-6


def test_features_are_uniform_on_the_sphere(noisy: LabelledData) -> None:
    """A coordinate of a uniform direction in R^10 has x^2 ~ Beta(1/2, 9/2), with either sign.

    Ten Kolmogorov-Smirnov tests and ten binomial tests; another seed would fail with probability below 2e-5.
    """
    features = noisy.features[:20_000]
    for coordinate in features.T:
        assert stats.kstest(coordinate**2, stats.beta(0.5, 4.5).cdf).pvalue > 1e-6
        assert stats.binomtest(int(np.sum(coordinate > 0)), len(coordinate), 0.5).pvalue > 1e-6


def test_labels_are_flipped_inside_the_band_only(noisy: LabelledData) -> None:
    """The estimated normal places a record to within 0.01, so the edges of the band are left out by that much.

    Exact binomial tests of the rate 0.2, in all of the band and next to its edge; another seed would fail with probability
    below 1e-5.
    """
    offset = noisy.features @ estimated_normal(noisy)
    flipped = np.sign(offset) != noisy.labels
    assert not flipped[np.abs(offset) > 0.11].any()
    for low, high in [(0.01, 0.09), (0.07, 0.09)]:
        inside = (np.abs(offset) > low) & (np.abs(offset) < high)
        assert inside.sum() > 5000
        assert stats.binomtest(int(flipped[inside].sum()), int(inside.sum()), 0.2).pvalue > 1e-6
    assert flipped[(np.abs(offset) > 0.09) & (offset > 0)].any()
    assert flipped[(np.abs(offset) > 0.09) & (offset < 0)].any()
