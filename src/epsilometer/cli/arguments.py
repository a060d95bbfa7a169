"""Shared parts of the commands: adding them to the parser, and parsing their options."""

from __future__ import annotations

import argparse
import inspect
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import NoneType
from typing import Any, get_args, get_origin, get_type_hints

from epsilometer.core.arguments import AtLeastOne, Count, Epsilon, Lambda, Positive

Commands = Any
"""What argparse's `add_subparsers` returns."""


def add_command(commands: Commands, name: str, run: Callable[..., int | None], about: str) -> argparse.ArgumentParser:
    """Add a command that runs a function; `about` is its help."""
    parser: argparse.ArgumentParser = commands.add_parser(name, help=about, description=about)
    parser.set_defaults(run=run)
    return parser


def add_results(parser: argparse.ArgumentParser) -> None:
    """Add the option that names the folder of results."""
    parser.add_argument("--results", type=Path, default=Path("results"), help="the folder that holds the tables")


def positive(text: str) -> float:
    """A number above 0."""
    value = float(text)
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text} is not above 0")
    return value


def count(text: str) -> int:
    """A whole number that is not negative."""
    value = int(text)
    if value < 0:
        raise argparse.ArgumentTypeError(f"{text} is below 0")
    return value


def at_least_one(text: str) -> int:
    """A whole number above 0."""
    if count(text) == 0:
        raise argparse.ArgumentTypeError("0 is too few")
    return int(text)


def number_or_table(text: str) -> float | Path:
    """A number above 0, or the path of a table that holds it."""
    try:
        float(text)
    except ValueError:
        return Path(text)
    return positive(text)


PARSERS: Mapping[Any, Callable[[str], Any]] = {
    Positive: positive,
    Count: count,
    AtLeastOne: at_least_one,
    Epsilon: number_or_table,
    Lambda: number_or_table,
    Path: Path,
    str: str,
}
"""The parser of a word of the command line, by the type of the parameter."""


def add_parameters(parser: argparse.ArgumentParser, function: Callable[..., Any]) -> None:
    """Add an option `--name` for each parameter of a function; a sequence takes several words."""
    for name, (kind, several, parameter) in parameters(function).items():
        options: dict[str, Any] = {"type": PARSERS[kind], "required": parameter.default is parameter.empty}
        if not options["required"]:
            options["default"] = parameter.default
        if several:
            options["nargs"] = "+" if options["required"] else "*"
        meaning = get_args(kind)[1] if get_args(kind) else "a path" if kind is Path else "a name"
        words = meaning.replace("a number", "numbers").replace("a path", "paths") if several else meaning
        parser.add_argument(f"--{name.replace('_', '-')}", help=words, **options)


def parameters(function: Callable[..., Any]) -> dict[str, tuple[Any, bool, inspect.Parameter]]:
    """The type of each parameter of a function, and whether it takes a sequence of such values."""
    hints = get_type_hints(function, include_extras=True)
    found = {}
    for name, parameter in inspect.signature(function).parameters.items():
        hint = hints[name]
        several = get_origin(hint) is not None and get_origin(hint) in (Sequence, list)
        if several:
            (hint,) = get_args(hint)
        elif NoneType in get_args(hint):
            (hint,) = (kind for kind in get_args(hint) if kind is not NoneType)
        if hint not in PARSERS:
            raise TypeError(f"{function.__name__} takes {name} of the type {hint}, which no command line can give")
        found[name] = (hint, several, parameter)
    return found
