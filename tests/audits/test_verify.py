"""Witnesses are recomputed with 50 digits; wrong ones are turned down in a sentence."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import Any

import mpmath as mp
import numpy as np
import pytest

from epsilometer.audits.exact import ExactLikelihoodRatio
from epsilometer.audits.verify import DEFINITIONS, verify
from epsilometer.core import EpsilometerError, LabelledData, NeighbouringPair, Witness, stream
from epsilometer.mechanisms.catalogue import find


def witness_of(name: str, epsilon: float = 0.5, pair: int = 0) -> Witness:
    entry = find(name)
    estimate = ExactLikelihoodRatio(name)(entry.build(epsilon), entry.pairs()[pair], 200, stream(3, name, epsilon))
    assert estimate.witness
    return estimate.witness


@pytest.mark.parametrize("epsilon", [0.5, 2.0])
@pytest.mark.parametrize("name", DEFINITIONS)
def test_every_definition_agrees_with_its_mechanism_after_a_round_trip_through_json(name: str, epsilon: float) -> None:
    for pair in range(len(find(name).pairs())):
        witness = witness_of(name, epsilon, pair)
        log_ratio, sentence = verify(Witness.from_json(witness.to_json()))
        assert float(log_ratio) == pytest.approx(witness.log_ratio, rel=1e-6)
        assert f"{name}: the log-ratio is " in sentence
        assert "digits" in sentence


@pytest.mark.parametrize("name", DEFINITIONS)
def test_every_definition_agrees_with_its_mechanism_at_drawn_outputs(name: str) -> None:
    entry = find(name)
    mechanism: Any = entry.build(1.0)
    for pair in entry.pairs():
        for output in mechanism.sample(pair.first, 3, stream(9, name)):
            first, second = (mechanism.log_density(data, np.array([output]))[0] for data in (pair.first, pair.second))
            log_ratio, _ = verify(Witness(name, 1.0, pair, output, float(first - second)))
            assert float(log_ratio) == pytest.approx(first - second, rel=1e-6, abs=1e-7)
            definition = DEFINITIONS[name]
            alone = definition.log_density(mp.mpf(1), pair.first, [mp.mpf(float(x)) for x in np.ravel(output)])
            assert float(alone) == pytest.approx(first, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("name", DEFINITIONS)
def test_definitions_state_the_promise_of_the_catalogue(name: str) -> None:
    guarantee = find(name).build(1.0).guarantee
    assert guarantee
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
@pytest.mark.parametrize("factor", [1.001, -1.0, math.inf, math.nan])
def test_a_wrong_number_is_turned_down(name: str, factor: float) -> None:
    witness = witness_of(name)
    with pytest.raises(EpsilometerError, match=r"states a log-ratio of .* but it is"):
        verify(replace(witness, log_ratio=witness.log_ratio * factor))


@pytest.mark.parametrize("name", ["laplace_count", "objective_perturbation_2008", "smooth_median"])
def test_another_output_or_promise_is_turned_down(name: str) -> None:
    witness = witness_of(name, pair=0)
    for other in (replace(witness, output=-5 * witness.output - 1), replace(witness, promised=0.6)):
        with pytest.raises(EpsilometerError, match="but it is"):
            verify(other)


def test_data_sets_that_are_no_neighbours_are_turned_down() -> None:
    values = json.loads(witness_of("laplace_count").to_json())
    values["second"] = [0, 0, 0, 0, 0]
    with pytest.raises(EpsilometerError, match="no replace-one neighbours"):
        Witness.from_json(json.dumps(values))
    witness = witness_of("laplace_count")
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


def test_a_mechanism_without_a_definition_is_a_sentence_that_lists_the_others() -> None:
    with pytest.raises(EpsilometerError, match=r"no independent definition of 'k_means'; .*laplace_count.*smooth_median"):
        verify(replace(witness_of("laplace_count"), mechanism="k_means"))


def test_data_of_the_wrong_kind_are_turned_down() -> None:
    witness = witness_of("objective_perturbation_2008")
    with pytest.raises(EpsilometerError, match="must be sequences of numbers"):
        verify(replace(witness, mechanism="laplace_count"))
    with pytest.raises(EpsilometerError, match="must be labelled data"):
        verify(replace(witness_of("laplace_count"), mechanism="output_perturbation"))
    assert isinstance(witness.pair.first, LabelledData)
