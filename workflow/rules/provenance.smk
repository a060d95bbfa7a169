use rule job as provenance with:
    output:
        table=table("provenance/run"),
    log:
        log_of("provenance/run"),
    benchmark:
        time_of("provenance/run")
    resources:
        mem_mb=200,
    params:
        code=code_hash(
            "report", *(f"papers/{paper}/paper" for paper in registry.papers())
        ),
        command=command(
            "provenance",
            commit=commit(),
            config=config_files(),
            overrides=config_overrides(),
            settings=settings.model_dump_json(),
        ),
    message:
        "What this run is: commit, settings, versions"
