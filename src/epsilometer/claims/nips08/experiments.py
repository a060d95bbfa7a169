"""Section 6 of nips08: what its Figures 1 and 2 show, and what it says of its data sets and of lambda.

The experiments' tables hold a mean test error for each fold, averaged over restarts. Two methods that meet in the same fold
see the same records, so they are compared by their differences fold by fold. The standard error of a mean is the larger of
what the folds and what the restarts suggest, and its interval is Student's with one degree of freedom less than folds.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.optimize import nnls
from scipy.special import bdtr, betainc, chdtrc, fdtri, kolmogorov, ndtri, stdtrit

from epsilometer.audits.confidence import clopper_pearson_lower, clopper_pearson_upper
from epsilometer.claims.ledger import Check, Decision, Evidence, Measured, Numbers
from epsilometer.core import Array, LabelledData, stream
from epsilometer.data import read_dataset
from epsilometer.data.prepare import EXPERIMENT
from epsilometer.data.synthetic import DIMENSION, FLIP_PROBABILITY, MARGIN, NOISY_BAND, SYNTHETIC
from epsilometer.erm import LOGISTIC, minimiser
from epsilometer.experiments.nips08 import ALL_CELLS, LEAST_NOISE, PRINTED, PRIVATE_CELLS
from epsilometer.experiments.protocol import ALGORITHM_1, ALGORITHM_2, CMS11, METHODS, STANDARD, method, mistakes
from epsilometer.mechanisms.nips08_settings import LAM

PRINTED_FOLDS, PRINTED_RECORDS = 5, 3500
"""Behind Figure 1: five folds of 17,500 points."""
CHANCE = 0.5
"""The error of a coin."""
ROUNDING = 5e-5
"""Half of the last digit that Figure 1 prints."""
FRESH_HOLDOUTS = 30
"""With none of thirty, the chance is below a tenth (95%)."""
NAMES = {STANDARD: "standard", ALGORITHM_1: "sensitivity", ALGORITHM_2: "new", CMS11: "new as calibrated in 2011"}
"""The methods as nips08 calls them."""
REPAIRED = NAMES[CMS11]
GUARD = 0.02
"""How far from a band's edge a record must be for an estimated hyperplane to place it safely."""


# Means over folds, their differences and intervals


@dataclass(frozen=True)
class Folds:
    """A method's mean test error in each fold, and the variance of that mean, from the restarts."""

    error: Array
    variance: Array

    @property
    def mean(self) -> float:
        return float(self.error.mean())

    @property
    def standard_error(self) -> float:
        """Of the mean over folds: the larger of what folds and restarts suggest."""
        count = len(self.error)
        over_folds = float(np.std(self.error, ddof=1)) / math.sqrt(count)
        return max(over_folds, math.sqrt(self.variance.sum()) / count)

    def minus(self, other: Folds) -> Folds:
        """The difference in each fold: the records are the same, the restarts are independent."""
        return Folds(self.error - other.error, self.variance + other.variance)

    @property
    def student(self) -> float:
        """The mean in units of its standard error."""
        if self.standard_error == 0:
            return 0.0 if self.mean == 0 else math.copysign(math.inf, self.mean)
        return self.mean / self.standard_error


def error_table(evidence: Evidence, dataset: str) -> dict[str, Folds]:
    """Each method of Figure 1."""
    rows = evidence.table(f"error_table/{dataset}", "method", "fold", "error")
    found = {}
    for name in METHODS:
        runs: dict[int, list[float]] = {}
        for row in rows:
            if row["method"] == name:
                runs.setdefault(row["fold"], []).append(row["error"])
        errors = [np.mean(run) for run in runs.values()]
        found[name] = Folds(np.array(errors), np.array([_variance_of_mean(run) for run in runs.values()]))
    return found


def curve(evidence: Evidence, table: str, dataset: str, along: str) -> dict[str, dict[float, Folds]]:
    """Each method of a learning curve, by n, or of an epsilon curve, by epsilon, of which the standard method has none."""
    groups: dict[str, dict[float, list[dict[str, Any]]]] = {}
    for row in evidence.table(f"{table}/{dataset}", "method", along, "restarts", "error", "sd_restarts"):
        groups.setdefault(row["method"], {}).setdefault(row[along], []).append(row)
    return {
        name: {
            x: Folds(
                np.array([row["error"] for row in rows]),
                np.array([row["sd_restarts"] ** 2 / row["restarts"] for row in rows]),
            )
            for x, rows in points.items()
        }
        for name, points in groups.items()
    }


def _variance_of_mean(run: list[float]) -> float:
    return float(np.var(run, ddof=1)) / len(run) if len(run) > 1 else 0.0


def _student_quantile(folds: float, confidence: float) -> float:
    return float(stdtrit(folds - 1, (1 + confidence) / 2))


def _compared(same: bool, sentence: str, instead: str = "") -> Decision:
    """An experiment's outcome."""
    return Decision("reproduced" if same else "not reproduced", sentence, instead=instead)


def _series(name: str, values: Mapping[float, float]) -> dict[str, float]:
    """A series as numbers of a check, each named after where it was measured."""
    return {f"{name} at {x!r}": float(value) for x, value in values.items()}


def _read_series(numbers: Numbers, name: str) -> dict[float, float]:
    return {float(key.removeprefix(f"{name} at ")): value for key, value in numbers.items() if key.startswith(f"{name} at ")}


# Figure 1, means


