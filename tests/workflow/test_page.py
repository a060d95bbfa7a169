"""The page of a finished run in a real browser, and the page of a run in which a job fails."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page

from epsilometer.figures.mechanisms import MECHANISM_CAPTION, OVERVIEW_CAPTION
from epsilometer.figures.membership import ROC_CAPTION, UTILITY_CAPTION
from epsilometer.mechanisms.catalogue import catalogue
from epsilometer.papers.registry import claims_of, figures_of, papers, sources
from tests.browser import LAPTOP, PAPER, PHONE, launched, opened
from tests.tables import read_table
from tests.workflow.conftest import Project, write_own

pytestmark = pytest.mark.slow

LARGEST = 8_000_000


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with launched() as browser:
        yield browser


@pytest.fixture
def file(finished: Project) -> Path:
    return finished.folder / "reports/quick.html"


@pytest.fixture
def page(browser: Browser, file: Path) -> Iterator[Page]:
    """The page on a laptop; whatever a test does with it, it must not make the browser complain."""
    window = opened(browser, file)
    yield window.page
    assert window.complaints == []
    window.page.context.close()


def test_it_is_one_file_that_asks_for_nothing(browser: Browser, file: Path) -> None:
    assert file.stat().st_size < LARGEST
    window = opened(browser, file)
    assert window.complaints == []
    assert window.requests == [file.as_uri()]


def test_the_first_screen_counts_what_the_tables_hold(page: Page, finished: Project) -> None:
    results = finished.folder / "results/quick"
    ledger = [row for source in sources() for row in read_table(results / f"ledger/{source}.csv")]
    verdicts = read_table(results / "verdicts/catalogue.csv")
    assert f"{len(ledger)} claims of 5 sources" in page.locator(".lead").inner_text()
    for label, rows, column in (("Claims by verdict", ledger, "outcome"), ("Promises by verdict", verdicts, "verdict")):
        shown = [text.split("\n") for text in page.get_by_label(label).locator("a").all_inner_texts()]
        assert {name: int(count) for count, name in shown} == Counter(row[column] for row in rows)
    headlines = [row for row in ledger if row["headline"]]
    findings = page.locator(".findings li").all_inner_texts()
    assert len(findings) == len(headlines) + 3
    for row in headlines:
        assert any(row["outcome"] in text and row["evidence"] in text for text in findings), row["id"]


def ids(page: Page, selector: str) -> list[str]:
    return page.locator(selector).evaluate_all("elements => elements.map(element => element.id)")


def test_every_claim_and_every_mechanism_is_there(page: Page) -> None:
    claims = [claim.id for source in sources() for claim in claims_of(source).values()]
    assert sorted(ids(page, "tr[data-verdict]")) == sorted(claims)
    assert sorted(ids(page, "details.card")) == sorted(catalogue())
    assert page.get_by_text("This run is not complete").count() == 0


def test_every_figure_has_a_description_a_command_and_data(page: Page) -> None:
    figures = page.locator("figure").evaluate_all("""elements => elements.map(element => [
        element.querySelector("svg").getAttribute("aria-label"),
        element.querySelector("code").textContent,
        element.querySelectorAll("a[data-file]").length,
    ])""")
    assert len(figures) == 9 + 2 + 8 + len(catalogue())
    for description, command, files in figures:
        assert len(description) > 30
        assert command.startswith("snakemake --cores all --configfile config/quick.yaml -- results/quick/figures/")
        assert files > 0


def test_a_command_of_the_page_is_one_that_snakemake_understands(page: Page, finished: Project) -> None:
    command = page.locator("#nips08-figure2 code").first.text_content() or ""
    words = shlex.split(command)[1:]
    run = subprocess.run([sys.executable, "-m", "snakemake", "--dry-run", *words], cwd=finished.folder,
                         env=finished.environment, text=True, capture_output=True)  # fmt: skip
    assert run.returncode == 0, run.stderr
    assert "Nothing to be done" in run.stdout + run.stderr


def test_tables_sort_by_number_with_mouse_and_keyboard(page: Page) -> None:
    table = page.locator("#gallery-table table")
    header = table.get_by_role("columnheader", name="Spent")

    def values() -> list[float]:
        cells = table.locator("td[data-label=Spent]").all()
        return [float(cell.get_attribute("data-value") or "nan") for cell in cells]

    before = values()
    header.get_by_role("button").click()
    assert header.get_attribute("aria-sort") == "ascending"
    assert values() == sorted(before) != before
    header.get_by_role("button").focus()
    page.keyboard.press("Enter")
    assert header.get_attribute("aria-sort") == "descending"
    assert values() == sorted(before, reverse=True)
    names = table.get_by_role("columnheader", name="Mechanism")
    names.get_by_role("button").click()
    texts = table.locator("td[data-label=Mechanism]").all_inner_texts()
    assert texts == sorted(texts, key=str.lower)
    assert header.get_attribute("aria-sort") == "none"


def test_filters_hide_what_does_not_match(page: Page) -> None:
    form = page.get_by_role("search", name="Filter the claims")
    everything = page.locator("tr[data-verdict]:visible").count()
    form.get_by_label("Verdict").select_option("fails as printed")
    failing = page.locator("tr[data-verdict]:visible").count()
    assert 0 < failing < everything
    assert {row.get_attribute("data-verdict") for row in page.locator("tr[data-verdict]:visible").all()} == {
        "fails as printed"
    }
    assert form.locator("output").inner_text() == f"{failing} of {everything} shown"
    form.get_by_label("Source").select_option("nips08")
    form.get_by_label("Words").fill("THEOREM determinant-free nonsense")
    assert page.locator("tr[data-verdict]:visible").count() == 0
    form.get_by_label("Words").fill("theorem 2")
    shown = ids(page, "tr[data-verdict]:visible")
    assert "nips08-theorem-2" in shown
    assert all(name.startswith("nips08") for name in shown)


def test_a_count_leads_to_its_claims_and_a_link_opens_its_card(page: Page) -> None:
    page.get_by_label("Claims by verdict").get_by_text("underspecified").click()
    assert {row.get_attribute("data-verdict") for row in page.locator("tr[data-verdict]:visible").all()} == {
        "underspecified"
    }
    page.get_by_role("search", name="Filter the mechanisms").get_by_label("Kind").select_option("held to be correct")
    card = page.locator("#sparse_vector_5")
    assert not card.is_visible()
    page.locator('#gallery-table a[href="#sparse_vector_5"]').click()
    assert card.is_visible()
    assert card.get_attribute("open") is not None
    assert card.locator("svg").first.is_visible()


def test_the_theme_follows_the_system_and_the_button(browser: Browser, file: Path) -> None:
    colours = {}
    for scheme in ("light", "dark"):
        page = opened(browser, file, color_scheme=scheme).page
        look = "element => [getComputedStyle(document.body).backgroundColor, getComputedStyle(element).fill]"
        text = page.locator("#mechanisms-overview svg text").first
        colours[scheme] = text.evaluate(look)
        page.locator("#theme").click()
        colours[f"not {scheme}"] = text.evaluate(look)
        page.context.close()
    assert colours["light"] != colours["dark"]
    assert colours["not light"] == colours["dark"]
    assert colours["not dark"] == colours["light"]
    assert colours["light"][0] == "rgb(255, 255, 255)"


@pytest.mark.parametrize("name", ["verdicts/catalogue.csv", "membership/roc/small.csv"])
def test_a_table_in_the_page_is_the_table_of_the_run(page: Page, finished: Project, name: str) -> None:
    with page.expect_download() as download:
        page.locator(f'#every-table a[data-file="{name}"]').click()
    assert download.value.suggested_filename == name.replace("/", "_")
    assert Path(download.value.path()).read_bytes() == (finished.folder / "results/quick" / name).read_bytes()


def test_without_scripts_the_page_can_be_read(browser: Browser, file: Path) -> None:
    page = opened(browser, file, java_script_enabled=False).page
    assert page.locator("#nips08-theorem-2").is_visible()
    assert not page.locator("#theme").is_visible()
    link = page.locator('#every-table a[data-file="verdicts/catalogue.csv"]').get_attribute("href")
    assert link == "../results/quick/verdicts/catalogue.csv"
    page.context.close()


@pytest.mark.parametrize("width", [PHONE, LAPTOP])
def test_nothing_is_wider_than_the_window(browser: Browser, file: Path, width: int) -> None:
    page = opened(browser, file, width).page
    page.evaluate("document.querySelectorAll('details').forEach(details => { details.open = true; })")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    beyond = "[...document.querySelectorAll('main *')].filter(e => e.getBoundingClientRect().right > innerWidth + 1).length"
    assert page.evaluate(beyond) == 0
    page.context.close()


def test_on_a_phone_a_wide_figure_can_be_enlarged(browser: Browser, file: Path) -> None:
    page = opened(browser, file, PHONE).page
    page.locator("#nips08-figure2 .enlarge").click()
    assert page.locator("dialog svg").evaluate("element => element.getBoundingClientRect().width") > 2 * PHONE
    page.keyboard.press("Escape")
    assert not page.locator("dialog").is_visible()
    page.context.close()


def test_on_paper_it_is_light_and_has_no_controls(browser: Browser, file: Path) -> None:
    page = opened(browser, file, PAPER, color_scheme="dark").page
    page.emulate_media(media="print")
    assert page.evaluate("document.documentElement.scrollWidth") <= PAPER
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert not page.locator("header").is_visible()
    assert page.locator("button:visible").count() == 0
    assert page.pdf().startswith(b"%PDF")
    page.context.close()


@pytest.mark.parametrize(("width", "scheme"), [(LAPTOP, "light"), (PHONE, "dark")])
def test_axe_finds_nothing_to_complain_about(browser: Browser, file: Path, width: int, scheme: str) -> None:
    page = opened(browser, file, width, color_scheme=scheme).page
    page.evaluate("for (const id of ['laplace_count', 'naive_bayes']) document.getElementById(id).open = true")
    found = Axe().run(page)
    assert found.violations_count == 0, found.generate_report()
    page.context.close()


def test_snakemake_can_write_its_own_report(edited: Project) -> None:
    """One file, with the captions and categories of the rules' outputs; the quick configuration audits no library."""
    run = edited.snakemake("--report", "own.html")
    assert run.returncode == 0, run.stdout
    text = (edited.folder / "own.html").read_text()
    for category in ("Experiments", "Audits", "Attacks", "Claims"):
        assert f'"{category}"' in text
    captions = [MECHANISM_CAPTION, OVERVIEW_CAPTION, ROC_CAPTION, UTILITY_CAPTION]
    captions += [figure.caption for paper in papers() for figure in figures_of(paper)]
    for caption in captions:
        assert caption.split(",")[0].split("&")[0] in text.replace("\\n", " "), caption


