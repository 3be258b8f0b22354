"""Studies in memory: what ``identify`` uses unless told otherwise. Plain Python, and gone with the process.

A transaction works on what it has changed and publishes it in one assignment at its end: whoever reads meanwhile sees the study
as it was, and a transaction that fails, by Ctrl-C even, has done nothing.
"""

from __future__ import annotations

import json
import secrets
import threading
import time
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

from paretopick.errors import StorageFailed
from paretopick.events import Checkpoint, Event, Lease, Outstanding, Place
from paretopick.storage.contract import PAGE, StoredStudy, check_study, gone


class _Moment(NamedTuple):
    """A study at one moment."""

    n_events: int = 0
    next_number: int = 1
    leases: Mapping[int, Lease] = {}
    checkpoint: Checkpoint | None = None


class _Kept:
    """A study, and what is known of it since its last transaction."""

    def __init__(self, row: StoredStudy) -> None:
        self.row = row
        self.turn = threading.Lock()
        self.log: list[Event] = []
        """All events; those beyond ``now.n_events`` were never published."""
        self.places: dict[int | str, tuple[int, ...]] = {}
        """By number of a measurement, by digest and by request, where their events are in the log."""
        self.now = _Moment()


class Copy(NamedTuple):
    """A study that was kept elsewhere."""

    row: StoredStudy
    """Its id and its token do not matter."""
    log: list[Event]
    leases: list[Lease]
    next_number: int


class MemoryStorage:
    """Studies in memory, shared by the threads of a process."""

    shown = "sqlite://"
    """The address that asks for it."""
    patience = threading.TIMEOUT_MAX
    """Nothing outside is waited for."""

    def __init__(self) -> None:
        self._studies: dict[int, _Kept] = {}
        self._turn = threading.Lock()
        self._created = 0

    def names(self) -> list[str]:
        """Returns the names of all studies, sorted."""
        return sorted(kept.row.name for kept in list(self._studies.values()))

    def create(self, name: str, definition: Mapping[str, Any], *, replace: bool = False) -> StoredStudy | None:
        """Keeps a new study, in the place of another one if need be; None if the name is taken."""
        with self._turn:
            if name in self.names() and not replace:
                return None
            self._created += 1
            row = StoredStudy(self._created, secrets.token_hex(16), name, _as_json(definition), time.time())
            others = {id_: kept for id_, kept in self._studies.items() if kept.row.name != name}
            self._studies = others | {row.id: _Kept(row)}
            return _copied_row(row)

    def find(self, name: str) -> StoredStudy:
        """Returns a study by name."""
        for kept in list(self._studies.values()):
            if kept.row.name == name:
                return _copied_row(kept.row)
        check_study(name, self.names(), self.shown)
        return self.find(name)  # it has just been created

    def delete(self, name: str) -> None:
        """Removes a study."""
        self._studies.pop(self.find(name).id, None)

    def put(self, copies: Iterable[Copy]) -> None:
        """Keeps studies that were kept elsewhere, all at once, instead of those that have their names."""
        with self._turn:
            there = {kept.row.name: kept for kept in self._studies.values()}
            new = dict(self._studies)
            for copy in copies:
                number = copy.next_number
                if (before := there.get(copy.row.name)) is not None:
                    number = max(number, before.now.next_number)
                    del new[before.row.id]
                self._created += 1
                kept = _Kept(copy.row._replace(id=self._created, token=secrets.token_hex(16)))
                kept.log = copy.log
                for event in copy.log:
                    for key in _keys(event):
                        kept.places[key] = (*kept.places.get(key, ()), event.position - 1)
                kept.now = _Moment(len(copy.log), number, {lease.number: lease for lease in copy.leases})
                new[kept.row.id] = kept
            self._studies = new

    @contextmanager
    def reading(self, study: StoredStudy, *, after: int | None = None) -> Iterator[MemoryTransaction]:
        """A transaction that sees one state of a study."""
        yield MemoryTransaction(self._kept(study))

    @contextmanager
    def writing(self, study: StoredStudy, *, after: int | None = None) -> Iterator[MemoryTransaction]:
        """A transaction that nobody else can write to the study beside."""
        with self._kept(study).turn:
            transaction = MemoryTransaction(self._kept(study))
            yield transaction
            transaction.publish()

    def close(self) -> None:
        """There is nothing to let go of."""

    def _kept(self, study: StoredStudy) -> _Kept:
        kept = self._studies.get(study.id)
        if kept is None or kept.row.token != study.token:
            raise gone(study)
        return kept


