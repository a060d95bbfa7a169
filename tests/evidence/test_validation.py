"""The validation of the auditors: it passes the valid ones, and it must not pass those that cheat."""

from __future__ import annotations

import csv
import math
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom
from statsmodels.stats.proportion import proportion_confint

from epsilometer.auditors.confidence import epsilon_lower_bound
from epsilometer.auditors.exact import Bounded
from epsilometer.auditors.sampled import SPEC as SAMPLED
from epsilometer.auditors.sampled import SampledLikelihoodRatio
from epsilometer.core import Counts, EpsilometerError, Estimate, Guarantee, NeighbouringPair, stream
from epsilometer.evidence import validation
from epsilometer.evidence.validation import (
    REPEATED,
    SUMMARY,
    VALIDATION,
    Budget,
    Check,
    Truth,
    accuses,
    p_value_of,
    repetitions_of,
    row_of,
)
from epsilometer.evidence.verdicts import Audit, findings
from epsilometer.mechanisms.catalogue import correct, families, find

SMALL = Budget(epsilon=1.0, repetitions=6, trials=1000, black_box_trials=200)


class PlainRatio:
    """Invalid: the ratio of the two frequencies, as if they were the probabilities."""

    def __call__(self, mechanism: Any, pair: NeighbouringPair, trials: int, rng: np.random.Generator) -> Estimate:
        first, second = (mechanism.sample(data, trials // 2, rng).ravel() for data in (pair.first, pair.second))
        counts = Counts(int(np.sum(first == 0)), len(first), int(np.sum(second == 0)), len(second))
        return Estimate(math.log(counts.hits / counts.other_hits), "plain ratio", 0.95, trials=trials, counts=(counts,))


class Peeking:
    """Invalid: of 100 intervals it takes those that the first data set happened to prefer, and counts the same outputs."""

    def __call__(self, mechanism: Any, pair: NeighbouringPair, trials: int, rng: np.random.Generator) -> Estimate:
        sides = [
            mechanism.sample(data, trials // 2, rng).reshape(trials // 2, -1)[:, -1] for data in (pair.first, pair.second)
        ]
        cuts = np.quantile(np.concatenate(sides), np.linspace(0, 1, 101)[1:-1])
        first, second = (np.bincount(np.searchsorted(cuts, side), minlength=100) for side in sides)
        chosen = first > 2.5 * second
        counts = Counts(int(first[chosen].sum()), trials // 2, int(second[chosen].sum()), trials // 2)
        return Estimate(epsilon_lower_bound(counts, 0.95), "peeking", 0.95, trials=trials, counts=(counts,))


class Overclaiming:
    """Invalid: says that it is exact, and that more is spent than promised."""

    def __call__(self, mechanism: Any, pair: NeighbouringPair, trials: int, rng: np.random.Generator) -> Estimate:  # noqa: ARG002
        return Estimate(1.1, "overclaiming", 1.0)


def check_of(auditor: Any, name: str, trials: int = 1000) -> Check:
    entry = find(name)
    mechanism, pair = entry.build(1.0), entry.pairs()[0]
    assert mechanism.guarantee is not None
    return Check(name, mechanism.guarantee, 0, "any", lambda rng: auditor(mechanism, pair, trials, rng), Truth(1.0, "known"))


def validated(folder: Path, family: str, budget: Budget = SMALL) -> list[dict[str, Any]]:
    table, repeated = folder / f"{family}.csv", folder / f"each_{family}.csv"
    validation.validation(family, table=table, repeated=repeated, seed=1, **asdict(budget))
    return VALIDATION.read(table)


def summarised(folder: Path, *names: str) -> dict[str, dict[str, Any]]:
    tables, repeated = ([folder / f"{prefix}{name}.csv" for name in names] for prefix in ("", "each_"))
    validation.validation_summary(tables, repeated=repeated, confidence=0.95, table=folder / "summary.csv")
    return {row["what"]: row for row in SUMMARY.read(folder / "summary.csv")}


def audited_by(monkeypatch: pytest.MonkeyPatch, auditor: Any, *, whole: bool = True) -> None:
    """Put another auditor in the place of all but the sampled likelihood ratio."""
    invalid = replace(
        SAMPLED, name="invalid", build=lambda *_: auditor, budget="all trials" if whole else "search", applies=lambda _: True
    )
    monkeypatch.setattr(validation, "auditors", lambda: (SAMPLED, invalid))


@pytest.mark.parametrize(("wrong", "repetitions"), [(0, 1000), (37, 1000), (50, 50)])
def test_interval_of_a_share_is_clopper_and_pearsons(wrong: int, repetitions: int) -> None:
    share = validation.share_of(wrong, repetitions)
    expected = proportion_confint(wrong, repetitions, alpha=0.05, method="beta")
    assert (share["low"], share["high"]) == pytest.approx(expected, abs=1e-12)
    assert share["share"] == wrong / repetitions


@pytest.mark.parametrize("name", ["randomized_response", "laplace_count"])
def test_a_valid_auditor_stays_below_five_percent(name: str) -> None:
    """P(failure by chance) < 1e-3, even if the bound were wrong in exactly 5% of the repetitions."""
    check = check_of(SampledLikelihoodRatio(), name)
    row = row_of(check, repetitions_of(check, 400, stream(0, "valid", name)))
    assert row["repetitions"] == 400
    assert row["wrong"] <= binom.ppf(0.999, 400, 0.05)
    assert row["median_of_truth"] > 0.6  # it comes near enough to be wrong at all


@pytest.mark.parametrize(("auditor", "name"), [(PlainRatio(), "randomized_response"), (Peeking(), "laplace_count")])
def test_an_invalid_auditor_is_found_out(auditor: Any, name: str) -> None:
    check = check_of(auditor, name)
    row = row_of(check, repetitions_of(check, 200, stream(0, "invalid", name)))
    assert row["low"] > 0.05
    assert row["above_promise"] == row["wrong"]


def test_peeking_makes_whole_reports_wrong(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The valid auditor is wrong in under 1% of 300 repetitions; P(more than 7, which would not hold) < 1e-2."""
    audited_by(monkeypatch, Peeking())
    validated(tmp_path, "laplace", replace(SMALL, repetitions=150))
    rows = summarised(tmp_path, "laplace")
    assert rows["peeking"]["conclusion"] == "fails"
    assert rows["whole reports"]["conclusion"] == "fails"
    assert rows["whole reports"]["repetitions"] == 150
    assert rows["sampled likelihood ratio"]["conclusion"] == "holds"


def test_one_exact_accusation_makes_every_report_wrong(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    audited_by(monkeypatch, Overclaiming(), whole=False)
    rows = validated(tmp_path, "laplace")
    assert [(row["wrong"], row["repetitions"]) for row in rows if row["method"] == "overclaiming"] == [(1, 1)] * 3
    summary = summarised(tmp_path, "laplace")
    assert summary["exact auditors"]["conclusion"] == "fails"
    assert summary["whole reports"]["wrong"] == SMALL.repetitions


def test_an_honest_family_holds(tmp_path: Path) -> None:
    """Each line fails by chance with probability below 0.025, even if bounds were wrong in 5%; they are far more seldom."""
    validated(tmp_path, "randomized_response", replace(SMALL, repetitions=200))
    rows = summarised(tmp_path, "randomized_response")
    assert set(rows) == {
        *("sampled likelihood ratio", "black box", "one run"),
        *(f"{method}, at worst (randomized_response)" for method in ("sampled likelihood ratio", "black box", "one run")),
        *("exact auditors", "whole reports"),
    }
    assert not any(row["conclusion"] == "fails" for row in rows.values())
    assert rows["whole reports"]["audits"] == 3
    assert rows["exact auditors"]["wrong"] == 0


def test_each_audit_has_a_row_and_each_repetition_another(tmp_path: Path) -> None:
    rows = validated(tmp_path, "laplace")
    expected = [
        ("laplace_count", 0, "exact", 1),
        ("laplace_count", 0, "sampled", 6),
        ("laplace_count", 0, "black box", 6),
        ("laplace_difference_attack", 0, "exact", 1),
        ("laplace_difference_attack", 1, "exact", 1),
        ("laplace_difference_attack", 1, "sampled", 6),  # the pair on which most is spent
        ("laplace_difference_attack", 1, "black box", 6),
    ]
    assert [(row["mechanism"], row["pair"], row["auditor"], row["repetitions"]) for row in rows] == expected
    assert [row["trials"] for row in rows[:3]] == [4000, 1000, 200]
    each = REPEATED.read(tmp_path / "each_laplace.csv")
    assert len(each) == 4 * 6
    for row in rows:
        bounds = [e["bound"] for e in each if (e["mechanism"], e["auditor"]) == (row["mechanism"], row["auditor"])]
        if bounds:
            assert row["median_bound"] == np.median(bounds)
            assert row["wrong"] == sum(bound > row["truth"] for bound in bounds)


def test_what_rests_on_a_model_is_left_out_and_truths_are_named(tmp_path: Path) -> None:
    rows = validated(tmp_path, "gaussian")
    assert {row["auditor"] for row in rows} == {"exact", "sampled", "black box"}
    classic = next(row for row in rows if row["auditor"] == "sampled" and row["mechanism"] == "gaussian_classic")
    assert classic["truth"] == pytest.approx(0.751, abs=1e-3)
    assert classic["truth_kind"] == "by quadrature"
    exact = next(row for row in rows if row["auditor"] == "exact")
    assert (exact["truth"], exact["truth_kind"]) == (1.0, "promise")


def test_truth_is_the_best_that_is_known() -> None:
    pure, approximate = Guarantee(1.0, "replace-one"), Guarantee(1.0, "replace-one", 1e-5)
    known, unknown = find("kernel_svm"), find("output_perturbation")
    computed, searched = Bounded(0.7, 0.6, 0.8, "computed", 1.0), Bounded(0.7, 0.7, math.inf, "searched", 1.0)
    guessed = Bounded(0.7, 0.6, math.inf, "guessed", 0.95)
    assert validation._truth_at(known, pure, computed) == Truth(0.5, "catalogue")
    assert validation._truth_at(known, approximate, computed) == Truth(0.8, "computed")
    assert validation._truth_at(unknown, pure, searched) == Truth(0.7, "searched")
    assert validation._truth_at(unknown, approximate, guessed) == Truth(1.0, "promise")
    assert validation._truth_at(unknown, pure, None) == Truth(1.0, "promise")


def test_every_correct_mechanism_meets_every_auditor_that_may_accuse_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(validation, "_spent", lambda *_: Bounded(0.0, 0.0, math.inf, "not asked", 0.0))
    one_run: set[str] = set()
    for family in families():
        for entry in correct(family):
            labels = [check.auditor for check in validation._checks(entry, SMALL, seed=1)]
            assert labels.count("sampled") == labels.count("black box") == 1, entry.name
            one_run.update({entry.name} if "one run" in labels else ())
    assert {"naive_bayes", "gradient_perturbation_full_batch", "output_perturbation", "randomized_response"} <= one_run


@pytest.mark.parametrize("family", ["naive_bayes", "objective_perturbation", "output_perturbation", "gradient_perturbation"])
def test_one_run_gives_a_bound_for_each_of_its_families(family: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(validation, "_spent", lambda *_: Bounded(0.0, 0.0, math.inf, "not asked", 0.0))
    checks = [check for entry in correct(family) for check in validation._checks(entry, SMALL, seed=1)]
    for check in checks:
        if check.auditor == "one run":
            estimate = check.run(stream(0, "one run", check.mechanism))
            assert estimate.method == "one run"
            assert f"about {validation.CANARIES} " in estimate.event


def test_canaries_of_randomised_response_reach_the_law_that_the_bound_allows_for() -> None:
    """Of 400 canaries a share e/(1 + e) is guessed right, less some for the forced halves; P(failure by chance) < 1e-3."""
    mechanism, canaries = find("randomized_response").build(1.0), validation.bit_canaries(400)
    run = validation._canary_audit(SMALL, mechanism, canaries)
    rng = stream(0, "bits")
    bounds = [run(rng).epsilon for _ in range(100)]
    assert np.median(bounds) > 0.6
    assert sum(bound > 1 for bound in bounds) <= binom.ppf(0.999, 100, 0.05)


@pytest.mark.slow
def test_a_report_accuses_as_its_verdicts_do() -> None:
    rng = stream(0, "verdicts")
    guarantee, seen = Guarantee(1.0, "replace-one"), set()
    for _ in range(60):
        counts = [Counts(int(rng.binomial(200, 0.9)), 200, int(rng.binomial(200, 0.28)), 200) for _ in range(5)]
        estimates = [Estimate(epsilon_lower_bound(c, 0.95), "any", 0.95, trials=400, counts=(c,)) for c in counts]
        verdicts = [finding.verdict for finding in findings([Audit(guarantee, (estimate,)) for estimate in estimates])]
        accused = accuses([p_value_of(estimate, guarantee) for estimate in estimates], 0.95)
        assert accused == ("violated" in verdicts)
        seen.add(accused)
    assert seen == {True, False}
    assert p_value_of(Estimate(1.1, "exact", 1.0), guarantee) == 0
    assert p_value_of(Estimate(1.0, "exact", 1.0), guarantee) == 1


def test_tables_depend_on_the_seed_alone(tmp_path: Path) -> None:
    for folder in ("one", "two"):
        validated(tmp_path / folder, "randomized_response")
    for name in ("randomized_response.csv", "each_randomized_response.csv"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()


def test_mistakes_are_sentences(tmp_path: Path) -> None:
    with pytest.raises(EpsilometerError, match=r"there is no family 'laplase'; there are .*laplace"):
        validated(tmp_path, "laplase")
    with pytest.raises(EpsilometerError, match="'controls' has no mechanism that is held to be correct"):
        validated(tmp_path, "controls")
    with pytest.raises(EpsilometerError, match="repetitions is 0; it must be at least 1"):
        validated(tmp_path, "laplace", replace(SMALL, repetitions=0))


def test_families_of_different_repetitions_make_no_report(tmp_path: Path) -> None:
    validated(tmp_path, "randomized_response")
    validated(tmp_path, "laplace", replace(SMALL, repetitions=4))
    with pytest.raises(EpsilometerError, match="a report has 3 audits and another 7; all families need as many"):
        summarised(tmp_path, "randomized_response", "laplace")


def test_tables_are_tidy(tmp_path: Path) -> None:
    validated(tmp_path, "randomized_response")
    with (tmp_path / "each_randomized_response.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert {row["repetition"] for row in rows} == {str(number) for number in range(SMALL.repetitions)}
    assert all(0 <= float(row["p_value"]) <= 1 for row in rows)


def test_the_confidence_reaches_every_auditor(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the same stream, a bound at 99% is below the one at 95%, on pairs as with canaries."""
    monkeypatch.setattr(validation, "_spent", lambda *_: Bounded(0.0, 0.0, math.inf, "not asked", 0.0))
    monkeypatch.setattr(validation, "CANARIES", 400)
    entry, bounds = find("randomized_response"), {}
    for confidence in (0.95, 0.99):
        budget = Budget(epsilon=1.0, repetitions=1, trials=10_000, black_box_trials=10_000, confidence=confidence)
        checks = validation._checks(entry, budget, seed=1)
        estimates = {check.auditor: check.run(stream(0, "confidence", check.auditor)) for check in checks}
        bounds[confidence] = {name: found.epsilon for name, found in estimates.items() if found.confidence == confidence}
    assert set(bounds[0.95]) == set(bounds[0.99]) == {"sampled", "black box", "one run"}
    assert all(0 < bounds[0.99][name] < bound for name, bound in bounds[0.95].items())
