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

AGAINST = tuple(f"_{what}{end}" for what in ("difference", "ratio") for end in ("", "_low", "_high"))
"""The same for how options compare with the baseline."""


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
            **_against_baseline(result, found, names),
            "left_in_round": found.left_in_round,
        }
        for found in result.options
    ]


def _columns(found: OptionResult, metric: str, names: dict[tuple[str, str], str]) -> dict[str, float | None]:
    """What is known of an option in a metric."""
    ends = found.intervals[metric] or (None, None)
    more = zip(SUFFIXES, (found.standard_errors[metric], *ends), strict=True)
    return {metric: found.means[metric], **{names[metric, suffix]: value for suffix, value in more}}


def _against_baseline(result: ParetoResult, found: OptionResult, names: dict[tuple[str, str], str]) -> dict[str, Any]:
    """How an option compares with the baseline, if there is one: in words, and in numbers with 95% intervals."""
    compared = result.compared_with_baseline
    if compared is None:
        return {}
    columns: dict[str, Any] = {names["compared_with_baseline", ""]: compared.text(found.option) or None}
    by = {each.metric: each for each in compared.differences.get(found.option, ())}
    for metric in _compared(result):
        each = by.get(metric)
        numbers: list[float | None] = [None] * len(AGAINST)
        if each is not None:
            ends = [interval or (None, None) for interval in (each.interval, each.ratio_interval)]
            numbers = [each.difference, *ends[0], each.ratio, *ends[1]]
        columns |= {names[metric, suffix]: number for suffix, number in zip(AGAINST, numbers, strict=True)}
    return columns


def _compared(result: ParetoResult) -> list[str]:
    """The metrics in which options are compared with the baseline, if there is one."""
    return [] if result.compared_with_baseline is None else [metric.name for metric in result.metric_records if metric.compared]


def _names(result: ParetoResult) -> dict[tuple[str, str], str]:
    """What the columns of settings are called, and those of metrics with a suffix: with a ``_`` more where that is taken."""
    settings = result.options[0].settings if result.options else {}
    taken, names = {*result.metrics, *OWN_COLUMNS}, {}
    places = [(name, "") for name in settings]
    places += [(name, suffix) for name in result.metrics for suffix in SUFFIXES]
    places += [(name, suffix) for name in _compared(result) for suffix in AGAINST]
    for place in [*places, ("compared_with_baseline", "")]:
        column = "".join(place)
        while column in taken:
            column += "_"
        taken.add(column)
        names[place] = column
    return names