class MemoryTransaction:
    """What a study was when this began, and what this has changed since."""

    def __init__(self, kept: _Kept) -> None:
        self._kept = kept
        self._before = kept.now
        self.n_events, self.next_number, self._leases, self._checkpoint = self._before
        self._changes: dict[int, Lease] | None = None
        """The leases, if this has changed any."""
        self.now = _BEGAN + time.monotonic()
        self.appended: list[Event] = []
        self._by_key: dict[int | str, list[Event]] = {}
        """Those of them, by what they are looked up with."""

    def events(self, *, after: int = 0, limit: int | None = None) -> list[Event]:
        """Returns events in their order, as copies that may be changed."""
        end = self.n_events if limit is None else min(after + limit, self.n_events)
        before = self._before.n_events
        found = self._kept.log[after : min(end, before)] + self.appended[max(after - before, 0) : max(end - before, 0)]
        return list(map(_copied, found))

    @property
    def start(self) -> Place:
        """Before the first event."""
        return Place(0, "")

    @property
    def end(self) -> Place:
        """After the last event."""
        return Place(self.n_events, "")

    def follow(self, place: Place) -> tuple[list[Event], Place]:
        """Returns the next events after a place in the log, and the place that they lead to: nobody else can change this log."""
        found = self.events(after=place.position, limit=PAGE)
        return found, Place(place.position + len(found), "")

    def history(self, number: int) -> list[Event]:
        """Returns the events of one measurement."""
        return list(map(_copied, self._events_at(number)))

    def requested(self, request: str) -> list[Event]:
        """Returns the events of one request that are not about a measurement."""
        return list(map(_copied, self._events_at(f"request {request}")))

    def alike(self, digests: Collection[str]) -> list[Event]:
        """Returns the events that have one of some digests."""
        return [_copied(event) for digest in digests for event in self._events_at(digest)]

    def append(self, new: Iterable[Event]) -> None:
        """Adds events to the log, at their positions and with the time."""
        for event in new:
            number = event.number
            if event.kind == "told" and number is not None and any(other.kind == "told" for other in self._events_at(number)):
                raise StorageFailed(f"measurement {number} is told twice, and must be unique.")
            self.n_events += 1
            added = _copied(event, position=self.n_events, at=self.now)
            self.appended.append(added)
            for key in _keys(added):
                self._by_key.setdefault(key, []).append(added)

    def new_numbers(self, n: int) -> range:
        """Returns numbers for new measurements, which nobody else gets."""
        first, self.next_number = self.next_number, self.next_number + n
        return range(first, self.next_number)

    def leases(self, worker: str | None = None) -> list[Lease]:
        """Returns what is out, with everybody or with one worker, by number."""
        found = [self._leases[number] for number in sorted(self._leases)]
        return found if worker is None else [lease for lease in found if lease.worker == worker]

    def lease(self, number: int) -> Lease | None:
        """Returns one that is out."""
        return self._leases.get(number)

    def outstanding(self, worker: str, n: int) -> Outstanding:
        """Returns what is out and not withdrawn, as far as somebody who asks for more has to know."""
        out = [lease for lease in self.leases() if not lease.withdrawn]
        mine = [lease for lease in out if lease.worker == worker]
        over = [(lease.expires, lease) for lease in out if lease.worker != worker and lease.expires is not None]
        ended = [lease for expires, lease in sorted(over) if expires <= self.now]
        return Outstanding.from_rows(mine[:n], ended[:n], ((lease.arm, lease.repeat) for lease in out))

    def newest(self, arm: int, n: int) -> list[int]:
        """Returns the numbers of the last of an option that are out."""
        out = [number for number, lease in self._leases.items() if lease.arm == arm and not lease.withdrawn]
        return sorted(out, reverse=True)[:n]

    def hand_out(self, new: Iterable[Lease]) -> None:
        """Keeps leases on new numbers."""
        mine = self._own_leases()
        for lease in new:
            if lease.number in mine:
                raise StorageFailed(f"measurement {lease.number} is out already, and must be unique.")
            mine[lease.number] = lease

    def change_leases(self, numbers: Iterable[int], **fields: Any) -> None:
        """Gives leases another worker, end, state or repeat."""
        mine = self._own_leases()
        for number in numbers:
            if number in mine:
                mine[number] = mine[number]._replace(**fields)

    def drop_leases(self, numbers: Iterable[int]) -> None:
        """Forgets leases."""
        mine = self._own_leases()
        for number in numbers:
            mine.pop(number, None)

    def checkpoint(self) -> Checkpoint | None:
        """Returns the state that was kept last."""
        return None if self._checkpoint is None else self._checkpoint._replace(state=_as_json(self._checkpoint.state))

    def keep_checkpoint(self, checkpoint: Checkpoint) -> None:
        """Keeps the state that follows from the events up to a place."""
        self._checkpoint = checkpoint._replace(state=_as_json(checkpoint.state))

    def publish(self) -> None:
        """Lets everybody see what this has done."""
        kept, before = self._kept, self._before.n_events
        kept.log[before:] = self.appended
        for key, events in self._by_key.items():
            places = [place for place in kept.places.get(key, ()) if place < before]
            kept.places[key] = (*places, *(event.position - 1 for event in events))
        kept.now = _Moment(self.n_events, self.next_number, self._leases, self._checkpoint)

    def _own_leases(self) -> dict[int, Lease]:
        """The leases, which others may be reading, as a copy that this may change."""
        if self._changes is None:
            self._leases = self._changes = dict(self._leases)
        return self._changes

    def _events_at(self, key: int | str) -> list[Event]:
        """Events by a number, digest or request. Places may be those of a transaction that was interrupted: they are checked."""
        log, end = self._kept.log, self._before.n_events
        found = [log[place] for place in self._kept.places.get(key, ()) if place < end]
        return [event for event in found if key in _keys(event)] + self._by_key.get(key, [])


_BEGAN = time.time() - time.monotonic()
"""Added to a clock that never goes back."""


def _keys(event: Event) -> list[int | str]:
    """By what an event is looked up."""
    if event.number is None:
        return [key for key in (event.digest, event.request and f"request {event.request}") if key]
    return [event.number] if event.digest is None else [event.number, event.digest]


def _copied_row(row: StoredStudy) -> StoredStudy:
    return row._replace(definition=_as_json(row.definition))


def _copied(event: Event, **fields: Any) -> Event:
    """An equal event but for some fields, which shares nothing with it that could be changed."""
    measured = None if event.measured is None else list(event.measured)
    details = None if event.details is None else _as_json(event.details)
    return event._replace(measured=measured, details=details, **fields)


def _as_json(value: Mapping[str, Any]) -> Any:
    """A copy in which everything is as a database would give it back."""
    if all(type(entry) in (int, str) for entry in value.values()):  # which most events have, a repeat for instance
        return dict(value)
    return json.loads(json.dumps(value))
