"""A result as flat rows, for data frames and files: plain columns, nothing rounded."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from paretopick.studies.result import OptionResult, ParetoResult

OWN_COLUMNS = (
    *("option", "status", "in_answer", "dominated_by", "beaten_by", "probability", "worth_keeping", "within_limits"),
    *("measurements", "left_in_round"),
)
"""Beside settings and metrics."""

SUFFIXES = ("_se", "_low", "_high")
"""What follows the names of metrics: standard errors, and the ends of intervals."""


def rows_of(result: ParetoResult) -> list[dict[str, Any]]:
    """Returns one row per option."""
    names = _names(result)
    return [
        {
            "option": found.option,
            **{names[name, ""]: value for name, value in found.settings.items()},
            "status": found.status,
            "in_answer": found.in_answer,
            "dominated_by": list(found.dominated_by),
            "beaten_by": None if found.beaten_by is None else str(found.beaten_by),
            "probability": found.probability,
            "worth_keeping": found.worth_keeping,
            "within_limits": found.within_limits,
            "measurements": found.measurements,
            **{column: value for metric in result.metrics for column, value in _columns(found, metric, names).items()},
            "left_in_round": found.left_in_round,
        }
        for found in result.options
    ]


def _columns(found: OptionResult, metric: str, names: dict[tuple[str, str], str]) -> dict[str, float | None]:
    """What is known of an option in a metric."""
    ends = found.intervals[metric] or (None, None)
    more = zip(SUFFIXES, (found.standard_errors[metric], *ends), strict=True)
    return {metric: found.means[metric], **{names[metric, suffix]: value for suffix, value in more}}


def _names(result: ParetoResult) -> dict[tuple[str, str], str]:
    """What the columns of settings are called, and those of metrics with a suffix: with a ``_`` more where that is taken."""
    settings = result.options[0].settings if result.options else {}
    taken, names = {*result.metrics, *OWN_COLUMNS}, {}
    for place in [*((name, "") for name in settings), *((name, end) for name in result.metrics for end in SUFFIXES)]:
        column = "".join(place)
        while column in taken:
            column += "_"
        taken.add(column)
        names[place] = column
    return names
