"""Witnesses are recomputed with 50 digits; wrong ones are refused with one sentence."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from functools import cache
from typing import Any

import mpmath as mp
import numpy as np
import pytest
from numpy.typing import NDArray

from epsilometer.auditors.attainability import Attainability
from epsilometer.auditors.exact import ExactLikelihoodRatio
from epsilometer.core import (
    Array,
    Auditor,
    EpsilometerError,
    Guarantee,
    HasDensity,
    LabelledData,
    NeighbouringPair,
    Witness,
    stream,
)
from epsilometer.mechanisms.catalogue import catalogue, find
from epsilometer.witnesses import DEFINITIONS, verify

pytestmark = pytest.mark.slow

WITNESSED = [
    name
    for name, entry in catalogue().items()
    if hasattr(mechanism := entry.build(1.0), "attainable")
    or (isinstance(mechanism, HasDensity) and not (mechanism.guarantee and mechanism.guarantee.delta))
]
"""The mechanisms for which an exact audit writes a witness."""


@cache
def witness_of(name: str, epsilon: float = 0.5, pair: int = 0) -> Witness:
    entry = find(name)
    mechanism = entry.build(epsilon)
    auditor: Auditor = ExactLikelihoodRatio(name, epsilon)
    if hasattr(mechanism, "attainable"):
        auditor = Attainability(name, epsilon)
    estimate = auditor(mechanism, entry.pairs()[pair], 200, stream(3, name, epsilon))
    assert estimate.witness
    return estimate.witness


def log_ratios(name: str, pair: NeighbouringPair, outputs: NDArray[Any], epsilon: float = 0.5) -> Array:
    """The log-ratios by the mechanism's own density."""
    mechanism: Any = find(name).build(epsilon)
    log_density = mechanism.log_density if isinstance(mechanism, HasDensity) else mechanism.log_probability
    with np.errstate(invalid="ignore"):
        return np.asarray(log_density(pair.first, outputs) - log_density(pair.second, outputs))


def test_every_witness_of_the_catalogue_has_a_definition() -> None:
    assert set(WITNESSED) <= set(DEFINITIONS) <= set(catalogue())


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [0.5, 2.0])
@pytest.mark.parametrize("name", DEFINITIONS)
def test_every_definition_agrees_with_its_mechanism_after_a_round_trip_through_json(name: str, epsilon: float) -> None:
    for pair in range(len(find(name).pairs())):
        witness = witness_of(name, epsilon, pair)
        log_ratio, sentence = verify(Witness.from_json(witness.to_json()))
        assert float(log_ratio) == pytest.approx(witness.log_ratio, rel=1e-6)
        assert f"{name}: the log-ratio is " in sentence
        assert "as stated" in sentence


