"""Section III of review: the private learners that it names.

Where it says how a learner is made private, the algorithm of the paper that it cites was audited. Where it gives a name or
a heading alone, we assumed an algorithm of the literature.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from epsilometer.mechanisms.kernel_svm import FourierFeatureSVM
from epsilometer.mechanisms.posterior_sampling import AdaptivePosteriorSample
from epsilometer.papers.claim import Claim, Decide, Decision, Evidence, Measured, Numbers
from epsilometer.papers.deciders import PRIVATE, ROUNDING, claimed_epsilon, decide_readings, holds_if, listed
from epsilometer.papers.measures import PROOF_OF_VIOLATION, VERDICTS, audited

BAYES_INPUT = Claim(
    id="review-bayes-noise-on-input",
    locator="section III-A1 [9]",
    statement="Bayesian inference is differentially private with noise on its input.",
    needs=(VERDICTS,),
    computes=PROOF_OF_VIOLATION,
    measure=audited("beta_bernoulli_input"),
    decide=claimed_epsilon("a coin's bias from randomised bits"),
    tolerances=PRIVATE,
    link=f"{VERDICTS}.csv",
)

BAYES_OUTPUT = Claim(
    id="review-bayes-noise-on-parameters",
    locator="section III-A1 [9]",
    statement="Bayesian inference is differentially private with noise on its output by a p-norm.",
    needs=(VERDICTS,),
    computes=PROOF_OF_VIOLATION,
    measure=audited("beta_bernoulli_output"),
    decide=claimed_epsilon("a coin's bias, noise on the posterior's parameters"),
    tolerances=PRIVATE,
    link=f"{VERDICTS}.csv",
)

BAYES_DIVERGENCE = Claim(
    id="review-bayes-divergence",
    locator="section III-A1 [9]",
    statement="Bayesian inference is differentially private with noise on its output by an f-divergence.",
    needs=(VERDICTS,),
    computes=PROOF_OF_VIOLATION,
    measure=audited("beta_bernoulli_hellinger"),
    decide=claimed_epsilon("a coin's bias, a posterior chosen by Hellinger distance"),
    tolerances=PRIVATE,
    link=f"{VERDICTS}.csv",
)

NAIVE_BAYES = Claim(
    id="review-naive-bayes",
    locator="section III-A1 [10]",
    statement="A naive Bayes classifier can meet the requirements of differential privacy.",
    needs=(VERDICTS,),
    computes=PROOF_OF_VIOLATION,
    measure=audited("naive_bayes"),
    decide=claimed_epsilon("noisy counts of labels and features"),
    tolerances=PRIVATE,
    link=f"{VERDICTS}.csv",
)

LINEAR_REGRESSION = Claim(
    id="review-linear-regression",
    locator="section III-A2 [11]",
    statement="Linear regression by a posterior sample (OPS, AdaOPS) is differentially private.",
    needs=(VERDICTS,),
    measure=audited("posterior_sampling", "posterior_sampling_adaptive"),
    decide=claimed_epsilon("one posterior sample, at delta = 1e-5, a record more or less"),
    tolerances=PRIVATE,
    link=f"{VERDICTS}.csv",
)

SIZES = (1_000, 10_000, 100_000)
RATES = {"vanishing": -0.75, "growing": -0.1}
"""epsilon = n^rate, so that n epsilon^2 goes to 0, or to infinity."""


def measure_efficiency(evidence: Evidence) -> Measured:
    """The squared distance of AdaOPS from least squares on a line, for both rates of epsilon and all sizes."""
    return Measured({f"{name} {n}": squared_distance(evidence, rate, n) for name, rate in RATES.items() for n in SIZES})


def squared_distance(evidence: Evidence, rate: float, n: int) -> float:
    """The mean squared distance of AdaOPS from least squares on a line, in units of the latter's variance."""
    rng = evidence.stream("efficiency", rate, n)
    x, noise = rng.choice([-1.0, 1.0], n), rng.uniform(-0.5, 0.5, n)
    data = np.column_stack([x, 0.5 * x + noise])
    slope = float(x @ data[:, 1]) / n
    drawn = AdaptivePosteriorSample(n**rate, 1e-5).sample(data, 1000, rng)[:, -1]
    return float(np.mean((drawn - slope) ** 2)) / (1 / 12 / n)


def decide_efficiency(numbers: Numbers, tolerances: Numbers) -> Decision:
    vanishing, growing = ([numbers[f"{name} {n}"] for n in SIZES] for name in RATES)
    sentence = (
        "At n = 1,000, 10,000 and 100,000, a posterior sample adds (in units of the variance of least squares) "
        f"{listed(vanishing, digits=2)} where n epsilon^2 goes to 0, and {listed(growing, digits=2)} where it grows."
    )
    instead = "n epsilon^2 must grow without bound."
    if not growing[-1] < growing[0]:
        instead = "Neither condition is seen to suffice."
    return holds_if(vanishing[-1] <= tolerances["efficient"], sentence, instead)


EFFICIENCY = Claim(
    id="review-linear-regression-efficient",
    locator="section III-A2 [11]",
    statement="AdaOPS is asymptotically efficient if n epsilon^2 = o(1).",
    computes="1,000 posterior samples on drawn data, for three sizes and two rates of epsilon",
    measure=measure_efficiency,
    decide=decide_efficiency,
    tolerances={"efficient": 0.1},
)

