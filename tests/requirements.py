"""What a test needs from its machine: without it the test is skipped, but on CI it fails."""

from __future__ import annotations

import os
import shutil
from typing import NoReturn

import pytest


def need(*tools: str) -> None:
    """Go on only if all these programs are installed."""
    for tool in tools:
        if shutil.which(tool) is None:
            _stop(f"This test needs {tool}, which is not installed.")


def need_root() -> None:
    """Go on only as root."""
    if os.geteuid() != 0:
        _stop("This test needs to run as root.")


def _stop(reason: str) -> NoReturn:
    if os.environ.get("CI") == "true":
        pytest.fail(reason)
    pytest.skip(reason)


def need_browser() -> str:
    """The path of a Chromium, as Debian or a runner of GitHub has it."""
    for name in ("chromium", "chromium-browser", "google-chrome"):
        path = shutil.which(name)
        if path:
            return path
    _stop("This test needs chromium, which is not installed.")
