"""Which column of a study without pairing would make blocks: one whose values have much of the noise."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from paretopick._blocks import Blocked
from paretopick._words import joined, short
from paretopick.errors import NotReady
from paretopick.estimates import Estimates
from paretopick.events import Event
from paretopick.studies.sharing import same, times_text
from paretopick.studies.state import State

MUCH = 0.1
WORTH = 1.25
"""A column is suggested if its blocks surely have such a part of the noise of a metric, and differences would be known as well as
from so many times as many measurements."""


def suggested(state: State, events: Iterable[Event], present: Sequence[int]) -> str | None:
    """Returns that a column of what was told beside the metrics, or the repeat, has much of the noise, if one has.

    Args:
        state: of a study without pairing.
        events: of its valid measurements.
        present: the options that were not retired.
    """
    told = [(event, (event.details or {})) for event in events if event.arm in present]
    columns = sorted({name for _, details in told for name in details.get("extra", {})})
    best: tuple[float, str] | None = None
    for column in ["repeat", *columns]:
        values = [details.get("repeat") if column == "repeat" else details.get("extra", {}).get(column) for _, details in told]
        if (found := _as_blocks(state, [event for event, _ in told], values, present)) is None or found.sharing is None:
            continue
        parts = zip(state.definition.metrics, found.sharing.shares, found.sharing.gains.tolist(), strict=True)
        sure = {
            f"{share.value:.0%} of the noise of {metric.name}": gain
            for metric, share, gain in parts
            if share is not None and share.low > MUCH and gain >= WORTH
        }
        gain = max(sure.values(), default=0.0)
        if sure and (best is None or gain > best[0]):
            best = gain, _said(column, list(sure), gain)
    return None if best is None else best[1]


def _said(column: str, shares: Sequence[str], gain: float) -> str:
    return (
        f"measurements {same(column)} vary together: they share {joined(shares)}. A study with pairing={short(column)} "
        f"knows differences as well as from up to {times_text(gain)} as many measurements; create one, and import the "
        "export of this one."
    )


def _as_blocks(state: State, events: Sequence[Event], values: Sequence[Any], present: Sequence[int]) -> Estimates | None:
    """What would be known if the values of a column made blocks; None if no two options have one in common."""
    numbers = {value: number for number, value in enumerate(dict.fromkeys(value for value in values if value is not None))}
    if len(numbers) < 2 or len(numbers) == sum(value is not None for value in values):
        return None
    place = {arm: at for at, arm in enumerate(present)}
    rows = np.array([state.compared_row(event) for event in events], dtype=np.float64)
    arms = np.array([place[event.arm] for event in events if event.arm is not None])
    blocks = np.array([-1 if value is None else numbers[value] for value in values])
    try:
        return state.estimates(present, blocked=Blocked.of(arms, blocks, rows, n_options=len(present)))
    except NotReady:
        return None
