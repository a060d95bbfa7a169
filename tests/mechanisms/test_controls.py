"""The control releases the exact minimiser, and has no guarantee."""

from __future__ import annotations

import numpy as np
import pytest

from epsilometer.core import EpsilometerError, LabelledData
from epsilometer.mechanisms.catalogue import find
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


def test_a_weight_is_so_many_equal_records() -> None:
    signed, weights = ball(4, 2, np.random.default_rng(3)), np.array([1.0, 3.0, 2.0, 2.0])
    one = NonPrivateLogistic(0.1).sample(LabelledData(signed, np.ones(4), weights), 1, np.random.default_rng(0))
    repeated = LabelledData(np.repeat(signed, weights.astype(int), axis=0), np.ones(8))
    np.testing.assert_allclose(one, NonPrivateLogistic(0.1).sample(repeated, 1, np.random.default_rng(0)), atol=1e-7)


def test_its_pair_tells_the_data_sets_apart_with_certainty() -> None:
    (pair,) = find("non_private_logistic").pairs()
    mechanism = find("non_private_logistic").build(1.0)
    first, second = (mechanism.sample(data, 1, np.random.default_rng(0)) for data in (pair.first, pair.second))
    assert np.abs(first - second).max() > 0.5


@pytest.mark.parametrize("lam", [0.0, -1.0, float("nan")])
def test_regularisation_is_a_positive_number(lam: float) -> None:
    with pytest.raises(EpsilometerError, match=f"lam is {lam:g}"):
        NonPrivateLogistic(lam)
