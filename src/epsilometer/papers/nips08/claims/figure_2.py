"""What the claims on Figure 2 share: their form, and by how much the new method is ahead along a curve."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from epsilometer.papers.claim import Claim, Decide, Decision, Evidence, Measured, Numbers
from epsilometer.papers.deciders import reproduced_if
from epsilometer.papers.nips08.claims.folds import (
    CONFIDENCE,
    CORRECTED,
    CurveTable,
    curve,
    read_series,
    series,
    student_quantile,
)
from epsilometer.papers.protocol import ALGORITHM_1, ALGORITHM_2, CMS11

MOST = CONFIDENCE | {"share": 0.5}
"""The new method must be better at more than half of the points, each time beyond its interval."""
PANELS: dict[str, tuple[CurveTable, str]] = {
    "a": ("learning_curve", "separable"),
    "b": ("learning_curve", "unseparable"),
    "c": ("epsilon_curve", "separable"),
    "d": ("epsilon_curve", "unseparable"),
}
"""The curve and the data set of each panel of Figure 2."""


def figure_2_claim(
    panel: str,
    name: str,
    statement: str,
    measure: Callable[[str, Evidence], Measured],
    decide: Decide,
    tolerances: Numbers,
    computes: str = "",
) -> Claim:
    """A claim on a panel of Figure 2; one that computes does so from the records of the panel's data set."""
    table, dataset = PANELS[panel]
    records = (f"dataset/{dataset}",) if computes else ()
    return Claim(
        id=f"nips08-figure-2{panel}-{name}",
        locator=f"section 6, Figure 2{panel}",
        statement=statement,
        needs=(f"{table}/{dataset}", *records),
        computes=computes,
        measure=partial(measure, dataset),
        decide=decide,
        tolerances=tolerances,
        link=f"{table}/{dataset}.csv",
    )


def measure_leads(table: CurveTable, dataset: str, evidence: Evidence) -> Measured:
    """At each point but a learning curve's last: by how many standard errors the sensitivity method errs more."""
    points = curve(evidence, table, dataset)
    where = sorted(points[ALGORITHM_1])[: -1 if table == "learning_curve" else None]
    lead = {name: {x: points[ALGORITHM_1][x].minus(points[name][x]).student for x in where} for name in (ALGORITHM_2, CMS11)}
    folds = float(len(points[ALGORITHM_1][where[0]].error))
    return Measured({"folds": folds} | series("new", lead[ALGORITHM_2]) | series(CORRECTED, lead[CMS11]))


def decide_leads(points: str, numbers: Numbers, tolerances: Numbers) -> Decision:
    """The new method is better at more than the share that 'most' stands for, each time beyond its interval."""
    leads = read_series(numbers, "new")
    better, worse = _count_beyond_interval(leads, numbers, tolerances)
    corrected = _count_beyond_interval(read_series(numbers, CORRECTED), numbers, tolerances)
    sentence = (
        f"Of {len(leads)} {points.format(min(leads), max(leads))}, the new method is better at {better} and worse at "
        f"{worse}, beyond the {tolerances['confidence']:.0%} interval of the difference over folds; as calibrated in "
        f"2011, so that its promise holds, it is better at {corrected[0]} and worse at {corrected[1]}."
    )
    return reproduced_if(better > tolerances["share"] * len(leads), sentence)


def _count_beyond_interval(leads: Mapping[float, float], numbers: Numbers, tolerances: Numbers) -> tuple[int, int]:
    """How many leads are above the interval's half width, and how many below its negative."""
    quantile = student_quantile(numbers["folds"], tolerances["confidence"])
    return sum(lead > quantile for lead in leads.values()), sum(lead < -quantile for lead in leads.values())
