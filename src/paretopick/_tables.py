"""Tables in texts: CSV files of people and spreadsheets in, CSV and Markdown out."""

from __future__ import annotations

import csv
import html
import io
import json
import math
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from paretopick._files import path_text, read_whole
from paretopick._texts import NUMBER, number_of
from paretopick._words import quoted, short
from paretopick.errors import InvalidInput

SEPARATORS = ",;\t"

FORMULA = re.compile(r"[\t\r\n]|\s*['=+@\-\uff1d\uff0b\uff0d\uff20]")
"""How a cell begins that spreadsheets would take for a formula and run, or that begins as such a cell is written."""

THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}([,.])\d{3}", re.ASCII)
"""A number whose comma or dot may mark thousands as well as decimals."""


@dataclass(frozen=True)
class Table:
    """A CSV file: its rows by their number in the file, each by the names in the first line."""

    name: str
    columns: tuple[str, ...]
    """Without a name only the first can be; other columns without one are left out."""
    rows: dict[int, dict[str, str]]
    separator: str
    """Of its cells. Where it is not a comma, commas mark decimals."""

    def place(self, row: int) -> str:
        """Returns where a row is, as errors name it."""
        return f"{self.name}, row {row}"

    @property
    def decimal_comma(self) -> bool:
        """Whether 1,5 is a number: commas do not separate cells."""
        return self.separator != ","

    def number(self, row: int, column: str) -> float:
        """Returns a cell as a number; ``check_decimals`` has made sure that there is one way to read it."""
        cell = self.rows[row][column]
        try:
            return _number(cell, self.decimal_comma)
        except ValueError:
            raise InvalidInput(f"{self.place(row)}: {short(cell)} under {column!r} is not a number.") from None

    def value(self, row: int, column: str) -> Any:
        """Returns a cell: a number if it is written as one and nothing else could be meant, a text, or None."""
        cell = self.rows[row][column]
        if re.fullmatch(r"-?(0|[1-9]\d{0,14})", cell, re.ASCII):
            return int(cell)
        plain = cell.replace(",", ".") if self.decimal_comma and "." not in cell else cell
        unclear = self.decimal_comma and THOUSANDS.fullmatch(cell)
        if NUMBER.fullmatch(plain) and not re.match(r"[+-]?0\d", plain) and not unclear:
            return float(plain) if math.isfinite(float(plain)) else cell
        return cell or None

    def check_columns(self, needed: Iterable[str]) -> None:
        """Refuses a table without a column."""
        for column in needed:
            if column not in self.columns:
                raise InvalidInput(f"{self.name} has no column {column!r}; it has {quoted(self.columns)}.")

    def check_decimals(self, columns: Sequence[str]) -> None:
        """Refuses numbers whose comma or dot may mark decimals as well as thousands.

        In a file whose cells are separated by commas a dot marks decimals, and so it does between tabs. Elsewhere the other
        numbers tell: 1,234 is 1.234 if there is 1,5 or 0,125, too, in which the comma cannot mark thousands.
        """
        if not self.decimal_comma:
            return
        first: dict[str, tuple[str, int]] = {}
        unclear: dict[str, tuple[str, int, str]] = {}
        clear = {"."} if self.separator == "\t" else set()
        for row, cells in self.rows.items():
            for column in columns:
                for mark in filter(cells[column].__contains__, ",."):
                    first.setdefault(mark, (cells[column], row))
                    if THOUSANDS.fullmatch(cells[column]):
                        unclear.setdefault(mark, (cells[column], row, column))
                    else:
                        clear.add(mark)
        if len(first) == 2:
            (comma, there), (dot, here) = first[","], first["."]
            raise InvalidInput(
                f"{self.name} has numbers with a comma ({comma}, row {there}) and numbers with a dot ({dot}, row {here}); "
                "write all of them with the one that marks decimals."
            )
        for mark, (cell, row, column) in unclear.items():
            if mark not in clear:
                raise InvalidInput(
                    f"{self.place(row)}: {cell!r} under {column!r} can be {cell.replace(mark, '')} or {cell.replace(mark, '.')}, "
                    f"and no other number tells which; write {cell.replace(mark, '')}, or with one more decimal {cell}0."
                )


