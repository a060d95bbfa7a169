"""The claims of all papers: where they stand, what they need, and that none is decided in advance.

A paper with claims has a module `cases` here: numbers and tolerances that lead its claims to each of their outcomes.
"""

from __future__ import annotations

import pkgutil
import re
from importlib import import_module
from pathlib import Path

import pytest

from epsilometer.core import EpsilometerError
from epsilometer.core.tables import write_table
from epsilometer.papers.claim import Claim, Outcome
from epsilometer.papers.registry import all_tables, claims_of, figures_of, kind_of_table, needed_by_claims, papers, sources

Case = tuple[str, dict[str, float], dict[str, float], Outcome]
LONGEST = 400
"""Lines of a module of claims."""
CASES: dict[str, list[Case]] = {paper: import_module(f"tests.papers.{paper}.cases").CASES for paper in sources()}
CLAIMS = [(paper, name, claim) for paper in sources() for name, claim in claims_of(paper).items()]
READING = [claim for *_, claim in CLAIMS if claim.needs and not claim.computes]
"""Those that only read tables; the others may compute for long before they read."""

every_paper = pytest.mark.parametrize("paper", sources())


def modules(paper: str) -> dict[Path, list[Claim]]:
    """The files of a paper's claims, with the claims that each defines."""
    package = import_module(f"epsilometer.papers.{paper}.claims")
    names = [f"{package.__name__}.{module.name}" for module in pkgutil.iter_modules(package.__path__)]
    return {
        Path(str(module.__file__)): [value for value in vars(module).values() if isinstance(value, Claim)]
        for module in (package, *map(import_module, names))
    }


@every_paper
def test_numbers_and_tolerances_decide(paper: str) -> None:
    wrong = []
    for name, numbers, tolerances, outcome in CASES[paper]:
        decided = claims_of(paper)[name].decide(numbers, tolerances).outcome
        if decided != outcome:
            wrong.append(f"{name}: {decided}, not {outcome}, for {numbers}")
    assert not wrong


@every_paper
def test_with_its_own_tolerances_every_claim_can_come_out_in_two_ways(paper: str) -> None:
    for name, claim in claims_of(paper).items():
        outcomes = {claim.decide(numbers, claim.tolerances).outcome for case, numbers, *_ in CASES[paper] if case == name}
        assert len(outcomes) >= 2, f"{claim.id} is decided in advance: {outcomes}"


@every_paper
def test_there_are_no_cases_without_a_claim(paper: str) -> None:
    assert {name for name, *_ in CASES[paper]} == claims_of(paper).keys()


def test_identities_are_words_after_the_name_of_the_paper_and_differ() -> None:
    identities = [claim.id for *_, claim in CLAIMS]
    assert len(set(identities)) == len(identities)
    for paper, _, claim in CLAIMS:
        assert re.fullmatch(rf"{paper}(-[a-z0-9]+)+", claim.id), claim.id


@every_paper
def test_claims_stand_in_short_modules_of_their_sections(paper: str) -> None:
    """A claim stands in the module of its section, which bears its number; modules that sections share have none."""
    for file, claims in modules(paper).items():
        lines = file.read_text().count("\n")
        assert lines <= LONGEST, f"{file} has {lines} lines"
        assert bool(claims) == bool(re.match(r"s\d", file.name)), f"{file} has {len(claims)} claims"
    assert sum(map(len, modules(paper).values())) == len(claims_of(paper)), "no claim is imported where it would count twice"


@every_paper
def test_what_claims_need_and_link_to_is_known(paper: str) -> None:
    figures = {f"figures/{figure.name}.svg" for each in papers() for figure in figures_of(each)}
    for table in needed_by_claims(paper):
        assert kind_of_table(table) in all_tables().values()
    for claim in claims_of(paper).values():
        if claim.link.endswith(".csv"):
            assert kind_of_table(claim.link.removesuffix(".csv")) in all_tables().values()
        else:
            assert claim.link in {"", *figures}, f"{claim.id} links to {claim.link}"


@pytest.mark.parametrize("claim", READING, ids=lambda claim: claim.id)
def test_a_table_of_the_wrong_kind_is_refused_with_one_sentence(claim: Claim, tmp_path: Path) -> None:
    for table in claim.needs:
        write_table(tmp_path / f"{table}.csv", [{"surprise": 1}])
    with pytest.raises(EpsilometerError) as caught:
        claim.measure(claim.evidence(tmp_path, seed=1))
    kinds = "|".join(re.escape(kind_of_table(table).name) for table in claim.needs)
    assert re.fullmatch(rf"{tmp_path}/\S+ has no column \w+; it is no table of ({kinds})", str(caught.value))
