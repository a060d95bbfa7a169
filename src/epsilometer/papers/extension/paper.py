"""A study of our own: the protocol of nips08 on real data, and on a CSV of the user's own, with lambda tuned on each."""

from __future__ import annotations

from epsilometer.papers.paper import Paper, PaperTable
from epsilometer.papers.protocol import SUMMARY_COLUMNS

PAPER = Paper(
    "The protocol of nips08 on data that no source used",
    order=50,
    datasets=lambda settings: settings.extension_datasets,
    tables=(
        PaperTable(
            "error_summary/extension",
            "Mean test errors over five folds.",
            SUMMARY_COLUMNS,
        ),
    ),
)
