"""What a study in progress will reach with more measurements."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TypeAlias

from paretopick._arrays import check_integer, check_real, check_rng, check_sequence
from paretopick._progress import check_progress, progress_line
from paretopick._words import short
from paretopick.bandits import Seed
from paretopick.errors import InvalidInput, NotReady
from paretopick.studies import Study
from paretopick.studies.continuation import Continuation, continuation_of, needed_first

Progress: TypeAlias = Callable[[str, float, float], None]
"""Called with what is going on, how much is done, and of how much."""

MOST_MORE = 10**7
"""More would take long."""

USUAL = (100, 300, 1000)
"""Numbers of further measurements that are looked at unless told otherwise."""


def look_ahead(
    study: Study,
    *,
    more: int | Iterable[int] | None = None,
    target: float = 0.05,
    runs: int | None = None,
    margin: str | None = None,
    rng: Seed = 0,
    workers: int | None = None,
    progress: Progress | bool | None = None,
) -> Continuation:
    """Returns what a study will reach with more measurements, from what it has measured so far.

    Args:
        study: in progress, or done.
        more: how many further measurements, one number or several; by default 100, 300 and 1,000, as far as they are enough for
            options that have to be measured first.
        target: the share of wrong answers that is acceptable.
        runs: continuations to simulate; by default at most 400, as many as a second or two allows.
        margin: ``"?"`` asks up to which differences it will be right, also where margins are declared: then as multiples of
            these.
        rng: an int, SeedSequence or Generator.
        workers: threads.
        progress: as for ``plan``.
    """
    wrong = check_real(target, "target", above=0.0, below=1.0)
    find_margins = check_margin(margin)
    try:
        data = study.data()
    except NotReady as reason:
        raise NotReady(f"the study {study.name!r} says too little to look ahead: {reason}") from None
    if len(data.options) == 1:
        raise InvalidInput("a single option is Pareto-optimal without any measurement; there is nothing to plan.")
    present = study.result().certainty.probability
    assert present is not None  # since there are estimates
    with telling(progress) as tell:
        return continuation_of(
            data,
            present_probability=present,
            target=1.0 - wrong,
            more=_usual(needed_first(data.choice, data.counts)) if more is None else _numbers(more),
            runs=None if runs is None else check_integer(runs, "runs", minimum=20),
            rng=rng if isinstance(rng, int) else int(check_rng(rng).integers(2**62)),
            workers=workers,
            find_margins=find_margins,
            progress=lambda done, of: tell(f"how {study.name} may go on, {of:,} times", done, of),
        )


@contextmanager
def telling(progress: Progress | bool | None) -> Iterator[Progress]:
    """Yields what is told how far a plan is: a function of the caller, or what shows a line."""
    if callable(progress):
        yield progress
        return
    with progress_line(check_progress(progress)) as line:
        yield lambda doing, done, of: line.show(done, of, doing)


def check_margin(margin: Any) -> bool:
    """Returns whether a plan is asked which margins a budget resolves; refuses other ways to say a margin."""
    if margin is None or (isinstance(margin, str) and margin.strip() == "?"):
        return margin is not None
    raise InvalidInput(
        f'margin={short(margin)} is not "?", which asks which margins a budget resolves; margins themselves go with the metrics, '
        "such as seconds:min~2%."
    )


def _usual(least: int) -> list[int]:
    return [number for number in USUAL if number >= least]


def _numbers(given: int | Iterable[int]) -> list[int]:
    several = check_sequence(given, "more", "is not a list of numbers") if isinstance(given, Iterable) else (given,)
    return sorted({check_integer(number, "more", minimum=1, maximum=MOST_MORE) for number in several})