def measure_mean(cell: tuple[str, str], evidence: Evidence) -> Measured:
    """A cell's mean error beside the printed one; of a private cell, the epsilon at which the printed one comes out."""
    row = _summary_row(evidence, cell)
    folds = error_table(evidence, cell[0])[cell[1]]
    numbers = {
        "mean": row["mean"],
        "standard error": max(folds.standard_error, LEAST_NOISE),
        "folds": float(len(folds.error)),
        "printed": PRINTED[cell][0],
    }
    if cell in PRIVATE_CELLS:
        recovered = _recovered(evidence)[cell]
        numbers |= {"epsilon": row["epsilon"]} | {f"own {name}": recovered[name] for name in ("epsilon", "low", "high")}
    return Measured(numbers)


def decide_mean(numbers: Numbers, tolerances: Numbers) -> Decision:
    """The printed mean is supposed to be as uncertain as ours."""
    difference = numbers["mean"] - numbers["printed"]
    half = _student_quantile(numbers["folds"], tolerances["confidence"]) * math.sqrt(2) * numbers["standard error"]
    private = "epsilon" in numbers
    sentence = (
        f"Printed {numbers['printed']:.4f}, measured {numbers['mean']:.4f}"
        + (f" at epsilon = {numbers['epsilon']:.4g}, the one that fits all four private cells best" if private else "")
        + f"; difference {difference:+.4f}, {tolerances['confidence']:.0%} interval {_interval(difference, half)}."
    )
    same, own = abs(difference) <= half + ROUNDING, ""
    if private and not same:
        own = (
            f"The printed error comes out at epsilon = {numbers['own epsilon']:.4g} "
            f"({numbers['own low']:.4g} to {numbers['own high']:.4g})."
        )
    return _compared(same, sentence, own)


def _summary_row(evidence: Evidence, cell: tuple[str, str]) -> dict[str, Any]:
    rows = evidence.table("error_summary/nips08", "dataset", "method", "mean", "sd_folds", "sd_restarts")
    return next(row for row in rows if (row["dataset"], row["method"]) == cell)


def _recovered(evidence: Evidence) -> dict[tuple[str, str], dict[str, Any]]:
    rows = evidence.table("recovered_epsilon/nips08", "dataset", "method", "epsilon", "low", "high", "p_value")
    return {(row["dataset"], row["method"]): row for row in rows}


def _interval(centre: float, half: float) -> str:
    return f"{centre - half:+.4f} to {centre + half:+.4f}"


# Figure 1, spreads


def bayes_error(dataset: str) -> float:
    """The least error that any classifier has: the flipped share of the band |u| <= 0.1.

    A coordinate u of a uniform point of the unit sphere in d dimensions has u^2 ~ Beta(1/2, (d-1)/2).
    """
    if dataset == "separable":
        return 0.0
    return FLIP_PROBABILITY * float(betainc(0.5, (DIMENSION - 1) / 2, NOISY_BAND**2))


def lowest_fold(mean: float, spread: float, folds: int) -> float:
    """The most that the lowest of `folds` values can be, given their mean and standard deviation: mean - spread/sqrt(folds).

    If no value is lower than mean - a, the squares of the deviations sum to at most folds (folds - 1) a^2, attained by a
    single high value; and they sum to (folds - 1) spread^2.
    """
    return mean - spread / math.sqrt(folds)


def largest_spread(mean: float, folds: int) -> float:
    """The largest standard deviation of `folds` errors with this mean: as many of them 1 as can be, the rest 0, one between.

    The sum of squares is convex, so it is largest at a vertex of the cube cut by the hyperplane of that mean.
    """
    ones, between = divmod(folds * mean, 1)
    return math.sqrt((ones + between**2 - folds * mean**2) / (folds - 1))


def measure_spread(cell: tuple[str, str], evidence: Evidence) -> Measured:
    """A cell's spreads of every kind, the largest possible, and the chance of the lowest fold that the printed one implies.

    Whatever the training, a record is wrong with at least the least probability that any classifier has, so the errors of a
    fold are at least binomial; that one of the folds is as low has at most as many times that chance.
    """
    mean, spread = PRINTED[cell]
    lowest = lowest_fold(mean + ROUNDING, spread - ROUNDING, PRINTED_FOLDS)
    wrong = math.floor(lowest * PRINTED_RECORDS)
    chance = PRINTED_FOLDS * float(bdtr(wrong, PRINTED_RECORDS, bayes_error(cell[0]))) if wrong >= 0 else 0.0
    return Measured(
        {
            "printed mean": mean,
            "printed": spread,
            "folds": float(len(error_table(evidence, cell[0])[cell[1]].error)),
            "largest possible": largest_spread(mean + ROUNDING, PRINTED_FOLDS),
            "lowest fold": lowest,
            "log10 chance": math.log10(min(1.0, max(chance, 1e-300))),
            **spreads(cell, evidence),
        }
    )


def spreads(cell: tuple[str, str], evidence: Evidence) -> dict[str, float]:
    """The standard deviations that the protocol knows, by what varies."""
    row = _summary_row(evidence, cell)
    sizes = curve(evidence, "learning_curve", cell[0], "n")[cell[1]]
    found = {
        "over folds": row["sd_folds"],
        "over the learning curve": float(np.std([point.mean for point in sizes.values()], ddof=1)),
    }
    if cell[1] != STANDARD:
        epsilons = curve(evidence, "epsilon_curve", cell[0], "epsilon")[cell[1]]
        found["over restarts"] = row["sd_restarts"]
        found["over the epsilon curve"] = float(np.std([point.mean for point in epsilons.values()], ddof=1))
    return found


