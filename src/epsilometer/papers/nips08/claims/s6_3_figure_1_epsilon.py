"""Section 6 of nips08, Figure 1: the order of the methods, and the epsilon behind the figure, which is not printed."""

from __future__ import annotations

from epsilometer.data.synthetic import SYNTHETIC
from epsilometer.papers.claim import Claim, Decision, Evidence, Measured, Numbers
from epsilometer.papers.deciders import listed_with_names, reproduced_if
from epsilometer.papers.nips08.claims.figure_1 import LOCATOR, RECOVERED, recovered_rows
from epsilometer.papers.nips08.claims.folds import CONFIDENCE, CORRECTED, NAMES, figure_1_folds, interval, student_quantile
from epsilometer.papers.nips08.experiments import ALL_CELLS, PRIVATE_CELLS
from epsilometer.papers.protocol import ALGORITHM_1, ALGORITHM_2, CMS11, STANDARD


def measure_order(evidence: Evidence) -> Measured:
    """The differences that must be positive, with their standard errors, fold by fold."""
    numbers: dict[str, float] = {}
    for dataset in SYNTHETIC:
        folds = figure_1_folds(evidence, dataset)
        for worse, better in ((ALGORITHM_1, ALGORITHM_2), (ALGORITHM_2, STANDARD), (ALGORITHM_1, CMS11)):
            difference = folds[worse].minus(folds[better])
            name = f"{dataset}, {NAMES[worse]} - {NAMES[better]}"
            numbers |= {f"{name}, mean": difference.mean, f"{name}, standard error": difference.standard_error}
        numbers["folds"] = float(len(folds[STANDARD].error))
    return Measured(numbers)


def decide_order(numbers: Numbers, tolerances: Numbers) -> Decision:
    """The paper's two comparisons on each data set decide; the one with the calibration of 2011 is only reported."""
    quantile = student_quantile(numbers["folds"], tolerances["confidence"])
    parts, positive = [], True
    for key, mean in numbers.items():
        if key.endswith(", mean"):
            name = key.removesuffix(", mean")
            half = quantile * numbers[f"{name}, standard error"]
            parts.append(f"{name}: {mean:.4f} ({interval(mean, half)})")
            positive &= mean - half > 0 or CORRECTED in name
    sentence = f"Differences over the same folds, {tolerances['confidence']:.0%} intervals: {'; '.join(parts)}."
    return reproduced_if(positive, sentence)


FIGURE_1_ORDER = Claim(
    id="nips08-figure-1-order",
    locator="section 6, text on Figure 1",
    statement="On both data sets the new method errs less than the sensitivity method, and more than standard logistic "
    "regression.",
    needs=("error_table/separable", "error_table/unseparable"),
    measure=measure_order,
    decide=decide_order,
    tolerances=CONFIDENCE,
    link="error_table/separable.csv",
)


def measure_epsilon(evidence: Evidence) -> Measured:
    """The epsilon that fits all four private cells best, with its interval, and each cell's own."""
    recovered = recovered_rows(evidence)
    common = recovered[ALL_CELLS, ALL_CELLS]
    cells = {f"{dataset}, {NAMES[name]}": recovered[dataset, name]["epsilon"] for dataset, name in PRIVATE_CELLS}
    return Measured({key: common[key] for key in ("epsilon", "low", "high", "chi_square", "p_value")} | cells)


def decide_epsilon(numbers: Numbers, tolerances: Numbers) -> Decision:
    """An epsilon is missing from the text; it can be recovered only if the interval is narrow."""
    epsilon, low, high = (numbers[key] for key in ("epsilon", "low", "high"))
    if not 0 < low <= high <= tolerances["widest"] * low:
        return Decision("not reproduced", f"No epsilon gives the printed errors: the interval is {low:.4g} to {high:.4g}.")
    return Decision(
        "underspecified",
        f"The errors of the private cells come out best at epsilon = {epsilon:.4g}, 95% interval {low:.4g} to {high:.4g}.",
        instead=f"The epsilon of Figures 1, 2a and 2b is not printed; we assumed {epsilon:.4g}.",
    )


FIGURE_1_EPSILON = Claim(
    id="nips08-figure-1-epsilon",
    locator="section 6, Figure 1 and Figure 2a-b",
    statement="The errors of the private methods in Figure 1 and in the learning curves are those at some privacy "
    "parameter, which the text does not name.",
    needs=(RECOVERED,),
    measure=measure_epsilon,
    decide=decide_epsilon,
    tolerances={"widest": 1.25},
    link=f"{RECOVERED}.csv",
)


def decide_one_epsilon(numbers: Numbers, tolerances: Numbers) -> Decision:
    """One epsilon explains all four cells unless the chi-square test rejects it."""
    cells = listed_with_names({name: value for name, value in numbers.items() if ", " in name}, digits=4)
    sentence = (
        f"The cells come out at epsilon = {cells}; at the best common one, {numbers['epsilon']:.4g}, chi-square is "
        f"{numbers['chi_square']:.1f} with 3 degrees of freedom, p = {numbers['p_value']:.2g}."
    )
    return reproduced_if(numbers["p_value"] >= tolerances["significance"], sentence)


FIGURE_1_ONE_EPSILON = Claim(
    id="nips08-figure-1-one-epsilon",
    locator=LOCATOR,
    statement="The four private cells of Figure 1 belong to one and the same epsilon, as a comparison of the methods needs.",
    needs=(RECOVERED,),
    measure=measure_epsilon,
    decide=decide_one_epsilon,
    tolerances={"significance": 0.05},
    link="figures/nips08_recovered_epsilon.svg",
    headline=True,
)
