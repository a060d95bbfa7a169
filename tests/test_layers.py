"""Layers import only those above them, and a code hash follows exactly the files that a layer stands on."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from epsilometer.layers import LAYERS, PACKAGE, code_hash, imported_layers, stands_on

CHANGED_BY = {  # which layers' hashes an edit of a layer changes, among those whose imports are settled
    "core": {"core", "data", "erm", "mechanisms", "experiments", "report", "cli"},
    "data": {"data", "experiments", "report", "cli"},
    "erm": {"erm", "mechanisms", "experiments", "report", "cli"},
    "mechanisms": {"mechanisms", "experiments", "report", "cli"},
    "experiments": {"experiments", "report", "cli"},
    "figures": {"figures", "report", "cli"},
    "report": {"report", "cli"},
    "cli": {"cli"},
}


@pytest.mark.parametrize("layer", LAYERS)
def test_no_layer_imports_one_that_stands_below_it(layer: str) -> None:
    assert imported_layers(layer) <= set(LAYERS[: LAYERS.index(layer) + 1])


def test_every_folder_of_the_package_is_a_layer() -> None:
    folders = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    assert folders == set(LAYERS)
    assert list(dict.fromkeys(LAYERS)) == list(LAYERS)


@pytest.mark.parametrize("layer", LAYERS)
def test_imports_are_of_the_kind_that_the_hash_sees(layer: str) -> None:
    """Neither relative ones nor `from epsilometer import <layer>`, which it would overlook."""
    for path in (PACKAGE / layer).rglob("*.py"):
        text = path.read_text()
        assert not re.search(r"^\s*from\s+\.", text, re.MULTILINE), path
        for names in re.findall(r"^\s*from epsilometer import (.*)$", text, re.MULTILINE):
            assert not set(re.findall(r"\w+", names)) & set(LAYERS), path


@pytest.mark.parametrize("layer", ["core", "data", "erm", "mechanisms", "experiments"])
def test_what_a_layer_loads_is_part_of_its_hash(layer: str) -> None:
    """All modules of a layer, imported in a fresh process, load no layer that its hash leaves out."""
    paths = [path.relative_to(PACKAGE.parent).with_suffix("") for path in sorted((PACKAGE / layer).rglob("*.py"))]
    modules = [".".join(path.parts).removesuffix(".__init__") for path in paths]
    code = f"import sys, {', '.join(modules)}; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = {name.split(".")[1] for name in run.stdout.split() if name.startswith("epsilometer.")}
    assert layer in loaded
    assert loaded & set(LAYERS) <= stands_on(layer)


def copied(folder: Path) -> Path:
    return shutil.copytree(PACKAGE, folder / "epsilometer", ignore=shutil.ignore_patterns("__pycache__"))


def hashes(package: Path) -> dict[str, str]:
    return {layer: code_hash(layer, package) for layer in LAYERS}


@pytest.mark.parametrize("edited", CHANGED_BY)
def test_an_edit_changes_the_hash_of_the_layers_that_stand_on_it(tmp_path: Path, edited: str) -> None:
    package = copied(tmp_path)
    before = hashes(package)
    with sorted((package / edited).glob("*.py"))[-1].open("a") as file:
        file.write("# a comment\n")
    after = hashes(package)
    changed = {layer for layer in LAYERS if before[layer] != after[layer]}
    assert changed & set(CHANGED_BY) - {"figures"} == CHANGED_BY[edited] - {"figures"}
    assert ("figures" in changed) == (edited in stands_on("figures"))
    if edited in ("data", "erm", "mechanisms"):
        assert "figures" not in changed


def test_new_renamed_and_removed_files_change_the_hash(tmp_path: Path) -> None:
    package = copied(tmp_path)
    found = [code_hash("experiments", package)]
    for change in (
        lambda: (package / "data" / "more.py").write_text("x = 1\n"),
        lambda: (package / "data" / "more.py").rename(package / "data" / "moved.py"),
        lambda: (package / "data" / "deeper").mkdir(),
        lambda: (package / "data" / "moved.py").rename(package / "data" / "deeper" / "moved.py"),
    ):
        change()
        found.append(code_hash("experiments", package))
    assert found[2] != found[1] != found[0]
    assert found[3] == found[2]
    assert found[4] not in found[:4]
    shutil.rmtree(package / "data" / "deeper")
    assert code_hash("experiments", package) == found[0]


def test_files_outside_the_layers_do_not_matter(tmp_path: Path) -> None:
    package = copied(tmp_path)
    before = hashes(package)
    (package / "data" / "notes.txt").write_text("no code")
    (package / "layers.py").write_text("# changed\n")
    assert hashes(package) == before


def test_the_hash_does_not_depend_on_the_place(tmp_path: Path) -> None:
    assert hashes(copied(tmp_path)) == hashes(PACKAGE)
    assert all(re.fullmatch("[0-9a-f]{16}", value) for value in hashes(PACKAGE).values())


def fake(folder: Path, **sources: str) -> Path:
    """A package with one file in each named layer."""
    for layer, source in sources.items():
        (folder / layer).mkdir()
        (folder / layer / "__init__.py").write_text(source)
    return folder


def test_imports_of_every_kind_are_followed(tmp_path: Path) -> None:
    package = fake(
        tmp_path,
        core="import numpy",
        data="def lazy():\n    from epsilometer.core.tables import read_table",
        erm="import epsilometer.core.nouns as nouns, json",
        mechanisms="if True:\n    from epsilometer.erm import solver",
        experiments="from epsilometer.mechanisms import a\nfrom epsilometer.data import b",
        figures="'''from epsilometer.data import x'''\nimport epsilometer_of_others.data",
        cli="from epsilometer.config import Config",
    )
    assert stands_on("core", package) == {"core"}
    assert stands_on("data", package) == {"data", "core"}
    assert stands_on("erm", package) == {"erm", "core"}
    assert stands_on("mechanisms", package) == {"mechanisms", "erm", "core"}
    assert stands_on("experiments", package) == {"experiments", "mechanisms", "erm", "data", "core"}
    assert stands_on("figures", package) == {"figures"}
    assert stands_on("cli", package) == {"cli"}


@pytest.mark.parametrize("source", ["from epsilometer import core", "from ..core import tables"])
def test_less_usual_imports_are_followed(tmp_path: Path, source: str) -> None:
    assert stands_on("data", fake(tmp_path, core="", data=source)) == {"data", "core"}