def decide_spread(numbers: Numbers, tolerances: Numbers) -> Decision:
    """Impossible, or too unlikely to have happened; else, within the ratio of two spreads over as many folds, or not."""
    printed, measured = numbers["printed"], numbers["over folds"]
    low, high = (
        measured * math.sqrt(fdtri(PRINTED_FOLDS - 1, numbers["folds"] - 1, (1 + side * tolerances["confidence"]) / 2))
        for side in (-1, 1)
    )
    kind, nearest = _nearest_kind(numbers)
    sentence = (
        f"Printed {printed:.4f}; over folds we measure {measured:.4f}, so that another run's spread lies in "
        f"{low:.4f} to {high:.4f} ({tolerances['confidence']:.0%})"
    )
    least = (printed - ROUNDING) / math.sqrt(PRINTED_FOLDS)
    if printed - ROUNDING > numbers["largest possible"]:
        return Decision(
            "fails as printed",
            f"{sentence}. Errors are not negative: those of {PRINTED_FOLDS} folds with a mean of "
            f"{numbers['printed mean']:.4f} have a spread of at most {numbers['largest possible']:.5f}.",
            instead=f"A mean of at least {least:.5f} that was rounded to two digits could have this spread.",
        )
    if numbers["log10 chance"] < tolerances["log10 chance"]:
        return Decision(
            "fails as printed",
            f"{sentence}. It needs a fold with an error of at most {numbers['lowest fold']:.4f}, far below what the flipped "
            f"labels allow: its probability is at most 10^{numbers['log10 chance']:.0f}.",
            instead=f"The spread over folds is about {measured:.4f}.",
        )
    return _compared(
        low - ROUNDING <= printed <= high + ROUNDING,
        f"{sentence}. Around that mean, up to {numbers['largest possible']:.4f} is possible; the nearest of our spreads is "
        f"that {kind}, {nearest:.4f}.",
    )


def _nearest_kind(numbers: Numbers) -> tuple[str, float]:
    kinds = {name: value for name, value in numbers.items() if name.startswith("over ") and value > 0}
    if not kinds:
        return "over folds", numbers["over folds"]
    return min(kinds.items(), key=lambda kind: _factor(kind[1], numbers["printed"]))


def _factor(measured: float, printed: float) -> float:
    """By how much two spreads differ, as a factor of at least 1."""
    if min(measured, printed) <= 0:
        return math.inf
    return max(measured / printed, printed / measured)


def measure_kind(evidence: Evidence) -> Measured:
    """For every kind of spread, the largest factor between printed and measured over the four private cells."""
    found = [(cell, spreads(cell, evidence)) for cell in PRIVATE_CELLS]
    return Measured({kind: max(_factor(each[kind], PRINTED[cell][1]) for cell, each in found) for kind in found[0][1]})


def decide_kind(numbers: Numbers, tolerances: Numbers) -> Decision:
    factors = ", ".join(f"{kind} {value:.2f}" for kind, value in numbers.items())
    sentence = f"Largest factor between the printed and the measured spread of the four private cells: {factors}."
    if numbers["over folds"] <= tolerances["factor"]:
        return Decision("reproduced", sentence)
    kind = min(numbers, key=lambda name: numbers[name])
    near = "and fit" if numbers[kind] <= tolerances["factor"] else "though they do not fit"
    return Decision(
        "not reproduced", sentence, instead=f"Standard deviations {kind} come nearest, {near}: within {numbers[kind]:.2f}."
    )


def measure_twice(evidence: Evidence) -> Measured:
    """The new method's and standard regression's spreads on the unseparable data, and the chance that they agree.

    Two standard deviations over k folds with the same true value agree to the printed digit with probability about
    f(1) 2 u/s, where f is the density of F with k - 1 and k - 1 degrees of freedom and u the last digit's unit.
    """
    new = measure_spread(("unseparable", ALGORITHM_2), evidence).numbers
    standard = measure_spread(("unseparable", STANDARD), evidence).numbers
    half = (PRINTED_FOLDS - 1) / 2
    density = math.gamma(2 * half) / math.gamma(half) ** 2 / 4**half
    return Measured(
        {
            "printed": standard["printed"],
            "new method": new["over folds"],
            "standard regression": standard["over folds"],
            "chance of agreement": density * 2 * (2 * ROUNDING) / standard["printed"],
            "log10 chance": standard["log10 chance"],
        }
    )


def decide_twice(numbers: Numbers, tolerances: Numbers) -> Decision:
    sentence = (
        f"Measured over folds: {numbers['new method']:.4f} and {numbers['standard regression']:.4f}. Spreads with the same "
        f"true value would agree to four digits with probability {numbers['chance of agreement']:.1g}"
    )
    if numbers["log10 chance"] < tolerances["log10 chance"]:
        return Decision(
            "fails as printed",
            f"{sentence}; standard regression has {numbers['printed']:.4f} with probability at most "
            f"10^{numbers['log10 chance']:.0f}.",
            instead="The number of one row was probably repeated in the next; standard regression's own is not printed.",
        )
    factor = _factor(numbers["new method"], numbers["standard regression"])
    return _compared(factor <= tolerances["factor"], f"{sentence}; the measured ones differ by a factor of {factor:.2f}.")


# Figure 1, order of the methods and the epsilon behind it


def measure_order(evidence: Evidence) -> Measured:
    """The differences that must be positive, in units of their standard errors, fold by fold."""
    numbers: dict[str, float] = {}
    for dataset in SYNTHETIC:
        folds = error_table(evidence, dataset)
        for worse, better in ((ALGORITHM_1, ALGORITHM_2), (ALGORITHM_2, STANDARD), (ALGORITHM_1, CMS11)):
            difference = folds[worse].minus(folds[better])
            name = f"{dataset}, {NAMES[worse]} - {NAMES[better]}"
            numbers |= {f"{name}, mean": difference.mean, f"{name}, standard error": difference.standard_error}
        numbers["folds"] = float(len(folds[STANDARD].error))
    return Measured(numbers)


