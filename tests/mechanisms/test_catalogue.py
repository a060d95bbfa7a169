"""The contract that every mechanism of the catalogue keeps."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from epsilometer.core import EpsilometerError, HasDensity, HasSupport, LabelledData, NeighbouringPair, stream
from epsilometer.mechanisms.catalogue import Entry, catalogue, find
from tests.mechanisms import agreement

NAMES = list(catalogue())
COUNTS_RECORDS = {
    "histogram_inverse_scale",
    "histogram_wrong_adjacency",
    "parallel_composition",
    "parallel_composition_as_printed",
    "parallel_composition_replace_one",
}
"""What they release is how many records there are; no records is one of the answers."""
WITHOUT_DENSITY = {
    "laplace_floating_point": "which doubles it can return is a matter of rounding",
    "non_private_logistic": "it returns one vector, always",
}
SINGULAR = {"output_perturbation_gamma_one": "its density is infinite at one point, where a grid cannot follow"}


def pairs_of(entry: Entry) -> list[NeighbouringPair]:
    return list(entry.pairs())


@pytest.fixture(params=NAMES, scope="module")
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


@settings(max_examples=10, deadline=None)
@given(epsilon=st.floats(0.1, 4))
def test_the_promise_is_the_one_asked_for(entry: Entry, epsilon: float) -> None:
    """And so it grows with epsilon."""
    promise = entry.build(epsilon).guarantee
    assert promise is None or promise.epsilon == pytest.approx(epsilon, rel=1e-9)


@pytest.mark.parametrize("epsilon", [0.0, -1.5, math.nan])
def test_a_senseless_epsilon_is_refused(entry: Entry, epsilon: float) -> None:
    if entry.build(1.0).guarantee is None:
        return
    with pytest.raises(EpsilometerError, match=r"epsilon is (0|-|nan)"):
        entry.build(epsilon)


@pytest.mark.parametrize("delta", [-0.25, 1.0, 1.5, math.nan])
def test_a_senseless_delta_is_refused(entry: Entry, delta: float) -> None:
    mechanism: Any = entry.build(1.0)
    if not hasattr(mechanism, "delta"):
        return
    with pytest.raises(EpsilometerError, match=f"delta is {delta:g}"):
        dataclasses.replace(mechanism, delta=delta)


def test_empty_data_are_refused(entry: Entry) -> None:
    """Labelled data refuse to be empty themselves; the number of records may be what is asked for."""
    mechanism, dataset = entry.build(1.0), entry.pairs()[0].first
    if isinstance(dataset, LabelledData) or entry.name in COUNTS_RECORDS:
        return
    with pytest.raises(EpsilometerError, match=r"empty|0|no "):
        mechanism.sample(dataset[:0], 2, stream(0))


def test_outputs_of_another_dimension_are_refused(entry: Entry) -> None:
    mechanism, dataset = entry.build(1.0), entry.pairs()[0].first
    outputs = mechanism.sample(dataset, 3, stream(0))
    if outputs.ndim == 1 or not isinstance(mechanism, HasDensity):
        return
    with pytest.raises(EpsilometerError, match=f"{outputs.shape[1] + 1}"):
        mechanism.log_density(dataset, np.column_stack([outputs, outputs[:, :1]]))


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
