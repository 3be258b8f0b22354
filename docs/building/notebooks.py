"""Tutorials in Python as notebooks: made from their pages, run by a kernel, and shown as pages with all that came out."""

from __future__ import annotations

import html
import re
import tempfile
from typing import Any

import nbformat
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from traitlets.config import Config

from building.pages import blocks_of, output_block
from building.sessions import surroundings


def notebook_of(page: str) -> Any:
    """Returns the notebook of a page: Python is a cell, and so are commands, with ``!``.

    What the page shows of outputs is left out; the cells above remember it as ``metadata.shown``.
    """
    cells: list[Any] = []
    for number, block in enumerate(blocks_of(page)):
        if block.kind == "text":
            cells[-1].metadata["shown"] = block.content
        elif block.kind == "python":
            cells.append(new_code_cell(block.content.rstrip(), id=f"cell-{number}"))
        elif block.kind == "sh":
            cells.append(new_code_cell("\n".join(f"!{line}" for line in block.content.splitlines()), id=f"cell-{number}"))
        elif block.source.strip():
            cells.append(new_markdown_cell(block.source.strip(), id=f"cell-{number}"))
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return new_notebook(cells=cells, metadata={"kernelspec": kernel, "language_info": {"name": "python"}})


def executed(notebook: Any) -> Any:
    """Returns the notebook with what its cells gave, run in an empty folder by a kernel of its own.

    Raises:
        nbclient.exceptions.CellExecutionError: a cell failed.
    """
    done = nbformat.from_dict(notebook)
    with tempfile.TemporaryDirectory() as folder:
        places = surroundings(folder) | {"IPYTHONDIR": f"{folder}/.ipython", "JUPYTER_RUNTIME_DIR": f"{folder}/.jupyter"}
        settings = Config(KernelManager={"transport": "ipc", "ip": f"{folder}/kernel"})  # the kernel warns of TCP, the default
        where = {"metadata": {"path": folder}}
        NotebookClient(done, timeout=600, kernel_name="python3", resources=where, config=settings).execute(env=places)
    for cell in done.cells:
        cell.metadata.pop("execution", None)  # when each cell began, which differs each time
    return done


def printed(cell: Any) -> str:
    """Returns all that a cell gave, as text."""
    pieces = (output.get("text") or output.get("data", {}).get("text/plain", "") for output in cell.get("outputs", ()))
    return "\n".join(pieces)


def page_of(notebook: Any) -> str:
    """Returns the page of an executed notebook: prose, code, and below it texts, tables and pictures."""
    parts = []
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            parts.append(cell.source)
        else:
            language = "sh" if cell.source.startswith("!") else "python"
            code = re.sub(r"^!", "", cell.source, flags=re.MULTILINE)
            parts += [f"````{language}\n{code}\n````", *filter(None, map(_shown, cell.outputs))]
    return "\n\n".join(parts) + "\n"


def to_take_away(notebook: Any) -> Any:
    """Returns the notebook for those who load it: without links, since the pages that they lead to stay here."""
    taken = nbformat.from_dict(notebook)
    for cell in taken.cells:
        cell.metadata.pop("shown", None)
        if cell.cell_type == "markdown":
            cell.source = re.sub(r"\[([^\]]+)\]\((?!\w+:)[^)]+\)", r"\1", cell.source)
    return taken


def _shown(output: Any) -> str:
    """One output in the richest form that it has; nothing for what was taken away again, such as lines of progress."""
    data = output.get("data", {})
    if data.get("text/html") == "":
        return ""
    if "text/html" in data:
        return _raw(data["text/html"])
    if "image/png" in data:
        described = html.escape(data.get("text/plain", "picture"))
        return _raw(f'<img alt="{described}" src="data:image/png;base64,{data["image/png"].strip()}">')
    return output_block(output.get("text") or data.get("text/plain", ""))


def _raw(content: str) -> str:
    return f'````{{raw}} html\n<div class="output">\n{content}\n</div>\n````'
