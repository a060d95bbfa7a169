"""Plain functions where a mechanism is expected."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from epsilometer.core.errors import EpsilometerError
from epsilometer.core.nouns import Guarantee, HasDensity, Mechanism

MechanismLike = Mechanism | Callable[..., Any]
"""A mechanism; or a function f(data, rng) that returns one output, or f(data, size, rng) that returns `size` of them."""


@dataclass(frozen=True)
class FunctionMechanism:
    """A function as a mechanism: it claims nothing by itself."""

    function: Callable[..., Any]
    vectorised: bool
    """Whether it is f(data, size, rng) and returns many outputs, or f(data, rng) and returns one."""

    @property
    def guarantee(self) -> Guarantee | None:
        return None

    @property
    def source(self) -> str:
        return f"the function {name_of(self.function)}"

    def sample(self, dataset: Any, size: int, rng: np.random.Generator) -> NDArray[Any]:
        """`size` independent outputs, stacked along the first axis."""
        if not self.vectorised:
            single = [self.function(dataset, rng) for _ in range(size)]
            try:
                return np.array(single)
            except ValueError as error:
                raise EpsilometerError(f"the outputs of {self.source} have different shapes; pad them with nan") from error
        outputs = np.asarray(self.function(dataset, size, rng))
        if outputs.ndim == 0 or len(outputs) != size:
            shape = "a single one" if outputs.ndim == 0 else f"{len(outputs)}"
            raise EpsilometerError(f"{self.source} was asked for {size} outputs and returned {shape}; it must return {size}")
        return outputs


def as_mechanism(given: MechanismLike) -> Mechanism:
    """The mechanism itself, or a function as one.

    >>> mechanism = as_mechanism(lambda data, size, rng: data.sum() + rng.laplace(size=size))
    >>> mechanism.sample(np.array([1.0, 0.0]), 3, np.random.default_rng(0)).shape
    (3,)
    """
    if not isinstance(given, type) and hasattr(given, "sample") and hasattr(given, "guarantee"):
        return given  # type: ignore[return-value]
    if isinstance(given, type) or not callable(given):
        raise EpsilometerError(
            f"{given!r} is no mechanism; give a function of (data, rng) or (data, size, rng), or an object with `sample`"
        )
    return FunctionMechanism(given, _takes_size(given))


def with_density(given: MechanismLike) -> Any:
    """The mechanism, if it knows the density of its outputs."""
    mechanism = as_mechanism(given)
    if not isinstance(mechanism, HasDensity):
        name = name_of(mechanism.function) if isinstance(mechanism, FunctionMechanism) else type(mechanism).__name__
        raise EpsilometerError(f"{name} does not know the density of its outputs; audit it from samples, with BlackBox")
    return mechanism


def name_of(function: Any) -> str:
    """What a function is called, or else its type."""
    return getattr(function, "__name__", type(function).__name__)


def _takes_size(function: Callable[..., Any]) -> bool:
    """Whether it is f(data, size, rng), not f(data, rng)."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError) as error:
        raise EpsilometerError(
            f"the parameters of {name_of(function)} are unknown; wrap it in a lambda data, rng"
        ) from error
    places = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    positional = [parameter for parameter in parameters if parameter.kind in places]
    needed = [parameter for parameter in positional if parameter.default is parameter.empty]
    if len(needed) not in (2, 3):
        names = ", ".join(parameter.name for parameter in positional) or "nothing"
        raise EpsilometerError(
            f"{name_of(function)} takes ({names}); it must take (data, rng) and return one output, "
            "or (data, size, rng) and return `size` of them"
        )
    return len(needed) == 3
