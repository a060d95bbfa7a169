"""The page of public names has all of them."""

from __future__ import annotations

import re

import pytest

import epsilometer
from tests.docs.pages import DOCS

PAGE = (DOCS / "api.md").read_text()


@pytest.mark.parametrize("name", epsilometer.__all__)
def test_each_public_name_is_in_the_table(name: str) -> None:
    table = "\n".join(line for line in PAGE.splitlines() if line.startswith("|"))
    assert re.search(rf"`{name}[`(]", table)
