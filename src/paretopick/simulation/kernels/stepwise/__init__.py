"""Policies that pull one arm after the other: one run, or eight runs at once."""
