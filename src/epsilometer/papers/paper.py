"""A paper, or a study of our own: a folder of this package with a module `paper` that has a `PAPER`.

Beside it stand, as far as there are any: `datasets` with `DATASETS`, `experiments` with `EXPERIMENTS`, `figures` with
`FIGURES`, and `claims`, a module or a package with a module for each section of the source.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from epsilometer.layers import unit_of

if TYPE_CHECKING:
    from epsilometer.config import Config

Tables = str | list[str]
"""A table below the results, say "tuning/separable", or several."""


def no_tables(settings: Config, part: str) -> Mapping[str, Tables]:  # noqa: ARG001
    """The needs of an experiment that reads no table."""
    return {}


def no_options(settings: Config, part: str) -> Mapping[str, Any]:  # noqa: ARG001
    """The options of an experiment that has none."""
    return {}


@dataclass(frozen=True)
class PaperTable:
    """A table of an experiment that the page shows whole."""

    name: str
    """Below the results, say "error_summary/nips08"."""
    caption: str
    columns: Mapping[str, str]
    """The columns that are shown, and the head of each."""


@dataclass(frozen=True)
class Paper:
    """What the page says of a source as a whole."""

    title: str
    """Authors, title and place of publication, in a line."""
    order: int = 100
    """Papers are shown in this order, and then by name."""
    datasets: Callable[[Config], Sequence[str]] = lambda _: ()
    """The data sets that its experiments use under a configuration, in the order of its figures' panels."""
    tables: tuple[PaperTable, ...] = ()
    """The tables that the page shows."""
    note: str = ""
    """A remark for the page."""
    see: str = ""
    """The paper that the remark refers to."""


@dataclass(frozen=True)
class Experiment:
    """A rule of the workflow, named after its function: a job for each of its parts, which writes a table."""

    run: Callable[..., None]
    """Writes the table, and further ones; each keyword is an option of the command `epsilometer <name>`."""
    parts: Callable[[Config], Sequence[str]]
    """The names of its tables under a configuration: one job writes <name>/<part>.csv."""
    needs: Callable[[Config, str], Mapping[str, Tables]] = no_tables
    """The tables that the job of a part reads, by the option that takes them."""
    options: Callable[[Config, str], Mapping[str, Any]] = no_options
    """All other options of the job of a part."""
    also: Mapping[str, str] = field(default_factory=dict)
    """Further tables that a job writes, by option; "{part}" stands for its part."""
    message: str = ""
    """What a job does, for the log of the workflow; "{part}" stands for its part."""
    caption: str = ""
    """What its table shows, if Snakemake's own report should include it."""
    megabytes: int = 500
    """Memory that a job may use."""

    @property
    def name(self) -> str:
        return self.run.__name__

    @property
    def unit(self) -> str:
        """The unit of code that its function stands in (see `layers`)."""
        return unit_of(self.run.__module__)
