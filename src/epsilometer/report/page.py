"""The page that a reviewer reads: one file with all figures and tables in it, built from what a run left behind."""

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

from epsilometer.claims.ledger import SOURCES
from epsilometer.core.tables import written_whole
from epsilometer.figures.names import ATTACKS, DATASETS, MECHANISMS, METHODS, TARGETS
from epsilometer.libraries.catalogue import library_entries
from epsilometer.mechanisms.catalogue import Entry, families
from epsilometer.report import captions
from epsilometer.report.findings import (
    OUTCOMES,
    VERDICTS,
    attack_rows,
    audits_libraries,
    claims,
    counted,
    findings,
    lead,
    library_promises,
    number,
    promises,
)
from epsilometer.report.promises import Promise
from epsilometer.report.run import UNFINISHED, Rows, Run
from epsilometer.report.svg import Figures

FOLDER = Path(__file__).parent
LARGEST = 2_000_000
"""Bytes; a larger table is not put into the page but linked beside it."""


@dataclass(frozen=True)
class Attachments:
    """The figures, tables and witnesses that are put into the page, so that it can leave the folder of results behind."""

    run: Run
    page: Path
    contents: dict[str, str] = field(default_factory=dict)
    figures: Figures = field(default_factory=Figures)

    def link(self, name: str) -> Markup:
        """A link that saves the file: the copy in the page or, without scripts or for a large one, that beside the page."""
        path = self.run.path(name)
        if path is None:
            return Markup("<span>{} (missing)</span>").format(name)
        beside = os.path.relpath(path, self.page.parent)
        if path.stat().st_size > LARGEST:
            return Markup('<a href="{}">{}</a> (beside the page)').format(beside, name)
        if name not in self.contents:
            packed = gzip.compress(path.read_bytes(), mtime=0)
            self.contents[name] = base64.b64encode(packed).decode()
        return Markup('<a href="{0}" download="{1}" data-file="{2}">{2}</a>').format(beside, name.replace("/", "_"), name)

    def again(self, targets: Sequence[str], files: Sequence[str]) -> dict[str, Any]:
        """What stands below a figure or table: its data, and the command that makes it anew."""
        return {"links": [self.link(name) for name in files], "command": self.run.command(*targets)}


@dataclass(frozen=True)
class Shown:
    """A figure on the page."""

    name: str
    svg: Markup
    """Empty where there is none."""
    caption: str
    again: dict[str, Any]

    @property
    def wide(self) -> bool:
        """Whether a phone must show it smaller than it is."""
        return not self.name.startswith("mechanisms/")


def page(results: Path, output: Path) -> None:
    """Build the page, with gaps where a table or figure is missing."""
    run = Run(results)
    attachments = Attachments(run, output)
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
    with written_whole(output) as file:
        file.write(text)


def slug(text: str) -> str:
    """The text as a name for an element or a style."""
    return "".join(character if character.isalnum() else "-" for character in text)


def _content(run: Run, attachments: Attachments) -> dict[str, Any]:
    decided, audited = claims(run), promises(run)
    seconds = {rule: (len(times), sum(times)) for rule, times in run.seconds.items()}
    return {
        "lead": lead(run),
        "findings": findings(run),
        "outcomes": counted((row["outcome"] for row in decided), OUTCOMES),
        "verdicts": counted((promise.verdict for promise in audited), VERDICTS),
        "overview": _shown(attachments, "mechanisms/overview"),
        "facts": run.facts,
        "jobs": dict(sorted(seconds.items(), key=lambda item: -item[1][1])),
        "papers": [_paper(run, attachments, source, decided) for source in SOURCES],
        "extension": _extension(run, attachments),
        "printed": _printed(run, attachments, "nips08"),
        "recovered": _recovered(run, attachments),
        "cards": list(_cards(run, attachments, audited)),
        "attacks": _attacks(run, attachments),
        "libraries": _libraries(run, attachments),
        "tables": list(_tables(run, attachments)),
        "again_of": {
            name.partition("/")[0]: attachments.again([name], [name])
            for name in ("verdicts/catalogue.csv", "provenance/run.csv")
        },
        "words": {"outcomes": captions.OUTCOMES, "verdicts": captions.VERDICTS},
        "methods": METHODS,
        "datasets": DATASETS,
    }


