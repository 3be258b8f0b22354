"""Whether every promise was kept: the ledger of the calls against the log of each study."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from paretopick.events import Event, Lease
from soak.ledger import UNCERTAIN, WRITING, Call

Key = tuple[Any, ...]
"""What an event is known by: its kind and all that its caller has said."""


@dataclass
class StudyLog:
    """What the database has of a study in the end."""

    name: str
    token: str
    options: Sequence[str]
    events: list[Event]
    leases: list[Lease]
    next_number: int


@dataclass
class Operation:
    """A call with all that were made for it again: together they have an effect once, or not at all."""

    calls: list[Call] = field(default_factory=list)

    @property
    def first(self) -> Call:
        """The call itself, or whatever is there of it."""
        return self.calls[0]

    @property
    def outcome(self) -> str:
        """promised, uncertain or nothing: what may be found in the log."""
        outcomes = {call.outcome for call in self.calls}
        if "promised" in outcomes:
            return "promised"
        if "refused" in outcomes:  # had it been stored before, it would have been known again
            return "nothing"
        return "uncertain" if outcomes & set(UNCERTAIN) else "nothing"

    @property
    def answers(self) -> list[Any]:
        """What its caller was told, as often as it was promised something."""
        return [call.answer for call in self.calls if call.outcome == "promised"]


def operations(calls: Iterable[Call]) -> list[Operation]:
    """Returns what was to be done, in the order in which it was first tried."""
    found: dict[str, Operation] = {}
    for call in calls:
        if call.kind in WRITING:
            found.setdefault(call.repeats or call.id, Operation()).calls.append(call)
    return list(found.values())


def check_calls(calls: Sequence[Call], logs: Iterable[StudyLog], killed: Collection[str] = ()) -> Iterator[str]:
    """Yields whatever in the logs is not as the calls say.

    Args:
        calls: all of them.
        logs: of all studies that are left.
        killed: names of workers that were killed in the end, and may have leases.
    """
    logs = {log.token: log for log in logs}
    yield from _check_outcomes(calls)
    yield from _check_gone(calls, logs)
    done = operations(calls)
    senders = {key: operation for operation in done for key in keys(operation)}
    calls_on, done_on = defaultdict(list), defaultdict(list)
    for call in calls:
        calls_on[call.token].append(call)
    for operation in done:
        done_on[operation.first.token].append(operation)
    for token, log in logs.items():
        yield from _check_study(log, done_on[token], senders, holders(calls_on[token]))
        yield from _check_numbers(log, killed)
        yield from _check_asked(log, calls_on[token])


def holders(calls: Iterable[Call]) -> dict[int | None, set[str]]:
    """Returns which workers were given each measurement; under None, those that may have been given any."""
    found: dict[int | None, set[str]] = defaultdict(set)
    for call in calls:
        if call.kind == "ask" and call.outcome == "promised":
            for number, *_ in call.answer:
                found[number].add(call.worker)
        elif call.kind == "ask" and call.outcome in UNCERTAIN:
            found[None].add(call.worker)
    return found


def keys(operation: Operation) -> list[Key]:
    """Returns by what its events are known, all of them; what is given back is not known by the arguments."""
    call, given = operation.first, operation.first.given
    match call.kind:
        case "tell":
            return [("told", given["number"], *given["values"])]
        case "fail":
            return [("failed", given["number"], given["why"])]
        case "void":
            return [("voided", given["number"], given["why"])]
        case "retire":
            return [("retired", given["option"], given["why"])]
        case "extend":
            return [("extended", given["budget"])]
        case "add":
            return [("added", option, *values) for option, values in given["rows"]]
        case "record":
            told: list[Key] = [("told", number, *values) for number, values in given["told"]]
            failed: list[Key] = [("failed", number, why) for number, why in given["failed"]]
            return told + failed + [("added", option, *values) for option, values in given["added"]]
    return []


def event_key(log: StudyLog, event: Event) -> Key | None:
    """Returns what an event is known by; None for those that are looked at otherwise."""
    why = (event.details or {}).get("why")
    option = None if event.arm is None else log.options[event.arm]
    match event.kind:
        case "told" if event.round is None:
            return ("added", option, *(event.measured or ()))
        case "told":
            return ("told", event.number, *(event.measured or ()))
        case "failed" | "voided":
            return (event.kind, event.number, why)
        case "retired":
            return ("retired", option, why)
        case "extended":
            return ("extended", (event.details or {})["budget"])
    return None


def _check_outcomes(calls: Iterable[Call]) -> Iterator[str]:
    for call in calls:
        if call.outcome in ("error", "damaged"):
            yield f"{call} raised what it must not raise: {call.answer}"
        if call.outcome == "promised" and call.kind == "check" and call.answer:
            yield f"{call} found what nobody has done: {call.answer}"
        if call.outcome == "failed" and "deadlock" in str(call.answer):
            yield f"{call} waited for somebody who waited for it: {call.answer}"
        if call.outcome == "refused" and "never handed out" in call.answer:
            yield f"{call} was refused, though the number was handed out: {call.answer}"
        if call.outcome == "promised" and call.kind == "renew" and not set(call.answer) <= set(call.given["numbers"]):
            yield f"{call} renewed {call.answer}, which is more than it was asked for."


def _check_gone(calls: Sequence[Call], logs: Mapping[str, StudyLog]) -> Iterator[str]:
    """A study is gone when another one of its name was created, or if it is not there in the end: somebody deleted it."""
    created = {call.answer["token"]: call for call in calls if (call.kind, call.outcome) == ("create", "promised")}
    later: dict[str, list[Call]] = defaultdict(list)
    for call in created.values():
        later[call.study].append(call)
    known = {call.answer["token"]: call.study for call in calls if call.kind in ("create", "open") and call.outcome == "promised"}
    for call in calls:
        if call.token is None or call.outcome != "promised" or call.token not in created:
            continue
        first = created[call.token]
        for next_one in later[call.study]:
            if first.until is not None and next_one.at > first.until and next_one.until is not None and call.at > next_one.until:
                yield f"{call} was promised, though its study was gone: {next_one} came before it."
                break
    deletes = Counter(call.study for call in calls if call.kind == "delete" and call.outcome in ("promised", *UNCERTAIN))
    vanished = Counter(name for token, name in known.items() if token not in logs)
    for name, count in vanished.items():
        if count > deletes[name]:
            yield f"{count} studies named {name!r} are not there any more, and {deletes[name]} were deleted."
    names = Counter(log.name for log in logs.values())
    for name, count in names.items():
        if count > 1:
            yield f"there are {count} studies named {name!r}."


def _check_study(
    log: StudyLog, done: Sequence[Operation], senders: Mapping[Key, Operation], held: Mapping[int | None, set[str]]
) -> Iterator[str]:
    """Every promise once, nothing that nobody sent, and calls as a whole or not at all."""
    stored = Counter(key for event in log.events if (key := event_key(log, event)) is not None)
    sent: dict[Key, list[Operation]] = defaultdict(list)
    for operation in done:
        for key in keys(operation):
            sent[key].append(operation)
    for key, count in stored.items():
        if key not in sent:
            other = f"; {senders[key].first} sent it to another study" if key in senders else ""
            yield f"study {log.name!r} has {_text(key)}, which nobody sent{other}."
        elif all(operation.outcome == "nothing" for operation in sent[key]):
            yield f"study {log.name!r} has {_text(key)}, though {sent[key][0].first} was told that it was not stored."
        if count > 1:
            yield f"study {log.name!r} has {_text(key)} {count} times."
    failed = {event.number for event in log.events if event.kind == "failed"}
    for operation in done:
        call, mine = operation.first, keys(operation)
        there = [key in stored or (key[0] == "failed" and key[1] in failed) for key in mine]
        if operation.outcome == "promised" and not all(there) and not _was_with_others(call, held):
            lost = next(key for key, found in zip(mine, there, strict=True) if not found)
            yield f"{call} was promised, and study {log.name!r} does not have {_text(lost)}."
        if operation.outcome == "uncertain" and any(there) and not all(there):
            yield f"{call} was stored in part: {sum(there)} of {len(there)} in study {log.name!r}."
        if any(answer != operation.answers[0] for answer in operation.answers):
            yield f"{call} was answered otherwise when it was made again: {operation.answers}."
    yield from _check_tables(log, done)
    yield from _check_released(log, done)


def _was_with_others(call: Call, held: Mapping[int | None, set[str]]) -> bool:
    """Whether it says that a worker failed with a measurement that others had by then, which is ignored."""
    if call.kind != "fail" or "worker" not in call.given:
        return False
    return bool((held.get(call.given["number"], set()) | held.get(None, set())) - {call.worker})


def _check_tables(log: StudyLog, done: Iterable[Operation]) -> Iterator[str]:
    """What was added stands together, under the numbers that were promised."""
    by_number = {event.number: event for event in log.events if event.kind == "told"}
    for event in log.events:
        if event.kind == "imported":
            first, new = ((event.details or {})[key] for key in ("first", "new"))
            rows = log.events[event.position : event.position + new]
            if [(row.kind, row.number) for row in rows] != [("told", first + i) for i in range(new)]:
                yield f"event {event.position} of study {log.name!r} has {new} rows from {first} on, and they do not follow."
            elif {row.request for row in rows} != {event.request}:
                yield f"event {event.position} of study {log.name!r} has another request than its rows."
    for operation in done:
        rows = operation.first.given.get("rows") or operation.first.given.get("added") or ()
        for answer in operation.answers[:1] if rows else ():
            found = [by_number[number] for number in answer if number in by_number]
            if [(log.options[event.arm], list(event.measured)) for event in found] != [(o, list(v)) for o, v in rows]:
                yield f"{operation.first} was given the numbers {answer}, and they are not those of its rows."


def _check_released(log: StudyLog, done: Sequence[Operation]) -> Iterator[str]:
    stored = Counter(
        (event.worker, *numbers) for event in log.events if event.kind == "released" and (numbers := event.details["numbers"])
    )
    released = [op for op in done if op.first.kind == "release"]
    promised = {(op.first.worker, *op.answers[0]): op for op in released if op.outcome == "promised" and op.answers[0]}
    for key, op in promised.items():
        if key not in stored:
            yield f"{op.first} was promised {op.answers[0]}, and study {log.name!r} does not have it."
    uncertain = Counter(op.first.worker for op in released if op.outcome == "uncertain")
    for key, count in stored.items():
        if count > 1:
            yield f"study {log.name!r} has measurements {key[1:]} given back {count} times."
        if key not in promised:
            uncertain[key[0]] -= 1
            if uncertain[key[0]] < 0:
                yield f"study {log.name!r} has measurements {key[1:]} given back by {key[0]}, which did not say so."


def _check_numbers(log: StudyLog, killed: Collection[str]) -> Iterator[str]:
    """Positions without gaps; every number is told, failed, given back or out, and nothing twice."""
    positions = [event.position for event in log.events]
    if positions != list(range(1, len(positions) + 1)):
        yield f"the positions of study {log.name!r} are not 1 to {len(positions)}."
    ends: dict[int, list[str]] = defaultdict(list)
    told: set[int] = set()
    for event in log.events:
        if event.kind == "released":
            for number in (event.details or {})["numbers"]:
                ends[number].append("released")
        elif event.kind in ("told", "failed") and event.number is not None:
            ends[event.number].append(event.kind)
            told |= {event.number} if event.kind == "told" else set()
        elif event.kind == "voided" and event.number not in told:
            yield f"measurement {event.number} of study {log.name!r} was voided and not told before."
    for lease in log.leases:
        ends[lease.number].append(f"out with {lease.worker}")
        if lease.worker not in killed:
            yield f"measurement {lease.number} of study {log.name!r} is out with {lease.worker}, which gave everything back."
    for number in range(1, max([log.next_number, *(n + 1 for n in ends)])):
        if len(ends[number]) != 1 or number >= log.next_number:
            happened = " and ".join(ends[number]) or "lost"
            yield f"measurement {number} of study {log.name!r} was {happened}; the next one would be {log.next_number}."


def _check_asked(log: StudyLog, calls: Iterable[Call]) -> Iterator[str]:
    """A number always means the same option, and what was refused was refused for a reason."""
    options = {event.number: log.options[event.arm] for event in log.events if event.number and event.arm is not None}
    options |= {lease.number: log.options[lease.arm] for lease in log.leases}
    told = {event.number: list(event.measured or ()) for event in log.events if event.kind == "told"}
    voided = {event.number for event in log.events if event.kind == "voided"}
    for call in calls:
        if call.kind == "ask" and call.outcome == "promised":
            for number, option, _ in call.answer:
                if options.setdefault(number, option) != option:
                    yield f"{call} was given measurement {number} of option {option}; it is of option {options[number]}."
                if number >= log.next_number:
                    yield f"{call} was given measurement {number}, and the next one of study {log.name!r} is {log.next_number}."
        elif call.outcome == "refused" and call.kind == "tell" and call.answer.startswith("AlreadyTold"):
            if told.get(call.given["number"], call.given["values"]) == call.given["values"]:
                yield f"{call} was refused, though nothing else was told: {call.answer}"
        elif call.outcome == "refused" and call.kind == "void" and call.given["number"] not in voided:
            yield f"{call} was refused, though the measurement was not voided: {call.answer}"


def _text(key: Key) -> str:
    return f"{key[0]} {json.dumps(key[1:])}"
