"""What claims of several parts of the lecture share: the delta of its mechanisms."""

from __future__ import annotations

DELTA = 1e-5
"""The delta at which the lecture's (epsilon, delta)-private mechanisms are measured."""
