"""Metrics whose values are skewed to the right, so that means and their intervals say less than logarithms would."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

import numpy as np

from paretopick.events import Event
from paretopick.studies.definition import Definition

LIKELIER = 3.0
"""The logarithm of how many times likelier values must be as lognormal ones than as normal ones for a metric to be named."""

WIDE = 0.4
"""The standard deviation of logarithms below which intervals hold as often as those of normal values do (docs/certainty.md)."""

FEWEST = 4
"""Values of an option that are looked at."""


def skewed(definition: Definition, events: Iterable[Event]) -> Iterator[str]:
    """Yields a note for every metric that looks as though it had better be compared as logarithms.

    Args:
        definition: of the study.
        events: by which its valid measurements were told, or corrected last.
    """
    if not definition.choice.knows_margins:
        return  # which know no logarithms either
    rows: dict[int, list[tuple[float | None, ...]]] = defaultdict(list)
    for event in events:
        rows[event.arm or 0].append(tuple(event.measured or ()))
    for at, metric in enumerate(definition.metrics):
        if metric.log or metric.exact:
            continue
        tables = [np.array([row[at] for row in some if row[at] is not None], dtype=np.float64) for some in rows.values()]
        if all((table > 0).all() for table in tables) and _looks_lognormal(tables):
            yield (
                f"{metric.name!r} is skewed, most values small and a few large: means are hard to know, and their 95% intervals "
                "hold less often than that. If ratios matter, give it log=true in a new study, which can import an export of "
                "this one."
            )


def _looks_lognormal(tables: Iterable[np.ndarray]) -> bool:
    """Whether values of options, each with a mean and a variance of its own, are likelier lognormal than normal, and widely so.

    >>> skew = np.exp(np.random.default_rng(0).normal(size=(3, 20)))
    >>> _looks_lognormal(skew), _looks_lognormal(10 + np.log(skew))
    (True, False)
    """
    likelier, squares, freedom = 0.0, 0.0, 0
    for values in tables:
        n, logs = len(values), np.log(values)
        if n < FEWEST or not logs.var() > 0 or not values.var() > 0:
            continue
        likelier += n / 2 * (np.log(values.var()) - np.log(logs.var())) - logs.sum()
        squares, freedom = squares + n * logs.var(), freedom + n - 1
    return bool(freedom and likelier > LIKELIER and np.sqrt(squares / freedom) >= WIDE)
