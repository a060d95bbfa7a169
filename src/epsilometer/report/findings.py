"""What matters most in a run, in sentences with their numbers; for the page and for the summary in Markdown."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, get_args

from epsilometer.audits.confidence import holm
from epsilometer.audits.membership.roc import CONFIDENCE
from epsilometer.claims.ledger import SOURCES, Outcome
from epsilometer.core import Verdict
from epsilometer.figures.names import ATTACKS, DATASETS, MECHANISMS, TARGETS
from epsilometer.mechanisms.catalogue import catalogue
from epsilometer.report.promises import Promise, load_promises
from epsilometer.report.run import Rows, Run

OUTCOMES: tuple[str, ...] = get_args(Outcome)
VERDICTS: tuple[str, ...] = get_args(Verdict)
SEVERITY = ("fails as printed", "violated", "not reproduced", "underspecified", "reproduced", "holds, loosely", "holds")
"""Verdicts, from those that a reader must know to those that change nothing; all others come last."""


@dataclass(frozen=True)
class Finding:
    """One thing that a reader should know: what was claimed or promised, and what was found."""

    verdict: str
    place: str
    """Where it was claimed, or who found it."""
    claim: str
    sentence: str
    """What was found."""
    anchor: str
    """Where on the page there is more of it."""


def number(value: float, digits: int = 4) -> str:
    """A number as readers write it; nothing for nan."""
    if isinstance(value, float) and not math.isfinite(value):
        return "" if math.isnan(value) else "∞"
    return f"{value:,}" if isinstance(value, int) else f"{value:.{digits}g}"


@cache
def claims(run: Run) -> Rows:
    """The decisions on all claims, source by source."""
    return run.tables("ledger", SOURCES)


@cache
def promises(run: Run, table: str = "catalogue") -> list[Promise]:
    """The verdicts on all mechanisms."""
    path = run.path(f"verdicts/{table}.csv")
    return list(load_promises(path).values()) if path else []


def audits_libraries(run: Run) -> bool:
    """Whether the run was to audit any third-party library."""
    return run.facts["setting"]["libraries.names"] != "[]"


def library_promises(run: Run) -> list[Promise]:
    """The verdicts on third-party libraries."""
    return promises(run, "libraries") if audits_libraries(run) else []


def counted(values: Iterable[str], names: Iterable[str]) -> dict[str, int]:
    """How often each of the names occurs."""
    found = Counter(values)
    return {name: found[name] for name in names}


@cache
def attack_rows(run: Run) -> Rows:
    """Every attack of membership inference on every data set, and whether it breaks the promise after Holm's correction."""
    folder = run.results / "membership"
    names = [name for name in DATASETS if (folder / f"{name}.csv").is_file()]
    rows = run.tables("membership", names or list(DATASETS)[:1])
    chances = iter(holm([row["p_value"] for row in rows if not math.isnan(row["p_value"])]))
    return [row | {"violated": not math.isnan(row["p_value"]) and next(chances) <= 1 - CONFIDENCE} for row in rows]


def lead(run: Run) -> str:
    """What was checked, in one sentence."""
    decided, audited, attacks = claims(run), promises(run), attack_rows(run)
    mechanisms = len({promise.mechanism for promise in audited})
    datasets = len({row["dataset"] for row in attacks})
    bought = library_promises(run)
    return (
        f"{len(decided)} claims of {len({row['source'] for row in decided})} sources on differential privacy, "
        f"{len(audited)} promises of {mechanisms} mechanisms, "
        + (f"{len(bought)} of third-party libraries, " if bought else "")
        + f"and {len(attacks)} membership-inference attacks on {datasets} data sets were set against what is measured."
    )


def findings(run: Run) -> list[Finding]:
    """The claims that matter most, whatever came out, and what the attacks and the audits found; the worst first."""
    found = [
        *_headlines(claims(run)),
        *_libraries(library_promises(run)),
        *_attacks(attack_rows(run)),
        *_audits(promises(run)),
    ]
    return sorted(found, key=lambda finding: [*SEVERITY, finding.verdict].index(finding.verdict))


def _headlines(rows: Rows) -> Iterator[Finding]:
    for row in rows:
        if row["headline"]:
            instead = f" {row['instead']}" if isinstance(row["instead"], str) else ""
            place = f"{row['source']}, {row['locator']}"
            yield Finding(row["outcome"], place, row["statement"], row["evidence"] + instead, row["id"])


def _audits(audited: list[Promise]) -> Iterator[Finding]:
    if not audited:
        return
    flawed = {name for name, entry in catalogue().items() if entry.flaw}
    correct = [promise for promise in audited if promise.mechanism not in flawed]
    broken = [promise for promise in audited if promise.mechanism in flawed]
    caught = [promise for promise in broken if promise.violated]
    yield _kept(correct, "Audits", "Mechanisms that are held to be correct keep their promises.", "mechanisms")
    by_box = sum(promise.black_box > promise.promised for promise in caught)
    yield Finding(
        "violated" if caught else "consistent",
        "The broken gallery",
        "Mechanisms with a known flaw, in proofs or in code, spend more than they promise.",
        f"Of {len(broken)} such promises, {len(caught)} are found violated; on {by_box} of them the black box, which sees "
        "nothing but outputs, certifies more than the promise too.",
        "gallery",
    )


def _libraries(audited: list[Promise]) -> Iterator[Finding]:
    if audited:
        claim = "Calls of libraries that others rely on spend no more than the epsilon that they are given."
        yield _kept(audited, "Third-party libraries", claim, "libraries")


def _kept(audited: list[Promise], place: str, claim: str, anchor: str) -> Finding:
    """Whether all of these promises are kept; if not, which are broken."""
    caught = [promise for promise in audited if promise.violated]
    which = f": {'; '.join(f'{promise.name} {promise.spent}' for promise in caught)}" if caught else ""
    sentence = f"Of {len(audited)} such promises, {len(caught)} are found violated{which}."
    return Finding("violated" if caught else "consistent", place, claim, sentence, anchor)


def _attacks(rows: Rows) -> Iterator[Finding]:
    promised = [row for row in rows if not math.isnan(row["epsilon"])]
    if not promised:
        return
    beyond = [row for row in promised if row["violated"]]
    gain = "gains" if len(beyond) == 1 else "gain"
    sentence = f"After Holm's correction over all of them, {len(beyond)} of {len(promised)} attacks {gain} more"
    if beyond:
        most = max(beyond, key=lambda row: row["certified_epsilon"])
        certified, epsilon = number(most["certified_epsilon"], 3), number(most["epsilon"])
        sentence += f"; the most is {certified} where {epsilon} was promised, certified on {_where(most)}"
    yield Finding(
        "violated" if beyond else "consistent",
        "Membership inference",
        "Attacks on released models gain no more than the promise allows.",
        f"{sentence}.",
        "attacks",
    )


def _where(row: dict[str, Any]) -> str:
    case = "; ".join([DATASETS[row["dataset"]], TARGETS[row["target"]], ATTACKS[row["attack"]]])
    return f"{MECHANISMS[row['mechanism']]} ({case})"
