"""The verdicts of a whole report, from its tables: every count plays its part; Holm's correction runs over all of them."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from epsilometer.auditors.confidence import epsilon_lower_bound, p_value
from epsilometer.auditors.one_run import one_run_bound, one_run_p_value
from epsilometer.auditors.registry import by_name
from epsilometer.core import Counts, EpsilometerError, Guesses
from epsilometer.evidence.report import membership_verdicts, verdicts
from epsilometer.evidence.rows import AUDIT, COUNTS, VERDICTS
from epsilometer.membership.rows import COUNTS as ATTACK_COUNTS
from epsilometer.membership.rows import MEMBERSHIP, MEMBERSHIP_VERDICTS

NO_COUNTS = dict.fromkeys(("hits", "of", "other_hits", "other_of", "canaries"), math.nan)


def counted(*counts: Counts | Guesses) -> list[dict[str, Any]]:
    """Counts as rows hold them."""
    rows = []
    for each in counts:
        if isinstance(each, Counts):
            cells = {"hits": each.hits, "of": each.trials, "other_hits": each.other_hits, "other_of": each.other_trials}
        else:
            cells = {"hits": each.right, "of": each.guesses, "canaries": each.canaries}
        rows.append(NO_COUNTS | cells)
    return rows


class Report:
    """Tables of audits, of one family each, to be judged together."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.rows: dict[str, list[dict[str, Any]]] = {}
        self.counts: dict[str, list[dict[str, Any]]] = {}

    def add(self, mechanism: str, auditor: str, certified: float, *counts: Counts | Guesses, **changes: Any) -> None:
        """An audit: exact if there are no counts, else with a bound at 95%."""
        key = {"mechanism": mechanism, "promised": 1.0, "pair": changes.get("pair", 0), "auditor": auditor}
        row = (
            dict.fromkeys(AUDIT.columns, math.nan)
            | key
            | {
                "broken": False,
                "delta": 0.0,
                "adjacency": "replace-one",
                "method": auditor,
                "certified": certified,
                "confidence": 0.95 if counts else 1.0,
                "model_based": False,
                "trials": 1000,
                **(counted(*counts)[0] if counts else NO_COUNTS),
                "choices": len(counts),
                "event": "",
                **changes,
            }
        )
        self.rows.setdefault(mechanism, []).append(row)
        self.counts.setdefault(mechanism, []).extend(key | each for each in counted(*counts))

    def judged(self, confidence: float = 0.95) -> dict[str, dict[str, Any]]:
        tables, counts = [], []
        for name, rows in self.rows.items():
            tables.append(self.folder / f"{name}.csv")
            AUDIT.write(tables[-1], rows)  # type: ignore[arg-type]
            counts.append(self.folder / f"counts_{name}.csv")
            COUNTS.write(counts[-1], self.counts[name])  # type: ignore[arg-type]
        verdicts(tables, counts=counts, confidence=confidence, table=self.folder / "verdicts.csv")
        return {row["mechanism"]: row for row in VERDICTS.read(self.folder / "verdicts.csv")}


BROKEN = Counts(700, 1000, 200, 1000)
KEPT = Counts(500, 1000, 450, 1000)


def bound_of(counts: Counts) -> float:
    return epsilon_lower_bound(counts, 0.95)


def test_holm_runs_over_all_counts_of_all_tables(tmp_path: Path) -> None:
    """The smallest p-value is multiplied by the number of sampled audits; an exact value needs no correction."""
    report = Report(tmp_path)
    report.add("broken", "sampled", bound_of(BROKEN), BROKEN)
    report.add("broken", "exact", 0.5)
    for name in ("one", "two", "three"):
        report.add(name, "sampled", bound_of(KEPT), KEPT)
    found = report.judged()
    alone = p_value(BROKEN, 1.0)
    assert 4 * alone < 0.05
    assert found["broken"]["p_value"] == pytest.approx(4 * alone)
    assert found["broken"]["verdict"] == "violated"
    assert {found[name]["p_value"] for name in ("one", "two", "three")} == {1.0}
    assert {found[name]["verdict"] for name in ("one", "two", "three")} == {"consistent"}


def test_a_bound_that_is_the_best_of_several_pays_for_each(tmp_path: Path) -> None:
    """Its row holds the best counts only; the p-value is the smallest of all its counts times their number."""
    one, other = Guesses(95, 100, 100), Guesses(24, 25, 100)
    report = Report(tmp_path)
    report.add("several", "one run", one_run_bound(one, 0.025), one, other, pair=-1, trials=1)
    smallest = min(one_run_p_value(one, 1.0), one_run_p_value(other, 1.0))
    assert report.judged()["several"]["p_value"] == pytest.approx(2 * smallest)


def test_an_exact_value_decides_without_counts(tmp_path: Path) -> None:
    report = Report(tmp_path)
    report.add("kept", "sampled", bound_of(KEPT), KEPT)
    report.add("kept", "exact", 0.95)
    report.add("broken", "exact", 1.5)
    report.add("broken", "sampled", bound_of(KEPT), KEPT)
    found = report.judged()
    assert {name: row["verdict"] for name, row in found.items()} == {"kept": "tight", "broken": "violated"}
    assert {name: row["exact"] for name, row in found.items()} == {"kept": 0.95, "broken": 1.5}


