"""Layers import only those above them, and a code hash follows exactly the files that a layer stands on."""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from epsilometer.layers import (
    DEPTH,
    LAYERS,
    PACKAGE,
    code_hash,
    imported_layers,
    imported_units,
    sources,
    stands_on,
    unit_of,
)

pytestmark = pytest.mark.slow

WHOLE = [layer for layer in LAYERS if layer not in DEPTH]
"""The layers that are units."""


def units(package: Path = PACKAGE) -> list[str]:
    """Every unit of the package."""
    modules = (path.relative_to(package.parent).with_suffix("").parts for path in package.rglob("*.py"))
    named = {unit_of(".".join(parts).removesuffix(".__init__"), package) for parts in modules}
    return sorted(named - {""})


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


@pytest.mark.parametrize("unit", ["core", "data", "erm", "mechanisms", "evidence", "papers/nips08/experiments"])
def test_what_a_unit_loads_is_part_of_its_hash(unit: str) -> None:
    """All modules of a unit, imported in a fresh process, load nothing that its hash leaves out, but for empty packages."""
    paths = [path.relative_to(PACKAGE.parent).with_suffix("") for path in sources(unit) if path.suffix == ".py"]
    modules = [".".join(path.parts).removesuffix(".__init__") for path in paths]
    code = f"import sys, {', '.join(modules)}; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = {unit_of(name) for name in run.stdout.split() if name.startswith("epsilometer.")} - {""}
    assert unit in loaded
    assert loaded <= stands_on(unit)


def copied(folder: Path) -> Path:
    return shutil.copytree(PACKAGE, folder / "epsilometer", ignore=shutil.ignore_patterns("__pycache__"))


def hashes(package: Path) -> dict[str, str]:
    return {unit: code_hash(unit, package=package) for unit in units(package)}


def edited(package: Path, path: str) -> set[str]:
    """The units whose hashes change if a comment is added to a file."""
    imported_units.cache_clear()
    before = hashes(package)
    with (package / path).open("a") as file:
        file.write("# a comment\n")
    after = hashes(package)
    return {unit for unit in before if before[unit] != after[unit]}


def test_units_are_layers_parts_of_papers_and_libraries() -> None:
    assert {unit for unit in units() if "/" not in unit} == set(WHOLE)
    assert {"papers/nips08/claims", "papers/nips08/experiments", "papers/curves", "libraries/registry"} <= set(units())
    assert {unit for unit in units() if unit.startswith("libraries/") and (PACKAGE / unit).is_dir()} == {
        f"libraries/{path.parent.name}" for path in (PACKAGE / "libraries").glob("*/__init__.py")
    }
    assert not {"papers", "papers/nips08", "libraries"} & set(units())
    assert all(unit.count("/") < DEPTH.get(unit.split("/")[0], 1) for unit in units())


@pytest.mark.parametrize(
    ("module", "unit"),
    [
        ("epsilometer.core.tables", "core"),
        ("epsilometer.auditors.black_box.scores", "auditors"),
        ("epsilometer.papers.nips08.claims.s1_introduction", "papers/nips08/claims"),
        ("epsilometer.papers.nips08.claims", "papers/nips08/claims"),
        ("epsilometer.papers.nips08.figures", "papers/nips08/figures"),
        ("epsilometer.papers.nips08.figures.FIGURES", "papers/nips08/figures"),
        ("epsilometer.papers.curves", "papers/curves"),
        ("epsilometer.papers.curves.error_table", "papers/curves"),
        ("epsilometer.papers.nips08", ""),
        ("epsilometer.papers", ""),
        ("epsilometer.libraries.diffprivlib.calls", "libraries/diffprivlib"),
        ("epsilometer.libraries.registry.libraries", "libraries/registry"),
        ("epsilometer.config", ""),
        ("epsilometer", ""),
    ],
)
def test_the_unit_of_a_module(module: str, unit: str) -> None:
    assert unit_of(module) == unit


def test_every_file_of_code_is_in_one_unit() -> None:
    found = [path for unit in units() for path in sources(unit)]
    assert len(found) == len(set(found))
    alone = {path.relative_to(PACKAGE).as_posix() for path in PACKAGE.rglob("*.py")} - {
        path.relative_to(PACKAGE).as_posix() for path in found
    }
    empty = {name for name in alone if name.endswith("__init__.py")}
    assert alone - empty == {"layers.py", "config.py"}
    assert all(not imports_of(PACKAGE / name) for name in empty - {"__init__.py"})


def imports_of(path: Path) -> list[ast.stmt]:
    return [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, (ast.Import, ast.ImportFrom))]


@pytest.mark.parametrize("unit", WHOLE)
def test_an_edit_changes_the_hash_of_what_stands_on_it(tmp_path: Path, unit: str) -> None:
    """And nothing else: what a unit stands on is what it imports, and what that imports."""
    package = copied(tmp_path)
    changed = edited(package, sorted((package / unit).glob("*.py"))[-1].relative_to(package).as_posix())
    assert changed == {each for each in units(package) if unit in stands_on(each, package)}
    above, below = LAYERS[: LAYERS.index(unit)], {each.split("/")[0] for each in changed}
    assert unit in changed
    assert not below & set(above)


