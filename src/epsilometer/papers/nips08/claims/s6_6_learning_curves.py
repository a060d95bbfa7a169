"""Section 6 of nips08, Figures 2a and 2b: test error by the number of training records."""

from __future__ import annotations

from functools import partial

from epsilometer.papers.claim import Decision, Evidence, Measured, Numbers
from epsilometer.papers.deciders import reproduced_if
from epsilometer.papers.nips08.claims.figure_2 import MOST, decide_leads, figure_2_claim, measure_leads
from epsilometer.papers.nips08.claims.folds import CONFIDENCE, CORRECTED, curve, interval, student_quantile
from epsilometer.papers.protocol import ALGORITHM_1, ALGORITHM_2, CMS11


def measure_final(dataset: str, evidence: Evidence) -> Measured:
    """Both methods at the last point of the learning curve."""
    points = curve(evidence, "learning_curve", dataset)
    last = max(points[ALGORITHM_1])
    difference = points[ALGORITHM_1][last].minus(points[ALGORITHM_2][last])
    return Measured(
        {
            "n": float(last),
            "sensitivity": points[ALGORITHM_1][last].mean,
            "new": points[ALGORITHM_2][last].mean,
            CORRECTED: points[CMS11][last].mean,
            "difference": difference.mean,
            "standard error": difference.standard_error,
            "folds": float(len(difference.error)),
        }
    )


def decide_final(numbers: Numbers, tolerances: Numbers) -> Decision:
    """Reproduced if the interval of the difference lies above zero."""
    half = student_quantile(numbers["folds"], tolerances["confidence"]) * numbers["standard error"]
    sentence = (
        f"At n = {numbers['n']:.0f} the new method errs in {numbers['new']:.4f}, the sensitivity method in "
        f"{numbers['sensitivity']:.4f}: {numbers['difference']:.4f} less "
        f"({tolerances['confidence']:.0%} interval {interval(numbers['difference'], half)}); the new one as calibrated in "
        f"2011 in {numbers[CORRECTED]:.4f}."
    )
    return reproduced_if(numbers["difference"] - half > 0, sentence)


measure_sizes = partial(measure_leads, "learning_curve")
decide_sizes = partial(decide_leads, "smaller training sets")

FIGURE_2A_FINAL = figure_2_claim(
    "a",
    "final",
    "On the separable data, the new method's learning curve ends at a lower error than the sensitivity method's.",
    measure_final,
    decide_final,
    CONFIDENCE,
)
FIGURE_2A_SIZES = figure_2_claim(
    "a",
    "sizes",
    "On the separable data, the new method is also better at most smaller training sets.",
    measure_sizes,
    decide_sizes,
    MOST,
)
FIGURE_2B_FINAL = figure_2_claim(
    "b",
    "final",
    "On the unseparable data, the new method's learning curve ends at a lower error than the sensitivity method's.",
    measure_final,
    decide_final,
    CONFIDENCE,
)
FIGURE_2B_SIZES = figure_2_claim(
    "b",
    "sizes",
    "On the unseparable data, the new method is also better at most smaller training sets.",
    measure_sizes,
    decide_sizes,
    MOST,
)
