"""What every storage of studies does, whatever it is made of; ``tests/studies/test_storage.py`` holds each of them to it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from typing import Any, NamedTuple, Protocol

from paretopick._arrays import check_choice
from paretopick.errors import LogDamaged, StudyGone, UnknownName
from paretopick.events import Checkpoint, Event, Lease, Outstanding, Place

PAGE = 10_000
"""The most events that are read at a time: long logs must not fill the memory."""


class StoredStudy(NamedTuple):
    """What is kept of a study beside its events; it never changes."""

    id: int
    """By which the storage knows it; never given twice."""
    token: str
    """Random: a study of the same name that was created anew, or restored, has another one."""
    name: str
    definition: Mapping[str, Any]
    """What the study is about, as JSON values."""
    created: float
    """Seconds since 1970."""


class Storage(Protocol):
    """A place for studies: for each a log of events, what is out with workers, and a checkpoint.

    Whoever changes a study does so in a transaction that nobody else can write beside. What a transaction has read is therefore
    still true when it writes, whatever the number of workers; and it is stored whole or not at all. An object may be shared by
    threads. All failures of the place itself are ``StorageFailed``; of these, ``OutcomeUnknown`` says that nobody knows whether a
    change was stored, and all others that it was not.
    """

    @property
    def shown(self) -> str:
        """The address as people may see it, without a password."""

    @property
    def patience(self) -> float:
        """Seconds after which whoever waits for the place gives up."""

    def names(self) -> list[str]:
        """Returns the names of all studies, sorted."""

    def create(self, name: str, definition: Mapping[str, Any], *, replace: bool = False) -> StoredStudy | None:
        """Keeps a new study without events; None if the name is taken.

        Args:
            name: of the study.
            definition: what it is about, as JSON values.
            replace: whether it takes the place of the one that has the name, which is removed in the same transaction.
        """

    def find(self, name: str) -> StoredStudy:
        """Returns a study by name; raises ``UnknownName``, which suggests a name that is there."""

    def delete(self, name: str) -> None:
        """Removes a study with all that belongs to it, for ever."""

    def reading(self, study: StoredStudy, *, after: int | None = None) -> AbstractContextManager[Transaction]:
        """A transaction that sees one state of a study and waits for no other process; not for writing.

        Args:
            study: as it was found or created; raises ``StudyGone`` if it is not there any more.
            after: the position after which events will be asked for first, which may save a wait.
        """

    def writing(self, study: StoredStudy, *, after: int | None = None) -> AbstractContextManager[Transaction]:
        """A transaction that nobody else can write to the study beside; all that it does is stored at its end, or nothing."""

    def close(self) -> None:
        """Lets go of connections and files; whatever is used next opens them again."""


class Transaction(Protocol):
    """What can be read of a study, and written by whoever has it to himself, at one moment; it sees what it has written."""

    n_events: int
    """Events in the log, those that this transaction has added included."""
    next_number: int
    """That the next new measurement gets."""
    now: float
    """Seconds since 1970, by a clock that all users of the storage share; looked at after others were waited for."""
    appended: list[Event]
    """Events that this transaction has added so far."""

    def events(self, *, after: int = 0, limit: int | None = None) -> list[Event]:
        """Returns events in their order: those after a position, at most so many."""

    @property
    def end(self) -> Place:
        """After the last event, those that this transaction has added included."""

    def follow(self, place: Place) -> tuple[list[Event], Place]:
        """Returns the next events after a place in the log, at most ``PAGE``, and the place that they lead to.

        They are checked to follow from each other and from the place; raises ``LogDamaged`` if they do not.
        """

    @property
    def start(self) -> Place:
        """Before the first event."""

    def history(self, number: int) -> list[Event]:
        """Returns the events of one measurement."""

    def requested(self, request: str) -> list[Event]:
        """Returns the events of one request that are not about a measurement."""

    def alike(self, digests: Collection[str]) -> list[Event]:
        """Returns the events that have one of some digests."""

    def append(self, new: Iterable[Event]) -> None:
        """Adds events to the log, at the next positions and with the time; a measurement can be told once."""

    def new_numbers(self, n: int) -> range:
        """Returns numbers for new measurements, which nobody else gets."""

    def leases(self, worker: str | None = None) -> list[Lease]:
        """Returns what is out, with everybody or with one worker, by number."""

    def lease(self, number: int) -> Lease | None:
        """Returns one that is out, None if it is not."""

    def outstanding(self, worker: str, n: int) -> Outstanding:
        """Returns what is out and not withdrawn: up to ``n`` of a worker, and of others whose time is over; counts, repeats."""

    def newest(self, arm: int, n: int) -> list[int]:
        """Returns the numbers of the last ``n`` of an option that are out and not withdrawn."""

    def hand_out(self, new: Iterable[Lease]) -> None:
        """Keeps leases on new numbers."""

    def change_leases(self, numbers: Iterable[int], **fields: Any) -> None:
        """Gives leases another worker, end, state or repeat."""

    def drop_leases(self, numbers: Iterable[int]) -> None:
        """Forgets leases; those that are not there are not missed."""

    def checkpoint(self) -> Checkpoint | None:
        """Returns the state that was kept last, None if there is none that fits the log."""

    def keep_checkpoint(self, checkpoint: Checkpoint) -> None:
        """Keeps the state that follows from the events up to a place, instead of an older one."""


def pages(transaction: Transaction) -> Iterator[list[Event]]:
    """Yields all events, a page at a time, checked to follow from each other; raises ``LogDamaged`` where they do not."""
    place = transaction.start
    while True:
        events, place = transaction.follow(place)
        yield events
        if place.position >= transaction.n_events:
            break


def check_study(name: str, names: Iterable[str], shown: str) -> None:
    """Raises ``UnknownName`` if no study has the name."""
    try:
        check_choice(name, names, "study")
    except UnknownName as problem:
        raise UnknownName(f"{problem} The database is {shown}.") from None


def gone(study: StoredStudy) -> StudyGone:
    """What to raise for a study that is not there any more."""
    return StudyGone(
        f"the study {study.name!r} is gone: somebody has deleted it, or created or restored another one under its name. Nothing "
        "was written; open the study by its name to work on what is there now."
    )


def went_back(study: StoredStudy, seen: int, found: int) -> LogDamaged:
    """What to raise for a log that is shorter than what was seen of it."""
    return LogDamaged(
        f"the log of study {study.name!r} went back: {seen} events were seen, and the database has {found}. An older copy was "
        "put there, or this one lags behind. Nothing was written; open the study again to go on from what is there."
    )


_DOES_NOT_FOLLOW = (
    "does not follow from those before it: it was changed or is missing, or the log is not the one that was seen before"
)


def broken(study: StoredStudy, position: int, what: str = _DOES_NOT_FOLLOW) -> LogDamaged:
    """What to raise where a log does not fit."""
    if position == 0:
        return LogDamaged(f"the definition of study {study.name!r} was changed; restore a backup, or undo the change.")
    return LogDamaged(
        f"event {position} of study {study.name!r} {what}. Nothing was written; see what paretopick check says, and restore a "
        "backup if it is damaged."
    )
