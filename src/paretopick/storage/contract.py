"""What every storage of studies does, whatever it is made of; ``tests/studies/test_storage.py`` holds each of them to it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager
from typing import Any, NamedTuple, Protocol

from paretopick._arrays import check_choice
from paretopick.errors import UnknownName
from paretopick.events import Event, Lease

GONE = "the study is no longer in its database; somebody has deleted it."


class StoredStudy(NamedTuple):
    """What is kept of a study beside its events; it never changes."""

    id: int
    """By which the storage knows it."""
    name: str
    definition: Mapping[str, Any]
    """What the study is about, as JSON values."""
    created: float
    """Seconds since 1970."""


class Storage(Protocol):
    """A place for studies: for each a log of events, what is out with workers, and a checkpoint.

    Whoever changes a study does so in a transaction that nobody else can write beside. What a transaction has read is therefore
    still true when it writes, whatever the number of workers; and it is stored whole or not at all. An object may be shared by
    threads. All failures of the place itself are ``StorageFailed``.
    """

    @property
    def shown(self) -> str:
        """The address as people may see it, without a password."""

    def names(self) -> list[str]:
        """Returns the names of all studies, sorted."""

    def create(self, name: str, definition: Mapping[str, Any]) -> StoredStudy | None:
        """Keeps a new study without events; None if the name is taken."""

    def find(self, name: str) -> StoredStudy:
        """Returns a study by name; raises ``UnknownName``, which suggests a name that is there."""

    def delete(self, name: str) -> None:
        """Removes a study with all that belongs to it, for ever."""

    def reading(self, study_id: int) -> AbstractContextManager[Transaction]:
        """A transaction that sees one state of a study and waits for no other process; not for writing."""

    def writing(self, study_id: int) -> AbstractContextManager[Transaction]:
        """A transaction that nobody else can write to the study beside; all that it does is stored at its end, or nothing."""

    def close(self) -> None:
        """Lets go of connections and files; whatever is used next opens them again."""


class Transaction(Protocol):
    """What can be read of a study, and written by whoever has it to himself, at one moment."""

    n_events: int
    """Events in the log, those that this transaction has added included."""
    next_number: int
    """That the next new measurement gets."""
    now: float
    """Seconds since 1970, by a clock that all users of the storage share; looked at after others were waited for."""
    appended: list[Event]
    """Events that this transaction has added so far."""

    def events(self, *, after: int = 0, number: int | None = None, kind: str | None = None) -> list[Event]:
        """Returns events in their order: those after a position, of one measurement, of one kind."""

    def append(self, new: Iterable[Event]) -> None:
        """Adds events to the log, at the next positions and with the time; a measurement can be told once."""

    def new_numbers(self, n: int) -> range:
        """Returns numbers for new measurements, which nobody else gets."""

    def leases(self) -> list[Lease]:
        """Returns what is out, by number."""

    def lease(self, number: int) -> Lease | None:
        """Returns one that is out, None if it is not."""

    def hand_out(self, new: Iterable[Lease]) -> None:
        """Keeps leases on new numbers."""

    def change_leases(self, numbers: Iterable[int], **fields: Any) -> None:
        """Gives leases another worker, end or state."""

    def drop_leases(self, numbers: Iterable[int]) -> None:
        """Forgets leases; those that are not there are not missed."""

    def checkpoint(self) -> Mapping[str, Any] | None:
        """Returns the state that was kept last, None if there is none."""

    def keep_checkpoint(self, state: Mapping[str, Any]) -> None:
        """Keeps the state that follows from the events so far, as JSON values, instead of an older one."""


def check_study(name: str, names: Iterable[str], shown: str) -> None:
    """Raises ``UnknownName`` if no study has the name."""
    try:
        check_choice(name, names, "study")
    except UnknownName as problem:
        raise UnknownName(f"{problem} The database is {shown}.") from None
