"""The figures of the mechanisms: bounds at their places, losses as they are tabulated, and one picture of all."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pytest

from epsilometer.auditors.registry import by_name
from epsilometer.core import EpsilometerError, write_table
from epsilometer.evidence.rows import AUDIT, PRIVACY_LOSS, VERDICTS
from epsilometer.figures import mechanisms as figures
from epsilometer.figures.mechanisms import MECHANISM_CAPTION, OVERVIEW_CAPTION, mechanism_figures
from epsilometer.figures.style import BEYOND, WITHIN
from tests.rows import write_rows

FOUND = [
    {"mechanism": "kept", "promised": 1.0, "auditor": "exact", "certified": 0.9, "event_high": math.nan},
    {"mechanism": "kept", "promised": 1.0, "auditor": "sampled", "certified": 0.6, "event_high": 0.95},
    {"mechanism": "kept", "promised": 1.0, "auditor": "sampled", "certified": 0.4, "event_high": 0.5},
    {"mechanism": "kept", "promised": 1.0, "auditor": "black box", "certified": 0.0, "event_high": 0.3},
    {"mechanism": "broken", "promised": 1.0, "auditor": "exact", "certified": math.inf, "event_high": math.nan},
    {"mechanism": "broken", "promised": 0.1, "auditor": "exact", "certified": 0.2, "event_high": math.nan},
]
BOUNDS = {"sampled_curve": math.nan, "sampled": 0.6, "black_box": 0.0, "one_run": math.nan}
DECIDED = [
    {"mechanism": "kept", "promised": 1.0, "exact": 0.9, "verdict": "tight"} | BOUNDS | {"one_run": 1.1},
    {"mechanism": "broken", "promised": 1.0, "exact": math.inf, "verdict": "violated"} | BOUNDS,
    {"mechanism": "broken", "promised": 0.1, "exact": 0.2, "verdict": "violated"} | BOUNDS,
    {"mechanism": "sampled", "promised": 1.0, "exact": math.nan, "verdict": "violated"} | BOUNDS | {"black_box": 3.0},
    {"mechanism": "another pair", "promised": 1.0, "exact": 0.5, "verdict": "violated"} | BOUNDS | {"sampled": 2.0},
]


def loss(value: float, first: float, second: float, method: str) -> dict[str, Any]:
    row = {"mechanism": "kept", "promised": 1.0, "loss": value, "probability_first": first, "probability_second": second}
    return row | {"delta": max(0.0, first - math.exp(min(value, 10)) * second), "method": method}


ATOMS = [loss(*values, "enumerated") for values in ((-1.0, 1.0, 1.0), (1.0, 0.7, 0.25), (math.inf, 0.01, 0.0))]


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The drawings by file name, kept instead of written."""
    kept: dict[str, Any] = {}
    monkeypatch.setattr(figures, "save", lambda drawing, path: kept.update({path.name: drawing}))
    return kept


def draw(folder: Path, losses: list[dict[str, Any]] = ATOMS) -> None:
    audits = write_rows(AUDIT, folder / "audit.csv", FOUND)
    verdicts = write_rows(VERDICTS, folder / "verdicts.csv", DECIDED)
    curves = write_rows(PRIVACY_LOSS, folder / "losses.csv", losses)
    mechanism_figures([audits], verdicts=verdicts, losses=curves, folder=folder / "figures")
    plt.close("all")


def points_of(panel: Any, auditor: str) -> list[tuple[float, float]]:
    """Where the bounds of an auditor are drawn."""
    return points(panel, by_name()[auditor].marker)


def points(panel: Any, marker: str) -> list[tuple[float, float]]:
    """Where single markers of a kind are drawn."""
    lines = [line for line in panel.lines if line.get_marker() == marker and len(line.get_xdata()) == 1]
    return [(float(line.get_xdata()[0]), float(line.get_ydata()[0])) for line in lines]


