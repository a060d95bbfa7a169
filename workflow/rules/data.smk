use rule job as dataset with:
    input:
        unpack(
            lambda wildcards: (
                {"csv": settings.extension.csv} if wildcards.dataset == OWN else {}
            )
        ),
    output:
        table=table("dataset/{dataset}"),
    log:
        log_of("dataset/{dataset}"),
    benchmark:
        time_of("dataset/{dataset}")
    resources:
        mem_mb=500,
    params:
        code=lambda wildcards: code_hash(
            "data", *registry.units_of_dataset(wildcards.dataset)
        ),
        command=lambda wildcards: command(
            "dataset",
            name=wildcards.dataset,
            **division(wildcards.dataset),
            folds=settings.folds,
            seed=settings.seed,
        ),
    message:
        "Data set {wildcards.dataset}"
