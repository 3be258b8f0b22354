"""Whole figures of a result: the picture that suits its number of metrics, and the course of its study."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

from paretopick.plots.fronts import FrontData, front
from paretopick.plots.options import headline
from paretopick.plots.pairs import PairsData, pairs
from paretopick.plots.parallel import ParallelData, parallel
from paretopick.plots.parallel import figure_size as parallel_size
from paretopick.plots.ranking import RankingData, ranking
from paretopick.plots.style import look, new_figure, write_notes, write_title
from paretopick.plots.timeline import TimelineData, timeline
from paretopick.plots.timeline import figure_size as timeline_size
from paretopick.studies.result import ParetoResult

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


class Noted(Protocol):
    """A record that says what else one should know."""

    @property
    def notes(self) -> tuple[str, ...]:
        """In sentences."""
        ...


def figure_of(result: ParetoResult, *, title: str | None = None) -> Figure:
    """Returns the picture of a result that suits its number of metrics.

    One metric: the options by rank. Two: the front. Three and four: every pair. More: parallel axes.

    Args:
        result: of a study, done or not.
        title: above the picture; by default the name of the study and what was found, "" for none.
    """
    with look():
        make = {1: _ranking, 2: _front, 3: _pairs, 4: _pairs}.get(len(result.metrics), _parallel)
        return make(result, _title(result, title))


def timeline_of(result: ParetoResult, *, title: str | None = None) -> Figure:
    """Returns the picture of who was measured how long and how often.

    Args:
        result: of a study, done or not.
        title: as for ``figure_of``.
    """
    with look():
        record = TimelineData.of(result)
        return _drawn(record, lambda axes: timeline(axes[0], record), _title(result, title), timeline_size(record))


def _ranking(result: ParetoResult, title: str) -> Figure:
    record = RankingData.of(result)
    size = (6.4, 1.4 + 0.19 * max(len(record.names), 3))
    return _drawn(record, lambda axes: ranking(axes[0], record), title, size)


def _front(result: ParetoResult, title: str) -> Figure:
    record = FrontData.of(result)
    return _drawn(record, lambda axes: front(axes[0], record), title, (6.8, 5.2))


def _pairs(result: ParetoResult, title: str) -> Figure:
    record = PairsData.of(result)
    side = record.n_metrics - 1
    size = (1.0 + 3.2 * side, 0.9 + 3.0 * side)
    return _drawn(record, lambda axes: pairs(axes, record), title, size, side=side, sharex="col", sharey="row")


def _parallel(result: ParetoResult, title: str) -> Figure:
    record = ParallelData.of(result)
    return _drawn(record, lambda axes: parallel(axes[0], record), title, parallel_size(record))


def _drawn(
    record: Noted, draw: Callable[[list[Axes]], object], title: str, size: tuple[float, float], *, side: int = 1, **options: Any
) -> Figure:
    """A figure with its title, what a record has to note, and then the picture, which takes the room that is left."""
    figure, axes = new_figure(side, side, size=size, **options)
    write_title(figure, title)
    write_notes(figure, record.notes)
    draw(axes)
    return figure


def _title(result: ParetoResult, given: str | None) -> str:
    return headline(result) if given is None else given
