"""Audits of whole families, and the verdicts of a report."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from epsilometer.auditors.attainability import Attainability
from epsilometer.core import EpsilometerError, Witness, stream
from epsilometer.evidence.audits import audit_family, privacy_loss
from epsilometer.evidence.report import verdicts
from epsilometer.evidence.rows import AUDIT, COUNTS, PRIVACY_LOSS, SECONDS, VERDICTS
from epsilometer.mechanisms.catalogue import find

pytestmark = pytest.mark.slow


def audited(folder: Path, family: str, epsilons: list[float], trials: int = 20_000, confidence: float = 0.95) -> list[Any]:
    """The rows of the audits of a family; the counts and the seconds are written beside them."""
    audit_family(
        family,
        table=folder / f"{family}.csv",
        counts=folder / f"counts_{family}.csv",
        seconds=folder / f"seconds_{family}.csv",
        witnesses=folder / family,
        epsilons=epsilons,
        trials=trials,
        confidence=confidence,
        seed=1,
    )
    return AUDIT.read(folder / f"{family}.csv")


def judged(folder: Path, *families: str) -> dict[tuple[str, float], dict[str, Any]]:
    tables, counts = ([folder / f"{kind}{family}.csv" for family in families] for kind in ("", "counts_"))
    verdicts(tables, counts=counts, confidence=0.95, table=folder / "verdicts.csv")
    return {(row["mechanism"], row["promised"]): row for row in VERDICTS.read(folder / "verdicts.csv")}


def test_every_mechanism_promise_pair_and_auditor_has_a_row(tmp_path: Path) -> None:
    rows = audited(tmp_path, "laplace", [0.5, 1.0])
    expected = [
        (name, promised, pair, auditor)
        for name, pairs in (("laplace_count", 1), ("laplace_difference_attack", 2), ("laplace_standard_deviation", 1))
        for promised in (0.5, 1.0)
        for pair in range(pairs)
        for auditor in ("exact", "sampled", "black box")
    ]
    assert [(row["mechanism"], row["promised"], row["pair"], row["auditor"]) for row in rows] == expected
    times = SECONDS.read(tmp_path / "seconds_laplace.csv")
    assert [(row["mechanism"], row["promised"], row["pair"], row["auditor"]) for row in times] == expected
    assert all(row["seconds"] > 0 for row in times)
    witness = Witness.from_json((tmp_path / "laplace" / "laplace_count_0.5_0.json").read_text())
    assert abs(witness.log_ratio) == pytest.approx(0.5)


def test_verdicts_tell_the_broken_from_the_correct(tmp_path: Path) -> None:
    audited(tmp_path, "laplace", [1.0])
    audited(tmp_path, "gaussian", [1.0])
    rows = judged(tmp_path, "laplace", "gaussian")
    assert rows["laplace_count", 1.0]["verdict"] == "tight"
    assert rows["laplace_standard_deviation", 1.0]["verdict"] == "violated"
    assert rows["laplace_standard_deviation", 1.0]["exact"] == pytest.approx(math.sqrt(2))
    assert rows["gaussian_classic", 1.0]["verdict"] == "consistent"
    assert rows["gaussian_classic", 1.0]["exact"] == pytest.approx(0.751, abs=1e-3)
    assert rows["gaussian_analytic", 1.0]["verdict"] == "tight"
    assert rows["gaussian_analytic", 1.0]["exact"] == pytest.approx(1, abs=1e-6)


@pytest.fixture(scope="module")
def nips08(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Any]]:
    """The audits of the mechanisms of nips08 at one of its epsilons, and the folder of their tables."""
    folder = tmp_path_factory.mktemp("nips08")
    return folder, audited(folder, "nips08_settings", [0.0184], trials=4_000)


@pytest.mark.slow
def test_the_worst_pair_is_searched_for_and_one_run_is_audited(nips08: tuple[Path, list[Any]]) -> None:
    """At the paper's settings Algorithm 2 exceeds its epsilon at n = 1,000, and not at n = 14,000."""
    folder, rows = nips08
    own, found = [
        row["certified"] for row in rows if row["mechanism"] == "nips08_algorithm_2_n1000" and row["auditor"] == "exact"
    ]
    assert 1.84 * 0.0184 < own < found
    assert {row["canaries"] for row in rows if row["auditor"] == "one run"} == {100}
    verdict = {name: row["verdict"] for (name, _), row in judged(folder, "nips08_settings").items()}
    assert verdict.pop("nips08_algorithm_2_n1000") == "violated"
    assert "violated" not in verdict.values()


def test_efficiency_is_the_share_of_what_any_single_event_could_certify(tmp_path: Path) -> None:
    """Of 100,000 trials, a likelihood ratio and a black box make nearly the most, for scalar mechanisms."""
    rows = audited(tmp_path, "randomized_response", [1.0], trials=100_000)
    for row in rows:
        if row["auditor"] in ("sampled", "black box"):
            assert row["efficiency"] == pytest.approx(row["certified"] / row["limit"])
            assert 0.9 < row["efficiency"] < 1.05
            assert row["certified"] < row["jeffreys"] < row["certified"] + 0.01
            assert row["jeffreys"] < row["event_high"] < row["certified"] + 0.2
            assert row["jeffreys"] < row["bayesian"] < row["certified"] + 0.05  # one joint interval is narrower than two
        else:
            assert math.isnan(row["efficiency"])
    judgement = judged(tmp_path, "randomized_response").popitem()[1]
    assert judgement["trials"] >= 200_000


