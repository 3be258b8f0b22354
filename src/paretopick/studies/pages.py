"""A result as people read it: sentences, a table, HTML, a page of a terminal. Every view shows the same texts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from paretopick._html import LONG_TEXTS, NUMBERS, TEXTS, paragraphs, table
from paretopick._words import counted, joined, listed, probability, some, text_of, unmistakable
from paretopick.metrics import INTERVAL
from paretopick.studies.differences import aligned, plain_number

if TYPE_CHECKING:
    from rich.console import Group

    from paretopick.studies.baselines import ComparedWithBaseline
    from paretopick.studies.result import OptionResult, ParetoResult

AGAINST = "compared with the baseline"

TEXT_COLUMNS = ("option", "status", AGAINST, "beaten by")
"""Columns of ``cells`` that are not numbers."""

SURELY_OUT = {
    "Surely out": "dominated",
    "Not needed, the answer has as good ones": "covered",
    "Surely beyond the limits": "infeasible",
}
"""What is said of options that are surely not in the answer, by their status in words."""

MOST_DOUBTS = 3
MOST_NAMES = 12
"""So many options of a group are named in a line."""


def headline(result: ParetoResult) -> str:
    """Returns the answer on one line, and how sure it is."""
    used = result.used_text if result.judged else f"{result.used_text} {'used' if result.spent is None else 'spent'}"
    if not result.answer and result.probability is not None and result.has_limits:
        return f"{_nobody(result)[:-1]} ({used}). That is {_right(result)}."
    front = ", ".join(_choices(result, result.answer)) or ("none" if result.done else "none yet")
    state = sought(result).capitalize() if result.done else "Best guess so far"
    text = f"{state}: {front} ({used})."
    return text if result.probability is None else f"{text} {'It' if result.is_part else 'The set'} is {_right(result)}."


def page(result: ParetoResult, *, beside_table: bool = False, ahead: bool = True) -> str:
    """Returns all that ``print`` says; see ``lines``."""
    return "\n".join([headline(result), *lines(result, beside_table=beside_table, ahead=ahead)])


def sought(result: ParetoResult) -> str:
    """What the members of the answer are said to be."""
    return "worth keeping" if result.has_margins else "Pareto-optimal"


def _right(result: ParetoResult) -> str:
    """How right the answer is: within the margins, or up to what the data resolve."""
    shown = probability(result.probability)
    if result.has_margins:
        return f"right within the margins{' and limits' if result.has_limits else ''} with probability {shown}"
    if result.resolution is not None and result.resolution.text:
        return f"{result.resolution.sentence}; it is exactly right with probability {shown}"
    return f"right with probability {shown}"


def sentence(result: ParetoResult) -> str:
    """Returns the answer in one sentence, which says what is sure and what is not."""
    if not result.answer:
        return _nobody(result)
    named = sought(result)
    members = [row for row in result.ranked() if row.in_answer]
    sure = _choices(result, [row.option for row in members if row.status == "pareto"])
    likely = _choices(result, [row.option for row in members if row.status != "pareto"])
    if all(row.probability is None for row in members):
        found = f"{listed(result.answer)} {'looks' if len(result.answer) == 1 else 'look'} {named}"
    elif sure and likely:
        found = f"{joined(sure)} {'is' if len(sure) == 1 else 'are'} {named}, and probably {joined(likely)}"
    else:
        found = f"{joined(sure or likely)} {'is' if len(sure or likely) == 1 else 'are'}{' probably' if likely else ''} {named}"
    more = "; others may be, too, since no more were asked for" if result.is_part else ""
    found = f"f {counted(len(result.options), 'option')}, {found}{more}."
    return f"O{found}" if result.done else f"Best guess so far: o{found}"


def _choices(result: ParetoResult, names: Sequence[str]) -> list[str]:
    """Some members of the answer, with "or" between those of which either will do."""
    groups = dict.fromkeys(tuple(name for name in names if name in group) for group in result.named_choices)
    places = {group: names.index(group[0]) for group in groups if group}
    return [" or ".join(unmistakable(group)) for group in sorted(places, key=lambda group: places[group])]


def _nobody(result: ParetoResult) -> str:
    """Why the answer is empty."""
    if result.probability is not None and result.has_limits:
        sure = all(row.status in ("infeasible", "retired") for row in result.options)
        return f"{'No option keeps' if sure else 'Probably no option keeps'} the limits."
    if not result.done:
        return f"It cannot be said yet which options are {sought(result)}."
    return f"No option is left that was found to be {sought(result)}."


def how_sure(result: ParetoResult) -> str:
    """Returns how sure the answer is, and which options are the likeliest to be on its wrong side."""
    if result.probability is None:
        return f"How sure that is cannot be said: {result.certainty.how[:1].lower()}{result.certainty.how[1:]}"
    text = f"{'This set' if result.answer else 'That'} is {_right(result)}"
    matters = [row for row in result.doubtful if not _either_will_do(row, result)]
    doubts = [f"{name} ({_wrongly(row)})" for row, name in zip(matters, _names(matters[:MOST_DOUBTS]), strict=False)]
    text += f"; the doubt is mostly about {joined(doubts)}" if doubts else ""
    aside = {row.option for row in result.doubtful} - {row.option for row in matters}
    alike = [listed(group) for group in result.alike if not aside.isdisjoint(group)]
    return f"{text}; of {joined(alike)}, which are nearly equal, either will do." if alike else f"{text}."


def lines(result: ParetoResult, *, beside_table: bool = False, ahead: bool = True) -> Iterator[str]:
    """Yields what else one should know, a line each: the groups, near-equals, the baseline, the next step, the notes.

    Args:
        result: of a study.
        beside_table: whether the table is shown, too, which has how each option compares with the baseline.
        ahead: whether to find out the next step, which takes a moment.
    """
    if result.used and all(row.probability is None for row in result.options):
        yield how_sure(result)
    yield from group_lines(result)
    if result.compared_with_baseline is not None:
        yield result.compared_with_baseline.sentence
        yield from () if beside_table else _against_baseline(result, result.compared_with_baseline)
    if result.spent is not None:
        yield f"Budget: {result.spent.sentence}"
    if result.stopped is not None:
        yield result.stopped
        yield from _longer_than_need_be(result)
    elif ahead and result.next_step is not None:
        yield f"Next: {result.next_step}"
    if result.sharing is not None:
        yield f"Shared: {result.sharing.sentence}"
    for note in result.notes:
        yield f"Note: {note}"


def _against_baseline(result: ParetoResult, compared: ComparedWithBaseline) -> Iterator[str]:
    """How each option of the answer compares with the baseline; of many those that are ranked first."""
    members = [row.option for row in result.ranked() if row.in_answer and compared.text(row.option)]
    for name in members[:MOST_NAMES]:
        yield f"Compared with {compared.baseline}, {name}: {compared.text(name)}"


def _longer_than_need_be(result: ParetoResult) -> Iterator[str]:
    """That more measurements may make the answer shorter, of a study that is as sure as it was to be."""
    if spare := [row.option for row in result.options if row.in_answer and row.beaten_by is not None]:
        yield may_be_shorter(spare)


def may_be_shorter(spare: Sequence[str]) -> str:
    """Returns that members of a right answer may turn out not to be needed."""
    can_go = f"more measurements would tell whether {listed(spare)} can go"
    return f"The answer is right, and may be longer than it needs to be: {can_go}."


def group_lines(result: ParetoResult) -> Iterator[str]:
    """Yields who is surely in, open and surely out, and who is nearly equal, a line each."""
    groups = result.named_groups
    if any(row.probability is not None for row in result.options):
        yield from _group("Surely in", unmistakable(groups.surely_in))
        unsure = sorted((row for row in result.options if row.status == "open"), key=lambda row: -(row.doubt or 0.0))
        yield from _group("Open, in the answer", _with_chances([row for row in unsure if row.in_answer], result))
        yield from _group("Open, not in it", _with_chances([row for row in unsure if not row.in_answer], result))
        by_text = {row.option: status_text(row) for row in result.ranked()}
        for title, status in SURELY_OUT.items():
            yield from _group(title, unmistakable(name for name in groups.surely_out if by_text[name] == status))
    for group in result.alike:
        yield f"Nearly equal, either will do: {listed(group)}"


def _group(title: str, names: Sequence[str]) -> Iterator[str]:
    if names:
        yield f"{title} ({len(names)}): {some(names, MOST_NAMES)}"


def _with_chances(rows: Sequence[OptionResult], result: ParetoResult) -> list[str]:
    """Options, each with how probably it is Pareto-optimal, with margins on the wrong side; the first says what the number is."""
    within = result.has_margins or result.has_limits
    what = ["wrongly with " if within else "P(optimal) ", *[""] * len(rows)]
    shown = [row.doubt if within else row.probability for row in rows]
    told = ["not judged" if chance is None else f"{word}{probability(chance)}" for word, chance in zip(what, shown, strict=False)]
    told = [text if row.beaten_by is None or not row.in_answer else _beaten(row) for row, text in zip(rows, told, strict=True)]
    return [f"{name} ({text})" for name, text in zip(_names(rows), told, strict=True)]


def _beaten(row: OptionResult) -> str:
    """That another member most likely beats a member of the answer."""
    return "" if row.beaten_by is None else f"most likely beaten by {row.beaten_by.option}"


def _wrongly(row: OptionResult) -> str:
    return f"{'in' if row.in_answer else 'not in'} it, wrongly with {probability(row.doubt)}"


def _either_will_do(row: OptionResult, result: ParetoResult) -> bool:
    """Whether another option of the answer is nearly equal, so that it matters little on which side this one is."""
    groups = (set(group) - {row.option} for group in result.alike if row.option in group)
    return any(not group.isdisjoint(result.answer) for group in groups)


def _names(rows: Iterable[OptionResult]) -> list[str]:
    return unmistakable(row.option for row in rows)


def status_text(row: OptionResult) -> str:
    """Returns the status of an option in words: which way an open one leans, and where rounds decided otherwise."""
    if row.status == "retired" or row.probability is None:
        return row.status if row.status != "open" or not row.in_answer else "open, best guess"
    if row.wrong is None and row.in_answer != (row.probability >= 0.5):
        return f"{row.status}, {'kept in' if row.in_answer else 'left out'}"
    if row.status == "open":
        return "open, leans in" if row.in_answer else "open, leans out"
    return "covered" if row.status == "dominated" and (row.worth_keeping or 0.0) >= 0.5 else row.status


def cells(result: ParetoResult, *, baseline: bool = True) -> tuple[list[str], list[list[str]]]:
    """Returns the table as people read it, header and rows, Pareto-optimal options first.

    Args:
        result: of a study.
        baseline: whether to say how options compare with the baseline, if there is one.
    """
    header = ["option", "status"]
    for metric in result.metric_records:
        header += metric.headings
    rows = []
    for found in result.ranked():
        row = [found.option, status_text(found)]
        for metric in result.metric_records:
            row += mean_and_interval(found.means[metric.name], found.intervals[metric.name])[: len(metric.headings)]
        chances = [probability(found.worth_keeping if result.has_margins else found.probability)]
        chances += [probability(found.within_limits)] if result.has_limits else []
        against = [_against(found, result.compared_with_baseline)] if baseline and result.compared_with_baseline else []
        rows.append([*row, *chances, f"{found.measurements:,}", *against, _why_out(found, result)])
    header += ["P(worth keeping)" if result.has_margins else "P(optimal)", *(["P(within limits)"] if result.has_limits else [])]
    return [*header, "measured", *([AGAINST] if baseline and result.compared_with_baseline else []), "beaten by"], rows


def _against(found: OptionResult, compared: ComparedWithBaseline) -> str:
    return "is the baseline" if found.option == compared.baseline else compared.text(found.option)


def _why_out(found: OptionResult, result: ParetoResult) -> str:
    """Who beats an option, or which limits it is beyond."""
    if found.beyond and not found.in_answer:
        limits = joined([f"{name} {result.metric(name).limit_text}" for name in found.beyond])
        return f"beyond {limits}" if found.status == "infeasible" else f"probably beyond {limits}"
    return "" if found.beaten_by is None else str(found.beaten_by)


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


def html_page(result: ParetoResult, *, picture: str = "", ahead: bool = True) -> str:
    """Returns what notebooks show: all that ``print`` says, a picture, and the table, which may be long and wide.

    Args:
        result: to be shown.
        picture: as HTML.
        ahead: as for ``lines``.
    """
    said = paragraphs([headline(result), *lines(result, beside_table=True, ahead=ahead)])
    return f'{said}{picture}<div style="overflow-x: auto">{html_table(result)}</div>'


def html_table(result: ParetoResult) -> str:
    """Returns the table as HTML, with the settings of options; each row has the status of its option as its class.

    Intervals have a class of their own.
    """
    (first, *header), rows = cells(result)
    settings = list(result.options[0].settings) if result.options else []
    header = [first, *settings, *header]
    rows = [
        [row[0], *(text_of(found.settings[name]) for name in settings), *row[1:]]
        for found, row in zip(result.ranked(), rows, strict=True)
    ]
    kinds = {
        **dict.fromkeys(settings, TEXTS),
        "option": f' class="text"{TEXTS}',
        "status": f' class="status"{TEXTS}',
        **dict.fromkeys((AGAINST, "beaten by"), f' class="text"{LONG_TEXTS}'),
        INTERVAL: f' class="interval"{NUMBERS}',
    }
    places = [kinds.get(name, NUMBERS) for name in header]
    return table(header, rows, places=places, kinds=[found.status for found in result.ranked()])


def rich_page(result: ParetoResult) -> Group:
    """Returns the table and all that ``print`` says, as rich shows it."""
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    header, rows = cells(result)
    shown = Table(box=None, pad_edge=False, header_style="bold")
    for name in header:
        shown.add_column(
            Text(name), justify="left" if name in TEXT_COLUMNS else "right", no_wrap=name not in (AGAINST, "beaten by")
        )
    for row in rows:
        shown.add_row(*map(Text, row))
    return Group(shown, Text(page(result, beside_table=True)))
