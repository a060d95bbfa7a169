"""The site builds without a warning, shows every formula, and asks no other host for anything."""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from tests.docs.pages import DOCS, ROOT

RESOURCES = {"script": "src", "img": "src", "iframe": "src", "source": "src", "video": "src", "audio": "src", "embed": "src"}
"""Elements that load what they refer to, by the attribute that says what."""
LOADED_LINKS = {"stylesheet", "preload", "prefetch", "preconnect", "dns-prefetch", "modulepreload", "icon", "manifest"}
ELSEWHERE = re.compile(r"^(?:[a-z]+:)?//", re.IGNORECASE)
IN_STYLE = re.compile(r"(?:url\(\s*['\"]?|@import\s+['\"])((?:[a-z]+:)?//[^'\")\s]+)", re.IGNORECASE)


class Resources(HTMLParser):
    """Collects what a page loads from other hosts."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        loaded = [values.get(RESOURCES.get(tag, ""), ""), values.get("srcset", "")]
        if tag == "link" and LOADED_LINKS & set(values.get("rel", "").split()):
            loaded.append(values.get("href", ""))
        self.found += [target for target in loaded if ELSEWHERE.match(target)]
        self.found += IN_STYLE.findall(values.get("style", ""))


def requests_of(text: str) -> list[str]:
    """What a page or a style sheet would ask other hosts for."""
    parser = Resources()
    parser.feed(text)
    return parser.found + IN_STYLE.findall(text)


def build(root: Path, site: Path) -> subprocess.CompletedProcess[str]:
    """Build the site of a copy of the repository; with --quiet, warnings would not count as errors."""
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(site)]
    return subprocess.run(command, cwd=root, capture_output=True, text=True)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    done = build(ROOT, folder)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


@pytest.fixture(scope="module")
def hooks() -> Any:
    spec = importlib.util.spec_from_file_location("hooks", DOCS / "assets" / "hooks.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.slow
def test_the_site_asks_no_other_host(site: Path) -> None:
    files = [*site.rglob("*.html"), *site.rglob("*.css")]
    assert len(files) > 10
    asked = {path.relative_to(site).as_posix(): requests_of(path.read_text()) for path in files}
    assert {page: found for page, found in asked.items() if found} == {}


@pytest.mark.slow
def test_every_formula_is_converted(site: Path) -> None:
    pages = {path: path.read_text() for path in site.rglob("*.html")}
    assert [path.name for path, text in pages.items() if 'class="arithmatex"' in text] == []
    assert sum(text.count("<math ") for text in pages.values()) > 20


@pytest.mark.slow
def test_every_page_is_in_the_navigation(site: Path) -> None:
    index = (site / "index.html").read_text()
    pages = [page.relative_to(DOCS).with_suffix(".html").as_posix() for page in DOCS.rglob("*.md")]
    assert [page for page in pages if f'href="{page}"' not in index and page != "index.html"] == []


@pytest.mark.slow
@pytest.mark.parametrize(
    "flaw", ["[gone](nowhere.md)", "[gone](#nowhere)", r"$\unheard{x}$", "::: epsilometer.core.nouns.Nothing"]
)
def test_a_flaw_in_a_page_stops_the_build(flaw: str, tmp_path: Path) -> None:
    """On a site of one page with the settings of the whole one; without the flaw it builds."""
    shutil.copytree(DOCS / "assets", tmp_path / "docs" / "assets")
    shutil.copytree(ROOT / "src" / "epsilometer" / "core", tmp_path / "src" / "epsilometer" / "core")
    (tmp_path / "src" / "epsilometer" / "__init__.py").touch()
    settings = (ROOT / "mkdocs.yml").read_text().partition("\nnav:")[0]
    (tmp_path / "mkdocs.yml").write_text(f"{settings}\nnav: [index.md]\n")
    page = tmp_path / "docs" / "index.md"
    page.write_text("# A page\n\n$x$ [here](#a-page)\n\n::: epsilometer.core.nouns.Guarantee\n")
    done = build(tmp_path, tmp_path / "site")
    assert done.returncode == 0, done.stdout + done.stderr
    page.write_text(page.read_text() + f"\n{flaw}\n")
    assert build(tmp_path, tmp_path / "site").returncode != 0


@pytest.mark.parametrize(
    "text",
    [
        '<script src="https://cdn.example/x.js"></script>',
        '<link rel="stylesheet" href="//fonts.example/css">',
        '<img src="http://example.org/x.png">',
        "<style>@import 'https://example.org/x.css';</style>",
        '<p style="background: url(https://example.org/x.png)">',
    ],
)
def test_requests_to_other_hosts_are_noticed(text: str) -> None:
    assert len(requests_of(text)) >= 1


def test_links_to_papers_are_no_requests() -> None:
    assert requests_of('<a href="https://doi.org/10.1/x">a paper</a><link rel="canonical" href="https://x.org">') == []


def test_formulas_become_mathml(hooks: Any) -> None:
    page = type("Page", (), {"file": type("File", (), {"src_uri": "page.md"})})
    shown = hooks.on_page_content(r'<p><span class="arithmatex">\(e^\varepsilon &lt; 2\)</span></p>', page)
    assert "arithmatex" not in shown
    assert "<msup><mi>e</mi><mi>&#x003B5;</mi></msup>" in shown
    assert 'display="block"' in hooks.on_page_content('<div class="arithmatex">\\[x\\]</div>', page)


def test_a_formula_that_cannot_be_shown_is_an_error(hooks: Any) -> None:
    with pytest.raises(hooks.PluginError, match=r"page\.md: .*\\unheard"):
        hooks.mathml_of(r"\unheard{x}", False, "page.md")


def test_links_into_the_repository_are_text_in_the_site(hooks: Any) -> None:
    page = type("Page", (), {"file": type("File", (), {"abs_src_path": str(DOCS / "index.md")})})
    markdown = "[code](../pyproject.toml) [page](concepts.md) [gone](../nothing.py) [web](https://x.org)\n```\n[a](../README.md)\n```\n"
    shown = hooks.on_page_markdown(markdown, page, {"docs_dir": str(DOCS)})
    assert shown == markdown.replace("[code](../pyproject.toml)", "code")
