"""The control releases the minimiser itself, and promises nothing."""

from __future__ import annotations

import numpy as np

from epsilometer.mechanisms.controls import NonPrivateLogistic
from tests.mechanisms.reference import ball, labelled, noise_behind


def test_every_sample_is_the_minimiser() -> None:
    signed = ball(80, 4, np.random.default_rng(0))
    samples = NonPrivateLogistic(0.01).sample(labelled(signed), 3, np.random.default_rng(1))
    assert samples.shape == (3, 4)
    assert np.array_equal(samples, samples[[0, 0, 0]])
    assert np.abs(noise_behind(samples, signed, 0.01)).max() <= 80 * 1.01e-9


def test_no_randomness_is_used() -> None:
    rng = np.random.default_rng(1)
    NonPrivateLogistic(0.01).sample(labelled(ball(10, 2, rng)), 3, rng := np.random.default_rng(2))
    assert rng.random() == np.random.default_rng(2).random()


def test_nothing_is_promised() -> None:
    assert NonPrivateLogistic(0.01).guarantee is None
    assert NonPrivateLogistic(0.01).source
