"""The figures of the protocol of nips08 on data that no source used."""

from __future__ import annotations

from epsilometer.figures.figure import Figure
from epsilometer.papers.protocol_figures import draw_curves, draw_tuning, error_summary_of

FIGURES = (
    Figure(
        "extension_error_summary",
        error_summary_of("extension"),
        ("error_summary/extension", "error_table/{dataset}"),
        "Mean test errors on data that no source used, with spreads over folds and over restarts.",
    ),
    Figure(
        "extension_curves",
        draw_curves,
        ("learning_curve/{dataset}", "epsilon_curve/{dataset}"),
        "Learning curves and epsilon curves on the same data, lambda being tuned, with 95% intervals over the folds.",
    ),
    Figure(
        "extension_tuning",
        draw_tuning,
        ("tuning/{dataset}",),
        "Tuning of lambda on the same data.",
    ),
)
