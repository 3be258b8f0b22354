"""What a command uses: time, processors, memory, output, and how it ends; metrics that are there without its printing them."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from paretopick._words import quoted
from paretopick.errors import InvalidInput, MeasuringFailed
from paretopick.metrics import Metric
from paretopick.studies import usage_process

MEMORY_UNIT = 1 if sys.platform == "darwin" else 1024
"""Bytes in which systems count the memory of processes."""


@dataclass(frozen=True)
class Usage:
    """What one run of a command used, with what it has started and waited for."""

    exit_code: int
    """128 and the number of the signal if one has killed it, as shells have it."""
    wall_seconds: float
    """From the moment it was started."""
    cpu_seconds: float
    """Of all its processes, in programs and in the system."""
    max_memory_mb: float
    """The most that one of its processes had in memory at a time, in units of a million bytes."""
    output_bytes: int
    """That it wrote to standard output."""
    code: int
    """The exit code, or the number of the signal with a minus."""


BUILT_IN = ("wall_seconds", "cpu_seconds", "max_memory_mb", "output_bytes", "exit_code")
"""Metrics that need not be printed."""


def built_in(metrics: Iterable[str]) -> tuple[str, ...]:
    """Returns the metrics among some that are measured for a command that does not print them; refuses what cannot be here."""
    asked = tuple(name for name in metrics if name in BUILT_IN)
    if asked and not (hasattr(os, "wait4") and hasattr(os, "fork") and sys.executable):
        raise InvalidInput(
            f"{quoted(asked)} cannot be measured from outside a command on this system; have the command print them."
        )
    return asked


def check_exit_code(metrics: Iterable[Metric]) -> None:
    """Refuses a limit of 0 for exit codes that may vary: of a share that is estimated, nobody is ever sure that it is 0."""
    for metric in metrics:
        if metric.name == "exit_code" and not metric.exact and metric.at_most is not None and metric.at_most <= 0:
            raise InvalidInput(
                f"metric 'exit_code' is to be at most {metric.at_most:g} and is not exact: of values that may vary it is never "
                "sure that their mean is exactly 0, and even a command that never fails would break the limit. If it is the same "
                "each time: --exact exit_code, in a file exit_code = {at_most = 0, exact = true}. If it may fail now and then: "
                "exit_code<=0.01."
            )


def measuring(words: Iterable[str], report: int, kept: int, environment: Mapping[str, str]) -> list[str]:
    """Returns the command that runs another one and reports what it used.

    Args:
        words: of the other one.
        report: the file to which it reports.
        kept: bytes of output that are passed on.
        environment: of the other one.
    """
    locale = f"={environment['LC_CTYPE']}" if "LC_CTYPE" in environment else ""
    program = os.fspath(Path(usage_process.__file__))
    return [sys.executable, "-I", "-S", program, str(report), str(kept), locale, *words]


def reported(line: bytes, program: str) -> Usage | None:
    """Returns what was reported, None if it was nothing; raises ``MeasuringFailed`` if the program could not be started."""
    numbers = [int(part) for part in line.split()]
    if not numbers:
        return None
    if len(numbers) == 1:
        raise MeasuringFailed(f"{program!r} cannot be started: {os.strerror(numbers[0])}")
    code, wall, cpu, memory, size = numbers
    return Usage(
        exit_code=code if code >= 0 else 128 - code,
        wall_seconds=wall / 1e9,
        cpu_seconds=cpu / 1e9,
        max_memory_mb=memory * MEMORY_UNIT / 1e6,
        output_bytes=size,
        code=code,
    )
