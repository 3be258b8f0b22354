"""Results on stdout, for people and for programs: sentences, tables, JSON, CSV, files."""

from __future__ import annotations

import json
import math
import re
import sys
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TextIO

from rich.cells import cell_len
from rich.console import Console, ConsoleDimensions, JustifyMethod
from rich.table import Table

from paretopick._files import write_whole
from paretopick._tables import csv_text
from paretopick._words import counted, visible
from paretopick.errors import InvalidInput
from paretopick.metrics import INTERVAL
from paretopick.plots.outputs import FORMATS
from paretopick.storage.addresses import masked
from paretopick.studies import ParetoResult, Study
from paretopick.studies.budgets import Spent
from paretopick.studies.pages import AGAINST, page

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PROSE = ("summary", "options", AGAINST, "beaten by", "why")
"""Columns that may be wrapped in a narrow terminal; names and numbers may not."""

NARROW_PROSE = 30
"""Such a column is made no narrower than this."""

GAP = 2
"""Blanks between columns."""


COMMAND = re.compile(r"""\bparetopick [a-z](?:'[^']*'|"[^"]*"|[^'"])*?(?=, (?:and|or) |; |\. [A-Z]|\.$|$)""")
"""What is to be typed, in a sentence."""

UNBREAKABLE = "\ue000"
"""Stands for a blank at which a line does not end."""


def say(sentence: str, *, stream: TextIO | None = None) -> None:
    """Prints a sentence; on a terminal lines end between words, and commands stay whole, so that they can be copied."""
    console = Console(file=stream or sys.stdout)
    for line in map(visible, sentence.splitlines()):
        if console.is_terminal:
            indent = line[: len(line) - len(line.lstrip())]
            wrap = textwrap.TextWrapper(
                console.width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False, replace_whitespace=False
            )
            whole = COMMAND.sub(lambda found: found[0].replace(" ", UNBREAKABLE), line)
            line = wrap.fill(whole).replace(UNBREAKABLE, " ")
        print(line, file=console.file, flush=True)


def note(sentence: str) -> None:
    """Prints what one should know, beside the result."""
    say(f"note: {masked(sentence)}", stream=sys.stderr)


def print_table(header: Sequence[str], rows: Iterable[Iterable[Any]]) -> None:
    """Prints a table; columns of numbers are flushed right.

    Names and numbers are never cut. In a narrow terminal prose is wrapped; if that is not enough, the columns that do not fit
    follow in a second table, whose rows start with the same names.
    """
    columns = _columns([*map(visible, header)], [[visible(text(cell)) for cell in row] for row in rows])
    console = Console(highlight=False, markup=False, emoji=False)
    width = console.width if console.is_terminal else 1000
    for part, shown in enumerate(_parts(columns, width)):
        if part:
            print()
        table = Table(box=None, pad_edge=False, padding=(0, GAP, 0, 0), header_style="bold")
        for column in shown:
            table.add_column(column.name, justify=column.justify, no_wrap=not column.prose, min_width=column.width)
        for row in zip(*(column.cells for column in shown), strict=True):
            table.add_row(*row)
        console.size = ConsoleDimensions(
            max(width, _width(shown)), console.height
        )  # a dumb terminal would ignore the width alone
        console.print(table)


class _Column(NamedTuple):
    name: str
    cells: tuple[str, ...]
    prose: bool
    width: int
    """The least that it needs."""
    justify: JustifyMethod


def _columns(header: Sequence[str], rows: list[list[str]]) -> list[_Column]:
    columns = []
    for name, cells in zip(header, zip(*rows, strict=True) if rows else [()] * len(header), strict=True):
        widest = max(map(cell_len, (name, *cells)))
        prose = name in PROSE
        justify: JustifyMethod = "right" if all(map(_is_number, cells)) else "left"
        columns.append(_Column(name, tuple(cells), prose, min(widest, NARROW_PROSE) if prose else widest, justify))
    return columns


def _parts(columns: list[_Column], width: int) -> list[list[_Column]]:
    """The columns in as many tables as it takes, the first column in each of them; an interval stays with its metric."""
    first, *others = columns
    parts = [[first]]
    while others:
        n = 2 if len(others) > 1 and others[1].name == INTERVAL else 1
        if len(parts[-1]) > 1 and _width([*parts[-1], *others[:n]]) > width:
            parts.append([first])
        parts[-1] += others[:n]
        others = others[n:]
    return parts


