"""Which metrics are times, so that one may speak of faster and slower, and company disturbs them."""

from __future__ import annotations

import re
from collections.abc import Iterable

from paretopick.metrics import Metric

TIMES = re.compile(
    r"(?<![a-z])(s|secs?|seconds?|ms|milli\w*|us|micro\w*|ns|nano\w*|minutes?|hours?|times?|runtime|duration|elapsed|latency)(?![a-z])"
)
"""Words by which metrics, or their units, are known to be times."""


def times_among(metrics: Iterable[Metric]) -> list[str]:
    """Returns the names of the metrics that are times, by their names and units.

    >>> times_among([Metric("wall_seconds", "min"), Metric("p95", "min", unit="ms"), Metric("items", "max")])
    ['wall_seconds', 'p95']
    """
    return [metric.name for metric in metrics if TIMES.search(metric.name.lower()) or TIMES.search((metric.unit or "").lower())]
