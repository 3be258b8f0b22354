"""What a soak is counted by: calls and their outcomes, what became of uncertain ones, and how long calls took."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from soak.checker import StudyLog, event_key, keys, operations
from soak.ledger import OUTCOMES, UNCERTAIN, Call

LONG = ("check", "backup")
"""Calls about a whole database, which may take as long as answers keep coming."""


class Longest(NamedTuple):
    """The longest call of a kind."""

    seconds: float
    outcome: str
    id: str


def counted(calls: Sequence[Call], logs: Iterable[StudyLog]) -> dict[str, dict[str, int]]:
    """Returns tables of counts."""
    kinds, outcomes = Counter(call.kind for call in calls), Counter(call.outcome for call in calls)
    logs = {log.token: log for log in logs}
    events = [event.kind for log in logs.values() for event in log.events]
    deleted = sum(call.kind == "delete" and call.outcome == "promised" for call in calls)
    finished = {call.token for call in calls if call.kind == "done" and call.answer is True}
    return {
        "calls by kind": dict(kinds.most_common()),
        "calls by outcome": {outcome: outcomes[outcome] for outcome in OUTCOMES},
        "studies": {
            "in the database": len(logs),
            "finished": len(finished & set(logs)),
            "deleted beside workers": deleted,
            "events": len(events),
            "measurements": events.count("told"),
            "of these added": sum(e.kind == "told" and e.round is None for log in logs.values() for e in log.events),
        },
        "uncertain calls": dict(sorted(_became(calls, logs).items())),
        "calls failed because": dict(Counter(_reason(call) for call in calls if call.outcome == "failed").most_common(15)),
    }


def _reason(call: Call) -> str:
    """What the database said, without what is different each time."""
    said = call.answer.partition("cannot be used: ")[2] or call.answer
    said = re.sub(r"(/[\w.-]+)+", "(a file)", re.split("[;:,]| CONTEXT| Is the server", said)[0])
    return re.sub(r"\d+", "#", said)[:90]


def _became(calls: Sequence[Call], logs: dict[str, StudyLog]) -> Counter[str]:
    """What became of calls whose outcome nobody knew."""
    became: Counter[str] = Counter()
    stored = {
        token: {known for event in log.events for known in (event_key(log, event), event.request)} for token, log in logs.items()
    }
    for operation in operations(calls):
        doubtful = [call for call in operation.calls if call.outcome in UNCERTAIN]
        if not doubtful:
            continue
        start = "answer lost" if any(call.outcome == "unknown" for call in doubtful) else "worker killed"
        later = [call for call in operation.calls if call.at > doubtful[0].at and call.outcome not in UNCERTAIN]
        if later:
            became[f"{start}, made again: {later[-1].outcome}"] += 1
        elif operation.first.token not in logs:
            became[f"{start}, study deleted since"] += 1
        else:
            known = {*keys(operation), *(call.request for call in operation.calls if call.request)}
            there = stored[operation.first.token] & known
            became[f"{start}, not made again: {'stored' if there else 'not stored'}"] += 1
    return became


def durations(calls: Iterable[Call], stops: Sequence[tuple[int, float, float]]) -> Iterator[tuple[Call, float]]:
    """Yields every call that was answered, and how long its worker waited, times in which it was stopped itself left out."""
    by_process: dict[int, list[tuple[float, float]]] = {}
    for pid, start, end in stops:
        by_process.setdefault(pid, []).append((start, end))
    for call in calls:
        if call.until is not None:
            asleep = sum(max(min(end, call.until) - max(start, call.at), 0.0) for start, end in by_process.get(call.pid, ()))
            yield call, call.until - call.at - asleep


def longest_calls(calls: Iterable[Call], stops: Sequence[tuple[int, float, float]]) -> dict[str, Longest]:
    """Returns the longest call of each kind."""
    longest: dict[str, Longest] = {}
    for call, seconds in durations(calls, stops):
        if call.kind not in longest or seconds > longest[call.kind].seconds:
            longest[call.kind] = Longest(seconds, call.outcome, call.id)
    return longest


def too_long(calls: Iterable[Call], stops: Sequence[tuple[int, float, float]], limit: float) -> Iterator[str]:
    """Yields calls that took longer than anybody has to wait."""
    for call, seconds in durations(calls, stops):
        if call.kind not in LONG and seconds > limit + call.given.get("wait", 0):
            yield f"{call} took {seconds:.1f} s; nobody has to wait for longer than {limit:g} s."
