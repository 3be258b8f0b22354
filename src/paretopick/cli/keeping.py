"""The verbs that look after a database of studies: check it, back it up, and restore from a backup."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from paretopick._words import counted, listed
from paretopick.cli.arguments import Force, Json, Storage
from paretopick.cli.output import check_target, print_json, say
from paretopick.cli.progress import work_bar
from paretopick.errors import InvalidInput, MissingFile, UnknownName
from paretopick.studies.checks import Checked, check_storage


def check(
    name: Annotated[
        str | None,
        typer.Argument(metavar="STUDY", help="The name of the study; without one, all are checked.", show_default=False),
    ] = None,
    storage: Storage = None,
    as_json: Json = False,
) -> None:
    """Check that nothing of a study is missing or was changed.

    Every event, what is out with workers, and all counts are looked at, while others may go on. Nothing is changed. If anything
    is wrong it is listed with what to do, and the exit code is 1.
    """
    try:
        with work_bar() as advance:
            checked = check_storage(storage, [] if name is None else [name], progress=advance)
    except (MissingFile, UnknownName) as problem:
        if name is not None and Path(name).is_file():
            problem.args = (f"{problem} To check the file {name}, write --storage {shlex.quote(name)}.",)
        raise
    if as_json:
        print_json(checked.to_dict())
    else:
        _print_checked(checked)
    if not checked.fine:
        raise typer.Exit(1)


def backup(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The file to write, an SQLite database.", show_default=False)],
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="STUDIES", help="The names of the studies.  [default: all in the database]", show_default=False),
    ] = None,
    force: Force = False,
    storage: Storage = None,
    as_json: Json = False,
) -> None:
    """Write all studies of a database, or those that are named, into one file.

    It has them as they are at one moment, while others may go on; every event is verified before the file gets its name. It can
    be used as a storage, and "restore" reads it.
    """
    from paretopick.storage.backups import backup as write_backup  # loads SQLAlchemy

    check_target(file, force=force)
    with work_bar() as advance:
        written = write_backup(storage, file, names or (), overwrite=force, progress=advance)
    if as_json:
        print_json(written._asdict())
    else:
        what = f"{_studies(len(written.studies))} with {counted(written.events, 'event')}"
        say(f"Wrote {what} to {file}, and verified them.")


def restore(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="A backup, or any other SQLite database of studies.", show_default=False)
    ],
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="STUDIES", help="The names of the studies.  [default: all in the file]", show_default=False),
    ] = None,
    replace: Annotated[
        bool, typer.Option("--replace", help="Delete studies of the same names; without this, only say what would be lost.")
    ] = False,
    storage: Storage = None,
    as_json: Json = False,
) -> None:
    """Bring studies back from a backup.

    All of them come back, or none if anything is wrong. Whoever still works on a study that is replaced is told that it is gone;
    sheets and other measurements that were out when the backup was made can still be told.
    """
    from paretopick.storage.backups import StudiesThere  # loads SQLAlchemy
    from paretopick.storage.backups import restore as read_backup

    try:
        with work_bar() as advance:
            restored = read_backup(file, storage, names or (), replace=replace, progress=advance)
    except StudiesThere as refusal:
        raise InvalidInput(f"{refusal.there} Add --replace to replace what is there.") from None
    if as_json:
        print_json(restored._asdict())
        return
    say(f"Restored {listed(restored.studies)} with {counted(restored.events, 'event')} from {file}.")
    for name, n in restored.lost.items():
        say(f"{name!r} was replaced, and {counted(n, 'measurement')} with it that the backup does not have.")


def _print_checked(checked: Checked) -> None:
    wrong = [finding for finding in checked.findings if not finding.harmless]
    for finding in wrong:
        say(f"Wrong in {finding}")
    for finding in checked.findings:
        if finding.harmless:
            say(f"Note on {finding}")
    events, leases = counted(checked.events, "event"), counted(checked.leases, "measurement")
    seen = f"{_studies(len(checked.studies))} with {events}, {leases} out with workers"
    if wrong:
        say(f"{counted(len(wrong), 'thing')} wrong in {checked.storage} ({seen}).")
    else:
        say(f"All is well in {checked.storage}: {seen}. Every event is there as it was written.")


def _studies(n: int) -> str:
    return "1 study" if n == 1 else f"{n:,} studies"


VERBS: dict[str, tuple[Callable[..., None], str]] = {
    "check": (check, "paretopick check boosters"),
    "backup": (backup, "paretopick backup boosters-monday.db"),
    "restore": (restore, "paretopick restore backup.db boosters --replace"),
}
"""By name, each with an example."""
