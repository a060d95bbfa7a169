"""The slide 'Experiments': Figure 1 of nips08, with the same numbers, so each claim is nips08's at another place."""

from __future__ import annotations

from epsilometer.papers.nips08.claims import s6_1_figure_1_means as means
from epsilometer.papers.nips08.claims import s6_2_figure_1_spreads as spreads
from epsilometer.papers.slides08.claims.repeated import repeated

SLIDE = "slide 'Experiments', Figure 1"

FIGURE_1_MEAN_SEPARABLE_SENSITIVITY = repeated(
    means.FIGURE_1_MEAN_SEPARABLE_SENSITIVITY, "slides08-figure-1-mean-separable-sensitivity", SLIDE
)
FIGURE_1_MEAN_SEPARABLE_NEW = repeated(means.FIGURE_1_MEAN_SEPARABLE_NEW, "slides08-figure-1-mean-separable-new", SLIDE)
FIGURE_1_MEAN_SEPARABLE_STANDARD = repeated(
    means.FIGURE_1_MEAN_SEPARABLE_STANDARD, "slides08-figure-1-mean-separable-standard", SLIDE
)
FIGURE_1_MEAN_UNSEPARABLE_SENSITIVITY = repeated(
    means.FIGURE_1_MEAN_UNSEPARABLE_SENSITIVITY, "slides08-figure-1-mean-unseparable-sensitivity", SLIDE
)
FIGURE_1_MEAN_UNSEPARABLE_NEW = repeated(
    means.FIGURE_1_MEAN_UNSEPARABLE_NEW, "slides08-figure-1-mean-unseparable-new", SLIDE
)
FIGURE_1_MEAN_UNSEPARABLE_STANDARD = repeated(
    means.FIGURE_1_MEAN_UNSEPARABLE_STANDARD, "slides08-figure-1-mean-unseparable-standard", SLIDE
)
FIGURE_1_SPREAD_SEPARABLE_SENSITIVITY = repeated(
    spreads.FIGURE_1_SPREAD_SEPARABLE_SENSITIVITY, "slides08-figure-1-spread-separable-sensitivity", SLIDE
)
FIGURE_1_SPREAD_SEPARABLE_NEW = repeated(
    spreads.FIGURE_1_SPREAD_SEPARABLE_NEW, "slides08-figure-1-spread-separable-new", SLIDE
)
FIGURE_1_SPREAD_SEPARABLE_STANDARD = repeated(
    spreads.FIGURE_1_SPREAD_SEPARABLE_STANDARD, "slides08-figure-1-spread-separable-standard", SLIDE
)
FIGURE_1_SPREAD_UNSEPARABLE_SENSITIVITY = repeated(
    spreads.FIGURE_1_SPREAD_UNSEPARABLE_SENSITIVITY, "slides08-figure-1-spread-unseparable-sensitivity", SLIDE
)
FIGURE_1_SPREAD_UNSEPARABLE_NEW = repeated(
    spreads.FIGURE_1_SPREAD_UNSEPARABLE_NEW, "slides08-figure-1-spread-unseparable-new", SLIDE
)
FIGURE_1_SPREAD_UNSEPARABLE_STANDARD = repeated(
    spreads.FIGURE_1_SPREAD_UNSEPARABLE_STANDARD, "slides08-figure-1-spread-unseparable-standard", SLIDE
)
FIGURE_1_SPREAD_KIND = repeated(spreads.FIGURE_1_SPREAD_KIND, "slides08-figure-1-spread-kind", SLIDE)
FIGURE_1_SPREAD_TWICE = repeated(spreads.FIGURE_1_SPREAD_TWICE, "slides08-figure-1-spread-twice", SLIDE)
