"""The layers of the package, and a hash of the code that a job stands on.

A layer is a folder of the package. It may import only layers that stand above it in `LAYERS`. The code of a job is hashed by
units: a unit is a layer; but each file of `papers` and `figures`, each part of a paper's folder and each library is one. A
rule of the workflow carries the hash of its unit and of every unit that this one imports, directly or not: editing one of
their files reruns the rule's jobs, and editing any other file does not.
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
    "auditors",
    "membership",
    "evidence",
    "witnesses",
    "libraries",
    "figures",
    "papers",
    "report",
    "cli",
)
PACKAGE = Path(__file__).parent
SOURCES = (".py", ".html", ".css", ".js", ".lock")
"""What a layer's files end in that count: its code, the page's template, style and script, and libraries' locks."""
DEPTH = {"papers": 3, "libraries": 2, "figures": 2}
"""How many parts the name of a unit has in these layers: papers/nips08/claims, libraries/diffprivlib, figures/style."""


def code_hash(*units: str, package: Path = PACKAGE) -> str:
    """A short hash of the sources of these units and of all that they import."""
    digest = hashlib.sha256()
    for unit in sorted(set().union(*(stands_on(unit, package) for unit in units))):
        for source in sources(unit, package):
            digest.update(source.relative_to(package).as_posix().encode() + b"\0" + source.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


def sources(unit: str, package: Path = PACKAGE) -> list[Path]:
    """The files of a unit: a folder's, or a single module."""
    folder = package / unit
    if folder.is_dir():
        return sorted(path for path in folder.rglob("*") if path.suffix in SOURCES)
    module = folder.with_suffix(".py")
    if not module.is_file():
        raise ValueError(f"there is no unit {unit} of the package")
    return [module]


def unit_of(module: str, package: Path = PACKAGE) -> str:
    """The unit that a module, say epsilometer.papers.nips08.claims.s1_introduction, belongs to; '' if it is in none."""
    parts = module.split(".")[1:]
    if not parts or parts[0] not in LAYERS:
        return ""
    depth = DEPTH.get(parts[0], 1)
    for length in range(depth, 1, -1):  # a folder that is less deep, say papers/nips08, holds several units
        unit = package.joinpath(*parts[:length])
        if len(parts) >= length and (unit.with_suffix(".py").is_file() or (length == depth and unit.is_dir())):
            return "/".join(parts[:length])
    return parts[0] if parts[0] not in DEPTH else ""


def stands_on(unit: str, package: Path = PACKAGE) -> set[str]:
    """The unit and every unit that it imports, directly or not."""
    found, waiting = set(), [unit]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting.extend(imported_units(name, package))
    return found


@cache
def imported_units(unit: str, package: Path = PACKAGE) -> frozenset[str]:
    """The units that a unit's files name in their import statements."""
    names: set[str] = set()
    for source in sources(unit, package):
        if source.suffix == ".py":
            names |= imported_modules(source, package)
    return frozenset(filter(None, (unit_of(name, package) for name in names)))


def imported_layers(layer: str, package: Path = PACKAGE) -> frozenset[str]:
    """The layers that a layer's files name in their import statements."""
    names = set().union(*(imported_modules(source, package) for source in (package / layer).rglob("*.py")))
    return frozenset(name.split(".")[1] for name in names if name.split(".")[1] in LAYERS)


def imported_modules(source: Path, package: Path) -> set[str]:
    """The modules of the package that a file names in its import statements."""
    names = set()
    for node in ast.walk(ast.parse(source.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            module = ".".join(filter(None, [_relative_to(source, node.level, package), node.module]))
            names.update([module, *(f"{module}.{alias.name}" for alias in node.names)])
        elif isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
    return {name for name in names if name.startswith("epsilometer.")}


def _relative_to(source: Path, level: int, package: Path) -> str:
    """The module that a relative import of this level starts from; nothing for an absolute one."""
    if level == 0:
        return ""
    folder = source.relative_to(package).parts[:-1]
    return ".".join(["epsilometer", *folder[: len(folder) + 1 - level]])
