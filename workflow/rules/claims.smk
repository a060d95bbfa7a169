rule ledger:
    input:
        claims="config/claims.yaml",
        tables=evidence_tables(),
    output:
        table=captioned(
            table("ledger", "{source}"),
            "Claims",
            "{source}",
            "ledger",
            source="{source}",
        ),
        numbers=f"{RESULTS}/ledger/numbers/{{source}}.csv",
        witnesses=directory(f"{RESULTS}/ledger/witnesses/{{source}}"),
    log:
        log_of("ledger", "{source}"),
    benchmark:
        time_of("ledger", "{source}")
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=1500,
    params:
        code=code_hash("claims"),
        results=RESULTS,
        seed=settings.seed,
    message:
        "Claims of {wildcards.source}"
    shell:
        "epsilometer ledger {wildcards.source} --claims {input.claims} --results {params.results} --seed {params.seed}"
        " --numbers {output.numbers} --witnesses {output.witnesses} --output {output.table} 2> {log}"
