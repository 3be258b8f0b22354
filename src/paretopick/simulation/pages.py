"""A curve as people read it: sentences, a table, HTML."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from paretopick._html import paragraphs, table
from paretopick._words import counted, percent

if TYPE_CHECKING:
    from paretopick.simulation.results import ErrorCurve


def text(curve: ErrorCurve) -> str:
    """Returns what ``print`` shows."""
    lines = [f"at {budget}: {errors} errors, {rate} ({interval})" for budget, errors, rate, interval, *_ in cells(curve)[1]]
    return "\n".join([title(curve), *lines, *notes(curve)])


def html_page(curve: ErrorCurve) -> str:
    """Returns what notebooks show."""
    return f"{paragraphs([title(curve)])}{table(*cells(curve))}{paragraphs(notes(curve))}"


def title(curve: ErrorCurve) -> str:
    """Returns what a curve is, in words."""
    options = ", ".join(f"{name}={value}" for name, value in curve.options.items())
    return f"{curve.policy}{f' ({options})' if options else ''} on {curve.instance}, {counted(curve.runs, 'run')} at each budget"


def notes(curve: ErrorCurve) -> Iterator[str]:
    """Yields what else one should know, in sentences."""
    if not curve.errors.all():
        yield "Note: where no error was seen, the rate is below the upper end of its interval."
    if curve.engine == "reference" and curve.draws == "pulls":
        yield 'Note: made by the reference engine, on the same pulls as other curves of the same seed whose draws are "pulls".'
    elif curve.engine == "reference":
        yield "Note: made by the reference engine, whose random numbers are not those of the compiled one."


def cells(curve: ErrorCurve) -> tuple[list[str], list[list[str]]]:
    """Returns the errors at each budget, header and rows; last those within margins and limits, if there are some."""
    header = ["budget", "errors", "error rate", "95% interval", "pulls", "rounds"]
    intervals, within = curve.interval().tolist(), curve.interval(of="errors_within").tolist()
    rows = []
    for at, budget in enumerate(curve.budgets):
        row = [f"{budget:,}", f"{curve.errors[at]:,}", percent(curve.rate[at]), _interval(intervals[at])]
        row += [f"{curve.pulls[at]:,.0f}", f"{curve.rounds[at]:,.1f}"]
        if curve.margins is not None:
            row += [f"{curve.errors_within[at]:,}", percent(curve.rate_within[at]), _interval(within[at])]
        rows.append(row)
    return [*header, *([] if curve.margins is None else ["errors within", "rate within", "95% interval"])], rows


def _interval(limits: list[float]) -> str:
    return f"{percent(limits[0])} to {percent(limits[1])}"
