"""Li's survey of differentially private machine learning."""

from __future__ import annotations

from epsilometer.papers.paper import Paper

PAPER = Paper(
    "Li, “Differential privacy and machine learning review”",
    order=4,
    note="What the anonymised table of this source gives away is worked out in a study of its own.",
    see="anonymised_tables",
)
