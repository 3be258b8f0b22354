"""Studies in a database, SQLite or PostgreSQL.

A transaction reads what it needs in as few waits as it can, collects what it writes, and sends that with its commit: on
PostgreSQL an ask and a tell are three round trips each.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

import sqlalchemy as sql

from paretopick.errors import LogDamaged, OutcomeUnknown
from paretopick.events import Checkpoint, Event, Lease, Outstanding, Place
from paretopick.storage import dialects, queries
from paretopick.storage.chain import FIELDS, first_link, links, next_link
from paretopick.storage.contract import PAGE, StoredStudy, broken, check_study, gone, went_back
from paretopick.storage.dialects import Database, Taken, open_database
from paretopick.storage.schema import bring_up_to_date, checkpoints, events, leases, studies
from paretopick.storage.statements import Rows, Statement, run

BACKWARDS = 1.0
"""Seconds by which a clock may go back without anybody minding."""


class SQLStorage:
    """A database that holds studies; its tables are made or brought up to date when it is opened.

    Args:
        address: ``sqlite:///file.db``, ``postgresql://user@host/database``, or the path of an SQLite file.
        new: whether an SQLite file is made if it is not there.
    """

    def __init__(self, address: str | os.PathLike[str], *, new: bool = True) -> None:
        self.database = open_database(address, new=new)
        self.shown = self.database.shown
        """The URL without its password."""
        try:
            bring_up_to_date(self.database)
        except BaseException:
            self.close()
            raise

    @property
    def patience(self) -> float:
        """Seconds after which whoever waits for the database gives up."""
        return dialects.PATIENCE

    def close(self) -> None:
        """Closes the connections; they are opened again when needed."""
        self.database.close()

    def names(self) -> list[str]:
        """Returns the names of all studies, sorted."""
        with self.database.reading() as connection:
            return sorted(connection.execute(sql.select(studies.c.name)).scalars())

    def create(self, name: str, definition: Mapping[str, Any], *, replace: bool = False) -> StoredStudy | None:
        """Keeps a new study, in the place of another one if need be; None if the name is taken."""
        text = json.dumps(definition)
        row = {"token": secrets.token_hex(16), "name": name, "definition": text, "created": time.time()}
        row |= {"n_events": 0, "head": first_link(text), "next_number": 1, "clock": 0.0}
        try:
            self._insert(row, replace)
        except OutcomeUnknown:  # if it was stored after all, it has our token
            self._insert(row, replace)
        found = self._find(name)
        return found if found is not None and found.token == row["token"] else None

    def _insert(self, row: Mapping[str, Any], replace: bool) -> None:
        with contextlib.suppress(Taken), self.database.writing() as connection:
            if replace:
                query = sql.select(studies.c.id, studies.c.token).where(studies.c.name == row["name"])
                found = connection.execute(query).one_or_none()
                if found is not None and found.token != row["token"]:
                    self._remove(connection, StoredStudy(found.id, found.token, row["name"], {}, 0.0))
            connection.execute(sql.insert(studies).values(row))

    def _remove(self, connection: sql.Connection, study: StoredStudy) -> None:
        SQLTransaction(self.database, connection, study, locked=True)  # as all who write: they would wait for each other else
        delete_rows(connection, study.id)

    def find(self, name: str) -> StoredStudy:
        """Returns a study by name."""
        found = self._find(name)
        if found is not None:
            return found
        check_study(name, self.names(), self.shown)
        return self.find(name)  # it has just been created

    def _find(self, name: str) -> StoredStudy | None:
        with self.database.reading() as connection:
            query = sql.select(*(studies.c[field] for field in StoredStudy._fields)).where(studies.c.name == name)
            found = connection.execute(query).one_or_none()
        return None if found is None else read_study(tuple(found))

    def delete(self, name: str) -> None:
        """Removes a study with all that belongs to it, even if it cannot be read any more."""
        with self.database.reading() as connection:
            found = connection.execute(sql.select(studies.c.id, studies.c.token).where(studies.c.name == name)).one_or_none()
        if found is None:
            check_study(name, self.names(), self.shown)
            raise gone(StoredStudy(0, "", name, {}, 0.0))  # and has just been created
        study = StoredStudy(found.id, found.token, name, {}, 0.0)
        with self.database.writing() as connection:
            self._remove(connection, study)

    @contextlib.contextmanager
    def reading(self, study: StoredStudy, *, after: int | None = None) -> Iterator[SQLTransaction]:
        """A transaction that sees one state of a study and waits for nobody."""
        with self.database.reading() as connection:
            yield SQLTransaction(self.database, connection, study, locked=False, after=after)

    @contextlib.contextmanager
    def writing(self, study: StoredStudy, *, after: int | None = None) -> Iterator[SQLTransaction]:
        """A transaction that nobody else can write to the study beside: on PostgreSQL its row is locked."""
        with self.database.writing() as connection:
            transaction = SQLTransaction(self.database, connection, study, locked=True, after=after)
            yield transaction
            transaction.commit()


class SQLTransaction:
    """What can be read of a study, and written if it is locked, at one moment."""

    def __init__(
        self, database: Database, connection: sql.Connection, study: StoredStudy, *, locked: bool, after: int | None = None
    ) -> None:
        self._database, self._connection, self._study = database, connection, study
        self._key = {"study": study.id}
        self._pending: list[Statement] = []
        """What is to be written, with the next wait or at the end."""
        self._fetched: tuple[int, Rows] | None = None
        """A position, and what is stored after it."""
        self.appended: list[Event] = []
        """Events that this transaction has added so far."""
        wanted = [Statement(queries.COUNTERS_LOCKED if locked else queries.COUNTERS, self._key | {"token": study.token})]
        if connection.dialect.name == "postgresql":
            wanted.append(Statement(queries.CLOCK, {}))  # the clocks of workers may differ
        if after is not None:
            wanted.append(Statement(queries.AFTER, self._key | {"after": after, "most": PAGE}))
        counters, *rest = run(connection, wanted)
        if not counters:
            raise gone(study)
        self.n_events, self._head, self.next_number, self._clock = counters[0]
        self._stored = self.n_events, self.next_number
        if after is not None:
            self._fetched = after, rest.pop()
        self.now = float(rest[0][0][0]) if rest else time.time()
        """After the lock was waited for."""
        if self.now < self._clock - BACKWARDS:
            self._clock_went_back(locked)

    def _clock_went_back(self, locked: bool) -> None:
        """Whatever is out keeps the time that it had left when the clock was last looked at."""
        if locked:
            self._pending.append(Statement(queries.SHIFT_LEASES, self._key | {"by": self._clock - self.now}))
        else:
            self.now = self._clock

    def events(self, *, after: int = 0, limit: int | None = None) -> list[Event]:
        """Returns events in their order: those after a position, at most so many."""
        most = self.n_events if limit is None else limit
        return self._read(self._rows_after(after, most))

    def _rows_after(self, after: int, most: int) -> Rows:
        if self._fetched is not None and (self._fetched[0], most) == (after, PAGE) and not self.appended:
            return self._fetched[1]
        return self._ask(Statement(queries.AFTER, self._key | {"after": after, "most": most}))

    @property
    def start(self) -> Place:
        """Before the first event: known by what the study is about."""
        query = sql.select(studies.c.definition).where(studies.c.id == self._study.id)
        return Place(0, first_link(self._connection.execute(query).scalar_one()))

    @property
    def end(self) -> Place:
        """After the last event, those that this transaction has added included."""
        return Place(self.n_events, self._head)

    def follow(self, place: Place) -> tuple[list[Event], Place]:
        """Returns the next events after a place in the log, checked, and the place that they lead to."""
        if place.position > self.n_events:
            raise went_back(self._study, place.position, self.n_events)
        if place.position == self.n_events:
            if place.head != self._head:
                raise broken(self._study, self.n_events)
            return [], place
        rows = self._rows_after(place.position, PAGE)
        expected = place.position
        for row, link in zip(rows, links(place.head, (row[:-1] for row in rows)), strict=True):
            expected += 1
            if row[0] != expected or row[-1] != link:
                raise broken(self._study, expected)
        reached = Place(expected, rows[-1][-1] if rows else place.head)
        if expected > self.n_events:
            raise broken(self._study, self.n_events + 1, "is there, and the study counts fewer")
        if expected < self.n_events and len(rows) < PAGE:
            raise broken(self._study, expected + 1, "is missing")
        if expected == self.n_events and reached.head != self._head:
            raise broken(self._study, expected)
        return self._read(rows), reached

    def history(self, number: int) -> list[Event]:
        """Returns the events of one measurement."""
        return self._read(self._ask(Statement(queries.HISTORY, self._key | {"a_number": number})))

    def requested(self, request: str) -> list[Event]:
        """Returns the events of one request that are not about a measurement."""
        return self._read(self._ask(Statement(queries.REQUESTED, self._key | {"a_request": request})))

    def alike(self, digests: Collection[str]) -> list[Event]:
        """Returns the events that have one of some digests."""
        found = self._ask_all([Statement(queries.ALIKE, self._key | {"a_digest": digest}) for digest in digests])
        return self._read([row for rows in found for row in rows])

    def append(self, new: Iterable[Event]) -> None:
        """Adds events to the log, at their positions and with the time."""
        rows = []
        for event in new:
            self.n_events += 1
            added = event._replace(position=self.n_events, at=self.now)
            row = _row(added)
            self._head = next_link(self._head, row)
            rows.append(self._belonging(dict(zip(FIELDS, row, strict=True)) | {"hash": self._head}))
            self.appended.append(added)
        if rows:
            self._pending.append(Statement(queries.INSERT_EVENTS, rows))

    def new_numbers(self, n: int) -> range:
        """Returns numbers for new measurements, which nobody else gets."""
        first, self.next_number = self.next_number, self.next_number + n
        return range(first, self.next_number)

    def leases(self, worker: str | None = None) -> list[Lease]:
        """Returns what is out, with everybody or with one worker, by number."""
        if worker is None:
            return read_leases(self._ask(Statement(queries.LEASES, self._key)))
        return read_leases(self._ask(Statement(queries.LEASES_OF, self._key | {"a_worker": worker})))

    def lease(self, number: int) -> Lease | None:
        """Returns one that is out."""
        found = read_leases(self._ask(Statement(queries.LEASE, self._key | {"a_number": number})))
        return found[0] if found else None

    def outstanding(self, worker: str, n: int) -> Outstanding:
        """Returns what is out and not withdrawn, as far as somebody who asks for more has to know."""
        values = self._key | {"a_worker": worker, "most": n, "now": self.now}
        mine, over, all_ = self._ask_all([Statement(text, values) for text in (queries.MINE, queries.OVER, queries.REPEATS)])
        return Outstanding.from_rows(read_leases(mine), read_leases(over), all_)

    def newest(self, arm: int, n: int) -> list[int]:
        """Returns the numbers of the last of an option that are out."""
        return [number for (number,) in self._ask(Statement(queries.NEWEST, self._key | {"an_arm": arm, "most": n}))]

    def hand_out(self, new: Iterable[Lease]) -> None:
        """Keeps leases on new numbers."""
        if rows := [self._belonging(lease._asdict()) for lease in new]:
            self._pending.append(Statement(queries.INSERT_LEASES, rows))

    def change_leases(self, numbers: Iterable[int], **fields: Any) -> None:
        """Gives leases another worker, end, state or repeat."""
        numbers = list(numbers)
        for field, value in fields.items():
            if numbers:
                rows = [self._key | {"a_number": number, "changed": value} for number in numbers]
                self._pending.append(Statement(queries.CHANGE_LEASE[field], rows))

    def drop_leases(self, numbers: Iterable[int]) -> None:
        """Forgets leases."""
        if rows := [self._key | {"a_number": number} for number in numbers]:
            self._pending.append(Statement(queries.DROP_LEASE, rows))

    def checkpoint(self) -> Checkpoint | None:
        """Returns the state that was kept last, None if there is none that fits the log."""
        found = self._ask(Statement(queries.CHECKPOINT, self._key))
        if not found:
            return None
        position, head, state, digest = found[0]
        if digest != next_link(head, [position, state]):
            return None
        there = self._ask(Statement(queries.HASH, self._key | {"at_position": position}))
        if there != [(head,)]:
            return None
        return Checkpoint(Place(position, head), json.loads(state))

    def keep_checkpoint(self, checkpoint: Checkpoint) -> None:
        """Keeps the state that follows from the events up to a place, instead of an older one."""
        (position, head), state = checkpoint.place, json.dumps(checkpoint.state)
        row = {"position": position, "head": head, "state": state, "hash": next_link(head, [position, state])}
        self._pending.append(Statement(queries.DROP_CHECKPOINT, self._key))
        self._pending.append(Statement(queries.INSERT_CHECKPOINT, self._belonging(row)))

    def commit(self) -> None:
        """Stores all that was written; afterwards nothing can be read or written here."""
        if self._pending or self.n_events != self._stored[0] or self.next_number != self._stored[1]:
            counters = {"n": self.n_events, "last": self._head, "next": self.next_number, "now": self.now}
            self._pending.append(Statement(queries.SET_COUNTERS, self._key | counters))
        try:
            run(self._connection, self._pending, commit=True)
        except sql.exc.DBAPIError as problem:
            failure = self._database.failure(problem, committing=True)
            raise failure from failure.__cause__

    def _ask(self, statement: Statement) -> Rows:
        return self._ask_all([statement])[0]

    def _ask_all(self, statements: Sequence[Statement]) -> list[Rows]:
        """What the database answers, with all that was written so far."""
        first, self._pending = self._pending, []
        return run(self._connection, [*first, *statements])[len(first) :]

    def _belonging(self, row: dict[str, Any]) -> dict[str, Any]:
        return {"study_id": self._study.id, **row}

    def _read(self, rows: Rows) -> list[Event]:
        return [read_event(self._study, row) for row in rows]


def delete_rows(connection: sql.Connection, study: int) -> None:
    """Removes all that is kept of a study, by its id; the caller has locked it."""
    for table in (checkpoints, leases, events):
        connection.execute(sql.delete(table).where(table.c.study_id == study))
    connection.execute(sql.delete(studies).where(studies.c.id == study))


def read_study(row: tuple[Any, ...]) -> StoredStudy:
    """A study from its row."""
    found = StoredStudy(*row)
    try:
        return found._replace(definition=json.loads(row[3]))
    except ValueError:
        raise LogDamaged(f"the definition of study {found.name!r} is damaged, it is not JSON; restore a backup.") from None


def read_event(study: StoredStudy, row: tuple[Any, ...]) -> Event:
    """An event from its row."""
    position, kind, number, arm, round_, measured, details, worker, at, request, digest, _ = row
    try:
        values = None if measured is None else json.loads(measured)
        more = None if details is None else json.loads(details)
    except ValueError:
        raise broken(study, position, "has contents that are not JSON") from None
    return Event(position, kind, number, arm, round_, values, more, worker, at, request, digest)


def _row(event: Event) -> tuple[Any, ...]:
    """What is stored of an event, in the order of the chain."""
    measured = None if event.measured is None else json.dumps(list(event.measured))
    details = None if event.details is None else json.dumps(event.details)
    return (*event[:5], measured, details, *event[7:])


def read_leases(rows: Rows) -> list[Lease]:
    """Leases from their rows."""
    return [lease._replace(withdrawn=bool(lease.withdrawn)) for lease in (Lease(*row) for row in rows)]