def test_an_edit_of_one_papers_claims_changes_its_own_hash_and_those_that_import_it(tmp_path: Path) -> None:
    """Neither those of its experiments and figures nor those of any other paper."""
    package = copied(tmp_path)
    changed = edited(package, "papers/slides08/claims/sign.py")
    assert changed == {each for each in units(package) if "papers/slides08/claims" in stands_on(each, package)}
    assert "papers/slides08/claims" in changed
    assert not {unit for unit in changed if unit.endswith(("/experiments", "/figures"))}
    assert not {unit for unit in changed if unit.endswith("/claims")} - {"papers/slides08/claims"}
    assert not changed & set(WHOLE)


def test_claims_that_others_build_on_change_those_too(tmp_path: Path) -> None:
    """Some papers' claims decide by those of nips08."""
    package, unit = copied(tmp_path), "papers/nips08/claims"
    users = {each for each in units(package) if unit in imported_units(each, package)} - {unit}
    assert {each.split("/")[-1] for each in users} >= {"claims"}
    assert users <= edited(package, f"{unit}/__init__.py")


def test_an_edit_of_a_librarys_lock_changes_that_library_alone(tmp_path: Path) -> None:
    package = copied(tmp_path)
    assert edited(package, "libraries/diffprivlib/requirements.lock") == {"libraries/diffprivlib"}


def test_several_units_have_one_hash_of_all_that_they_stand_on(tmp_path: Path) -> None:
    package = copied(tmp_path)
    one, other = "papers/claim", "papers/slides08/claims"
    before = code_hash(one, other, package=package)
    assert before == code_hash(other, one, package=package)
    assert before != code_hash(one, package=package)
    assert other in edited(package, "papers/slides08/claims/sign.py")
    assert code_hash(one, other, package=package) != before


def test_a_unit_that_is_not_there_is_an_error() -> None:
    with pytest.raises(ValueError, match="there is no unit papers/nips09/claims of the package"):
        code_hash("papers/nips09/claims")


def test_new_renamed_and_removed_files_change_the_hash(tmp_path: Path) -> None:
    package = copied(tmp_path)
    unit = "papers/nips08/experiments"
    found = [code_hash(unit, package=package)]
    for change in (
        lambda: (package / "data" / "more.py").write_text("x = 1\n"),
        lambda: (package / "data" / "more.py").rename(package / "data" / "moved.py"),
        lambda: (package / "data" / "deeper").mkdir(),
        lambda: (package / "data" / "moved.py").rename(package / "data" / "deeper" / "moved.py"),
    ):
        change()
        found.append(code_hash(unit, package=package))
    assert found[2] != found[1] != found[0]
    assert found[3] == found[2]
    assert found[4] not in found[:4]
    shutil.rmtree(package / "data" / "deeper")
    assert code_hash(unit, package=package) == found[0]


def test_files_outside_the_layers_do_not_matter(tmp_path: Path) -> None:
    package = copied(tmp_path)
    before = hashes(package)
    (package / "data" / "notes.txt").write_text("no code")
    (package / "layers.py").write_text("# changed\n")
    assert hashes(package) == before


def test_the_hash_does_not_depend_on_the_place(tmp_path: Path) -> None:
    assert hashes(copied(tmp_path)) == hashes(PACKAGE)
    assert all(re.fullmatch("[0-9a-f]{16}", value) for value in hashes(PACKAGE).values())


def fake(folder: Path, **texts: str) -> Path:
    """A package with one file in each named folder; "__" stands for a deeper one."""
    for name, text in texts.items():
        place = folder.joinpath(*name.split("__"))
        place.mkdir(parents=True)
        (place / "__init__.py").write_text(text)
    return folder


def test_imports_of_every_kind_are_followed(tmp_path: Path) -> None:
    package = fake(
        tmp_path,
        core="import numpy",
        data="def lazy():\n    from epsilometer.core.tables import Table",
        erm="import epsilometer.core.nouns as nouns, json",
        mechanisms="if True:\n    from epsilometer.erm import solver",
        papers__one__claims="from epsilometer.mechanisms import a\nfrom epsilometer.data import b",
        papers__two__claims="from epsilometer.papers.one.claims.shared import c",
        papers__two__figures="from epsilometer.papers.one import claims",
        figures="'''from epsilometer.data import x'''\nimport epsilometer_of_others.data",
        cli="from epsilometer.config import Config",
    )
    assert stands_on("core", package) == {"core"}
    assert stands_on("data", package) == {"data", "core"}
    assert stands_on("erm", package) == {"erm", "core"}
    assert stands_on("mechanisms", package) == {"mechanisms", "erm", "core"}
    first = {"papers/one/claims", "mechanisms", "erm", "data", "core"}
    assert stands_on("papers/one/claims", package) == first
    assert stands_on("papers/two/claims", package) == {"papers/two/claims", *first}
    assert stands_on("papers/two/figures", package) == {"papers/two/figures", *first}
    assert stands_on("figures", package) == {"figures"}
    assert stands_on("cli", package) == {"cli"}


@pytest.mark.parametrize("source", ["from epsilometer import core", "from ..core import tables"])
def test_less_usual_imports_are_followed(tmp_path: Path, source: str) -> None:
    assert stands_on("data", fake(tmp_path, core="", data=source)) == {"data", "core"}
