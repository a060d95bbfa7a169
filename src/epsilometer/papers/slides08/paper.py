"""Monteleoni's slides on the work of nips08."""

from __future__ import annotations

from epsilometer.papers.paper import Paper

PAPER = Paper(
    "Monteleoni, “Advances in Privacy-Preserving Machine Learning”, slides on the same work",
    order=2,
    note="The slides print the table and the figures of the paper.",
    see="nips08",
)
