"""What a run says when something else on the machine disturbs the times that it measures; once, with numbers."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from paretopick.cli.output import note
from paretopick.studies import Study
from paretopick.studies.company import BUSY, OtherPrograms, busy_text, timing

Watch = Callable[[Study, str], None]


@contextmanager
def watching_times(study: Study, times: Sequence[str], workers: int, others: OtherPrograms) -> Iterator[Callable[[Watch], Watch]]:
    """Says before a run what disturbs times, and yields what makes whoever watches it say so once it happens during the run.

    Args:
        study: that is measured.
        times: its metrics that are times; if there are none, nothing is said.
        workers: how many measure at the same time.
        others: watched since a moment ago.
    """
    if not times:
        yield lambda watch: watch
        return
    with timing(f"the study {study.name!r}") as another:
        known = _what_disturbs(study, times, workers, another, others)
        if known:
            note(known)
        yield lambda watch: watch if known else _with_others(watch, others)


def _what_disturbs(study: Study, times: Sequence[str], workers: int, another: str | None, others: OtherPrograms) -> str:
    """What one can know before a run: several measurements at once, other runs, other programs."""
    if workers > 1:
        return (
            f"{workers} measurements at a time disturb each other where times are measured ({', '.join(times)}); leave --workers "
            "out, or use more machines."
        )
    here = f"{socket.gethostname()}:"
    if another is None and any(row["worker"].startswith(here) for row in study.status()["out"]):
        another = f"the study {study.name!r}"
    if another is not None:
        return f"another run on this machine times {another} now, or did a moment ago; times that both measure suffer from it."
    share = others.share_before()
    return busy_text(share) if share is not None and share > BUSY else ""


def _with_others(watch: Watch, others: OtherPrograms) -> Watch:
    """Returns what watches a run, and says once if other programs have become busy."""
    said = False

    def look(study: Study, sentence: str) -> None:
        nonlocal said
        watch(study, sentence)
        share = None if said or sentence else others.share()  # looked at when a measurement has ended, and none is running
        if share is not None and share > BUSY:
            said = True
            watch(study, f"note: {busy_text(share)}")

    return look
