"""What MkDocs does beyond its plugins: formulas without a script, the pages of a folder, links into the repository.

Formulas stand between dollars in the Markdown, as GitHub shows them. Arithmatex finds them, and here they become MathML,
which browsers display by themselves: the site needs no script and no font from another host.
"""

from __future__ import annotations

import html
import re
from pathlib import Path
from typing import Any

from latex2mathml.converter import convert
from mkdocs.exceptions import PluginError

FORMULA = re.compile(r'<(span|div) class="arithmatex">\\[(\[](.*?)\\[)\]]</\1>', re.DOTALL)
LINK = re.compile(r"(!?)\[([^\]\[]*)\]\(([^)\s#]+)(#[^)\s]*)?\)")
FENCE = re.compile(r"^(```.*?^```[^\S\n]*$)", re.DOTALL | re.MULTILINE)


def on_config(config: Any) -> Any:
    """Let an entry of the navigation that ends with a slash stand for every page of that folder, its index first."""
    config.nav = _expanded(config.nav, Path(config["docs_dir"]))
    return config


def _expanded(entry: Any, docs: Path) -> Any:
    if isinstance(entry, list):
        return [_expanded(each, docs) for each in entry]
    if isinstance(entry, dict):
        return {title: _expanded(each, docs) for title, each in entry.items()}
    if not entry.endswith("/"):
        return entry
    pages = sorted((docs / entry).glob("*.md"), key=lambda page: (page.stem != "index", page.stem))
    if not pages:
        raise PluginError(f"the navigation names the folder {entry}, which has no pages")
    return [page.relative_to(docs).as_posix() for page in pages]


def on_page_markdown(markdown: str, page: Any, config: Any, **_: Any) -> str:
    """Replace a link to a file of the repository that is no page by its text: such a link works in the repository only."""
    here, docs = Path(page.file.abs_src_path).parent, Path(config["docs_dir"])

    def text_of(link: re.Match[str]) -> str:
        image, text, target, _ = link.groups()
        if image or "://" in target or target.startswith("mailto:"):
            return link[0]
        path = (here / target).resolve()
        published = path.is_relative_to(docs) and (path.suffix == ".md" or path.suffix in {".svg", ".png"})
        return link[0] if published or not path.exists() else text

    parts = FENCE.split(markdown)
    return "".join(part if part.startswith("```") else LINK.sub(text_of, part) for part in parts)


def on_page_content(content: str, page: Any, **_: Any) -> str:
    """Replace every formula by MathML."""

    def mathml(formula: re.Match[str]) -> str:
        source = html.unescape(formula[2]).strip()
        return mathml_of(source, formula[1] == "div", page.file.src_uri)

    return FORMULA.sub(mathml, content)


def mathml_of(source: str, display: bool, place: str) -> str:
    """The MathML of a formula in LaTeX; a command that the converter does not know is an error."""
    result = convert(source, display="block" if display else "inline")
    unknown = re.search(r"\\[A-Za-z]+", html.unescape(result))
    if unknown:
        raise PluginError(f"{place}: the formula {source!r} has the command {unknown[0]}, which cannot be converted")
    return result.replace("<math ", f'<math alttext="{html.escape(source)}" ', 1)
