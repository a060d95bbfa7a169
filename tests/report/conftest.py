"""The gate over tables in a folder of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.report.desk import Desk


@pytest.fixture
def desk(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Desk:
    return Desk(tmp_path, capsys)
