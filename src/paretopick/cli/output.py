"""Tables, JSON and CSV on stdout; progress on stderr."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Iterable, Mapping
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

PROSE = ("summary", "options")
"""Columns that may be wrapped in a narrow terminal; names and numbers may not."""


def print_table(header: list[str], rows: Iterable[Iterable[Any]]) -> None:
    """Prints a table; columns of numbers are flushed right."""
    cells = [[text(cell) for cell in row] for row in rows]
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name, column in zip(header, zip(*cells, strict=True), strict=True):
        justify = "right" if all(_is_number(cell) for cell in column) else "left"
        table.add_column(name.replace("_", " "), justify=justify, no_wrap=name not in PROSE)  # type: ignore[arg-type]
    for row in cells:
        table.add_row(*row)
    console = Console(highlight=False, markup=False, emoji=False)
    if not console.is_terminal:
        console.width = 1000
    console.print(table)


def text(value: Any) -> str:
    """A value as people read it."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.6g}" if abs(value) < 1000 else f"{value:,.2f}"
    if isinstance(value, Mapping):
        return ", ".join(f"{key}={'none' if entry is None else text(entry)}" for key, entry in value.items())
    return "" if value is None else str(value)


def print_json(value: Any) -> None:
    """Prints one JSON document."""
    print(json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False))


def print_csv(rows: list[dict[str, Any]]) -> None:
    """Prints rows with a header."""
    writer = csv.DictWriter(sys.stdout, fieldnames=list(rows[0]) if rows else [], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)


def progress() -> Progress:
    """A bar with the time left, on a terminal only; it has no thread of its own, since simulations fork."""
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    return Progress(*columns, console=console, transient=True, auto_refresh=False, disable=not console.is_terminal)


def _is_number(cell: str) -> bool:
    try:
        float(cell.replace(",", "").removeprefix("< ") or "0")
    except ValueError:
        return False
    return True
