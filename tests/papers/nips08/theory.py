"""Measuring a claim from the evidence that it declares."""

from __future__ import annotations

from pathlib import Path

from epsilometer.core import write_table
from epsilometer.papers.claim import Claim, Measured, Numbers


def measured(claim: Claim, folder: Path) -> Measured:
    """What the claim measures from the tables in a folder; it may read those of its needs alone."""
    return claim.measure(claim.evidence(folder, 2008))


def numbers_of(claim: Claim, folder: Path) -> Numbers:
    """The numbers alone."""
    return measured(claim, folder).numbers


def outcome_of(claim: Claim, folder: Path) -> str:
    """The outcome, by the claim's own tolerances."""
    return claim.decide(numbers_of(claim, folder), claim.tolerances).outcome


def with_boundary(folder: Path, *cells: tuple[float, float, float]) -> Path:
    """A folder with the table of the boundary: epsilon, n lambda and what is spent."""
    rows = [{"epsilon": e, "n_lam": m, "spent": spent, "exceeds": spent > e} for e, m, spent in cells]
    write_table(folder / "boundary/nips08.csv", rows)
    return folder
