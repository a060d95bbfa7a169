"""Plain functions as mechanisms: which are taken, what they must return, and that they are audited like any other."""

from __future__ import annotations

import functools
import inspect
import re
from typing import Any

import numpy as np
import pytest

from epsilometer.auditors.black_box.auditor import BlackBox
from epsilometer.auditors.exact import ExactLikelihoodRatio, ExactPrivacyCurve
from epsilometer.auditors.gaussian_shape import GaussianShape
from epsilometer.auditors.one_run import Canaries, OneRun
from epsilometer.auditors.sampled import SampledLikelihoodRatio
from epsilometer.core import (
    EpsilometerError,
    FunctionMechanism,
    Guarantee,
    NeighbouringPair,
    as_mechanism,
    stream,
    with_density,
)
from epsilometer.mechanisms.laplace import Laplace

DATA = np.array([1.0, 2.0])
PAIR = NeighbouringPair(np.array([1.0]), np.array([0.0]), "replace-one", "the sum differs by one")


def one(data: Any, rng: np.random.Generator) -> float:
    return float(data.sum() + rng.laplace())


def many(data: Any, size: int, rng: np.random.Generator) -> Any:
    return data.sum() + rng.laplace(size=size)


class Callable3:
    """An object that can be called, and knows nothing else."""

    def __call__(self, data: Any, size: int, rng: np.random.Generator) -> Any:
        return many(data, size, rng)

    def method(self, data: Any, rng: np.random.Generator) -> float:
        return one(data, rng)


def with_scale(scale: float, data: Any, size: int, rng: np.random.Generator) -> Any:
    return data.sum() + rng.laplace(scale=scale, size=size)


TAKEN: dict[str, tuple[Any, bool, str]] = {
    "one output": (one, False, "the function one"),
    "many outputs": (many, True, "the function many"),
    "a lambda": (lambda data, rng: one(data, rng), False, "the function <lambda>"),
    "an option": (lambda data, rng, scale=1.0: data.sum() + scale * rng.laplace(), False, "the function <lambda>"),
    "a keyword": (lambda data, size, rng, *, scale=1.0: scale * many(data, size, rng), True, "the function <lambda>"),
    "an object": (Callable3(), True, "the function Callable3"),
    "a method": (Callable3().method, False, "the function method"),
    "a part of a function": (functools.partial(with_scale, 2.0), True, "the function partial"),
}


@pytest.mark.parametrize("kind", TAKEN)
def test_a_function_is_a_mechanism_that_promises_nothing(kind: str) -> None:
    function, vectorised, source = TAKEN[kind]
    mechanism = as_mechanism(function)
    assert mechanism == FunctionMechanism(function, vectorised)
    assert mechanism.guarantee is None
    assert mechanism.source == source
    outputs = mechanism.sample(DATA, 5, stream(0))
    assert outputs.shape == (5,)
    assert len(set(outputs)) == 5


def test_one_output_at_a_time_comes_from_one_stream() -> None:
    rng = stream(1)
    expected = [one(DATA, rng) for _ in range(4)]
    assert as_mechanism(one).sample(DATA, 4, stream(1)).tolist() == expected


def test_outputs_are_stacked_whatever_they_are() -> None:
    vectors = as_mechanism(lambda data, rng: rng.normal(size=3) + data[0])
    assert vectors.sample(DATA, 4, stream(0)).shape == (4, 3)
    texts = as_mechanism(lambda data, rng: "yes" if rng.random() * data[0] < 0.5 else "no")
    assert set(texts.sample(DATA, 40, stream(0))) == {"yes", "no"}
    listed = as_mechanism(lambda data, size, rng: [float(data[0] + rng.normal()) for _ in range(size)])
    assert listed.sample(DATA, 4, stream(0)).shape == (4,)


