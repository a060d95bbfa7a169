"""The catalogue: every mechanism by name, with the pairs that stress it.

A module of this package that has a tuple `ENTRIES` is in the catalogue; adding a mechanism means adding one file.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

import epsilometer.mechanisms
from epsilometer.core import EpsilometerError, HasDensity, HasSupport, Mechanism, NeighbouringPair


@dataclass(frozen=True)
class Entry:
    """One mechanism, at any promised epsilon, and where to look for its weakness."""

    name: str
    """Short, in lower case with underscores: it becomes part of file names."""
    title: str
    """What it is, in a few words."""
    build: Callable[[float], Mechanism]
    """The mechanism that promises the given epsilon; raises an EpsilometerError where it cannot."""
    pairs: Callable[[], Sequence[NeighbouringPair]]
    """Neighbouring data sets that stress it, under the adjacency of its guarantee."""
    flaw: str = ""
    """What is wrong with it; empty for a mechanism that is held to be correct."""
    true_epsilon: Callable[[float], float] | None = None
    """The epsilon that it really spends on the worst of its pairs, at a promised one, where that is known."""


@cache
def catalogue() -> dict[str, Entry]:
    """All entries by name, in alphabetical order."""
    entries: dict[str, Entry] = {}
    for members in families().values():
        for entry in members:
            if entry.name in entries:
                raise ValueError(f"two mechanisms are called {entry.name}")
            entries[entry.name] = entry
    return dict(sorted(entries.items()))


@cache
def families() -> dict[str, tuple[Entry, ...]]:
    """The entries of each module that has any, by the module's name."""
    found = {}
    for module in pkgutil.iter_modules(epsilometer.mechanisms.__path__):
        entries = getattr(importlib.import_module(f"epsilometer.mechanisms.{module.name}"), "ENTRIES", ())
        if entries:
            found[module.name] = tuple(entries)
    return found


def correct(family: str) -> list[Entry]:
    """The mechanisms of a family that are held to be correct and promise something."""
    if family not in families():
        raise EpsilometerError(f"there is no family {family!r}; there are {', '.join(families())}")
    return [entry for entry in families()[family] if not entry.flaw and entry.build(1.0).guarantee]


def find(name: str) -> Entry:
    """The entry of that name."""
    try:
        return catalogue()[name]
    except KeyError:
        raise EpsilometerError(f"there is no mechanism {name!r}; there are {', '.join(catalogue())}") from None


def largest_log_ratio(mechanism: Any, pair: NeighbouringPair) -> float:
    """The epsilon that a mechanism with a finite support spends on a pair: the largest |log p - log p'| of an output."""
    if not (isinstance(mechanism, HasSupport) and isinstance(mechanism, HasDensity)):
        raise TypeError(f"{type(mechanism).__name__} has no finite support with probabilities")
    outputs = np.concatenate([mechanism.support(pair.first), mechanism.support(pair.second)])
    first, second = (mechanism.log_density(dataset, outputs) for dataset in (pair.first, pair.second))
    return float(np.max(np.abs(first - second)))


def by_enumeration(
    build: Callable[[float], Mechanism], pairs: Callable[[], Sequence[NeighbouringPair]]
) -> Callable[[float], float]:
    """The `true_epsilon` of an entry whose mechanism has a finite support."""
    return lambda epsilon: max(largest_log_ratio(build(epsilon), pair) for pair in pairs())
