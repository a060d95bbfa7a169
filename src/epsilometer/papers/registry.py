"""The papers that there are: every folder of this package with a module `paper`.

Nothing else lists them. The workflow's rules, the ledger, the page and the command line ask here.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Collection
from functools import cache
from importlib.util import find_spec
from types import ModuleType
from typing import TYPE_CHECKING, Any

import epsilometer.papers
from epsilometer.core import EpsilometerError
from epsilometer.core.tables import TABLES, Table, find_table
from epsilometer.data import DATASETS, DataSet
from epsilometer.figures.figure import Figure
from epsilometer.papers.claim import Claim
from epsilometer.papers.paper import Experiment, Paper

if TYPE_CHECKING:
    from epsilometer.config import Config


WITH_TABLES = (
    "data.prepare",
    "membership.rows",
    "evidence.rows",
    "evidence.validation",
    "papers.ledger",
    "report.provenance",
    "report.run",
)
"""The modules outside of papers that have tables."""


@cache
def papers() -> dict[str, Paper]:
    """Every paper and study by the name of its folder, in the order in which they are shown."""
    found = {}
    for module in pkgutil.iter_modules(epsilometer.papers.__path__):
        if module.ispkg and (loaded := _part(module.name, "paper")):
            found[module.name] = loaded.PAPER
    return dict(sorted(found.items(), key=lambda item: (item[1].order, item[0])))


@cache
def sources() -> list[str]:
    """The papers that have claims, in order."""
    return [paper for paper in papers() if find_spec(f"epsilometer.papers.{paper}.claims")]


def a_source(name: str) -> str:
    """The name, if it is that of a paper with claims."""
    if name not in sources():
        raise EpsilometerError(f"there is no source {name!r}; there are {', '.join(sources())}")
    return name


@cache
def claims_of(paper: str) -> dict[str, Claim]:
    """The claims of a paper by the names of their constants in lower case: section by section, in the modules' order."""
    found: dict[str, Claim] = {}
    identities = set()
    for module in _claim_modules(paper):
        for name, claim in vars(module).items():
            if not isinstance(claim, Claim):
                continue
            if not claim.id.startswith(f"{paper}-"):
                raise ValueError(f"the claim {claim.id} stands in the folder of {paper}; its id must begin with that")
            if claim.id in identities or name.lower() in found:
                raise ValueError(f"{paper} has two claims {claim.id}, or two constants {name}")
            identities.add(claim.id)
            found[name.lower()] = claim
    return found


def _claim_modules(paper: str) -> list[ModuleType]:
    """The module of claims, or those of the package of claims, by name."""
    module = importlib.import_module(f"epsilometer.papers.{paper}.claims")
    names = sorted(each.name for each in pkgutil.iter_modules(getattr(module, "__path__", ())))
    return [module, *(importlib.import_module(f"{module.__name__}.{name}") for name in names)]


def needed_by_claims(paper: str) -> list[str]:
    """The tables that a paper's claims read."""
    return list(dict.fromkeys(table for claim in claims_of(paper).values() for table in claim.needs))


@cache
def experiments() -> dict[str, dict[str, Experiment]]:
    """Every experiment by its name and by paper: papers that share a protocol have experiments of one name."""
    found: dict[str, dict[str, Experiment]] = {}
    for paper in papers():
        for experiment in getattr(_part(paper, "experiments"), "EXPERIMENTS", ()):
            others = found.setdefault(experiment.name, {})
            if any(other.run is not experiment.run for other in others.values()):
                raise ValueError(f"{paper} has an experiment {experiment.name}, as {next(iter(others))} has; rename one")
            others[paper] = experiment
    return found


def parts_of(experiment: str, settings: Config) -> dict[str, Experiment]:
    """The parts of an experiment under a configuration, each with the paper's own version of it."""
    return {part: each for each in experiments()[experiment].values() for part in each.parts(settings)}


@cache
def figures_of(paper: str) -> tuple[Figure, ...]:
    """The figures of a paper, in order."""
    return tuple(getattr(_part(paper, "figures"), "FIGURES", ()))


def figures_shown(paper: str, settings: Config) -> tuple[Figure, ...]:
    """The figures of a paper under a configuration: none where figures show data sets, and there is none to show."""
    return figures_drawn(paper, papers()[paper].datasets(settings))


def figures_drawn(paper: str, shown: Collection[str]) -> tuple[Figure, ...]:
    """The figures of a paper that can be drawn if these data sets are shown."""
    return tuple(figure for figure in figures_of(paper) if shown or not figure.shows_datasets)


@cache
def datasets() -> dict[str, DataSet]:
    """Every data set by name: those of the package, and those that papers bring."""
    return DATASETS | {name: dataset for own in _own_datasets().values() for name, dataset in own.items()}


def units_of_dataset(name: str) -> list[str]:
    """The unit of code that brings a data set, if that is a paper's (see `layers`)."""
    return [f"papers/{paper}/datasets" for paper, own in _own_datasets().items() if name in own]


@cache
def _own_datasets() -> dict[str, dict[str, DataSet]]:
    """The data sets that papers bring, by paper and name."""
    return {
        paper: {dataset.name: dataset for dataset in getattr(_part(paper, "datasets"), "DATASETS", ())} for paper in papers()
    }


def _part(paper: str, name: str) -> ModuleType | None:
    """A module of a paper's folder, if there is one."""
    whole = f"epsilometer.papers.{paper}.{name}"
    return importlib.import_module(whole) if find_spec(whole) else None


def kind_of_table(name: str) -> Table[Any]:
    """The model of a table of the workflow, say "tuning/separable", whichever layer or paper it comes from."""
    all_tables()
    return find_table(name)


def all_tables() -> dict[str, Table[Any]]:
    """Every kind of table of the package and of the papers, by name; modules register theirs when they are imported."""
    for module in WITH_TABLES:
        importlib.import_module(f"epsilometer.{module}")
    experiments()
    return TABLES
