"""The pictures of the documentation are those that their scripts draw."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.pages import DOCS


@pytest.mark.slow
@pytest.mark.parametrize("script", sorted((DOCS / "img").glob("*.py")), ids=lambda script: script.name)
def test_the_script_draws_the_picture(script: Path, tmp_path: Path) -> None:
    drawn = tmp_path / "drawn.svg"
    subprocess.run([sys.executable, str(script), str(drawn)], check=True)
    assert drawn.read_bytes() == script.with_suffix(".svg").read_bytes()
