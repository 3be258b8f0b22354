"""Whole figures of a result: the picture that suits its number of metrics, and the course of its study."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from paretopick.plots.course import SIZE as COURSE_SIZE
from paretopick.plots.course import CourseData, course
from paretopick.plots.fronts import FrontData, front
from paretopick.plots.options import headline
from paretopick.plots.pairs import PairsData, pairs
from paretopick.plots.parallel import ParallelData, parallel
from paretopick.plots.parallel import figure_size as parallel_size
from paretopick.plots.ranking import RankingData, ranking
from paretopick.plots.ranking import figure_height as ranking_height
from paretopick.plots.style import look, new_figure_of_parts, write_notes, write_title
from paretopick.plots.timeline import TimelineData, timeline
from paretopick.plots.timeline import figure_size as timeline_size
from paretopick.studies.course import Course
from paretopick.studies.result import ParetoResult

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def figure_of(result: ParetoResult, *, title: str | None = None) -> Figure:
    """Returns the picture of a result that suits its number of metrics.

    One metric with a goal: the options by rank. Two: the front. Three and four: every pair. More: parallel axes. Below it, for
    each metric that has only a limit, the options by rank in that.

    Args:
        result: of a study, done or not.
        title: above the picture; by default the name of the study and what was found, "" for none.
    """
    n_compared = sum(metric.compared for metric in result.metric_records)
    with look():
        main = {1: _ranking, 2: _front, 3: _pairs, 4: _pairs}.get(n_compared, _parallel)(result)
        below = [_limit_rows(result, metric.name) for metric in result.metric_records if not metric.compared]
        return _drawn([main, *below], _title(result, title))


def timeline_of(result: ParetoResult, *, title: str | None = None) -> Figure:
    """Returns the picture of who was measured how long and how often.

    Args:
        result: of a study, done or not.
        title: as for ``figure_of``.
    """
    with look():
        record = TimelineData.of(result)
        part = _Part(record.notes, timeline_size(record), lambda axes: timeline(axes[0], record))
        return _drawn([part], _title(result, title))


def course_of(given: Course, *, title: str = "") -> Figure:
    """Returns the picture of how sure a study was over its measurements.

    Args:
        given: what ``paretopick.studies.course`` has found.
        title: above the picture.
    """
    with look():
        record = CourseData.of(given)
        return _drawn([_Part(record.notes, COURSE_SIZE, lambda axes: course(axes[0], record))], title)


@dataclass(frozen=True)
class _Part:
    """A part of a figure, of which others may be below."""

    notes: tuple[str, ...]
    size: tuple[float, float]
    """In inches."""
    draw: Callable[[list[Axes]], object]
    side: int = 1
    """Of the square of axes that it takes."""


def _ranking(result: ParetoResult) -> _Part:
    record = RankingData.of(result)
    return _Part(record.notes, (6.4, ranking_height(record)), lambda axes: ranking(axes[0], record))


def _limit_rows(result: ParetoResult, metric: str) -> _Part:
    record = RankingData.of(result, metric)
    return _Part(record.notes, (6.4, ranking_height(record) - 0.5), lambda axes: ranking(axes[0], record, legend=False))


def _front(result: ParetoResult) -> _Part:
    record = FrontData.of(result)
    return _Part(record.notes, (6.8, 5.2), lambda axes: front(axes[0], record))


def _pairs(result: ParetoResult) -> _Part:
    record = PairsData.of(result)
    side = record.n_metrics - 1
    return _Part(record.notes, (1.0 + 3.2 * side, 0.9 + 3.0 * side), lambda axes: pairs(axes, record), side)


def _parallel(result: ParetoResult) -> _Part:
    record = ParallelData.of(result)
    return _Part(record.notes, parallel_size(record), lambda axes: parallel(axes[0], record))


def _drawn(parts: Sequence[_Part], title: str) -> Figure:
    """A figure with its title, what its parts have to note, and then the parts, which take the room that is left.

    What is written into a picture finds its place last, when all else is there: the first part is drawn after the others.
    """
    notes = list(dict.fromkeys(note for part in parts for note in part.notes))
    size = (max(part.size[0] for part in parts), sum(part.size[1] for part in parts))
    figure, rows = new_figure_of_parts([part.side for part in parts], [part.size[1] for part in parts], size=size)
    write_title(figure, title)
    write_notes(figure, notes)
    for part, axes in reversed(list(zip(parts, rows, strict=True))):
        part.draw(axes)
    return figure


def _title(result: ParetoResult, given: str | None) -> str:
    return headline(result) if given is None else given