def test_there_is_a_figure_for_each_mechanism_and_one_for_all_always_alike(tmp_path: Path) -> None:
    for folder in ("one", "two"):
        draw(tmp_path / folder)
    captions = {"kept.rst": MECHANISM_CAPTION, "broken.rst": MECHANISM_CAPTION, "overview.rst": OVERVIEW_CAPTION}
    names = {path.name for path in (tmp_path / "one/figures").iterdir()}
    assert names == {"kept.svg", "broken.svg", "overview.svg"} | captions.keys()
    assert {name: (tmp_path / "one/figures" / name).read_text().strip() for name in captions} == captions
    for name in names:
        assert (tmp_path / "one/figures" / name).read_text() == (tmp_path / "two/figures" / name).read_text()


def test_each_auditor_has_its_best_bound_with_the_interval_of_its_event(tmp_path: Path, drawn: dict[str, Any]) -> None:
    draw(tmp_path)
    panel = drawn["kept.svg"].axes[0]
    assert [height for _, height in points_of(panel, "exact")] == [0.9]
    assert [height for _, height in points_of(panel, "sampled")] == [0.6]
    intervals = [line.get_ydata() for line in panel.lines if len(set(line.get_xdata())) == 1 and len(line.get_xdata()) == 2]
    assert [list(ends) for ends in intervals] == [[0.6, 0.95]]
    ((_, nothing),) = points_of(panel, "black box")
    assert nothing == panel.get_ylim()[0], "a bound of 0 stands at the lower edge"


def test_an_infinite_value_stands_at_the_upper_edge(tmp_path: Path, drawn: dict[str, Any]) -> None:
    draw(tmp_path)
    panel = drawn["broken.svg"].axes[0]
    assert [height for _, height in points(panel, "^")] == [panel.get_ylim()[1]]
    assert "$\\infty$" in {text.get_text() for text in panel.texts}
    assert len(drawn["broken.svg"].axes) == 1, "it has no table of losses"


def test_atoms_are_drawn_as_steps_and_curves_as_lines(tmp_path: Path, drawn: dict[str, Any]) -> None:
    draw(tmp_path)
    first = drawn["kept.svg"].axes[1].lines[0]
    assert first.get_drawstyle() == "steps-pre", "P(loss >= x) is constant up to and at each atom"
    assert list(first.get_xdata())[1:4] == [-1.0, 1.0, 1.0]
    assert list(first.get_ydata()) == [1.0, 1.0, 0.7, 0.01, 0.01], "beyond the last atom only infinite losses are left"
    curve = [loss(value, (1 - value) / 2, (1 - value) / 4, "integrated") for value in np.linspace(-1, 1, 9).tolist()]
    draw(tmp_path, curve)
    line = drawn["kept.svg"].axes[1].lines[0]
    assert line.get_drawstyle() == "default"
    assert np.allclose(line.get_ydata()[1:-2], [row["probability_first"] for row in curve])


def test_the_overview_trusts_an_exact_value_before_a_bound_that_may_exceed_it_by_chance(
    tmp_path: Path, drawn: dict[str, Any]
) -> None:
    draw(tmp_path)
    panel = drawn["overview.svg"].axes[0]
    heights = {}
    for line in panel.lines:
        if line.get_linestyle() == "None":
            heights[tuple(line.get_color())] = sorted(np.asarray(line.get_ydata(), dtype=float).tolist())
    assert heights[tuple(WITHIN)] == [0.9]
    assert heights[tuple(BEYOND)] == [0.2, 2.0, 3.0, panel.get_ylim()[1]]
    labels = {text.get_text() for text in drawn["overview.svg"].legends[0].get_texts()}
    assert {"kept, as far as was found: 1", "violated: 4"} <= labels


def test_another_kind_of_table_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    write_table(path, [{"mechanism": "kept"}])
    with pytest.raises(EpsilometerError, match=r"has no column broken; it is no table of audit/\{family\}$"):
        mechanism_figures([path], verdicts=path, losses=path, folder=tmp_path / "figures")
    audits = write_rows(AUDIT, tmp_path / "audit.csv", FOUND)
    with pytest.raises(EpsilometerError, match=r"has no column loss; it is no table of privacy_loss/\{part\}$"):
        mechanism_figures([audits], verdicts=path, losses=audits, folder=tmp_path / "figures")
    assert not (tmp_path / "figures").exists()
