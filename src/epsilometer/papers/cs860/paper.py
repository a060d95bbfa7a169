"""Kamath's lecture on differentially private empirical risk minimisation."""

from __future__ import annotations

from epsilometer.papers.paper import Paper

PAPER = Paper(
    "Kamath, CS 860 lecture 13, “Private ML and Stats: Differentially Private ERM”, Waterloo, 2020",
    order=5,
)
