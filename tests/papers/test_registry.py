"""Papers are found by their folders: in order, with what stands beside them, and two things of one name are refused."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path

import pytest
import yaml

import epsilometer.papers
from epsilometer.config import Config, load_config
from epsilometer.core import EpsilometerError
from epsilometer.core.tables import TABLES
from epsilometer.data import DATASETS
from epsilometer.papers import registry
from epsilometer.papers.drawing import figures
from epsilometer.papers.preparing import dataset
from epsilometer.papers.tuning import tuning

ROOT = Path(__file__).parents[2]
CACHED = [function for function in vars(registry).values() if hasattr(function, "cache_clear")]
PAPER = "from epsilometer.papers.paper import Paper\nPAPER = Paper('A paper', order={order})\n"
CLAIM = """
from epsilometer.papers.claim import Claim, Decision, Measured
{name} = Claim({id!r}, "section 1", "There is one number, and it is one.", lambda _: Measured({{"one": 1.0}}),
               lambda numbers, _: Decision("holds", f"It is {{numbers['one']}}."), computes="one")
"""
TUNING = """
from epsilometer.papers.paper import Experiment
from epsilometer.papers.tuning import tuning
EXPERIMENTS = (Experiment(tuning, parts=lambda _: ["mine"]),)
"""
OTHER_TUNING = """
from epsilometer.papers.paper import Experiment
def tuning() -> None: ...
EXPERIMENTS = (Experiment(tuning, parts=lambda _: ["mine"]),)
"""
FIGURES = """
from epsilometer.figures.figure import Figure
FIGURES = (Figure("whole", print, ("tuning/separable",), "One."), Figure("panels", print, ("tuning/{dataset}",), "Two."))
"""
DATASETS_OF_ITS_OWN = """
import numpy as np
from epsilometer.core import LabelledData
from epsilometer.data import DataSet
def read():
    return LabelledData(np.linspace(-1, 1, 40)[:, None], np.where(np.arange(40) < 20, -1.0, 1.0))
DATASETS = (DataSet("line", "Numbers on a line", read=read),)
"""

Write = Callable[..., None]


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Write]:
    """What writes the files of a paper into a folder that counts as part of the package of papers, for one test."""
    root = tmp_path / "papers"
    root.mkdir()
    tables = dict(registry.all_tables())

    def forget() -> None:
        for function in CACHED:
            function.cache_clear()
        importlib.invalidate_caches()

    def write(name: str, further: Mapping[str, str] | None = None, **modules: str) -> None:
        for path, text in {"__init__": "", **modules, **(further or {})}.items():
            file = root / name / f"{path}.py"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        forget()

    monkeypatch.setattr(epsilometer.papers, "__path__", [*epsilometer.papers.__path__, str(root)])
    yield write
    monkeypatch.undo()
    for folder in root.iterdir():
        vars(epsilometer.papers).pop(folder.name, None)
        name = f"{epsilometer.papers.__name__}.{folder.name}"
        for module in [each for each in sys.modules if f"{each}.".startswith(f"{name}.")]:
            del sys.modules[module]
    TABLES.clear()
    TABLES.update(tables)
    forget()


def paper(order: int = 100) -> str:
    return PAPER.format(order=order)


def claim(identity: str, name: str = "ONE") -> str:
    return CLAIM.format(id=identity, name=name)


@pytest.fixture
def settings() -> Config:
    return load_config(yaml.safe_load((ROOT / "config/config.yaml").read_text()))


def without_datasets(settings: Config) -> Config:
    """The same configuration, for a run of the extension on no data at all."""
    return settings.model_copy(update={"extension": settings.extension.model_copy(update={"datasets": [], "csv": None})})


def test_every_folder_with_a_paper_is_one_in_their_order(write: Write) -> None:
    here = list(registry.papers())
    assert (
        {"nips08", "extension"}
        <= set(here)
        == {path.parent.name for path in (ROOT / "src/epsilometer/papers").glob("*/paper.py")}
    )
    write("first_of_all", paper=paper(order=-1))
    write("zebra", paper=paper(order=1))
    write("not_a_paper", helpers="")
    found = registry.papers()
    assert list(found) == ["first_of_all", "nips08", "zebra", *here[1:]], "by order, and by name where that is equal"
    assert [each.order for each in found.values()] == sorted(each.order for each in found.values())


def test_a_paper_with_claims_is_a_source(write: Write) -> None:
    here = registry.sources()
    write("claimless", paper=paper(order=-2))
    write("quoted", paper=paper(order=-1), claims=claim("quoted-one"))
    assert registry.sources() == ["quoted", *here]
    assert list(registry.claims_of("quoted")) == ["one"]
    with pytest.raises(EpsilometerError, match=r"^there is no source 'claimless'; there are quoted, nips08, "):
        registry.a_source("claimless")


def test_claims_are_found_section_by_section_in_their_order(write: Write) -> None:
    sections = {
        "claims/__init__": "",
        "claims/s2_end": claim("quoted-end", "END"),
        "claims/s1_start": claim("quoted-start", "START") + claim("quoted-before", "A_BEFORE"),
        "claims/shared": "NUMBER = 1\n",
    }
    write("quoted", sections, paper=paper())
    assert list(registry.claims_of("quoted")) == ["start", "a_before", "end"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (claim("another-one"), "the claim another-one stands in the folder of quoted; its id must begin with that"),
        (claim("quoted-one") + claim("quoted-one", "TWO"), "quoted has two claims quoted-one, or two constants TWO"),
        (claim("quoted-one", "ONE") + claim("quoted-two", "One"), "quoted has two claims quoted-two, or two constants One"),
    ],
)
def test_claims_of_one_name_or_of_another_paper_are_refused(write: Write, text: str, message: str) -> None:
    write("quoted", paper=paper(), claims=text)
    with pytest.raises(ValueError, match=f"^{message}$"):
        registry.claims_of("quoted")


def test_papers_may_share_an_experiment_if_they_share_its_function(write: Write, settings: Config) -> None:
    assert {each.run for each in registry.experiments()["tuning"].values()} == {tuning}
    write("another", paper=paper(), experiments=TUNING)
    assert set(registry.experiments()["tuning"]) == {"nips08", "extension", "another"}
    parts = registry.parts_of("tuning", settings)
    assert list(parts) == ["separable", "unseparable", *settings.extension_datasets, "mine"]
    assert parts["mine"] is registry.experiments()["tuning"]["another"]


def test_experiments_of_one_name_and_two_functions_are_refused(write: Write) -> None:
    write("another", paper=paper(), experiments=OTHER_TUNING)
    with pytest.raises(ValueError, match=r"^another has an experiment tuning, as nips08 has; rename one$"):
        registry.experiments()


def test_the_tables_of_a_paper_are_known_once_it_is_there(write: Write) -> None:
    words = "there is no kind of table for spreads/any"
    with pytest.raises(EpsilometerError, match=words):
        registry.kind_of_table("spreads/any")
    table = """
