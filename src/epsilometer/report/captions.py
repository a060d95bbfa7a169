"""The meaning of each outcome and verdict, as the page explains it."""

OUTCOMES = {
    "holds": "No pair, run or computation contradicts it, and the worst case found comes close to it.",
    "holds, loosely": "Nothing contradicts it, but the worst case found is below the stated bound by the factor given.",
    "reproduced": "The experiment gives the printed number.",
    "not reproduced": "The experiment does not give the printed number.",
    "fails as printed": "A numerical counter-example or a witness contradicts it; the nearest true reading is given.",
    "underspecified": "A detail that matters is missing from it; the detail, and what was assumed, are given.",
}
VERDICTS = {
    "violated": "The exact epsilon exceeds the claim, or a sampled bound does after Holm's correction over all audits.",
    "tight": "At least 90% of the claimed epsilon is certified, without a violation.",
    "consistent": "Less than 90% is certified, by trials that could have certified half of the claim if it were spent.",
    "underpowered": "The trials could not have certified even half of the claimed epsilon.",
    "left out": "The mechanism is in the catalogue but not in this run's table of verdicts.",
}
