"""``paretopick report``: one page about a study."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from paretopick._arrays import check_choice
from paretopick._files import write_whole
from paretopick._words import joined
from paretopick.cli.arguments import BaselineGiven, Force, Json, OnlyName, Storage, open_study
from paretopick.cli.output import check_target, print_json, say
from paretopick.errors import InvalidInput

NAME = "report"
EXAMPLE = "paretopick report boosters -o report.html"
FORMATS = ("html", "md")


def command(
    name: OnlyName = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="The file to write.  [default: STUDY.html or STUDY.md]", show_default=False)
    ] = None,
    form: Annotated[
        str | None,
        typer.Option(
            "--format",
            help="html for one page, or md for Markdown with its pictures beside it.  [default: as the file is called, or html]",
            show_default=False,
        ),
    ] = None,
    rehearsals: Annotated[
        int | None,
        typer.Option(
            help="How often to simulate the study as if the measured means were true.  [default: 500]",
            show_default=False,
        ),
    ] = None,
    baseline: BaselineGiven = None,
    force: Force = False,
    storage: Storage = None,
    as_json: Json = False,
) -> None:
    """Write one page about a study, with pictures.

    It has the answer in one sentence, how sure that is, what to do next, how it was measured, what went wrong, and how to do it
    again. It is one HTML file that needs nothing else, and can be written at any time of a study. A report that is there already
    is replaced.
    """
    from paretopick.report import MARK, PICTURES, make_report, picture_path, to_html, to_markdown, write_pictures

    chosen = check_choice(form or _format_of(out), FORMATS, "format")
    study = open_study(name, storage)
    path = out if out is not None else Path(f"{study.name.replace('/', '-')}.{chosen}")
    again = force or _is_report(path, MARK)
    check_target(path, force=again)
    for picture in PICTURES if chosen == "md" else ():
        check_target(picture_path(path, picture), force=again)
    made = make_report(study, rehearsals=rehearsals, baseline=baseline)
    written = [path]
    if chosen == "html":
        write_whole(path, to_html(made).encode())
    else:
        pictures = write_pictures(made, path)
        write_whole(path, to_markdown(made, {key: file.name for key, file in pictures.items()}).encode())
        written += pictures.values()
    if as_json:
        said = {"answer": made.answer, "how_sure": made.how_sure, "next_step": made.next_step}
        print_json({"study": study.name, "files": [str(file) for file in written], **said})
        return
    say(made.answer)
    say(made.how_sure)
    if made.next_step is not None:
        say(made.next_step)
    print(f"Wrote the report to {joined([str(file) for file in written])}")


def _format_of(out: Path | None) -> str:
    """What a file is by its name."""
    known = {".html": "html", ".htm": "html", ".md": "md", ".markdown": "md"}
    if out is None:
        return "html"
    if out.suffix.lower() not in known:
        raise InvalidInput(f"{out} is called neither .html nor .md; choose such a name, or say --format html.")
    return known[out.suffix.lower()]


def _is_report(path: Path, mark: str) -> bool:
    """Whether a file was written by this command."""
    try:
        with path.open(encoding="utf-8") as file:
            return mark in file.read(1000)
    except (OSError, UnicodeDecodeError):
        return False
