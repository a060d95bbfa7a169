"""The layers of the package, and a hash of the code that a job stands on.

A layer is a folder of the package. It may import only layers that stand above it in `LAYERS`. A workflow rule carries the
hash of its layer and of every layer that this one imports, directly or not: editing one of their files reruns the rule's
jobs, and editing any other file does not.
"""

from __future__ import annotations

import ast
import hashlib
from functools import cache
from pathlib import Path

LAYERS = (
    "core",
    "data",
    "erm",
    "mechanisms",
    "pairs",
    "audits",
    "libraries",
    "experiments",
    "claims",
    "figures",
    "report",
    "cli",
)
PACKAGE = Path(__file__).parent
SOURCES = (".py", ".html", ".css", ".js")
"""What a layer's files end in that count: its code, and the page's template, style and script."""


def code_hash(layer: str, package: Path = PACKAGE) -> str:
    """A short hash of the sources of a layer and of all that it imports."""
    digest = hashlib.sha256()
    for name in sorted(stands_on(layer, package)):
        for source in sorted(path for path in (package / name).rglob("*") if path.suffix in SOURCES):
            digest.update(source.relative_to(package).as_posix().encode() + b"\0" + source.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


def stands_on(layer: str, package: Path = PACKAGE) -> set[str]:
    """The layer and every layer that it imports, directly or not."""
    found, waiting = set(), [layer]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting.extend(imported_layers(name, package))
    return found


@cache
def imported_layers(layer: str, package: Path = PACKAGE) -> frozenset[str]:
    """The layers that a layer's files name in their import statements."""
    names = set()
    for source in (package / layer).rglob("*.py"):
        for node in ast.walk(ast.parse(source.read_text())):
            if isinstance(node, ast.ImportFrom):
                module = ".".join(filter(None, [_relative_to(source, node.level, package), node.module]))
                names.update([module, *(f"{module}.{alias.name}" for alias in node.names)])
            elif isinstance(node, ast.Import):
                names.update(alias.name for alias in node.names)
    parts = [name.split(".") for name in names if name.startswith("epsilometer.")]
    return frozenset(part[1] for part in parts if part[1] in LAYERS)


def _relative_to(source: Path, level: int, package: Path) -> str:
    """The module that a relative import of this level starts from; nothing for an absolute one."""
    if level == 0:
        return ""
    folder = source.relative_to(package).parts[:-1]
    return ".".join(["epsilometer", *folder[: len(folder) + 1 - level]])
