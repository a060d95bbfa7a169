"""Verdicts: the table of cases, and the error over whole reports by simulation."""

from __future__ import annotations

import gc
import math
from collections.abc import Iterator

import numpy as np
import pytest
from scipy.stats import binom

from epsilometer.auditors.confidence import epsilon_lower_bound, p_value
from epsilometer.auditors.sampled import SampledLikelihoodRatio
from epsilometer.core import Counts, EpsilometerError, Estimate, Guarantee, stream
from epsilometer.evidence.verdicts import Audit, findings, p_value_against_claim, verdict
from epsilometer.mechanisms.catalogue import find

PROMISE = Guarantee(1.0, "replace-one")
WITH_DELTA = Guarantee(1.0, "replace-one", 1e-5)


def exact(epsilon: float, delta: float = 0.0) -> Estimate:
    return Estimate(epsilon, "exact", 1.0, delta)


def sampled(hits: int, trials: int, other_hits: int, delta: float = 0.0, model_based: bool = False) -> Estimate:
    counts = Counts(hits, trials, other_hits, trials)
    bound = epsilon_lower_bound(counts, 0.95, delta)
    return Estimate(bound, "sampled", 0.95, delta, 2 * trials, (counts,), model_based=model_based)


def test_an_exact_value_decides_up_to_rounding() -> None:
    assert verdict(PROMISE, [exact(1.0 + 1e-6)]) == "violated"
    assert verdict(PROMISE, [exact(math.inf)]) == "violated"
    assert verdict(PROMISE, [exact(1.0 + 1e-12)]) == "tight"
    assert verdict(PROMISE, [exact(0.9)]) == "tight"
    assert verdict(PROMISE, [exact(0.1)]) == "consistent"
    assert verdict(PROMISE, [exact(0.0)]) == "consistent"


def test_a_sampled_bound_decides_if_it_is_sure() -> None:
    assert verdict(PROMISE, [sampled(8000, 10_000, 1000)]) == "violated"
    assert verdict(PROMISE, [sampled(7300, 10_000, 2700)]) == "tight"
    assert verdict(PROMISE, [sampled(5000, 10_000, 4000)]) == "consistent"


def test_a_bound_that_rests_on_a_model_decides_nothing() -> None:
    claim = sampled(8000, 10_000, 1000, model_based=True)
    assert verdict(PROMISE, [claim]) == "underpowered"
    assert verdict(PROMISE, [claim, sampled(5000, 10_000, 4000)]) == "consistent"
    exact_model = Estimate(math.inf, "model", 1.0, model_based=True)
    assert verdict(PROMISE, [exact_model, exact(0.5)]) == "consistent"


def test_trials_that_could_not_have_told_are_underpowered() -> None:
    assert verdict(PROMISE, []) == "underpowered"
    assert verdict(PROMISE, [sampled(5, 10, 5)]) == "underpowered"
    assert verdict(PROMISE, [sampled(3, 100_000, 2)]) == "underpowered"
    assert verdict(PROMISE, [sampled(0, 100_000, 0)]) == "underpowered"
    assert verdict(PROMISE, [sampled(100_000, 100_000, 100_000)]) == "underpowered"
    assert verdict(PROMISE, [sampled(3, 100_000, 2), exact(0.5)]) == "consistent"
    assert verdict(PROMISE, [sampled(3, 100_000, 2), sampled(5000, 10_000, 4900)]) == "consistent"
    assert verdict(PROMISE, [Estimate(0.0, "one run", 0.95)]) == "underpowered"


def test_a_small_promise_needs_more_trials() -> None:
    """At epsilon 0.1 a thousand trials a side cannot certify half of it, a hundred thousand can."""
    promise = Guarantee(0.1, "replace-one")
    assert verdict(promise, [sampled(500, 1000, 500)]) == "underpowered"
    assert verdict(promise, [sampled(50_000, 100_000, 50_000)]) == "consistent"


def test_an_estimate_at_another_delta_counts_only_where_it_holds() -> None:
    """A bound at a larger delta holds at the promised one; at a smaller delta it says nothing, unless it is small."""
    assert verdict(WITH_DELTA, [exact(math.inf, 0.0)]) == "underpowered"
    assert verdict(WITH_DELTA, [exact(math.inf, 0.0), exact(0.75, 1e-5)]) == "consistent"
    assert verdict(WITH_DELTA, [exact(1.5, 1e-3)]) == "violated"
    assert verdict(WITH_DELTA, [exact(0.2, 1e-3)]) == "underpowered"
    assert verdict(WITH_DELTA, [exact(0.2, 0.0)]) == "consistent"


