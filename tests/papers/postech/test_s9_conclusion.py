"""The conclusion follows the epsilon curve."""

from __future__ import annotations

from pathlib import Path

import pytest

from epsilometer.papers.postech.claims.s9_conclusion import CONFLICT
from tests.papers.postech.cases import FAILS, HOLDS
from tests.papers.postech.curves import write_curves
from tests.papers.postech.decided import outcome

pytestmark = pytest.mark.slow


def test_an_error_that_hardly_falls_is_no_conflict(tmp_path: Path) -> None:
    assert outcome(CONFLICT, write_curves(tmp_path / "better", 0.1)) == HOLDS
    assert outcome(CONFLICT, write_curves(tmp_path / "useless", 0.45)) == FAILS
