"""ParetoResult: what a study says about its options, as a record, a table, HTML, JSON and a data frame."""

from __future__ import annotations

import html
import json
import math
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from paretopick._arrays import check_choice
from paretopick._words import listed, probability, some, unmistakable
from paretopick.metrics import Metric, goals_of
from paretopick.studies.certainty import Certainty, Rehearsal

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Group

STATUSES = ("pareto", "undecided", "dominated", "retired")
"""Every option has one of them; tables show them in this order."""


@dataclass(frozen=True)
class OptionResult:
    """What is known about one option."""

    option: str
    status: str
    """pareto, dominated, undecided, or retired"""
    dominated_by: tuple[str, ...]
    """Of a dominated option: those of the answer, or the best guess, that are as good in every metric and better in one."""
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
    """After which it was not measured any more; None if it stayed to the end, or still is in."""


@dataclass(frozen=True, repr=False)
class ParetoResult:
    """Which options are Pareto-optimal, as far as a study can say, and how sure that is.

    While a study goes on, ``pareto`` is the best guess, and empty before every option was measured; options that are still
    measured are undecided. An option that left is dominated if an option of the answer dominates it as measured by now, and
    undecided if none does. ``notes`` says in words what else one should know.
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

    @cached_property
    def metrics(self) -> dict[str, str]:
        """The metrics and their goals."""
        return goals_of(self.metric_records)

    @property
    def exact(self) -> tuple[str, ...]:
        """The metrics without noise."""
        return tuple(metric.name for metric in self.metric_records if metric.exact)

    def metric(self, name: str) -> Metric:
        """Returns the record of a metric, by its name."""
        return self.metric_records[list(self.metrics).index(check_choice(name, self.metrics, "metric"))]

    @property
    def sentence(self) -> str:
        """The answer in one sentence."""
        n = len(self.options)
        front = listed(self.pareto)
        if not self.pareto:
            return (
                "It cannot be said yet which options are Pareto-optimal."
                if not self.done
                else "No option is left that was found to be Pareto-optimal."
            )
        verb = "is" if len(self.pareto) == 1 else "are"
        more = "; others may be, too, since no more were asked for" if self.is_part else ""
        if self.done:
            return f"Of {n} options, {front} {verb} Pareto-optimal{more}."
        return f"Best guess so far: of {n} options, {front} {verb} Pareto-optimal{more}."

    @property
    def doubtful(self) -> tuple[OptionResult, ...]:
        """The options that may be Pareto-optimal or not, in the answer or not, the most doubtful first."""
        asked = [row for row in self.options if row.option in self.pareto or not self.is_part]
        open_ = [row for row in asked if row.probability is not None and 0.02 < row.probability < 0.98]
        return tuple(sorted(open_, key=lambda row: abs((row.probability or 0.0) - 0.5)))

    @property
    def table(self) -> list[dict[str, Any]]:
        """One row per option, flat: means under the names of the metrics, their standard errors as ``... ±``."""
        return [
            {
                "option": found.option,
                "status": found.status,
                "dominated_by": list(found.dominated_by),
                "probability": found.probability,
                "measurements": found.measurements,
                **{
                    column: value
                    for metric in self.metric_records
                    for column, value in (
                        (metric.name, found.means[metric.name]),
                        (metric.error_column, found.standard_errors[metric.name]),
                    )
                },
                "left_in_round": found.left_in_round,
            }
            for found in self.options
        ]

    def cells(self) -> tuple[list[str], list[list[str]]]:
        """Returns the table as people read it, header and rows, Pareto-optimal options first: every view shows these texts."""
        header = ["option", "status", "P(optimal)", "measured"]
        for metric in self.metric_records:
            header += metric.headings
        rows = []
        for found in self.ranked():
            guessed = found.status == "undecided" and found.option in self.pareto
            status = f"{found.status}, best guess" if guessed else found.status
            row = [found.option, status, probability(found.probability), f"{found.measurements:,}"]
            for metric in self.metric_records:
                row += rounded(found.means[metric.name], found.standard_errors[metric.name])[: len(metric.headings)]
            row += [f"round {found.left_in_round}" if found.left_in_round else "", some(found.dominated_by)]
            rows.append(row)
        return [*header, "left after", "dominated by"], rows

    def ranked(self) -> list[OptionResult]:
        """Returns the options by status; those first that are in the answer, and that were measured longest."""
        last = self.round + 1

        def place(row: OptionResult) -> tuple[int, bool, int]:
            return STATUSES.index(row.status), row.option not in self.pareto, -(row.left_in_round or last)

        return sorted(self.options, key=place)

    def to_dict(self) -> dict[str, Any]:
        """Returns everything as JSON values."""
        fields = {("metrics" if key == "metric_records" else key): value for key, value in asdict(self).items()}
        fields |= {"metrics": self.metrics, "exact": self.exact}
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

    def __rich__(self) -> Group:
        from rich.console import Group
        from rich.table import Table
        from rich.text import Text

        header, rows = self.cells()
        table = Table(box=None, pad_edge=False, header_style="bold")
        for name in header:
            table.add_column(Text(name), justify="left" if name in TEXTS else "right", no_wrap=name in ("option", "status"))
        for row in rows:
            table.add_row(*map(Text, row))
        return Group(table, Text(str(self)))

    def _repr_html_(self) -> str:
        return f"{self.to_html_table()}<p>{html.escape(str(self))}</p>"

    def to_html_table(self) -> str:
        """Returns the table as HTML; each row has the status of its option as its class."""
        header, rows = self.cells()
        places = [' class="text"' if name in TEXTS else "" for name in header]
        head = "".join(f"<th{place}>{html.escape(name)}</th>" for place, name in zip(places, header, strict=True))
        body = "".join(
            f'<tr class="{found.status}">'
            + "".join(f"<td{place}>{html.escape(cell)}</td>" for place, cell in zip(places, row, strict=True))
            + "</tr>\n"
            for found, row in zip(self.ranked(), rows, strict=True)
        )
        return f"<table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}</tbody>\n</table>"

    def __str__(self) -> str:
        front = ", ".join(unmistakable(self.pareto)) or ("none" if self.done else "none yet")
        state = "Pareto-optimal" if self.done else "Best guess so far"
        text = f"{state}: {front} ({self.used} of {self.budget} measurements used)."
        if self.certainty.probability is None:
            return text
        what = "It" if self.is_part else "The set"
        return f"{text} {what} is right with probability {probability(self.certainty.probability)}."

    __repr__ = __str__


TEXTS = ("option", "status", "left after", "dominated by")
"""Columns of ``cells`` that are not numbers."""


def rounded(mean: float | None, error: float | None) -> tuple[str, str]:
    """A mean and its standard error, to two digits of the error.

    >>> rounded(12.3456, 0.0234), rounded(1.5, None), rounded(None, None)
    (('12.346', '0.023'), ('1.5', ''), ('', ''))
    """
    if mean is None:
        return "", ""
    if not error:
        return plain_number(mean), "" if error is None else "0"
    decimals = max(0, 1 - math.floor(math.log10(error)))
    if decimals > 12 or abs(mean) >= 1e15:
        return f"{mean:.6g}", f"{error:.2g}"
    return f"{mean:,.{decimals}f}", f"{error:,.{decimals}f}"


def plain_number(value: float) -> str:
    """A number with as many digits as people read."""
    if value == round(value) and abs(value) < 1e15:
        return f"{value:,.0f}"
    return f"{value:.6g}" if abs(value) < 1000 or abs(value) >= 1e15 else f"{value:,.2f}"
