"""Marks for single cases of a parametrised test."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pytest


def slow(*values: Any) -> Any:
    """One case of a parametrised test that `pytest -m "not slow"` leaves out."""
    return pytest.param(*values, marks=pytest.mark.slow)


def slow_where(is_slow: Callable[[Any], bool], cases: Iterable[Any]) -> list[Any]:
    """The cases of a parametrised test, those marked slow for which `is_slow` holds."""
    return [slow(case) if is_slow(case) else case for case in cases]
