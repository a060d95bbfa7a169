"""Park's lecture on differential privacy."""

from __future__ import annotations

from epsilometer.papers.paper import Paper

PAPER = Paper(
    "Park, “Trustworthy Machine Learning: Differential Privacy 1”, POSTECH, slides after Dwork and Roth 2014 and"
    " Chaudhuri, Monteleoni and Sarwate 2011",
    order=3,
    note="What the anonymised table of this source gives away is worked out in a study of its own.",
    see="anonymised_tables",
)
