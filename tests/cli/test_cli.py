"""The command line: exit statuses, one sentence for a user's mistake, and what reaches the experiments."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from epsilometer import __version__
from epsilometer.cli import main
from epsilometer.core import read_table, write_table
from epsilometer.figures.names import MECHANISMS
from epsilometer.mechanisms.catalogue import catalogue

DATASET = ["dataset", "separable", "--points", "60", "--holdout", "40", "--folds", "2", "--seed", "1"]
PRIVATE = ["--restarts", "2", "--seed", "1"]


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("cli") / "separable.csv"
    assert main([*DATASET, "--output", str(path)]) == 0
    return path


def run(*arguments: object) -> int:
    return main([str(argument) for argument in arguments])


def stopped(capsys: pytest.CaptureFixture[str], *arguments: object) -> int:
    """The exit status of a command that must fail, with a sentence (1) or with the usage (2)."""
    try:
        status = run(*arguments)
    except SystemExit as stop:
        status = int(stop.code or 0)
    assert capsys.readouterr().err.startswith({1: "epsilometer: ", 2: "usage: "}[status])
    return status


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["nonsense"],
        ["dataset"],
        ["dataset", "separable", "--holdout", "40", "--folds", "2", "--seed", "1"],
        ["dataset", "separable", "--holdout", "40", "--folds", "two", "--seed", "1", "--output", "x.csv"],
        ["dataset", "separable", "--holdout", "some", "--folds", "2", "--seed", "1", "--output", "x.csv"],
        ["tuning", "d.csv", "--lambdas", "--output", "x.csv"],
        ["tuning", "d.csv", "--lambdas", "0.1", "0", "--output", "x.csv"],
        ["tuning", "d.csv", "--lambdas", "0.1", "nan", "--output", "x.csv"],
        ["tuning", "d.csv", "--lambdas", "inf", "--output", "x.csv"],
        ["error_table", "d.csv", "--lam", "-0.1", "--epsilon", "1", *PRIVATE, "--output", "x.csv"],
        ["error_table", "d.csv", "--lam", "0.1", "--epsilon", "0", *PRIVATE, "--output", "x.csv"],
        ["learning_curve", "d.csv", "--lam", "1", "--epsilon", "1", "--increment", "-5", *PRIVATE, "--output", "x.csv"],
        ["epsilon_curve", "d.csv", "--lam", "1", "--epsilons", "1", "-1", *PRIVATE, "--output", "x.csv"],
        ["error_summary", "--output", "x.csv"],
        ["figures", "nips09", "--results", "r", "--datasets", "separable", "--output", "f"],
        ["schema", "extra"],
    ],
    ids=lambda arguments: " ".join(arguments)[:40] or "nothing",
)
def test_bad_usage_exits_with_2(
    arguments: Sequence[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("usage: epsilometer")
    assert list(tmp_path.iterdir()) == []


def refused(output: Path, capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    """The sentence for a command that must fail, and leave nothing behind."""
    before = sorted(output.parent.iterdir())
    assert run(*arguments, "--output", output) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("epsilometer: ")
    assert err.endswith("\n")
    assert err.count("\n") == 1
    assert sorted(output.parent.iterdir()) == before
    return err


def test_a_missing_file_is_one_sentence(tmp_path: Path, dataset: Path, capsys: pytest.CaptureFixture[str]) -> None:
    none, output = tmp_path / "none.csv", tmp_path / "x.csv"
    sentence = refused(output, capsys, "tuning", none, "--lambdas", 0.1)
    assert sentence == f"epsilometer: cannot read the data set {none}: No such file or directory\n"
    sentence = refused(output, capsys, "error_table", dataset, "--lam", none, "--epsilon", 1, *PRIVATE)
    assert sentence == f"epsilometer: cannot read the table {none}: No such file or directory\n"
    sentence = refused(output, capsys, "error_table", dataset, "--lam", 1, "--epsilon", none, *PRIVATE)
    assert sentence == f"epsilometer: cannot read the table {none}: No such file or directory\n"
    sentence = refused(output, capsys, "error_summary", none)
    assert sentence == f"epsilometer: cannot read the table {none}: No such file or directory\n"
    options = ["--holdout", 0.5, "--folds", 2, "--seed", 1]
    sentence = refused(output, capsys, "dataset", "own", "--csv", none, *options)
    assert sentence == f"epsilometer: cannot read {none}: No such file or directory\n"


def test_bad_data_is_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "own.csv").write_text("label,dose\n1,0.5\n-1,1.5\n")
    options = ["--csv", tmp_path / "own.csv", "--holdout", 0.5, "--folds", 2, "--seed", 1]
    assert "record 2 has norm 1.5" in refused(tmp_path / "x.csv", capsys, "dataset", "own", *options)


def test_an_old_output_survives_a_refusal(tmp_path: Path, dataset: Path) -> None:
    (tmp_path / "x.csv").write_text("old")
    options = ["--lam", 0.1, "--epsilon", 1, "--increment", 1000, *PRIVATE]
    assert run("learning_curve", dataset, *options, "--output", tmp_path / "x.csv") == 1
    assert (tmp_path / "x.csv").read_text() == "old"


@pytest.mark.parametrize(
    "change",
    [
        {"name": "adult"},
        {"name": "own"},
        {"--folds": "1"},
        {"--folds": "0"},
        {"--seed": "-1"},
        {"--holdout": "nan"},
        {"--holdout": "inf"},
        {"name": "unseparable", "--points": "-500"},
    ],
    ids=str,
)
def test_bad_values_for_a_data_set(change: dict[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = {"--points": "60", "--holdout": "40", "--folds": "2", "--seed": "1"} | change
    name = options.pop("name", "separable")
    arguments = ["dataset", name, *(word for pair in options.items() for word in pair)]
    assert stopped(capsys, *arguments, "--output", tmp_path / "x.csv") in (1, 2)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("restarts", ["0", "-2"])
def test_no_restarts(restarts: str, tmp_path: Path, dataset: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--lam", "0.1", "--epsilon", "1", "--seed", "1", "--restarts", restarts]
    assert stopped(capsys, "error_table", dataset, *options, "--output", tmp_path / "x.csv") in (1, 2)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("verb", ["error_table --lam", "error_table --epsilon", "error_summary"])
def test_a_table_of_another_kind(verb: str, tmp_path: Path, dataset: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = {
        "error_table --lam": ["error_table", dataset, "--lam", dataset, "--epsilon", 1, *PRIVATE],
        "error_table --epsilon": ["error_table", dataset, "--lam", 1, "--epsilon", dataset, *PRIVATE],
        "error_summary": ["error_summary", dataset],
    }[verb]
    assert str(dataset) in refused(tmp_path / "x.csv", capsys, *words)


def test_an_output_that_cannot_be_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("")
    assert main([*DATASET, "--output", str(tmp_path / "file" / "x.csv")]) == 1
    assert capsys.readouterr().err.startswith("epsilometer: ")


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["--version"])
    assert caught.value.code == 0
    assert capsys.readouterr().out == f"epsilometer {__version__}\n"


def test_the_installed_command_has_no_traceback(tmp_path: Path) -> None:
    command = Path(sys.executable).parent / "epsilometer"
    words: list[str | Path] = [command, "tuning", tmp_path / "none.csv", "--lambdas", "0.1", "--output", tmp_path / "x.csv"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith("epsilometer: cannot read")
    assert "Traceback" not in done.stderr
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "x.csv").exists()


def test_lambda_may_be_a_number_or_a_table(tmp_path: Path, dataset: Path) -> None:
    rows = [{"dataset": "separable", "lam": lam, "fold": 0, "error": error} for lam, error in ((0.5, 0.2), (0.25, 0.1))]
    write_table(tmp_path / "tuning.csv", rows)
    options = ["error_table", dataset, "--epsilon", 1, *PRIVATE]
    assert run(*options, "--lam", tmp_path / "tuning.csv", "--output", tmp_path / "table.csv") == 0
    assert run(*options, "--lam", "0.25", "--output", tmp_path / "number.csv") == 0
    assert {row["lam"] for row in read_table(tmp_path / "table.csv")} == {0.25}
    assert (tmp_path / "table.csv").read_bytes() == (tmp_path / "number.csv").read_bytes()


def test_epsilon_may_be_a_number_or_a_table(tmp_path: Path, dataset: Path) -> None:
    rows = [{"dataset": name, "method": name, "epsilon": value} for name, value in (("separable", 9.0), ("all four", 0.75))]
    write_table(tmp_path / "recovered.csv", rows)
    for verb, more in (("error_table", []), ("learning_curve", ["--increment", 0.5])):
        options = [verb, dataset, "--lam", 0.1, *PRIVATE, *more]
        assert run(*options, "--epsilon", tmp_path / "recovered.csv", "--output", tmp_path / "table.csv") == 0
        assert run(*options, "--epsilon", 0.75, "--output", tmp_path / "number.csv") == 0
        assert {row["epsilon"] for row in read_table(tmp_path / "table.csv") if row["method"] != "standard"} == {0.75}
        assert (tmp_path / "table.csv").read_bytes() == (tmp_path / "number.csv").read_bytes()


def test_from_data_to_summary(tmp_path: Path, dataset: Path) -> None:
    """Each verb reads what the one before it wrote."""
    tuning, curve, errors, summary = (tmp_path / f"{name}.csv" for name in ("tuning", "curve", "separable", "summary"))
    assert run("tuning", dataset, "--lambdas", 0.1, 0.01, "--output", tuning) == 0
    assert len(read_table(tuning)) == 4
    options = ["--lam", tuning, *PRIVATE]
    assert run("epsilon_curve", dataset, "--epsilons", 1, 2, *options, "--output", curve) == 0
    assert len(read_table(curve)) == 2 + 3 * 2 * 2
    assert run("error_table", dataset, "--epsilon", 1, *options, "--output", errors) == 0
    assert run("error_summary", errors, "--output", summary) == 0
    assert [row["method"] for row in read_table(summary)] == ["standard", "algorithm1", "algorithm2", "cms11"]
    assert {row["dataset"] for row in read_table(summary)} == {"separable"}


def test_from_data_to_the_figures_of_membership_inference(tmp_path: Path, dataset: Path) -> None:
    table, roc, tuning = (tmp_path / f"{name}.csv" for name in ("table", "roc", "tuning"))
    write_table(tuning, [{"dataset": "separable", "lam": 0.25, "fold": 0, "error": 0.1}])
    options = ["--epsilon", 2, "--lam", tuning, "--trials", 8, "--shadows", 4, "--seed", 1]
    assert run("membership", dataset, *options, "--roc", roc, "--output", table) == 0
    assert {row["lam"] for row in read_table(table)} == {0.25}
    assert run("membership_figures", table, "--roc", roc, "--output", tmp_path / "figures") == 0
    names = {path.name for path in (tmp_path / "figures").iterdir()}
    assert names == {f"membership_roc_{mechanism}.svg" for mechanism in MECHANISMS} | {"membership_utility.svg"}
    options = ["--epsilon", 2, "--repetitions", 1, "--trials", 8, "--seed", 1]
    assert run("membership_validation", *options, "--output", table) == 0
    assert {row["repetitions"] for row in read_table(table)} == {1}


def test_the_same_command_writes_the_same_bytes(tmp_path: Path, dataset: Path) -> None:
    assert main([*DATASET, "--output", str(tmp_path / "again.csv")]) == 0
    assert (tmp_path / "again.csv").read_bytes() == dataset.read_bytes()


def test_the_catalogue_lists_every_mechanism_and_every_flaw(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["catalogue"]) == 0
    correct, broken = capsys.readouterr().out.split("broken, on purpose or as printed:")
    for name, entry in catalogue().items():
        assert f"  {name}: " in (broken if entry.flaw else correct)
        assert entry.flaw in broken
