"""The command line: one verb for each rule of the workflow."""

from __future__ import annotations

import argparse
import json
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from epsilometer import __version__
from epsilometer.core import EpsilometerError


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one verb. Exit status: 0, 1 with a sentence for something the user can mend, 2 for bad usage.

    A verb that has more to say with it returns a status of its own.
    """
    options = vars(_parser().parse_args(arguments))
    run = options.pop("run")
    options.pop("verb")
    try:
        return run(**options) or 0
    except EpsilometerError as error:
        return _refusal(error, 1)


def _refusal(error: EpsilometerError, status: int) -> int:
    print(f"epsilometer: {error}", file=sys.stderr)
    return status


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="epsilometer", description="Measure epsilon.")
    parser.add_argument("--version", action="version", version=f"epsilometer {__version__}")
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")

    def verb(name: str, run: object, about: str) -> argparse.ArgumentParser:
        sub = verbs.add_parser(name, help=about, description=about)
        sub.set_defaults(run=run)
        return sub

    sub = verb("dataset", _dataset, "Draw or read a data set, check it, and divide it into holdout, experiment and folds.")
    sub.add_argument("name", help="separable, unseparable, small, breast_cancer, rand_hie, or own (with --csv)")
    sub.add_argument("--csv", type=Path, help="a CSV of your own: columns label (-1 or 1) and features of norm at most 1")
    sub.add_argument("--points", type=_count, default=0, help="records for the experiments (synthetic data)")
    sub.add_argument(
        "--holdout", type=_positive, required=True, help="records for tuning: a number, or a share of real data"
    )
    sub.add_argument("--folds", type=_count, required=True)
    _seed_and_output(sub)

    sub = verb("tuning", _tuning, "Cross-validate standard logistic regression on the holdout for each lambda.")
    sub.add_argument("dataset", type=Path, help="a table written by `epsilometer dataset`")
    sub.add_argument("--lambdas", type=_positive, nargs="+", required=True)
    _output(sub)

    sub = verb("epsilon_curve", _epsilon_curve, "Test error of each private method at each epsilon.")
    _experiment(sub)
    sub.add_argument("--epsilons", type=_positive, nargs="+", required=True)

    sub = verb("recovered_epsilon", _recovered_epsilon, "The epsilon behind Figure 1 of nips08, from epsilon curves.")
    sub.add_argument("curves", type=Path, nargs="+", help="tables written by `epsilometer epsilon_curve`")
    _seed_and_output(sub)

    sub = verb("error_table", _error_table, "Test error of each method, fold and restart.")
    _experiment(sub)
    _epsilon(sub)

    sub = verb("learning_curve", _learning_curve, "Test error of each method after each increment of training records.")
    _experiment(sub)
    _epsilon(sub)
    sub.add_argument("--increment", type=_positive, required=True, help="records to add, or a share of them below 1")

    sub = verb(
        "error_summary",
        _error_summary,
        "Mean test errors with both spreads, beside those that Figure 1 of nips08 prints.",
    )
    sub.add_argument("error_tables", type=Path, nargs="+", help="tables written by `epsilometer error_table`")
    _output(sub)

    sub = verb("audit", _audit, "Audit every mechanism of a family: exactly, by sampling, and as a black box.")
    sub.add_argument("family", help="a file of the catalogue, say laplace or objective_perturbation")
    sub.add_argument(
        "--epsilons",
        type=_number_or_table,
        nargs="+",
        required=True,
        help="the epsilons to promise, or tables of recovered epsilons to take them from",
    )
    sub.add_argument("--witnesses", type=Path, required=True, help="the folder for witnesses")
    _budget_and_seconds(sub)

    sub = verb("privacy_loss", _privacy_loss, "The distribution of the privacy loss of every audited mechanism.")
    sub.add_argument("tables", type=Path, nargs="+", help="tables written by `epsilometer audit`")
    sub.add_argument("--epsilon", type=_positive, required=True, help="one of the epsilons that were audited")
    _seed_and_output(sub)

    sub = verb("verdicts", _verdicts, "A verdict for each mechanism and promise, corrected for how many there are.")
    sub.add_argument("tables", type=Path, nargs="+", help="tables written by `epsilometer audit`")
    sub.add_argument("--seconds", type=Path, nargs="+", required=True, help="its tables of how long each audit took")
    sub.add_argument("--confidence", type=_positive, required=True)
    _output(sub)

    sub = verb("validation", _validation, "Repeat the audits of a family's correct mechanisms: how often is a bound wrong?")
    sub.add_argument("family", help="a file of the catalogue, say laplace or objective_perturbation")
    sub.add_argument("--epsilon", type=_positive, required=True, help="the epsilon to promise")
    sub.add_argument("--repetitions", type=_at_least_one, required=True)
    sub.add_argument("--trials", type=_count, required=True, help="outputs drawn for each sampled likelihood-ratio audit")
    sub.add_argument("--black-box-trials", type=_count, required=True, help="outputs drawn for each black-box audit")
    sub.add_argument("--repeated", type=Path, required=True, help="the table for every single repetition")
    _seed_and_output(sub)

    sub = verb("validation_summary", _validation_summary, "How often bounds and whole reports are wrong, over all families.")
    sub.add_argument("tables", type=Path, nargs="+", help="tables written by `epsilometer validation`")
    sub.add_argument("--repeated", type=Path, nargs="+", required=True, help="its tables of single repetitions")
    sub.add_argument("--confidence", type=_positive, required=True)
    _output(sub)

    sub = verb("membership", _membership, "Attack the models that mechanisms release: who was in the training data?")
    sub.add_argument("dataset", type=Path, help="a table written by `epsilometer dataset`")
    sub.add_argument("--epsilon", type=_positive, required=True, help="the epsilon to promise")
    sub.add_argument("--lam", type=_number_or_table, required=True, help="lambda, or the tuning table to take the best from")
    sub.add_argument("--trials", type=_count, required=True, help="models attacked for each mechanism and target")
    sub.add_argument("--shadows", type=_count, required=True, help="models that the attacker trains of its own")
    sub.add_argument("--roc", type=Path, required=True, help="the table for the ROC of each attack")
    _seed_and_output(sub)

    sub = verb("membership_figures", _membership_figures, "Draw the ROC of every attack, and what privacy costs.")
    sub.add_argument("tables", type=Path, nargs="+", help="tables written by `epsilometer membership`")
    sub.add_argument("--roc", type=Path, nargs="+", required=True, help="its tables of curves")
    sub.add_argument("--output", type=Path, required=True, help="the folder for the figures")

    sub = verb("mechanism_figures", _mechanism_figures, "Draw what every mechanism spends, and its privacy loss.")
    sub.add_argument("tables", type=Path, nargs="+", help="tables written by `epsilometer audit`")
    sub.add_argument("--verdicts", type=Path, required=True, help="the table written by `epsilometer verdicts`")
    sub.add_argument("--losses", type=Path, required=True, help="the table written by `epsilometer privacy_loss`")
    sub.add_argument("--output", type=Path, required=True, help="the folder for the figures")

    sub = verb("library_audit", _library_audit, "Audit a part of a third-party library as a black box.")
    sub.add_argument("library", help="its name: diffprivlib")
    sub.add_argument("part", choices=["mechanisms", "models"])
    sub.add_argument("--python", required=True, help="a Python in whose environment the library is installed")
    sub.add_argument("--epsilons", type=_positive, nargs="+", required=True, help="the epsilons to promise")
    _budget_and_seconds(sub)

    sub = verb("provenance", _provenance, "Note what a run is: its commit, its settings, and the versions of what it uses.")
    sub.add_argument("--commit", required=True, help="the commit of the checkout")
    sub.add_argument("--config", nargs="+", required=True, help="the files of settings, in the order in which they count")
    sub.add_argument("--overrides", nargs="*", default=[], help="settings of the command line, as KEY=VALUE")
    sub.add_argument("--settings", required=True, help="all settings, as JSON")
    _output(sub)

    sub = verb("page", _page, "Build the HTML page from the tables and figures.")
    _results(sub)
    sub.add_argument("--output", type=Path, required=True, help="the page to write")

    sub = verb("summary", _summary, "Print the page's first screen in Markdown.")
    _results(sub)

    sub = verb(
        "membership_validation",
        _membership_validation,
        "Repeat the attacks on correct mechanisms: how often do they seem to break the promise?",
    )
    sub.add_argument("--epsilon", type=_positive, required=True, help="the epsilon to promise")
    sub.add_argument("--repetitions", type=_at_least_one, required=True)
    sub.add_argument("--trials", type=_count, required=True, help="models attacked in each repetition")
    _seed_and_output(sub)

    sub = verb("boundary", _boundary, "What Algorithm 2 of nips08 spends on its worst data, by epsilon and n lambda.")
    sub.add_argument("--epsilons", type=_positive, nargs="+", required=True, help="the epsilons to promise")
    sub.add_argument("--n-lams", type=_positive, nargs="+", required=True, help="numbers of records times lambda")
    _output(sub)

    sub = verb("anonymised_tables", _anonymised_tables, "Attacks on anonymised tables and on noisy counts, and the bound.")
    sub.add_argument("--epsilons", type=_positive, nargs="+", required=True, help="the epsilons to promise")
    sub.add_argument("--trials", type=_at_least_one, required=True, help="simulated attacks of each kind")
    sub.add_argument("--curves", type=Path, required=True, help="the table for the closed forms")
    _seed_and_output(sub)

    sub = verb("anonymised_figure", _anonymised_figure, "Draw the success of the attacks on anonymised tables.")
    sub.add_argument("table", type=Path, help="a table written by `epsilometer anonymised_tables`")
    sub.add_argument("--curves", type=Path, required=True, help="its table of the closed forms")
    sub.add_argument("--output", type=Path, required=True, help="the figure to write")

    sub = verb("ledger", _ledger, "Decide every claim of a source from the tables of the experiments and audits.")
    sub.add_argument("source", help="nips08, slides08, postech, review or cs860")
    sub.add_argument("--claims", type=Path, required=True, help="the file of claims, config/claims.yaml")
    sub.add_argument("--results", type=Path, required=True, help="the folder that holds the tables")
    sub.add_argument("--numbers", type=Path, required=True, help="the table for the numbers behind each decision")
    sub.add_argument("--witnesses", type=Path, required=True, help="the folder for witnesses of claims that fail")
    _seed_and_output(sub)

    sub = verb("claims", _claims, "Print the ledger: what each source says, whether it holds, and how we know.")
    sub.add_argument("--source", help="one source only: nips08, slides08, postech, review or cs860")
    _results(sub)

    sub = verb("verify", _verify, "Recompute a saved witness at 50 digits, independently of the code that found it.")
    sub.add_argument("witnesses", type=Path, nargs="+", help="JSON files written by `epsilometer audit`")

    sub = verb("gate", _gate, "Exit with 1 if a promise is violated that is not expected to be, and with 2 for any error.")
    sub.add_argument("tables", type=Path, nargs="+", help="tables written by `epsilometer verdicts`")
    sub.add_argument("--expected", type=Path, required=True, help="the file of expected findings, config/expected.yaml")
    sub.add_argument("--previous", type=Path, nargs="+", default=[], help="those of an earlier run, to print what changed")

    sub = verb("figures", _figures, "Draw the figures of nips08, or of the same protocol on other data.")
    sub.add_argument("paper", choices=["nips08", "extension"])
    sub.add_argument("--results", type=Path, required=True, help="the folder that holds the tables")
    sub.add_argument("--datasets", nargs="+", required=True, help="the data sets to show, in order")
    sub.add_argument("--output", type=Path, required=True, help="the folder for the figures")

    verb(
        "catalogue",
        _catalogue,
        "List every mechanism: what it is, where it is defined, and what is wrong with it.",
    )

    verb("schema", _schema, "Print the JSON schema of the configuration.")
    return parser


def _results(sub: argparse.ArgumentParser) -> None:
    sub.add_argument("--results", type=Path, default=Path("results"), help="the folder that holds the tables")


def _budget_and_seconds(sub: argparse.ArgumentParser) -> None:
    sub.add_argument("--trials", type=_count, required=True, help="outputs drawn for each sampled audit")
    sub.add_argument("--seconds", type=Path, required=True, help="the table for how long each audit took")
    _seed_and_output(sub)


def _output(sub: argparse.ArgumentParser) -> None:
    sub.add_argument("--output", type=Path, required=True, help="the table to write")


def _seed_and_output(sub: argparse.ArgumentParser) -> None:
    sub.add_argument("--seed", type=_count, required=True)
    _output(sub)


def _experiment(sub: argparse.ArgumentParser) -> None:
    sub.add_argument("dataset", type=Path, help="a table written by `epsilometer dataset`")
    sub.add_argument("--lam", type=_number_or_table, required=True, help="lambda, or the tuning table to take the best from")
    sub.add_argument("--restarts", type=_at_least_one, required=True)
    _seed_and_output(sub)


def _epsilon(sub: argparse.ArgumentParser) -> None:
    sub.add_argument(
        "--epsilon",
        type=_number_or_table,
        required=True,
        help="epsilon, or the table of recovered epsilons to take it from",
    )


def _positive(text: str) -> float:
    value = float(text)
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text} is not above 0")
    return value


def _count(text: str) -> int:
    value = int(text)
    if value < 0:
        raise argparse.ArgumentTypeError(f"{text} is below 0")
    return value


def _at_least_one(text: str) -> int:
    if _count(text) == 0:
        raise argparse.ArgumentTypeError("0 is too few")
    return int(text)


def _number_or_table(text: str) -> float | Path:
    try:
        return _positive(text)
    except ValueError:
        return Path(text)


def _dataset(name: str, output: Path, csv: Path | None, points: int, holdout: float, folds: int, seed: int) -> None:
    from epsilometer.data import prepare_dataset

    prepare_dataset(name, output, points=points, holdout=holdout, folds=folds, seed=seed, csv=csv)


def _tuning(dataset: Path, output: Path, lambdas: list[float]) -> None:
    from epsilometer.experiments.tuning import tuning

    tuning(dataset, output, lambdas=lambdas)


def _lambda(lam: float | Path) -> float:
    from epsilometer.experiments.tuning import best_lambda

    return best_lambda(lam) if isinstance(lam, Path) else lam


def _epsilon_value(epsilon: float | Path) -> float:
    from epsilometer.experiments.nips08 import common_epsilon

    return common_epsilon(epsilon) if isinstance(epsilon, Path) else epsilon


def _epsilon_curve(dataset: Path, output: Path, epsilons: list[float], lam: float | Path, restarts: int, seed: int) -> None:
    from epsilometer.experiments.curves import epsilon_curve

    epsilon_curve(dataset, output, epsilons=epsilons, lam=_lambda(lam), restarts=restarts, seed=seed)


def _recovered_epsilon(curves: list[Path], output: Path, seed: int) -> None:
    from epsilometer.experiments.nips08 import recovered_epsilon

    recovered_epsilon(curves, output, seed=seed)


def _error_table(dataset: Path, output: Path, epsilon: float | Path, lam: float | Path, restarts: int, seed: int) -> None:
    from epsilometer.experiments.curves import error_table

    error_table(dataset, output, epsilon=_epsilon_value(epsilon), lam=_lambda(lam), restarts=restarts, seed=seed)


def _learning_curve(
    dataset: Path,
    output: Path,
    epsilon: float | Path,
    lam: float | Path,
    increment: float,
    restarts: int,
    seed: int,
) -> None:
    from epsilometer.experiments.curves import learning_curve

    learning_curve(
        dataset,
        output,
        epsilon=_epsilon_value(epsilon),
        lam=_lambda(lam),
        increment=increment,
        restarts=restarts,
        seed=seed,
    )


def _error_summary(error_tables: list[Path], output: Path) -> None:
    from epsilometer.experiments.nips08 import error_summary

    error_summary(error_tables, output)


def _figures(paper: str, results: Path, datasets: list[str], output: Path) -> None:
    from epsilometer.figures.experiments import draw

    draw(paper, results, datasets, output)


def _audit(
    family: str, output: Path, seconds: Path, witnesses: Path, epsilons: list[float | Path], trials: int, seed: int
) -> None:
    from epsilometer.audits.report import audit

    promised = [_epsilon_value(epsilon) for epsilon in epsilons]
    audit(family, output, seconds=seconds, witnesses=witnesses, epsilons=promised, trials=trials, seed=seed)


def _library_audit(
    library: str, part: str, python: str, output: Path, seconds: Path, epsilons: list[float], trials: int, seed: int
) -> None:
    from epsilometer.libraries.catalogue import library_audit

    budget = {"trials": trials, "seed": seed}
    library_audit(library, part, output, python=python, seconds=seconds, epsilons=epsilons, **budget)


def _privacy_loss(tables: list[Path], output: Path, epsilon: float, seed: int) -> None:
    from epsilometer.audits.report import privacy_loss

    privacy_loss(tables, output, epsilon=epsilon, seed=seed)


def _verdicts(tables: list[Path], output: Path, seconds: list[Path], confidence: float) -> None:
    from epsilometer.audits.report import verdicts

    verdicts(tables, output, seconds=seconds, confidence=confidence)


def _validation(
    family: str,
    output: Path,
    repeated: Path,
    epsilon: float,
    repetitions: int,
    trials: int,
    black_box_trials: int,
    seed: int,
) -> None:
    from epsilometer.audits.validation import Budget, validation

    validation(family, output, repeated=repeated, budget=Budget(epsilon, repetitions, trials, black_box_trials), seed=seed)


def _validation_summary(tables: list[Path], repeated: list[Path], output: Path, confidence: float) -> None:
    from epsilometer.audits.validation import validation_summary

    validation_summary(tables, repeated, output, confidence=confidence)


def _membership(
    dataset: Path, output: Path, roc: Path, epsilon: float, lam: float | Path, trials: int, shadows: int, seed: int
) -> None:
    from epsilometer.audits.membership import membership

    membership(dataset, output, roc=roc, epsilon=epsilon, lam=_lambda(lam), trials=trials, shadows=shadows, seed=seed)


def _membership_figures(tables: list[Path], roc: list[Path], output: Path) -> None:
    from epsilometer.figures.membership import membership_figures

    membership_figures(tables, roc, output)


def _mechanism_figures(tables: list[Path], verdicts: Path, losses: Path, output: Path) -> None:
    from epsilometer.figures.mechanisms import mechanism_figures

    mechanism_figures(tables, verdicts, losses, output)


def _provenance(commit: str, config: list[str], overrides: list[str], settings: str, output: Path) -> None:
    from epsilometer.report.provenance import provenance

    provenance(output, commit=commit, config=config, overrides=overrides, settings=settings)


def _page(results: Path, output: Path) -> None:
    from epsilometer.report.page import page

    page(results, output)


def _summary(results: Path) -> None:
    from epsilometer.report.summary import summary

    print(summary(results))


def _membership_validation(output: Path, epsilon: float, repetitions: int, trials: int, seed: int) -> None:
    from epsilometer.audits.membership.validation import membership_validation

    membership_validation(output, epsilon=epsilon, repetitions=repetitions, trials=trials, seed=seed)


def _boundary(output: Path, epsilons: list[float], n_lams: list[float]) -> None:
    from epsilometer.core import write_table
    from epsilometer.pairs.boundary import boundary_table

    write_table(output, boundary_table(epsilons, n_lams))


def _anonymised_tables(output: Path, curves: Path, epsilons: list[float], trials: int, seed: int) -> None:
    from epsilometer.experiments.anonymised_tables import anonymised_tables

    anonymised_tables(output, curves, epsilons=epsilons, trials=trials, seed=seed)


def _anonymised_figure(table: Path, curves: Path, output: Path) -> None:
    from epsilometer.figures.anonymised_tables import anonymised_figure

    anonymised_figure(table, curves, output)


def _ledger(source: str, output: Path, claims: Path, results: Path, numbers: Path, witnesses: Path, seed: int) -> None:
    from epsilometer.claims.ledger import a_source, ledger

    ledger(a_source(source), output, claims=claims, results=results, numbers=numbers, witnesses=witnesses, seed=seed)


def _claims(source: str | None, results: Path) -> None:
    from epsilometer.claims.ledger import SOURCES, a_source, printed

    print(printed(results, [a_source(source)] if source else SOURCES, shutil.get_terminal_size().columns))


def _verify(witnesses: list[Path]) -> None:
    from epsilometer.audits.verify import verify
    from epsilometer.core import Witness

    for path in witnesses:
        try:
            witness = Witness.from_json(path.read_text())
        except OSError as error:
            raise EpsilometerError(f"cannot read the witness {path}: {error.strerror}") from error
        except (ValueError, KeyError, TypeError) as error:
            raise EpsilometerError(f"{path} is no witness; `epsilometer audit` writes them") from error
        print(f"{path.name}: {verify(witness)[1]}")


def _gate(tables: list[Path], expected: Path, previous: list[Path]) -> int:
    from epsilometer.report.gate import gate

    try:
        passed, lines = gate(tables, expected=expected, previous=previous)
    except EpsilometerError as error:
        return _refusal(error, 2)  # 1 stands for a violation, and for nothing else
    print("\n".join(lines))
    return 0 if passed else 1


def _catalogue() -> None:
    from epsilometer.libraries.catalogue import library_entries
    from epsilometer.mechanisms.catalogue import catalogue

    groups = {
        "held to be correct": [entry for entry in catalogue().values() if not entry.flaw],
        "broken, on purpose or as printed": [entry for entry in catalogue().values() if entry.flaw],
        "of third-party libraries": list(library_entries().values()),
    }
    for title, entries in groups.items():
        print(f"{title}:")
        for entry in entries:
            print(f"  {entry.name}: {entry.title} ({entry.build(1.0).source})")
            if entry.flaw:
                print(f"      flaw: {entry.flaw}")


def _schema() -> None:
    from epsilometer.config import Config

    print(json.dumps(Config.model_json_schema(), indent=2))
