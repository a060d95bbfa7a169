"""The catalogue: every mechanism by name, with the pairs of neighbouring data sets that stress it.

A module of this package that has a tuple `ENTRIES` is in the catalogue: adding a mechanism means adding one file. Another
distribution adds its own by an entry point of the group `epsilometer.mechanisms` that names such a module.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from types import ModuleType
from typing import Any

import numpy as np

import epsilometer.mechanisms
from epsilometer.core import EpsilometerError, HasDensity, HasSupport, Mechanism, NeighbouringPair

ENTRY_POINTS = "epsilometer.mechanisms"
"""The group of entry points by which other distributions add families."""


@dataclass(frozen=True)
class Entry:
    """One mechanism, at any promised epsilon, and where to look for its weakness.

    >>> from epsilometer import find
    >>> entry = find("laplace_standard_deviation")
    >>> entry.build(2.0).guarantee.epsilon, bool(entry.flaw)
    (2.0, True)
    """

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
    """All entries by name, in alphabetical order.

    >>> "gaussian_analytic" in catalogue()
    True
    """
    entries: dict[str, Entry] = {}
    family_of: dict[str, str] = {}
    for family, members in families().items():
        for entry in members:
            if entry.name in entries:
                places = " and ".join(dict.fromkeys([family_of[entry.name], family]))
                raise EpsilometerError(f"two mechanisms are called {entry.name}, in {places}; rename one")
            entries[entry.name], family_of[entry.name] = entry, family
    return dict(sorted(entries.items()))


@cache
def families() -> dict[str, tuple[Entry, ...]]:
    """The entries of each module that has any, by the module's name; those of other distributions by the entry point's."""
    return {name: tuple(module.ENTRIES) for name, module in _modules().items()}


def epsilons_from(family: str) -> list[str]:
    """The tables of further epsilons to claim, for a family that names any in `EPSILONS_FROM`."""
    return list(getattr(_modules()[family], "EPSILONS_FROM", ()))


@cache
def _modules() -> dict[str, ModuleType]:
    """The modules with entries, by the name of their family: that of the module below this package, joined by "_"."""
    found = {}
    prefix = f"{epsilometer.mechanisms.__name__}."
    for place in pkgutil.walk_packages(epsilometer.mechanisms.__path__, prefix):
        module = importlib.import_module(place.name)
        if getattr(module, "ENTRIES", ()):
            found[place.name.removeprefix(prefix).replace(".", "_")] = module
    for point in entry_points(group=ENTRY_POINTS):
        if point.name in found:
            raise EpsilometerError(f"the entry point {point.name} = {point.value} has the name of another family; rename it")
        found[point.name] = _loaded(point)
    return dict(sorted(found.items()))


def _loaded(point: EntryPoint) -> ModuleType:
    """The module of an entry point, if it has entries."""
    try:
        module: ModuleType = point.load()
        entries = tuple(module.ENTRIES)
    except Exception as error:
        raise EpsilometerError(f"the entry point {point.name} = {point.value} cannot be loaded: {error}") from error
    if not entries or not all(isinstance(entry, Entry) for entry in entries):
        raise EpsilometerError(f"{point.value} has no ENTRIES of type Entry; the entry point {point.name} needs some")
    return module


def correct(family: str) -> list[Entry]:
    """The mechanisms of a family that are held to be correct and promise something."""
    if family not in families():
        raise EpsilometerError(f"there is no family {family!r}; there are {', '.join(families())}")
    return [entry for entry in families()[family] if not entry.flaw and entry.build(1.0).guarantee]


def find(name: str) -> Entry:
    """The entry of that `name`; an EpsilometerError that lists all names if there is none.

    >>> entry = find("laplace_count")
    >>> entry.build(0.5).guarantee
    Guarantee(epsilon=0.5, adjacency='replace-one', delta=0.0)
    >>> len(entry.pairs())
    1
    """
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