def decide_order(numbers: Numbers, tolerances: Numbers) -> Decision:
    """The paper's two comparisons on each data set; the calibration of 2011 is told, but decides nothing."""
    quantile = _student_quantile(numbers["folds"], tolerances["confidence"])
    parts, positive = [], True
    for key, mean in numbers.items():
        if key.endswith(", mean"):
            name = key.removesuffix(", mean")
            half = quantile * numbers[f"{name}, standard error"]
            parts.append(f"{name}: {mean:.4f} ({_interval(mean, half)})")
            positive &= mean - half > 0 or REPAIRED in name
    sentence = f"Differences over the same folds, {tolerances['confidence']:.0%} intervals: {'; '.join(parts)}."
    return _compared(positive, sentence)


def measure_epsilon(evidence: Evidence) -> Measured:
    """The epsilon that fits all four private cells best, with its interval, and each cell's own."""
    recovered = _recovered(evidence)
    common = recovered[ALL_CELLS, ALL_CELLS]
    cells = {f"{dataset}, {NAMES[name]}": recovered[dataset, name]["epsilon"] for dataset, name in PRIVATE_CELLS}
    return Measured({key: common[key] for key in ("epsilon", "low", "high", "chi_square", "p_value")} | cells)


def decide_epsilon(numbers: Numbers, tolerances: Numbers) -> Decision:
    """An epsilon is missing; it can be recovered only if the interval is narrow."""
    epsilon, low, high = (numbers[key] for key in ("epsilon", "low", "high"))
    if not 0 < low <= high <= tolerances["widest"] * low:
        return Decision("not reproduced", f"No epsilon gives the printed errors: the interval is {low:.4g} to {high:.4g}.")
    return Decision(
        "underspecified",
        f"The errors of the private cells come out best at epsilon = {epsilon:.4g}, 95% interval {low:.4g} to {high:.4g}.",
        instead=f"The epsilon of Figures 1, 2a and 2b is not printed; we assumed {epsilon:.4g}.",
    )


def decide_one_epsilon(numbers: Numbers, tolerances: Numbers) -> Decision:
    cells = ", ".join(f"{value:.4g} ({name})" for name, value in numbers.items() if ", " in name)
    sentence = (
        f"The cells come out at epsilon = {cells}; at the best common one, {numbers['epsilon']:.4g}, chi-square is "
        f"{numbers['chi_square']:.1f} with 3 degrees of freedom, p = {numbers['p_value']:.2g}."
    )
    return _compared(numbers["p_value"] >= tolerances["significance"], sentence)


# Tuning


def measure_tuning(dataset: str, evidence: Evidence) -> Measured:
    """The errors of every lambda on the holdout, and how often 0.01 is among the least on fresh holdouts."""
    rows = evidence.table(f"tuning/{dataset}", "lam", "fold", "records", "error")
    lambdas = sorted({row["lam"] for row in rows})
    by_lambda = {lam: np.array([row["error"] for row in rows if row["lam"] == lam]) for lam in lambdas}
    numbers = _series("error", {lam: errors.mean() for lam, errors in by_lambda.items()})
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
    least = _cross_validated(holdout, LAM, folds)
    return least == 0 or all(_cross_validated(holdout, lam, folds) >= least for lam in others)


def _cross_validated(holdout: LabelledData, lam: float, folds: int) -> int:
    """Wrong test records over all folds; the records are in random order."""
    fold = np.arange(len(holdout)) % folds
    splits = ((holdout.take(fold != number), holdout.take(fold == number)) for number in range(folds))
    standard = method(STANDARD, math.inf, lam)
    return sum(int(mistakes(standard, train, test, 1, stream(0)).sum()) for train, test in splits)


def decide_tuning(numbers: Numbers, tolerances: Numbers) -> Decision:
    """Reproduced if 0.01 alone is the least; open if it ties, or if other holdouts may well choose it."""
    errors = _read_series(numbers, "error")
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
        half = _student_quantile(numbers["folds"], confidence) * numbers["standard error"]
        own = (
            f"; {LAM:g} has {errors[LAM]:.4f}, {numbers['loss']:+.4f} ({_interval(numbers['loss'], half)}) "
            f"against {numbers['best other']:g}"
        )
    chosen, holdouts = numbers["holdouts that choose it"], numbers["holdouts"]
    return f"{tried}{own}. It is among the best on {chosen:.0f} of {holdouts:.0f} fresh holdouts."


# The data sets


def widest_margin(signed: Array) -> tuple[Array, float]:
    """The unit vector w with the largest min_i w.z_i over rows z_i of norm 1, and that margin; 0 where none is positive.

    Least-distance programming: the shortest w with Zw >= 1 is -r'/r_0, where r = (r', r_0) is the residual of the
    non-negative least-squares problem (Z^T; 1^T) u = (0; 1), and there is none if r = 0 (Lawson and Hanson 1974).
    Rows are taken in as they are violated; a part that is not separable settles it for the whole.
    """
    direction = signed.mean(axis=0)
    active: set[int] = set()
    while True:
        worst = np.argsort(signed @ direction)[: 4 * signed.shape[1]]
        if active.issuperset(worst.tolist()):
            break
        active.update(worst.tolist())
        rows = signed[sorted(active)]
        equations = np.vstack([rows.T, np.ones(len(rows))])
        target = np.append(np.zeros(signed.shape[1]), 1.0)
        residual = equations @ nnls(equations, target)[0] - target
        if np.linalg.norm(residual) < 1e-9:
            return direction / np.linalg.norm(direction), 0.0
        direction = -residual[:-1] / residual[-1]
    direction /= np.linalg.norm(direction)
    return direction, float((signed @ direction).min())


def measure_separable(evidence: Evidence) -> Measured:
    data = _records(evidence, "separable")
    normal, margin = widest_margin(data.signed)
    return Measured({"margin": margin} | _uniformity(data, normal, MARGIN))