@pytest.mark.slow
def test_privacy_losses_are_those_of_the_pair_on_which_most_is_spent(tmp_path: Path) -> None:
    audited(tmp_path, "laplace", [1.0], trials=4_000)
    privacy_loss([tmp_path / "laplace.csv"], table=tmp_path / "loss.csv", epsilon=1.0, seed=1)
    rows = PRIVACY_LOSS.read(tmp_path / "loss.csv")
    assert {row["mechanism"] for row in rows} == {
        "laplace_count",
        "laplace_difference_attack",
        "laplace_standard_deviation",
    }
    largest = [row for row in rows if row["mechanism"] == "laplace_count"][-1]
    assert largest["loss"] == pytest.approx(1.0)
    assert largest["probability_first"] == pytest.approx(1 / 2, abs=1e-4)  # beyond the likelier answer
    assert largest["probability_second"] == pytest.approx(math.exp(-1) / 2, abs=1e-4)
    with pytest.raises(EpsilometerError, match="nothing to write"):
        privacy_loss([tmp_path / "laplace.csv"], table=tmp_path / "loss.csv", epsilon=3.0, seed=1)


def test_tables_depend_on_the_seed_alone(tmp_path: Path) -> None:
    for folder in ("one", "two"):
        audited(tmp_path / folder, "randomized_response", [1.0], trials=4_000)
    for name in ("randomized_response.csv", "counts_randomized_response.csv"):
        first, second = ((tmp_path / folder / name).read_bytes() for folder in ("one", "two"))
        assert first == second


def test_a_mechanism_that_promises_nothing_is_audited_once_and_found(tmp_path: Path) -> None:
    rows = audited(tmp_path, "controls", [0.5, 2.0])
    assert {row["promised"] for row in rows} == {0.5}
    assert judged(tmp_path, "controls")["non_private_logistic", 0.5]["verdict"] == "violated"


def test_an_unknown_family_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(EpsilometerError, match=r"there is no family 'laplase'; there are .*laplace"):
        audited(tmp_path, "laplase", [1.0])


def test_floating_point_noise_is_found_by_what_it_can_attain() -> None:
    entry = find("laplace_floating_point")
    estimate = Attainability(entry.name, 1.0)(entry.build(1.0), entry.pairs()[0], 1_000, stream(0))
    assert estimate.epsilon == math.inf
    assert estimate.confidence == 1
    witness = estimate.witness
    assert witness
    pair = witness.pair if witness.log_ratio > 0 else witness.pair.reversed()
    mechanism: Any = entry.build(1.0)
    assert mechanism.attainable(pair.first, witness.output[None])[0]
    assert not mechanism.attainable(pair.second, witness.output[None])[0]


def test_what_both_can_attain_proves_nothing() -> None:
    class Everything:
        def sample(self, dataset: Any, size: int, rng: Any) -> Any:  # noqa: ARG002
            return rng.random(size)

        def attainable(self, dataset: Any, outputs: Any) -> Any:  # noqa: ARG002
            return outputs >= 0

    estimate = Attainability("any", 1.0)(Everything(), find("laplace_count").pairs()[0], 100, stream(0))
    assert estimate.epsilon == 0
    assert estimate.witness is None


def test_every_count_behind_a_bound_has_a_row(nips08: tuple[Path, list[Any]]) -> None:
    """A sampled bound rests on one event, one from a single run on two numbers of guesses, and an exact value on none."""
    folder, rows = nips08
    behind: dict[tuple[Any, ...], list[Any]] = {}
    for each in COUNTS.read(folder / "counts_nips08_settings.csv"):
        behind.setdefault((each["mechanism"], each["promised"], each["pair"], each["auditor"]), []).append(each)
    several = set()
    for row in rows:
        found = behind.pop((row["mechanism"], row["promised"], row["pair"], row["auditor"]), [])
        assert len(found) == row["choices"]
        several.add((row["auditor"], len(found)))
        for name in ("hits", "of", "other_hits", "other_of", "canaries") if found else ():
            assert found[0][name] == row[name] or (math.isnan(found[0][name]) and math.isnan(row[name])), name
    assert not behind
    assert several == {("exact", 0), ("sampled", 1), ("black box", 1), ("one run", 2)}


@pytest.mark.slow
@pytest.mark.parametrize(("family", "trials"), [("gaussian", 4_000), ("naive_bayes", 4_000)])
def test_the_confidence_reaches_every_auditor(tmp_path: Path, family: str, trials: int) -> None:
    """With the same seed, and the same events, a bound that is to hold with a higher probability is a smaller one."""
    surer, less_sure = (
        audited(tmp_path / str(confidence), family, [2.0], trials, confidence) for confidence in (0.99, 0.95)
    )
    lower: set[str] = set()
    for one, other in zip(surer, less_sure, strict=True):
        assert (one["mechanism"], one["pair"], one["auditor"]) == (other["mechanism"], other["pair"], other["auditor"])
        if other["confidence"] == 1:
            assert one["confidence"] == 1
            assert one["certified"] == pytest.approx(other["certified"], rel=1e-6)
        else:
            assert (one["confidence"], other["confidence"]) == (0.99, 0.95)
            assert one["certified"] <= other["certified"], one
            lower.update({one["auditor"]} if one["certified"] < other["certified"] else ())
        assert math.isnan(other["limit"]) or one["limit"] < other["limit"]
    sampled = {row["auditor"] for row in surer if row["confidence"] < 1}
    assert lower == sampled
    assert {"sampled", "black box"} <= sampled
    assert sampled & {"Gaussian shape", "one run"}
