"""The page's standing words: what sources, figures and verdicts are; the numbers come from the tables."""

SOURCES = {
    "nips08": "Chaudhuri and Monteleoni, “Privacy-preserving logistic regression”, NIPS 2008, with its appendix",
    "slides08": "Monteleoni, “Advances in Privacy-Preserving Machine Learning”, slides on the same work",
    "postech": "Park, “Trustworthy Machine Learning: Differential Privacy 1”, POSTECH, slides after Dwork and Roth 2014 and"
    " Chaudhuri, Monteleoni and Sarwate 2011",
    "review": "Li, “Differential privacy and machine learning review”",
    "cs860": "Kamath, CS 860 lecture 13, “Private ML and Stats: Differentially Private ERM”, Waterloo, 2020",
}
OUTCOMES = {
    "holds": "No pair, run or computation contradicts it, and the worst case found comes near.",
    "holds, loosely": "The same, by a factor that is named.",
    "reproduced": "An experiment whose printed number comes out.",
    "not reproduced": "An experiment whose printed number does not come out.",
    "fails as printed": "A counter-example in numbers, or a witness; and the nearest reading that holds.",
    "underspecified": "Something is missing from the statement; what, and what was assumed instead, stands beside it.",
}
VERDICTS = {
    "violated": "An exact value above the promise, or a sampled bound above it after Holm's correction over all audits.",
    "tight": "At least 90% of the promise is spent, and no more than it.",
    "consistent": "Less than that was found, with trials that could have told.",
    "underpowered": "The trials could not have told.",
    "left out": "The mechanism is in the catalogue but not in this run's table of verdicts.",
}
MECHANISM = (
    "Above: what each auditor certifies against what is promised, a column for each promise; a line upwards is the 95% "
    "interval of the event behind a sampled bound, a hollow marker at the lower edge certifies nothing. Below: how "
    "likely an "
    "output is to give away more than x, and delta at each epsilon."
)
ROC = (
    "ROC of the attacks on models that this mechanism releases, by target (rows) and data set (columns), on logarithmic "
    "axes. "
    "A curve in the shaded area is within what the promise allows."
)
FIGURES: dict[str, tuple[str, tuple[str, ...]]] = {
    "mechanisms/overview": (
        "Every mechanism at every promise: the epsilon that is spent at least, against the one promised. A column "
        "reaches up to "
        "the promise.",
        ("verdicts/catalogue.csv",),
    ),
    "nips08_figure1": (
        "Figure 1 of nips08. Measured mean test errors, with their spreads over folds and over restarts, above the "
        "printed ones.",
        ("error_summary/nips08.csv", "error_table/separable.csv", "error_table/unseparable.csv"),
    ),
    "nips08_recovered_epsilon": (
        "The epsilon behind Figure 1, which nips08 does not print: where each printed error comes out, with 95% bootstrap "
        "intervals, and the best common value.",
        ("recovered_epsilon/nips08.csv",),
    ),
    "nips08_figure2": (
        "Figure 2 of nips08. Learning curves (a, b) and epsilon curves (c, d) of all methods, with 95% intervals over "
        "the folds.",
        (
            *("learning_curve/separable.csv", "learning_curve/unseparable.csv"),
            *("epsilon_curve/separable.csv", "epsilon_curve/unseparable.csv"),
        ),
    ),
    "nips08_tuning": (
        "Tuning of lambda on the holdout, by cross-validation of standard logistic regression; the dashed line is the "
        "paper's.",
        ("tuning/separable.csv", "tuning/unseparable.csv"),
    ),
    "nips08_boundary": (
        "Where Algorithm 2 of nips08 keeps its promise. Shades: epsilon spent on the worst data over epsilon promised. The "
        "promise holds above the black line; the dots are the paper's own learning curve.",
        ("boundary/nips08.csv",),
    ),
    "extension_error_summary": (
        "Mean test errors on data that no source used, with spreads over folds and over restarts.",
        ("error_summary/extension.csv",),
    ),
    "extension_curves": (
        "Learning curves and epsilon curves on the same data, lambda being tuned, with 95% intervals over the folds.",
        ("learning_curve/{dataset}.csv", "epsilon_curve/{dataset}.csv"),
    ),
    "extension_tuning": ("Tuning of lambda on the same data.", ("tuning/{dataset}.csv",)),
    "membership_utility": (
        "What privacy costs and what attackers gain, by data set: test errors with and without noise on the left; promised "
        "epsilon and the largest that an attack certifies on the right (each at 95%, not corrected for how many there are).",
        ("membership/{dataset}.csv",),
    ),
    "anonymised_tables": (
        "A worked example on the tables that review and postech print: how often a guess of one person's diagnosis is "
        "right, "
        "without noise, with Laplace noise, and at most for any attack.",
        ("anonymised_tables/worked_example.csv", "anonymised_tables/curves.csv"),
    ),
}
"""The caption of each figure, and the tables behind it, some for each data set."""
FIGURES_OF = {
    "nips08": ["nips08_figure1", "nips08_recovered_epsilon", "nips08_figure2", "nips08_tuning", "nips08_boundary"],
    "slides08": [],
    "postech": [],
    "review": [],
    "cs860": [],
    "extension": ["extension_error_summary", "extension_curves", "extension_tuning"],
}
