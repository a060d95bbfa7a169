"""What things are called in figures and on the page, by their names in the tables."""

METHODS = {
    "standard": "Standard logistic regression",
    "algorithm1": "Sensitivity method (Algorithm 1)",
    "algorithm2": "New method (Algorithm 2, as printed in 2008)",
    "cms11": "Objective perturbation (CMS11)",
}
DATASETS = {
    "separable": "Uniform, margin 0.03",
    "unseparable": "Unseparable: noise 0.2 in margin 0.1",
    "breast_cancer": "Breast cancer (Wisconsin)",
    "rand_hie": "RAND health insurance",
    "own": "Your own data",
    "small": "Few records, margin 0.03",
}
MECHANISMS = {
    "non_private_logistic": "no privacy",
    "output_perturbation": "output perturbation",
    "objective_perturbation_2008": "objective perturbation, as printed in 2008",
    "objective_perturbation_cms11": "objective perturbation, as in CMS11",
    "output_perturbation_gaussian": "output perturbation, Gaussian",
    "gradient_perturbation_full_batch": "gradient perturbation",
    "naive_bayes": "naive Bayes",
    "decision_tree": "random decision trees",
}
"""The mechanisms whose releases are attacked."""
TARGETS = {"average": "an average record", "most exposed": "the most exposed record", "outlier": "an inserted outlier"}
ATTACKS = {
    "optimal": "exact likelihood ratio",
    "loss": "loss threshold",
    "lira_offline": "LiRA, offline",
    "lira_online": "LiRA, online",
    "rmia_offline": "RMIA, offline",
    "rmia_online": "RMIA, online",
}
