"""Whole figures of a result: the picture that suits its number of metrics, and the course of its study."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paretopick.plots.fronts import FrontData, front
from paretopick.plots.options import headline
from paretopick.plots.pairs import PairsData, pairs
from paretopick.plots.parallel import ParallelData, parallel
from paretopick.plots.parallel import figure_size as parallel_size
from paretopick.plots.ranking import RankingData, ranking
from paretopick.plots.style import look, new_figure, write_notes, write_title
from paretopick.plots.timeline import TimelineData, timeline
from paretopick.plots.timeline import figure_size as timeline_size
from paretopick.studies.verdicts import ParetoResult

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def figure_of(result: ParetoResult, *, title: str | None = None) -> Figure:
    """Returns the picture of a result that suits its number of metrics.

    One metric: the options by rank. Two: the front. Three and four: every pair. More: parallel axes.

    Args:
        result: of a study, done or not.
        title: above the picture; by default the name of the study and what was found, "" for none.
    """
    with look():
        make = {1: _ranking, 2: _front, 3: _pairs, 4: _pairs}.get(len(result.metrics), _parallel)
        return make(result, headline(result) if title is None else title)


def timeline_of(result: ParetoResult, *, title: str | None = None) -> Figure:
    """Returns the picture of who was measured how long and how often.

    Args:
        result: of a study, done or not.
        title: as for ``figure_of``.
    """
    with look():
        record = TimelineData.of(result)
        figure, (axes,) = new_figure(size=timeline_size(record))
        write_title(figure, headline(result) if title is None else title)
        write_notes(figure, record.notes)
        timeline(axes, record)
        return figure


def _ranking(result: ParetoResult, title: str) -> Figure:
    record = RankingData.of(result)
    figure, (axes,) = new_figure(size=(6.4, 1.4 + 0.19 * max(len(record.names), 3)))
    write_title(figure, title)
    write_notes(figure, record.notes)
    ranking(axes, record)
    return figure


def _front(result: ParetoResult, title: str) -> Figure:
    record = FrontData.of(result)
    figure, (axes,) = new_figure(size=(6.8, 5.2))
    write_title(figure, title)
    write_notes(figure, record.notes)
    front(axes, record)
    return figure


def _pairs(result: ParetoResult, title: str) -> Figure:
    record = PairsData.of(result)
    side = record.n_metrics - 1
    figure, axes = new_figure(side, side, size=(1.0 + 3.2 * side, 0.9 + 3.0 * side), sharex="col", sharey="row")
    write_title(figure, title)
    write_notes(figure, record.notes)
    pairs(axes, record)
    return figure


def _parallel(result: ParetoResult, title: str) -> Figure:
    record = ParallelData.of(result)
    figure, (axes,) = new_figure(size=parallel_size(record))
    write_title(figure, title)
    write_notes(figure, record.notes)
    parallel(axes, record)
    return figure
