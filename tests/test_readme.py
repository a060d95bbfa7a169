"""The README's example does what it says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

README = (Path(__file__).parents[1] / "README.md").read_text()


def test_the_example_prints_what_its_comment_says(capsys: pytest.CaptureFixture[str]) -> None:
    code = re.search(r"```python\n(.*?)```", README, re.DOTALL)
    assert code
    exec(code[1], {})
    promised = re.search(r"# ([\d.]+)\.\.\.: more than promised", code[1])
    assert promised
    printed = capsys.readouterr().out
    assert "epsilon=1.0" in printed
    assert printed.split()[-1].startswith(promised[1])
