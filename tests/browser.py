"""A real browser for the page. As a program, it takes the README's picture: python -m tests.browser PAGE PICTURE."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, sync_playwright

from tests.requirements import need_browser

PHONE, LAPTOP, PAPER = 390, 1280, 718  # 718 CSS pixels: A4 less two margins of 1 cm
QUIET = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]


@dataclass
class Opened:
    """A page in a window of its own, and what the browser has to say about it."""

    page: Page
    complaints: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)


@contextmanager
def launched() -> Iterator[Browser]:
    """A browser that is closed at the end."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=need_browser(), args=QUIET)
        yield browser
        browser.close()


def opened(browser: Browser, path: Path, width: int = LAPTOP, **options: Any) -> Opened:
    """A file in a window of this width."""
    context = browser.new_context(viewport={"width": width, "height": 900}, **options)
    window = Opened(context.new_page())
    window.page.on("console", lambda message: window.complaints.append(message.text))
    window.page.on("pageerror", lambda error: window.complaints.append(str(error)))
    window.page.on("requestfailed", lambda request: window.complaints.append(request.url))
    window.page.on("request", lambda request: window.requests.append(request.url))
    window.page.goto(path.as_uri())
    return window


if __name__ == "__main__":
    page, picture = map(Path, sys.argv[1:])
    with launched() as browser:
        opened(browser, page.resolve(), color_scheme="light").page.screenshot(path=picture)
