"""Every auditor stands in the registry once, with a column and a look of its own; adding one takes a single file."""

from __future__ import annotations

import csv
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from epsilometer.auditors.exact.spec import EXACT, SAMPLED_CURVE
from epsilometer.auditors.registry import auditors, by_name
from epsilometer.auditors.spec import AuditorSpec, Subject
from epsilometer.core import Estimate, NeighbouringPair, stream
from epsilometer.evidence.rows import VERDICTS
from epsilometer.layers import PACKAGE
from epsilometer.mechanisms.catalogue import find

NAMES = ["attainability" if spec.name == EXACT.name and spec is not EXACT else spec.name for spec in auditors()]


def test_every_auditor_is_there_once_in_the_order_in_which_it_runs() -> None:
    assert NAMES == ["attainability", "exact", "sampled curve", "sampled", "Gaussian shape", "black box", "one run"]
    assert len(set(auditors())) == len(auditors())
    assert [spec.order for spec in auditors()] == sorted({spec.order for spec in auditors()})


def test_names_columns_and_labels_are_distinct() -> None:
    """But for those that share a name: they fill the same column, as they apply to different mechanisms."""
    specs = by_name()
    for attribute in ("column", "label", "about"):
        values = [getattr(spec, attribute) for spec in specs.values()]
        assert len(set(values)) == len(values), attribute
    assert {spec.column for spec in auditors()} == {spec.column for spec in specs.values()}
    assert all(spec.column.isidentifier() and spec.column == spec.column.lower() for spec in auditors())
    assert list(specs) == ["exact", "sampled curve", "sampled", "black box", "one run", "Gaussian shape"]


def test_looks_are_distinct() -> None:
    """By colour, marker or filling, so that a legend tells them apart; exact values, computed or sampled, are black."""
    looks = [tuple(sorted(spec.look.items())) for spec in by_name().values()]
    assert len(set(looks)) == len(looks)
    assert SAMPLED_CURVE.look == {"color": EXACT.colour, "marker": "d", "markerfacecolor": "white"}
    assert EXACT.look == {"color": "black", "marker": "D"}


def test_only_what_rests_on_a_model_is_kept_out_of_verdicts() -> None:
    assert {spec.name for spec in auditors() if spec.model_based} == {"Gaussian shape"}
    assert {spec.name for spec in auditors() if spec.efficiency} == {"sampled", "black box"}
    assert {spec.name for spec in auditors() if spec.budget == "one run"} == {"one run"}


def test_tables_of_verdicts_have_a_column_for_each() -> None:
    columns = list(VERDICTS.columns)
    own = [name for spec in by_name().values() for name in (spec.column, f"{spec.column}_efficiency") if name in columns]
    start = columns.index("true_epsilon") + 1
    assert columns[start : start + len(own)] == own
    assert {name for name in own if name.endswith("_efficiency")} == {"sampled_efficiency", "black_box_efficiency"}


@pytest.mark.parametrize(
    ("mechanism", "expected"),
    [
        ("laplace_count", {"exact", "sampled", "black box"}),
        ("gaussian_analytic", {"exact", "sampled", "Gaussian shape", "black box"}),
        ("laplace_floating_point", {"attainability", "black box"}),
        ("naive_bayes", {"exact", "sampled", "black box", "one run"}),
    ],
)
def test_what_applies_to_a_mechanism_builds_an_auditor_of_it(mechanism: str, expected: set[str]) -> None:
    entry = find(mechanism)
    subject = Subject(entry.name, 1.0, entry.build(1.0))
    applying = [(name, spec) for name, spec in zip(NAMES, auditors(), strict=True) if spec.applies(subject)]
    assert {name for name, _ in applying} == expected
    pair: NeighbouringPair = entry.pairs()[0]
    for name, spec in applying:
        estimate = spec.build(subject, 0.9)(subject.mechanism, pair, 1000, stream(0, name))
        assert isinstance(estimate, Estimate)
        assert estimate.confidence in (0.9, 1.0)
        assert estimate.model_based == spec.model_based


ADDED = '''
"""A guess: half of the claimed epsilon."""

from epsilometer.auditors.spec import AuditorSpec
from epsilometer.core import Estimate


def build(subject, confidence):
    return lambda mechanism, pair, trials, rng: Estimate(subject.promised / 2, "guessed", confidence, subject.delta, trials)


SPEC = AuditorSpec(
    name="half",
    column="half",
    label="half of the claim",
    about="Says half of what is claimed.",
    order=65,
    colour="#cc78bc",
    marker="P",
    applies=lambda _: True,
    build=build,
)
'''
RUN = """
import sys
from pathlib import Path
from epsilometer.evidence.audits import audit_family, privacy_loss
from epsilometer.evidence.report import verdicts
from epsilometer.figures.mechanisms import mechanism_figures

at = {name: Path(f"{name}.csv") for name in ("table", "counts", "seconds", "losses", "verdicts")}
files = {name: at[name] for name in ("table", "counts", "seconds")}
audit_family("laplace", epsilons=[1.0], trials=1000, confidence=0.9, seed=1, witnesses=Path("witnesses"), **files)
verdicts([at["table"]], counts=[at["counts"]], confidence=0.9, table=at["verdicts"])
privacy_loss([at["table"]], epsilon=1.0, seed=1, table=at["losses"])
mechanism_figures([at["table"]], verdicts=at["verdicts"], losses=at["losses"], folder=Path("figures"))
"""


@pytest.mark.slow
def test_an_auditor_that_is_added_as_one_file_appears_everywhere(tmp_path: Path) -> None:
    """In tables of audits and of verdicts, and in the legends of figures; no other file knows of it."""
    package = shutil.copytree(PACKAGE, tmp_path / "epsilometer", ignore=shutil.ignore_patterns("__pycache__"))
    (package / "auditors" / "half.py").write_text(ADDED)
    environment = os.environ | {"PYTHONPATH": str(tmp_path)}
    subprocess.run([sys.executable, "-c", RUN], cwd=tmp_path, env=environment, check=True, capture_output=True)
    with (tmp_path / "table.csv").open(newline="") as file:
        audits = list(csv.DictReader(file))
    found = [(row["certified"], row["confidence"], row["method"]) for row in audits if row["auditor"] == "half"]
    assert found == [("0.5", "0.9", "guessed")] * 4
    with (tmp_path / "verdicts.csv").open(newline="") as file:
        verdicts = list(csv.DictReader(file))
    assert {row["half"] for row in verdicts} == {"0.5"}
    assert list(verdicts[0]).index("half") == list(verdicts[0]).index("black_box_efficiency") + 1
    assert "half of the claim" in (tmp_path / "figures" / "laplace_count.svg").read_text()


def test_a_record_is_complete() -> None:
    for spec in auditors():
        assert isinstance(spec, AuditorSpec)
        assert spec.about.endswith(".")
        assert spec.label
