"""The generated pages of the documentation follow from the models, and are up to date."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest
from pydantic import BaseModel, Field

from epsilometer.papers.claim import Claim, Decision, Evidence, Measured, Numbers
from epsilometer.papers.paper import Paper
from epsilometer.report.documentation import (
    claims_page,
    configuration_page,
    pages,
    papers_page,
    proofs_page,
    tables_page,
    write_pages,
)

ROOT = Path(__file__).parents[2]


class Grid(BaseModel):
    """A grid of numbers."""

    smallest: float


class Part(BaseModel):
    """A part of the whole."""

    trials: int = Field(ge=8, multiple_of=2, description="Outputs | drawn.")
    csv: Path | None = Field(None, description="A file.")
    grid: Grid


class Settings(BaseModel):
    seed: int = Field(ge=0, description="Root of every random stream.")
    shares: list[float] = Field(description="Shares.")
    part: Part


@dataclass(frozen=True)
class Column:
    meaning: str
    expected: str


@dataclass(frozen=True)
class Kind:
    name: str
    about: str
    columns: dict[str, Column]


def measure(evidence: Evidence) -> Measured:
    return Measured({"seed": float(evidence.seed)})


def decide(numbers: Numbers, tolerances: Numbers) -> Decision:
    return Decision("holds", f"It is {len(numbers)} and {len(tolerances)}.")


def claim(identity: str, **others: object) -> Claim:
    return Claim(identity, "section 1", "The norm |w| is at most 2 < 3.", measure, decide, **others)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", list(pages(ROOT)))
def test_the_page_is_up_to_date(name: str) -> None:
    assert (ROOT / name).read_text(encoding="utf-8") == pages(ROOT)[name](), f"{name} is out of date; run `make docs`"


def test_each_key_has_its_kind_its_meaning_and_its_default() -> None:
    defaults = {"seed": 7, "shares": [0.5], "part": {"trials": 10, "csv": None, "grid": {"smallest": 0.1}}}
    page = configuration_page(Settings, defaults)
    assert "| `seed` | whole number at least 0 | Root of every random stream. | `7` |" in page
    assert "| `shares` | list; each a number | Shares. | `[0.5]` |" in page
    assert "## part\n\nA part of the whole.\n" in page
    assert r"| `part.trials` | whole number at least 8, a multiple of 2 | Outputs \| drawn. | `10` |" in page
    assert "| `part.csv` | path or `null` | A file. | `null` |" in page
    assert "| `part.grid` | `{smallest}` | A grid of numbers. | `{smallest: 0.1}` |" in page


def test_each_table_has_its_columns_and_tables_are_in_order() -> None:
    second = Kind("b/{part}", "The second.", {"x": Column("`a_b` and a_b", "a number, or empty")})
    page = tables_page([second, Kind("a/one", "The first.", {})])
    assert page.index("## results/a/one.csv") < page.index("## results/b/{part}.csv")
    assert r"| `x` | a number, or empty | `a_b` and a\_b |" in page


def test_each_claim_says_from_what_it_is_decided() -> None:
    found = [claim("p-a", needs=("verdicts/catalogue",)), claim("p-b", computes="a search", needs=("tuning/x",))]
    page = claims_page({"p": found, "q": [claim("q-a", computes="a sum")]}, {"p": "A paper", "q": "A course"})
    assert "In all, 3 claims of 2 sources." in page
    assert r"| `p-a` | section 1 | The norm \|w\| is at most 2 &lt; 3. | `verdicts/catalogue` |" in page
    assert "`tuning/x`; computes a search |" in page
    assert "## q\n\nA course: 1 claims.\n" in page


def test_papers_link_to_their_pages_and_proofs_to_their_sections(tmp_path: Path) -> None:
    (tmp_path / "p.md").write_text("# The paper p\n\n## What it says\n")
    (tmp_path / "other.md").write_text("# Another page\n\ntext\n\n## One\n\n### Below\n\n## Two\n")
    page = papers_page({"p": Paper("A paper"), "q": Paper("A study")}, {"p": [claim("p-a", computes="a sum")] * 3}, tmp_path)
    assert "| [p](p.md) | A paper | 3 |" in page
    assert "| `q` | A study |  |" in page
    assert "- [Another page](other.md): One; Two" in page
    assert "[The paper p](p.md): What it says" not in page
    assert "- [The paper p](p.md): What it says" in proofs_page(tmp_path)


def test_only_pages_that_change_are_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = {"docs/a.md": lambda: "new\n", "docs/b.md": lambda: "same\n", "docs/c/d.md": lambda: "missing\n"}
    monkeypatch.setattr("epsilometer.report.documentation.pages", {tmp_path: texts}.__getitem__)
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text("old\n")
    (tmp_path / "docs" / "b.md").write_text("same\n")
    assert write_pages(tmp_path) == ["docs/a.md", "docs/c/d.md"]
    assert write_pages(tmp_path) == []
