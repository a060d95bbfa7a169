"""The page is built from whatever a run left behind, and nothing that a table holds can break it."""

from __future__ import annotations

import base64
import gzip
import json
import math
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from epsilometer.cli import main
from epsilometer.evidence.rows import SECONDS, VERDICTS
from epsilometer.mechanisms.catalogue import catalogue
from epsilometer.membership.rows import MEMBERSHIP
from epsilometer.papers.ledger import LEDGER
from epsilometer.report.page import LARGEST_ATTACHMENT
from epsilometer.report.provenance import PROVENANCE
from tests.report.desk import ROW as PROMISE
from tests.report.test_findings import ATTACK, CLAIM
from tests.rows import write_rows

NASTY = "</script><script>alert(1)</script> & <b>"
NUMBERS = {"trials": 1000}
VOID = {"meta", "link", "br", "input", "hr", "img"}


class Balanced(HTMLParser):
    """A parser that checks that every element is closed in its turn, and that no name is given twice."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.ids += [value or "" for name, value in attrs if name == "id"]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        assert tag in VOID or self.open.pop() == tag


def built(folder: Path) -> str:
    """The page of these results, with its elements checked."""
    output = folder.parent / "page.html"
    assert main(["page", "--results", str(folder), "--page", str(output)]) == 0
    text = output.read_text()
    checked = Balanced()
    checked.feed(text)
    assert checked.open == []
    assert len(checked.ids) == len(set(checked.ids))
    return text


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    results = tmp_path / "results"
    results.mkdir()
    return results


def test_nothing_but_an_empty_folder_still_gives_a_page(folder: Path) -> None:
    text = built(folder)
    assert "This run is not complete" in text
    assert text.count('class="chip left-out"') > len(catalogue())
    for name in ("ledger/nips08.csv", "verdicts/catalogue.csv", "verdicts/libraries.csv", "provenance/run.csv"):
        assert f"<code>{name}</code>" in text


def test_words_of_a_table_stay_words(folder: Path) -> None:
    claim = CLAIM | {"statement": NASTY, "evidence": NASTY, "link": NASTY, "witness": "", "check": "x", "tolerances": NASTY}
    write_rows(LEDGER, folder / "ledger/nips08.csv", [claim])
    text = built(folder)
    assert "<script>alert" not in text
    assert text.count("&lt;script&gt;alert(1)") >= 3


def test_files_come_along_and_large_ones_stay_beside_it(folder: Path) -> None:
    write_rows(VERDICTS, folder / "verdicts/catalogue.csv", [PROMISE | NUMBERS])
    (folder / "dataset").mkdir()
    (folder / "dataset/large.csv").write_text("x\n" * (LARGEST_ATTACHMENT // 2 + 1))
    (folder / "quick/verdicts").mkdir(parents=True)
    (folder / "quick/verdicts/catalogue.csv").write_text("x\n1\n")
    text = built(folder)
    found = re.search(r'<script type="application/json" id="files">(.*?)</script>', text)
    assert found
    files = json.loads(found[1])
    assert set(files) == {"verdicts/catalogue.csv"}
    content = gzip.decompress(base64.b64decode(files["verdicts/catalogue.csv"]))
    assert content == (folder / "verdicts/catalogue.csv").read_bytes()
    assert '<a href="results/dataset/large.csv">dataset/large.csv</a> (beside the page)' in text
    assert "quick/verdicts" not in text, "the results of another configuration are not of this run"


def test_libraries_are_shown_with_what_was_found(folder: Path) -> None:
    found = {"mechanism": "diffprivlib_logistic_regression", "exact": math.nan, "black_box": 2.0, "verdict": "violated"}
    cheaper = PROMISE | found | {"promised": 0.5, "verdict": "tight"} | NUMBERS | {"trials": 77}
    write_rows(VERDICTS, folder / "verdicts/libraries.csv", [PROMISE | found | NUMBERS, cheaper])
    times = [(1.0, 0.25), (0.5, 0.5), (0.5, 1.0)]
    seconds = [{"mechanism": found["mechanism"], "promised": promised, "seconds": time} for promised, time in times]
    write_rows(SECONDS, folder / "benchmarks/auditors/diffprivlib_models.csv", seconds)
    text = built(folder)
    assert (
        "Of 2 such promises, 1 are found violated: diffprivlib_logistic_regression at epsilon = 1 spends at least 2" in text
    )
    section = text[text.index('id="libraries"') : text.index('id="reading"')]
    assert "<code>diffprivlib 0.6.6, models.LogisticRegression(data_norm=1)</code>" in section
    assert "The penalty leaves the intercept out" in section
    assert re.findall(r'data-label="Outputs drawn" class="number" data-value="(\d+)"', section) == ["1000", "77"]
    assert re.findall(r'data-label="Seconds" class="number" data-value="([\d.]+)"', section) == ["0.25", "1.5"]
    assert 'class="chip violated"' in section


def test_a_run_without_libraries_says_so(folder: Path) -> None:
    setting = {"kind": "setting", "name": "libraries.names", "value": "[]"}
    write_rows(PROVENANCE, folder / "provenance/run.csv", [setting])
    text = built(folder)
    assert "This run was configured to audit no third-party library" in text
    assert "verdicts/libraries.csv" not in text, "what was not asked for is not missing"


def test_a_card_shows_the_promise_that_its_verdict_is_about(folder: Path) -> None:
    rows = [PROMISE | {"exact": 0.9, "verdict": "tight"}, PROMISE | {"promised": 0.1, "exact": 0.3, "verdict": "violated"}]
    write_rows(VERDICTS, folder / "verdicts/catalogue.csv", [row | NUMBERS for row in rows])
    text = built(folder)
    card = text[text.index('id="laplace_count"') :]
    summary = card[: card.index("</summary>")]
    assert "promised 0.1, spends 0.3 (exact)" in summary
    assert 'class="chip violated"' in summary


def test_the_same_tables_give_the_same_bytes(folder: Path) -> None:
    attack = ATTACK | {"auc": 0.5, "test_error": 0.2, "nonprivate_test_error": 0.1}
    write_rows(MEMBERSHIP, folder / "membership/small.csv", [attack])
    assert built(folder) == built(folder)


def test_results_that_are_not_there_are_a_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["page", "--results", str(tmp_path / "none"), "--page", str(tmp_path / "page.html")]) == 1
    assert capsys.readouterr().err.startswith("epsilometer: there is no folder")
    assert not (tmp_path / "page.html").exists()
