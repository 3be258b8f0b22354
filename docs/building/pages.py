"""What the pages of tutorials consist of: files, commands, Python, and what these print."""

from __future__ import annotations

import re
import textwrap
from typing import NamedTuple

_FENCED = re.compile(r"^```(\w+)(?: ([\w.-]+))?\n(.*?)^```\n", re.MULTILINE | re.DOTALL)


class Block(NamedTuple):
    """A piece of a page.

    Attributes:
        kind: ``prose``, or the language of a fenced block: ``sh`` is typed into a shell, ``python`` is a cell of a notebook,
            and ``text`` is a part of what the block before it prints.
        name: of the file that it is, such as ``models.py``.
        content: without the fences.
        source: as it stands on the page.
    """

    kind: str
    name: str
    content: str
    source: str


def blocks_of(page: str) -> list[Block]:
    """Returns all pieces of a page, in order; their sources together are the page."""
    found, end = [], 0
    for fenced in _FENCED.finditer(page):
        if prose := page[end : fenced.start()]:
            found.append(Block("prose", "", prose, prose))
        kind, name, content = fenced.groups(default="")
        found.append(Block(kind, name, content, fenced.group()))
        end = fenced.end()
    return [*found, Block("prose", "", page[end:], page[end:])] if page[end:] else found


def not_printed(shown: str, output: str) -> list[str]:
    """Returns the lines of a page that are not in the output; ``...`` stands for anything, and ends of a line may be missing."""
    patterns = ((line, r".*".join(re.escape(part.strip()) for part in line.split("..."))) for line in shown.splitlines())
    return [line for line, pattern in patterns if not re.search(pattern, output)]


def with_outputs(page: str, outputs: list[str]) -> str:
    """Returns the page with the whole output in the place of each part of it that is shown."""
    parts, printed, last = [], iter(outputs), ""
    for block in blocks_of(page):
        if block.kind == "sh":
            last = next(printed)
        parts.append(output_block(last) if block.kind == "text" else block.source)
    return "".join(parts)


def output_block(text: str) -> str:
    """Returns what shows an output, with sentences folded as by a terminal; rows of tables are left alone."""
    lines = (line.rstrip() if "  " in line else "\n".join(textwrap.wrap(line, 92)) for line in text.rstrip().splitlines())
    return "````{code-block} text\n:class: output\n\n" + "\n".join(lines) + "\n````\n"


def with_captions(page: str) -> str:
    """Returns the page with the name of each file above it."""
    return "".join(
        f"```{{code-block}} {block.kind}\n:caption: {block.name}\n\n{block.content}```\n" if block.name else block.source
        for block in blocks_of(page)
    )
