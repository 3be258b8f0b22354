"""Who is too near a limit, where no margins make an answer right."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from paretopick.metrics import Metric
from paretopick.studies.next_step import Reason, Truths


def nearest_to_a_limit(truths: Truths, names: Sequence[str], metrics: Sequence[Metric]) -> Reason | None:
    """Returns which option is nearest to a limit, in units of the noise, and how near; None if no limit is in doubt.

    Args:
        truths: what the means may be.
        names: of the options.
        metrics: that they were measured in.
    """
    rooms = np.array([np.median(truths.room(option), axis=0) for option in range(len(names))])
    if not np.isfinite(rooms).any():
        return None
    option, place = np.unravel_index(rooms.argmin(), rooms.shape)
    away = float(np.abs(np.median(truths.means[:, option, place] - truths.required.limits[place])))
    metric = metrics[int(place)]
    near = f"(about {metric.difference_text(away)} from {metric.limit_text} in {metric.name!r})"
    return Reason(f"{names[int(option)]!r} is too near a limit {near}", is_limit=True)
