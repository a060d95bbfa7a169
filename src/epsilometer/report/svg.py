"""SVG figures as elements of the page: with short coordinates, unique ids, and colours that follow the theme."""

from __future__ import annotations

import colorsys
import re
from dataclasses import dataclass, field
from html import escape

FONTS = "'DejaVu Sans', 'Verdana', 'Arial', sans-serif"


@dataclass(frozen=True)
class Figures:
    """The figures of one page, with the styles that they share."""

    styles: dict[str, str] = field(default_factory=dict)
    ids: dict[tuple[int, str], str] = field(default_factory=dict)
    taken: list[str] = field(default_factory=list)

    def inline(self, text: str, description: str) -> str:
        """A figure written by matplotlib as an element of the page, with a description for screen readers."""
        self.taken.append(description)
        body = re.sub(r"<!--.*?-->|<metadata>.*?</metadata>|<defs>\s*<style.*?</defs>", "", text, flags=re.DOTALL)
        opening = re.search(r'<svg[^>]* viewBox="([\d. ]+)"[^>]*>', body)
        if not opening:
            raise ValueError("the figure has no view box")
        inside = re.sub(r"<[^>]+>", lambda tag: self._tag(tag[0]), body[opening.end() :])
        inside = re.sub(r"\s*\n\s*", "", inside)
        referred = set(re.findall(r"#(f\d+-\d+)", inside))
        inside = re.sub(r' id="([^"]+)"', lambda found: found[0] if found[1] in referred else "", inside)
        width = opening[1].split()[2]
        head = f'<svg class="figure" role="img" aria-label="{escape(description)}" viewBox="{opening[1]}"'
        return f'{head} style="--width: {width}">{inside}'.replace("<g></g>", "")

    def _tag(self, tag: str) -> str:
        """A tag with shorter coordinates, an id that is unique on the page, and a class instead of its style."""
        tag = re.sub(r"\s+", " ", tag).replace("xlink:", "")
        tag = re.sub(r'(id="|href="#|url\(#)([^")]+)', lambda found: found[1] + self._id(found[2]), tag)
        tag = re.sub(r'style="([^"]*)"', lambda found: f'class="{self._class(found[1])}"', tag)
        return re.sub(r"-?\d+\.\d{2,}", lambda number: f"{float(number[0]):.1f}".removesuffix(".0"), tag)

    def _id(self, name: str) -> str:
        return self.ids.setdefault((len(self.taken), name), f"f{len(self.taken)}-{len(self.ids)}")

    def _class(self, style: str) -> str:
        return self.styles.setdefault(style, f"s{len(self.styles)}")

    @property
    def css(self) -> str:
        """The styles of all figures, for both themes."""
        return "\n".join(f".{name} {{ {_themed_style(style)} }}" for style, name in self.styles.items())


def _themed_style(style: str) -> str:
    style = style.replace(FONTS, "var(--figure-font)")
    return re.sub(r"#[0-9a-f]{6}\b", lambda colour: _themed_colour(colour[0]), style)


def _themed_colour(colour: str) -> str:
    return "var(--paper)" if colour == "#ffffff" else f"light-dark({colour}, {_dark_variant(colour)})"


def _dark_variant(colour: str) -> str:
    """The colour for the dark theme: the same hue and saturation with inverted lightness."""
    red, green, blue = (int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5))
    hue, lightness, saturation = colorsys.rgb_to_hls(red, green, blue)
    turned = colorsys.hls_to_rgb(hue, min(0.92, max(0.16, 1 - lightness)), saturation)
    return "#" + "".join(f"{round(255 * part):02x}" for part in turned)