def _shown(attachments: Attachments, name: str, datasets: Iterable[str] = ()) -> Shown:
    """A figure with its caption, its data and its command."""
    caption, patterns = captions.FIGURES[name]
    of_each = {pattern: datasets if "{dataset}" in pattern else [""] for pattern in patterns}
    files = [pattern.format(dataset=dataset) for pattern, names in of_each.items() for dataset in names]
    return _figure(attachments, name, caption, caption, files)


def _figure(attachments: Attachments, name: str, caption: str, description: str, files: Sequence[str]) -> Shown:
    text = attachments.run.figure(name)
    svg = Markup(attachments.figures.inline(text, description)) if text else Markup("")
    return Shown(name, svg, caption, attachments.again([f"figures/{name}.svg"], files))


def _paper(run: Run, attachments: Attachments, source: str, decided: Rows) -> dict[str, Any]:
    """A source: its claims with their evidence, and its figures beside what is printed."""
    rows = [row for row in decided if row["source"] == source]
    numbers: dict[str, list[tuple[str, float]]] = {}
    for row in run.table(f"ledger/numbers/{source}"):
        numbers.setdefault(row["id"], []).append((row["number"], row["value"]))
    return {
        "source": source,
        "title": captions.SOURCES[source],
        "claims": [_claim(attachments, row, numbers.get(row["id"], [])) for row in rows],
        "outcomes": counted((row["outcome"] for row in rows), OUTCOMES),
        "figures": [_shown(attachments, name) for name in captions.FIGURES_OF[source]],
        "again": attachments.again([f"ledger/{source}.csv"], [f"ledger/{source}.csv", f"ledger/numbers/{source}.csv"]),
    }


def _claim(attachments: Attachments, row: dict[str, Any], numbers: list[tuple[str, float]]) -> dict[str, Any]:
    words = {key: value if isinstance(value, str) else "" for key, value in row.items()}
    proof = f"ledger/witnesses/{row['source']}/{words['witness']}" if words["witness"] else ""
    link = words["link"]
    return words | {
        "factor": row["factor"],
        "numbers": numbers,
        "link": attachments.link(link) if link.endswith(".csv") else "",
        "figure": slug(link.removeprefix("figures/").removesuffix(".svg")) if link.endswith(".svg") else "",
        "proof": attachments.link(proof) if proof else "",
        "verify": f"epsilometer verify {attachments.run.results / proof}" if proof else "",
    }


def _extension(run: Run, attachments: Attachments) -> dict[str, Any] | None:
    """The same protocol on other data, if there are any."""
    if run.facts["setting"].get("extension.datasets") == "[]" and run.facts["setting"]["extension.csv"] == "None":
        return None
    table = _printed(run, attachments, "extension")
    datasets = dict.fromkeys(row["dataset"] for row in table["rows"])
    return {
        "table": table,
        "figures": [_shown(attachments, name, datasets) for name in captions.FIGURES_OF["extension"]],
    }


def _printed(run: Run, attachments: Attachments, paper: str) -> dict[str, Any]:
    """Mean test errors beside the printed ones."""
    name = f"error_summary/{paper}.csv"
    return {"rows": run.table(f"error_summary/{paper}"), "again": attachments.again([name], [name])}


def _recovered(run: Run, attachments: Attachments) -> dict[str, Any]:
    """The epsilons at which the printed errors come out."""
    name = "recovered_epsilon/nips08.csv"
    return {"rows": run.table("recovered_epsilon/nips08"), "again": attachments.again([name], [name])}


