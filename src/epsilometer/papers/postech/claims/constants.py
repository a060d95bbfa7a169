"""What claims of several parts of the lecture share: the gamma of two coins."""

from __future__ import annotations

TWO_COINS = 0.25
"""The gamma of two fair coins."""
