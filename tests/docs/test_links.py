"""Every link between the pages and into the repository leads somewhere."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.docs.pages import DOCS, PAGES, ROOT, anchors, links, name_of


def broken(page: Path, text: str) -> list[str]:
    """The relative links of a page whose file, or whose heading in it, does not exist."""
    found = []
    for link in links(text):
        if "://" in link or link.startswith("mailto:"):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        there = text if target == page else target.read_text() if anchor and target.is_file() else ""
        if not (target.is_relative_to(ROOT) and target.exists()) or (anchor and anchor not in anchors(there)):
            found.append(link)
    return found


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_link_resolves(page: Path) -> None:
    assert broken(page, page.read_text()) == []


def test_broken_links_are_noticed() -> None:
    page = DOCS / "index.md"
    text = "# A heading\n[a](nowhere.md) [b](#a-heading) [c](#no-heading) [d](concepts.md#nothing) `[e](code.md)` [f](https://x.org)"
    assert broken(page, text) == ["nowhere.md", "#no-heading", "concepts.md#nothing"]


def test_every_page_is_reached_from_the_readme_or_the_index() -> None:
    """A page that nothing links to is found in the site's navigation only, and not by a reader of the repository."""
    waiting, reached = [ROOT / "README.md", DOCS / "index.md"], set()
    while waiting:
        page = waiting.pop()
        if page in reached or page.suffix != ".md" or not page.is_file():
            continue
        reached.add(page)
        waiting += [
            (page.parent / link.partition("#")[0]).resolve() for link in links(page.read_text()) if "://" not in link
        ]
    assert [name_of(page) for page in PAGES if page not in reached] == []
