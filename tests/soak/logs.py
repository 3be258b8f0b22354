"""What a database has in the end: each study read anew, and checked to follow from its own log."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import sqlalchemy

import paretopick as pp
from paretopick.storage import StoredStudy
from paretopick.storage.schema import checkpoints
from paretopick.storage.sql import SQLStorage
from paretopick.studies.checks import check_storage
from paretopick.studies.definition import Definition
from paretopick.studies.state import new_state
from soak.checker import StudyLog
from support.twin import DataTwin, Twin


def read_logs(url: str) -> tuple[list[StudyLog], list[str]]:
    """Returns the logs of all studies, and what is wrong with them in themselves."""
    storage = SQLStorage(url)
    logs, compared = [], set()
    faults = [str(finding) for finding in check_storage(storage).findings if not finding.harmless]
    for name in storage.names():
        study = storage.find(name)
        try:
            log = _read_log(storage, study)
            line = name.rpartition(" ")[0]
            faults += _check_log(storage, study, log, literally=line not in compared)
            compared |= {line} if len(log.events) > 50 else set()
            logs.append(log)
        except pp.StorageFailed as problem:
            faults.append(f"study {name!r} cannot be read: {problem}")
    storage.close()
    return logs, faults


def check_backups(files: Iterable[Path], logs: Iterable[StudyLog]) -> Iterator[str]:
    """Yields what is wrong with backups that were made meanwhile: each study in them is how it once was."""
    later = {log.token: log for log in logs}
    for file in files:
        storage = SQLStorage(file)
        for name in storage.names():
            study = storage.find(name)
            events = _read_log(storage, study).events
            if study.token in later and events != later[study.token].events[: len(events)]:
                yield f"study {name!r} in {file} never was like that."
        storage.close()


def _read_log(storage: SQLStorage, study: StoredStudy) -> StudyLog:
    """Follows the chain from its start."""
    with storage.reading(study) as transaction:
        place, events = transaction.start, []
        while place.position < transaction.n_events:
            new, place = transaction.follow(place)
            events += new
        options = Definition.from_dict(study.definition).options
        return StudyLog(study.name, study.token, options, events, transaction.leases(), transaction.next_number)


def _check_log(storage: SQLStorage, study: StoredStudy, log: StudyLog, *, literally: bool) -> Iterator[str]:
    """A replay, a fresh open and the checkpoint agree, and the budget was kept at any time.

    Args:
        storage: where it is.
        study: as it was found.
        log: what was read of it.
        literally: whether to compare with the slow, literal replay, too.
    """
    definition = Definition.from_dict(study.definition)
    with storage.reading(study) as transaction:
        kept = transaction.checkpoint()
    with storage.database.reading() as connection:
        count = sqlalchemy.select(sqlalchemy.func.count()).where(checkpoints.c.study_id == study.id)
        if kept is None and connection.execute(count).scalar_one():
            yield f"the checkpoint of study {log.name!r} does not fit its log."
    state, asked_for = new_state(definition), 0
    for event in log.events:
        state.apply([event])
        if event.round is not None:
            asked_for += {"told": 1, "voided": -1}.get(event.kind, 0)
        # Without rounds, what was brought along counts, too, and only that may exceed the budget.
        if (asked_for if definition.choice.roundless else state.used) > state.budget:
            yield f"after event {event.position} of study {log.name!r}, {state.used} of {state.budget} measurements are used."
        if kept is not None and event.position == kept.place.position and state.to_dict() != kept.state:
            yield f"the checkpoint of study {log.name!r} at {event.position} is not what follows from the events before it."
    at_once = new_state(definition)
    at_once.apply(log.events)
    with pp.Study.open(log.name, storage=storage) as fresh:
        if not state.to_dict() == at_once.to_dict() == fresh._state.to_dict():
            yield f"study {log.name!r} opened anew is not what follows from its events."
        if fresh.used != state.used:
            yield f"study {log.name!r} says that {fresh.used} measurements are used; its events say {state.used}."
    kinds = [event.kind for event in log.events]
    if state.used + state.kept != kinds.count("told") - kinds.count("voided"):
        yield f"{state.used} measurements of study {log.name!r} count and {state.kept} wait; {kinds.count('told')} were told."
    if literally:
        twin = (DataTwin if definition.choice.roundless else Twin)(definition, log.events)
        if [len(counted) for counted in twin.counted] != state.counts.tolist():
            yield f"the literal replay of study {log.name!r} counts {[len(counted) for counted in twin.counted]} measurements."
