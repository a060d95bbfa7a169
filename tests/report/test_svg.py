"""Figures as parts of a page: whole, apart from each other, and in colours of either theme."""

from __future__ import annotations

import re
from pathlib import Path

import matplotlib.pyplot as plt
import pytest

from epsilometer.figures.style import figure, save
from epsilometer.report.svg import Figures


@pytest.fixture
def text(tmp_path: Path) -> str:
    """A figure with a clipped line, markers, text and a caption of digits that must not be rounded."""
    drawing, panels = figure(1, 1, 2.0)
    panels[0, 0].plot([0, 1, 2], [0, 1, 4], "o-", color="#0173b2", label="0.123456789 of all")
    panels[0, 0].plot([0, 2], [4, 0], "D", color="black")
    panels[0, 0].legend()
    save(drawing, tmp_path / "a.svg")
    plt.close("all")
    return (tmp_path / "a.svg").read_text()


def test_it_keeps_the_drawing_and_its_words(text: str) -> None:
    inlined = Figures().inline(text, "A line that rises.")
    assert inlined.startswith('<svg class="figure" role="img" aria-label="A line that rises." viewBox=')
    assert inlined.endswith("</svg>")
    for element in ("path", "use", "text"):
        assert len(re.findall(f"<{element}[ >]", inlined)) == len(re.findall(f"<{element}[ >\n]", text))
    assert "0.123456789 of all" in inlined
    assert len(inlined) < len(text)
    assert not re.search(r"<!--|<metadata|xmlns|<\?xml|style=\"(?!--width)", inlined)


def test_a_description_cannot_leave_its_attribute(text: str) -> None:
    assert 'aria-label="&quot;&gt;&lt;script&gt; &amp;"' in Figures().inline(text, '"><script> &')


def test_coordinates_move_by_less_than_a_tenth_of_a_point(text: str) -> None:
    numbers = [[float(number) for path in re.findall(r' d="([^"]+)"', each) for number in re.findall(r"-?[\d.]+", path)]
               for each in (text, Figures().inline(text, "x"))]  # fmt: skip
    assert len(numbers[0]) == len(numbers[1]) > 20
    assert max(abs(one - other) for one, other in zip(*numbers, strict=True)) <= 0.0501


def test_two_figures_of_a_page_share_styles_but_no_names(text: str) -> None:
    figures = Figures()
    one, other = figures.inline(text, "one"), figures.inline(text, "other")
    ids = [set(re.findall(r' id="([^"]+)"', each)) for each in (one, other)]
    assert ids[0]
    assert not ids[0] & ids[1]
    for each, own in zip((one, other), ids, strict=True):
        assert set(re.findall(r'(?:href="#|url\(#)([^")]+)', each)) == own, "what is referred to is there, and nothing else"
    assert (
        set(re.findall(r'class="(s\d+)"', one)) == set(re.findall(r'class="(s\d+)"', other)) == set(figures.styles.values())
    )


def test_every_colour_has_a_counterpart_on_a_dark_page(text: str) -> None:
    figures = Figures()
    figures.inline(text, "x")
    colours = re.findall(r"#[0-9a-f]{6}", figures.css)
    pairs = re.findall(r"light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)", figures.css)
    assert len(colours) == 2 * len(pairs) > 0
    assert all(light != dark for light, dark in pairs)
    assert "#ffffff" not in figures.css, "white is the colour of the page"


def test_what_is_no_figure_is_refused() -> None:
    with pytest.raises(ValueError, match="no view box"):
        Figures().inline("<svg></svg>", "x")
