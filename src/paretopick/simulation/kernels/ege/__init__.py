"""Empirical Gap Elimination: one run, or eight runs at once."""
