"""The command line: exit statuses, one sentence for a user's mistake, and what reaches the functions behind it."""

from __future__ import annotations

import argparse
import inspect
import json
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from epsilometer import __version__
from epsilometer.auditors.exact import ExactLikelihoodRatio
from epsilometer.cli import main
from epsilometer.cli.arguments import PARSERS, parameters
from epsilometer.cli.jobs import JOBS, function_of, jobs
from epsilometer.config import Config
from epsilometer.core import stream
from epsilometer.core.arguments import AtLeastOne, Count, Epsilon, Lambda, Positive
from epsilometer.evidence.rows import AUDIT
from epsilometer.libraries.registry import library_entries
from epsilometer.mechanisms.catalogue import catalogue
from epsilometer.membership.batched import MECHANISMS
from epsilometer.papers.curves import ERROR_TABLE
from epsilometer.papers.nips08.experiments import RECOVERED_EPSILON
from epsilometer.papers.registry import experiments, sources
from epsilometer.papers.tuning import TUNING
from tests.tables import read_table

DATASET = ["dataset", "--name", "separable", "--points", "60", "--holdout", "40", "--folds", "2", "--seed", "1"]
PRIVATE = ["--restarts", "2", "--seed", "1"]
PEOPLE = ["catalogue", "verify", "claims", "summary", "gate", "schema", "jobs"]
"""The commands for people, in the order of the help."""


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("cli") / "separable.csv"
    assert main([*DATASET, "--table", str(path)]) == 0
    return path


TRAINED = ["error_table", "--dataset", "d.csv", *PRIVATE]
LEARNED = ["learning_curve", "--dataset", "d.csv", *PRIVATE]


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
        ["dataset", "--name", "separable", "--holdout", "40", "--folds", "2", "--seed", "1"],
        [*DATASET, "--table", "x.csv", "--folds", "two"],
        [*DATASET, "--table", "x.csv", "--holdout", "some"],
        [*DATASET, "--table", "x.csv", "more"],
        ["tuning", "--dataset", "d.csv", "--lambdas", "--table", "x.csv"],
        ["tuning", "--dataset", "d.csv", "--lambdas", "0.1", "0", "--table", "x.csv"],
        ["tuning", "--dataset", "d.csv", "--lambdas", "0.1", "nan", "--table", "x.csv"],
        ["tuning", "--dataset", "d.csv", "--lambdas", "inf", "--table", "x.csv"],
        ["tuning", "d.csv", "--lambdas", "0.1", "--table", "x.csv"],
        [*TRAINED, "--lam", "-0.1", "--epsilon", "1", "--table", "x.csv"],
        [*TRAINED, "--lam", "0.1", "--epsilon", "0", "--table", "x.csv"],
        [*TRAINED, "--lam", "0.1", "--epsilon", "nan", "--table", "x.csv"],
        [*LEARNED, "--lam", "1", "--epsilon", "1", "--increment", "-5", "--table", "x.csv"],
        ["epsilon_curve", "--dataset", "d.csv", "--lam", "1", "--epsilons", "1", "-1", *PRIVATE, "--table", "x.csv"],
        ["error_summary", "--table", "x.csv"],
        ["figures", "nips08", "--results", "r", "--datasets", "separable", "--folder", "f"],
        ["schema", "extra"],
        ["summary", "results"],
        ["gate", "verdicts.csv"],
        ["verify"],
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
    assert run(*arguments, "--table", output) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("epsilometer: ")
    assert err.endswith("\n")
    assert err.count("\n") == 1
    assert sorted(output.parent.iterdir()) == before
    return err


