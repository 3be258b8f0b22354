"""Studies in memory: what ``identify`` uses unless told otherwise. Plain Python, and gone with the process.

A transaction works on what it has changed and publishes it in one assignment at its end: whoever reads meanwhile sees the study
as it was, and a transaction that fails, by Ctrl-C even, has done nothing.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

from paretopick.errors import StorageFailed
from paretopick.events import Event, Lease
from paretopick.storage.contract import GONE, StoredStudy, check_study


class _Moment(NamedTuple):
    """A study at one moment."""

    n_events: int = 0
    next_number: int = 1
    leases: Mapping[int, Lease] = {}
    checkpoint: str | None = None


class _Kept:
    """A study, and what is known of it since its last transaction."""

    def __init__(self, row: StoredStudy) -> None:
        self.row = row
        self.turn = threading.Lock()
        self.log: list[Event] = []
        """All events; those beyond ``now.n_events`` were never published."""
        self.places: dict[int, tuple[int, ...]] = {}
        """By number of a measurement, where its events are in the log."""
        self.now = _Moment()


class MemoryStorage:
    """Studies in memory, shared by the threads of a process."""

    shown = "sqlite://"
    """The address that asks for it."""

    def __init__(self) -> None:
        self._studies: dict[int, _Kept] = {}
        self._turn = threading.Lock()
        self._created = 0

    def names(self) -> list[str]:
        """Returns the names of all studies, sorted."""
        return sorted(kept.row.name for kept in list(self._studies.values()))

    def create(self, name: str, definition: Mapping[str, Any]) -> StoredStudy | None:
        """Keeps a new study; None if the name is taken."""
        with self._turn:
            if name in self.names():
                return None
            self._created += 1
            row = StoredStudy(self._created, name, _as_json(definition), time.time())
            self._studies[row.id] = _Kept(row)
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

    @contextmanager
    def reading(self, study_id: int) -> Iterator[MemoryTransaction]:
        """A transaction that sees one state of a study."""
        yield MemoryTransaction(self._kept(study_id))

    @contextmanager
    def writing(self, study_id: int) -> Iterator[MemoryTransaction]:
        """A transaction that nobody else can write to the study beside."""
        with self._kept(study_id).turn:
            transaction = MemoryTransaction(self._kept(study_id))
            yield transaction
            transaction.publish()

    def close(self) -> None:
        """There is nothing to let go of."""

    def _kept(self, study_id: int) -> _Kept:
        if study_id not in self._studies:
            raise StorageFailed(GONE)
        return self._studies[study_id]


class MemoryTransaction:
    """What a study was when this began, and what this has changed since."""

    def __init__(self, kept: _Kept) -> None:
        self._kept = kept
        self._before = kept.now
        self.n_events, self.next_number, self._leases, self._checkpoint = self._before
        self._changes: dict[int, Lease] | None = None
        """The leases, if this has changed any."""
        self.now = time.time()
        self.appended: list[Event] = []
        self._by_number: dict[int, list[Event]] = {}
        """Those of them that are about a measurement."""

    def events(self, *, after: int = 0, number: int | None = None, kind: str | None = None) -> list[Event]:
        """Returns events in their order, as copies that may be changed."""
        if number is None:
            found = self._kept.log[after : self._before.n_events] + self.appended[max(after - self._before.n_events, 0) :]
        else:
            found = [event for event in self._events_of(number) if event.position > after]
        return [_copied(event) for event in found if kind is None or event.kind == kind]

    def append(self, new: Iterable[Event]) -> None:
        """Adds events to the log, at their positions and with the time."""
        for event in new:
            number = event.number
            if event.kind == "told" and number is not None and any(other.kind == "told" for other in self._events_of(number)):
                raise StorageFailed(f"measurement {number} is told twice, and must be unique.")
            self.n_events += 1
            added = _copied(event, position=self.n_events, at=self.now)
            self.appended.append(added)
            if number is not None:
                self._by_number.setdefault(number, []).append(added)

    def new_numbers(self, n: int) -> range:
        """Returns numbers for new measurements, which nobody else gets."""
        first, self.next_number = self.next_number, self.next_number + n
        return range(first, self.next_number)

    def leases(self) -> list[Lease]:
        """Returns what is out, by number."""
        return [self._leases[number] for number in sorted(self._leases)]

    def lease(self, number: int) -> Lease | None:
        """Returns one that is out."""
        return self._leases.get(number)

    def hand_out(self, new: Iterable[Lease]) -> None:
        """Keeps leases on new numbers."""
        mine = self._own_leases()
        for lease in new:
            if lease.number in mine:
                raise StorageFailed(f"measurement {lease.number} is out already, and must be unique.")
            mine[lease.number] = lease

    def change_leases(self, numbers: Iterable[int], **fields: Any) -> None:
        """Gives leases another worker, end or state."""
        mine = self._own_leases()
        for number in numbers:
            if number in mine:
                mine[number] = mine[number]._replace(**fields)

    def drop_leases(self, numbers: Iterable[int]) -> None:
        """Forgets leases."""
        mine = self._own_leases()
        for number in numbers:
            mine.pop(number, None)

    def checkpoint(self) -> Mapping[str, Any] | None:
        """Returns the state that was kept last."""
        return None if self._checkpoint is None else json.loads(self._checkpoint)

    def keep_checkpoint(self, state: Mapping[str, Any]) -> None:
        """Keeps the state that follows from the events so far."""
        self._checkpoint = json.dumps(state)

    def publish(self) -> None:
        """Lets everybody see what this has done."""
        kept, before = self._kept, self._before.n_events
        kept.log[before:] = self.appended
        for number, events in self._by_number.items():
            places = [place for place in kept.places.get(number, ()) if place < before]
            kept.places[number] = (*places, *(event.position - 1 for event in events))
        kept.now = _Moment(self.n_events, self.next_number, self._leases, self._checkpoint)

    def _own_leases(self) -> dict[int, Lease]:
        """The leases, which others may be reading, as a copy that this may change."""
        if self._changes is None:
            self._leases = self._changes = dict(self._leases)
        return self._changes

    def _events_of(self, number: int) -> list[Event]:
        """Events of a measurement. Places may be those of a transaction that was interrupted: they are not believed."""
        log, end = self._kept.log, self._before.n_events
        found = [log[place] for place in self._kept.places.get(number, ()) if place < end]
        return [event for event in found if event.number == number] + self._by_number.get(number, [])


def _copied_row(row: StoredStudy) -> StoredStudy:
    return row._replace(definition=_as_json(row.definition))


def _copied(event: Event, **fields: Any) -> Event:
    """An equal event but for some fields, which shares nothing with it that could be changed."""
    measured = None if event.measured is None else list(event.measured)
    details = None if event.details is None else _as_json(event.details)
    return event._replace(measured=measured, details=details, **fields)


def _as_json(value: Mapping[str, Any]) -> Any:
    """A copy in which everything is as a database would give it back."""
    return json.loads(json.dumps(value))
