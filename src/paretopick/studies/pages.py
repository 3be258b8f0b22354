"""A result as people read it: sentences, a table, HTML, a page of a terminal. Every view shows the same texts."""

from __future__ import annotations

import html
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from paretopick._words import joined, listed, probability, some, unmistakable
from paretopick.metrics import INTERVAL
from paretopick.studies.differences import aligned, plain_number

if TYPE_CHECKING:
    from rich.console import Group

    from paretopick.studies.result import OptionResult, ParetoResult

TEXTS = ("option", "status", "beaten by")
"""Columns of ``cells`` that are not numbers."""

WRAPPED = ' class="text" style="white-space: normal"'
"""How cells of a table are marked that may go over several lines."""

MOST_DOUBTS = 3
MOST_NAMES = 12
"""So many options of a group are named in a line."""


def headline(result: ParetoResult) -> str:
    """Returns the answer on one line, and how sure it is."""
    front = ", ".join(unmistakable(result.pareto)) or ("none" if result.done else "none yet")
    state = "Pareto-optimal" if result.done else "Best guess so far"
    text = f"{state}: {front} ({result.used} of {result.budget} measurements used)."
    if result.probability is None:
        return text
    what = "It" if result.is_part else "The set"
    return f"{text} {what} is right with probability {probability(result.probability)}."


def sentence(result: ParetoResult) -> str:
    """Returns the answer in one sentence, which says what is sure and what is not."""
    if not result.pareto:
        return (
            "It cannot be said yet which options are Pareto-optimal."
            if not result.done
            else "No option is left that was found to be Pareto-optimal."
        )
    members = [row for row in result.ranked() if row.in_answer]
    sure = [row.option for row in members if row.status == "pareto"]
    likely = [row.option for row in members if row.status != "pareto"]
    verb = "is" if len(result.pareto) == 1 else "are"
    if all(row.probability is None for row in members):
        found = f"{listed(result.pareto)} {'looks' if verb == 'is' else 'look'} Pareto-optimal"
    elif sure and likely:
        found = f"{listed(sure)} {'is' if len(sure) == 1 else 'are'} Pareto-optimal, and probably {listed(likely)}"
    else:
        found = f"{listed(sure or likely)} {verb}{' probably' if likely else ''} Pareto-optimal"
    more = "; others may be, too, since no more were asked for" if result.is_part else ""
    found = f"f {len(result.options)} options, {found}{more}."
    return f"O{found}" if result.done else f"Best guess so far: o{found}"


def how_sure(result: ParetoResult) -> str:
    """Returns how sure the answer is, and which options are the likeliest to be on its wrong side."""
    if result.probability is None:
        return f"How sure that is cannot be said: {result.certainty.how[:1].lower()}{result.certainty.how[1:]}"
    text = f"This set is right with probability {probability(result.probability)}"
    matters = [row for row in result.doubtful if not _either_will_do(row, result)]
    doubts = [f"{name} ({_wrongly(row)})" for row, name in zip(matters, _names(matters[:MOST_DOUBTS]), strict=False)]
    text += f"; the doubt is mostly about {joined(doubts)}" if doubts else ""
    aside = {row.option for row in result.doubtful} - {row.option for row in matters}
    alike = [listed(group) for group in result.near_equals if not aside.isdisjoint(group)]
    return f"{text}; of {joined(alike)}, which are nearly equal, either will do." if alike else f"{text}."


def lines(result: ParetoResult) -> Iterator[str]:
    """Yields what else one should know, a line each: the groups, near-equals, the next step, the notes."""
    if result.used and all(row.probability is None for row in result.options):
        yield how_sure(result)
    yield from group_lines(result)
    if result.next_step is not None:
        yield f"Next: {result.next_step}"
    for note in result.notes:
        yield f"Note: {note}"


def group_lines(result: ParetoResult) -> Iterator[str]:
    """Yields who is surely in, open and surely out, and who is nearly equal, a line each."""
    groups = result.groups
    if any(row.probability is not None for row in result.options):
        yield from _group("Surely in", unmistakable(groups.surely_in))
        unsure = sorted((row for row in result.options if row.status == "open"), key=lambda row: -(row.doubt or 0.0))
        yield from _group("Open, in the answer", _with_chances([row for row in unsure if row.in_answer]))
        yield from _group("Open, not in it", _with_chances([row for row in unsure if not row.in_answer]))
        yield from _group("Surely out", unmistakable(groups.surely_out))
    for group in result.near_equals:
        yield f"Nearly equal, either will do: {listed(group)}"


