"""The page's first screen in Markdown, for the summary of a CI job."""

from __future__ import annotations

from pathlib import Path

from epsilometer.report.findings import OUTCOMES, VERDICTS, claims, count_each, findings, lead, promises
from epsilometer.report.run import Run


def summary(results: Path) -> str:
    """The summary in Markdown: counts of outcomes and verdicts, findings, missing files, and the commit."""
    run = Run(results)
    outcomes = count_each((row["outcome"] for row in claims(run)), OUTCOMES)
    verdicts = count_each((promise.verdict for promise in promises(run)), VERDICTS)
    lines = [
        "# Epsilometer",
        "",
        lead(run),
        "",
        *_table("claims", outcomes),
        "",
        *_table("promises", verdicts),
        "",
        "## Findings",
        "",
    ]
    lines += [f"- **{found.verdict}** ({found.place}): {found.claim} {found.sentence}" for found in findings(run)]
    if run.gaps:
        lines += ["", f"## Missing: {len(run.gaps)}", "", *(f"- `{gap.path}`: {gap.why}" for gap in run.gaps)]
    lines += ["", f"Commit {run.facts['code']['commit']}, seed {run.facts['setting']['seed']}."]
    return "\n".join(lines)


def _table(what: str, counts: dict[str, int]) -> list[str]:
    cells = [what, *counts], ["---"] * (len(counts) + 1), [str(sum(counts.values())), *map(str, counts.values())]
    return [f"| {' | '.join(row)} |" for row in cells]
