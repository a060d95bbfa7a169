"""A figure as one record: the function that draws it, the tables that it needs, and its caption.

The rule that draws it, the page, and Snakemake's own report are built from this record.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from epsilometer.core.tables import find_table, written_whole

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Tables:
    """The tables that a figure may read, and the data sets that it shows, in order."""

    results: Path
    titles: Mapping[str, str]
    """The title of each data set, in the order in which they are shown."""
    names: tuple[str, ...]

    @property
    def datasets(self) -> list[str]:
        return list(self.titles)

    def read(self, name: str) -> pd.DataFrame:
        """The rows of a table, for example "tuning/separable"."""
        import pandas as pd

        if name not in self.names:
            raise ValueError(f"the figure reads the table {name}, which its `needs` do not name")
        return pd.DataFrame(find_table(name).read(self.results / f"{name}.csv"))


@dataclass(frozen=True)
class Figure:
    """A figure that is drawn from tables."""

    name: str
    """The figure is written to figures/<name>.svg below the results."""
    draw: Callable[[Tables, Path], None]
    """Takes the tables and the file to write."""
    needs: tuple[str, ...]
    """The names of the tables that it reads; "{dataset}" stands for each data set that is shown."""
    caption: str

    @property
    def shows_datasets(self) -> bool:
        """Whether it has a panel for each data set."""
        return any("{dataset}" in table for table in self.needs)

    def tables(self, datasets: Sequence[str]) -> list[str]:
        """The names of the tables that it reads, for the given data sets."""
        return [
            table.format(dataset=dataset) for table in self.needs for dataset in (datasets if "{dataset}" in table else [""])
        ]


def draw_all(figures: Iterable[Figure], results: Path, titles: Mapping[str, str], folder: Path) -> None:
    """Draw figures into a folder, each with a file of its caption for Snakemake's report."""
    folder.mkdir(parents=True, exist_ok=True)
    for figure in figures:
        names = tuple(figure.tables(list(titles)))
        figure.draw(Tables(results, titles, names), folder / f"{figure.name}.svg")
        write_caption(folder / f"{figure.name}.rst", figure.caption)


def write_caption(path: Path, caption: str) -> None:
    """Write the caption of a figure, for Snakemake's report."""
    with written_whole(path) as file:
        file.write(f"{caption}\n")
