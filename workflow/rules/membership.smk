rule membership:
    input:
        dataset=table("dataset"),
        lam=lambda_source,
    output:
        table=captioned(
            table("membership"),
            "Attacks",
            "Membership inference",
            "membership",
            dataset="{dataset}",
        ),
        roc=roc_of("{dataset}"),
    log:
        log_of("membership"),
    benchmark:
        time_of("membership")
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=1500,
    params:
        code=code_hash("audits"),
        epsilon=settings.membership.epsilon,
        lam=lam,
        trials=settings.membership.trials,
        shadows=settings.membership.shadows,
        seed=settings.seed,
    message:
        "Membership inference on {wildcards.dataset}"
    shell:
        "epsilometer membership {input.dataset} --epsilon {params.epsilon} --lam {params.lam} --trials {params.trials}"
        " --shadows {params.shadows} --seed {params.seed} --roc {output.roc} --output {output.table} 2> {log}"


# One job draws all of them: importing the plotting libraries costs more than a figure.
rule membership_figures:
    input:
        tables=[table("membership", dataset) for dataset in ATTACKED],
        roc=[roc_of(dataset) for dataset in ATTACKED],
    output:
        *(
            captioned(
                path,
                "Attacks",
                "Membership inference",
                "membership_roc",
                mechanism=name,
            )
            for name, path in roc_figures().items()
        ),
        captioned(
            f"{RESULTS}/figures/membership_utility.svg",
            "Attacks",
            "Membership inference",
            "membership_utility",
            mechanism="all",
        ),
    log:
        log_of("membership_figures", "all"),
    benchmark:
        time_of("membership_figures", "all")
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=1000,
    params:
        code=code_hash("figures"),
        folder=subpath(output[0], parent=True),
    message:
        "Figures of membership inference"
    shell:
        "epsilometer membership_figures {input.tables} --roc {input.roc} --output {params.folder} 2> {log}"


rule membership_validation:
    output:
        table("validation", "membership"),
    log:
        log_of("validation", "membership"),
    benchmark:
        time_of("validation", "membership")
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=1000,
    params:
        code=code_hash("audits"),
        epsilon=settings.validation.epsilon,
        repetitions=settings.validation.repetitions,
        trials=settings.validation.membership_trials,
        seed=settings.seed,
    message:
        "How often attacks on correct mechanisms leave the allowed region"
    shell:
        "epsilometer membership_validation --epsilon {params.epsilon} --repetitions {params.repetitions}"
        " --trials {params.trials} --seed {params.seed} --output {output} 2> {log}"
