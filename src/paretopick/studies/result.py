"""ParetoResult: what a study says about its options, as a record, JSON and a data frame; ``pages.py`` has what people read."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from paretopick._arrays import check_choice
from paretopick._words import counted
from paretopick.metrics import Metric, goals_of
from paretopick.studies import pages
from paretopick.studies.budgets import Spent
from paretopick.studies.certainty import Certainty, Rehearsal
from paretopick.studies.differences import Beaten
from paretopick.studies.resolution import Resolution
from paretopick.studies.sharing import SharedNoise

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Group

PictureKind = Literal["front", "pairs", "parallel", "ranking", "timeline"]
"""What ``ParetoResult.plot`` draws."""

STATUSES = ("pareto", "open", "dominated", "infeasible", "retired")
"""Every option has one of them; tables show them in this order."""

HARDLY = 0.02
"""An option that is less likely than this to be on the wrong side is in no doubt."""


@dataclass(frozen=True)
class OptionResult:
    """What is known about one option."""

    option: str
    status: str
    """pareto (surely Pareto-optimal, or with margins surely worth keeping), dominated (surely not, or surely covered by one that
    is kept), infeasible (surely beyond a limit), open (neither: ``in_answer`` says which way), or retired"""
    dominated_by: tuple[str, ...]
    """Of an option outside the answer: those of it that are as good in every metric and better in one, as measured."""
    probability: float | None
    """Of being Pareto-optimal; None if the measurements say too little, and for retired options."""
    measurements: int
    """How many count."""
    means: dict[str, float | None]
    """By metric, in its unit; None without measurements."""
    standard_errors: dict[str, float | None]
    """Of the means, from the option's own measurements; None with fewer than two, 0 for exact metrics."""
    intervals: dict[str, tuple[float, float] | None]
    """95% intervals of the means, in which options lend each other what they know about the noise; None if nobody knows it."""
    left_in_round: int | None
    """After which a policy with rounds did not measure it any more; None if it stayed to the end, or still is in."""
    in_answer: bool = False
    """Whether it is in the answer, or the best guess."""
    beaten_by: Beaten | None = None
    """Of an option outside the answer: who of it most likely dominates it, with margins covers it, and by how much."""
    worth_keeping: float | None = None
    """The probability that it keeps the limits and nobody who does outdoes it; without margins that of being Pareto-optimal."""
    within_limits: float | None = None
    """The probability that it keeps all limits; None if there are none."""
    wrong: float | None = None
    """How likely it is on the wrong side of the answer where that matters: in it and not worth keeping, or outside though it
    keeps the limits and no member covers it."""
    beyond: tuple[str, ...] = ()
    """The metrics whose limits it most likely breaks."""

    @property
    def doubt(self) -> float | None:
        """How likely it is on the wrong side: in the answer and dominated, or outside and Pareto-optimal, if that matters."""
        if self.wrong is not None or self.probability is None:
            return self.wrong
        return 1.0 - self.probability if self.in_answer else self.probability


class Groups(NamedTuple):
    """The options by how sure their place is."""

    surely_in: tuple[str, ...]
    open: tuple[str, ...]
    surely_out: tuple[str, ...]


