"""Tables in texts: CSV files of people and spreadsheets in, CSV and Markdown out."""

from __future__ import annotations

import csv
import html
import io
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from paretopick._words import quoted
from paretopick.errors import InvalidInput, MissingFile

SEPARATORS = ",;\t"


@dataclass(frozen=True)
class Table:
    """A CSV file: its rows by their number in the file, each by the names in the first line."""

    name: str
    columns: tuple[str, ...]
    """Without a name only the first can be; other columns without one are left out."""
    rows: dict[int, dict[str, str]]
    decimal_comma: bool
    """Whether 1,5 is a number: commas do not separate cells."""

    def place(self, row: int) -> str:
        """Returns where a row is, as errors name it."""
        return f"{self.name}, row {row}"

    def number(self, row: int, column: str) -> float:
        """Returns a cell as a number."""
        cell = self.rows[row][column]
        try:
            return _number(cell, self.decimal_comma)
        except ValueError:
            raise InvalidInput(f"{self.place(row)}: {cell!r} under {column!r} is not a number.") from None

    def check_columns(self, needed: Iterable[str]) -> None:
        """Refuses a table without a column."""
        for column in needed:
            if column not in self.columns:
                raise InvalidInput(f"{self.name} has no column {column!r}; it has {quoted(self.columns)}.")

    def check_decimals(self, columns: Sequence[str]) -> None:
        """Refuses numbers with a comma beside numbers with a dot where either may mark decimals."""
        if not self.decimal_comma:
            return
        first: dict[str, tuple[str, int]] = {}
        for row, cells in self.rows.items():
            for cell in (cells[column] for column in columns):
                for mark in ",.":
                    if mark in cell:
                        first.setdefault(mark, (cell, row))
        if len(first) == 2:
            (comma, there), (dot, here) = first[","], first["."]
            raise InvalidInput(
                f"{self.name} has numbers with a comma ({comma}, row {there}) and numbers with a dot ({dot}, row {here}); "
                "write all of them with the one that marks decimals."
            )


def read_table(path: str | os.PathLike[str], expected: Iterable[str] = (), *, if_unnamed: Sequence[str] = ()) -> Table:
    """Returns a CSV file as people and spreadsheets write it.

    Cells are separated by commas, semicolons or tabs. A byte order mark, UTF-16, the encoding of Western Windows, quoted cells, a
    first line ``sep=;`` and blank lines are understood; blanks around cells are not kept.

    Args:
        path: of the file.
        expected: names of columns that help to tell what separates cells, and that count in any case of their letters.
        if_unnamed: the columns of a file that starts with a row of numbers, and so does not name them.
    """
    name, wanted = os.fspath(path), list(expected)
    text = _text(path)
    separator = max(SEPARATORS, key=lambda mark: _fit(text, mark, {column.casefold() for column in wanted}))
    lines = _lines(text, separator, name)
    if not lines:
        raise InvalidInput(f"{name} is empty; its first line must name the columns.")
    spelt = {column.casefold(): column for column in wanted}
    unnamed = if_unnamed and all(is_number(cell, decimal_comma=separator != ",") for cell in lines[min(lines)])
    header = list(if_unnamed) if unnamed else [spelt.get(cell.casefold(), cell) for cell in lines.pop(min(lines))]
    for cell in filter(None, header):
        if header.count(cell) > 1:
            raise InvalidInput(f"{name} has {cell!r} {header.count(cell)} times in its first line; name every column once.")
    for row, line in lines.items():
        if len(line) != len(header):
            raise InvalidInput(f"{name}, row {row}: the cells are {len(line)}, and the columns are {len(header)}.")
    kept = [place for place, column in enumerate(header) if column or place == 0]
    rows = {row: {header[place]: line[place] for place in kept} for row, line in lines.items()}
    return Table(name, tuple(header[place] for place in kept), rows, decimal_comma=separator != ",")


def is_number(cell: str, *, decimal_comma: bool) -> bool:
    """Whether a cell holds a number."""
    try:
        _number(cell, decimal_comma)
    except ValueError:
        return False
    return True


def _number(cell: str, decimal_comma: bool) -> float:
    return float(cell.replace(",", ".") if decimal_comma and cell.count(",") == 1 else cell)


def csv_text(header: Sequence[str], rows: Iterable[Sequence[Any] | Mapping[str, Any]]) -> str:
    """Returns a table as CSV, of rows in the order of the header or by its names."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows([row[name] for name in header] if isinstance(row, Mapping) else row for row in rows)
    return text.getvalue()


def markdown_table(header: Sequence[str], rows: Iterable[Sequence[str]], *, shown: Callable[[str], str] | None = None) -> str:
    r"""Returns a table in Markdown.

    Args:
        header: the names of the columns.
        rows: their cells.
        shown: what makes a cell Markdown; by default it is shown as it is, so that nothing in it is taken for markup.

    >>> print(markdown_table(["option", "time"], [["a|b", "1.5"]]))
    | option | time |
    | --- | --- |
    | a\|b | 1.5 |
    """
    show = shown or markdown_text
    lines = [list(map(show, header)), ["---"] * len(header), *(map(show, row) for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def markdown_text(text: str) -> str:
    """Returns a text on one line in which nothing is taken for Markdown or HTML."""
    return re.sub(r"([\\`*_\[\]#|~$])", r"\\\1", html.escape(" ".join(text.split()), quote=False))


def _text(path: str | os.PathLike[str]) -> str:
    """The text of a file in one of the encodings that spreadsheets use."""
    name = os.fspath(path)
    try:
        content = Path(path).read_bytes()
    except FileNotFoundError:
        raise MissingFile(f"there is no file {name}; check its name.") from None
    except OSError as problem:
        raise InvalidInput(f"{name} cannot be read: {problem.strerror}.") from None
    if content.startswith((b"PK\x03\x04", b"\xd0\xcf\x11\xe0")):
        raise InvalidInput(f"{name} is the file of a spreadsheet program; save the sheet as CSV there, and read that.")
    encodings = ("utf-16",) if content[:2] in (b"\xff\xfe", b"\xfe\xff") else ("utf-8-sig", "cp1252")
    for encoding in encodings:
        with suppress(UnicodeDecodeError):
            if "\0" not in (text := content.decode(encoding)):
                return text
    raise InvalidInput(f"{name} is not a text; save it as CSV in UTF-8.")


def _lines(text: str, separator: str, name: str) -> dict[int, list[str]]:
    """The cells of every row that has some, by its number in the file."""
    split = enumerate(_split(text, separator, name), start=1)
    lines = {row: [cell.strip() for cell in line] for row, line in split if any(map(str.strip, line))}
    if lines and len(first := lines[min(lines)]) <= 2 and first[0].startswith("sep="):  # for a spreadsheet, not for us
        del lines[min(lines)]
    return lines


def _split(text: str, separator: str, name: str) -> list[list[str]]:
    try:
        return list(csv.reader(io.StringIO(text, newline=""), delimiter=separator))
    except csv.Error as problem:
        raise InvalidInput(f"{name} is not a table: {problem}.") from None


def _fit(text: str, separator: str, expected: set[str]) -> tuple[int, int, bool]:
    """How well a separator explains a file: by expected columns, by columns at all, by as many cells in the second line."""
    lines = [line for line in text.splitlines() if line.strip()][:2]
    cells = [cells for line in lines for cells in _split(line, separator, "the first line")[:1]]
    header = cells[0] if cells else []
    known = expected & {cell.strip().casefold() for cell in header}
    return len(known), len(header), all(len(row) == len(header) for row in cells)