def _group(title: str, names: Sequence[str]) -> Iterator[str]:
    if names:
        yield f"{title} ({len(names)}): {some(names, MOST_NAMES)}"


def _with_chances(rows: Sequence[OptionResult]) -> list[str]:
    """Options, each with how probably it is Pareto-optimal; the first says what the number is."""
    what = ["P(optimal) ", *[""] * len(rows)]
    return [f"{name} ({word}{probability(row.probability)})" for row, name, word in zip(rows, _names(rows), what, strict=False)]


def _wrongly(row: OptionResult) -> str:
    return f"{'in' if row.in_answer else 'not in'} it, wrongly with {probability(row.doubt)}"


def _either_will_do(row: OptionResult, result: ParetoResult) -> bool:
    """Whether another option of the answer is nearly equal, so that it matters little on which side this one is."""
    groups = (set(group) - {row.option} for group in result.near_equals if row.option in group)
    return any(not group.isdisjoint(result.pareto) for group in groups)


def _names(rows: Iterable[OptionResult]) -> list[str]:
    return unmistakable(row.option for row in rows)


def status_text(row: OptionResult) -> str:
    """Returns the status of an option in words: which way an open one leans, and where rounds decided otherwise."""
    if row.status == "retired" or row.probability is None:
        return row.status if row.status != "open" or not row.in_answer else "open, best guess"
    if row.in_answer != (row.probability >= 0.5):
        return f"{row.status}, {'kept in' if row.in_answer else 'left out'}"
    if row.status == "open":
        return "open, leans in" if row.in_answer else "open, leans out"
    return row.status


def cells(result: ParetoResult) -> tuple[list[str], list[list[str]]]:
    """Returns the table as people read it, header and rows, Pareto-optimal options first."""
    header = ["option", "status"]
    for metric in result.metric_records:
        header += metric.headings
    rows = []
    for found in result.ranked():
        row = [found.option, status_text(found)]
        for metric in result.metric_records:
            row += mean_and_interval(found.means[metric.name], found.intervals[metric.name])[: len(metric.headings)]
        beaten_by = "" if found.beaten_by is None else str(found.beaten_by)
        rows.append([*row, probability(found.probability), f"{found.measurements:,}", beaten_by])
    return [*header, "P(optimal)", "measured", "beaten by"], rows


def mean_and_interval(mean: float | None, interval: tuple[float, float] | None) -> tuple[str, str]:
    """Returns a mean and its interval, to two digits of half its width.

    >>> mean_and_interval(12.3456, (12.30, 12.3912)), mean_and_interval(1.5, None), mean_and_interval(None, None)
    (('12.346', '12.300 to 12.391'), ('1.5', ''), ('', ''))
    """
    if mean is None:
        return "", ""
    if interval is None:
        return plain_number(mean), ""
    shown, low, high = aligned(mean, *interval)
    return shown, f"{low} to {high}"


def html_page(result: ParetoResult) -> str:
    """Returns the table and all that ``print`` says, as notebooks show it."""
    said = "".join(f"<p>{html.escape(line)}</p>" for line in (headline(result), *lines(result)))
    return f"{html_table(result)}{said}"


def html_table(result: ParetoResult) -> str:
    """Returns the table as HTML; each row has the status of its option as its class, and intervals have a class of their own."""
    header, rows = cells(result)
    kinds = {"option": ' class="text"', "status": ' class="status"', "beaten by": WRAPPED, INTERVAL: ' class="interval"'}
    places = [kinds.get(name, "") for name in header]
    head = "".join(f"<th{place}>{html.escape(name)}</th>" for place, name in zip(places, header, strict=True))
    body = "".join(
        f'<tr class="{found.status}">'
        + "".join(f"<td{place}>{html.escape(cell)}</td>" for place, cell in zip(places, row, strict=True))
        + "</tr>\n"
        for found, row in zip(result.ranked(), rows, strict=True)
    )
    return f'<table style="white-space: nowrap">\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}</tbody>\n</table>'


def rich_page(result: ParetoResult) -> Group:
    """Returns the table and all that ``print`` says, as rich shows it."""
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    header, rows = cells(result)
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in header:
        table.add_column(Text(name), justify="left" if name in TEXTS else "right", no_wrap=name != "beaten by")
    for row in rows:
        table.add_row(*map(Text, row))
    return Group(table, Text(str(result)))