def test_a_failed_job_is_shown_and_make_says_so(edited: Project, browser: Browser) -> None:
    """The quick run again, with data of one's own that are not fit: what stands on them is missing, the rest is there."""
    write_own(edited, "own.csv", factor=1.5)
    quick = yaml.safe_load((edited.folder / "config/quick.yaml").read_text())
    quick["extension"] |= {"datasets": [], "csv": "own.csv"}
    (edited.folder / "config/bad.yaml").write_text(yaml.safe_dump(quick))
    words = ["make", "--old-file=.venv/.ready", f"BIN={Path(sys.executable).parent}", "CONFIG=config/bad.yaml", "CORES=2"]
    run = subprocess.run(words, cwd=edited.folder, env=edited.environment, text=True, capture_output=True, timeout=600)
    assert run.returncode != 0
    assert "Some jobs failed: reports/quick.html shows what is missing, and why." in run.stdout + run.stderr
    window = opened(browser, edited.folder / "reports/quick.html")
    assert window.complaints == []
    assert "This run is not complete" in window.page.locator("main").inner_text()
    gaps = dict(row.split("\t") for row in window.page.locator("#gaps tbody tr").all_inner_texts())
    assert "record 1 has norm 1.5; scale the records by a public bound to at most 1" in gaps["dataset/own.csv"]
    assert gaps["error_summary/extension.csv"] == "its job did not run, because one before it failed"
    assert "verdicts/catalogue.csv" not in gaps
    assert window.page.locator("details.card").count() == len(catalogue())
    assert not re.search("breast_cancer", window.page.locator("#extension").inner_text()), "the earlier run's is not shown"
    window.page.context.close()
