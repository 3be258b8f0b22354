"""How sure a study was on its way: what its valid measurements said after the first twentieth of them, after two, and so on."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from paretopick._arrays import FloatArray, IntArray
from paretopick.errors import NotReady
from paretopick.events import Event
from paretopick.metrics import Metric
from paretopick.studies.aims import Aim
from paretopick.studies.certainty import DRAWS, Judgement, judge
from paretopick.studies.definition import Definition
from paretopick.studies.resolution import Resolution
from paretopick.studies.roundless import Roundless

POINTS = 20
"""So many times it is looked, evenly over the measurements."""

FEW_DRAWS = 400
"""Of the true means, at all times but the last, when there are as many as for the result."""


@dataclass(frozen=True, eq=False)
class Course:
    """What was known after more and more measurements, of the options that are still there."""

    metrics: tuple[Metric, ...]
    aim: Aim
    """When the study was to stop."""
    used: IntArray
    """``(n_points,)``: measurements so far."""
    probabilities: FloatArray
    """``(n_points,)``: that the answer was right, within margins and limits if there are some."""
    factors: FloatArray | None
    """``(n_points,)``: up to which differences it was right, in units of the noise; NaN where that could not be said. None if
    margins are declared."""
    noise: FloatArray
    """``(n_metrics,)``: the standard deviation of one measurement as it is compared, by what is known in the end; 0 where a
    metric is exact."""
    level: float
    """With which probability it was right up to these differences."""
    resolution: Resolution | None
    """Up to which it is in the end; None if that cannot be said, or margins are declared."""


def course_of(definition: Definition, events: Iterable[Event], *, level: float = 0.95) -> Course | None:
    """Returns what was known on the way of a study; None as long as nothing is.

    Measurements that were taken back later do not count, and corrected ones have their last values: it says what the data of
    today said when there were fewer of them, not what was said at the time.

    Args:
        definition: of the study, with the options that were added since.
        events: all of them.
        level: with which probability the answer shall be right up to the differences that are resolved.
    """
    state, told, retired = Roundless(definition), dict[int | None, Event](), set[int | None]()
    for event in events:
        if event.kind in ("told", "corrected"):
            told[event.number] = event._replace(kind="told")
        elif event.kind == "voided":
            del told[event.number]
        elif event.kind in ("retired", "reinstated"):
            (retired.add if event.kind == "retired" else retired.discard)(event.arm)
        elif event.kind == "aimed":
            state.apply([event])
    valid = list(told.values())
    present = [arm for arm in range(len(definition.options)) if arm not in retired]
    found: list[tuple[int, Judgement]] = []
    if len(present) < 2:
        return None
    start = 0
    for stop in sorted({round(len(valid) * share / POINTS) for share in range(1, POINTS + 1)} - {0}):
        state.apply(valid[start:stop])
        start = stop
        with suppress(NotReady):
            n_draws = FEW_DRAWS if stop < len(valid) else DRAWS
            required, enough = definition.requirements, state.aim.needed
            judged = judge(state.estimates(present), required=required, level=level, enough=enough, n_draws=n_draws)
            found.append((stop, judged))
    if not found:
        return None
    resolved = None if definition.requirements.margins.any() else [one.resolution(definition.metrics) for _, one in found]
    last = found[-1][1].estimates
    return Course(
        metrics=definition.metrics,
        aim=state.aim,
        used=np.array([used for used, _ in found], dtype=np.int64),
        probabilities=np.array([judgement.certainty.probability for _, judgement in found]),
        factors=None if resolved is None else np.array([np.nan if one is None else one.factor for one in resolved]),
        noise=np.where(last.exact, 0.0, last.pooled),
        level=level,
        resolution=None if resolved is None else resolved[-1],
    )
