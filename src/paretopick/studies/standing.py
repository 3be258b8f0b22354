"""Where a study stands while it is measured, in a line."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from paretopick._progress import check_progress, progress_line
from paretopick._words import counted, some
from paretopick.studies.study import Study
from paretopick.studies.views import StudyProgress


@contextmanager
def study_line(study: Study, wanted: bool | None) -> Iterator[Callable[[], None]]:
    """Yields what shows where a study stands, on a terminal or in a notebook; ``wanted`` as for ``progress_line``."""
    with progress_line(check_progress(wanted)) as line:

        def show() -> None:
            if line.due:
                now = study.progress(guess=True)
                used = f"{used_text(now)} measured" if now.spent is None else used_text(now)
                line.show(share_used(now), 1.0, f"{used}, {standing(now)}")

        yield show


def share_used(now: StudyProgress) -> float:
    """Returns how much of its budget a study has used."""
    return now.used / max(now.planned, 1) if now.spent is None else now.spent.spent / now.spent.budget


def used_text(now: StudyProgress) -> str:
    """Returns how many measurements there are, of how many, or how much they have cost."""
    return f"{now.used} of {now.planned}" if now.spent is None else f"{counted(now.used, 'measurement')}, {now.spent}"


def standing(now: StudyProgress) -> str:
    """Returns in a line which options look Pareto-optimal by now, and where there are rounds, which and who is still in it."""
    parts = []
    if not now.roundless:
        rounds = f"/{now.rounds}" if now.rounds else ""
        parts.append(f"round {now.round}{rounds}, {counted(now.active, 'option')} left")
    if now.due <= now.out and not now.done:
        parts.append(f"waiting for the last {'one' if now.out == 1 else now.out}")
    parts.append(f"best guess: {some(now.best_guess or (), most=6) or 'none yet'}")
    return ", ".join(parts)
