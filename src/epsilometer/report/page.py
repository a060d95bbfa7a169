"""The page for reviewers: one HTML file with all figures and tables, built from the results of a run."""

from __future__ import annotations

import base64
import gzip
import json
import math
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from epsilometer.core.tables import written_whole
from epsilometer.evidence.rows import SECONDS
from epsilometer.figures.mechanisms import MECHANISM_CAPTION, OVERVIEW_CAPTION
from epsilometer.figures.membership import ROC_CAPTION, UTILITY, UTILITY_CAPTION, roc_figure
from epsilometer.libraries.registry import library_entries
from epsilometer.mechanisms.catalogue import Entry, families
from epsilometer.membership.attacked import ATTACKS
from epsilometer.membership.batched import MECHANISMS
from epsilometer.membership.targets import TARGETS
from epsilometer.papers.paper import PaperTable
from epsilometer.papers.protocol import METHODS
from epsilometer.papers.registry import datasets, figures_drawn, figures_of, papers, sources
from epsilometer.report import captions
from epsilometer.report.findings import (
    OUTCOMES,
    VERDICTS,
    attack_rows,
    audits_libraries,
    claims,
    count_each,
    findings,
    lead,
    library_promises,
    number,
    promises,
)
from epsilometer.report.promises import CERTIFYING, Promise
from epsilometer.report.run import UNFINISHED, Rows, Run
from epsilometer.report.svg import Figures

FOLDER = Path(__file__).parent
LARGEST_ATTACHMENT = 2_000_000
"""The largest table in bytes that is embedded in the page; larger ones are linked."""


@dataclass(frozen=True)
class Attachments:
    """The figures, tables and witnesses that are embedded in the page, so that it needs no other file."""

    run: Run
    page: Path
    contents: dict[str, str] = field(default_factory=dict)
    figures: Figures = field(default_factory=Figures)

    def link(self, name: str) -> Markup:
        """A link to download a file: the embedded copy or, for a large file or without scripts, the one in the results."""
        path = self.run.path(name)
        if path is None:
            return Markup("<span>{} (missing)</span>").format(name)
        beside = os.path.relpath(path, self.page.parent)
        if path.stat().st_size > LARGEST_ATTACHMENT:
            return Markup('<a href="{}">{}</a> (beside the page)').format(beside, name)
        if name not in self.contents:
            packed = gzip.compress(path.read_bytes(), mtime=0)
            self.contents[name] = base64.b64encode(packed).decode()
        return Markup('<a href="{0}" download="{1}" data-file="{2}">{2}</a>').format(beside, name.replace("/", "_"), name)

    def regeneration(self, targets: Sequence[str], files: Sequence[str]) -> dict[str, Any]:
        """The links to the data of a figure or table, and the command that regenerates it."""
        return {"links": [self.link(name) for name in files], "command": self.run.command(*targets)}


@dataclass(frozen=True)
class ShownFigure:
    """A figure on the page."""

    name: str
    svg: Markup
    """Empty if the figure is missing."""
    caption: str
    regeneration: dict[str, Any]

    @property
    def wide(self) -> bool:
        """Whether it is wider than a phone's screen."""
        return not self.name.startswith("mechanisms/")


