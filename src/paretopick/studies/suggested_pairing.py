"""Which column of a study without pairing would make blocks: one whose values have much of the noise."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from paretopick._arrays import IntArray
from paretopick._blocks import Blocked
from paretopick._words import joined, short
from paretopick.errors import NotReady
from paretopick.events import Event
from paretopick.studies.blocks import Block, as_block
from paretopick.studies.sharing import same, times_text
from paretopick.studies.state import State

FEWEST, MOSTLY = 3, 0.5
"""A column is looked at if so many of its values are there more than once, and such a part of measurements has one of them."""

MOST_CELLS = 200_000
"""Of blocks and options, or else it would take long."""

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
    rows = np.array([state.compared_row(event) for event, _ in told], dtype=np.float64)
    places = {arm: at for at, arm in enumerate(present)}
    arms = np.array([places[event.arm] for event, _ in told if event.arm is not None], dtype=np.int64)
    best: tuple[float, str] | None = None
    for column in ["repeat", *sorted({name for _, details in told for name in details.get("extra", {})})]:
        values = [details.get("repeat") if column == "repeat" else details.get("extra", {}).get(column) for _, details in told]
        blocks = _numbered([as_block(value) for value in values])
        if blocks is None or (int(blocks.max()) + 1) * len(present) > MOST_CELLS:
            continue
        try:
            found = state.estimates(present, blocked=Blocked.of(arms, blocks, rows, n_options=len(present)))
        except NotReady:
            return None
        if found.sharing is None:
            continue
        parts = zip(state.definition.metrics, found.sharing.shares, found.sharing.gains.tolist(), strict=True)
        sure = {
            metric.name: (gain, f"{share.value:.0%} of the noise of {metric.name}")
            for metric, share, gain in parts
            if share is not None and share.low > MUCH and gain >= WORTH
        }
        gain = max((each for each, _ in sure.values()), default=0.0)
        if sure and (best is None or gain > best[0]):
            best = gain, _said(column, {name: each for name, (each, _) in sure.items()}, [text for _, text in sure.values()])
    return None if best is None else best[1]


def _numbered(blocks: Sequence[Block | None]) -> IntArray | None:
    """The numbers of blocks that several measurements are in, -1 for all others; None if these are too few to tell anything."""
    sizes = Counter(block for block in blocks if block is not None)
    shared = sorted((block for block, n in sizes.items() if n > 1), key=lambda block: (isinstance(block, str), block))
    if len(shared) < FEWEST or sum(sizes[block] for block in shared) < MOSTLY * len(blocks):
        return None
    numbers = {block: number for number, block in enumerate(shared)}
    return np.array([-1 if block is None else numbers.get(block, -1) for block in blocks], dtype=np.int64)


def _said(column: str, gains: Mapping[str, float], shares: Sequence[str]) -> str:
    worth = joined([f"{times_text(gain)} as many measurements in {name}" for name, gain in gains.items()])
    return (
        f"measurements {same(column)} vary together: they share {joined(shares)}. A study with pairing={short(column)} knows "
        f"differences as well as from {worth}; create one, and import the export of this one, or judge its table with that."
    )
