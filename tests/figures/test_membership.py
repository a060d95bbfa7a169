"""The figures of membership inference: one for each mechanism and one for all, with what the tables say, always alike."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pytest

from epsilometer.core import EpsilometerError
from epsilometer.figures import membership as figures
from epsilometer.figures.membership import LOOKS, ROC_CAPTION, UTILITY_CAPTION, membership_figures, roc_figure
from epsilometer.figures.style import BEYOND, WITHIN
from epsilometer.membership.attacked import ATTACKS
from epsilometer.membership.batched import MECHANISMS
from epsilometer.membership.rows import MEMBERSHIP, ROC
from epsilometer.membership.targets import TARGETS
from tests.rows import write_rows

pytestmark = pytest.mark.slow

NAMES = ("separable", "small")
RATES = (0.001, 0.01, 0.1, 1.0)


def write_tables(folder: Path, certified: float = 0.25) -> tuple[list[Path], list[Path]]:
    """Tables of two data sets: curves on the diagonal, and one mechanism for which an epsilon of `certified` is found."""
    tables: list[Path] = []
    curves: list[Path] = []
    for name in NAMES:
        keys = [
            {"dataset": name, "target": target, "mechanism": mechanism, "attack": attack}
            for target in TARGETS
            for mechanism in MECHANISMS
            for attack in ATTACKS
        ]
        rows = [key | _found(key, certified) for key in keys]
        points = [key | _point(key, rate) for key in keys for rate in RATES]
        tables.append(write_rows(MEMBERSHIP, folder / f"rows/{name}.csv", rows))
        curves.append(write_rows(ROC, folder / f"roc/{name}.csv", points))
    return tables, curves


def _found(key: dict[str, str], certified: float) -> dict[str, float]:
    private = key["mechanism"] != "non_private_logistic"
    worst = (key["mechanism"], key["attack"], key["target"]) == ("naive_bayes", "optimal", "outlier")
    error = {"average": 0.2, "most exposed": 0.3, "outlier": 0.4}[key["target"]]
    promise = 1.0 if private else np.nan
    found = {"certified": certified if worst else 0.125, "test_error": error, "nonprivate_test_error": 0.05}
    return {"promised": promise, "n": 20, "lam": 0.01} | found


def _point(key: dict[str, str], rate: float) -> dict[str, float]:
    allowed = np.nan if key["mechanism"] == "non_private_logistic" else min(1.0, 2.7 * rate)
    return {"fpr": rate, "tpr": rate, "low": rate / 2, "high": min(1.0, 2 * rate), "allowed": allowed}


def draw(folder: Path, certified: float = 0.25) -> None:
    tables, curves = write_tables(folder, certified)
    membership_figures(tables, roc=curves, folder=folder)


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The drawings by file name, kept instead of written."""
    kept: dict[str, Any] = {}
    monkeypatch.setattr(figures, "save", lambda drawing, path: kept.update({path.name: drawing}))
    return kept


def test_every_attack_has_a_look() -> None:
    assert LOOKS.keys() == ATTACKS.keys()
    assert len({str(sorted(look.items(), key=str)) for look in LOOKS.values()}) == len(LOOKS)


def test_there_is_a_figure_for_each_mechanism_and_one_for_all(tmp_path: Path) -> None:
    tables, curves = write_tables(tmp_path)
    for folder in ("one", "two"):
        membership_figures(tables, roc=curves, folder=tmp_path / folder)
    captions = {roc_figure(mechanism): ROC_CAPTION for mechanism in MECHANISMS} | {"membership_utility": UTILITY_CAPTION}
    assert {path.name for path in (tmp_path / "one").glob("*.svg")} == {f"{name}.svg" for name in captions}
    assert {path.stem: path.read_text().strip() for path in (tmp_path / "one").glob("*.rst")} == captions
    assert len(list((tmp_path / "one").iterdir())) == 2 * len(captions)
    for name in (f"{name}.svg" for name in captions):
        drawn = (tmp_path / "one" / name).read_text()
        assert drawn.startswith("<?xml")
        assert drawn == (tmp_path / "two" / name).read_text()


@pytest.mark.parametrize("mechanism", ["non_private_logistic", "naive_bayes"])
def test_a_roc_has_every_attack_and_what_the_promise_allows(tmp_path: Path, drawn: dict[str, Any], mechanism: str) -> None:
    draw(tmp_path)
    drawing = drawn[f"membership_roc_{mechanism}.svg"]
    panels = drawing.axes
    assert len(panels) == len(TARGETS) * len(NAMES)
    for panel in panels:
        assert panel.get_xscale() == panel.get_yscale() == "log"
        assert len(panel.lines) == 1 + len(ATTACKS)
        for line in panel.lines[1:]:
            assert np.allclose(line.get_xydata(), np.column_stack([RATES, RATES]))
        region, *bands = panel.collections
        heights = region.get_paths()[0].vertices
        assert heights[:, 1].max() == 1.0
        at_least_rate = heights[np.isclose(heights[:, 0], RATES[0])][:, 1].max()
        assert at_least_rate == pytest.approx(1.0 if mechanism == "non_private_logistic" else 2.7 * RATES[0])
        assert len(bands) == len(figures.BANDS)
        assert bands[0].get_paths()[0].vertices[:, 1].min() == pytest.approx(RATES[0] / 2)
    for row, target in enumerate(TARGETS.values()):
        assert panels[row * len(NAMES)].get_ylabel().startswith(target)
    assert panels[1].get_title().startswith("Few records")
    labels = {text.get_text() for text in drawing.legends[0].get_texts()}
    assert set(ATTACKS.values()) < labels
    plt.close("all")


@pytest.mark.parametrize(("certified", "colour"), [(0.25, WITHIN), (1.5, BEYOND)])
def test_the_largest_bound_stands_beside_the_promise_and_the_errors(
    tmp_path: Path, drawn: dict[str, Any], certified: float, colour: tuple[float, ...]
) -> None:
    draw(tmp_path, certified)
    left, right = drawn["membership_utility.svg"].axes[:2]
    bars = {round(bar.get_y() + bar.get_height() / 2): bar for bar in right.patches}
    assert len(bars) == len(MECHANISMS)
    place = -list(MECHANISMS).index("naive_bayes")
    assert bars[place].get_width() == certified
    assert bars[place].get_facecolor()[:3] == pytest.approx(colour)
    assert {bar.get_width() for height, bar in bars.items() if height != place} == {0.125}
    promises = [line.get_xdata()[0] for line in right.lines]
    assert promises == [1.0] * (len(MECHANISMS) - 1)
    errors = {round(float(line.get_xdata()[0]), 6) for line in left.lines if line.get_marker() == "o"}
    assert errors == {0.05, 0.3}, "without noise, and the mean over the targets"
    assert [text.get_text() for text in left.get_yticklabels()] == [each.title for each in MECHANISMS.values()]
    plt.close("all")


def test_another_kind_of_table_is_refused(tmp_path: Path) -> None:
    tables, curves = write_tables(tmp_path)
    no_attacks = f"{curves[0]} has no column promised; it is no table of membership/{{dataset}}"
    no_points = f"{tables[0]} has no column fpr; it is no table of membership/roc/{{dataset}}"
    for first, second, words in ((curves, curves, no_attacks), (tables, tables, no_points)):
        with pytest.raises(EpsilometerError, match=f"^{re.escape(words)}$"):
            membership_figures(first, roc=second, folder=tmp_path / "figures")
    assert not (tmp_path / "figures").exists()