def test_a_mechanism_is_left_as_it_is() -> None:
    mechanism = Laplace(np.sum, 1.0, 1.0)
    assert as_mechanism(mechanism) is mechanism
    assert with_density(mechanism) is mechanism


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (lambda: 1.0, "<lambda> takes (nothing); it must take (data, rng) and return one output"),
        (lambda data: data, "<lambda> takes (data); it must take (data, rng) and return one output"),
        (lambda data, size, rng, scale: data, "<lambda> takes (data, size, rng, scale); it must take (data, rng)"),  # noqa: ARG005
        (lambda *arguments: arguments, "<lambda> takes (nothing); it must take (data, rng)"),
        (Callable3, "is no mechanism; give a function of (data, rng) or (data, size, rng), or an object with `sample`"),
        (Laplace, "is no mechanism"),
        (5, "5 is no mechanism"),
        (None, "None is no mechanism"),
    ],
)
def test_what_is_no_mechanism_is_a_sentence(given: Any, sentence: str) -> None:
    with pytest.raises(EpsilometerError, match=re.escape(sentence)):
        as_mechanism(given)


def test_a_function_whose_parameters_are_unknown_is_a_sentence() -> None:
    with pytest.raises(ValueError, match="no signature"):
        inspect.signature(min)
    with pytest.raises(EpsilometerError, match="the parameters of min are unknown; wrap it in a lambda data, rng"):
        as_mechanism(min)


@pytest.mark.parametrize(
    ("returned", "number"), [(1.5, "a single one"), ([1.0, 2.0], "2"), (np.zeros((1, 5)), "1")], ids=str
)
def test_another_number_of_outputs_is_a_sentence(returned: Any, number: str) -> None:
    def short(data: Any, size: int, rng: np.random.Generator) -> Any:  # noqa: ARG001
        return returned

    sentence = f"the function short was asked for 5 outputs and returned {number}; it must return 5"
    with pytest.raises(EpsilometerError, match=sentence):
        as_mechanism(short).sample(DATA, 5, stream(0))


def test_outputs_of_different_lengths_are_a_sentence() -> None:
    def ragged(data: Any, rng: np.random.Generator) -> Any:  # noqa: ARG001
        return [0.0] * int(rng.integers(1, 4))

    with pytest.raises(EpsilometerError, match="the outputs of the function ragged have different shapes"):
        as_mechanism(ragged).sample(DATA, 20, stream(0))


def test_an_error_of_the_function_itself_is_its_own() -> None:
    def broken(data: Any, rng: np.random.Generator) -> Any:  # noqa: ARG001
        raise ValueError("no such record")

    with pytest.raises(ValueError, match="no such record"):
        as_mechanism(broken).sample(DATA, 5, stream(0))


@pytest.mark.parametrize("function", [one, many])
@pytest.mark.parametrize(
    "auditor", [ExactLikelihoodRatio("", 1.0), ExactPrivacyCurve(), SampledLikelihoodRatio(), GaussianShape(delta=1e-5)]
)
def test_auditors_that_need_a_density_say_so(auditor: Any, function: Any) -> None:
    sentence = f"{function.__name__} does not know the density of its outputs; audit it from samples, with BlackBox"
    with pytest.raises(EpsilometerError, match=sentence):
        auditor(function, PAIR, 1000, stream(0))
    with pytest.raises(EpsilometerError, match="SamplerOnly does not know the density"):
        auditor(SamplerOnly(), PAIR, 1000, stream(0))


class SamplerOnly:
    """A mechanism without a density."""

    guarantee = Guarantee(1.0, "replace-one")
    source = "this test"

    def sample(self, dataset: Any, size: int, rng: np.random.Generator) -> Any:
        return many(dataset, size, rng)


def test_a_black_box_finds_the_same_of_a_function_as_of_the_mechanism() -> None:
    found, expected = (BlackBox()(given, PAIR, 20_000, stream(2)) for given in (many, SamplerOnly()))
    assert found == expected
    assert 0.8 < found.epsilon < 1.0  # Laplace noise of scale 1 on answers 1 apart; at most 1 with probability 0.95


def test_a_single_run_of_a_function_is_audited() -> None:
    """Randomised response at epsilon 1 for 1,000 coins: between 0.6 and 1; above 1 with probability below 0.05."""

    def respond(bits: Any, rng: np.random.Generator) -> Any:
        return np.where(rng.random(len(bits)) < 1 / (1 + np.exp(-1)), bits, 1 - bits)

    canaries = Canaries(1000, lambda coins: coins.astype(int), lambda output: output, "bits")
    estimate = OneRun()(respond, canaries, stream(3))
    assert 0.6 < estimate.epsilon < 1
    assert estimate.delta == 0
