"""Neighbouring data sets: the search for the pair with the largest privacy loss."""