def test_a_missing_file_is_one_sentence(tmp_path: Path, dataset: Path, capsys: pytest.CaptureFixture[str]) -> None:
    none, output = tmp_path / "none.csv", tmp_path / "x.csv"
    sentence = refused(output, capsys, "tuning", "--dataset", none, "--lambdas", 0.1)
    assert sentence == f"epsilometer: cannot read the data set {none}: No such file or directory\n"
    sentence = refused(output, capsys, "error_table", "--dataset", dataset, "--lam", none, "--epsilon", 1, *PRIVATE)
    assert sentence == f"epsilometer: cannot read the table {none}: No such file or directory\n"
    sentence = refused(output, capsys, "error_table", "--dataset", dataset, "--lam", 1, "--epsilon", none, *PRIVATE)
    assert sentence == f"epsilometer: cannot read the table {none}: No such file or directory\n"
    sentence = refused(output, capsys, "error_summary", "--error-tables", none)
    assert sentence == f"epsilometer: cannot read the table {none}: No such file or directory\n"
    options = ["--holdout", 0.5, "--folds", 2, "--seed", 1]
    sentence = refused(output, capsys, "dataset", "--name", "own", "--csv", none, *options)
    assert sentence == f"epsilometer: cannot read {none}: No such file or directory\n"


def test_bad_data_is_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "own.csv").write_text("label,dose\n1,0.5\n-1,1.5\n")
    options = ["--csv", tmp_path / "own.csv", "--holdout", 0.5, "--folds", 2, "--seed", 1]
    assert "record 2 has norm 1.5" in refused(tmp_path / "x.csv", capsys, "dataset", "--name", "own", *options)


def test_an_old_output_survives_a_refusal(tmp_path: Path, dataset: Path) -> None:
    (tmp_path / "x.csv").write_text("old")
    options = ["--lam", 0.1, "--epsilon", 1, "--increment", 1000, *PRIVATE]
    assert run("learning_curve", "--dataset", dataset, *options, "--table", tmp_path / "x.csv") == 1
    assert (tmp_path / "x.csv").read_text() == "old"


