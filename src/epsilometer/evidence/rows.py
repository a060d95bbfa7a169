"""The tables of audits and of verdicts."""

from __future__ import annotations

from typing import Annotated, Any, TypedDict

from epsilometer.auditors.registry import by_name
from epsilometer.core import Adjacency, Verdict
from epsilometer.core.tables import EMPTY, Column, Table, columns_of


class AuditKey(TypedDict):
    """The columns that identify an audit."""

    mechanism: Annotated[str, "name of the mechanism in the catalogue"]
    promised: Annotated[float, "claimed epsilon"]
    pair: Annotated[int, "number of the pair of neighbouring data sets; -1 for an audit of a single run"]
    auditor: Annotated[str, "name of the auditor"]


KEY = tuple(columns_of(AuditKey))


class AuditRow(TypedDict):
    """What each auditor certifies for each mechanism, claimed epsilon and pair of neighbouring data sets."""

    mechanism: Annotated[str, "name of the mechanism in the catalogue"]
    broken: Annotated[bool, "whether the catalogue states a flaw of it"]
    promised: Annotated[float, "claimed epsilon"]
    delta: Annotated[float, "claimed delta"]
    adjacency: Annotated[Adjacency, "which data sets are neighbours"]
    true_epsilon: Annotated[float, "the epsilon that it spends on the worst of its pairs, where that is known", EMPTY]
    pair: Annotated[int, "number of the pair of neighbouring data sets; -1 for an audit of a single run"]
    auditor: Annotated[str, "name of the auditor"]
    method: Annotated[str, "how the bound was computed"]
    certified: Annotated[float, "lower confidence bound on epsilon at the claimed delta; exact where `confidence` is 1"]
    confidence: Annotated[float, "probability with which the bound holds"]
    model_based: Annotated[bool, "whether the bound rests on an assumption about the outputs' distribution"]
    limit: Annotated[float, "the most that a test of a single event could be expected to certify from these trials", EMPTY]
    efficiency: Annotated[float, "`certified` as a share of `limit`", EMPTY]
    event_high: Annotated[float, "upper confidence bound on the log-ratio of the event's probabilities", EMPTY]
    jeffreys: Annotated[float, "bound by Jeffreys intervals instead, which may err more often than they say", EMPTY]
    bayesian: Annotated[float, "Bayesian lower bound from the same counts, which may err more often than it says", EMPTY]
    trials: Annotated[int, "outputs drawn"]
    hits: Annotated[int, "how often the event occurred under the first data set, or right guesses", EMPTY]
    of: Annotated[int, "outputs of the first data set that were counted, or guesses", EMPTY]
    other_hits: Annotated[int, "how often the event occurred under the other data set", EMPTY]
    other_of: Annotated[int, "outputs of the other data set that were counted", EMPTY]
    canaries: Annotated[int, "canaries that guesses were chosen among", EMPTY]
    choices: Annotated[int, "events, or numbers of guesses, among which the bound is the best; it allows for that"]
    event: Annotated[str, "the event in words", EMPTY]


class CountRow(TypedDict):
    """The counts behind each sampled bound: one row for each event, or number of guesses, that it is the best of."""

    mechanism: Annotated[str, "name of the mechanism in the catalogue"]
    promised: Annotated[float, "claimed epsilon"]
    pair: Annotated[int, "number of the pair of neighbouring data sets; -1 for an audit of a single run"]
    auditor: Annotated[str, "name of the auditor"]
    hits: Annotated[int, "how often the event occurred under the first data set, or right guesses"]
    of: Annotated[int, "outputs of the first data set that were counted, or guesses"]
    other_hits: Annotated[int, "how often the event occurred under the other data set", EMPTY]
    other_of: Annotated[int, "outputs of the other data set that were counted", EMPTY]
    canaries: Annotated[int, "canaries that guesses were chosen among", EMPTY]


class SecondsRow(TypedDict):
    """How long each audit took: in a table of its own, since it changes from run to run."""

    mechanism: Annotated[str, "name of the mechanism in the catalogue"]
    promised: Annotated[float, "claimed epsilon"]
    pair: Annotated[int, "number of the pair of neighbouring data sets; -1 for an audit of a single run"]
    auditor: Annotated[str, "name of the auditor"]
    seconds: Annotated[float, "wall-clock time"]


class PromiseRow(TypedDict):
    """The first columns of a table of verdicts."""

    mechanism: Annotated[str, "name of the mechanism"]
    promised: Annotated[float, "claimed epsilon"]
    delta: Annotated[float, "claimed delta"]
    adjacency: Annotated[Adjacency, "which data sets are neighbours"]
    broken: Annotated[bool, "whether the catalogue states a flaw of it"]
    true_epsilon: Annotated[float, "the epsilon that it spends on the worst of its pairs, where that is known", EMPTY]


class OutcomeRow(TypedDict):
    """The last columns of a table of verdicts."""

    jeffreys: Annotated[float, "largest bound by Jeffreys intervals, which may err more often than they say", EMPTY]
    bayesian: Annotated[float, "largest Bayesian lower bound, which may err more often than it says", EMPTY]
    trials: Annotated[int, "outputs drawn, over all auditors and pairs"]
    p_value: Annotated[float, "smallest p-value against the claim, after Holm's correction over all audits of the report"]
    verdict: Annotated[Verdict, "violated, tight, consistent or underpowered"]


class VerdictRow(PromiseRow, OutcomeRow):
    """A verdict on each claimed epsilon, with the largest bound of each auditor over all pairs."""


class LossRow(TypedDict):
    """The distribution of the privacy loss of each mechanism on the pair on which most is spent."""

    mechanism: Annotated[str, "name of the mechanism in the catalogue"]
    promised: Annotated[float, "claimed epsilon"]
    pair: Annotated[int, "number of the pair of neighbouring data sets"]
    loss: Annotated[float, "privacy loss x"]
    probability_first: Annotated[float, "probability of a loss of at least x under the first data set"]
    probability_second: Annotated[float, "the same under the second data set"]
    delta: Annotated[float, "delta at epsilon = max(x, 0), from the first data set to the second"]
    delta_low: Annotated[float, "lower end of the interval of delta"]
    delta_high: Annotated[float, "upper end of the interval of delta"]
    method: Annotated[str, "enumerated, integrated or sampled"]


def _bounds() -> dict[str, Column]:
    """A column for each auditor, and for the efficiency of those that have one."""
    columns = {}
    for spec in by_name().values():
        columns[spec.column] = Column(float, f"largest bound of the auditor “{spec.name}” over all pairs", optional=True)
        if spec.efficiency:
            columns[f"{spec.column}_efficiency"] = Column(float, "that bound as a share of its limit", optional=True)
    return columns


AUDIT = Table[AuditRow]("audit/{family}", AuditRow)
LIBRARY_AUDIT = Table[AuditRow]("library_audit/{library}", AuditRow)
COUNTS = Table[CountRow]("audit/counts/{family}", CountRow)
SECONDS = Table[SecondsRow]("benchmarks/auditors/{family}", SecondsRow)
VERDICTS = Table[Any](
    "verdicts/{part}", VerdictRow, columns={**columns_of(PromiseRow), **_bounds(), **columns_of(OutcomeRow)}
)
PRIVACY_LOSS = Table[LossRow]("privacy_loss/{part}", LossRow)
