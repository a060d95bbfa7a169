"""What claims read from the table of verdicts decides them, and random draws are the same on each run."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from epsilometer.papers.claim import Evidence
from epsilometer.papers.registry import claims_of
from tests.papers.cs860.cases import BOUND, SLACK
from tests.papers.evidence import with_shares

pytestmark = pytest.mark.slow

READ = {
    "gaussian_output": "output_perturbation_gaussian",
    "objective_gamma": "objective_perturbation_cms11",
    "objective_gaussian": "objective_perturbation_gaussian",
    "objective_scale": "objective_perturbation_kst12",
    "approximate_minimum": "approximate_minimum_perturbation",
    "algorithm_3": "gradient_perturbation_printed",
}
ALSO_READ = ("objective_perturbation_kst12", "objective_perturbation_huber", "objective_perturbation_general")


@pytest.mark.parametrize("check", READ)
def test_an_altered_table_flips_the_verdict(check: str, tmp_path: Path) -> None:
    claim, shares = claims_of("cs860")[check], dict.fromkeys([*READ.values(), *ALSO_READ], 0.5)
    kept = claim.measure(with_shares(tmp_path / "kept", shares))
    broken = claim.measure(with_shares(tmp_path / "broken", shares | {READ[check]: 1.5}))
    assert claim.decide(kept.numbers, BOUND).outcome in ("holds", "holds, loosely")
    assert claim.decide(broken.numbers, BOUND).outcome == "fails as printed"


def test_floating_point_is_decided_by_the_table(tmp_path: Path) -> None:
    claim = claims_of("cs860")["floating_point"]
    for share, outcome in ((math.inf, "holds"), (1.0, "fails as printed")):
        numbers = claim.measure(with_shares(tmp_path, {"laplace_floating_point": share, "snapping": 1.0})).numbers
        assert claim.decide(numbers, SLACK).outcome == outcome


@pytest.mark.parametrize("check", ["convex", "moments", "overfitting", "noisy_moment"])
def test_measures_are_the_same_on_each_run(check: str, tmp_path: Path) -> None:
    measure = claims_of("cs860")[check].measure
    first, second = (measure(Evidence(tmp_path / name, 7)).numbers for name in ("a", "b"))
    assert first == second