def measure_unseparable(evidence: Evidence) -> Measured:
    """Flips are counted well inside the band and well outside it, by a hyperplane that is estimated from all records."""
    data = _records(evidence, "unseparable")
    fitted = minimiser(LOGISTIC, data, 1e-5)
    normal = fitted / np.linalg.norm(fitted)
    offset, wrong = np.abs(data.features @ normal), data.signed @ normal <= 0
    inside, outside = (offset > GUARD) & (offset <= NOISY_BAND - GUARD), offset > NOISY_BAND + GUARD
    return Measured(
        {
            "margin": widest_margin(data.signed)[1],
            "records inside": float(inside.sum()),
            "flipped inside": float(wrong[inside].sum()),
            "flipped outside": float(wrong[outside].sum()),
            "least error": bayes_error("unseparable"),
            "error of standard regression": _summary_row(evidence, ("unseparable", STANDARD))["mean"],
            "printed error": PRINTED["unseparable", STANDARD][0],
        }
        | _uniformity(data, normal, 0.0)
    )


def measure_angle(evidence: Evidence) -> Measured:
    """Predictions that change when records are scaled by factors of their own: of the same classifier, and of a new one."""
    data = _records(evidence, "unseparable")
    scaled = LabelledData(data.features * evidence.stream("angle").uniform(0.1, 1, (len(data), 1)), data.labels)
    classifier = minimiser(LOGISTIC, data, LAM)
    before, after = np.sign(data.features @ classifier), np.sign(scaled.features @ classifier)
    trained = np.sign(data.features @ minimiser(LOGISTIC, scaled, LAM))
    return Measured(
        {
            "records": float(len(data)),
            "changed": float((before != after).sum()),
            "changed by training": float((before != trained).sum()),
        }
    )


def decide_angle(numbers: Numbers, tolerances: Numbers) -> Decision:
    sentence = (
        f"Scaling every record by a factor of its own changes {numbers['changed']:.0f} of {numbers['records']:.0f} "
        f"predictions; a classifier trained on the scaled records differs in {numbers['changed by training']:.0f}."
    )
    if numbers["changed"] <= tolerances["share"] * numbers["records"]:
        return Decision("holds", sentence)
    return Decision("fails as printed", sentence, instead="Predictions depend on a record's norm, too.")


def _records(evidence: Evidence, dataset: str) -> LabelledData:
    return read_dataset(evidence.results / "dataset" / f"{dataset}.csv", EXPERIMENT).data


def _uniformity(data: LabelledData, normal: Array, margin: float) -> dict[str, float]:
    """Norms; and p-values of the offsets' law (Kolmogorov-Smirnov) and of the directions along the hyperplane."""
    features = data.features
    offset = np.sort(np.abs(features @ normal))
    offset = offset[offset > margin]
    empty = betainc(0.5, (DIMENSION - 1) / 2, margin**2)
    law = (betainc(0.5, (DIMENSION - 1) / 2, offset**2) - empty) / (1 - empty)
    steps = np.arange(len(offset) + 1) / len(offset)
    distance = max(np.max(steps[1:] - law), np.max(law - steps[:-1]))
    along = features - np.outer(features @ normal, normal)
    along /= np.linalg.norm(along, axis=1, keepdims=True)
    return {
        "records": float(len(features)),
        "dimension": float(features.shape[1]),
        "largest deviation of a norm": float(np.abs(np.linalg.norm(features, axis=1) - 1).max()),
        "p-value of the offsets": float(kolmogorov(math.sqrt(len(offset)) * distance)),
        "p-value of the directions": uniform_directions(along, DIMENSION - 1),
    }


def uniform_directions(directions: Array, dimension: int) -> float:
    """The p-value of unit vectors of a subspace: that they favour no direction, and no axis.

    With n vectors of dimension p, n p |mean|^2 is nearly chi-square with p degrees of freedom (Rayleigh), and, with S the
    mean of x x^T, n p (p + 2)/2 (tr S^2 - 1/p) with (p - 1)(p + 2)/2 (Bingham); twice the smaller p-value of the two counts.
    """
    n, p = len(directions), dimension
    second = directions.T @ directions / n
    rayleigh = n * p * float(np.sum(directions.mean(axis=0) ** 2))
    bingham = n * p * (p + 2) / 2 * (float(np.sum(second**2)) - 1 / p)
    return min(1.0, 2 * min(float(chdtrc(p, rayleigh)), float(chdtrc((p - 1) * (p + 2) / 2, bingham))))


def _is_uniform(numbers: Numbers, tolerances: Numbers) -> bool:
    return (
        numbers["dimension"] == DIMENSION
        and numbers["largest deviation of a norm"] <= tolerances["norm"]
        and min(numbers["p-value of the offsets"], numbers["p-value of the directions"]) >= tolerances["significance"]
    )


def _of_uniformity(numbers: Numbers) -> str:
    return (
        f"{numbers['records']:.0f} records in {numbers['dimension']:.0f} dimensions, norm within "
        f"{numbers['largest deviation of a norm']:.1g} of 1, p = {numbers['p-value of the offsets']:.2f} for uniform "
        f"offsets and {numbers['p-value of the directions']:.2f} for uniform directions"
    )


def decide_separable(numbers: Numbers, tolerances: Numbers) -> Decision:
    sentence = f"{_of_uniformity(numbers)}; a hyperplane through the origin leaves {numbers['margin']:.4f} on both sides."
    return _compared(_is_uniform(numbers, tolerances) and numbers["margin"] >= MARGIN - tolerances["norm"], sentence)


