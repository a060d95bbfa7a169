rule dataset:
    input:
        csv=lambda wildcards: settings.extension.csv if wildcards.dataset == OWN else [],
    output:
        table("dataset"),
    log:
        log_of("dataset"),
    benchmark:
        time_of("dataset")
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=500,
    params:
        code=code_hash("data"),
        source=lambda wildcards, input: (
            f"--csv {quote(str(input.csv))}" if input.csv else ""
        ),
        size=lambda wildcards: (
            f"--points {points(wildcards)} --holdout {settings.reproduction.holdout}"
            if wildcards.dataset in DRAWN
            else f"--holdout {settings.extension.holdout}"
        ),
        folds=settings.folds,
        seed=settings.seed,
    message:
        "Data set {wildcards.dataset}"
    shell:
        "epsilometer dataset {wildcards.dataset} {params.source} {params.size} --folds {params.folds}"
        " --seed {params.seed} --output {output} 2> {log}"
