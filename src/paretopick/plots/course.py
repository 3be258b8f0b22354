"""How sure a study was on its way: the probability of being right, or up to which differences it was, over the measurements."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from paretopick._arrays import FloatArray, IntArray
from paretopick._words import joined, probability
from paretopick.metrics import Metric
from paretopick.plots.room import arranged, laid_out
from paretopick.plots.style import BLUE, GREY, LABEL_SIZES, AxisLabel, label_axes, label_axis, lengths, whole_ticks
from paretopick.plots.texts import legible, shortened
from paretopick.plots.ticks import log_axis
from paretopick.studies.course import Course

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SIZE = (6.8, 3.2)
"""Inches."""


@dataclass(frozen=True, eq=False)
class Ruler:
    """A metric along an axis of differences: how a multiple of the noise is said in its unit."""

    metric: Metric
    noise: float

    def of(self, factors: FloatArray) -> FloatArray:
        """Returns differences in the unit of the metric, in percent where ratios matter."""
        return np.asarray(self.metric.apart(factors * self.noise) * (100 if self.metric.log else 1))

    def factors(self, differences: FloatArray) -> FloatArray:
        """Returns what ``of`` was made of."""
        return np.asarray(np.log1p(differences / 100) / self.noise if self.metric.log else differences / self.noise)

    def as_of(self, other: Ruler, differences: FloatArray) -> FloatArray:
        """Returns differences in another metric that are as many times its noise as these are of this one."""
        return other.of(self.factors(differences))

    def label(self, log: bool) -> AxisLabel:
        """Returns what is written along the axis."""
        unit = "%" if self.metric.log else shortened(legible(self.metric.unit or ""))
        details = ", ".join(filter(None, (unit, "log scale" if log else "")))
        return AxisLabel(f"resolved in {shortened(legible(self.metric.name))}", details)


@dataclass(frozen=True, eq=False)
class CourseData:
    """What is drawn of the course of a study."""

    used: IntArray
    """Measurements so far."""
    values: FloatArray
    """The probability of being right; or, where there are rulers, up to which differences it was, in units of the noise."""
    rulers: tuple[Ruler, ...]
    """Of the axis on the left and, if there is a second metric, of that on the right; none where margins are declared."""
    label: str
    """Of the axis of probabilities."""
    target: float
    """The probability that is called sure, or was asked for."""
    target_label: str
    notes: tuple[str, ...]

    @classmethod
    def of(cls, course: Course) -> CourseData:
        """Returns what there is to be drawn of a course."""
        within = [word for word, there in (("margins", _margins(course)), ("limits", _limits(course))) if there]
        rulers = tuple(
            Ruler(metric, float(noise))
            for metric, noise in zip(course.metrics, course.noise, strict=True)
            if metric.compared and noise > 0
        )
        known = course.factors is not None and bool(np.isfinite(course.factors).any()) and bool(rulers)
        asked = course.aim.is_set and course.aim.resolution is None
        target = course.aim.level if asked else course.level
        return cls(
            used=course.used,
            values=course.factors if known and course.factors is not None else course.probabilities,
            rulers=rulers[:2] if known else (),
            label=f"P(right{f' within {joined(within)}' if within else ''})",
            target=target,
            target_label=f"{probability(target)} {'asked for' if asked else 'is called sure'}",
            notes=(f"In the end it is {legible(course.resolution.sentence)}.",)
            if known and course.resolution is not None
            else (),
        )

    @property
    def by_resolution(self) -> bool:
        """Whether differences are drawn, and not probabilities."""
        return bool(self.rulers)

    @property
    def title(self) -> str:
        """What is to be seen."""
        return "what the measurements resolved" if self.by_resolution else "how sure it was on the way"


def course(axes: Axes, record: CourseData) -> Axes:
    """Draws how sure a study was, or up to which differences its answer was right, over its measurements."""
    axes.set_xlim(0, 1.03 * record.used[-1])
    whole_ticks(axes)
    axes.set_xlabel("measurements", fontsize=LABEL_SIZES[0])
    (_resolved if record.by_resolution else _probable)(axes, record)
    return axes


def _probable(axes: Axes, record: CourseData) -> None:
    axes.axhline(record.target, color=GREY, linestyle="--", linewidth=0.9)
    right = bool(record.values[-1] > record.target)  # where the curve is not
    axes.annotate(
        record.target_label,
        (float(right), record.target),
        (-4 if right else 4, -3),
        xycoords=("axes fraction", "data"),
        textcoords="offset points",
        ha="right" if right else "left",
        va="top",
        fontsize=7.5,
        color="#555555",
    )
    axes.plot(record.used, record.values, color=BLUE, marker="o", markersize=3.2, clip_on=False, zorder=3)
    axes.set_ylim(0, 1)
    shares = np.linspace(0, 1, 6)

    def arrange() -> None:
        label_axes(axes, (None, AxisLabel(record.label, "")))
        axes.set_yticks(shares, labels=[f"{share:.0%}" for share in shares])

    laid_out(axes)
    arranged(axes, arrange)


def _resolved(axes: Axes, record: CourseData) -> None:
    """Differences on a logarithmic axis, unless the answer was right as it was at some time: then on one that begins at 0."""
    left, *others = record.rulers
    values = left.of(record.values)
    seen = values[np.isfinite(values)]
    log = bool(seen.min() > 0)
    ends = (float(seen.min() / 1.3), float(seen.max() * 1.3)) if log else (0.0, float(1.08 * seen.max() or 1.0))
    if log:
        axes.set_yscale("log")
    axes.plot(record.used, values, color=BLUE, marker="o", markersize=3.2, zorder=3)
    axes.set_ylim(ends)
    rulers = [(left, axes.yaxis, ends)]
    for ruler in others:
        there, back = partial(left.as_of, ruler), partial(ruler.as_of, left)
        right = axes.secondary_yaxis("right", functions=cast(Any, (there, back)))
        low, high = there(np.array(ends))
        rulers.append((ruler, right.yaxis, (float(low), float(high))))

    def arrange() -> None:
        for ruler, axis, its_ends in rulers:
            label_axis(axis, ruler.label(log), lengths(axes)[1])
            if log:
                log_axis(axis, its_ends)

    laid_out(axes)
    arranged(axes, arrange)


def _margins(course: Course) -> bool:
    return any(metric.margin is not None for metric in course.metrics)


def _limits(course: Course) -> bool:
    return any(metric.limit is not None for metric in course.metrics)
