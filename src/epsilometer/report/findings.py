"""The most important results of a run, in sentences, for the page and for the summary in Markdown."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, get_args

from epsilometer.auditors.black_box.auditor import SPEC as BLACK_BOX
from epsilometer.core import Verdict
from epsilometer.mechanisms.catalogue import catalogue
from epsilometer.membership.attacked import ATTACKS
from epsilometer.membership.batched import MECHANISMS
from epsilometer.membership.rows import KEY
from epsilometer.membership.targets import TARGETS
from epsilometer.papers.claim import Outcome
from epsilometer.papers.registry import datasets, sources
from epsilometer.report.promises import Promise, load_promises
from epsilometer.report.run import Rows, Run

OUTCOMES: tuple[str, ...] = get_args(Outcome)
VERDICTS: tuple[str, ...] = get_args(Verdict)
SEVERITY = ("fails as printed", "violated", "not reproduced", "underspecified", "reproduced", "holds, loosely", "holds")
"""Outcomes and verdicts in order of importance to the reader; all others come last."""


@dataclass(frozen=True)
class Finding:
    """One result for the reader: what was claimed, and what was found."""

    verdict: str
    place: str
    """Where the claim was made, or the part of the run that tested it."""
    claim: str
    sentence: str
    """What was found."""
    anchor: str
    """The id of the element of the page with the details."""


def number(value: float, digits: int = 4) -> str:
    """A number as text; empty for nan."""
    if isinstance(value, float) and not math.isfinite(value):
        return "" if math.isnan(value) else "∞"
    return f"{value:,}" if isinstance(value, int) else f"{value:.{digits}g}"


@cache
def claims(run: Run) -> Rows:
    """The decisions on all claims, in the order of the sources."""
    return run.tables("ledger", sources())


@cache
def promises(run: Run, table: str = "catalogue") -> list[Promise]:
    """The verdicts on all mechanisms."""
    path = run.path(f"verdicts/{table}.csv")
    return list(load_promises(path).values()) if path else []


def audits_libraries(run: Run) -> bool:
    """Whether the run was configured to audit a third-party library."""
    return run.facts["setting"]["libraries.names"] != "[]"


def library_promises(run: Run) -> list[Promise]:
    """The verdicts on third-party libraries."""
    return promises(run, "libraries") if audits_libraries(run) else []


def count_each(values: Iterable[str], names: Iterable[str]) -> dict[str, int]:
    """The number of occurrences of each name among the values."""
    found = Counter(values)
    return {name: found[name] for name in names}


@cache
def attack_rows(run: Run) -> Rows:
    """Every attack of membership inference on every data set, with its verdict if the mechanism claims an epsilon."""
    names = [name for name in datasets() if (run.results / "membership" / f"{name}.csv").is_file()]
    verdicts = {tuple(row[name] for name in KEY): row["verdict"] for row in run.table("verdicts/membership")}
    rows = run.tables("membership", names or list(datasets())[:1])
    return [row | {"verdict": verdicts.get(tuple(row[name] for name in KEY), "")} for row in rows]


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
    """The headline claims, whatever their outcome, and the results of attacks and audits; the most severe first."""
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
            instead = f" {row['instead']}" if row["instead"] else ""
            place = f"{row['source']}, {row['locator']}"
            yield Finding(row["outcome"], place, row["statement"], row["evidence"] + instead, row["id"])


def _audits(audited: list[Promise]) -> Iterator[Finding]:
    if not audited:
        return
    flawed = {name for name, entry in catalogue().items() if entry.flaw}
    correct = [promise for promise in audited if promise.mechanism not in flawed]
    broken = [promise for promise in audited if promise.mechanism in flawed]
    caught = [promise for promise in broken if promise.violated]
    yield _promises_kept(correct, "Audits", "Mechanisms that are held to be correct keep their promises.", "mechanisms")
    by_box = sum(promise.bounds[BLACK_BOX.name] > promise.promised for promise in caught)
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
        yield _promises_kept(audited, "Third-party libraries", claim, "libraries")


def _promises_kept(audited: list[Promise], place: str, claim: str, anchor: str) -> Finding:
    """The finding on a group of claimed epsilons: that all hold, or which are violated."""
    caught = [promise for promise in audited if promise.violated]
    which = f": {'; '.join(f'{promise.name} {promise.spent_in_words}' for promise in caught)}" if caught else ""
    sentence = f"Of {len(audited)} such promises, {len(caught)} are found violated{which}."
    return Finding("violated" if caught else "consistent", place, claim, sentence, anchor)


def _attacks(rows: Rows) -> Iterator[Finding]:
    promised = [row for row in rows if not math.isnan(row["promised"])]
    if not promised:
        return
    beyond = [row for row in promised if row["verdict"] == "violated"]
    gain = "gains" if len(beyond) == 1 else "gain"
    sentence = f"After Holm's correction over all of them, {len(beyond)} of {len(promised)} attacks {gain} more"
    if beyond:
        most = max(beyond, key=lambda row: row["certified"])
        certified, epsilon = number(most["certified"], 3), number(most["promised"])
        sentence += f"; the most is {certified} where {epsilon} was promised, certified on {_describe_attack(most)}"
    yield Finding(
        "violated" if beyond else "consistent",
        "Membership inference",
        "Attacks on released models gain no more than the promise allows.",
        f"{sentence}.",
        "attacks",
    )


def _describe_attack(row: dict[str, Any]) -> str:
    case = "; ".join([datasets()[row["dataset"]].title, TARGETS[row["target"]], ATTACKS[row["attack"]]])
    return f"{MECHANISMS[row['mechanism']].title} ({case})"
