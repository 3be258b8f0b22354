"""The options of a result as arrays: what all pictures of a study begin with."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from paretopick._arrays import FloatArray
from paretopick._words import capital, counted, joined
from paretopick.metrics import Metric
from paretopick.plots.style import KINDS
from paretopick.plots.texts import LONGEST, legible, several, short_names, shortened
from paretopick.studies.result import OptionResult, ParetoResult

Ends = tuple[float, float]
"""Of an axis, or of what is marked on it."""

IN_ANSWER = ("pareto", "worth keeping", "open in")
"""Kinds of options that are in the answer."""

OUT = ("covered", "dominated", "infeasible", "retired")
"""Kinds of options that are out beyond doubt."""

MOST_BEYOND = 0.8
"""Errors may widen an axis by so much of what the means need, on each side; one wild option must not hide the others."""

NORMAL = 1.959964
"""So many standard errors reach to the end of a 95% interval."""


def telling_metrics(result: ParetoResult) -> list[str]:
    """Returns the metrics with a goal, those first in which options differ: of the others a picture shows nothing."""
    compared = [metric.name for metric in result.metric_records if metric.compared]
    return sorted(compared, key=lambda name: len({row.means[name] for row in result.options} - {None}) < 2)


@dataclass(frozen=True, eq=False)
class Options:
    """The options that were measured, by kind, the most probably optimal first; and the names of the others."""

    names: tuple[str, ...]
    kinds: tuple[str, ...]
    """Of ``KINDS``."""
    means: FloatArray
    """``(n_options, n_metrics)``, in the units of the metrics."""
    chances: FloatArray
    """Of being Pareto-optimal, or with margins worth keeping; NaN where nobody knows."""
    errors: FloatArray
    """Of the means: half of their 95% intervals over 1.96, so that few measurements make them larger; NaN where nobody knows.

    Of a metric that is compared as logarithms, of the logarithm of its mean.
    """
    unmeasured: tuple[str, ...]
    sought: str
    """What options of the answer are: Pareto-optimal, or with margins worth keeping."""
    baseline: int | None = None
    """Which of them the others are compared with; if it is out beyond doubt, the first of those that are."""

    @classmethod
    def of(cls, result: ParetoResult, metrics: Sequence[str]) -> Options:
        """Returns the options of a result in some of its metrics."""
        kinds = {row.option: kind_of(row, result) for row in result.options}
        chances = {row.option: row.worth_keeping if result.has_margins else row.probability for row in result.options}
        ranks = {name: rank for rank, name in enumerate(KINDS)}
        compared = result.compared_with_baseline
        baseline, first_out = None if compared is None else compared.baseline, min(ranks[kind] for kind in OUT)

        def place(row: OptionResult) -> tuple[int, bool, float]:
            is_baseline = row.option == baseline
            rank = min(ranks[kinds[row.option]], first_out if is_baseline else len(ranks))
            return rank, not is_baseline and rank >= first_out, -(chances[row.option] or 0.0)

        rows = sorted(result.options, key=place)
        means = _table([row.means for row in rows], metrics)
        errors = _table([_errors(row, result) for row in rows], metrics)
        known = [bool(np.isfinite(row).all()) for row in means]
        there = [row for row, is_known in zip(rows, known, strict=True) if is_known]
        names = tuple(row.option for row in there)
        return cls(
            names=names,
            kinds=tuple(kinds[row.option] for row in there),
            chances=np.array([chances[row.option] for row in there], dtype=np.float64),
            means=means[known],
            errors=errors[known],
            unmeasured=tuple(row.option for row, is_known in zip(rows, known, strict=True) if not is_known),
            sought="worth keeping" if result.has_margins else "Pareto-optimal",
            baseline=names.index(baseline) if baseline in names else None,
        )

    def in_metrics(self, *columns: int) -> Options:
        """Returns the same options in some of their metrics."""
        return replace(self, means=self.means[:, columns], errors=self.errors[:, columns])

    @property
    def notes(self) -> tuple[str, ...]:
        """Who is not in the picture."""
        return (f"Not measured: {several(self.unmeasured)}.",) if self.unmeasured else ()

    @property
    def n_possible(self) -> int:
        """How many, the first ones, are in the answer or open."""
        return sum(kind in (*IN_ANSWER, "open out") for kind in self.kinds)

    def n_named(self, most: int) -> int:
        """Returns how many are named, the first ones: all if there is room, or else those that may be Pareto-optimal.

        And the baseline.
        """
        return len(self.names) if len(self.names) <= most else min(most, self.n_possible + (self.baseline == self.n_possible))

    def tags(self, places: Iterable[int], most: int = LONGEST) -> tuple[str, ...]:
        """Returns the names of some options as pictures write them, that of the baseline with this word."""
        chosen = [int(place) for place in places]
        short = short_names([self.names[place] for place in chosen], most)
        return tuple(f"{tag} (baseline)" if place == self.baseline else tag for place, tag in zip(chosen, short, strict=True))

    def unnamed_note(self, n_named: int) -> tuple[str, ...]:
        """Returns who has no name in the picture."""
        if n_named == len(self.names):
            return ()
        n_named = min(n_named, self.n_possible)  # the baseline says itself why it is named
        if n_named == self.n_possible:
            of = "option that is" if n_named == 1 else f"{n_named} options that are"
            return (f"Named {'is' if n_named == 1 else 'are'} the {of} or may be {self.sought}.",)
        return (f"Named are {n_named} of the {self.n_possible} options that are or may be {self.sought}.",)


def kind_of(row: OptionResult, result: ParetoResult) -> str:
    """Returns the kind of an option: its status, and which side an open one is on.

    One that is surely on the other side of what the rounds of a policy have decided is drawn as open, too.
    """
    if row.status in ("retired", "infeasible"):
        return row.status
    if (row.status, row.in_answer) == ("pareto", True):
        return "worth keeping" if result.has_margins else "pareto"
    if (row.status, row.in_answer) == ("dominated", False):
        return "covered" if result.has_margins and (row.worth_keeping or 0.0) >= 0.5 else "dominated"
    return "open in" if row.in_answer else "open out"


def ends(means: FloatArray, reach: FloatArray, *, log: bool = False) -> Ends:
    """Returns the ends of an axis: room for all means and a margin, and for errors as far as they do not dwarf the means.

    Args:
        means: of all options.
        reach: what should be seen besides: ends of errors, limits.
        log: whether the axis is logarithmic.

    >>> ends(np.array([0.0, 10.0]), np.array([-2.0, 500.0]))
    (-3.2, 19.2)
    """
    if not len(means):
        return (0.0, 1.0)
    if log:
        low, high = _ends(np.log10(means), np.log10(reach[reach > 0]))
        return (float(10.0**low), float(10.0**high))
    return _ends(means, reach, least=0.0 if means.min() >= 0 else -np.inf)


def _ends(means: FloatArray, reach: FloatArray, least: float = -np.inf) -> Ends:
    """The same for an axis with even steps; where all means are alike, room below them goes down to ``least``."""
    low, high = float(means.min()), float(means.max())
    beyond = MOST_BEYOND * (high - low)
    if high - low <= 1e-9 * max(abs(low), abs(high)):  # all alike: their errors say what is much, or else their size
        beyond = np.inf
        half = np.abs(reach - low).max(initial=0.0) / 2  # so much on each side at least: nobody is at the edge
        reach = np.append(reach, [max(low - half, least), high + half])
    seen = np.array([max(reach.min(initial=low), low - beyond), min(reach.max(initial=high), high + beyond)])
    width = seen[1] - seen[0]
    if width <= 1e-9 * np.abs(seen).max():
        return (low - (0.1 * abs(low) or 1.0), high + (0.1 * abs(high) or 1.0))
    return (float(seen[0] - 0.06 * width), float(seen[1] + 0.06 * width))


def margins_note(metrics: Iterable[Metric], before: str = "") -> tuple[str, ...]:
    """Returns which differences do not matter, as a note of a picture with these metrics; nothing without margins."""
    declared = [f"{legible(metric.margin_text)} in {shortened(legible(metric.name))}" for metric in metrics if metric.margin_text]
    said = f"differences below {joined(declared)} do not matter."
    return (f"{before}{said}" if before else capital(said),) if declared else ()


def headline(result: ParetoResult) -> str:
    """Returns the title of a picture: the study, how many are Pareto-optimal, and what that rests on."""
    name, n, many = shortened(legible(result.study_name), 40), len(result.answer), len(result.options)
    of, sought = f"{n} of {counted(many, 'option')}", "worth keeping" if result.has_margins else "Pareto-optimal"
    if not result.answer and any(row.status == "infeasible" for row in result.options):
        return f"{name}: no option keeps the limits, {result.used:,} measurements"
    if not result.answer and not result.done:
        return f"{name}: no answer yet, {result.used_text}"
    if result.done:
        return f"{name}: {of} {sought}, {result.used:,} measurements"
    return f"{name}: best guess so far, {of}, after {result.used_text}"


def _errors(row: OptionResult, result: ParetoResult) -> dict[str, float | None]:
    """Half of the 95% intervals in units of 1.96; of a retired option its own standard errors, since there is nothing else."""
    return {metric.name: _error(metric, row) for metric in result.metric_records}


def _error(metric: Metric, row: OptionResult) -> float | None:
    mean, interval, own = row.means[metric.name], row.intervals[metric.name], row.standard_errors[metric.name]
    if interval is not None:
        low, high = (float(metric.scaled(end)) for end in interval)
        return (high - low) / (2 * NORMAL)
    return own if own is None or mean is None or not metric.log else own / mean


def _table(rows: Sequence[Mapping[str, float | None]], metrics: Sequence[str]) -> FloatArray:
    """Numbers by option and metric, NaN where there is none."""
    table = [[np.nan if row[metric] is None else row[metric] for metric in metrics] for row in rows]
    return np.array(table, dtype=np.float64).reshape(len(rows), len(metrics))
