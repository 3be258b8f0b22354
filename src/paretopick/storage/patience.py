"""How long an answer of a database is waited for: less by a process that was asked to end."""

from __future__ import annotations

HURRIED = 2.0
"""Seconds for whoever was asked to end: those who ask wait ten or thirty before they kill, and it may take several answers."""

_hurried = False


def hurry(yes: bool) -> None:
    """Has everybody in this process wait less, or as long as usual; may be called while somebody waits."""
    global _hurried
    _hurried = yes


def within(usual: float) -> float:
    """Returns how many seconds an answer is waited for."""
    return min(usual, HURRIED) if _hurried else usual