def read_table(path: str | os.PathLike[str], expected: Iterable[str] = (), *, if_unnamed: Sequence[str] = ()) -> Table:
    """Returns a CSV file as people and spreadsheets write it.

    Cells are separated by commas, semicolons or tabs. A byte order mark, UTF-16, the encoding of Western Windows, quoted cells, a
    first line ``sep=;`` and blank lines are understood; blanks around cells are not kept. An apostrophe that ``csv_text`` has put
    before a cell is taken away.

    Args:
        path: of the file.
        expected: names of columns that help to tell what separates cells, and that count in any case of their letters.
        if_unnamed: the columns of a file that starts with a row of numbers, and so does not name them.
    """
    name, wanted = path_text(path), list(expected)
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
    return Table(name, tuple(header[place] for place in kept), rows, separator)


def is_number(cell: str, *, decimal_comma: bool) -> bool:
    """Whether a cell holds a number."""
    try:
        _number(cell, decimal_comma)
    except ValueError:
        return False
    return True


def _number(cell: str, decimal_comma: bool) -> float:
    return number_of(cell.replace(",", ".") if decimal_comma and cell.count(",") == 1 and "." not in cell else cell)


def csv_text(header: Sequence[str], rows: Iterable[Sequence[Any] | Mapping[str, Any]]) -> str:
    """Returns a table as CSV, of rows in the order of the header or by its names.

    Texts that a spreadsheet would run as a formula get an apostrophe in front, which ``read_table`` takes away again.

    >>> print(csv_text(["option", "=x"], [["-a", -1.5], ["'b", "-1.5"]]))
    option,'=x
    '-a,-1.5
    ''b,-1.5
    <BLANKLINE>
    """
    lines = (([row[name] for name in header] if isinstance(row, Mapping) else row) for row in rows)
    return "".join(map(_csv_line, (header, *lines)))


def _csv_line(cells: Iterable[Any]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\r\n").writerow(map(_harmless, cells))  # both of which are quoted then, in a cell
    return text.getvalue().removesuffix("\r\n") + "\n"


def _harmless(cell: Any) -> Any:
    """A cell that no spreadsheet runs: texts that begin as formulas do, or with an apostrophe, get one in front."""
    return f"'{cell}" if isinstance(cell, str) and _is_formula(cell) else cell


def _is_formula(text: str) -> bool:
    return FORMULA.match(text) is not None and NUMBER.fullmatch(text) is None


def _as_meant(cell: str) -> str:
    """What ``_harmless`` was given; what a person has written with an apostrophe stays, unless it is followed by a formula."""
    return cell[1:] if cell.startswith("'") and _is_formula(cell[1:]) else cell


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
    name, content = path_text(path), read_whole(path)
    if content.startswith((b"PK\x03\x04", b"\xd0\xcf\x11\xe0")):
        raise InvalidInput(f"{name} is the file of a spreadsheet program; save the sheet as CSV there, and read that.")
    if _is_json(content):
        raise InvalidInput(f"{name} is JSON, and tables are read as CSV; export it as CSV, and read that.")
    encodings = ("utf-16",) if content[:2] in (b"\xff\xfe", b"\xfe\xff") else ("utf-8-sig", "cp1252")
    for encoding in encodings:
        with suppress(UnicodeDecodeError):
            if "\0" not in (text := content.decode(encoding)):
                return text
    raise InvalidInput(f"{name} is not a text; save it as CSV in UTF-8.")


def _is_json(content: bytes) -> bool:
    """Whether a file is an object or a list of JSON; a table may begin as one does, too."""
    if not content.lstrip().startswith((b"{", b"[")):
        return False
    try:
        json.loads(content)
    except (ValueError, RecursionError):
        return False
    return True


def _lines(text: str, separator: str, name: str) -> dict[int, list[str]]:
    """The cells of every row that has some, by its number in the file."""
    split = enumerate(_split(text, separator, name), start=1)
    lines = {row: [_as_meant(cell.strip()) for cell in line] for row, line in split if any(map(str.strip, line))}
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
    known = expected & {_as_meant(cell.strip()).casefold() for cell in header}
    return len(known), len(header), all(len(row) == len(header) for row in cells)
