"""The contract that every mechanism of the catalogue keeps."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from epsilometer.core import EpsilometerError, HasDensity, HasSupport, NeighbouringPair, stream
from epsilometer.mechanisms.catalogue import Entry, catalogue, find
from tests.mechanisms import agreement

NAMES = list(catalogue())
EPSILONS = (0.1, 0.5, 1.0, 2.0)
WITHOUT_DENSITY = {
    "laplace_floating_point": "which doubles it can return is a matter of rounding",
    "non_private_logistic": "it returns one vector, always",
}
SINGULAR = {"output_perturbation_gamma_one": "its density is infinite at one point, where a grid cannot follow"}


def pairs_of(entry: Entry) -> list[NeighbouringPair]:
    return list(entry.pairs())


@pytest.fixture(params=NAMES)
def entry(request: pytest.FixtureRequest) -> Entry:
    return find(request.param)


def test_an_unknown_name_is_a_sentence_that_lists_the_known_ones() -> None:
    with pytest.raises(EpsilometerError, match=r"no mechanism 'laplase'; there are .*laplace"):
        find("laplase")


def test_it_is_described_and_stressed(entry: Entry) -> None:
    mechanism = entry.build(1.0)
    assert entry.title
    assert mechanism.source
    pairs = pairs_of(entry)
    assert pairs
    assert all(pair.reason for pair in pairs)
    if mechanism.guarantee:
        assert {pair.adjacency for pair in pairs} == {mechanism.guarantee.adjacency}


def test_the_promise_is_the_one_asked_for(entry: Entry) -> None:
    promises = [entry.build(epsilon).guarantee for epsilon in EPSILONS]
    if promises[0] is None:
        assert all(promise is None for promise in promises)
    else:
        assert [promise.epsilon for promise in promises if promise] == pytest.approx(EPSILONS)


@pytest.mark.parametrize("epsilon", [0.0, -1.0, float("nan")])
def test_a_senseless_epsilon_is_refused(entry: Entry, epsilon: float) -> None:
    if entry.build(1.0).guarantee is None:
        pytest.skip("promises nothing, whatever epsilon is")
    with pytest.raises(EpsilometerError):
        entry.build(epsilon)


def test_outputs_depend_on_the_seed_alone(entry: Entry) -> None:
    mechanism = entry.build(1.0)
    for pair in pairs_of(entry):
        for dataset in (pair.first, pair.second):
            first, second = (mechanism.sample(dataset, 7, stream(3, entry.name)) for _ in range(2))
            assert len(first) == 7
            np.testing.assert_array_equal(first, second)


def test_sampler_and_density_agree(entry: Entry) -> None:
    """Each check fails by chance with probability 1e-6; outputs of three numbers or more have tests of their own."""
    for epsilon in (0.5, 2.0):
        mechanism: Any = entry.build(epsilon)
        if not isinstance(mechanism, HasDensity):
            assert entry.name in WITHOUT_DENSITY
            return
        for number, pair in enumerate(pairs_of(entry)):
            rng = stream(1, entry.name, epsilon, number)
            assert agreement.ratio_identity(mechanism, pair, rng, size=4_000) > agreement.FALSE_FAILURE
        p_value, mass = goodness_of_fit(entry.name, mechanism, pair.first, rng)
        assert p_value > agreement.FALSE_FAILURE
        assert mass == pytest.approx(1, abs=1e-3)


def goodness_of_fit(name: str, mechanism: Any, dataset: Any, rng: np.random.Generator) -> tuple[float, float]:
    """p-value and mass by the test that fits the mechanism's outputs; (1, 1) where none does."""
    if isinstance(mechanism, HasSupport):
        return agreement.finite(mechanism, dataset, rng, size=4_000)
    samples = mechanism.sample(dataset, 2_000, rng)
    numbers = int(np.prod(samples.shape[1:]))
    if numbers == 1:
        low, centre, high = np.quantile(samples, [0.25, 0.5, 0.75])
        return agreement.continuous_1d(mechanism, dataset, rng, centre, high - low, size=4_000)
    if numbers == 2 and name not in SINGULAR:
        return agreement.continuous_2d(mechanism, dataset, rng, size=4_000)
    return 1.0, 1.0
