"""Neighbouring data sets: the search for the pair on which a mechanism spends most."""
