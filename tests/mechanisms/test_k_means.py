"""Noisy Lloyd iterations: the transcript's density step by step, the centres, and the privacy loss.

The test of the noise would fail with probability 1e-6 for another seed.
"""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from epsilometer.core import Array, EpsilometerError, Guarantee
from epsilometer.mechanisms.k_means import ENTRIES, NoisyLloyd

START = ((0.5, 0.5), (-0.5, -0.5), (0.5, -0.5))
POINTS = np.random.default_rng(0).uniform(-1, 1, (8, 2))


def replay(mechanism: NoisyLloyd, points: Array, transcript: Array) -> tuple[Array, Array]:
    """The noise behind a transcript, and the last centres, by plain loops."""
    centres = [np.array(centre) for centre in mechanism.centres]
    k, d = len(centres), len(centres[0])
    noise = []
    for step in range(mechanism.iterations):
        released = transcript[step * k * (d + 1) : (step + 1) * k * (d + 1)]
        sizes, sums = np.zeros(k), np.zeros((k, d))
        for point in points:
            nearest = int(np.argmin([np.linalg.norm(point - centre) for centre in centres]))
            sizes[nearest] += 1
            sums[nearest] += point
        noise.append(released - np.concatenate([sizes, sums.ravel()]))
        for cluster in range(k):
            if released[cluster] >= 1:
                mean = released[k + cluster * d : k + (cluster + 1) * d] / released[cluster]
                centres[cluster] = np.clip(mean, -1, 1)
    return np.concatenate(noise), np.array(centres)


def test_the_density_is_that_of_the_noise_in_every_step() -> None:
    mechanism = NoisyLloyd(2.0, START, iterations=3)
    outputs = mechanism.sample(POINTS, 300, np.random.default_rng(1))
    replayed = [replay(mechanism, POINTS, row) for row in outputs]
    noise = np.array([behind for behind, _ in replayed])
    law = stats.laplace(scale=3 * 3 / 2.0)
    assert outputs.shape == (300, 3 * 9)
    assert stats.kstest(noise.ravel(), law.cdf).pvalue > 1e-6
    np.testing.assert_allclose(mechanism.log_density(POINTS, outputs), law.logpdf(noise).sum(axis=1))
    np.testing.assert_allclose(mechanism.final_centres(outputs), [centres for _, centres in replayed])


def test_without_noise_it_is_lloyds_algorithm() -> None:
    rng = np.random.default_rng(2)
    points = np.clip(rng.choice([-0.7, 0.7], (200, 1)) + 0.1 * rng.standard_normal((200, 2)), -1, 1)
    mechanism = NoisyLloyd(1e9, ((0.1, 0.0), (-0.1, 0.0)), iterations=4)
    centres = mechanism.final_centres(mechanism.sample(points, 1, rng))[0]
    means = [points[points[:, 0] > 0].mean(axis=0), points[points[:, 0] < 0].mean(axis=0)]
    np.testing.assert_allclose(centres, means, atol=1e-6)


def test_small_noisy_sizes_leave_the_centre_and_large_sums_stay_in_the_cube() -> None:
    mechanism = NoisyLloyd(1.0, START, iterations=1)
    row = [0.99, 2.0, -3.0, 9.0, 9.0, 1.0, -8.0, 9.0, 9.0]  # three sizes, three sums
    expected = [START[0], (0.5, -1.0), START[2]]
    np.testing.assert_allclose(mechanism.final_centres(np.array([row]))[0], expected)


def test_a_corner_spends_exactly_epsilon() -> None:
    for epsilon in (0.4, 3.0):
        mechanism, pair = ENTRIES[0].build(epsilon), ENTRIES[0].pairs()[0]
        assert isinstance(mechanism, NoisyLloyd)
        assert mechanism.guarantee == Guarantee(epsilon, "add-remove")
        first, second = np.asarray(pair.first), np.asarray(pair.second)
        outputs = mechanism.sample(first, 5_000, np.random.default_rng(3))
        outputs[0], outputs[1] = 50.0, -50.0
        ratio = mechanism.log_density(second, outputs) - mechanism.log_density(first, outputs)
        assert ratio[0] == pytest.approx(epsilon)
        assert ratio[1] == pytest.approx(-epsilon)
        assert np.abs(ratio).max() == pytest.approx(epsilon)


@pytest.mark.parametrize("seed", range(4))
def test_no_record_spends_more_than_epsilon(seed: int) -> None:
    """For a record anywhere, transcripts of either data set, and transcripts far from both."""
    rng = np.random.default_rng(seed)
    mechanism = NoisyLloyd(1.0, START, iterations=3)
    record = np.sign(rng.uniform(-1, 1, (1, 2))) if seed % 2 else rng.uniform(-1, 1, (1, 2))
    larger = np.vstack([POINTS, record])
    outputs = np.vstack(
        [mechanism.sample(POINTS, 1_000, rng), mechanism.sample(larger, 1_000, rng), rng.normal(0, 100, (1_000, 27))]
    )
    ratio = mechanism.log_density(larger, outputs) - mechanism.log_density(POINTS, outputs)
    assert np.abs(ratio).max() <= 1 + 1e-9
    assert np.abs(ratio).max() > (0.9 if seed % 2 else 0.05)


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (np.zeros((0, 2)), r"shape \(0, 2\)"),
        (np.zeros((3, 1)), "row of 2 coordinates"),
        (np.array([[0.0, 1.2]]), "a coordinate is 1.2"),
        (np.array([[np.nan, 0.0]]), "a coordinate is nan"),
    ],
)
def test_bad_data_are_refused(data: NDArray[np.float64], sentence: str) -> None:
    with pytest.raises(EpsilometerError, match=sentence):
        NoisyLloyd(1.0, START, 2).sample(data, 1, np.random.default_rng(0))


def test_bad_parameters_are_refused() -> None:
    with pytest.raises(EpsilometerError, match="epsilon is 0"):
        NoisyLloyd(0.0, START, 2)
    with pytest.raises(EpsilometerError, match="iterations is 0"):
        NoisyLloyd(1.0, START, 0)
    with pytest.raises(EpsilometerError, match=r"centres are \(\(0.0,\), \(0.0, 1.0\)\)"):
        NoisyLloyd(1.0, ((0.0,), (0.0, 1.0)), 1)
    with pytest.raises(EpsilometerError, match=r"centres are \(\)"):
        NoisyLloyd(1.0, (), 1)
