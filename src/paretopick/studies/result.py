"""ParetoResult: what a study says about its options, as a record, JSON and a data frame; ``pages.py`` has what people read."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, get_args

from paretopick._arrays import check_choice
from paretopick._frames import pandas_frame
from paretopick._words import counted
from paretopick.metrics import Metric, goals_of
from paretopick.studies import pages
from paretopick.studies.baselines import ComparedWithBaseline
from paretopick.studies.budgets import Spent
from paretopick.studies.certainty import Certainty, Rehearsal
from paretopick.studies.differences import Beaten
from paretopick.studies.resolution import Resolution
from paretopick.studies.result_rows import rows_of
from paretopick.studies.sharing import SharedNoise

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Group

    from paretopick.studies.study import Study

Status: TypeAlias = Literal["pareto", "open", "dominated", "infeasible", "retired"]
"""What is known of the place of an option: every one has one of them."""

STATUSES: tuple[Status, ...] = get_args(Status)
"""In the order in which tables show them."""

PictureKind: TypeAlias = Literal["front", "pairs", "parallel", "ranking", "timeline"]
"""What ``ParetoResult.plot`` draws."""

HARDLY = 0.02
"""An option that is less likely than this to be on the wrong side is in no doubt."""


@dataclass(frozen=True)
class OptionResult:
    """What is known about one option.

    >>> from paretopick import identify
    >>> values = {"a": (9.0, 3.0), "b": (5.0, 2.0), "c": (4.0, 2.5)}
    >>> metrics = {"quality": "max", "price": "min"}
    >>> result = identify(values.get, list(values), metrics, 30, exact=["quality", "price"])
    >>> out = result.options[2]
    >>> out.option, out.status, out.dominated_by, out.means
    ('c', 'dominated', ('b',), {'quality': 4.0, 'price': 2.5})
    """

    option: str
    status: Status
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
    settings: dict[str, Any] = field(default_factory=dict)
    """The further columns of the table of options."""

    @property
    def doubt(self) -> float | None:
        """How likely it is on the wrong side: in the answer and dominated, or outside and Pareto-optimal, if that matters."""
        if self.wrong is not None or self.probability is None:
            return self.wrong
        return 1.0 - self.probability if self.in_answer else self.probability


class Groups(NamedTuple):
    """The options by how sure their place is."""

    surely_in: tuple[Any, ...]
    open: tuple[Any, ...]
    surely_out: tuple[Any, ...]


@dataclass(frozen=True, repr=False)
class ParetoResult:
    """Which options are Pareto-optimal, as far as a study can say, and how sure that is.

    ``pareto`` is the answer, and the best guess while a study goes on; it is empty before every option was measured. What each
    option's ``status`` and probability say follows from all measurements that count. So does the answer, except where a policy
    with rounds has decided: then the answer is what it decided, and a note names the options of which the measurements say
    otherwise. ``print`` shows the answer, the three groups, how sure they are, what to do next, and the notes.

    ``pareto``, ``groups``, ``choices`` and ``near_equals`` have options as they were given to ``identify``, be they numbers,
    functions or dicts; so have ``status`` and ``in_answer`` as their keys, unless these cannot be keys. In tables, texts and
    JSON, and in the results of a study that was opened by its name, options are their names.

    >>> from paretopick import identify
    >>> values = {"a": (9.0, 3.0), "b": (5.0, 2.0), "c": (4.0, 2.5)}
    >>> metrics = {"quality": "max", "price": "min"}
    >>> result = identify(values.get, list(values), metrics, 30, exact=["quality", "price"])
    >>> result.pareto, result.probability, result.status["c"]
    (('a', 'b'), 1.0, 'dominated')
    >>> result.sentence
    'Of 3 options, a and b are Pareto-optimal.'
    """

    study_name: str
    done: bool
    answer: tuple[str, ...]
    """The names of the options in ``pareto``."""
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
    alike: tuple[tuple[str, ...], ...] = ()
    """The names of the options in ``near_equals``."""
    resolution: Resolution | None = None
    """Up to which differences the answer is right, where no margin is declared; None if that cannot be said."""
    stopped: str | None = None
    """Why it ended before its budget was spent, in a sentence; None if it did not."""
    spent: Spent | None = None
    """How much of the budget is spent, where that is in a unit; ``budget`` is then about how many measurements that pays for."""
    sharing: SharedNoise | None = None
    """How much of the noise measurements in the same block share, where the study has a pairing; None if that is not known."""
    compared_with_baseline: ComparedWithBaseline | None = None
    """How the options compare with the baseline; None if there is none."""
    look_ahead: Callable[[], str | None] | None = field(default=None, compare=False)
    """What finds out the next step."""
    judged: bool = False
    """Whether the measurements were there beforehand, so that no budget was spent."""
    read_rows: Callable[[], list[dict[str, Any]]] | None = field(default=None, compare=False)
    """What reads the measurements behind it."""
    study: Study | None = field(default=None, compare=False)
    """The study that it is about, with all measurements; it stays open, even one in memory, for as long as the result is there.
    None of a result that was read or sent."""
    given: Mapping[str, Any] = field(default_factory=dict, compare=False)
    """By their names, options as they were given to ``identify``."""

    @property
    def pareto(self) -> tuple[Any, ...]:
        """The answer: the options that are Pareto-optimal, or with margins worth keeping."""
        return self._as_given(self.answer)

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
    def baseline(self) -> Any:
        """The option that the others are compared with, what is used today for instance; None if there is none."""
        return None if self.compared_with_baseline is None else self._as_given([self.compared_with_baseline.baseline])[0]

    @property
    def status(self) -> dict[Any, Status]:
        """The status of every option."""
        return dict(zip(self._keys, (row.status for row in self.options), strict=True))

    @property
    def in_answer(self) -> dict[Any, bool]:
        """Of every option, whether it is in the answer."""
        return dict(zip(self._keys, (row.in_answer for row in self.options), strict=True))

    @property
    def groups(self) -> Groups:
        """The options by how sure their place is: surely in, open, surely out. Retired ones are in none."""
        return Groups(*map(self._as_given, self.named_groups))

    @property
    def named_groups(self) -> Groups:
        """The names of the options in ``groups``."""
        by_status = {status: tuple(row.option for row in self.ranked() if row.status == status) for status in STATUSES}
        return Groups(by_status["pareto"], by_status["open"], by_status["dominated"] + by_status["infeasible"])

    @property
    def near_equals(self) -> tuple[tuple[Any, ...], ...]:
        """Groups of options of which either will do.

        With margins, that cover each other; else, that cannot be told apart and cannot be far apart.
        """
        return tuple(map(self._as_given, self.alike))

    @property
    def choices(self) -> tuple[tuple[Any, ...], ...]:
        """The answer as what there is to choose from: where there are margins, members of which either will do are together."""
        return tuple(map(self._as_given, self.named_choices))

    @property
    def named_choices(self) -> tuple[tuple[str, ...], ...]:
        """The names of the options in ``choices``."""
        apart = [(name,) for name in self.answer]
        groups = [tuple(name for name in group if name in self.answer) for group in self.alike if self.has_margins]
        together = {name: group for group in [*apart, *filter(None, groups)] for name in group}
        return tuple(dict.fromkeys(together[name] for name in self.answer))

    def _as_given(self, names: Iterable[str]) -> tuple[Any, ...]:
        return tuple(self.given.get(name, name) for name in names)

    @property
    def _keys(self) -> list[Any]:
        """The options as they were given, if dicts can have them as keys; else their names."""
        names = [row.option for row in self.options]
        keys = self._as_given(names)
        try:
            return list(keys) if len(set(keys)) == len(keys) else names
        except Exception:  # lists, arrays, and whatever else has no hash or cannot be compared
            return names

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

    @cached_property
    def measurements(self) -> list[dict[str, Any]]:
        """The measurements behind it, a row for each, as ``Study.measurements`` has them; read when they are asked for.

        >>> import paretopick as pp
        >>> rows = [{"option": "a", "seconds": 1.5}, {"option": "b", "seconds": 2.5}, {"option": "a", "seconds": 1.25}]
        >>> [(row["option"], row["seconds"]) for row in pp.judge(rows, {"seconds": "min"}).measurements]
        [('a', 1.5), ('b', 2.5), ('a', 1.25)]
        """
        return [] if self.read_rows is None else self.read_rows()

    @property
    def used_text(self) -> str:
        """How many measurements there are, of how many, or how much they have cost, in words."""
        if self.judged:
            return counted(self.used, "measurement")
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

        With a baseline, also by how much each differs from it, ``..._difference`` and ``..._ratio``, with their intervals.
        Standard errors, from an option's own measurements alone unless these share blocks, are under ``..._se``. Nothing is
        rounded. Metrics keep their names: a column that would be called as one of them, or as a setting, gets a ``_`` more.
        """
        return rows_of(self)

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
        left_out = ("metric_records", "look_ahead", "options", "study", "study_name", "given", "answer", "alike", "read_rows")
        fields: dict[str, Any] = {name: value for name, value in vars(self).items() if name in self.__dataclass_fields__}
        fields = {name: _plain(value) for name, value in fields.items() if name not in left_out}
        fields |= {
            "study": self.study_name,
            "pareto": self.answer,
            "near_equals": self.alike,
            "options": [asdict(row) for row in self.options],
            "metrics": self.metrics,
            "exact": self.exact,
            "margins": {metric.name: metric.margin for metric in self.metric_records if metric.margin is not None},
            "limits": {metric.name: metric.limit for metric in self.metric_records if metric.limit is not None},
            "groups": self.named_groups._asdict(),
            "next_step": vars(self).get("next_step"),
        }
        return json.loads(json.dumps(fields))  # type: ignore[no-any-return]  # tuples become lists

    def __getstate__(self) -> dict[str, Any]:
        """What is copied and sent to other processes: all but the study, which has a database; so the measurements are read."""
        self.measurements  # noqa: B018
        return vars(self) | {"study": None, "read_rows": None}

    def to_json(self, *, indent: int | None = 2) -> str:
        """Returns everything as a JSON text."""
        return json.dumps(self.to_dict(), indent=indent, ensure_ascii=False, allow_nan=False)

    def to_pandas(self) -> pd.DataFrame:
        """Returns the ``table`` as a data frame; needs pandas: ``pip install 'paretopick[pandas]'``.

        The measurements themselves are ``pandas.DataFrame(result.measurements)``, or ``Study.to_pandas`` of their study.

        >>> import paretopick as pp
        >>> rows = [{"option": "a", "seconds": 1.5}, {"option": "b", "seconds": 2.5}, {"option": "a", "seconds": 1.25}]
        >>> table = pp.judge(rows, {"seconds": "min"}).to_pandas()
        >>> print(table.loc["a", "seconds"], table.loc["a", "seconds_se"])
        1.375 0.125
        """
        return pandas_frame(self.table).set_index("option")

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
        return self.to_html()

    def to_html(self, *, ahead: bool = True) -> str:
        """Returns what notebooks show: all that ``print`` says, the front, and the table.

        Args:
            ahead: whether to find out the next step, which takes a moment.
        """
        from paretopick.plots.interactive import notebook_front

        return pages.html_page(self, picture=notebook_front(self), ahead=ahead)

    def to_html_table(self) -> str:
        """Returns the table as HTML; each row has the status of its option as its class."""
        return pages.html_table(self)

    def __str__(self) -> str:
        return pages.page(self)

    def __repr__(self) -> str:
        return pages.headline(self)


def _plain(value: Any) -> Any:
    if isinstance(value, Spent):
        return value.to_dict()
    return asdict(value) if isinstance(value, Certainty | Rehearsal | Resolution | SharedNoise | ComparedWithBaseline) else value
