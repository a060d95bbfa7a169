"""Chaudhuri and Monteleoni 2008: logistic regression with differential privacy, and the experiments of its section 6."""

from __future__ import annotations

from epsilometer.papers.paper import Paper, PaperTable
from epsilometer.papers.protocol import SUMMARY_COLUMNS

DATASETS = ("separable", "unseparable")
"""The two synthetic data sets of section 6."""

PAPER = Paper(
    "Chaudhuri and Monteleoni, “Privacy-preserving logistic regression”, NIPS 2008, with its appendix",
    order=1,
    datasets=lambda _: DATASETS,
    tables=(
        PaperTable(
            "error_summary/nips08",
            "Mean test errors over five folds, beside those that Figure 1 of nips08 prints.",
            SUMMARY_COLUMNS | {"printed_mean": "Printed mean", "printed_spread": "Printed spread"},
        ),
        PaperTable(
            "recovered_epsilon/nips08",
            "The epsilon at which each printed error comes out, with its 95% interval.",
            {
                "dataset": "Data",
                "method": "Method",
                "printed_error": "Printed error",
                "epsilon": "Epsilon",
                "low": "From",
                "high": "To",
                "error_at_common_epsilon": "Error at the common epsilon",
            },
        ),
    ),
)
