from epsilometer.report.run import UNFINISHED, UNFINISHED_FILES


use rule job as page with:
    input:
        EXPERIMENTS,
        AUDITS,
        CLAIMS,
        rules.provenance.output.table,
    output:
        page=settings.page,
    log:
        log_of("page/page"),
    benchmark:
        time_of("page/page")
    resources:
        mem_mb=500,
    params:
        code=code_hash(
            "report", *(f"papers/{paper}/paper" for paper in registry.papers())
        ),
        command=command("page", results=RESULTS),
    message:
        "The page {output}"


# A failed run still ends in a page, if one was asked for: it shows what is missing, and why.
onstart:
    Path(RESULTS / UNFINISHED).unlink(missing_ok=True)


onerror:
    targets = set(workflow.dag_settings.targets)
    if not targets or targets & {"all", str(settings.page)}:
        UNFINISHED_FILES.write(RESULTS / UNFINISHED, unfinished_files())
        shell("epsilometer page --results {RESULTS} --page {settings.page}")
        logger.error(
            f"Some jobs failed: {settings.page} shows what is missing, and why."
        )