def test_a_bound_that_rests_on_a_model_has_a_column_and_no_say(tmp_path: Path) -> None:
    report = Report(tmp_path)
    report.add("modelled", "Gaussian shape", 3.0, BROKEN, model_based=True)
    report.add("modelled", "sampled", bound_of(KEPT), KEPT)
    row = report.judged()["modelled"]
    assert row["gaussian_shape"] == 3.0
    assert row["verdict"] == "consistent"
    assert row["p_value"] == 1.0


def test_each_auditor_has_the_largest_bound_over_all_pairs(tmp_path: Path) -> None:
    report = Report(tmp_path)
    for pair, bound in enumerate((0.25, 0.75, 0.5)):
        report.add("any", "sampled", bound, KEPT, pair=pair, efficiency=bound / 2, jeffreys=bound + 0.1, bayesian=bound)
        report.add("any", "exact", bound + 0.1, pair=pair)
    row = report.judged()["any"]
    assert (row["sampled"], row["sampled_efficiency"], row["exact"], row["jeffreys"]) == (0.75, 0.375, 0.85, 0.85)
    assert row["trials"] == 6000
    others = {spec.column for spec in by_name().values()} - {"sampled", "exact"}
    assert all(math.isnan(row[column]) for column in others)


def test_the_confidence_is_that_of_the_whole_report(tmp_path: Path) -> None:
    """A p-value between 1% and 5% accuses at 95% and not at 99%."""
    counts = next(c for c in (Counts(650, 1000, other, 1000) for other in range(300, 100, -1)) if p_value(c, 1.0) < 0.04)
    assert p_value(counts, 1.0) > 0.01
    report = Report(tmp_path)
    report.add("any", "sampled", bound_of(counts), counts)
    assert report.judged()["any"]["verdict"] == "violated"
    assert report.judged(confidence=0.99)["any"]["verdict"] != "violated"
    with pytest.raises(EpsilometerError, match="confidence is 2"):
        report.judged(confidence=2)


def attacks(folder: Path, name: str, *found: tuple[str, str, float, Counts]) -> tuple[Path, Path]:
    """A table of attacks on a data set: mechanism, attack, claimed epsilon and counts; and the table of the counts."""
    rows: list[Any] = []
    behind: list[Any] = []
    for mechanism, attack, promised, counts in found:
        key = {"dataset": name, "target": "average", "mechanism": mechanism, "attack": attack}
        cells = {"promised": promised, "delta": 0.0, "n": 10, "lam": 0.1, "trials": 2 * counts.trials}
        cells |= {"certified": bound_of(counts), "test_error": 0.1, "nonprivate_test_error": 0.1}
        row = dict.fromkeys(MEMBERSHIP.columns, 0.5) | key | cells
        rows.append(row)
        behind.append(key | {k: v for k, v in counted(counts)[0].items() if k != "canaries"})
    table, counts_of = folder / f"{name}.csv", folder / f"counts_{name}.csv"
    MEMBERSHIP.write(table, rows)
    ATTACK_COUNTS.write(counts_of, behind)
    return table, counts_of


def test_attacks_are_corrected_over_all_data_sets(tmp_path: Path) -> None:
    """Five attacks on two data sets, and one on a mechanism that claims nothing, which is no test of a claim."""
    first = attacks(
        tmp_path,
        "small",
        ("plain", "loss", math.nan, BROKEN),
        ("leaking", "loss", 1.0, BROKEN),
        ("leaking", "optimal", 1.0, KEPT),
        ("kept", "loss", 1.0, KEPT),
    )
    second = attacks(tmp_path, "large", ("leaking", "loss", 1.0, KEPT), ("kept", "loss", 2.0, BROKEN))
    table = tmp_path / "verdicts.csv"
    membership_verdicts([first[0], second[0]], counts=[first[1], second[1]], confidence=0.95, table=table)
    rows = MEMBERSHIP_VERDICTS.read(table)
    cases = [(row["dataset"], row["mechanism"], row["attack"]) for row in rows]
    assert cases == [
        ("small", "leaking", "loss"),
        ("small", "leaking", "optimal"),
        ("small", "kept", "loss"),
        ("large", "leaking", "loss"),
        ("large", "kept", "loss"),
    ]
    assert rows[0]["p_value"] == pytest.approx(5 * p_value(BROKEN, 1.0))
    assert [row["p_value"] for row in rows[1:]] == [1.0] * 4
    assert rows[0]["verdict"] == "violated"
    assert "violated" not in {row["verdict"] for row in rows[1:]}
    assert rows[0]["certified"] == bound_of(BROKEN)
    assert [row["promised"] for row in rows] == [1.0, 1.0, 1.0, 1.0, 2.0]


def test_an_attack_that_is_just_beyond_the_claim_is_not_enough_among_many(tmp_path: Path) -> None:
    counts = next(c for c in (Counts(650, 1000, other, 1000) for other in range(300, 100, -1)) if p_value(c, 1.0) < 0.04)
    for number, verdict in ((1, "violated"), (20, "tight")):
        found = [("any", "loss", 1.0, counts), *[("kept", f"attack {k}", 1.0, KEPT) for k in range(number - 1)]]
        table, behind = attacks(tmp_path, f"set_{number}", *found)
        membership_verdicts([table], counts=[behind], confidence=0.95, table=tmp_path / "verdicts.csv")
        assert MEMBERSHIP_VERDICTS.read(tmp_path / "verdicts.csv")[0]["verdict"] == verdict
