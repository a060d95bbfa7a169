"""Each claim of section 6 measures from the tables that its `needs` name, and from all of them."""

from __future__ import annotations

import pkgutil
from importlib import import_module
from pathlib import Path

import pytest

from epsilometer.core import EpsilometerError
from epsilometer.papers.claim import Claim
from epsilometer.papers.nips08 import claims
from tests.papers.nips08.experiment_tables import measured

pytestmark = pytest.mark.slow

MODULES = [
    import_module(f"{claims.__name__}.{module.name}")
    for module in pkgutil.iter_modules(claims.__path__)
    if module.name.startswith("s6_")
]
CLAIMS = [claim for module in MODULES for claim in vars(module).values() if isinstance(claim, Claim)]


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.id)
def test_the_needs_are_what_is_read(claim: Claim, tables: Path, tmp_path: Path) -> None:
    for name in claim.needs:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / f"{name}.csv").symlink_to(tables / f"{name}.csv")
    assert measured(claim, tmp_path) == measured(claim, tables)
    for name in claim.needs:
        (tmp_path / f"{name}.csv").unlink()
        with pytest.raises(EpsilometerError, match=Path(name).name):
            measured(claim, tmp_path)
        (tmp_path / f"{name}.csv").symlink_to(tables / f"{name}.csv")
