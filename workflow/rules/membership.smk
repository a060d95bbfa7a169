from epsilometer.figures.membership import UTILITY, roc_figure
from epsilometer.membership.batched import MECHANISMS

ATTACKED = settings.attacked_datasets


use rule job as membership with:
    input:
        unpack(
            lambda wildcards: (
                {"lam": table("tuning/{dataset}")} if tuned(wildcards.dataset) else {}
            )
        ),
        dataset=table("dataset/{dataset}"),
    output:
        table=reported_table(
            table("membership/{dataset}"),
            "Attacks",
            "Membership inference",
            dataset="{dataset}",
        ),
        roc=table("membership/roc/{dataset}"),
        counts=table("membership/counts/{dataset}"),
    log:
        log_of("membership/{dataset}"),
    benchmark:
        time_of("membership/{dataset}")
    resources:
        mem_mb=1500,
    params:
        code=code_hash("membership"),
        command=lambda wildcards: command(
            "membership",
            lam=None if tuned(wildcards.dataset) else settings.reproduction.lam,
            epsilon=settings.membership.epsilon,
            trials=settings.membership.trials,
            shadows=settings.membership.shadows,
            confidence=settings.audits.confidence,
            seed=settings.seed,
        ),
        caption="Every attack on every mechanism and target of the data set: AUC, advantage, certified epsilon, test error.",
    message:
        "Membership inference on {wildcards.dataset}"


use rule job as membership_verdicts with:
    input:
        tables=[table(f"membership/{dataset}") for dataset in ATTACKED],
        counts=[table(f"membership/counts/{dataset}") for dataset in ATTACKED],
    output:
        table=reported_table(
            table("verdicts/membership"),
            "Attacks",
            "Membership inference",
            mechanism="all",
        ),
    log:
        log_of("verdicts/membership"),
    benchmark:
        time_of("verdicts/membership")
    resources:
        mem_mb=500,
    params:
        code=code_hash("evidence"),
        command=command("membership_verdicts", confidence=settings.audits.confidence),
        caption="Every attack on a mechanism that claims an epsilon: what it certifies, and the verdict.",
    message:
        "Verdicts on every attack"


# One job draws all of them: importing the plotting library costs more than a figure.
use rule job as membership_figures with:
    input:
        tables=[table(f"membership/{dataset}") for dataset in ATTACKED],
        roc=[table(f"membership/roc/{dataset}") for dataset in ATTACKED],
    output:
        *(
            reported_figure(roc_figure(name), "Attacks", "Membership inference", name)
            for name in MECHANISMS
        ),
        reported_figure(UTILITY, "Attacks", "Membership inference", "all"),
    log:
        log_of("membership_figures/all"),
    benchmark:
        time_of("membership_figures/all")
    params:
        code=code_hash("figures/membership"),
        command=command("membership_figures", folder=f"{RESULTS}/figures"),
    message:
        "Figures of membership inference"
