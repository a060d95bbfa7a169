"""The workflow end to end, on the quick configuration."""

from __future__ import annotations

import os
import signal
import subprocess
import time

import pytest

from epsilometer.mechanisms.catalogue import catalogue, families
from epsilometer.membership.batched import MECHANISMS
from epsilometer.papers.registry import sources
from tests.workflow.conftest import Project, write_own

pytestmark = pytest.mark.slow

TRAINED = {"epsilon_curve": 4, "error_table": 4, "learning_curve": 4}
PROTOCOL = {"tuning": 4} | TRAINED
NIPS08 = {"recovered_epsilon": 1, "error_summary": 2, "boundary": 1}
EXPERIMENTS = PROTOCOL | NIPS08 | {"anonymised_tables": 1}
PROTOCOL_FIGURES = {"figures_nips08": 1, "figures_extension": 1}
FIGURES = PROTOCOL_FIGURES | {"figures_anonymised_tables": 1}
VERDICTS = {"privacy_loss": 1, "verdicts": 1, "mechanism_figures": 1}
AUDITS = {"audit_family": len(families())} | VERDICTS
PAPER_AUDIT = {"audit_family": 1} | VERDICTS
"""What stands on the recovered epsilon: the audit of the paper's own settings."""
LEDGER = {"ledger": len(sources())}
PAGE = {"provenance": 1, "page": 1}
MEMBERSHIP_TABLES = {"membership_verdicts": 1, "membership_figures": 1}
MEMBERSHIP = {"membership": 5} | MEMBERSHIP_TABLES
TUNED_MEMBERSHIP = {"membership": 2} | MEMBERSHIP_TABLES
"""What stands on the tuned lambda: the attacks on real data."""


def test_quick_run_leaves_every_table_and_figure(finished: Project) -> None:
    names = set(finished.products())
    datasets = ("separable", "unseparable", "breast_cancer", "rand_hie")
    for rule in ("dataset", "tuning", "epsilon_curve", "error_table", "learning_curve"):
        assert {f"{rule}/{dataset}.csv" for dataset in datasets} <= names
    assert {f"audit/{family}.csv" for family in families()} <= names
    assert {"verdicts/catalogue.csv", "witnesses/laplace/laplace_count_1_0.json"} <= names
    assert {"recovered_epsilon/nips08.csv", "error_summary/nips08.csv", "error_summary/extension.csv"} <= names
    assert {"anonymised_tables/worked_example.csv", "anonymised_tables/curves.csv"} <= names
    assert {f"ledger/{source}.csv" for source in sources()} <= names
    attacked = (*datasets, "small")
    assert {f"membership/{part}{dataset}.csv" for part in ("", "roc/", "counts/") for dataset in attacked} <= names
    assert {f"figures/membership_{name}.svg" for name in ("utility", *(f"roc_{each}" for each in MECHANISMS))} <= names
    assert {f"figures/mechanisms/{name}.svg" for name in ("overview", *catalogue())} <= names
    assert sum(name.endswith(".svg") for name in names) == 9 + 1 + len(MECHANISMS) + 1 + len(catalogue())
    assert {"provenance/run.csv", "verdicts/membership.csv"} <= names
    assert (finished.folder / "reports/quick.html").is_file()
    logs = list((finished.folder / "results/quick/logs").rglob("*.log"))
    jobs = {"dataset": 5} | EXPERIMENTS | FIGURES | AUDITS | MEMBERSHIP | LEDGER | PAGE
    assert len(logs) == len(list((finished.folder / "results/quick/benchmarks").rglob("*.tsv"))) == sum(jobs.values())


def test_a_second_run_does_nothing_and_says_so(finished: Project) -> None:
    run = finished.snakemake()
    assert run.returncode == 0
    assert "Nothing to be done" in run.stdout


def test_one_core_and_two_cores_give_the_same_bytes(finished: Project, project: Project) -> None:
    """All experiments, an attack, and audits of each kind: exact, sampled, black box, and of a single run."""
    audits = [f"results/quick/audit/{family}.csv" for family in ("laplace", "gaussian", "naive_bayes", "broken_erm")]
    run = project.snakemake("experiments", "results/quick/membership/small.csv", *audits, cores=1)
    assert run.returncode == 0, run.stdout
    made, expected = project.products(), finished.products()
    assert len(made) > 40
    assert made == {name: expected[name] for name in made}


