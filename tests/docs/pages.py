"""The Markdown of the repository: its pages, their code blocks and their links."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *DOCS.rglob("*.md")])

BLOCK = re.compile(
    r"^(?:[ ]*<!-- not run:(?P<reason>.*?)-->[ ]*\n(?:[ ]*\n)*)?"
    r"^(?P<indent>[ ]*)```(?P<kind>[a-z]*)[^\n]*\n(?P<body>.*?)^(?P=indent)```",
    re.DOTALL | re.MULTILINE,
)
LINK = re.compile(r"!?\[[^\]\[]*\]\(([^)\s]+)\)")
RUNNABLE = ("python", "console", "bash")


@dataclass(frozen=True)
class Block:
    """A fenced block of code."""

    page: str
    line: int
    kind: str
    body: str
    reason: str | None
    """Why it is not run; None if it is run."""

    @property
    def place(self) -> str:
        return f"{self.page}:{self.line}"


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def blocks(text: str, page: str) -> list[Block]:
    """Every fenced block of a page, in order."""
    found = []
    for match in BLOCK.finditer(text):
        indent, body = match["indent"], match["body"]
        lines = [line.removeprefix(indent) for line in body.splitlines(keepends=True)]
        reason = None if match["reason"] is None else " ".join(match["reason"].split())
        line = text.count("\n", 0, match.start("kind")) + 1
        found.append(Block(page, line, match["kind"], "".join(lines), reason))
    return found


def without_code(text: str) -> str:
    """A page's text without its blocks and spans of code, in which nothing is a link."""
    return re.sub(r"`[^`\n]*`", "`code`", BLOCK.sub("", text))


def links(text: str) -> list[str]:
    """The targets of a page's links and pictures."""
    return LINK.findall(without_code(text))


def anchors(text: str) -> set[str]:
    """The anchors of a page's headings, as GitHub and MkDocs name them."""
    headings = re.findall(r"^#+ (.+)$", BLOCK.sub("", text), re.MULTILINE)
    plain = [re.sub(r"[^\w\- ]", "", heading.lower().replace("`", "")).strip() for heading in headings]
    return {re.sub(r"\s", "-", heading) for heading in plain}