def test_counts_are_read_at_the_promised_delta() -> None:
    """Hits below the promised delta prove nothing, though at delta 0 they exceed epsilon; hits above do."""
    rare = sampled(200, 100_000, 0)
    assert rare.epsilon > 3
    assert verdict(Guarantee(1.0, "replace-one", 0.01), [rare]) == "underpowered"
    assert verdict(WITH_DELTA, [rare]) == "violated"
    assert findings([Audit(WITH_DELTA, (rare,))])[0].bound == epsilon_lower_bound(rare.counts[0], 0.95, 1e-5)


def test_a_bound_without_counts_has_its_own_error_for_p_value() -> None:
    claim = Estimate(1.2, "one run", 0.99)
    assert p_value_against_claim(claim, PROMISE) == pytest.approx(0.01)
    assert p_value_against_claim(claim, Guarantee(1.3, "replace-one")) == 1
    assert verdict(PROMISE, [claim]) == "violated"
    assert {finding.verdict for finding in findings([Audit(PROMISE, (claim,))] * 6)} == {"tight"}


def test_two_directions_are_paid_for() -> None:
    counts = (Counts(60, 100, 17, 100), Counts(17, 100, 60, 100))
    single = p_value(counts[0], 1.0)
    estimate = Estimate(0.0, "both", 0.95, counts=counts)
    assert p_value_against_claim(estimate, PROMISE) == pytest.approx(min(1, 2 * single))
    assert p_value_against_claim(Estimate(0.0, "both", 0.95, counts=counts[1:] * 2), PROMISE) == 1


def test_holm_runs_over_the_whole_report() -> None:
    """A bound that is just above the promise alone is not enough among twenty; a clear one is."""
    weak = next(
        estimate
        for estimate in (sampled(5000, 10_000, other) for other in range(1839, 1000, -1))
        if estimate.epsilon > 1.001
    )
    clear, innocent = sampled(8000, 10_000, 1000), sampled(5000, 10_000, 4000)
    assert verdict(PROMISE, [weak]) == "violated"
    found = findings([Audit(PROMISE, (weak,)), Audit(PROMISE, (clear,)), *[Audit(PROMISE, (innocent,))] * 18])
    assert [finding.verdict for finding in found] == ["tight", "violated", *["consistent"] * 18]
    raw = p_value(weak.counts[0], 1.0)
    assert found[0].p_value == pytest.approx(19 * raw)
    assert found[1].p_value == pytest.approx(20 * p_value(clear.counts[0], 1.0))
    assert found[2].p_value == 1


def test_several_estimates_of_one_audit_count_each() -> None:
    clear, innocent = sampled(700, 1000, 170), sampled(500, 1000, 400)
    found = findings([Audit(PROMISE, (innocent, clear, exact(0.5), sampled(9, 9, 0, model_based=True)))])[0]
    assert found.p_value == pytest.approx(2 * p_value(clear.counts[0], 1.0))


def test_an_empty_report_has_no_findings() -> None:
    assert findings([]) == []


def test_a_confidence_that_is_none_is_refused() -> None:
    with pytest.raises(EpsilometerError, match="confidence is 2"):
        findings([], confidence=2)


@pytest.fixture
def little_garbage() -> Iterator[None]:
    """statsmodels collects garbage at every correction: hide what is there already from the collector, to save a minute."""
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.mark.slow
@pytest.mark.usefixtures("little_garbage")
def test_whole_reports_accuse_no_more_often_than_they_say() -> None:
    """1,000 reports of 10 audits of tight mechanisms at 95%: more than 84 false accusations have probability 2e-6.

    Every mechanism spends its promise in full, so every test is at the edge of its hypothesis.
    """
    rng, auditor = stream(5, "reports"), SampledLikelihoodRatio()
    entries = [find(name) for name in ("laplace_count", "randomized_response")]
    setups = [(entry.build(epsilon), entry.pairs()[0]) for entry in entries for epsilon in (0.2, 0.5, 1.0, 2.0, 3.0)]
    accused = 0
    for _ in range(1000):
        audits = []
        for mechanism, pair in setups:
            assert mechanism.guarantee is not None
            audits.append(Audit(mechanism.guarantee, (auditor(mechanism, pair, 400, rng),)))
        accused += any(finding.verdict == "violated" for finding in findings(audits))
    assert accused <= int(binom.isf(3e-6, 1000, 0.05))


def test_a_broken_mechanism_is_found_and_a_correct_one_is_not_accused() -> None:
    """Half of the noise at 20,000 outputs: a bound near 2 for a promise of 1."""
    verdicts = {}
    for name in ("laplace_half_scale", "laplace_count"):
        entry = find(name)
        mechanism, pair = entry.build(1.0), entry.pairs()[0]
        assert mechanism.guarantee is not None
        estimate = SampledLikelihoodRatio()(mechanism, pair, 20_000, stream(6, name))
        verdicts[name] = verdict(mechanism.guarantee, [estimate])
    assert verdicts == {"laplace_half_scale": "violated", "laplace_count": "tight"}
    assert np.isfinite(estimate.epsilon)