from typing import Annotated, TypedDict
from epsilometer.core.tables import Table
class Row(TypedDict):
    spread: Annotated[float, "spread"]
SPREADS = Table("spreads/{dataset}", Row)
"""
    write("another", paper=paper(), experiments=table)
    assert registry.kind_of_table("spreads/any").name == "spreads/{dataset}"
    with pytest.raises(EpsilometerError, match="there is no kind of table for spreads/any/more"):
        registry.kind_of_table("spreads/any/more")


def test_two_kinds_of_table_of_one_name_are_refused(write: Write) -> None:
    table = "from epsilometer.core.tables import Table\nfrom epsilometer.papers.tuning import TuningRow\n"
    write("another", paper=paper(), experiments=f'{table}Table("tuning/{{dataset}}", TuningRow)\n')
    with pytest.raises(ValueError, match=r"^there are two kinds of table called tuning/\{dataset\}$"):
        registry.all_tables()


def test_figures_of_data_sets_are_not_shown_without_any(settings: Config) -> None:
    shown = {figure.name for figure in registry.figures_shown("extension", settings)}
    assert shown == {figure.name for figure in registry.figures_of("extension")} != set()
    left = registry.figures_shown("extension", without_datasets(settings))
    assert left == tuple(figure for figure in registry.figures_of("extension") if not figure.shows_datasets)
    assert registry.figures_shown("anonymised_tables", without_datasets(settings)), "it shows none in any run"
    assert registry.figures_shown("review", settings) == ()


def test_a_figure_without_panels_for_data_sets_is_always_shown(write: Write, settings: Config) -> None:
    write("another", paper=paper(), figures=FIGURES)
    assert [figure.name for figure in registry.figures_of("another")] == ["whole", "panels"]
    assert [figure.name for figure in registry.figures_shown("another", settings)] == ["whole"], "it uses no data set"
    assert [figure.name for figure in registry.figures_drawn("another", ["separable"])] == ["whole", "panels"]
    panels = registry.figures_of("another")[1]
    assert panels.tables(["separable", "small"]) == ["tuning/separable", "tuning/small"]
    assert panels.tables([]) == []


def test_a_paper_may_bring_data_sets(write: Write, tmp_path: Path) -> None:
    prepare = partial(dataset, holdout=0.25, folds=2, seed=1)
    with pytest.raises(EpsilometerError, match=f"^there is no data set 'line'; there are {', '.join(DATASETS)}$"):
        prepare("line", table=tmp_path / "line.csv")
    write("another", paper=paper(), datasets=DATASETS_OF_ITS_OWN)
    assert list(registry.datasets()) == [*DATASETS, "line"]
    assert registry.units_of_dataset("line") == ["papers/another/datasets"]
    assert registry.units_of_dataset("separable") == []
    prepare("line", table=tmp_path / "line.csv")
    parts = [line.split(",")[0] for line in (tmp_path / "line.csv").read_text().splitlines()]
    assert (parts.count("holdout"), parts.count("experiment")) == (10, 30)


def test_figures_are_drawn_from_tables_of_the_right_kind_alone(tmp_path: Path) -> None:
    """A table of errors in the place of a tuning table leaves no figure behind."""
    draw = partial(figures, "extension", results=tmp_path, folder=tmp_path / "figures", datasets=["breast_cancer"])
    with pytest.raises(EpsilometerError, match=r"cannot read the table .*/\w+/\w+\.csv: No such file or directory$"):
        draw()
    for figure in registry.figures_of("extension"):
        for name in figure.tables(["breast_cancer"]):
            (tmp_path / name).parent.mkdir(exist_ok=True)
            (tmp_path / f"{name}.csv").write_text("dataset,surprise\nbreast_cancer,1\n")
    with pytest.raises(EpsilometerError, match=r"\.csv has no column \w+; it is no table of \w+/\{\w+\}$"):
        draw()
    assert not list(tmp_path.glob("figures/*.svg"))


def test_unknown_names_are_sentences(tmp_path: Path) -> None:
    with pytest.raises(EpsilometerError, match=r"^there is no paper 'nips09'; there are nips08, "):
        figures("nips09", results=tmp_path, folder=tmp_path)
    with pytest.raises(EpsilometerError, match=r"^there is no data set 'iris'; there are separable, "):
        figures("extension", results=tmp_path, folder=tmp_path, datasets=["iris"])