@pytest.mark.parametrize(
    ("edited_file", "expected"),
    [
        ("core/streams.py", {"dataset": 5} | EXPERIMENTS | FIGURES | AUDITS | MEMBERSHIP | LEDGER | PAGE),
        ("data/synthetic.py", {"dataset": 5} | PROTOCOL | NIPS08 | PROTOCOL_FIGURES | AUDITS | MEMBERSHIP | LEDGER | PAGE),
        ("erm/solver.py", EXPERIMENTS | FIGURES | AUDITS | MEMBERSHIP | LEDGER | PAGE),
        ("mechanisms/output_perturbation.py", EXPERIMENTS | FIGURES | AUDITS | MEMBERSHIP | LEDGER | PAGE),
        ("auditors/sampled.py", AUDITS | MEMBERSHIP | LEDGER | PAGE),
        ("evidence/verdicts.py", AUDITS | {"membership_verdicts": 1} | LEDGER | PAGE),
        ("papers/curves.py", TRAINED | NIPS08 | PROTOCOL_FIGURES | PAPER_AUDIT | LEDGER | {"page": 1}),
        ("papers/nips08/figures.py", {"figures_nips08": 1, "page": 1}),
        ("papers/review/claims/s1_introduction.py", {"ledger": 1, "page": 1}),
        ("papers/review/paper.py", PAGE),
        ("figures/style.py", FIGURES | {"mechanism_figures": 1, "membership_figures": 1} | PAGE),
        ("report/gate.py", PAGE),
        ("report/page.html", PAGE),
    ],
)
def test_an_edit_reruns_exactly_the_jobs_that_stand_on_it(
    edited: Project, edited_file: str, expected: dict[str, int]
) -> None:
    """Comments count as edits: the hash is of the text."""
    with (edited.folder / "src/epsilometer" / edited_file).open("a") as file:
        file.write("# edited\n")
    assert edited.planned() == expected


@pytest.mark.parametrize("edited_file", ["cli/__init__.py", "config.py"])
def test_an_edit_that_no_result_stands_on_reruns_nothing(edited: Project, edited_file: str) -> None:
    with (edited.folder / "src/epsilometer" / edited_file).open("a") as file:
        file.write("# edited\n")
    assert edited.planned() == {}


def test_a_changed_setting_reruns_what_depends_on_it(edited: Project) -> None:
    assert (
        edited.planned("--config", "lambdas=[0.01]")
        == {
            "tuning": 4,
            "epsilon_curve": 2,
            "error_table": 2,
            "learning_curve": 2,
            "error_summary": 1,
        }
        | PROTOCOL_FIGURES
        | TUNED_MEMBERSHIP
        | {"ledger": 1}
        | PAGE
    )
    rerun = {k: n for k, n in EXPERIMENTS.items() if k not in ("tuning", "boundary", "anonymised_tables")}
    expected = rerun | PROTOCOL_FIGURES | PAPER_AUDIT | LEDGER | PAGE
    assert edited.planned("--config", "restarts=21") == expected
    expected = {"anonymised_tables": 1, "figures_anonymised_tables": 1, "ledger": 2} | PAGE
    assert edited.planned("--config", "anonymised_tables={epsilons: [1.0]}") == expected
    assert edited.planned("--config", "membership={epsilon: 2.0}") == MEMBERSHIP | PAGE


def test_a_killed_run_resumes_where_it_was(project: Project, finished: Project) -> None:
    tables = project.folder / "results/quick"
    run = subprocess.Popen(
        project.command("experiments", cores=1),
        cwd=project.folder,
        env=project.environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    deadline = time.monotonic() + 120
    while len(list(tables.glob("*/*.csv"))) < 6 and time.monotonic() < deadline:
        time.sleep(0.05)
    os.killpg(run.pid, signal.SIGKILL)
    run.wait()
    done = {path: path.stat().st_mtime_ns for path in tables.glob("*/*.csv")}
    assert 6 <= len(done) < 24

    again = project.snakemake("experiments")

    assert again.returncode == 0, again.stdout
    redone = [path.name for path, modified in done.items() if path.stat().st_mtime_ns != modified]
    assert len(redone) <= 2, "only a job that was under way may be done again"
    made, expected = project.products(), finished.products()
    assert len(made) > 30
    assert made == {name: expected[name] for name in made}


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ("restart=20", ["restart is not a key", "restarts"]),
        ("extension={epsilon: -1}", ["extension.epsilon", "-1", "greater than 0"]),
        ("extension={datasets: [iris]}", ["extension.datasets", "'iris'", "breast_cancer, rand_hie"]),
        ("folds=five", ["folds", "'five'", "integer"]),
    ],
)
def test_a_bad_setting_is_one_sentence_before_any_job(project: Project, setting: str, words: list[str]) -> None:
    run = project.snakemake("--config", setting)
    assert run.returncode != 0
    sentences = [line for line in run.stdout.splitlines() if line.strip().startswith("config:")]
    assert len(sentences) == 1
    for word in words:
        assert word in sentences[0]
    assert "Traceback" not in run.stdout
    assert not (project.folder / "results").exists()


def test_own_csv_goes_through_the_same_protocol(project: Project) -> None:
    write_own(project, "my own.csv", factor=1.0)
    settings = "extension={datasets: [], csv: my own.csv}"
    target = ["results/quick/figures/extension_curves.svg"]
    run = project.snakemake(*target, "--config", settings)
    assert run.returncode == 0, run.stdout
    assert {"error_table/own.csv", "learning_curve/own.csv", "epsilon_curve/own.csv"} <= set(project.products())


def test_a_bad_own_csv_fails_with_a_sentence_and_no_table(project: Project) -> None:
    write_own(project, "own.csv", factor=1.5)
    settings = "extension={datasets: [], csv: own.csv}"
    run = project.snakemake("results/quick/error_table/own.csv", "--config", settings)
    assert run.returncode != 0
    assert "epsilometer: own.csv: record 1 has norm 1.5; scale the records by a public bound to at most 1" in run.stdout
    assert "page.smk" not in run.stdout
    assert not project.products()
    assert not (project.folder / "reports").exists(), "no page was asked for"
