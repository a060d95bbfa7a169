# The experiments, figures and claims of every paper, as the folder of the paper declares them.
for name in registry.experiments():
    parts = registry.parts_of(name, settings)
    if not parts:
        continue
    some = next(iter(parts.values()))
    # Further tables may be named without their part: then there is only one.
    only = next(iter(parts)) if some.also else ""
    place = f"{name}/{only or '{part}'}"
    written = table(place)
    if some.caption:
        written = reported_table(written, "Experiments", "{part}", table=name)

    rule:
        name:
            name
        input:
            unpack(needed(parts, only)),
        output:
            **{option: table(also) for option, also in some.also.items()},
            table=written,
        log:
            log_of(place),
        benchmark:
            time_of(place)
        wildcard_constraints:
            part="|".join(parts),
        conda:
            "../../environment.yml"
        resources:
            mem_mb=some.megabytes,
        params:
            code=code_hash(some.unit),
            files=files,
            command=commanded(name, parts, only),
            caption=some.caption,
        message:
            some.message.replace("{part}", only or "{wildcards.part}")
        shell:
            "{params.command} {params.files} 2> {log}"


# One job draws all figures of a paper: importing the plotting library costs more than a figure.
for paper, about in registry.papers().items():
    drawn = registry.figures_shown(paper, settings)
    datasets = list(about.datasets(settings))
    if not drawn:
        continue

    rule:
        name:
            f"figures_{paper}"
        input:
            [table(name) for each in drawn for name in each.tables(datasets)],
        output:
            [
                reported_figure(each.name, "Experiments", paper, each.name)
                for each in drawn
            ],
        log:
            log_of(f"figures/{paper}"),
        benchmark:
            time_of(f"figures/{paper}")
        conda:
            "../../environment.yml"
        resources:
            mem_mb=1000,
        params:
            code=code_hash("figures/figure", f"papers/{paper}/figures"),
            command=command(
                "figures",
                paper=paper,
                results=RESULTS,
                datasets=datasets,
                folder=f"{RESULTS}/figures",
            ),
        message:
            f"Figures of {paper}"
        shell:
            "{params.command} 2> {log}"


use rule job as ledger with:
    input:
        lambda wildcards: map(table, registry.needed_by_claims(wildcards.source)),
    output:
        table=reported_table(
            table("ledger/{source}"), "Claims", "{source}", source="{source}"
        ),
        numbers=table("ledger/numbers/{source}"),
        witnesses=directory(f"{RESULTS}/ledger/witnesses/{{source}}"),
    log:
        log_of("ledger/{source}"),
    benchmark:
        time_of("ledger/{source}")
    resources:
        mem_mb=1500,
    params:
        code=lambda wildcards: code_hash(
            "papers/ledger", f"papers/{wildcards.source}/claims"
        ),
        command=lambda wildcards: command(
            "ledger", source=wildcards.source, results=RESULTS, seed=settings.seed
        ),
        caption="The claims of the source, each with its verdict and the evidence in numbers.",
    message:
        "Claims of {wildcards.source}"
