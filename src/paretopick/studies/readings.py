"""What a command printed, as the values of the metrics."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from paretopick._arrays import real
from paretopick._texts import number_of
from paretopick._words import cut
from paretopick.errors import MeasuringFailed
from paretopick.studies.time_metrics import TIMES

MOST_BESIDE = 50
"""Values beside the metrics that are kept of one JSON object."""


class NotPrinted(MeasuringFailed):
    """A command that has printed no value for a metric."""


def readings(
    output: str,
    metrics: Sequence[str],
    *,
    beside: str = "",
    taken: Collection[str] = (),
    from_outside: Mapping[str, float] | None = None,
) -> dict[str, Any]:
    r"""Returns what a command printed, by metric; raises ``MeasuringFailed`` with what is wrong in one line.

    Numbers and short texts that a JSON object has beside the metrics follow; of lines ``name=value`` there may be many that mean
    something else.

    Args:
        output: what it printed.
        metrics: that must be there.
        beside: what it printed to standard error, for the message if there is nothing else.
        taken: names that mean something else.
        from_outside: values of metrics that it need not print; what it prints comes first.

    >>> readings("warming up\nseconds=0.25\nbytes = 1200", ["seconds", "bytes"])
    {'seconds': 0.25, 'bytes': 1200.0}
    >>> readings('{"bytes": 1200, "seconds": 0.25, "host": "x"}', ["seconds", "bytes"])
    {'seconds': 0.25, 'bytes': 1200.0, 'host': 'x'}
    """
    known = dict(from_outside or {})
    pairs = _json_pairs(output)
    in_json = pairs is not None
    if pairs is None:
        split = (line.partition("=") for line in output.splitlines() if "=" in line)
        pairs = [(name.strip(), value.strip()) for name, _, value in split]
    found: dict[str, float] = {}
    for name, value in pairs:
        if name in metrics:
            if name in found:
                raise MeasuringFailed(f"it printed {name!r} twice, {found[name]:g} and {value}; which one counts?")
            found[name] = _number(name, value)
    for name in metrics:
        if name not in found and name not in known:
            said, aside = (" ".join(text.split()) for text in (output, beside))
            shown = f"it printed: {cut(said, 100)!r}" if said else "it printed nothing"
            if aside and not said:
                shown += f" to standard output, and to standard error: {cut(aside, 100)!r}"
            without = ", or call it wall_seconds, which is measured without" if TIMES.search(name.lower()) else ""
            raise NotPrinted(f"there is no value for {name!r}; {shown}; print one JSON object, or lines {name}=...{without}")
    more = {name: value for name, value in pairs if name not in metrics and _is_worth_keeping(name, value, taken)}
    kept = list(more.items())[:MOST_BESIDE] if in_json else []
    return {name: found.get(name, known.get(name)) for name in metrics} | dict(kept)


def line_with(output: bytes, metrics: Sequence[str]) -> str:
    r"""Returns the first line of an output that would print a metric, were it read; empty if there is none.

    >>> line_with(b"\xff\nwall_seconds = 0.25\n", ["output_bytes", "wall_seconds"])
    'wall_seconds = 0.25'
    """
    names = b"|".join(re.escape(name.encode()) for name in metrics)
    found = re.search(rb"^[ \t]*(?:(?:%b)[ \t]*=|\{[^\n]*\"(?:%b)\"[ \t]*:)[^\n]*" % (names, names), output, re.MULTILINE)
    return "" if found is None else cut(found[0].decode(errors="replace").strip(), 60)


def _is_worth_keeping(name: str, value: Any, taken: Collection[str]) -> bool:
    """Whether something beside the metrics is a finite number, or a text, under a name of its own."""
    if name in taken or not name.isprintable() or name != name.strip() or not 0 < len(name) <= 100:
        return False
    if isinstance(value, str):
        return len(value) <= 1000 and value.isprintable()
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e300


def _json_pairs(output: str) -> list[tuple[str, Any]] | None:
    """The names and values of the one JSON object in an output, alone or in a line of its own, repeated names included."""
    found = []
    for text in (output, *output.splitlines()):
        if text.strip().startswith("{"):
            try:
                found.append(list(json.loads(text, object_pairs_hook=_Pairs)))
            except (ValueError, RecursionError):
                continue
            if text is output:
                break
    if len(found) > 1:
        raise MeasuringFailed(f"it printed {len(found)} JSON objects; print one")
    return found[0] if found else None


class _Pairs(list[Any]):
    """An object of JSON as its pairs, so that a name that is there twice is seen."""


def _number(name: str, value: Any) -> float:
    try:
        number = number_of(value) if isinstance(value, str) else real(value)
    except (TypeError, ValueError, OverflowError):
        comma = isinstance(value, str) and re.fullmatch(r"\s*[-+]?\d+,\d+\s*", value)
        remedy = "write decimals with a dot" if comma else "print one metric in a line"
        raise MeasuringFailed(f"it printed {name}={cut(str(value), 60)}, which is not a number; {remedy}") from None
    if not abs(number) < float("inf"):
        raise MeasuringFailed(f"it printed {name}={number}, which is not a finite number")
    return number
