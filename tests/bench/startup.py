"""How much of a whole run is job start-up: interpreter and imports, against the jobs' own wall time."""

from __future__ import annotations

import csv
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

from epsilometer.config import load_config

IMPORTS = {
    "dataset": "epsilometer.cli, epsilometer.data, sklearn.model_selection",
    "recovered_epsilon": "epsilometer.cli, epsilometer.experiments.nips08, scipy.optimize",
    "error_summary": "epsilometer.cli, epsilometer.experiments.nips08",
    "audit": "epsilometer.cli, epsilometer.audits.report",
    "verdicts": "epsilometer.cli, epsilometer.audits.report, statsmodels.stats.multitest",
    "boundary": "epsilometer.cli, epsilometer.pairs.boundary",
    "figures": "epsilometer.cli, epsilometer.figures.experiments",
}
EXPERIMENT = "epsilometer.cli, epsilometer.experiments.curves, epsilometer.experiments.tuning"


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
    startup = sum(count * _start(IMPORTS.get(rule, EXPERIMENT)) for rule, count in jobs.items())
    print(f"{sum(jobs.values())} jobs took {total:.0f} s in all; start-up is {startup:.0f} s of that, {startup / total:.0%}")


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
