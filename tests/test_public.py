"""The public names: all there, documented with examples that run, and quick to import."""

from __future__ import annotations

import ast
import doctest
import inspect
import subprocess
import sys
import textwrap
import typing
from importlib import import_module
from typing import Any

import pytest

import epsilometer
from epsilometer.core import EpsilometerError, Guarantee
from epsilometer.layers import PACKAGE

NAMES = {name: f"epsilometer.{module}" for module, names in epsilometer.PUBLIC.items() for name in names}
"""The module that each public name is imported from."""
WITH_EXAMPLES = sorted(set(NAMES) - {"Mechanism", "Verdict"})
"""All but a protocol and an alias."""
HEAVY = ("matplotlib", "mpmath", "pandas", "pydantic", "scipy", "seaborn", "sklearn", "snakemake", "statsmodels")
MODULES = sorted(
    {"epsilometer.core.functions", "epsilometer", *(getattr(epsilometer, name).__module__ for name in WITH_EXAMPLES)}
)
"""The package, the module of plain functions, and the modules that define the public names."""


def in_a_fresh_process(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout


def test_the_names_are_those_of_the_table() -> None:
    assert epsilometer.__all__ == sorted(NAMES)
    assert len(NAMES) == sum(map(len, epsilometer.PUBLIC.values()))
    assert set(epsilometer.__all__) <= set(dir(epsilometer))


def test_a_type_checker_sees_the_same_names_as_the_table() -> None:
    """What stands below `if TYPE_CHECKING` is what the table says, from the same modules."""
    tree = ast.parse((PACKAGE / "__init__.py").read_text())
    (block,) = (node for node in tree.body if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING")
    seen = {alias.name: node.module for node in block.body if isinstance(node, ast.ImportFrom) for alias in node.names}
    assert seen == NAMES


@pytest.mark.parametrize("name", sorted(NAMES))
def test_each_name_is_that_of_its_module(name: str) -> None:
    assert getattr(epsilometer, name) is getattr(import_module(NAMES[name]), name)


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'epsilometer' has no attribute 'blackbox'"):
        _ = epsilometer.blackbox
    with pytest.raises(ImportError, match="cannot import name 'blackbox'"):
        exec("from epsilometer import blackbox")


def test_everything_can_be_imported_at_once() -> None:
    names: dict[str, Any] = {}
    exec("from epsilometer import *", names)
    assert set(names) - {"__builtins__"} == set(NAMES)
    with pytest.raises(names["EpsilometerError"]):
        names["Guarantee"](0.0, "replace-one")
    assert (names["EpsilometerError"], names["Guarantee"]) == (EpsilometerError, Guarantee)


@pytest.mark.parametrize("name", sorted(set(NAMES) - {"Verdict"}))
def test_each_name_says_what_it_is(name: str) -> None:
    """In a docstring of its own, which is a sentence."""
    noun = getattr(epsilometer, name)
    own = noun.__dict__.get("__doc__") if isinstance(noun, type) else noun.__doc__
    assert own, name
    assert not own.startswith(f"{name}("), "the one that a dataclass makes of its fields"
    assert ". " in f"{own} ".replace("\n", " ")


def test_the_verdicts_say_what_they_are() -> None:
    """An alias has no docstring of its own; the text below it is what readers and documentation see."""
    tree = ast.parse((PACKAGE / "core" / "evidence.py").read_text())
    texts = {
        ast.unparse(one.targets[0]): after.value.value
        for one, after in zip(tree.body, tree.body[1:], strict=False)
        if isinstance(one, ast.Assign) and isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant)
    }
    assert "exceeded" in str(texts["Verdict"])
    assert set(typing.get_args(epsilometer.Verdict)) == {"violated", "tight", "consistent", "underpowered"}


@pytest.mark.parametrize("name", WITH_EXAMPLES)
def test_each_docstring_has_an_example_and_names_the_parameters(name: str) -> None:
    noun = getattr(epsilometer, name)
    text = inspect.getdoc(noun) or ""
    assert ">>> " in text
    if name == "EpsilometerError":  # it takes what any exception takes
        return
    explained = textwrap.dedent(text.partition(">>> ")[0])
    for parameter in inspect.signature(noun).parameters:
        documented = f"`{parameter}`" in explained or has_text(noun, parameter)
        assert documented, f"{name} says nothing of {parameter}"


def has_text(noun: Any, field: str) -> bool:
    """Whether a text stands below the field of a class, or of one that it inherits from."""
    for each in noun.__mro__ if isinstance(noun, type) else ():
        if each.__module__.startswith("epsilometer."):
            (tree,) = ast.parse(textwrap.dedent(inspect.getsource(each))).body
            assert isinstance(tree, ast.ClassDef)
            for one, after in zip(tree.body, tree.body[1:], strict=False):
                named = isinstance(one, ast.AnnAssign) and ast.unparse(one.target) == field
                if named and isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant):
                    return True
    return False


@pytest.mark.parametrize("module", MODULES)
def test_the_examples_do_what_they_say(module: str) -> None:
    found = doctest.testmod(import_module(module))
    assert found.attempted >= 2
    assert found.failed == 0


def test_importing_takes_under_three_tenths_of_a_second_and_the_nouns_load_nothing_heavy() -> None:
    """Processor time of the import, the best of five. It does not even load numpy; the nouns load numpy alone."""
    code = """
        import sys, time
        before = time.process_time()
        import epsilometer
        took, bare = time.process_time() - before, "numpy" in sys.modules
        epsilometer.Guarantee, epsilometer.NeighbouringPair, epsilometer.Estimate, epsilometer.Witness
        print(took, bare, *sorted({name.partition(".")[0] for name in sys.modules}))
    """
    runs = [in_a_fresh_process(textwrap.dedent(code)).split() for _ in range(5)]
    assert min(float(run[0]) for run in runs) < 0.3
    assert {run[1] for run in runs} == {"False"}
    assert "numpy" in runs[0]
    assert not set(HEAVY) & set(runs[0])