def _cards(run: Run, attachments: Attachments, audited: list[Promise]) -> Iterator[dict[str, Any]]:
    """A card for each mechanism of the catalogue, audited or left out."""
    costs = _costs(run, "catalogue")
    for family, entries in families().items():
        files = [f"audit/{family}.csv", "verdicts/catalogue.csv", "privacy_loss/catalogue.csv"]
        for entry in entries:
            own = [promise for promise in audited if promise.mechanism == entry.name]
            yield _card(entry, own) | {
                "family": family,
                "figure": _shown_mechanism(attachments, entry.name, own, files),
                "roc": _shown_roc(attachments, entry.name) if entry.name in MECHANISMS else None,
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


def _shown_mechanism(attachments: Attachments, name: str, own: list[Promise], files: Sequence[str]) -> Shown:
    spent = "; ".join(f"promised {promise.promised:.4g}, {promise.spent}, {promise.verdict}" for promise in own)
    return _figure(attachments, f"mechanisms/{name}", captions.MECHANISM, f"{captions.MECHANISM} {spent}.", files)


def _shown_roc(attachments: Attachments, name: str) -> Shown:
    rows = [row for row in attack_rows(attachments.run) if row["mechanism"] == name and row["attack"] == "optimal"]
    certified = "; ".join(
        f"{DATASETS[row['dataset']]}, {TARGETS[row['target']]}: {number(row['certified_epsilon'], 3)}" for row in rows
    )
    description = f"{captions.ROC} Certified by the {ATTACKS['optimal']}: {certified}."
    files = [f"membership/roc/{dataset}.csv" for dataset in dict.fromkeys(row["dataset"] for row in rows)]
    return _figure(attachments, f"membership_roc_{name}", captions.ROC, description, files)


def _witness(run: Run, attachments: Attachments, family: str, name: str) -> dict[str, Any] | None:
    """The witness that goes furthest beyond its promise, or comes nearest to it."""
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
        "output": _brief(values["output"]),
        "link": attachments.link(place),
        "verify": f"epsilometer verify {run.results / place}",
    }


def _brief(output: Any) -> str:
    """An output in a line; of a long one, the beginning."""
    numbers = output if isinstance(output, list) else [output]
    shown = ", ".join(json.dumps(value) if isinstance(value, list) else f"{value:.6g}" for value in numbers[:6])
    return shown + (f", ... ({len(numbers)} numbers)" if len(numbers) > 6 else "")


def _attacks(run: Run, attachments: Attachments) -> dict[str, Any]:
    """For each mechanism and data set, the attack that certifies most."""
    best: dict[tuple[str, str], dict[str, Any]] = {}
    for row in attack_rows(run):
        key = row["mechanism"], row["dataset"]
        if key not in best or row["certified_epsilon"] > best[key]["certified_epsilon"]:
            best[key] = row
    datasets = dict.fromkeys(dataset for _, dataset in best)
    names = [f"membership/{dataset}.csv" for dataset in datasets]
    return {
        "rows": [
            row
            | {"mechanism_title": MECHANISMS[row["mechanism"]], "dataset_title": DATASETS[row["dataset"]]}
            | {"target_title": TARGETS[row["target"]], "attack_title": ATTACKS[row["attack"]]}
            for row in best.values()
        ],
        "again": attachments.again(names, names),
        "figures": [_shown(attachments, name, datasets) for name in ("membership_utility", "anonymised_tables")],
    }


def _libraries(run: Run, attachments: Attachments) -> dict[str, Any] | None:
    """What was audited of other people's libraries, and what came out; nothing if the run was to audit none."""
    if not audits_libraries(run):
        return None
    own, costs = library_entries(), _costs(run, "libraries")
    return {
        "rows": [
            {"promise": promise, "title": own[promise.mechanism].title, "flaw": own[promise.mechanism].flaw}
            | {"call": own[promise.mechanism].build(1.0).source, "cost": costs[promise.mechanism, promise.promised]}
            for promise in library_promises(run)
        ],
        "again": attachments.again(["verdicts/libraries.csv"], ["verdicts/libraries.csv"]),
    }


def _costs(run: Run, table: str) -> dict[tuple[str, float], dict[str, Any]]:
    """The rows of a table of verdicts, with what the audits cost, by mechanism and promised epsilon."""
    return {(row["mechanism"], row["promised"]): row for row in run.table(f"verdicts/{table}")}


def _tables(run: Run, attachments: Attachments) -> Iterator[dict[str, Any]]:
    """Every table of the run, with its size and its command; not the measurements of time."""
    for path in sorted(run.results.rglob("*.csv")):
        name = path.relative_to(run.results).as_posix()
        if not name.startswith(("benchmarks/", "quick/", "validation/", UNFINISHED)) and run.path(name):
            with path.open("rb") as file:
                rows = sum(1 for _ in file) - 1
            yield {"name": name, "link": attachments.link(name), "rows": rows, "command": run.command(name)}
