"""The state of a study in step with its log: read anew before every use, changed in transactions, kept as checkpoints."""

from __future__ import annotations

import os
import secrets
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

from paretopick._arrays import check_name
from paretopick.errors import InvalidInput, LogDamaged, OutcomeUnknown, StorageFailed, StudyGone
from paretopick.events import Checkpoint, Event, Place
from paretopick.storage import Storage, StoredStudy, Transaction
from paretopick.storage.contract import pages
from paretopick.studies.definition import Definition
from paretopick.studies.rules import Rules
from paretopick.studies.state import State, new_state, restore_state

CHECKPOINT_EVERY = 1000
"""Events after which the state is kept anew, so that opening a study need not replay more."""

MANY_EVENTS = 50_000
"""Beyond these, reading the log takes longer than a second."""

FEW_EVENTS = 2000
"""As many as may be caught up with while others wait to write."""

SOON = 5.0
"""Seconds: whoever had to wait for longer in vain is told so, instead of being made to wait as long once more."""

Outcome = TypeVar("Outcome")


class LiveState:
    """The state of a study that others change, too.

    Args:
        storage: in which the study is.
        study: as the storage knows it.
        definition: of the study.
    """

    def __init__(self, storage: Storage, study: StoredStudy, definition: Definition) -> None:
        self.storage = storage
        self.study = study
        self.definition = definition
        """As the study was created; ``state.definition`` has the options that were added since, too."""
        self.state = new_state(definition)
        """What followed from the log when it was looked at last."""
        self._place = Place(0, "")
        """How far that is."""
        self._turn, self._pid = threading.RLock(), os.getpid()
        self._checkpoint = 0
        """Position of the last event in the last checkpoint."""
        self._torn = True
        """Whether the state is unknown: at first, and when applying events was interrupted."""

    @contextmanager
    def _in_turn(self) -> Iterator[None]:
        """Within a process one thread at a time; whoever waits for others that wait for a database gives up as they do."""
        if self._pid != os.getpid():  # nobody here would ever let go of what a thread held when this process was forked
            self._turn, self._pid = threading.RLock(), os.getpid()
        turn, patience = self._turn, self.storage.patience
        if not turn.acquire(timeout=patience):
            raise StorageFailed(
                f"another thread of this process has been using the study {self.study.name!r} for {patience:g} s; nothing was "
                "written, so simply try again."
            )
        try:
            yield
        finally:
            turn.release()

    @contextmanager
    def reading(self) -> Iterator[tuple[State, Transaction]]:
        """The state with what everybody has done so far, and a transaction that reads; no other thread changes it meanwhile."""
        with self._in_turn(), self.storage.reading(self.study, after=self._after) as transaction:
            self._catch_up(transaction)
            yield self.state, transaction

    def change(self, act: Callable[[Rules], Outcome], request: str | None = None) -> Outcome:
        """Does something with the study that is stored whole or not at all, and returns what came out.

        If the database does not say whether it was stored, this is found out, or raises ``OutcomeUnknown`` with the request:
        at once for whoever has waited for long already.

        Args:
            act: what is done, by the rules.
            request: an id of the caller: if it was used before, nothing is done, and what came out then is returned.
        """
        with self._in_turn():
            again = request is not None
            mine = secrets.token_hex(8) if request is None else check_name(request, "request")
            start = time.monotonic()
            try:
                return self._change(act, mine, again)
            except OutcomeUnknown as unknown:
                if time.monotonic() - start < SOON:
                    try:
                        return self._change(act, mine, again=True)
                    except (StudyGone, LogDamaged):
                        raise
                    except StorageFailed:
                        pass
                raise OutcomeUnknown(f"{unknown} Make the call again with request={mine!r}: it counts once.", mine) from unknown

    def _change(self, act: Callable[[Rules], Outcome], request: str, again: bool) -> Outcome:
        while True:
            if self._torn:
                with self.reading():  # however long that takes, nobody waits for it
                    pass
            with self.storage.writing(self.study, after=self._after) as transaction:
                if transaction.n_events - self._place.position <= FEW_EVENTS:
                    self._catch_up(transaction)
                    if kept := self._is_time_for_a_checkpoint():
                        transaction.keep_checkpoint(Checkpoint(self._place, self.state.to_dict()))
                    rules = Rules(self.state, transaction, request, again=again)
                    outcome = act(rules)
                    break
            with self.reading():
                pass
        if kept:
            self._checkpoint = self._place.position
        self._apply(transaction.appended, transaction.end)
        return outcome

    def reread(self) -> None:
        """Follows the log once more from its start, unless it is very long."""
        with self.reading() as (state, transaction):
            if state.position <= MANY_EVENTS:
                for _ in pages(transaction):
                    pass

    def keep_checkpoint(self) -> None:
        """After many events at once: whoever opens the study next need not replay them."""
        with self.reading():
            pass
        if self._is_time_for_a_checkpoint():
            self.change(lambda _: None)

    def _is_time_for_a_checkpoint(self) -> bool:
        """After many events; measurements that wait or share blocks are in it one by one, so with many it is made less often."""
        return self._place.position - self._checkpoint >= CHECKPOINT_EVERY + self.state.listed // 10

    @property
    def _after(self) -> int | None:
        """The position after which events will be asked for, None if a checkpoint will be asked for first."""
        return None if self._torn else self._place.position

    def _catch_up(self, transaction: Transaction) -> None:
        """Takes in what was added to the log; one that does not fit what was seen of it is refused, now and later."""
        if self._torn:
            self._place = self._restore(transaction)
        while True:
            events, place = transaction.follow(self._place)
            self._apply(events, place)
            if place.position >= transaction.n_events:
                break

    def _apply(self, events: Sequence[Event], place: Place) -> None:
        """Applies events that are stored; if that is interrupted, the state is torn, and mended by whoever looks next."""
        self._torn = True
        self.state.apply(events)
        self._place, self._torn = place, False

    def _restore(self, transaction: Transaction) -> Place:
        """Goes back to the checkpoint, if it can be read; else to the start."""
        kept = transaction.checkpoint()
        if kept is not None:
            try:
                self.state = restore_state(self.definition, kept.state)
            except (InvalidInput, LookupError, TypeError, ValueError, ArithmeticError):
                kept = None
        if kept is None or self.state.position != kept.place.position:
            self.state = new_state(self.definition)
            self._checkpoint = 0
            return transaction.start
        self._checkpoint = kept.place.position
        return kept.place
