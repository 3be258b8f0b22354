"""Pieces of work that are done on all cores and kept in a file: interrupted, they go on where they were."""

from __future__ import annotations

import json
import multiprocessing
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

Job = Sequence[Any]


def simulated(jobs: Sequence[Job], worked: Callable[[Any], tuple[Job, list[Any]]], kept: Path) -> dict[str, list[Any]]:
    """Returns what came out of every job, by its JSON text; what was kept is not done again."""
    done: dict[str, list[Any]] = {}
    if kept.exists():
        done = {line["job"]: line["found"] for line in map(json.loads, kept.read_text().splitlines())}
    left, started = [job for job in jobs if json.dumps(job) not in done], time.monotonic()
    with multiprocessing.Pool() as pool, kept.open("a") as file:
        for count, (job, found) in enumerate(pool.imap_unordered(worked, left, chunksize=1), start=1):
            done[json.dumps(job)] = found
            file.write(json.dumps({"job": json.dumps(job), "found": found}) + "\n")
            file.flush()
            if count % 20 == 0:
                print(f"\r{count:,} of {len(left):,} done, {time.monotonic() - started:.0f} s", end="", file=sys.stderr)
    print(file=sys.stderr)
    return done
