"""Checks of what a database holds: every study, every event, what is out, and checkpoints. Nothing is changed.

It does not go through ``Study``, which refuses what is damaged: here everything is read as it is, and one bad study does not hide
the others.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from paretopick._words import counted, cut, short
from paretopick.errors import ParetopickError, StorageFailed
from paretopick.events import Event
from paretopick.storage import StorageChoice
from paretopick.storage.chain import first_link, next_link
from paretopick.storage.contract import PAGE, check_study
from paretopick.storage.files import start_anew
from paretopick.studies.contents import Contents, Wrong, is_whole
from paretopick.studies.definition import Definition
from paretopick.studies.state import FORMAT, State, new_state

if TYPE_CHECKING:
    from paretopick.storage.records import Records, StudyRow

Progress = Callable[[str, float, float], None]
"""Is told what is being done, how much of it is done, and of how much."""

MOST = 100
"""Findings of one study that are listed; further ones are counted."""

RESTORE = "restore the study from a backup"
RELEASE = "give it back: release it for its worker"
MADE_ANEW = "there is nothing to do: it is not used, and made anew by itself"

DAMAGED = (ParetopickError, ArithmeticError, AssertionError, AttributeError, LookupError, TypeError, ValueError)
"""What damaged contents may lead to."""


@dataclass(frozen=True)
class Finding:
    """Something that is wrong."""

    study: str | None
    """None if it is the database as a whole."""
    position: int | None
    """Of the event, None if it is none in particular; 0 is what the study is about."""
    what: str
    remedy: str
    harmless: bool = False
    """Whether it is a remark: nothing is lost, and every answer is right."""

    def __str__(self) -> str:
        where = "the database" if self.study is None else f"study {self.study!r}"
        place = f", event {self.position}" if self.position else ", its definition" if self.position == 0 else ""
        return f"{where}{place}: {self.what}; {self.remedy}."


@dataclass(frozen=True)
class Checked:
    """What a check has looked at, and found."""

    storage: str
    """The address, without a password."""
    studies: tuple[str, ...]
    events: int
    leases: int
    """Measurements that are out with workers."""
    findings: tuple[Finding, ...]

    @property
    def fine(self) -> bool:
        """Whether nothing is wrong; remarks do not matter."""
        return all(finding.harmless for finding in self.findings)

    def to_dict(self) -> dict[str, Any]:
        """Returns all of it as JSON values."""
        return {"fine": self.fine} | asdict(self)


def check_storage(storage: StorageChoice = None, names: Iterable[str] = (), *, progress: Progress | None = None) -> Checked:
    """Returns what is wrong in a database, at one moment, whoever writes meanwhile; nothing is changed.

    Args:
        storage: the URL of a database, the path of an SQLite file, or an open storage; None for the usual place.
        names: of the studies to be looked at; all by default.
        progress: is told what is being done, how much is done, and of how much.
    """
    from paretopick.storage.records import open_records  # loads SQLAlchemy

    chosen = [names] if isinstance(names, str) else list(names)
    with open_records(storage) as records:
        remedy = "restore a backup" if records.path is None else start_anew(records.path)
        found = [Finding(None, None, f"SQLite says of it: {fault}", remedy) for fault in records.faults()]
        if records.empty:
            found.append(Finding(None, None, "it has no tables of studies", "check the storage and the working folder"))
        try:
            rows = records.studies()
        except StorageFailed as problem:
            rows, chosen = [], []
            found.append(Finding(None, None, f"its studies cannot be read ({problem})", remedy))
        for name in chosen:
            check_study(name, [row.name for row in rows], records.shown)
        checks = [_StudyCheck(records, row) for row in rows if not chosen or row.name in chosen]
        done, total = 0, sum(check.expected for check in checks)
        for check in checks:
            for looked_at in check.run():
                if progress is not None and total > PAGE:
                    progress(f"study {check.name}", done + looked_at, total)
            done += check.expected
            found += check.findings
        return Checked(
            records.shown,
            tuple(check.name for check in checks),
            sum(check.n_events for check in checks),
            sum(check.n_leases for check in checks),
            tuple(found),
        )


class _StudyCheck:
    """The check of one study.

    Args:
        records: of its database.
        row: of the study.
    """

    def __init__(self, records: Records, row: StudyRow) -> None:
        self.name = str(row.name)
        self.expected = row.n_events if is_whole(row.n_events, 0) else 0
        """Events, if the study is right."""
        self.n_events = self.n_leases = 0
        self.findings: list[Finding] = []
        self._more = 0
        """Further ones."""
        self._records, self._row = records, row
        definition = self._read_definition()
        self._contents = Contents(definition, row.next_number)
        self._state = self._first_state(definition)
        """What follows from the events so far, None after the first one that is not right."""
        self._kept: tuple[int, str, str] | None = None
        """Position, head and state of the checkpoint, if that may fit."""

    def run(self) -> Iterable[int]:
        """Looks at everything; yields now and then how many events were looked at."""
        for name, least in (("n_events", 0), ("next_number", 1)):
            if not is_whole(value := getattr(self._row, name), least):
                self._find(None, f"its {name} is {short(value)}, and expected was a whole number from {least} on", RESTORE)
        try:
            self._read_checkpoint()
            yield from self._check_log()
            self._check_leases()
        except StorageFailed as problem:  # rows that the database itself cannot read
            self._find(None, f"what follows event {self.n_events} cannot be read ({problem})", RESTORE)
        if self._more:
            self.findings.append(Finding(self.name, None, f"{counted(self._more, 'further finding')} not listed", RESTORE))

    def _find(self, position: int | None, what: str, remedy: str, *, harmless: bool = False) -> None:
        if len(self.findings) < MOST:
            self.findings.append(Finding(self.name, position, what, remedy, harmless))
        else:
            self._more += 1

    def _read_definition(self) -> Definition | None:
        try:
            return Definition.from_dict(json.loads(self._row.definition))
        except DAMAGED as problem:
            self._find(0, f"it cannot be read ({_said(problem)})", RESTORE)
            return None

    def _first_state(self, definition: Definition | None) -> State | None:
        try:
            return None if definition is None else new_state(definition)
        except DAMAGED as problem:
            self._find(0, f"no study can begin with it ({_said(problem)})", RESTORE)
            return None

    def _check_log(self) -> Iterable[int]:
        """Every event in its order, and what the study says about the whole log."""
        reached, head = 0, first_link(str(self._row.definition))
        for page in self._records.events(self._row.id):
            right: list[Event] = []
            whole = True
            for row in page:
                event = self._check_event(row, reached, head)
                reached, head = row[0], row[-1]
                if self._kept is not None and self._kept[0] == reached and self._kept[1] != head:
                    self._drop_checkpoint("it does not belong to this log")
                whole = whole and event is not None
                if whole and event is not None:
                    right.append(event)
            self._replay(right)
            if not whole:
                self._state = None
            self.n_events += len(page)
            yield self.n_events
        self._check_end(reached, head)

    def _check_event(self, row: Sequence[Any], reached: int, head: str) -> Event | None:
        """One event, after a position and a hash; None if it is not right."""
        position, before = row[0], len(self.findings) + self._more
        if position < 1:
            self._find(position, "it stands before the first one", RESTORE)
        elif position != reached + 1:
            self._find(reached + 1, _missing(reached + 1, position - 1), RESTORE)
        elif row[-1] != _link(head, row[:-1]) and position == 1:
            self._find(0, "it was changed, or event 1 was, which does not follow from it", RESTORE)
        elif row[-1] != _link(head, row[:-1]):
            self._find(position, "it was changed, or is of another log: it does not follow from the one before it", RESTORE)
        event = None
        try:
            event = self._contents.read(row[:-1])
        except Wrong as problem:
            self._find(position, f"{cut(str(row[1]), 30)}: {problem}", RESTORE)
        return event if len(self.findings) + self._more == before else None

    def _check_end(self, reached: int, head: str) -> None:
        n, last = self._row.n_events, self._row.head
        if n == reached == 0 and head != last:
            self._find(0, "it was changed since the study was created", RESTORE)
        elif n != reached and head == last:
            self._find(None, f"it counts {short(n)} events, and its log ends rightly with event {reached}", RESTORE)
        elif is_whole(n, reached + 1):
            self._find(reached + 1, _missing(reached + 1, n), RESTORE)
        elif n != reached:
            self._find(reached, f"it is there, and the study counts {short(n)} events", RESTORE)
        elif head != last:
            self._find(reached, "it is another one than the last one that the study knows", RESTORE)
        if self._kept is not None and not 1 <= self._kept[0] <= reached:
            self._drop_checkpoint(f"the log ends with event {reached}")

    def _replay(self, events: Sequence[Event]) -> None:
        """Applies events, and says at which one that fails; at the checkpoint, compares."""
        start = 0
        while self._state is not None and start < len(events):
            stop = len(events)
            if self._kept is not None and 0 < self._kept[0] - self._state.position < stop - start:
                stop = start + self._kept[0] - self._state.position
            before = self._state.copy()
            try:
                self._state.apply(events[start:stop])
            except DAMAGED:
                self._state = None
                self._find_first(before, events[start:stop])
                return
            start = stop
            if self._kept is not None and self._state.position == self._kept[0]:
                self._compare(self._state, self._kept[2])

    def _find_first(self, state: State, events: Sequence[Event]) -> None:
        """Says which of the events cannot be applied."""
        for event in events:
            try:
                state.apply([event])
            except DAMAGED as problem:
                self._find(event.position, f"nothing can follow from it ({_said(problem)})", RESTORE)
                return

    def _read_checkpoint(self) -> None:
        found = self._records.checkpoint(self._row.id)
        if found is None:
            return
        position, head, state, digest = found
        self._kept = position, head, state
        if not is_whole(position, 0) or digest != _link(head, [position, state]):
            self._drop_checkpoint("it was changed")

    def _compare(self, state: State, kept: str) -> None:
        try:
            saved = json.loads(kept)
        except ValueError:
            saved = None
        if not isinstance(saved, dict):
            self._drop_checkpoint("it cannot be read")
        elif saved.get("format") != FORMAT:
            self._drop_checkpoint("another version of paretopick made it")
        elif kept != (mine := json.dumps(state.to_dict())) and saved != json.loads(mine):
            self._drop_checkpoint("it is not what follows from the log")

    def _drop_checkpoint(self, why: str) -> None:
        assert self._kept is not None
        position = self._kept[0]
        self._find(
            position if is_whole(position, 1) else None, f"the checkpoint here does not fit: {why}", MADE_ANEW, harmless=True
        )
        self._kept = None

    def _check_leases(self) -> None:
        for page in self._records.leases(self._row.id):
            self.n_leases += len(page)
            for row in page:
                try:
                    self._contents.check_lease(row)
                except Wrong as problem:
                    self._find(None, f"measurement {row[0]} is out with {short(row[3])}: {problem}", RELEASE)


def _link(before: str, row: Sequence[Any]) -> str | None:
    """The hash of an event, None if it has contents that no event can have."""
    try:
        return next_link(before, row)
    except (TypeError, ValueError):
        return None


def _missing(first: int, last: int) -> str:
    return f"event {first} is missing" if first == last else f"events {first} to {last} are missing"


def _said(problem: BaseException) -> str:
    return cut(f"{type(problem).__name__}: {problem}", 200)