def _width(columns: Sequence[_Column]) -> int:
    return sum(column.width for column in columns) + GAP * (len(columns) - 1)


def text(value: Any) -> str:
    """A value as people read it."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.6g}" if abs(value) < 1000 else f"{value:,.2f}"
    if isinstance(value, Mapping):
        return ", ".join(f"{key}={'none' if entry is None else text(entry)}" for key, entry in value.items())
    return "" if value is None else str(value)


def _is_number(cell: str) -> bool:
    try:
        float(cell.replace(",", "").removeprefix("< ").removeprefix("> ").removesuffix("%") or "0")
    except ValueError:
        return False
    return True


def print_json(value: Any) -> None:
    """Prints one JSON document."""
    print(json.dumps(_finite(value), indent=2, ensure_ascii=False, allow_nan=False))


def _finite(value: Any) -> Any:
    """The same with null where a float is infinite or NaN, which JSON has no words for."""
    if isinstance(value, Mapping):
        return {key: _finite(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(entry) for entry in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def print_csv(rows: list[dict[str, Any]]) -> None:
    """Prints rows with a header."""
    print(csv_text(list(rows[0]) if rows else [], rows), end="")


def print_result(result: ParetoResult) -> None:
    """Prints the options, the Pareto-optimal ones first, the answer, what to do next, and what else one should know."""
    print_table(*result.cells())
    print()
    say(page(result, beside_table=True))
    if result.rehearsal is not None:
        say(f"Rehearsed: {result.rehearsal.how}")


def print_result_as_json(result: ParetoResult) -> None:
    """Prints all that is known of a result, the next step included."""
    print_json({**result.to_dict(), "next_step": result.next_step})


def print_standing(study: Study, what: str, as_json: bool, more: Mapping[str, Any] | None = None) -> None:
    """Prints what was done, and where the study stands after it.

    Args:
        study: after that.
        what: was done, in words.
        as_json: print the status as JSON instead.
        more: for programs alone, beside the status.
    """
    state = study.status()
    if as_json:
        print_json({**(more or {}), **state})
        return
    in_round = "" if state["roundless"] else f", round {state['round']}"
    say(f"{what}; {used_text(state)} {'count' if state['spent'] is None else 'spent'}{in_round}.")
    if state["done"]:
        say(f"The study is done. {study.result()!r}")


def spent_of(state: Mapping[str, Any]) -> Spent | None:
    """How much of a budget in a unit is spent, from the status of a study."""
    spent = state["spent"]
    return None if spent is None else Spent(spent["unit"], spent["spent"], spent["budget"])


def used_text(state: Mapping[str, Any]) -> str:
    """How many measurements a study has, of how many, or how much they have cost, from its status."""
    spent = spent_of(state)
    if spent is None:
        return f"{state['used']} of {state['budget']} measurements"
    return f"{counted(state['used'], 'measurement')}, {spent}"


def write_or_print(content: bytes, path: Path | None, what: str, *, force: bool) -> None:
    """Writes a file that is not there yet, whole or not at all, and says so; or prints the content."""
    if path is None:
        sys.stdout.flush()
        sys.stdout.buffer.write(content)
        return
    check_target(path, force=force)
    write_whole(path, content)
    print(f"Wrote {what} to {path}")


def check_target(path: Path | None, *, force: bool) -> None:
    """Refuses to overwrite a file, and to write into a folder that is not there."""
    if path is not None and path.exists() and not force:
        raise InvalidInput(f"{path} is there already; add --force to overwrite it, or choose another name.")
    if path is not None and not path.parent.is_dir():
        raise InvalidInput(f"there is no folder {path.parent}; make it first, or choose another name.")


def check_picture(path: Path | None, *, force: bool) -> None:
    """Refuses a file for a picture before anything is done: one of another kind, one that is there, one in no folder."""
    if path is not None and path.suffix.lower() not in FORMATS:
        raise InvalidInput(
            f"--plot {path} must end in {' or '.join((', '.join(FORMATS[:-1]), FORMATS[-1]))}, which says what to write."
        )
    check_target(path, force=force)


def write_picture(figure: Figure, path: Path, *, beside: bool) -> None:
    """Writes a picture as what its file is called, and says so.

    Args:
        figure: what to write.
        path: where to.
        beside: whether standard output is for programs, so that people are told beside it.
    """
    from paretopick.plots import save_picture

    save_picture(figure, path)
    print(f"Wrote the picture to {path}", file=sys.stderr if beside else sys.stdout)
