"""pyproject.toml, requirements.lock and environment.yml name the same dependencies in the same versions."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())
LOCK = (ROOT / "requirements.lock").read_text()
ENVIRONMENT: dict[str, Any] = yaml.safe_load((ROOT / "environment.yml").read_text())


def direct() -> dict[str, Requirement]:
    """What pyproject.toml asks for: to run, for every extra, and to build."""
    texts = [*PROJECT["project"]["dependencies"], *PROJECT["build-system"]["requires"]]
    for extra in PROJECT["project"]["optional-dependencies"].values():
        texts += extra
    return {canonicalize_name(requirement.name): requirement for requirement in map(Requirement, texts)}


def conda() -> dict[str, str]:
    """The packages of environment.yml with their versions, from conda and from pip."""
    found: dict[str, str] = {}
    for line in ENVIRONMENT["dependencies"]:
        pairs = [line.partition("=")] if isinstance(line, str) else [text.partition("==") for text in line["pip"]]
        for name, _, version in pairs:
            if not name.startswith("-"):
                assert canonicalize_name(name) not in found, f"{name} is named twice"
                found[canonicalize_name(name)] = version
    return found


def lines_of_lock() -> list[str]:
    """The requirements of the lock file, each with its hashes, on a line of its own."""
    return [line for line in LOCK.replace("\\\n", " ").splitlines() if line.strip() and not line.startswith("#")]


def locked() -> dict[str, str]:
    """The version that the lock file has for environment.yml's Python, on Linux."""
    python = conda()["python"]
    place = {"python_version": python, "python_full_version": f"{python}.0", "sys_platform": "linux"}
    place |= {"platform_machine": "x86_64", "platform_python_implementation": "CPython", "os_name": "posix"}
    versions: dict[str, str] = {}
    for line in lines_of_lock():
        requirement = Requirement(line.partition("--hash")[0].strip())
        if requirement.marker is None or requirement.marker.evaluate(place):
            name = canonicalize_name(requirement.name)
            assert name not in versions, f"{name} is locked twice"
            pins = list(requirement.specifier)
            assert [pin.operator for pin in pins] == ["=="], line
            versions[name] = pins[0].version
    return versions


@pytest.mark.parametrize("name", sorted(direct()))
def test_direct_dependencies_agree(name: str) -> None:
    version = locked()[name]
    assert conda()[name] == version
    assert direct()[name].specifier.contains(version)


def test_the_environment_names_nothing_else() -> None:
    assert set(conda()) == set(direct()) | {"python", "pip"}
    sections = [line for line in ENVIRONMENT["dependencies"] if not isinstance(line, str)]
    assert [list(section) for section in sections] == [["pip"]]
    options = [line for line in sections[0]["pip"] if line.startswith("-")]
    assert len(options) == 1
    assert options[0].split()[-2:] == ["--editable", "."]


def test_the_environments_python_will_do() -> None:
    assert SpecifierSet(PROJECT["project"]["requires-python"]).contains(conda()["python"])


def test_the_lock_file_names_no_host() -> None:
    for trace in ("://", "--index-url", "--extra-index-url", "--find-links", "--trusted-host", "-i ", " @ ", "-e "):
        assert trace not in LOCK


def test_every_locked_requirement_has_a_hash() -> None:
    lines = lines_of_lock()
    assert len(lines) > 50
    for line in lines:
        rest = line.partition("--hash")
        assert rest[1], line
        assert re.fullmatch(r"(--hash=sha256:[0-9a-f]{64}\s*)+", rest[1] + rest[2]), line[:80]
