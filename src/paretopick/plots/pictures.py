"""Whole pictures of a result: which kinds there are, which suits the number of metrics, and figures of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from paretopick._arrays import check_choice
from paretopick._words import counted, joined, short
from paretopick.errors import InvalidInput, UnknownName
from paretopick.plots.course import SIZE as COURSE_SIZE
from paretopick.plots.course import CourseData, course
from paretopick.plots.fronts import FrontData, front
from paretopick.plots.options import headline
from paretopick.plots.pairs import PairsData, pairs
from paretopick.plots.parallel import ParallelData, parallel
from paretopick.plots.parallel import figure_size as parallel_size
from paretopick.plots.ranking import RankingData, ranking
from paretopick.plots.ranking import figure_height as ranking_height
from paretopick.plots.room import plain_figure
from paretopick.plots.style import look, parts_of, say_nothing_yet, write_notes, write_title
from paretopick.plots.timeline import TimelineData, timeline
from paretopick.plots.timeline import figure_size as timeline_size
from paretopick.studies.course import Course
from paretopick.studies.result import ParetoResult

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Part:
    """A picture, below which there may be others in a figure."""

    notes: tuple[str, ...]
    size: tuple[float, float]
    """In inches."""
    draw: Callable[[list[Axes]], object]
    side: int = 1
    """Of the square of axes that it takes."""


def figure_of(result: ParetoResult, *, title: str | None = None) -> Figure:
    """Returns the picture of a result that suits its number of metrics.

    One metric with a goal: the options by rank. Two: the front. Three and four: every pair. More: parallel axes. Below it, for
    each metric that has only a limit, the options by rank in that.

    Args:
        result: of a study, done or not.
        title: above the picture; by default the name of the study and what was found, "" for none.
    """
    with look():
        return drawn(parts_of_result(result), title_of(result, title))


def timeline_of(result: ParetoResult, *, title: str | None = None) -> Figure:
    """Returns the picture of who was measured how long and how often.

    Args:
        result: of a study, done or not.
        title: as for ``figure_of``.
    """
    with look():
        return drawn([part_of(result, "timeline")], title_of(result, title))


def course_of(given: Course, *, title: str = "") -> Figure:
    """Returns the picture of how sure a study was over its measurements.

    Args:
        given: what ``paretopick.studies.course`` has found.
        title: above the picture.
    """
    with look():
        return drawn([course_part(given)], title)


def parts_of_result(result: ParetoResult) -> list[Part]:
    """Returns the picture that suits the number of metrics, and what is below it."""
    below = [_limit_rows(result, metric.name) for metric in result.metric_records if not metric.compared]
    return [part_of(result), *below]


def part_of(result: ParetoResult, kind: str | None = None, x: str | None = None, y: str | None = None) -> Part:
    """Returns a picture of a result.

    Args:
        result: of a study, done or not.
        kind: of ``PICTURES``; by default the one that suits the number of metrics, a front if metrics are chosen.
        x: the metric from left to right, of a front or a ranking.
        y: the metric upwards, of a front.
    """
    chosen = {name: metric for name, metric in (("x", x), ("y", y)) if metric is not None}
    if kind is None:
        kind = "front" if chosen else _suiting(len(_compared(result)))
    if kind == "course":
        raise UnknownName('kind="course" is a picture of how a study went, not of a result; write result.study.plot("course").')
    make, takes = PICTURES[check_choice(kind, PICTURES, "kind of picture")]
    if others := [name for name in chosen if name not in takes]:
        fitting = " or ".join(repr(name) for name, (_, taken) in PICTURES.items() if set(others) <= set(taken))
        given = joined([f"{name}={short(chosen[name])}" for name in others])
        raise InvalidInput(f"{given} cannot be chosen for kind={kind!r}; use kind={fitting}, or leave it out.")
    return make(result, **chosen)


def course_part(given: Course | None, used: int = 0) -> Part:
    """Returns the picture of how sure a study was over its measurements; of one of which nothing is known, that this is so.

    Args:
        given: what ``paretopick.studies.course`` has found.
        used: how many measurements there are.
    """
    if given is None:
        why = ("too few were measured to say how sure it was",) if used else ()
        return Part((), COURSE_SIZE, lambda axes: say_nothing_yet(axes[0], *why))
    record = CourseData.of(given)
    return Part(record.notes, COURSE_SIZE, lambda axes: course(axes[0], record))


def drawn(parts: Sequence[Part], title: str, figure: Figure | None = None) -> Figure:
    """Returns a figure with its title, what its parts have to note, and then the parts, which take the room that is left.

    What is written into a picture finds its place last, when all else is there: the first part is drawn after the others.

    Args:
        parts: from above to below.
        title: above them.
        figure: an empty one; by default a new one of the size that they need.
    """
    notes = list(dict.fromkeys(note for part in parts for note in part.notes))
    figure = plain_figure(figure_size(parts)) if figure is None else figure
    rows = parts_of(figure, [part.side for part in parts], [part.size[1] for part in parts])
    write_title(figure, title)
    write_notes(figure, notes)
    for part, axes in reversed(list(zip(parts, rows, strict=True))):
        part.draw(axes)
    return figure


def figure_size(parts: Sequence[Part]) -> tuple[float, float]:
    """Returns inches that parts above each other need."""
    return max(part.size[0] for part in parts), sum(part.size[1] for part in parts)


def title_of(result: ParetoResult, given: str | None) -> str:
    """Returns what is written above a picture of a result."""
    return headline(result) if given is None else given


def _suiting(n_metrics: int) -> str:
    return {1: "ranking", 2: "front", 3: "pairs", 4: "pairs"}.get(n_metrics, "parallel")


def _compared(result: ParetoResult) -> list[str]:
    return [metric.name for metric in result.metric_records if metric.compared]


def _check_enough(result: ParetoResult, least: int, kind: str) -> None:
    """Refuses a picture of more metrics than have a goal."""
    n = len(_compared(result))
    if n < least:
        has = f"{counted(n, 'metric')} {'has' if n == 1 else 'have'} one"
        raise InvalidInput(f"kind={kind!r} needs {least} metrics with a goal, and {has}; kind={_suiting(n)!r} suits that.")


def _front(result: ParetoResult, x: str | None = None, y: str | None = None) -> Part:
    _check_enough(result, 2, "front")
    record = FrontData.of(result, x, y)
    return Part(record.notes, (6.8, 5.2), lambda axes: front(axes[0], record))


def _pairs(result: ParetoResult) -> Part:
    _check_enough(result, 3, "pairs")
    record = PairsData.of(result)
    side = record.n_metrics - 1
    return Part(record.notes, (1.0 + 3.2 * side, 0.9 + 3.0 * side), lambda axes: pairs(axes, record), side)


def _parallel(result: ParetoResult) -> Part:
    _check_enough(result, 2, "parallel")
    record = ParallelData.of(result)
    return Part(record.notes, parallel_size(record), lambda axes: parallel(axes[0], record))


def _ranking(result: ParetoResult, x: str | None = None) -> Part:
    record = RankingData.of(result, x)
    return Part(record.notes, (6.4, ranking_height(record)), lambda axes: ranking(axes[0], record))


def _limit_rows(result: ParetoResult, metric: str) -> Part:
    record = RankingData.of(result, metric)
    return Part(record.notes, (6.4, ranking_height(record) - 0.5), lambda axes: ranking(axes[0], record, legend=False))


def _timeline(result: ParetoResult) -> Part:
    record = TimelineData.of(result)
    return Part(record.notes, timeline_size(record), lambda axes: timeline(axes[0], record))


PICTURES: dict[str, tuple[Callable[..., Part], tuple[str, ...]]] = {
    "front": (_front, ("x", "y")),
    "pairs": (_pairs, ()),
    "parallel": (_parallel, ()),
    "ranking": (_ranking, ("x",)),
    "timeline": (_timeline, ()),
}
"""Kinds of pictures of a result, and which metrics of each can be chosen."""
