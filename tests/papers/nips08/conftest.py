"""Tables of section 6's experiments, written once for all tests of its claims."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.papers.nips08.experiment_tables import write_tables


@pytest.fixture(scope="package")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("experiments_of_nips08")
    write_tables(folder)
    return folder
