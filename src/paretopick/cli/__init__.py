"""The command line. Results go to stdout, progress and errors to stderr."""

from __future__ import annotations

import contextlib
import functools
import inspect
import os
import sys
import warnings
from collections.abc import Callable, Iterator
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from paretopick import __version__
from paretopick.cli import amendments, demo, keeping, paper, plan, report, run, sheets, show, simulate, studies, tournament
from paretopick.cli.output import note, say
from paretopick.errors import OutcomeUnknown, ParetopickError, UnsafeStorage
from paretopick.storage.addresses import masked


def _verbs(*modules: Any) -> dict[str, tuple[Callable[..., None], str]]:
    """The verbs of modules that have one each, by name, with their examples."""
    return {module.NAME: (module.command, module.EXAMPLE) for module in modules}


SECTIONS = {
    "Studies": _verbs(plan, run) | studies.VERBS | _verbs(report),
    "Changes to studies": amendments.VERBS,
    "Tables of studies": sheets.VERBS,
    "Databases of studies": keeping.VERBS,
    "Research": _verbs(demo, show, simulate, paper, tournament),
}
"""The verbs as the help lists them, each with an example."""


class _Sections(TyperGroup):
    """Lists the verbs in sections, each with the whole first sentence of its help."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # types of click, which some releases of typer bring along
        """Writes the sections."""
        for title, verbs in SECTIONS.items():
            with formatter.section(title):
                formatter.write_dl([(name, _first_paragraph(command)) for name, (command, _) in verbs.items()])

    def make_context(self, *args: Any, **kwargs: Any) -> Any:
        """Reads the words of the command line."""
        with _masked_problems():
            return super().make_context(*args, **kwargs)

    def invoke(self, ctx: Any) -> Any:
        """Runs a verb, after reading the words that follow it."""
        with _masked_problems():
            return super().invoke(ctx)


@contextlib.contextmanager
def _masked_problems() -> Iterator[None]:
    """Words of a command line that cannot be used are shown without the passwords in them."""
    try:
        yield
    except Exception as problem:
        if isinstance(message := getattr(problem, "message", None), str):
            problem.message = masked(message)  # type: ignore[attr-defined]
        raise


def _first_paragraph(documented: Callable[..., None]) -> str:
    return " ".join((inspect.getdoc(documented) or "").partition("\n\n")[0].split())


app = typer.Typer(
    cls=_Sections,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for _section in SECTIONS.values():
    for _name, (_command, _example) in _section.items():
        app.command(_name, epilog=f"Example: {_example}")(_command)


def main() -> None:
    """Runs the command line; errors of ours are one line on stderr and exit code 2."""
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115 -- whoever closes it wants to see nothing
    sys.stdout.reconfigure(errors="replace")  # type: ignore[union-attr]  # a terminal without umlauts is no reason to stop
    try:
        try:
            with warnings.catch_warnings():
                warnings.showwarning = functools.partial(_show_warning, warnings.showwarning)
                app()
        finally:
            sys.stdout.flush()
    except ParetopickError as error:
        say(masked(f"error: {error}"), stream=sys.stderr)
        if isinstance(error, OutcomeUnknown) and error.request is not None:
            say(f"The same again, to count once: add --request {error.request}", stream=sys.stderr)
        sys.exit(2)
    except BrokenPipeError:  # the reader of a pipe, such as `head`, has seen enough
        _drop_output()
        sys.exit(1)
    except OSError as error:
        _drop_output()
        print(f"error: the result could not be written: {error}", file=sys.stderr)
        sys.exit(1)


def _show_warning(usual: Callable[..., None], message: Warning | str, category: type[Warning], *place: Any, **more: Any) -> None:
    """Says what concerns people in a sentence, and leaves the rest to Python."""
    if issubclass(category, UnsafeStorage):
        note(str(message))
    else:
        usual(message, category, *place, **more)


def _drop_output() -> None:
    """Points stdout to nowhere, so that flushing it at the end does not fail again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"paretopick {__version__}")
        raise typer.Exit


@app.callback(epilog="Example: paretopick demo")
def paretopick(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Find the Pareto-optimal options among many, when every measurement is noisy and only so many can be paid for."""