def page(*, results: Path, page: Path) -> None:
    """Build the HTML page from the tables and figures; it marks those that are missing."""
    run = Run(results)
    attachments = Attachments(run, page)
    content = _content(run, attachments)
    environment = Environment(
        loader=FileSystemLoader(FOLDER), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["number"] = number
    environment.filters["slug"] = slug
    style, script = ((FOLDER / name).read_text(encoding="utf-8") for name in ("page.css", "page.js"))
    style += attachments.figures.css
    text = environment.get_template("page.html").render(
        **content, gaps=run.gaps, files=Markup(json.dumps(attachments.contents)), style=Markup(style), script=Markup(script)
    )
    with written_whole(page) as file:
        file.write(text)


def slug(text: str) -> str:
    """The text as an id of an element or a name of a class."""
    return "".join(character if character.isalnum() else "-" for character in text)


def _content(run: Run, attachments: Attachments) -> dict[str, Any]:
    decided, audited = claims(run), promises(run)
    seconds = {rule: (len(times), sum(times)) for rule, times in run.seconds.items()}
    return {
        "lead": lead(run),
        "findings": findings(run),
        "outcomes": count_each((row["outcome"] for row in decided), OUTCOMES),
        "verdicts": count_each((promise.verdict for promise in audited), VERDICTS),
        "overview": _captioned_figure(attachments, "mechanisms/overview", OVERVIEW_CAPTION, ["verdicts/catalogue"]),
        "facts": run.facts,
        "jobs": dict(sorted(seconds.items(), key=lambda item: -item[1][1])),
        "papers": [found for paper in papers() if (found := _paper(run, attachments, paper, decided))],
        "cards": list(_cards(run, attachments, audited)),
        "attacks": _attacks(run, attachments),
        "libraries": _libraries(run, attachments),
        "tables": list(_tables(run, attachments)),
        "regeneration_of": {
            name.partition("/")[0]: attachments.regeneration([name], [name])
            for name in ("verdicts/catalogue.csv", "provenance/run.csv")
        },
        "words": {"outcomes": captions.OUTCOMES, "verdicts": captions.VERDICTS},
        "certifying": list(CERTIFYING.values()),
    }


def _captioned_figure(attachments: Attachments, name: str, caption: str, tables: Iterable[str]) -> ShownFigure:
    """A figure whose description is its caption, with its data and its command."""
    return _figure(attachments, name, caption, caption, [f"{table}.csv" for table in tables])


def _figure(attachments: Attachments, name: str, caption: str, description: str, files: Sequence[str]) -> ShownFigure:
    text = attachments.run.figure(name)
    svg = Markup(attachments.figures.inline(text, description)) if text else Markup("")
    return ShownFigure(name, svg, caption, attachments.regeneration([f"figures/{name}.svg"], files))


def _paper(run: Run, attachments: Attachments, paper: str, decided: Rows) -> dict[str, Any] | None:
    """A paper with its claims, tables and figures; None if the run has nothing on it."""
    about, rows = papers()[paper], [row for row in decided if row["source"] == paper]
    shown, claimed = run.datasets_of(paper), paper in sources()
    if figures_of(paper) and not claimed and not figures_drawn(paper, shown):
        return None
    numbers: dict[str, list[tuple[str, float]]] = {}
    for row in run.table(f"ledger/numbers/{paper}") if claimed else []:
        numbers.setdefault(row["id"], []).append((row["number"], row["value"]))
    files = [f"ledger/{paper}.csv", f"ledger/numbers/{paper}.csv"]
    return {
        "source": paper,
        "title": about.title,
        "note": about.note,
        "see": about.see,
        "claimed": claimed,
        "claims": [_claim(attachments, row, numbers.get(row["id"], [])) for row in rows],
        "outcomes": count_each((row["outcome"] for row in rows), OUTCOMES),
        "tables": [_paper_table(run, attachments, table) for table in about.tables],
        "figures": [
            _captioned_figure(attachments, figure.name, figure.caption, figure.tables(shown))
            for figure in figures_drawn(paper, shown)
        ],
        "regeneration": attachments.regeneration(files[:1], files) if claimed else None,
    }


def _paper_table(run: Run, attachments: Attachments, table: PaperTable) -> dict[str, Any]:
    """A table of a paper's experiments, with titles instead of names."""
    titles = {name: dataset.title for name, dataset in datasets().items()} | METHODS
    return {
        "caption": table.caption,
        "heads": list(table.columns.values()),
        "rows": [
            [(head, titles.get(str(row[column]), row[column])) for column, head in table.columns.items()]
            for row in run.table(table.name)
        ],
        "regeneration": attachments.regeneration([f"{table.name}.csv"], [f"{table.name}.csv"]),
    }


def _claim(attachments: Attachments, row: dict[str, Any], numbers: list[tuple[str, float]]) -> dict[str, Any]:
    proof = f"ledger/witnesses/{row['source']}/{row['witness']}" if row["witness"] else ""
    link = row["link"]
    return row | {
        "numbers": numbers,
        "link": attachments.link(link) if link.endswith(".csv") else "",
        "figure": slug(link.removeprefix("figures/").removesuffix(".svg")) if link.endswith(".svg") else "",
        "proof": attachments.link(proof) if proof else "",
        "verify": f"epsilometer verify {attachments.run.results / proof}" if proof else "",
    }


def _cards(run: Run, attachments: Attachments, audited: list[Promise]) -> Iterator[dict[str, Any]]:
    """A card for each mechanism of the catalogue, including those without verdicts."""
    costs = _costs(run, "catalogue")
    for family, entries in families().items():
        files = [f"audit/{family}.csv", "verdicts/catalogue.csv", "privacy_loss/catalogue.csv"]
        for entry in entries:
            own = [promise for promise in audited if promise.mechanism == entry.name]
            yield _card(entry, own) | {
                "family": family,
                "figure": _mechanism_figure(attachments, entry.name, own, files),
                "roc": _roc_figure(attachments, entry.name) if entry.name in MECHANISMS else None,
                "witness": _witness(run, attachments, family, entry.name),
                "costs": [costs[promise.mechanism, promise.promised] for promise in own],
            }


def _card(entry: Entry, own: list[Promise]) -> dict[str, Any]:
    mechanism = entry.build(1.0)
    worst = next((verdict for verdict in VERDICTS if any(promise.verdict == verdict for promise in own)), "left out")
    decisive = [promise for promise in own if promise.verdict == worst]
    return {
        "name": entry.name,
        "title": entry.title[0].upper() + entry.title[1:],
        "source": mechanism.source,
        "flaw": entry.flaw,
        "adjacency": mechanism.guarantee.adjacency if mechanism.guarantee else "",
        "promises": own,
        "verdict": worst,
        "nearest": min(decisive, key=lambda promise: abs(math.log(promise.promised)), default=None),
    }


def _mechanism_figure(attachments: Attachments, name: str, own: list[Promise], files: Sequence[str]) -> ShownFigure:
    spent = "; ".join(f"promised {promise.promised:.4g}, {promise.spent_in_words}, {promise.verdict}" for promise in own)
    return _figure(attachments, f"mechanisms/{name}", MECHANISM_CAPTION, f"{MECHANISM_CAPTION} {spent}.", files)


def _roc_figure(attachments: Attachments, name: str) -> ShownFigure:
    rows = [row for row in attack_rows(attachments.run) if row["mechanism"] == name and row["attack"] == "optimal"]
    certified = "; ".join(
        f"{datasets()[row['dataset']].title}, {TARGETS[row['target']]}: {number(row['certified'], 3)}" for row in rows
    )
    description = f"{ROC_CAPTION} Certified by the {ATTACKS['optimal']}: {certified}."
    files = [f"membership/roc/{dataset}.csv" for dataset in dict.fromkeys(row["dataset"] for row in rows)]
    return _figure(attachments, roc_figure(name), ROC_CAPTION, description, files)


def _witness(run: Run, attachments: Attachments, family: str, name: str) -> dict[str, Any] | None:
    """The witness with the largest log-ratio as a share of the claimed epsilon."""
    found = []
    for path in sorted((run.results / "witnesses" / family).glob(f"{name}_*.json")):
        values = json.loads(path.read_text())
        if values["mechanism"] == name:
            found.append((values["log_ratio"] / values["promised"], path.name, values))
    if not found:
        return None
    _, file, values = max(found, key=lambda each: each[:2])
    place = f"witnesses/{family}/{file}"
    return {
        "promised": values["promised"],
        "log_ratio": values["log_ratio"],
        "reason": values["reason"],
        "adjacency": values["adjacency"],
        "output": _shorten(values["output"]),
        "link": attachments.link(place),
        "verify": f"epsilometer verify {run.results / place}",
    }


def _shorten(output: Any) -> str:
    """An output in one line; only the first numbers of a long one."""
    numbers = output if isinstance(output, list) else [output]
    shown = ", ".join(json.dumps(value) if isinstance(value, list) else f"{value:.6g}" for value in numbers[:6])
    return shown + (f", ... ({len(numbers)} numbers)" if len(numbers) > 6 else "")


def _attacks(run: Run, attachments: Attachments) -> dict[str, Any]:
    """For each mechanism and data set, the attack with the largest certified epsilon."""
    best: dict[tuple[str, str], dict[str, Any]] = {}
    for row in attack_rows(run):
        key = row["mechanism"], row["dataset"]
        if key not in best or row["certified"] > best[key]["certified"]:
            best[key] = row
    names = [f"membership/{dataset}.csv" for dataset in dict.fromkeys(dataset for _, dataset in best)]
    return {
        "rows": [
            row
            | {"mechanism_title": MECHANISMS[row["mechanism"]].title, "dataset_title": datasets()[row["dataset"]].title}
            | {"target_title": TARGETS[row["target"]], "attack_title": ATTACKS[row["attack"]]}
            for row in best.values()
        ],
        "regeneration": attachments.regeneration(names, names),
        "figure": _figure(attachments, UTILITY, UTILITY_CAPTION, UTILITY_CAPTION, names),
    }


def _libraries(run: Run, attachments: Attachments) -> dict[str, Any] | None:
    """The audits of third-party libraries; None if the run was configured to audit none."""
    if not audits_libraries(run):
        return None
    own, costs = library_entries(), _costs(run, "libraries")
    return {
        "rows": [
            {"promise": promise, "title": own[promise.mechanism].title, "flaw": own[promise.mechanism].flaw}
            | {"call": own[promise.mechanism].build(1.0).source, "cost": costs[promise.mechanism, promise.promised]}
            for promise in library_promises(run)
        ],
        "regeneration": attachments.regeneration(["verdicts/libraries.csv"], ["verdicts/libraries.csv"]),
    }


def _costs(run: Run, table: str) -> dict[tuple[str, float], dict[str, float]]:
    """The outputs drawn and the seconds used by the audits of each mechanism and claimed epsilon."""
    costs = {
        (row["mechanism"], row["promised"]): {"trials": row["trials"], "seconds": 0.0}
        for row in run.table(f"verdicts/{table}")
    }
    for path in sorted((run.results / "benchmarks/auditors").glob("*.csv")):
        for row in SECONDS.read(path):
            if cost := costs.get((row["mechanism"], row["promised"])):
                cost["seconds"] += row["seconds"]
    return costs


def _tables(run: Run, attachments: Attachments) -> Iterator[dict[str, Any]]:
    """Every table of the run with its number of rows and its command, except measurements of time."""
    for path in sorted(run.results.rglob("*.csv")):
        name = path.relative_to(run.results).as_posix()
        if not name.startswith(("benchmarks/", "quick/", "validation/", UNFINISHED)) and run.path(name):
            with path.open("rb") as file:
                rows = sum(1 for _ in file) - 1
            yield {"name": name, "link": attachments.link(name), "rows": rows, "command": run.command(name)}
