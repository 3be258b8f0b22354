"""The state of a study in step with its log: read anew before every use, changed in transactions, kept as checkpoints."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from paretopick.errors import InvalidInput
from paretopick.events import Event
from paretopick.storage import Storage, Transaction
from paretopick.studies.definition import Definition
from paretopick.studies.rules import Rules
from paretopick.studies.state import State

CHECKPOINT_EVERY = 1000
"""Events after which the state is kept anew, so that opening a study need not replay more."""


class LiveState:
    """The state of a study that others change, too.

    Args:
        storage: in which the study is.
        study_id: by which the storage knows it.
        definition: of the study.
    """

    def __init__(self, storage: Storage, study_id: int, definition: Definition) -> None:
        self.storage = storage
        self.study_id = study_id
        self.state = State(definition)
        """What followed from the log when it was looked at last."""
        self._turn = threading.RLock()
        self._checkpoint = 0
        """Position of the last event in the last checkpoint."""
        self._torn = True
        """Whether the state is unknown: at first, and when applying events was interrupted."""

    @contextmanager
    def reading(self) -> Iterator[tuple[State, Transaction]]:
        """The state with what everybody has done so far, and a transaction that reads; no other thread changes it meanwhile."""
        with self._turn, self.storage.reading(self.study_id) as transaction:
            self._catch_up(transaction)
            yield self.state, transaction

    @contextmanager
    def writing(self) -> Iterator[Rules]:
        """A transaction that knows what everybody has done so far; what it appends is applied when it is stored.

        If the database fails at the very end, nobody knows whether it was stored: whoever reads next will see.
        """
        with self._turn:
            with self.storage.writing(self.study_id) as transaction:
                self._catch_up(transaction)
                if self.state.position - self._checkpoint >= CHECKPOINT_EVERY:
                    transaction.keep_checkpoint(self.state.to_dict())
                    self._checkpoint = self.state.position
                yield Rules(self.state, transaction)
            if transaction.appended:
                self._apply(transaction.appended)

    def keep_checkpoint(self) -> None:
        """After many events at once: whoever opens the study next need not replay them."""
        if self.state.position - self._checkpoint >= CHECKPOINT_EVERY:
            with self.writing():
                pass

    def _catch_up(self, transaction: Transaction) -> None:
        if self._torn:
            self.state = self._restored(transaction)
            self._checkpoint = self.state.position
            self._torn = False
        if transaction.n_events > self.state.position:
            self._apply(transaction.events(after=self.state.position))

    def _restored(self, transaction: Transaction) -> State:
        """What a checkpoint says, if it can be read; else a state at the start."""
        definition = self.state.definition
        saved = transaction.checkpoint()
        try:
            return State.from_dict(definition, saved) if saved else State(definition)
        except (InvalidInput, LookupError, TypeError, ValueError):
            return State(definition)

    def _apply(self, events: Sequence[Event]) -> None:
        """Applies events that are stored; afterwards the state may be torn, and is mended by whoever looks next."""
        self._torn = True
        self.state.apply(events)
        self._torn = False
