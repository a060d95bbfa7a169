"""The configuration: the shipped files are right, and each mistake has its own line that says what would be right."""

from __future__ import annotations

import copy
import json
import math
from pathlib import Path
from typing import Any

import pytest
import yaml

from epsilometer.cli import main
from epsilometer.config import Config, EpsilonGrid, load_config
from epsilometer.core import EpsilometerError

FOLDER = Path(__file__).parents[1] / "config"


def shipped(name: str) -> dict[str, Any]:
    values: dict[str, Any] = yaml.safe_load((FOLDER / name).read_text())
    return values


def merged(base: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    """What Snakemake makes of two files: sections are merged key by key, everything else is replaced."""
    result = copy.deepcopy(base)
    for key, value in changes.items():
        both = isinstance(value, dict) and isinstance(result.get(key), dict)
        result[key] = merged(result[key], value) if both else copy.deepcopy(value)
    return result


def without(values: dict[str, Any], *path: str) -> dict[str, Any]:
    result = copy.deepcopy(values)
    section = result
    for key in path[:-1]:
        section = section[key]
    del section[path[-1]]
    return result


def complaints(values: dict[str, Any]) -> list[str]:
    with pytest.raises(EpsilometerError) as caught:
        load_config(values)
    return str(caught.value).split("\n")


DEFAULT = shipped("config.yaml")


def test_the_default_is_the_papers_scale() -> None:
    config = load_config(DEFAULT)
    assert (config.folds, config.restarts) == (5, 200)
    assert (config.reproduction.points, config.reproduction.lam, config.reproduction.increment) == (17500, 0.01, 1000)
    assert config.datasets == ["separable", "unseparable", "breast_cancer", "rand_hie"]


def test_the_quick_one_changes_what_it_names_and_keeps_the_rest() -> None:
    config = load_config(merged(DEFAULT, shipped("quick.yaml")))
    assert config.restarts == 20
    assert config.lambdas == [0.00001, 0.001, 0.1]
    assert config.reproduction.points == 2500
    assert config.reproduction.lam == 0.01
    assert config.extension.holdout == 0.36
    assert config.results != load_config(DEFAULT).results


def test_the_merge_is_snakemakes() -> None:
    utils: Any = pytest.importorskip("snakemake.utils")
    theirs = copy.deepcopy(DEFAULT)
    utils.update_config(theirs, shipped("quick.yaml"))
    assert theirs == merged(DEFAULT, shipped("quick.yaml"))


def test_the_schema_file_is_what_the_command_prints(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schema"]) == 0
    assert capsys.readouterr().out == (FOLDER / "schema.json").read_text()


def test_the_schema_agrees_with_the_check() -> None:
    """Another reader of the schema accepts the default and refuses mistakes."""
    jsonschema: Any = pytest.importorskip("jsonschema")
    validator = jsonschema.Draft202012Validator(json.loads((FOLDER / "schema.json").read_text()))
    assert validator.is_valid(DEFAULT)
    assert validator.is_valid(merged(DEFAULT, shipped("quick.yaml")))
    mistakes = ({"sede": 1}, {"folds": 1}, {"extension": {"epsilon": -1}}, {"extension": {"datasets": ["adult"]}})
    for change in (*mistakes, {"libraries": {"names": ["numpy"]}}):
        assert not validator.is_valid(merged(DEFAULT, change)), change


MISTAKES: dict[str, tuple[dict[str, Any], str]] = {
    "misspelt key": (
        {"restart": 5},
        "restart is not a key; the keys at the top are seed, results, page, folds, restarts, lambdas, reproduction",
    ),
    "misspelt key in a section": (
        {"extension": {"epsilonn": 1.0}},
        "extension.epsilonn is not a key; the keys there are datasets, csv, holdout, increment, epsilon, epsilons",
    ),
    "misspelt key two sections down": (
        {"reproduction": {"epsilons": {"lowest": 1.0}}},
        "reproduction.epsilons.lowest is not a key; the keys there are smallest, largest, per_decade",
    ),
    "negative epsilon": ({"extension": {"epsilon": -0.5}}, "extension.epsilon is -0.5; it must be greater than 0"),
    "zero lambda": ({"lambdas": [0.1, 0]}, "lambdas.1 is 0; it must be greater than 0"),
    "negative seed": ({"seed": -1}, "seed is -1; it must be greater than or equal to 0"),
    "infinite epsilon": ({"extension": {"epsilon": math.inf}}, "extension.epsilon is inf; it must be a finite number"),
    "epsilon that is no number": (
        {"extension": {"epsilon": math.nan}},
        "extension.epsilon is nan; it must be a finite number",
    ),
    "one fold": ({"folds": 1}, "folds is 1; it must be greater than or equal to 2"),
    "share above one": ({"extension": {"holdout": 1.5}}, "extension.holdout is 1.5; it must be less than 1"),
    "unknown data set": (
        {"extension": {"datasets": ["adult"]}},
        "extension.datasets: 'adult' is none of breast_cancer, rand_hie",
    ),
    "unknown library": ({"libraries": {"names": ["numpy"]}}, "libraries.names: 'numpy' is none of diffprivlib"),
    "text for a number": ({"restarts": "many"}, "restarts is 'many'; it must be a valid integer"),
    "fraction for a count": ({"restarts": 2.5}, "restarts is 2.5; it must be a valid integer"),
    "number for a list": ({"lambdas": 0.1}, "lambdas is 0.1; it must be a valid list"),
    "text for a list": (
        {"extension": {"datasets": "rand_hie"}},
        "extension.datasets is 'rand_hie'; it must be a valid list",
    ),
    "nothing for a section": ({"reproduction": None}, "reproduction is None; it must be a valid dictionary"),
    "number for a path": ({"results": 5}, "results is 5; "),
    "empty list": ({"lambdas": []}, "lambdas is []; "),
    "grid in reverse": (
        {"extension": {"epsilons": {"smallest": 10, "largest": 0.1}}},
        "extension.epsilons: smallest is 10; it must be below largest, 0.1",
    ),
    "grid of one point": (
        {"extension": {"epsilons": {"smallest": 2, "largest": 2}}},
        "extension.epsilons: smallest is 2; it must be below largest, 2",
    ),
    "increment beyond half": (
        {"reproduction": {"points": 100, "increment": 51}},
        "reproduction: increment is 51; it must be at most half of points, 50",
    ),
    "the same lambda twice": ({"lambdas": [0.1, 0.2, 0.1]}, "lambdas"),
    "the same data set twice": (
        {"extension": {"datasets": ["rand_hie"] * 2}},
        "extension.datasets",
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_has_one_line(mistake: str) -> None:
    change, sentence = MISTAKES[mistake]
    lines = complaints(merged(DEFAULT, change))
    assert len(lines) == 1
    assert lines[0].startswith(f"config: {sentence}")


@pytest.mark.parametrize(
    ("path", "sentence"),
    [
        (["folds"], "folds is missing; it stands for: Folds of every cross-validation."),
        (["extension"], "extension is missing; "),
        (
            ["reproduction", "lam"],
            "reproduction.lam is missing; it stands for: The regularisation lambda that the paper states.",
        ),
        (["extension", "epsilons", "largest"], "extension.epsilons.largest is missing; "),
    ],
)
def test_a_missing_key_has_one_line(path: list[str], sentence: str) -> None:
    lines = complaints(without(DEFAULT, *path))
    assert len(lines) == 1
    assert lines[0].startswith(f"config: {sentence}")


@pytest.mark.parametrize(
    ("change", "value"), [({"lambdas": [0.1, 0.2, 0.1]}, "0.1"), ({"extension": {"datasets": ["rand_hie"] * 2}}, "rand_hie")]
)
def test_equal_entries_are_named(change: dict[str, Any], value: str) -> None:
    assert value in complaints(merged(DEFAULT, change))[0]


@pytest.mark.parametrize("change", [{"results": ""}, {"extension": {"csv": ""}}], ids=["results", "csv"])
def test_an_empty_path_is_a_mistake(change: dict[str, Any]) -> None:
    complaints(merged(DEFAULT, change))


def test_all_mistakes_are_reported_at_once() -> None:
    values = merged(
        without(DEFAULT, "seed"),
        {
            "folds": 0,
            "restart": 3,
            "lambdas": [1.0, -1.0, "x"],
            "reproduction": {"lam": -1, "epsilons": {"smallest": 2, "largest": 1}},
            "extension": {"datasets": ["adult", "rand_hie"], "epsilon": 0},
        },
    )
    lines = complaints(values)
    keys = [line.removeprefix("config: ").split(" ")[0].rstrip(":") for line in lines]
    assert sorted(keys) == [
        "extension.datasets",
        "extension.epsilon",
        "folds",
        "lambdas.1",
        "lambdas.2",
        "reproduction.epsilons",
        "reproduction.lam",
        "restart",
        "seed",
    ]
    assert all(line.startswith("config: ") for line in lines)


def test_an_empty_configuration_lists_what_is_missing() -> None:
    lines = complaints({})
    assert [line.split(" ")[1] for line in lines] == list(Config.model_fields)
    assert all("is missing" in line for line in lines)


def test_numbers_that_yaml_reads_as_text_are_numbers() -> None:
    """YAML 1.1 takes 1e-7, without a point, for text."""
    values = merged(DEFAULT, yaml.safe_load("lambdas: [1e-7, 1.0e-6]"))
    assert values["lambdas"][0] == "1e-7"
    assert load_config(values).lambdas == [1e-7, 1e-6]


def test_a_csv_joins_the_data_sets() -> None:
    assert load_config(merged(DEFAULT, {"extension": {"csv": "my.csv"}})).extension_datasets == [
        "breast_cancer",
        "rand_hie",
        "own",
    ]
    config = load_config(merged(DEFAULT, {"extension": {"csv": "my.csv", "datasets": []}}))
    assert config.datasets == ["separable", "unseparable", "own"]


def test_the_arguments_are_left_alone() -> None:
    values = copy.deepcopy(DEFAULT)
    load_config(values)
    assert values == DEFAULT


@pytest.mark.parametrize(
    ("smallest", "largest", "per_decade", "expected"),
    [
        (0.1, 100, 1, [0.1, 1, 10, 100]),
        (0.01, 1, 2, [0.01, 0.03162, 0.1, 0.3162, 1]),
        (1, 10, 4, [1, 1.778, 3.162, 5.623, 10]),
        (0.5, 5, 1, [0.5, 5]),
        (1, 30, 2, [1, 3.107, 9.655, 30]),
    ],
)
def test_the_grid_is_even_on_a_log_scale(smallest: float, largest: float, per_decade: int, expected: list[float]) -> None:
    """Both ends are in it; the last case has 1.477 decades, so three steps of 30^(1/3)."""
    assert EpsilonGrid(smallest=smallest, largest=largest, per_decade=per_decade).values() == expected


def test_a_short_grid_has_both_ends() -> None:
    assert EpsilonGrid(smallest=1, largest=1.1, per_decade=1).values() == [1, 1.1]
