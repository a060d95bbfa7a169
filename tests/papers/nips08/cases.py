"""Numbers that lead each claim of nips08 to each of its outcomes."""

from __future__ import annotations

from epsilometer.papers.claim import Outcome
from tests.papers.nips08 import cases_experiments, cases_theory

CASES: list[tuple[str, dict[str, float], dict[str, float], Outcome]] = [*cases_theory.CASES, *cases_experiments.CASES]
