"""Tables of verdicts, and the gate over them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from epsilometer.cli import main
from epsilometer.core import write_table
from epsilometer.evidence.rows import VERDICTS
from epsilometer.membership.rows import MEMBERSHIP_VERDICTS
from tests.rows import row_of

FOUND = {"exact": 1.0, "sampled": 0.9, "black_box": 0.8, "p_value": 1.0, "verdict": "tight"}
ROW = row_of(VERDICTS, {"mechanism": "laplace_count", "promised": 1.0} | FOUND)
BROKEN = ROW | {"mechanism": "laplace_half_scale", "broken": True, "exact": 2.0, "p_value": 1e-9, "verdict": "violated"}
KEPT = row_of(
    MEMBERSHIP_VERDICTS,
    {"mechanism": "output_perturbation", "promised": 1.0, "dataset": "small", "target": "outlier", "attack": "optimal"}
    | {"certified": 0.25, "trials": 1000, "p_value": 1.0, "verdict": "consistent"},
)
ATTACKED = KEPT | {"certified": 1.5, "p_value": 0.0012345, "verdict": "violated"}
"""A verdict on an attack that certifies more than the promise."""
REASON = {"mechanism": "laplace_half_scale", "reason": "Half of the noise."}


class Desk:
    """A folder with a table, the expected findings and the table of an earlier run, and the gate over them."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.table, self.previous, self.expected = (folder / name for name in ("table.csv", "old.csv", "expected.yaml"))
        self.capsys = capsys
        self.expect(REASON)

    def expect(self, *findings: object) -> None:
        self.expected.write_text(yaml.safe_dump(list(findings)))

    def run(self, *rows: dict[str, Any], previous: list[dict[str, Any]] | None = None) -> tuple[int, list[str]]:
        """The exit status and the printed lines for these rows, beside those of an earlier run."""
        write_table(self.table, rows)
        if previous is not None:
            write_table(self.previous, previous)
        status = self.gate(*(["--previous", self.previous] if previous is not None else []))
        out, err = self.capsys.readouterr()
        assert err == ""
        return status, out.splitlines()

    def refused(self, *more: object) -> str:
        """The sentence with which the gate exits with 2."""
        assert self.gate(*more) == 2
        out, err = self.capsys.readouterr()
        assert out == ""
        assert err.startswith("epsilometer: ")
        assert err.count("\n") == 1
        return err.removeprefix("epsilometer: ").rstrip()

    def gate(self, *more: object) -> int:
        return main([str(word) for word in ("gate", "--expected", self.expected, self.table, *more)])


def counted(audited: int, expected: int, unexpected: int) -> str:
    return f"promises audited: {audited}; violated as expected: {expected}; violated unexpectedly: {unexpected}"