@dataclass(frozen=True, repr=False)
class ParetoResult:
    """Which options are Pareto-optimal, as far as a study can say, and how sure that is.

    ``pareto`` is the answer, and the best guess while a study goes on; it is empty before every option was measured. What each
    option's ``status`` and probability say follows from all measurements that count. So does the answer, except where a policy
    with rounds has decided: then the answer is what it decided, and a note names the options of which the measurements say
    otherwise. ``print`` shows the answer, the three groups, how sure they are, what to do next, and the notes.
    """

    study: str
    done: bool
    pareto: tuple[str, ...]
    options: tuple[OptionResult, ...]
    certainty: Certainty
    """That ``pareto`` is right as a whole."""
    rehearsal: Rehearsal | None
    """If it was asked for: how often the same study would be right if the means as measured were the truth."""
    metric_records: tuple[Metric, ...]
    correlation: tuple[tuple[float, ...], ...] | None
    """Between the metrics of one measurement; None if nobody knows yet."""
    policy: str
    budget: int
    used: int
    round: int
    notes: tuple[str, ...]
    is_part: bool = False
    """Whether the study was after some Pareto-optimal options, and not all of them."""
    level: float = 0.95
    """At least so probable is what is called sure."""
    near_equals: tuple[tuple[str, ...], ...] = ()
    """Groups of options of which either will do: with margins, that cover each other; else, that cannot be told apart and
    cannot be far apart."""
    resolution: Resolution | None = None
    """Up to which differences the answer is right, where no margin is declared; None if that cannot be said."""
    stopped: str | None = None
    """Why it ended before its budget was spent, in a sentence; None if it did not."""
    spent: Spent | None = None
    """How much of the budget is spent, where that is in a unit; ``budget`` is then about how many measurements that pays for."""
    sharing: SharedNoise | None = None
    """How much of the noise measurements in the same block share, where the study has a pairing; None if that is not known."""
    look_ahead: Callable[[], str | None] | None = field(default=None, compare=False)
    """What finds out the next step."""

    @cached_property
    def metrics(self) -> dict[str, str | None]:
        """The metrics and their goals; None for a limit alone."""
        return goals_of(self.metric_records)

    @property
    def exact(self) -> tuple[str, ...]:
        """The metrics without noise."""
        return tuple(metric.name for metric in self.metric_records if metric.exact)

    def metric(self, name: str) -> Metric:
        """Returns the record of a metric, by its name."""
        return self.metric_records[list(self.metrics).index(check_choice(name, self.metrics, "metric"))]

    @property
    def probability(self) -> float | None:
        """That the answer is right as a whole; None if the measurements say too little."""
        return self.certainty.probability

    @property
    def status(self) -> dict[str, str]:
        """The status of every option, by its name."""
        return {row.option: row.status for row in self.options}

    @property
    def in_answer(self) -> dict[str, bool]:
        """Of every option, by its name, whether it is in the answer."""
        return {row.option: row.in_answer for row in self.options}

    @property
    def groups(self) -> Groups:
        """The options by how sure their place is: surely in, open, surely out. Retired ones are in none."""
        by_status = {status: tuple(row.option for row in self.ranked() if row.status == status) for status in STATUSES}
        return Groups(by_status["pareto"], by_status["open"], by_status["dominated"] + by_status["infeasible"])

    @property
    def choices(self) -> tuple[tuple[str, ...], ...]:
        """The answer as what there is to choose from: where there are margins, members of which either will do are together."""
        apart = [(name,) for name in self.pareto]
        groups = [tuple(name for name in group if name in self.pareto) for group in self.near_equals if self.has_margins]
        together = {name: group for group in [*apart, *filter(None, groups)] for name in group}
        return tuple(dict.fromkeys(together[name] for name in self.pareto))

    @property
    def has_margins(self) -> bool:
        """Whether it was said which differences matter."""
        return any(metric.margin is not None for metric in self.metric_records)

    @property
    def has_limits(self) -> bool:
        """Whether there are limits that options must keep."""
        return any(metric.limit is not None for metric in self.metric_records)

    @cached_property
    def next_step(self) -> str | None:
        """What to do next, in a sentence: found by simulating how the study would go on, which takes a moment. Or None."""
        return None if self.look_ahead is None else self.look_ahead()

    @property
    def used_text(self) -> str:
        """How many measurements there are, of how many, or how much they have cost, in words."""
        if self.spent is not None:
            return f"{counted(self.used, 'measurement')}, {self.spent}"
        return f"{self.used:,} of {counted(self.budget, 'measurement')}"

    @property
    def sentence(self) -> str:
        """The answer in one sentence."""
        return pages.sentence(self)

    @property
    def doubtful(self) -> tuple[OptionResult, ...]:
        """The options that may be on the wrong side of the answer, the likeliest first."""
        asked = [row for row in self.options if row.in_answer or not self.is_part]
        return tuple(sorted((row for row in asked if (row.doubt or 0.0) > HARDLY), key=lambda row: -(row.doubt or 0.0)))

    @property
    def table(self) -> list[dict[str, Any]]:
        """One row per option, flat: means under the names of the metrics, with ``..._low`` and ``..._high`` their 95% intervals.

        Standard errors, from an option's own measurements alone unless these share blocks, are under ``... ±``.
        """
        return [
            {
                "option": found.option,
                "status": found.status,
                "in_answer": found.in_answer,
                "dominated_by": list(found.dominated_by),
                "beaten_by": None if found.beaten_by is None else str(found.beaten_by),
                "probability": found.probability,
                "worth_keeping": found.worth_keeping,
                "within_limits": found.within_limits,
                "measurements": found.measurements,
                **{column: value for metric in self.metric_records for column, value in self._columns(found, metric)},
                "left_in_round": found.left_in_round,
            }
            for found in self.options
        ]

    def _columns(self, found: OptionResult, metric: Metric) -> list[tuple[str, float | None]]:
        """What tables have of an option in a metric; a metric that is called as the column of another keeps its name."""
        low, high = found.intervals[metric.name] or (None, None)
        ends = [(f"{metric.name}_low", low), (f"{metric.name}_high", high)]
        return [
            (metric.name, found.means[metric.name]),
            (metric.error_column, found.standard_errors[metric.name]),
            *((column, value) for column, value in ends if column not in self.metrics),
        ]

    def cells(self) -> tuple[list[str], list[list[str]]]:
        """Returns the table as people read it, header and rows, Pareto-optimal options first: every view shows these texts."""
        return pages.cells(self)

    def ranked(self) -> list[OptionResult]:
        """Returns the options by status; open ones by their probability, the others by the first metric, the best first."""
        metric = self.metric_records[0]

        def place(row: OptionResult) -> tuple[int, bool, float, float]:
            likely = row.worth_keeping or row.probability or 0.0 if row.status == "open" else 0.0
            mean = row.means[metric.name]
            return STATUSES.index(row.status), not row.in_answer, -likely, float("inf") if mean is None else -metric.sign * mean

        return sorted(self.options, key=place)

    def to_dict(self) -> dict[str, Any]:
        """Returns everything as JSON values; ``next_step`` is None unless somebody has asked for it before."""
        left_out = ("metric_records", "look_ahead", "options")
        fields: dict[str, Any] = {name: value for name, value in vars(self).items() if name in self.__dataclass_fields__}
        fields = {name: _plain(value) for name, value in fields.items() if name not in left_out}
        fields |= {
            "options": [asdict(row) for row in self.options],
            "metrics": self.metrics,
            "exact": self.exact,
            "margins": {metric.name: metric.margin for metric in self.metric_records if metric.margin is not None},
            "limits": {metric.name: metric.limit for metric in self.metric_records if metric.limit is not None},
            "groups": self.groups._asdict(),
            "next_step": vars(self).get("next_step"),
        }
        return json.loads(json.dumps(fields))  # type: ignore[no-any-return]  # tuples become lists

    def to_json(self, *, indent: int | None = 2) -> str:
        """Returns everything as a JSON text."""
        return json.dumps(self.to_dict(), indent=indent, ensure_ascii=False, allow_nan=False)

    def to_pandas(self) -> pd.DataFrame:
        """Returns the ``table`` as a data frame; needs pandas: ``pip install 'paretopick[pandas]'``."""
        try:
            import pandas as pd
        except ImportError as missing:
            raise ImportError("to_pandas() needs pandas, which is not installed: pip install 'paretopick[pandas]'") from missing
        return pd.DataFrame(self.table).set_index("option")

    def plot(
        self,
        kind: PictureKind | None = None,
        ax: Any = None,
        *,
        x: str | None = None,
        y: str | None = None,
        title: str | None = None,
    ) -> Any:
        """Draws the options and returns the Axes; a notebook shows it, in a script ``plt.show()`` and ``plt.savefig()`` do.

        ::

            result.plot()                                        # what suits the number of metrics
            result.plot("front", x="seconds", y="quality")
            figure, (left, right) = plt.subplots(1, 2, figsize=(12, 5), layout="constrained")
            result.plot(ax=left)
            result.plot("timeline", ax=right)

        Args:
            kind: "front" (two metrics), "pairs" (every pair of three metrics or more), "parallel" (an axis for each metric),
                "ranking" (the options by one metric) or "timeline" (who was measured how often). By default the ranking of one
                metric, the front of two, the pairs of three or four, and parallel axes of more; below it, on a new figure, a
                ranking for each metric that has only a limit.
            ax: the Axes to draw on, for "pairs" as many as ``plt.subplots(n, n)`` makes with n one less than there are metrics;
                by default those of a new figure, which has a title and notes, too.
            x: the metric from left to right, of a front or a ranking; by default the first with a goal.
            y: the metric upwards, of a front; by default the second.
            title: above the picture. By default what was found on a new figure, and none on ``ax``; "" for none.

        Returns:
            The Axes, and for "pairs" a square array of them.
        """
        from paretopick.plots.methods import plot_result

        return plot_result(self, kind, ax, x=x, y=y, title=title)

    def __rich__(self) -> Group:
        return pages.rich_page(self)

    def _repr_html_(self) -> str:
        return pages.html_page(self)

    def to_html_table(self) -> str:
        """Returns the table as HTML; each row has the status of its option as its class."""
        return pages.html_table(self)

    def __str__(self) -> str:
        return "\n".join([pages.headline(self), *pages.lines(self)])

    def __repr__(self) -> str:
        return pages.headline(self)


def _plain(value: Any) -> Any:
    if isinstance(value, Spent):
        return value.to_dict()
    return asdict(value) if isinstance(value, Certainty | Rehearsal | Resolution | SharedNoise) else value
