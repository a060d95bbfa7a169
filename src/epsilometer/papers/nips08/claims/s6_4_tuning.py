"""Section 6 of nips08: the choice of lambda = 0.01 by cross-validation of standard logistic regression on a holdout."""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import partial

import numpy as np

from epsilometer.auditors.confidence import clopper_pearson_upper
from epsilometer.core import LabelledData, stream
from epsilometer.data.synthetic import SYNTHETIC
from epsilometer.mechanisms.nips08_settings import LAM
from epsilometer.papers.claim import Claim, Decision, Evidence, Measured, Numbers
from epsilometer.papers.nips08.claims.folds import CONFIDENCE, Folds, interval, read_series, series, student_quantile
from epsilometer.papers.protocol import STANDARD, method, mistakes

FRESH_HOLDOUTS = 30
"""If none of thirty chooses 0.01, the chance that a holdout does is below a tenth (95%)."""


def measure_tuning(dataset: str, evidence: Evidence) -> Measured:
    """The errors of every lambda on the holdout, and how often 0.01 is among the least on fresh holdouts."""
    rows = evidence.table(f"tuning/{dataset}", "lam", "fold", "records", "error")
    lambdas = sorted({row["lam"] for row in rows})
    by_lambda = {lam: np.array([row["error"] for row in rows if row["lam"] == lam]) for lam in lambdas}
    numbers = series("error", {lam: errors.mean() for lam, errors in by_lambda.items()})
    folds, others = len(by_lambda[lambdas[0]]), [lam for lam in lambdas if lam != LAM]
    if LAM in by_lambda and others:
        best = min(others, key=lambda lam: (by_lambda[lam].mean(), lam))
        loss = Folds(by_lambda[LAM] - by_lambda[best], np.zeros(folds))
        numbers |= {"loss": loss.mean, "standard error": loss.standard_error, "folds": float(folds), "best other": best}
    holdouts = (
        SYNTHETIC[dataset](rows[0]["records"], evidence.stream("fresh holdout", dataset, number))
        for number in range(FRESH_HOLDOUTS)
    )
    chosen = sum(_is_least(holdout, others, folds) for holdout in holdouts)
    return Measured(numbers | {"holdouts": float(FRESH_HOLDOUTS), "holdouts that choose it": float(chosen)})


def _is_least(holdout: LabelledData, others: Iterable[float], folds: int) -> bool:
    """Whether no other lambda has a smaller cross-validated error than 0.01."""
    least = _cross_validated_errors(holdout, LAM, folds)
    return least == 0 or all(_cross_validated_errors(holdout, lam, folds) >= least for lam in others)


def _cross_validated_errors(holdout: LabelledData, lam: float, folds: int) -> int:
    """The number of wrong test records over all folds; the records are in random order."""
    fold = np.arange(len(holdout)) % folds
    splits = ((holdout.take(fold != number), holdout.take(fold == number)) for number in range(folds))
    standard = method(STANDARD, math.inf, lam)
    return sum(int(mistakes(standard, train, test, 1, stream(0)).sum()) for train, test in splits)


def decide_tuning(numbers: Numbers, tolerances: Numbers) -> Decision:
    """Reproduced if 0.01 alone is the least; open if it ties, or if other holdouts may well choose it."""
    errors = read_series(numbers, "error")
    least = [lam for lam, error in errors.items() if error <= min(errors.values()) + 1e-12]
    chosen, holdouts = numbers["holdouts that choose it"], numbers["holdouts"]
    upper = float(clopper_pearson_upper(chosen, holdouts, 1 - tolerances["confidence"]))
    sentence = _tuning_sentence(numbers, errors, least, tolerances["confidence"])
    if least == [LAM] and len(errors) > 1:
        return Decision("reproduced", sentence)
    larger = [error for lam, error in errors.items() if lam > LAM]
    if LAM in least or LAM not in errors or upper >= tolerances["chance"]:
        return Decision(
            "underspecified",
            sentence,
            instead=f"Missing: the values tried, and which of equals is taken. We assumed lambda = {LAM:g}, as printed.",
        )
    wins = all(errors[LAM] < error for error in larger)
    reading = f"Of the values from {LAM:g} up, it is the best: a grid that begins there would choose it." if wins else ""
    return Decision("not reproduced", sentence, instead=reading)


def _tuning_sentence(numbers: Numbers, errors: dict[float, float], least: list[float], confidence: float) -> str:
    tried = (
        f"Of {len(errors)} values from {min(errors):g} to {max(errors):g}, the least error, {min(errors.values()):.4f}, "
        f"is that of {'all' if len(least) == len(errors) else ', '.join(f'{lam:g}' for lam in least)}"
    )
    own = ""
    if "loss" in numbers:
        half = student_quantile(numbers["folds"], confidence) * numbers["standard error"]
        own = (
            f"; {LAM:g} has {errors[LAM]:.4f}, {numbers['loss']:+.4f} ({interval(numbers['loss'], half)}) "
            f"against {numbers['best other']:g}"
        )
    chosen, holdouts = numbers["holdouts that choose it"], numbers["holdouts"]
    return f"{tried}{own}. It is among the best on {chosen:.0f} of {holdouts:.0f} fresh holdouts."


def tuning_claim(dataset: str, statement: str, headline: bool = False) -> Claim:
    """The claim that the holdout of a data set chooses lambda = 0.01."""
    return Claim(
        id=f"nips08-tuned-lambda-{dataset}",
        locator="section 6, text on Figure 1",
        statement=statement,
        needs=(f"tuning/{dataset}",),
        computes="the cross-validated error of every lambda on 30 fresh holdouts",
        measure=partial(measure_tuning, dataset),
        decide=decide_tuning,
        tolerances=CONFIDENCE | {"chance": 0.1},
        link=f"tuning/{dataset}.csv",
        headline=headline,
    )


TUNED_LAMBDA_SEPARABLE = tuning_claim(
    "separable",
    "On the separable data, cross-validation of standard logistic regression on 10,000 holdout points chooses lambda = "
    "0.01.",
)
TUNED_LAMBDA_UNSEPARABLE = tuning_claim(
    "unseparable",
    "On the unseparable data, cross-validation of standard logistic regression on 10,000 holdout points chooses lambda = "
    "0.01.",
    headline=True,
)