@pytest.mark.parametrize("name", DEFINITIONS)
def test_every_definition_agrees_with_its_mechanism_at_drawn_outputs(name: str) -> None:
    entry = find(name)
    mechanism: Any = entry.build(1.0)
    log_density = mechanism.log_density if isinstance(mechanism, HasDensity) else mechanism.log_probability
    for pair in entry.pairs():
        for output in mechanism.sample(pair.first, 3, stream(9, name)):
            first, second = (log_density(data, np.array([output]))[0] for data in (pair.first, pair.second))
            log_ratio, _ = verify(Witness(name, 1.0, pair, output, float(first - second)))
            assert float(log_ratio) == pytest.approx(first - second, rel=1e-6, abs=1e-7)
            definition = DEFINITIONS[name]
            with mp.workdps(50):
                alone = definition.log_density(mp.mpf(1), pair.first, [mp.mpf(float(x)) for x in np.ravel(output)])
            assert float(alone) == pytest.approx(first, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("name", DEFINITIONS)
def test_another_output_or_the_pair_reversed_is_turned_down(name: str) -> None:
    """The other output is one that was drawn, and has another ratio."""
    witness, mechanism = witness_of(name), find(name).build(0.5)
    drawn = np.concatenate(
        [mechanism.sample(data, 200, stream(5, name)) for data in (witness.pair.first, witness.pair.second)]
    )
    ratios = log_ratios(name, witness.pair, drawn)
    other = drawn[np.flatnonzero(np.abs(np.clip(ratios, -1e9, 1e9) - np.clip(witness.log_ratio, -1e9, 1e9)) > 1e-3)[0]]
    for false in (replace(witness, output=other), replace(witness, pair=witness.pair.reversed())):
        with pytest.raises(EpsilometerError, match="but it is"):
            verify(false)


def test_products_of_exponentials_are_integrated_exactly() -> None:
    """The probability of an answer of the sparse vector against numerical integration, at a scale of 8 and 16."""
    pair = find("sparse_vector_1").pairs()[0]
    output = [mp.mpf(x) for x in [0, 0, 0, 1, *[math.nan] * 6]]

    def cdf(x: Any) -> Any:
        return mp.exp(x / 16) / 2 if x < 0 else 1 - mp.exp(-x / 16) / 2

    def integrand(rho: Any) -> Any:
        answers = np.asarray(pair.second)[:, :4].sum(axis=0).tolist()
        below = mp.fprod(cdf(1 + rho - q) for q in answers[:3])
        return mp.exp(-abs(rho) / 8) / 16 * below * (1 - cdf(1 + rho - answers[3]))

    with mp.workdps(30):
        by_quadrature = mp.log(mp.quad(integrand, [-mp.inf, -100, -1, 0, 1, 100, mp.inf]))
        exactly = DEFINITIONS["sparse_vector_1"].log_density(mp.mpf(1) / 4, pair.second, output)
        assert abs(by_quadrature - exactly) < mp.mpf("1e-15")


@pytest.mark.parametrize("name", DEFINITIONS)
def test_definitions_state_the_promise_of_the_catalogue(name: str) -> None:
    guarantee = find(name).build(1.0).guarantee or Guarantee(1.0, "replace-one")
    assert (guarantee.adjacency, guarantee.delta) == (DEFINITIONS[name].adjacency, DEFINITIONS[name].delta)


def test_closed_forms_to_fifty_digits() -> None:
    with mp.workdps(50):
        assert verify(witness_of("laplace_count"))[0] in (mp.mpf("0.5"), mp.mpf("-0.5"))
        spent = abs(verify(witness_of("laplace_standard_deviation"))[0])
        assert abs(spent - mp.sqrt(2) / 2) < mp.mpf("1e-45")


def test_what_the_sentence_says_about_the_promise() -> None:
    assert "does not exceed the promised epsilon of 0.5" in verify(witness_of("laplace_count"))[1]
    sentence = verify(witness_of("laplace_half_scale"))[1]
    assert sentence.endswith("it exceeds the promised epsilon of 0.5 by 0.5: the promise is broken")
    assert "proves no violation" in verify(witness_of("gaussian_classic"))[1]
    assert "promise is broken" in verify(witness_of("objective_perturbation_2008"))[1]
    assert "does not exceed" in verify(witness_of("objective_perturbation_cms11"))[1]


@pytest.mark.parametrize("name", DEFINITIONS)
def test_a_wrong_number_is_turned_down(name: str) -> None:
    witness = witness_of(name)
    stated = witness.log_ratio
    for wrong in (-stated, math.nan, 1.001 * stated if math.isfinite(stated) else 1e6, math.inf * -stated):
        with pytest.raises(EpsilometerError, match=r"states a log-ratio of .* but it is"):
            verify(replace(witness, log_ratio=wrong))


@pytest.mark.parametrize("name", ["laplace_count", "objective_perturbation_2008", "smooth_median"])
def test_another_promise_is_turned_down(name: str) -> None:
    with pytest.raises(EpsilometerError, match="but it is"):
        verify(replace(witness_of(name), promised=0.6))


def test_data_sets_that_are_no_neighbours_are_turned_down() -> None:
    values = json.loads(witness_of("laplace_count").to_json())
    values["second"] = [0, 0, 0, 0, 0]
    with pytest.raises(EpsilometerError, match="no replace-one neighbours"):
        Witness.from_json(json.dumps(values))
    witness = Witness.from_json(witness_of("laplace_count").to_json())
    object.__setattr__(witness.pair, "second", np.array([0, 0, 0, 0, 0]))  # past the check at construction
    with pytest.raises(EpsilometerError, match="no replace-one neighbours"):
        verify(witness)


def test_the_other_adjacency_is_turned_down() -> None:
    pair = NeighbouringPair(np.array([0, 1]), np.array([0]), "add-remove", "one record less")
    with pytest.raises(EpsilometerError, match="add-remove neighbours; laplace_count promises replace-one"):
        verify(Witness("laplace_count", 1.0, pair, 3.0, 1.0))


def test_an_impossible_output_is_turned_down() -> None:
    witness = witness_of("randomized_response")
    with pytest.raises(EpsilometerError, match=r"output \[0.5\] is impossible under both"):
        verify(replace(witness, output=np.array([0.5])))


def test_an_output_of_another_length_is_turned_down() -> None:
    with pytest.raises(EpsilometerError, match="has 2 numbers; it must have 1"):
        verify(replace(witness_of("laplace_count"), output=np.array([0.5, 1.0])))


@pytest.mark.parametrize("promised", [0.0, -1.0, math.inf, math.nan])
def test_a_senseless_promise_is_turned_down(promised: float) -> None:
    with pytest.raises(EpsilometerError, match="promised epsilon is"):
        verify(replace(witness_of("laplace_count"), promised=promised))


def test_a_mechanism_without_a_definition_is_a_sentence_that_names_some_others() -> None:
    with pytest.raises(
        EpsilometerError, match=r"no independent definition of 'laplace_counts'; .* among them .*laplace_count"
    ):
        verify(replace(witness_of("laplace_count"), mechanism="laplace_counts"))


def test_data_of_the_wrong_kind_are_turned_down() -> None:
    witness = witness_of("objective_perturbation_2008")
    with pytest.raises(EpsilometerError, match="must be sequences of numbers"):
        verify(replace(witness, mechanism="laplace_count"))
    with pytest.raises(EpsilometerError, match="must be labelled data"):
        verify(replace(witness_of("laplace_count"), mechanism="output_perturbation"))
    assert isinstance(witness.pair.first, LabelledData)
