"""Evidence without tables, for the claims that compute all that they need."""

from __future__ import annotations

from pathlib import Path

import pytest

from epsilometer.papers.claim import Evidence


@pytest.fixture
def evidence(tmp_path: Path) -> Evidence:
    return Evidence(tmp_path, 2008)
