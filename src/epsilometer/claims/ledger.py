"""Claims, the checks that decide them, and the table of decisions.

A claim is an entry of config/claims.yaml: what a source says, in our own words, where it says it, which check decides it,
and with which tolerances, fixed before the run. A check first measures, from the tables of the experiments and audits or by
a computation of its own, and then decides from those numbers alone: whatever it concludes, others would have led it
elsewhere.
"""

from __future__ import annotations

import importlib
import math
import sys
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
import yaml
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from epsilometer.core import EpsilometerError, Witness, read_table, stream, write_table
from epsilometer.core.tables import written_whole

Outcome = Literal["holds", "holds, loosely", "reproduced", "not reproduced", "fails as printed", "underspecified"]
Source = Literal["nips08", "slides08", "postech", "review", "cs860"]
SOURCES: tuple[Source, ...] = get_args(Source)
Numbers = Mapping[str, float]


class Claim(BaseModel):
    """One statement of one source."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str = Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$", description="Begins with the source's name.")
    source: Source
    locator: str = Field(min_length=3, description="Where in the source.")
    statement: str = Field(min_length=20, description="What it says, in our own words.")
    check: str = Field(description="The check of that source's module that decides it.")
    tolerances: dict[str, float] = Field(default_factory=dict, description="Fixed before the run.")
    link: str = Field(description="The table or figure behind the decision, below the results; or empty.", default="")
    headline: bool = Field(default=False, description="Whether a reader with little time should see it, whatever comes out.")


@dataclass(frozen=True)
class Measured:
    """What a check measured: numbers by name, and, where it has one, an output that proves a failure."""

    numbers: Numbers
    witness: Witness | None = None

    def __post_init__(self) -> None:
        unknown = [name for name, value in self.numbers.items() if math.isnan(value)]
        if unknown:
            raise EpsilometerError(f"the evidence leaves {unknown[0]!r} unknown; a claim cannot be decided by that")


@dataclass(frozen=True)
class Decision:
    """What the numbers say about a claim."""

    outcome: Outcome
    sentence: str
    """The evidence in a sentence, with its numbers."""
    factor: float = math.nan
    """By how much a bound is loose."""
    instead: str = ""
    """For a claim that fails: the nearest reading that holds. For one that leaves something open: what, and our reading."""

    def __post_init__(self) -> None:
        if self.outcome == "holds, loosely" and not self.factor > 1:
            raise ValueError(f"a loose bound needs a factor above 1, not {self.factor}")
        if self.outcome in ("fails as printed", "underspecified") and not self.instead:
            raise ValueError(f"'{self.outcome}' must say what holds instead, or what was assumed")
        if not any(character.isdigit() for character in self.sentence):
            raise ValueError(f"the evidence has no number in it: {self.sentence}")


@dataclass(frozen=True)
class Evidence:
    """The tables that the experiments and audits made, and random streams of the ledger's own."""

    results: Path
    seed: int

    def table(self, name: str, *columns: str) -> list[dict[str, Any]]:
        """The rows of a table, say "error_summary/nips08"."""
        return read_table(self.results / f"{name}.csv", *columns)

    def stream(self, *name: str | int | float) -> np.random.Generator:
        return stream(self.seed, "ledger", *name)


@dataclass(frozen=True)
class Check:
    """How a claim is decided: `measure` may take its time; `decide` looks at the numbers and tolerances alone."""

    measure: Callable[[Evidence], Measured]
    decide: Callable[[Numbers, Numbers], Decision]


def a_source(name: str) -> Source:
    """The name, if it is a source's."""
    for source in SOURCES:
        if name == source:
            return source
    raise EpsilometerError(f"there is no source {name!r}; there are {', '.join(SOURCES)}")


def load_claims(path: Path) -> list[Claim]:
    """The claims of a file; every problem of it in one sentence."""
    try:
        claims = TypeAdapter(list[Claim]).validate_python(yaml.safe_load(path.read_text(encoding="utf-8")))
    except OSError as error:
        raise EpsilometerError(f"cannot read the claims {path}: {error.strerror}") from error
    except yaml.YAMLError as error:
        raise EpsilometerError(f"{path} is no YAML: {error}") from error
    except ValidationError as error:
        places = [f"{'.'.join(map(str, problem['loc']))}: {problem['msg']}" for problem in error.errors()]
        raise EpsilometerError(f"{path}: {'; '.join(places)}") from None
    names = [claim.id for claim in claims]
    for claim in claims:
        if names.count(claim.id) > 1:
            raise EpsilometerError(f"{path}: two claims are called {claim.id}")
        if not claim.id.startswith(f"{claim.source}-"):
            raise EpsilometerError(f"{path}: the claim {claim.id} is of {claim.source}; its name must begin with that")
        if claim.check not in checks(claim.source):
            raise EpsilometerError(f"{path}: {claim.id} names the check {claim.check!r}, which {claim.source} does not have")
    return claims


def checks(source: Source) -> dict[str, Check]:
    """The checks of a source's module, by name."""
    found: dict[str, Check] = importlib.import_module(f"epsilometer.claims.{source}").CHECKS
    return found


def ledger(source: Source, output: Path, *, claims: Path, results: Path, numbers: Path, witnesses: Path, seed: int) -> None:
    """Decide every claim of a source: write a row for each, the numbers behind it, and witnesses of those that fail."""
    chosen = [claim for claim in load_claims(claims) if claim.source == source]
    if not chosen:
        raise EpsilometerError(f"{claims} has no claim of {source}; the sources are {', '.join(SOURCES)}")
    evidence = Evidence(results, seed)
    rows, measurements = [], []
    witnesses.mkdir(parents=True, exist_ok=True)
    for claim in chosen:
        check = checks(source)[claim.check]
        measured = check.measure(evidence)
        decision = check.decide(measured.numbers, claim.tolerances)
        proof = ""
        if measured.witness and decision.outcome == "fails as printed":
            proof = f"{claim.id}.json"
            with written_whole(witnesses / proof) as file:
                file.write(measured.witness.to_json() + "\n")
        rows.append(_row(claim, decision, proof))
        measurements += [{"id": claim.id, "number": name, "value": value} for name, value in measured.numbers.items()]
        print(f"{claim.id}: {decision.outcome}", file=sys.stderr, flush=True)
    write_table(output, rows)
    write_table(numbers, measurements)


def _row(claim: Claim, decision: Decision, witness: str) -> dict[str, Any]:
    return {
        "id": claim.id,
        "source": claim.source,
        "locator": claim.locator,
        "statement": claim.statement,
        "headline": claim.headline,
        "outcome": decision.outcome,
        "evidence": decision.sentence,
        "factor": decision.factor,
        "instead": decision.instead,
        "link": claim.link,
        "witness": witness,
        "check": claim.check,
        "tolerances": "; ".join(f"{name} = {value:g}" for name, value in claim.tolerances.items()),
    }


def printed(results: Path, sources: Sequence[Source], width: int) -> str:
    """The ledger as text for a terminal: what each source says, whether it holds, and how we know."""
    lines = []
    for source in sources:
        rows = read_table(results / "ledger" / f"{source}.csv", "id", "outcome", "evidence")
        lines.append(f"{source}: {len(rows)} claims")
        for row in rows:
            lines.append(f"  {row['outcome'].upper()}  {row['id']} ({row['locator']})")
            remarks = [row["statement"], row["evidence"], *([row["instead"]] if isinstance(row["instead"], str) else [])]
            for remark in remarks:
                lines += textwrap.wrap(remark, width, initial_indent="      ", subsequent_indent="      ")
    return "\n".join(lines)
