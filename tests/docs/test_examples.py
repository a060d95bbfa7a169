"""The code on the pages runs.

The `python` blocks of a page run from top to bottom in one namespace, the commands of its `console` and `bash` blocks one
block at a time, all in an empty folder. A block after the comment `<!-- not run: reason -->` is not run.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.pages import PAGES, ROOT, RUNNABLE, Block, blocks, name_of

pytestmark = pytest.mark.slow

SECONDS = 60
ALL = [block for page in PAGES for block in blocks(page.read_text(), name_of(page)) if block.kind in RUNNABLE]
RUN = [block for block in ALL if block.reason is None]
NOT_RUN = [block for block in ALL if block.reason is not None]
COMMANDS = [block for block in RUN if block.kind != "python"]
WITH_PYTHON = sorted({block.page for block in RUN if block.kind == "python"})


def program(of_page: list[Block]) -> str:
    """The python blocks of a page as one program, each line at its number on the page."""
    lines: list[str] = []
    for block in of_page:
        lines += [""] * (block.line - len(lines))
        lines += block.body.splitlines()
    return "\n".join(lines) + "\n"


def commands(block: Block) -> str:
    """What a reader would type of a block: in a console the lines after `$ ` and their continuations, in bash all."""
    if block.kind == "bash":
        return block.body
    typed, goes_on = [], False
    for line in block.body.splitlines():
        if goes_on or line.startswith("$ "):
            typed.append(line.removeprefix("$ "))
            goes_on = line.endswith("\\")
    return "\n".join(typed)


def run(command: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    paths = [str(ROOT / "src"), *filter(None, [os.environ.get("PYTHONPATH", "")])]
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(paths), "PATH": path, "MPLBACKEND": "agg"}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=SECONDS)


@pytest.mark.slow
@pytest.mark.parametrize("page", WITH_PYTHON)
def test_python_blocks_run(page: str, tmp_path: Path) -> None:
    source = tmp_path / "page.py"
    source.write_text(program([block for block in RUN if block.page == page and block.kind == "python"]))
    done = run([sys.executable, "-W", "error", str(source)], tmp_path)
    assert done.returncode == 0, f"{page}\n{done.stderr}"


@pytest.mark.slow
@pytest.mark.parametrize("block", COMMANDS, ids=lambda block: block.place)
def test_commands_run(block: Block, tmp_path: Path) -> None:
    typed = commands(block)
    assert typed.strip(), f"{block.place}: a console block has no line that begins with '$ '"
    done = run(["bash", "-euo", "pipefail", "-c", typed], tmp_path)
    assert done.returncode == 0, f"{block.place}\n{typed}\n{done.stdout}\n{done.stderr}"


def test_what_is_not_run_has_a_reason(capsys: pytest.CaptureFixture[str]) -> None:
    with capsys.disabled():
        print(f"\n{len(RUN)} blocks of code in the documentation are run, {len(NOT_RUN)} are not:")
        for block in NOT_RUN:
            print(f"  {block.place}: {block.reason}")
    assert [block.place for block in NOT_RUN if len(block.reason or "") < 10] == []
    assert len(NOT_RUN) < len(RUN)


def test_blocks_are_found_with_their_reasons_and_lines() -> None:
    text = (
        "text\n<!-- not run: it takes\nan hour -->\n```console\n$ make\nmade\n```\n\n- item\n\n  ```python\n  x = 1\n  ```\n"
    )
    first, second = blocks(text, "page.md")
    assert (first.kind, first.reason, first.line, first.body) == ("console", "it takes an hour", 4, "$ make\nmade\n")
    assert (second.kind, second.reason, second.line, second.body) == ("python", None, 11, "x = 1\n")


def test_a_failing_block_fails_at_its_line(tmp_path: Path) -> None:
    block = Block("page.md", 7, "python", "x = 1\nassert x == 2\n", None)
    source = tmp_path / "page.py"
    source.write_text(program([block]))
    done = run([sys.executable, str(source)], tmp_path)
    assert done.returncode == 1
    assert "line 9" in done.stderr
    assert commands(Block("page.md", 1, "console", "$ a \\\n  b\nprinted\n$ c\n", None)) == "a \\\n  b\nc"
