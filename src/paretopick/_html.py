"""Pieces of HTML for notebooks: without colours of their own, so that they are read on light and on dark pages."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence


def paragraphs(lines: Iterable[str]) -> str:
    """Returns a paragraph for each line, in which nothing is taken for markup.

    >>> paragraphs(["a < b"])
    '<p>a &lt; b</p>'
    """
    return "".join(f"<p>{html.escape(line)}</p>" for line in lines)


NUMBERS = ' style="white-space: nowrap"'
TEXTS = ' style="text-align: left; white-space: nowrap"'
LONG_TEXTS = ' style="text-align: left; white-space: normal; min-width: 22em"'
"""Attributes of cells: notebooks put what is in them to the right, and break it, unless each cell says otherwise."""


def table(header: Sequence[str], rows: Iterable[Sequence[str]], *, places: Sequence[str] = (), kinds: Sequence[str] = ()) -> str:
    """Returns a table, in which nothing is taken for markup.

    Args:
        header: the names of the columns.
        rows: their cells.
        places: attributes of the cells of each column, with a blank before them, by default those of numbers.
        kinds: classes of the rows, by default none.
    """
    attributes = places or [NUMBERS] * len(header)
    lines = list(rows)
    classes = [f' class="{kind}"' for kind in kinds] or [""] * len(lines)
    head = "".join(f"<th{place}>{html.escape(name)}</th>" for place, name in zip(attributes, header, strict=True))
    body = "".join(
        f"<tr{kind}>"
        + "".join(f"<td{place}>{html.escape(cell)}</td>" for place, cell in zip(attributes, row, strict=True))
        + "</tr>\n"
        for kind, row in zip(classes, lines, strict=True)
    )
    return f"<table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}</tbody>\n</table>"
