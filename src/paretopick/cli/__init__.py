"""The command line, one file per verb. Results go to stdout, progress and errors to stderr."""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

from paretopick import __version__
from paretopick.cli import (
    ask,
    create,
    delete,
    demo,
    export,
    extend,
    fail,
    import_,
    paper,
    plan,
    release,
    report,
    result,
    retire,
    run,
    sheet,
    show,
    simulate,
    status,
    tell,
    void,
)
from paretopick.errors import ParetopickError

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
STUDIES = (
    plan,
    run,
    create,
    ask,
    tell,
    fail,
    release,
    void,
    retire,
    extend,
    status,
    result,
    report,
    sheet,
    import_,
    export,
    delete,
)
RESEARCH = (demo, show, simulate, paper)
for verb in (*STUDIES, *RESEARCH):
    app.command(verb.NAME, epilog=f"Example: {verb.EXAMPLE}")(verb.command)


def main() -> None:
    """Runs the command line; errors of ours are one line on stderr and exit code 2."""
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115 -- whoever closes it wants to see nothing
    sys.stdout.reconfigure(errors="replace")  # type: ignore[union-attr]  # a terminal without umlauts is no reason to stop
    try:
        try:
            app()
        finally:
            sys.stdout.flush()
    except ParetopickError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)
    except BrokenPipeError:  # the reader of a pipe, such as `head`, has seen enough
        _drop_output()
        sys.exit(1)
    except OSError as error:
        _drop_output()
        print(f"error: the result could not be written: {error}", file=sys.stderr)
        sys.exit(1)


def _drop_output() -> None:
    """Points stdout to nowhere, so that flushing it at the end does not fail again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"paretopick {__version__}")
        raise typer.Exit


@app.callback(epilog="Example: paretopick demo")
def paretopick(
    version: Annotated[bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Show it and exit.")] = False,
) -> None:
    """Find the Pareto-optimal options among many, when every measurement is noisy and only so many can be paid for."""
