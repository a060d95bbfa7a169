rule provenance:
    output:
        table("provenance", "run"),
    log:
        log_of("provenance", "run"),
    benchmark:
        time_of("provenance", "run")
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=200,
    params:
        code=code_hash("report"),
        commit=commit(),
        config=config_files(),
        overrides=config_overrides(),
        settings=settings.model_dump_json(),
    message:
        "What this run is: commit, settings, versions"
    shell:
        "epsilometer provenance --commit {params.commit:q} --config {params.config:q} --overrides {params.overrides:q}"
        " --settings {params.settings:q} --output {output} 2> {log}"


rule page:
    input:
        page_sources(),
    output:
        settings.page,
    log:
        log_of("page", "page"),
    benchmark:
        time_of("page", "page")
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=500,
    params:
        code=code_hash("report"),
        results=RESULTS,
    message:
        "The page {output}"
    shell:
        "rm -f {params.results}/unfinished.csv && epsilometer page --results {params.results} --output {output} 2> {log}"


# A failed run still ends in a page, if one was asked for: it shows what is missing, and why.
onerror:
    targets = set(workflow.dag_settings.targets)
    if not targets or targets & {"all", str(settings.page)}:
        write_table(RESULTS / "unfinished.csv", unfinished_files())
        shell("epsilometer page --results {RESULTS} --output {settings.page}")
        logger.error(
            f"Some jobs failed: {settings.page} shows what is missing, and why."
        )
