"""A study of our own: attacks on the anonymised tables that review and postech print, and on the same counts with noise."""

from __future__ import annotations

from epsilometer.papers.paper import Paper

PAPER = Paper("A worked example: attacks on the tables that review and postech print", order=60)