def decide_unseparable(numbers: Numbers, tolerances: Numbers) -> Decision:
    """No hyperplane separates; a fifth is flipped inside the band and none outside; no error is below the least possible."""
    inside, flipped = numbers["records inside"], numbers["flipped inside"]
    each = (1 - tolerances["confidence"]) / 2
    low = float(clopper_pearson_lower(flipped, inside, each))
    high = float(clopper_pearson_upper(flipped, inside, each))
    sentence = (
        f"{_of_uniformity(numbers)}; largest margin {numbers['margin']:.4f}; {flipped / inside:.3f} "
        f"({low:.3f} to {high:.3f}) flipped inside the band, {numbers['flipped outside']:.0f} records outside. "
        f"The least possible error is {numbers['least error']:.4f}; printed {numbers['printed error']:.4f}, measured "
        f"{numbers['error of standard regression']:.4f}."
    )
    as_described = numbers["margin"] <= 0 and low <= FLIP_PROBABILITY <= high and numbers["flipped outside"] == 0
    possible = numbers["printed error"] + ROUNDING >= numbers["least error"]
    return _compared(_is_uniform(numbers, tolerances) and as_described and possible, sentence)


# Figure 2


def measure_final(dataset: str, evidence: Evidence) -> Measured:
    """Both methods at the last point of the learning curve."""
    points = curve(evidence, "learning_curve", dataset, "n")
    last = max(points[ALGORITHM_1])
    difference = points[ALGORITHM_1][last].minus(points[ALGORITHM_2][last])
    return Measured(
        {
            "n": float(last),
            "sensitivity": points[ALGORITHM_1][last].mean,
            "new": points[ALGORITHM_2][last].mean,
            "new as calibrated in 2011": points[CMS11][last].mean,
            "difference": difference.mean,
            "standard error": difference.standard_error,
            "folds": float(len(difference.error)),
        }
    )


def decide_final(numbers: Numbers, tolerances: Numbers) -> Decision:
    half = _student_quantile(numbers["folds"], tolerances["confidence"]) * numbers["standard error"]
    sentence = (
        f"At n = {numbers['n']:.0f} the new method errs in {numbers['new']:.4f}, the sensitivity method in "
        f"{numbers['sensitivity']:.4f}: {numbers['difference']:.4f} less "
        f"({tolerances['confidence']:.0%} interval {_interval(numbers['difference'], half)}); the new one as calibrated in "
        f"2011 in {numbers['new as calibrated in 2011']:.4f}."
    )
    return _compared(numbers["difference"] - half > 0, sentence)


def measure_wins(table: str, along: str, dataset: str, evidence: Evidence) -> Measured:
    """At each point but a learning curve's last: by how many standard errors the sensitivity method errs more."""
    points = curve(evidence, table, dataset, along)
    where = sorted(points[ALGORITHM_1])[: -1 if along == "n" else None]
    lead = {name: {x: points[ALGORITHM_1][x].minus(points[name][x]).student for x in where} for name in (ALGORITHM_2, CMS11)}
    folds = float(len(points[ALGORITHM_1][where[0]].error))
    return Measured({"folds": folds} | _series("new", lead[ALGORITHM_2]) | _series(REPAIRED, lead[CMS11]))


def decide_wins(what: str, numbers: Numbers, tolerances: Numbers) -> Decision:
    """The new method is better at more than the share that 'most' stands for, each time beyond its interval."""
    leads = _read_series(numbers, "new")
    better, worse = _beyond(leads, numbers, tolerances)
    repaired = _beyond(_read_series(numbers, REPAIRED), numbers, tolerances)
    sentence = (
        f"Of {len(leads)} {what.format(min(leads), max(leads))}, the new method is better at {better} and worse at {worse}, "
        f"beyond the {tolerances['confidence']:.0%} interval of the difference over folds; as calibrated in "
        f"2011, so that its promise holds, it is better at {repaired[0]} and worse at {repaired[1]}."
    )
    return _compared(better > tolerances["share"] * len(leads), sentence)


def _beyond(leads: Mapping[float, float], numbers: Numbers, tolerances: Numbers) -> tuple[int, int]:
    """How many leads are above the interval's half width, and how many below its negative."""
    quantile = _student_quantile(numbers["folds"], tolerances["confidence"])
    return sum(lead > quantile for lead in leads.values()), sum(lead < -quantile for lead in leads.values())


def measure_overall(evidence: Evidence) -> Measured:
    """All points of all four curves of Figure 2, numbered."""
    numbers: dict[str, float] = {}
    leads: list[float] = []
    repaired: list[float] = []
    for dataset in SYNTHETIC:
        for table, along in (("learning_curve", "n"), ("epsilon_curve", "epsilon")):
            points = measure_wins(table, along, dataset, evidence).numbers
            numbers["folds"] = points["folds"]
            leads += _read_series(points, "new").values()
            repaired += _read_series(points, REPAIRED).values()
    return Measured(numbers | _series("new", dict(enumerate(leads, 1))) | _series(REPAIRED, dict(enumerate(repaired, 1))))


def measure_degrades(dataset: str, evidence: Evidence) -> Measured:
    """How the mean errors move from each epsilon to the next, in standard errors of the restarts."""
    points = curve(evidence, "epsilon_curve", dataset, "epsilon")
    numbers: dict[str, float] = {}
    for name in (ALGORITHM_1, ALGORITHM_2):
        cells = [points[name][epsilon] for epsilon in sorted(points[name])]
        rises = [_rise(*pair) for pair in pairwise(cells)]
        numbers |= {
            f"{NAMES[name]}, at the smallest epsilon": cells[0].mean,
            f"{NAMES[name]}, at the largest epsilon": cells[-1].mean,
            f"{NAMES[name]}, largest rise": max(rises),
            f"{NAMES[name]}, steps": float(len(rises)),
        }
    return Measured(numbers)