@pytest.mark.parametrize(
    "change",
    [
        {"--name": "adult"},
        {"--name": "own"},
        {"--folds": "1"},
        {"--folds": "0"},
        {"--seed": "-1"},
        {"--holdout": "nan"},
        {"--holdout": "inf"},
        {"--name": "unseparable", "--points": "-500"},
    ],
    ids=str,
)
def test_bad_values_for_a_data_set(change: dict[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = {"--name": "separable", "--points": "60", "--holdout": "40", "--folds": "2", "--seed": "1"} | change
    words = [word for pair in options.items() for word in pair]
    assert stopped(capsys, "dataset", *words, "--table", tmp_path / "x.csv") in (1, 2)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("restarts", ["0", "-2"])
def test_no_restarts(restarts: str, tmp_path: Path, dataset: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--lam", "0.1", "--epsilon", "1", "--seed", "1", "--restarts", restarts]
    assert stopped(capsys, "error_table", "--dataset", dataset, *options, "--table", tmp_path / "x.csv") in (1, 2)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("verb", ["error_table --lam", "error_table --epsilon", "error_summary"])
def test_a_table_of_another_kind(verb: str, tmp_path: Path, dataset: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = {
        "error_table --lam": ["error_table", "--dataset", dataset, "--lam", dataset, "--epsilon", 1, *PRIVATE],
        "error_table --epsilon": ["error_table", "--dataset", dataset, "--lam", 1, "--epsilon", dataset, *PRIVATE],
        "error_summary": ["error_summary", "--error-tables", dataset],
    }[verb]
    assert str(dataset) in refused(tmp_path / "x.csv", capsys, *words)


def test_an_output_that_cannot_be_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("")
    assert main([*DATASET, "--table", str(tmp_path / "file" / "x.csv")]) == 1
    assert capsys.readouterr().err.startswith("epsilometer: ")


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["--version"])
    assert caught.value.code == 0
    assert capsys.readouterr().out == f"epsilometer {__version__}\n"


def test_the_installed_command_has_no_traceback(tmp_path: Path) -> None:
    command = Path(sys.executable).parent / "epsilometer"
    options: list[str | Path] = ["--dataset", tmp_path / "none.csv", "--lambdas", "0.1", "--table", tmp_path / "x.csv"]
    done = subprocess.run([command, "tuning", *options], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith("epsilometer: cannot read")
    assert "Traceback" not in done.stderr
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "x.csv").exists()


def tuned(path: Path, *errors: tuple[float, float]) -> Path:
    """A table of tuning with these lambdas and errors."""
    rows: Any = [{"dataset": "separable", "lam": lam, "fold": 0, "records": 40, "error": error} for lam, error in errors]
    TUNING.write(path, rows)
    return path


def test_lambda_may_be_a_number_or_a_table(tmp_path: Path, dataset: Path) -> None:
    tuning = tuned(tmp_path / "tuning.csv", (0.5, 0.2), (0.25, 0.1))
    options = ["error_table", "--dataset", dataset, "--epsilon", 1, *PRIVATE]
    assert run(*options, "--lam", tuning, "--table", tmp_path / "table.csv") == 0
    assert run(*options, "--lam", "0.25", "--table", tmp_path / "number.csv") == 0
    assert {row["lam"] for row in ERROR_TABLE.read(tmp_path / "table.csv")} == {0.25}
    assert (tmp_path / "table.csv").read_bytes() == (tmp_path / "number.csv").read_bytes()


def recovered_epsilon(path: Path) -> Path:
    """A table of recovered epsilons: 0.75 fits all four cells best."""
    row: Any = {"printed_error": 0.1, "low": 0.5, "high": 1.0, "error_at_common_epsilon": 0.1}
    row |= {"chi_square": 1.0, "p_value": 0.8, "one_epsilon_explains_all": True}
    cells = (("separable", "algorithm1", 9.0), ("all four", "all four", 0.75))
    rows = [{"dataset": dataset, "method": method, "epsilon": value} | row for dataset, method, value in cells]
    ordered: list[Any] = [{name: each[name] for name in RECOVERED_EPSILON.columns} for each in rows]
    RECOVERED_EPSILON.write(path, ordered)
    return path


def test_epsilon_may_be_a_number_or_a_table(tmp_path: Path, dataset: Path) -> None:
    recovered = recovered_epsilon(tmp_path / "recovered.csv")
    for verb, more in (("error_table", []), ("learning_curve", ["--increment", 0.5])):
        options = [verb, "--dataset", dataset, "--lam", 0.1, *PRIVATE, *more]
        assert run(*options, "--epsilon", recovered, "--table", tmp_path / "table.csv") == 0
        assert run(*options, "--epsilon", 0.75, "--table", tmp_path / "number.csv") == 0
        assert {row["epsilon"] for row in read_table(tmp_path / "table.csv") if row["method"] != "standard"} == {0.75}
        assert (tmp_path / "table.csv").read_bytes() == (tmp_path / "number.csv").read_bytes()


def test_epsilons_may_be_numbers_and_tables(tmp_path: Path) -> None:
    """An audit at a claimed epsilon that an experiment recovers: the number that the table holds, among others."""
    recovered = recovered_epsilon(tmp_path / "recovered.csv")
    options = ["audit_family", "--family", "randomized_response", "--trials", 1000, "--confidence", 0.95, "--seed", 1]
    outputs = [word for name in ("table", "counts", "seconds") for word in (f"--{name}", tmp_path / f"{name}.csv")]
    assert run(*options, "--epsilons", 2, recovered, *outputs, "--witnesses", tmp_path / "witnesses") == 0
    assert {row["promised"] for row in AUDIT.read(tmp_path / "table.csv")} == {0.75, 2.0}


def test_from_data_to_summary(tmp_path: Path, dataset: Path) -> None:
    """Each verb reads what the one before it wrote."""
    tuning, curve, errors, summary = (tmp_path / f"{name}.csv" for name in ("tuning", "curve", "separable", "summary"))
    assert run("tuning", "--dataset", dataset, "--lambdas", 0.1, 0.01, "--table", tuning) == 0
    assert len(read_table(tuning)) == 4
    options = ["--lam", tuning, *PRIVATE]
    assert run("epsilon_curve", "--dataset", dataset, "--epsilons", 1, 2, *options, "--table", curve) == 0
    assert len(read_table(curve)) == 2 + 3 * 2 * 2
    assert run("error_table", "--dataset", dataset, "--epsilon", 1, *options, "--table", errors) == 0
    assert run("error_summary", "--error-tables", errors, "--table", summary) == 0
    assert [row["method"] for row in read_table(summary)] == ["standard", "algorithm1", "algorithm2", "cms11"]
    assert {row["dataset"] for row in read_table(summary)} == {"separable"}


@pytest.mark.slow
def test_from_data_to_the_figures_of_membership_inference(tmp_path: Path, dataset: Path) -> None:
    table, roc, counts = (tmp_path / f"{name}.csv" for name in ("table", "roc", "counts"))
    tuning = tuned(tmp_path / "tuning.csv", (0.25, 0.1))
    options = ["--dataset", dataset, "--epsilon", 2, "--lam", tuning, "--trials", 8, "--shadows", 4, "--seed", 1]
    outputs = ["--table", table, "--roc", roc, "--counts", counts]
    assert run("membership", *options, "--confidence", 0.95, *outputs) == 0
    assert {row["lam"] for row in read_table(table)} == {0.25}
    assert run("membership_figures", "--tables", table, "--roc", roc, "--folder", tmp_path / "figures") == 0
    names = {path.name for path in (tmp_path / "figures").iterdir()}
    figures = [*(f"membership_roc_{mechanism}" for mechanism in MECHANISMS), "membership_utility"]
    assert names == {f"{name}.{kind}" for name in figures for kind in ("svg", "rst")}
    verdicts = tmp_path / "verdicts.csv"
    judged = ["--tables", table, "--counts", counts, "--confidence", 0.95, "--table", verdicts]
    assert run("membership_verdicts", *judged) == 0
    assert len(read_table(verdicts)) == sum(row["promised"] == 2 for row in read_table(table))
    options = ["--epsilon", 2, "--repetitions", 1, "--trials", 8, "--confidence", 0.95, "--seed", 1]
    assert run("membership_validation", *options, "--table", table) == 0
    assert {row["repetitions"] for row in read_table(table)} == {1}


def test_the_same_command_writes_the_same_bytes(tmp_path: Path, dataset: Path) -> None:
    assert main([*DATASET, "--table", str(tmp_path / "again.csv")]) == 0
    assert (tmp_path / "again.csv").read_bytes() == dataset.read_bytes()


def test_the_catalogue_lists_every_mechanism_and_every_flaw(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["catalogue"]) == 0
    ours, theirs = capsys.readouterr().out.split("of third-party libraries:\n")
    correct, broken = ours.split("broken, on purpose or as printed:\n")
    for name, entry in catalogue().items():
        assert f"  {name}: " in (broken if entry.flaw else correct)
        assert entry.flaw in broken
    assert [line.split(":")[0].strip() for line in theirs.splitlines() if line.startswith("  ") and line[2] != " "] == list(
        library_entries()
    )


def test_verify_recomputes_a_witness(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    entry = catalogue()["laplace_standard_deviation"]
    found = ExactLikelihoodRatio(entry.name)(entry.build(1.0), entry.pairs()[0], 1000, stream(0))
    assert found.witness
    path = tmp_path / "witness.json"
    path.write_text(found.witness.to_json())
    assert run("verify", path) == 0
    assert "it exceeds the promised epsilon of 1.0 by 0.4142135624: the promise is broken" in capsys.readouterr().out
    path.write_text("{}")
    assert run("verify", path) == 1
    assert capsys.readouterr().err == f"epsilometer: {path} is no witness; audits write them into results/witnesses\n"
    assert run("verify", tmp_path / "none.json") == 1
    assert "cannot read the witness" in capsys.readouterr().err


def test_schema_prints_the_models(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schema"]) == 0
    assert json.loads(capsys.readouterr().out) == Config.model_json_schema()


def test_help_lists_the_commands_for_people(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["--help"])
    assert caught.value.code == 0
    out = capsys.readouterr().out
    assert re.findall(r"^    (\w+)\b", out, re.MULTILINE) == PEOPLE
    assert "`epsilometer jobs` lists them" in " ".join(out.split())


def test_jobs_lists_every_job_with_what_it_does(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["jobs"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(": ")[0] for line in lines] == sorted([*JOBS, *experiments()])
    assert all(len(line.split(": ", 1)[1]) > 20 for line in lines)
    assert not set(PEOPLE) & set(jobs())


@pytest.mark.parametrize("job", jobs())
def test_each_parameter_of_a_job_is_an_option(job: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main([job, "--help"])
    assert caught.value.code == 0
    usage, _, options = capsys.readouterr().out.partition("options:")
    function = function_of(job)
    assert f"usage: epsilometer {job} " in usage
    assert function.__name__ == job
    required = {
        name for name, parameter in inspect.signature(function).parameters.items() if parameter.default is parameter.empty
    }
    for name in inspect.signature(function).parameters:
        option = f"--{name.replace('_', '-')}"
        assert re.search(rf"^  {option}\b", options, re.MULTILINE), option
        optional = re.search(rf"\[{option}\s", " ".join(usage.split()))
        assert (name in required) == (optional is None), option


@pytest.mark.parametrize(
    ("kind", "right", "wrong"),
    [
        (Positive, {"0.5": 0.5, "1e-7": 1e-7}, ["0", "-1", "nan", "inf", "much", ""]),
        (Count, {"0": 0, "12": 12}, ["-1", "1.5", "many", ""]),
        (AtLeastOne, {"1": 1}, ["0", "-1", "1.5"]),
        (Epsilon, {"0.5": 0.5, "results/recovered.csv": Path("results/recovered.csv")}, ["0", "-0.5", "nan", "inf"]),
        (Lambda, {"0.5": 0.5, "tuning.csv": Path("tuning.csv")}, ["0", "-0.5", "nan", "inf"]),
        (Path, {"a b.csv": Path("a b.csv")}, []),
        (str, {"own": "own"}, []),
    ],
    ids=["positive", "count", "at least one", "epsilon", "lambda", "path", "name"],
)
def test_words_become_values_by_the_kind_of_the_parameter(kind: Any, right: dict[str, Any], wrong: list[str]) -> None:
    parse = PARSERS[kind]
    assert {word: parse(word) for word in right} == right
    for word in wrong:
        with pytest.raises((ValueError, argparse.ArgumentTypeError)):
            parse(word)


def test_the_type_of_each_parameter_is_found() -> None:
    def job(tables: Sequence[Path], *, epsilons: list[Epsilon], seed: Count, csv: Path | None = None) -> None:
        """Nothing."""

    found = {name: (kind, several) for name, (kind, several, _) in parameters(job).items()}
    assert found == {"tables": (Path, True), "epsilons": (Epsilon, True), "seed": (Count, False), "csv": (Path, False)}

    def wrong(options: dict[str, int]) -> None:
        """Nothing."""

    with pytest.raises(TypeError, match=r"wrong takes options of the type .*, which no command line can give"):
        parameters(wrong)


@pytest.mark.parametrize("confidence", ["1", "2"])
def test_a_confidence_that_is_none_is_one_sentence(
    confidence: str, tmp_path: Path, dataset: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "x.csv"
    rest = ["--confidence", confidence, "--trials", 1000, "--seed", 1]
    files = ["--counts", output, "--seconds", output, "--witnesses", tmp_path / "witnesses"]
    assert run("audit_family", "--family", "laplace", "--epsilons", 1, *rest, *files, "--table", output) == 1
    assert f"confidence is {float(confidence):g}" in capsys.readouterr().err
    attack = ["membership", "--dataset", dataset, "--epsilon", 1, "--shadows", 4, "--roc", output, "--counts", output]
    assert run(*attack, *rest, "--table", output) == 1
    assert f"confidence is {float(confidence):g}" in capsys.readouterr().err
    assert not output.exists()


def test_claims_of_an_unknown_source_are_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("claims", "--source", "nips09", "--results", tmp_path) == 1
    assert capsys.readouterr().err == f"epsilometer: there is no source 'nips09'; there are {', '.join(sources())}\n"


def test_figures_of_an_unknown_paper_are_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("figures", "--paper", "nips09", "--results", tmp_path, "--folder", tmp_path / "figures") == 1
    assert capsys.readouterr().err.startswith("epsilometer: there is no paper 'nips09'; there are nips08")
    options = ["--paper", "nips08", "--results", tmp_path, "--folder", tmp_path / "figures", "--datasets", "adult"]
    assert run("figures", *options) == 1
    assert capsys.readouterr().err.startswith("epsilometer: there is no data set 'adult'; there are separable")
    assert list(tmp_path.iterdir()) == []