KERNEL_SVM = Claim(
    id="review-kernel-svm",
    locator="section III-A5 [15]",
    statement="The mechanisms of Rubinstein et al. for support vector machines are differentially private.",
    needs=(VERDICTS,),
    computes=PROOF_OF_VIOLATION,
    measure=audited("kernel_svm"),
    decide=claimed_epsilon("random Fourier features with the paper's noise"),
    tolerances=PRIVATE,
    link=f"{VERDICTS}.csv",
)


def measure_useless(evidence: Evidence) -> Measured:
    """By how much private predictions of the kernel SVM differ at most, in 95% of runs, at epsilon = 0.1, by n.

    They differ from the predictions without noise by at most the length of the noise on the weights, since a feature
    vector has length 1. The kernel is the inner product of the features.
    """
    machine = FourierFeatureSVM(0.1)
    noise = evidence.stream("useless").laplace(size=(4000, 2 * machine.frequencies))
    length = float(np.quantile(np.linalg.norm(noise, axis=1), 0.95))
    return Measured({f"{n:g}": machine.scale(n) * length for n in (1e3, 1e5, 1e7)})


def decide_useless(numbers: Numbers, tolerances: Numbers) -> Decision:
    shown = ", ".join(f"{value:.2g} (n = {float(n):,.0f})" for n, value in numbers.items())
    sentence = f"At epsilon = 0.1 a private kernel SVM's predictions stray, in 95% of runs, by at most {shown}."
    instead = (
        f"It can only be meant for a given number of records; with few, this one strays by {max(numbers.values()):.2g}."
    )
    return holds_if(min(numbers.values()) > tolerances["useful"], sentence, instead)


USELESS = Claim(
    id="review-kernel-svm-useless",
    locator="section III-A5 [15]",
    statement=(
        "No mechanism for support vector machines is at once useful with a small error and private with a small epsilon."
    ),
    computes="4,000 draws of the noise on a private kernel SVM's weights, and the largest change of a prediction by n",
    measure=measure_useless,
    decide=decide_useless,
    tolerances={"useful": 0.01},
)


def decide_named(numbers: Numbers, tolerances: Numbers, assumed: str) -> Decision:
    """A private learner that the survey names without an algorithm: whether the one that we assumed is private."""
    share = numbers["share"]
    sentence = f"What was audited, {assumed}, spends at most {share:.4g} times its promise."
    missing = f"No algorithm is given; we assumed {assumed}."
    return decide_readings(False, share <= 1 + tolerances["slack"], sentence, missing, "This learner is not private.")


def named_only(assumed: str) -> Decide:
    """The decision on a learner that is only named; `assumed` says what was audited for it."""
    return partial(decide_named, assumed=assumed)


DECISION_TREE = Claim(
    id="review-decision-tree",
    locator="section III-A6 [16]",
    statement="There are differentially private decision trees.",
    needs=(VERDICTS,),
    computes=PROOF_OF_VIOLATION,
    measure=audited("decision_tree"),
    decide=named_only("random trees with noisy leaves (Jagannathan, Pillaipakkamnatt and Wright 2009)"),
    tolerances=ROUNDING,
    link=f"{VERDICTS}.csv",
)

K_MEANS = Claim(
    id="review-k-means",
    locator="section III-B1 [17]",
    statement="There is differentially private k-means clustering.",
    needs=(VERDICTS,),
    computes=PROOF_OF_VIOLATION,
    measure=audited("k_means"),
    decide=named_only("noisy Lloyd iterations (Blum, Dwork, McSherry and Nissim 2005), a record more or less"),
    tolerances=ROUNDING,
    link=f"{VERDICTS}.csv",
)

LINEAR_SVM = Claim(
    id="review-linear-svm",
    locator="section III-A3, a heading without text",
    statement="There are differentially private linear support vector machines.",
    needs=(VERDICTS,),
    computes=PROOF_OF_VIOLATION,
    measure=audited("output_perturbation_hinge"),
    decide=named_only("output perturbation with the hinge loss"),
    tolerances=ROUNDING,
    link=f"{VERDICTS}.csv",
)

LOGISTIC_REGRESSION = Claim(
    id="review-logistic-regression",
    locator="section III-A4, a heading without text",
    statement="There is differentially private logistic regression.",
    needs=(VERDICTS,),
    computes=PROOF_OF_VIOLATION,
    measure=audited("output_perturbation", "objective_perturbation_cms11"),
    decide=named_only("output or objective perturbation of logistic regression"),
    tolerances=ROUNDING,
    link=f"{VERDICTS}.csv",
)

FEATURE_SELECTION = Claim(
    id="review-feature-selection",
    locator="section III-C1, a heading without text",
    statement="There is differentially private feature selection.",
    needs=(VERDICTS,),
    computes=PROOF_OF_VIOLATION,
    measure=audited("feature_selection"),
    decide=named_only("the exponential mechanism, feature by feature"),
    tolerances=ROUNDING,
    link=f"{VERDICTS}.csv",
)