def _rise(before: Folds, after: Folds) -> float:
    """By how many standard errors the error rises; the records are the same, so that only restarts differ."""
    difference = after.minus(before)
    noise = math.sqrt(difference.variance.sum()) / len(difference.error)
    return difference.mean / noise if noise else difference.mean / LEAST_NOISE


def decide_degrades(numbers: Numbers, tolerances: Numbers) -> Decision:
    """Both errors fall from the smallest to the largest epsilon, and no step between rises by more than chance explains."""
    methods = (NAMES[ALGORITHM_1], NAMES[ALGORITHM_2])
    steps = sum(numbers[f"{name}, steps"] for name in methods)
    limit = float(ndtri(1 - (1 - tolerances["confidence"]) / steps))
    parts, falling = [], True
    for name in methods:
        first, last = numbers[f"{name}, at the smallest epsilon"], numbers[f"{name}, at the largest epsilon"]
        rise = numbers[f"{name}, largest rise"]
        falling &= first > last and rise <= limit
        parts.append(f"{name} method {last:.4f} to {first:.4f}, largest step the other way {rise:.1f} standard errors")
    sentence = (
        f"From the largest to the smallest epsilon: {'; '.join(parts)}; chance explains {limit:.1f} in {steps:.0f} steps."
    )
    return _compared(falling, sentence)


def pull_ratio(data: LabelledData, lam: float) -> float:
    """How many times the new method's advantage over chance is that of the sensitivity method, as epsilon goes to 0.

    Both release noise R u, with u uniform on the sphere and R without bound, of the same law, plus a pull; far from the
    origin the advantage is proportional to the pull's component along g, the mean of y x. Algorithm 1's pull is the
    minimiser w*. Algorithm 2's optimality, lam w = -b/n + mean of s(-y w.x) y x with the logistic function s, makes it that
    mean over lam, where s is 1 for half of the directions u and 0 for the others: g/(2 lam). Where w* is parallel to g, as
    it is for uniform data, the ratio is never below 1: lam |w*|^2 = mean of s(-m) m, m = y w*.x, and s(-m) m <= m/2.
    """
    pull = data.signed.mean(axis=0)
    return float(pull @ pull / (2 * lam * minimiser(LOGISTIC, data, lam) @ pull))


def measure_smallest(dataset: str, evidence: Evidence) -> Measured:
    """At each epsilon: the sensitivity method's error, and how much more that is than the new method's."""
    points = curve(evidence, "epsilon_curve", dataset, "epsilon")
    first = points[ALGORITHM_1]
    difference = {epsilon: first[epsilon].minus(points[ALGORITHM_2][epsilon]) for epsilon in first}
    return Measured(
        _series("sensitivity", {epsilon: folds.mean for epsilon, folds in first.items()})
        | _series("difference", {epsilon: folds.mean for epsilon, folds in difference.items()})
        | _series("standard error", {epsilon: folds.standard_error for epsilon, folds in difference.items()})
        | {"folds": float(len(next(iter(first.values())).error)), "pull": pull_ratio(_records(evidence, dataset), LAM)}
    )


def decide_smallest(numbers: Numbers, tolerances: Numbers) -> Decision:
    """Where the sensitivity method is near chance: is it better on average, or at some epsilon after Bonferroni?

    The average's standard error is at most the average of the standard errors, however the epsilons depend on each other.
    """
    errors = _read_series(numbers, "sensitivity")
    near = [epsilon for epsilon, error in errors.items() if error >= CHANCE - tolerances["near chance"]]
    if not near:
        return Decision("not reproduced", f"The sensitivity method is never within {tolerances['near chance']:g} of chance.")
    difference, noise = _read_series(numbers, "difference"), _read_series(numbers, "standard error")
    mean = sum(difference[epsilon] for epsilon in near) / len(near)
    average = sum(noise[epsilon] for epsilon in near) / len(near)
    half = _student_quantile(numbers["folds"], tolerances["confidence"]) * average
    corrected = _student_quantile(numbers["folds"], 1 - (1 - tolerances["confidence"]) / len(near))
    better = [epsilon for epsilon in near if difference[epsilon] < -corrected * noise[epsilon]]
    ahead = sum(difference[epsilon] < 0 for epsilon in near)
    sentence = (
        f"At the {len(near)} epsilons up to {max(near):g} where the sensitivity method errs in at least "
        f"{CHANCE - tolerances['near chance']:.2f}, it errs by {mean:+.4f} ({_interval(mean, half)}) more than the new "
        f"method; it has the smaller mean at {ahead} of them, beyond its interval at {len(better)}. As epsilon goes to 0, "
        f"the new method's advantage over chance tends to {numbers['pull']:.2f} times the other's."
    )
    return _compared(bool(better) or mean + half < 0, sentence)


def decide_chance(numbers: Numbers, tolerances: Numbers) -> Decision:
    """At the smallest epsilon the sensitivity method is as good as a coin."""
    errors = _read_series(numbers, "sensitivity")
    near = [epsilon for epsilon, error in errors.items() if error >= CHANCE - tolerances["near chance"]]
    least = min(errors)
    sentence = (
        f"At epsilon = {least:g} the sensitivity method errs in {errors[least]:.4f}; up to {max(near, default=0):g} it "
        f"stays within {tolerances['near chance']:g} of chance."
    )
    return _compared(least in near, sentence)


# What privacy costs


def measure_cost(evidence: Evidence) -> Measured:
    """How far, at each epsilon, the new method is from standard regression on the way to chance, on the worse data set."""
    shares: dict[float, float] = {}
    for dataset in SYNTHETIC:
        points = curve(evidence, "epsilon_curve", dataset, "epsilon")
        (standard,) = (folds.mean for folds in points[STANDARD].values())
        for epsilon, folds in points[ALGORITHM_2].items():
            share = (folds.mean - standard) / (CHANCE - standard)
            shares[epsilon] = max(share, shares.get(epsilon, -math.inf))
    return Measured(_series("share", shares) | {"assumed epsilon": _recovered(evidence)[ALL_CELLS, ALL_CELLS]["epsilon"]})


