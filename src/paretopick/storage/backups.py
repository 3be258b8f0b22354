"""Backups: all studies of a database in one SQLite file, and back into a database of any kind.

A backup is a storage like any other: it can be opened, checked, and restored from.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import sqlalchemy as sql

from paretopick._files import path_text, whole_file
from paretopick._words import counted, joined, quoted
from paretopick.errors import InvalidInput, LogDamaged, MissingFile, OutcomeUnknown, StorageFailed
from paretopick.storage import StorageChoice, open_storage
from paretopick.storage.chain import FIELDS
from paretopick.storage.contract import PAGE, check_study
from paretopick.storage.dialects import Taken, sqlite_file
from paretopick.storage.files import start_anew
from paretopick.storage.memory import Copy, MemoryStorage
from paretopick.storage.records import Records, StudyRow, Unreadable, hash_at, open_file, open_records
from paretopick.storage.schema import bring_up_to_date, checkpoints, events, leases, studies
from paretopick.storage.sql import SQLStorage, delete_rows, read_event, read_leases, read_study

Progress = Callable[[str, float, float], None]
"""Is told what is being done, how much of it is done, and of how much."""

ATTEMPTS = 3
"""As often is a restore tried whose outcome is not known, or that others have come before."""


class Backup(NamedTuple):
    """What was written."""

    path: str
    studies: tuple[str, ...]
    events: int


class Restored(NamedTuple):
    """What was brought back."""

    studies: tuple[str, ...]
    events: int
    lost: Mapping[str, int]
    """For each study that was replaced, how many measurements it had that the backup does not have."""


class StudiesThere(InvalidInput):
    """Names of studies to be restored are taken; ``there`` says by what. Nothing was changed."""

    def __init__(self, there: str) -> None:
        super().__init__(f"{there} Restore with replace=True to replace what is there.")
        self.there = there

    def __reduce__(self) -> tuple[type[StudiesThere], tuple[str]]:
        return type(self), (self.there,)


def backup(
    storage: StorageChoice,
    path: str | os.PathLike[str],
    names: Iterable[str] = (),
    *,
    overwrite: bool = False,
    progress: Progress | None = None,
) -> Backup:
    """Writes studies of a database into a file, as they are at one moment, whoever writes meanwhile.

    The file is an SQLite database whatever it was made from. Before it gets its name the chain of every study in it is verified,
    so that a damaged study never takes the place of an older backup.

    Args:
        storage: the URL of a database, the path of an SQLite file, or an open storage; None for the usual place.
        path: of the file.
        names: of the studies; all by default.
        overwrite: whether a file of that name is replaced.
        progress: is told what is being done, how much is done, and of how much.
    """
    target = Path(path_text(path))
    tell = progress or _silent
    with open_records(storage) as records:
        if records.empty:
            raise InvalidInput(f"{records.shown} never held a study; check the storage and the working folder.")
        _check_target(target, records.path, overwrite)
        wanted = [names] if isinstance(names, str) else list(names)
        with whole_file(target) as half, _source_named(records, "no backup was written"):
            if records.is_file and not wanted:
                records.copy_file(str(half), lambda done, all_: tell("copying", done, all_) if all_ > PAGE else None)
            else:
                _export(records, wanted, half, target, tell)
            with open_file(half) as copy:
                found = copy.studies()
                _verify_all(copy, found, tell)
    return Backup(str(target), tuple(sorted(study.name for study in found)), sum(study.n_events for study in found))


def restore(
    path: str | os.PathLike[str],
    storage: StorageChoice = None,
    names: Iterable[str] = (),
    *,
    replace: bool = False,
    progress: Progress | None = None,
) -> Restored:
    """Copies studies from a backup into a storage of any kind: all of them, or none.

    They get new ids and tokens, so whoever still works on a study that is replaced is told that it is gone. What was out with
    workers is out with them again. If a study is replaced, new measurements get numbers that neither had.

    Args:
        path: of the backup, which is any SQLite database of studies; it is not changed.
        storage: the URL of a database, the path of an SQLite file, or an open storage; None for the usual place.
        names: of the studies; all that the backup has by default.
        replace: whether studies of the same names are deleted, with all that is not in the backup.
        progress: is told what is being done, how much is done, and of how much.
    """
    name = path_text(path)
    if not os.path.isfile(name):
        raise MissingFile(f"there is no backup {name}; check its name.")
    tell = progress or _silent
    with open_records(Path(name)) as records:
        with _source_named(records, "nothing was restored"):
            chosen = _choose(records, [names] if isinstance(names, str) else list(dict.fromkeys(names)))
            _verify(records, chosen, tell)
        target = open_storage(storage)
        if isinstance(target, MemoryStorage):
            lost = _into_memory(records, chosen, target, replace)
        elif isinstance(target, SQLStorage):
            if _same_file(records.path, target.database.path):
                raise InvalidInput(f"{name} is the storage itself; name a backup of it, or another storage.")
            lost = _Restoring(records, chosen, target, replace, tell).run()
        else:
            raise InvalidInput(f"studies cannot be restored into {target!r}; name a file, or give the address of a database.")
    return Restored(tuple(study.name for study in chosen), sum(study.n_events for study in chosen), lost)


def _check_target(target: Path, source: str | None, overwrite: bool) -> None:
    if _same_file(str(target), source):
        raise InvalidInput(f"{target} is the database itself; choose another name for its backup.")
    if not target.parent.is_dir():
        raise InvalidInput(f"there is no folder {target.parent}; make it first, or choose another name.")
    if target.is_dir():
        raise InvalidInput(f"{target} is a folder; name a file in it, such as {target / 'backup.db'}.")
    if target.exists() and not overwrite:
        raise InvalidInput(f"{target} is there already; choose another name, or say that it is to be overwritten.")
    for ending in ("-wal", "-journal"):  # which SQLite would apply to the new file
        if os.path.exists(f"{target}{ending}"):
            raise InvalidInput(
                f"{target}{ending} is there, so somebody uses {target} as a database, or was stopped in the middle of that; "
                "choose another name."
            )


def _same_file(one: str | None, other: str | None) -> bool:
    return None not in (one, other) and os.path.realpath(str(one)) == os.path.realpath(str(other))


@contextmanager
def _source_named(records: Records, what: str) -> Iterator[None]:
    """Damage is said of the database that it is in, not of a copy, with what was not done."""
    try:
        yield
    except LogDamaged as problem:
        raise LogDamaged(f"{records.shown} is damaged, and {what}: {problem}") from None
    except Unreadable as problem:
        remedy = start_anew(os.path.abspath(records.path or ""))
        raise StorageFailed(f"{records.shown} is damaged, and {what}: {problem}; {remedy}.") from problem


def _export(records: Records, names: Sequence[str], half: Path, target: Path, tell: Progress) -> None:
    """Writes studies, all if none is named, into a new file; ids and tokens are kept."""
    rows = records.studies()
    for name in names:
        check_study(name, [row.name for row in rows], records.shown)
    if names:
        rows = [row for row in rows if row.name in names]
        _verify_all(records, rows, tell)  # what is damaged may not even be copied
    database = sqlite_file(half)
    database.shown = str(target)
    bring_up_to_date(database)
    copied = _count("copying", rows, tell)
    with database.writing() as connection:
        for row in rows:
            connection.execute(sql.insert(studies).values(row._asdict()))
            _copy(records, row.id, connection, row.id, copied)
            if kept := records.checkpoint(row.id):
                state = dict(zip(("position", "head", "state", "hash"), kept, strict=True))
                connection.execute(sql.insert(checkpoints).values(study_id=row.id, **state))


def _verify(records: Records, chosen: Sequence[StudyRow], tell: Progress) -> None:
    followed = _count("verifying", chosen, tell)
    for study in chosen:
        records.verify(study, followed)


def _verify_all(records: Records, studies: Sequence[StudyRow], tell: Progress) -> None:
    """As ``_verify``, and says which studies are not damaged."""
    followed = _count("verifying", studies, tell)
    damaged: dict[str, StorageFailed] = {}
    for study in studies:
        try:
            records.verify(study, followed)
        except (LogDamaged, Unreadable) as problem:
            damaged[study.name] = problem
    if damaged:
        (name, first), *_ = damaged.items()
        said = first if isinstance(first, LogDamaged) else f"events of study {name!r} cannot be read ({first})."
        fine = sorted(study.name for study in studies if study.name not in damaged)
        raise LogDamaged(f"{said} The others can be backed up by their names: {quoted(fine)}." if fine else str(said))


def _copy(records: Records, study: int, target: sql.Connection, new: int, copied: Callable[[int], None]) -> None:
    """Copies events and leases, a page at a time, to a study with another id."""
    for page in records.events(study):
        fields = (*FIELDS, "hash")
        target.execute(sql.insert(events), [{"study_id": new, **dict(zip(fields, row, strict=True))} for row in page])
        copied(len(page))
    for page in records.leases(study):
        target.execute(sql.insert(leases), [{"study_id": new, **lease._asdict()} for lease in read_leases(page)])


def _choose(records: Records, names: Sequence[str]) -> list[StudyRow]:
    there = {study.name: study for study in records.studies()}
    if not there:
        raise InvalidInput(f"{records.shown} holds no studies; name a backup.")
    for name in names:
        check_study(name, there, records.shown)
    return [there[name] for name in names or sorted(there)]


class _Restoring:
    """Studies on their way into a database."""

    def __init__(self, records: Records, chosen: Sequence[StudyRow], target: SQLStorage, replace: bool, tell: Progress) -> None:
        self._records, self._chosen, self._target, self._replace, self._tell = records, chosen, target, replace, tell
        self._tokens = {study.name: secrets.token_hex(16) for study in chosen}
        """By which they are known again if the answer to a commit was lost."""
        self._lost: dict[str, int] = {}

    def run(self) -> Mapping[str, int]:
        """Brings all of them in, and returns how many measurements were lost with each that was replaced."""
        unknown: OutcomeUnknown | None = None
        taken: Taken | None = None
        for _ in range(ATTEMPTS):
            try:
                with self._target.database.writing() as connection:
                    self._restore(connection)
                return self._lost
            except OutcomeUnknown as problem:
                unknown = problem
            except Taken as problem:  # somebody has just created a study of the same name
                taken = problem
            except StorageFailed:
                if unknown is None:
                    raise
        if unknown is None and taken is not None:
            raise taken
        raise OutcomeUnknown(
            f"{unknown} Either all of {quoted(self._tokens)} were restored, or none. Restore them again when the database is "
            "back: if they were, their names are taken then, and nothing is lost."
        ) from unknown

    def _restore(self, connection: sql.Connection) -> None:
        there = self._there(connection)
        if all(name in there and there[name].token == token for name, token in self._tokens.items()):
            return  # by the attempt before, whose answer was lost
        lost = {
            study.name: self._lost_with(connection, study, there[study.name]) for study in self._chosen if study.name in there
        }
        if there and not self._replace:
            raise StudiesThere(_what_is_there(self._target.shown, lost))
        self._lost = {name: not_here for name, (_, not_here) in lost.items()}
        copied = _count("restoring", self._chosen, self._tell)
        for study in self._chosen:
            row = study._asdict() | {"token": self._tokens[study.name]}
            del row["id"]
            if (before := there.get(study.name)) is not None:
                row["next_number"] = max(study.next_number, before.next_number)
                delete_rows(connection, before.id)
            new = connection.execute(sql.insert(studies).values(row)).inserted_primary_key
            assert new is not None
            _copy(self._records, study.id, connection, new[0], copied)

    def _there(self, connection: sql.Connection) -> dict[str, StudyRow]:
        """The studies in the database that have the names; nobody else writes to them until this is done."""
        columns = [studies.c[field] for field in StudyRow._fields]
        query = sql.select(*columns).where(studies.c.name.in_(self._tokens)).order_by(studies.c.id).with_for_update()
        return {row.name: StudyRow(*row) for row in connection.execute(query)}

    def _lost_with(self, connection: sql.Connection, mine: StudyRow, there: StudyRow) -> tuple[int, int]:
        """How many measurements a study has that is there, and how many of them the backup does not have."""
        same, beyond = 0, min(mine.n_events, there.n_events) + 1  # positions up to which both logs are, and are not the same
        while beyond - same > 1:
            middle = (same + beyond) // 2
            if self._records.hash_at(mine.id, middle) == hash_at(connection, there.id, middle):
                same = middle
            else:
                beyond = middle
        return _told_after(connection, there.id, 0), _told_after(connection, there.id, same)


def _told_after(connection: sql.Connection, study: int, position: int) -> int:
    query = sql.select(sql.func.count()).where(events.c.study_id == study, events.c.kind == "told", events.c.position > position)
    return int(connection.execute(query).scalar_one())


def _what_is_there(shown: str, lost: Mapping[str, tuple[int, int]]) -> str:
    parts = [
        f"{name!r} with {counted(there, 'measurement')}, of which {not_here} {'is' if not_here == 1 else 'are'} not in the backup"
        for name, (there, not_here) in lost.items()
    ]
    return f"{shown} has {joined(parts)}; nothing was restored."


def _into_memory(records: Records, chosen: Sequence[StudyRow], target: MemoryStorage, replace: bool) -> Mapping[str, int]:
    """Copies studies into memory; returns how many measurements were lost with each that was replaced."""
    copies = []
    lost = {}
    for study in chosen:
        row = read_study(study[:5])
        log = [read_event(row, event) for page in records.events(study.id) for event in page]
        out = [lease for page in records.leases(study.id) for lease in read_leases(page)]
        copies.append(Copy(row, log, out, study.next_number))
        if study.name in target.names():
            with target.reading(target.find(study.name)) as transaction:
                told = [event for event in transaction.events() if event.kind == "told"]
            lost[study.name] = len(told), sum(log[event.position - 1 : event.position] != [event] for event in told)
    if lost and not replace:
        raise StudiesThere(_what_is_there(target.shown, lost))
    target.put(copies)
    return {name: not_here for name, (_, not_here) in lost.items()}


def _count(doing: str, chosen: Sequence[StudyRow], tell: Progress) -> Callable[[int], None]:
    """Something to be told of every further event, which tells how many there are so far."""
    done, total = 0, sum(study.n_events for study in chosen)

    def count(n: int) -> None:
        nonlocal done
        done += n
        if total > PAGE:
            tell(doing, done, total)

    return count


def _silent(doing: str, done: float, total: float) -> None:
    """Nobody wants to know."""
