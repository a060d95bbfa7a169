"""How much of a whole run is job start-up: interpreter and imports, against the jobs' own wall time."""

from __future__ import annotations

import csv
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

from epsilometer.cli.jobs import function_of, jobs
from epsilometer.config import load_config

JOBS = {"audit": "audit_family"}
"""The jobs whose tables stand in a folder of another name."""
LATER = {
    "dataset": "sklearn.model_selection",
    "recovered_epsilon": "scipy.optimize",
    "verdicts": "statsmodels.stats.multitest",
}
"""What a job imports only when it needs it."""


def run() -> None:
    """Read the benchmark files of the last `make` and time the imports of each rule."""
    import yaml

    folder = Path(load_config(yaml.safe_load(Path("config/config.yaml").read_text())).results) / "benchmarks"
    files = sorted(folder.glob("*/*.tsv"))
    if not files:
        print("start-up share: run `make` first")
        return
    jobs = Counter(file.parent.name for file in files)
    total = sum(_wall(file) for file in files)
    startup = sum(count * _start(imports_of(folder)) for folder, count in jobs.items())
    print(f"{sum(jobs.values())} jobs took {total:.0f} s in all; start-up is {startup:.0f} s of that, {startup / total:.0%}")


def imports_of(folder: str) -> str:
    """The modules that the job of a folder of benchmarks imports."""
    job = JOBS.get(folder, folder)
    modules = ["epsilometer.cli", *([function_of(job).__module__] if job in jobs() else []), *filter(None, [LATER.get(job)])]
    return ", ".join(modules)


def _wall(file: Path) -> float:
    with file.open() as lines:
        return float(next(csv.DictReader(lines, delimiter="\t"))["s"])


def _start(modules: str) -> float:
    seconds = []
    for _ in range(3):
        start = time.perf_counter()
        subprocess.run([sys.executable, "-c", f"import {modules}"], check=True)
        seconds.append(time.perf_counter() - start)
    return sorted(seconds)[1]
