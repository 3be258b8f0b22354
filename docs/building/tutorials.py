"""An extension of Sphinx: tutorials are run while the site is built, and show what came out.

What was run is kept with Sphinx's own files and is run again when the page or the code of the package has changed. With
``run_tutorials = "notebooks"`` only those in Python are run, for a build of seconds.
"""

from __future__ import annotations

import datetime
import functools
import hashlib
import json
import platform
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import nbformat
from pygments.lexers.special import TextLexer
from sphinx.application import Sphinx
from sphinx.util import logging

import paretopick
from building.notebooks import executed, notebook_of, page_of, printed, to_take_away
from building.pages import not_printed, with_captions, with_outputs
from building.sessions import NotAsShown, outputs_of

NOTEBOOKS = ("tutorials/machine-learning-engineer",)
"""The tutorials in Python; the others are typed into a terminal."""

LOG = logging.getLogger(__name__)

_running: dict[str, Future[dict[str, Any]]] = {}


def setup(app: Sphinx) -> None:
    """Runs tutorials from the beginning of a build, side by side, and waits for each where its page is read."""
    app.add_config_value("run_tutorials", "all", "env", str)
    app.add_lexer("csv", TextLexer)
    app.connect("builder-inited", _start)
    app.connect("source-read", _fill_in)
    app.connect("build-finished", _hand_out)


def _start(app: Sphinx) -> None:
    _running.clear()
    pages = sorted(path.relative_to(app.srcdir).with_suffix("").as_posix() for path in Path(app.srcdir).glob("tutorials/*.md"))
    chosen = [name for name in pages if name in NOTEBOOKS or app.config.run_tutorials == "all"]
    pool = ThreadPoolExecutor()
    for name in chosen:
        _running[name] = pool.submit(
            _kept, Path(app.srcdir, f"{name}.md").read_text(encoding="utf-8"), name, Path(app.doctreedir)
        )
    pool.shutdown(wait=False)


def _kept(page: str, name: str, folder: Path) -> dict[str, Any]:
    """What the page gave, from the last time if neither it nor the code has changed since."""
    digest = hashlib.sha256(page.encode() + _code()).hexdigest()[:20]
    path = folder / "tutorials" / f"{Path(name).name}-{digest}.json"
    if path.exists():
        return json.loads(path.read_text(encoding="utf-8"))
    given = {"when": f"{datetime.date.today():%-d %B %Y}"} | (
        _notebook(page) if name in NOTEBOOKS else {"outputs": outputs_of(page)}
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    for old in path.parent.glob(f"{Path(name).name}-*.json"):
        old.unlink()
    path.write_text(json.dumps(given), encoding="utf-8")
    return given


@functools.cache
def _code() -> bytes:
    """A digest of the package, with the scripts of its pictures, and of what runs tutorials."""
    files = [
        *(path for kind in ("py", "js", "css") for path in Path(paretopick.__file__).parent.rglob(f"*.{kind}")),
        *(Path(__file__).with_name(f"{name}.py") for name in ("notebooks", "sessions")),
    ]
    return hashlib.sha256(b"".join(path.read_bytes() for path in sorted(files))).digest()


def _notebook(page: str) -> dict[str, Any]:
    done = executed(notebook_of(page))
    for cell in done.cells:
        if missing := not_printed(cell.metadata.get("shown", ""), printed(cell)):
            raise NotAsShown(f"{missing[0]!r} was not printed, but:\n{printed(cell)}")
    return {"notebook": done}


def _fill_in(app: Sphinx, name: str, content: list[str]) -> None:
    """Puts what came out into the page of a tutorial, and says below its title where it is from."""
    if not name.startswith("tutorials/"):
        return
    said = "The tests of the project run every command of this page and compare what is printed; `...` stands for what differs."
    if name in _running:
        try:
            given = _running[name].result()
        except Exception as error:  # whatever a tutorial can do wrong: the build says so and fails
            LOG.warning("%s", error, location=name)
            return
        where = f"{given['when']}, paretopick {paretopick.__version__}, Python {platform.python_version()}"
        said = f"This page was run when the site was built ({where}): what is shown below commands is what they printed."
        if name in NOTEBOOKS:
            content[0] = page_of(nbformat.from_dict(given["notebook"]))
            file = f"{Path(name).name}.ipynb"
            said = said.replace("commands is what they printed", "cells is what they gave")
            said += f' It is also <a href="{file}" download>a notebook</a>.'
        else:
            content[0] = with_outputs(content[0], given["outputs"])
    title, _, rest = with_captions(content[0]).partition("\n")
    content[0] = f"{title}\n\n:::{{container}} how-made\n{said}\n:::\n{rest}"


def _hand_out(app: Sphinx, error: Exception | None) -> None:
    """Writes the notebooks beside their pages."""
    for name in NOTEBOOKS:
        if error is None and name in _running and not _running[name].exception():
            notebook = to_take_away(nbformat.from_dict(_running[name].result()["notebook"]))
            Path(app.outdir, f"{name}.ipynb").write_text(nbformat.writes(notebook), encoding="utf-8")