def decide_cost(numbers: Numbers, tolerances: Numbers) -> Decision:
    """Not terrible: less than the stated share of the way to chance; at all epsilons, at none, or depending on it."""
    shares = _read_series(numbers, "share")
    mild = sorted(epsilon for epsilon, share in shares.items() if share <= tolerances["share"])
    nearest = min(shares, key=lambda epsilon: abs(math.log(epsilon / numbers["assumed epsilon"])))
    sentence = (
        f"The new method loses {max(shares.values()):.0%} to {min(shares.values()):.0%} of the way from standard regression "
        f"to chance, and {shares[nearest]:.0%} at {nearest:g}, next to the epsilon recovered from Figure 1."
    )
    if len(mild) == len(shares):
        return Decision("reproduced", sentence)
    if not mild:
        return Decision("not reproduced", sentence)
    return Decision(
        "underspecified",
        sentence,
        instead="Missing: what counts as terrible, and at which epsilon. If "
        f"{tolerances['share']:.0%} of the way is the limit, it holds from epsilon = {mild[0]:g}.",
    )


def measure_inevitable(evidence: Evidence) -> Measured:
    """For each method, the epsilon from which on its error is standard regression's in every fold of a data set."""
    numbers: dict[str, float] = {}
    for dataset in SYNTHETIC:
        points = curve(evidence, "epsilon_curve", dataset, "epsilon")
        (standard,) = points[STANDARD].values()
        for name in (ALGORITHM_1, ALGORITHM_2):
            free = math.inf
            for epsilon in sorted(points[name], reverse=True):
                if not np.array_equal(points[name][epsilon].error, standard.error):
                    break
                free = epsilon
            numbers[f"{dataset}, {NAMES[name]}, free from"] = free
            excess = min(folds.mean for folds in points[name].values()) - standard.mean
            numbers[f"{dataset}, {NAMES[name]}, least excess"] = excess
    return Measured(numbers)


def decide_inevitable(numbers: Numbers, tolerances: Numbers) -> Decision:
    """One method and data set without any loss is enough to refute it."""
    del tolerances  # a loss is there or not
    free = {name.removesuffix(", free from"): value for name, value in numbers.items() if name.endswith(", free from")}
    without = {name: value for name, value in free.items() if math.isfinite(value)}
    least = min(value for name, value in numbers.items() if name.endswith(", least excess"))
    if not without:
        return Decision("holds", f"Both private methods err more than standard regression, by at least {least:.5f}.")
    cases = "; ".join(f"{name}: epsilon = {value:g}" for name, value in without.items())
    return Decision(
        "fails as printed",
        f"Test errors are those of standard regression in every fold and restart from some epsilon on ({cases}).",
        instead="The noise always moves the classifier, but its cost in test error vanishes as epsilon grows.",
    )


CELLS = {f"{dataset}_{NAMES[name]}": (dataset, name) for dataset, name in PRINTED}
LETTERS = dict(zip("abcd", [*SYNTHETIC, *SYNTHETIC], strict=True))
"""The panels of Figure 2: learning curves, then epsilon curves."""
TRIED = "epsilons from {:g} to {:g} (which ones the paper tried is not printed)"


def _figure_2() -> dict[str, Check]:
    found = {}
    for letter in "ab":
        dataset, wins = LETTERS[letter], partial(measure_wins, "learning_curve", "n")
        found[f"figure_2{letter}_final"] = Check(partial(measure_final, dataset), decide_final)
        found[f"figure_2{letter}_sizes"] = Check(partial(wins, dataset), partial(decide_wins, "smaller training sets"))
    for letter in "cd":
        dataset, wins = LETTERS[letter], partial(measure_wins, "epsilon_curve", "epsilon")
        found[f"figure_2{letter}_majority"] = Check(partial(wins, dataset), partial(decide_wins, TRIED))
        found[f"figure_2{letter}_degrades"] = Check(partial(measure_degrades, dataset), decide_degrades)
        found[f"figure_2{letter}_smallest"] = Check(partial(measure_smallest, dataset), decide_smallest)
        found[f"figure_2{letter}_chance"] = Check(partial(measure_smallest, dataset), decide_chance)
    return found


CHECKS: dict[str, Check] = {
    **{f"figure_1_mean_{name}": Check(partial(measure_mean, cell), decide_mean) for name, cell in CELLS.items()},
    **{f"figure_1_spread_{name}": Check(partial(measure_spread, cell), decide_spread) for name, cell in CELLS.items()},
    "figure_1_spread_kind": Check(measure_kind, decide_kind),
    "figure_1_spread_twice": Check(measure_twice, decide_twice),
    "figure_1_order": Check(measure_order, decide_order),
    "figure_1_epsilon": Check(measure_epsilon, decide_epsilon),
    "figure_1_one_epsilon": Check(measure_epsilon, decide_one_epsilon),
    **{f"tuned_lambda_{dataset}": Check(partial(measure_tuning, dataset), decide_tuning) for dataset in SYNTHETIC},
    "data_separable": Check(measure_separable, decide_separable),
    "data_unseparable": Check(measure_unseparable, decide_unseparable),
    "data_angle": Check(measure_angle, decide_angle),
    **_figure_2(),
    "simulations_superior": Check(measure_overall, partial(decide_wins, "points of the four curves")),
    "cost_not_terrible": Check(measure_cost, decide_cost),
    "cost_inevitable": Check(measure_inevitable, decide_inevitable),
}
