"""The ledger: a decision on every claim of a paper, the numbers behind it, and a witness of each failure that has one."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, TypedDict

from epsilometer.core.arguments import Count
from epsilometer.core.tables import EMPTY, Table, written_whole
from epsilometer.papers.claim import Claim, Decision, Outcome
from epsilometer.papers.registry import a_source, claims_of


class LedgerRow(TypedDict):
    """The decision on every claim of a source."""

    id: Annotated[str, "name of the claim"]
    source: Annotated[str, "name of the source"]
    locator: Annotated[str, "where in the source the claim stands"]
    statement: Annotated[str, "what it says, in our own words"]
    headline: Annotated[bool, "whether it stands on the first screen of the page, whatever comes out"]
    outcome: Annotated[Outcome, "holds; holds, loosely; reproduced; not reproduced; fails as printed; or underspecified"]
    evidence: Annotated[str, "the evidence in a sentence, with its numbers"]
    factor: Annotated[float, "by how much a bound is loose", EMPTY]
    instead: Annotated[str, "what holds instead, or what is missing and what was assumed", EMPTY]
    link: Annotated[str, "the table or figure behind the decision, below the results", EMPTY]
    witness: Annotated[str, "the file of an output that proves a failure", EMPTY]
    check: Annotated[str, "name of the claim's object in the code, in lower case"]
    tolerances: Annotated[str, "the numbers that the decision allows for", EMPTY]


class NumberRow(TypedDict):
    """The numbers behind each decision."""

    id: Annotated[str, "name of the claim"]
    number: Annotated[str, "what was measured"]
    value: Annotated[float, "its value"]


LEDGER = Table[LedgerRow]("ledger/{source}", LedgerRow)
NUMBERS = Table[NumberRow]("ledger/numbers/{source}", NumberRow)


def ledger(source: str, table: Path, *, results: Path, seed: Count, numbers: Path, witnesses: Path) -> None:
    """Decide every claim of a source: write a row for each, the numbers behind it, and witnesses of those that fail."""
    rows: list[LedgerRow] = []
    measurements: list[NumberRow] = []
    witnesses.mkdir(parents=True, exist_ok=True)
    for name, claim in claims_of(a_source(source)).items():
        measured = claim.measure(claim.evidence(results, seed))
        decision = claim.decide(measured.numbers, claim.tolerances)
        proof = ""
        if measured.witness and decision.outcome == "fails as printed":
            proof = f"{claim.id}.json"
            with written_whole(witnesses / proof) as file:
                file.write(measured.witness.to_json() + "\n")
        rows.append(_row(source, name, claim, decision, proof))
        measurements += [NumberRow(id=claim.id, number=name, value=value) for name, value in measured.numbers.items()]
        print(f"{claim.id}: {decision.outcome}", file=sys.stderr, flush=True)
    LEDGER.write(table, rows)
    NUMBERS.write(numbers, measurements)


def _row(source: str, name: str, claim: Claim, decision: Decision, witness: str) -> LedgerRow:
    return {
        "id": claim.id,
        "source": source,
        "locator": claim.locator,
        "statement": claim.statement,
        "headline": claim.headline,
        "outcome": decision.outcome,
        "evidence": decision.sentence,
        "factor": decision.factor,
        "instead": decision.instead,
        "link": claim.link,
        "witness": witness,
        "check": name,
        "tolerances": "; ".join(f"{name} = {value:g}" for name, value in claim.tolerances.items()),
    }


def printed(results: Path, sources: Sequence[str], width: int) -> str:
    """The ledger as text for a terminal: what each source says, whether it holds, and how we know."""
    lines = []
    for source in sources:
        rows = LEDGER.read(results / "ledger" / f"{source}.csv")
        lines.append(f"{source}: {len(rows)} claims")
        for row in rows:
            lines.append(f"  {row['outcome'].upper()}  {row['id']} ({row['locator']})")
            remarks = [row["statement"], row["evidence"], *filter(None, [row["instead"]])]
            for remark in remarks:
                lines += textwrap.wrap(remark, width, initial_indent="      ", subsequent_indent="      ")
    return "\n".join(lines)
