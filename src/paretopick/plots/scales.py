"""The axis of a metric: between which ends, logarithmic or not, and what a limit forbids of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

import numpy as np

from paretopick._arrays import FloatArray
from paretopick.metrics import Metric
from paretopick.plots.limits import Forbidden, forbidden
from paretopick.plots.options import Ends, ends
from paretopick.plots.style import AxisLabel, axis_label
from paretopick.plots.ticks import is_log, log_axis

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class Scale:
    """The axis of a metric."""

    label: AxisLabel
    """The metric, its unit and goal."""
    ends: Ends
    log: bool
    """Whether it is logarithmic: ratios matter, or the options would be squeezed into a corner."""
    forbidden: Forbidden | None
    """What the limit of the metric forbids of it."""

    @classmethod
    def of(cls, metric: Metric, means: FloatArray, reach: Sequence[FloatArray] = (), *, say_limit: bool = False) -> Scale:
        """Returns the axis on which to draw means.

        Args:
            metric: of which they are.
            means: of all options that are shown.
            reach: what should be seen besides, as far as it does not dwarf the means; the limit should anyway.
            say_limit: whether the label has the limit.
        """
        log = is_log(means, metric)
        limit = () if metric.limit is None else (metric.limit,)
        span = ends(means, np.concatenate([limit, *reach]), log=log)
        return cls(axis_label(metric, log=log, limit=say_limit), span, log, forbidden(metric, span))

    @property
    def allowed(self) -> Ends:
        """The ends of what keeps the limit."""
        if self.forbidden is None:
            return self.ends
        (low, high), (start, end) = self.ends, self.forbidden.span
        return (low, start) if end == high else (end, high)

    def kept(self, values: FloatArray) -> FloatArray:
        """Returns values of which those below the end of a logarithmic axis, 0 for instance, are put there."""
        return np.maximum(values, self.ends[0]) if self.log else values


def set_scales(axes: Axes, x: Scale, y: Scale | None = None) -> None:
    """Gives axes their scales, before anything is drawn on them."""
    for scale, log in ((x, axes.set_xscale), (y, axes.set_yscale)):
        if scale is not None and scale.log:
            log("log")


def set_ends(axes: Axes, x: Scale, y: Scale | None = None) -> None:
    """Gives axes their ends and ticks, after all is drawn and labelled."""
    axes.set_xlim(*x.ends)
    if y is not None:
        axes.set_ylim(*y.ends)
    set_ticks(axes, x, y)


def set_ticks(axes: Axes, x: Scale, y: Scale | None = None) -> None:
    """Gives logarithmic axes ticks that suit their ends and their size as they are now."""
    for scale, axis in ((x, axes.xaxis), (y, axes.yaxis)):
        if scale is not None and scale.log:
            log_axis(axis, cast(Ends, tuple(axis.get_view_interval())))
