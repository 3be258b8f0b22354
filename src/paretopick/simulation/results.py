"""What a simulation returns: integer counts per budget, and the rates and intervals that are views of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from paretopick._arrays import FloatArray, IntArray, check_choice, check_real, frozen
from paretopick._frames import pandas_frame
from paretopick.errors import InvalidInput
from paretopick.simulation import pages

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

TALLIES = (
    "errors",
    "relaxed_losses",
    "wrongly_accepted",
    "wrongly_rejected",
    "pulls",
    "rounds",
    "hypervolume",
    "squared_hypervolume",
)
"""What is counted, run by run; the hypervolume fraction and its square in billionths, so that sums are exact in any order."""

BILLION = 1_000_000_000
UNDEFINED = -1
"""Counted for the hypervolume fraction of every run where it does not exist."""


IDENTITY = ("instance", "digest", "policy", "options", "scale", "margins", "limits", "ladder", "engine", "budgets")
"""What curves that add up have in common."""


@dataclass(frozen=True)
class Span:
    """Runs ``first`` to ``last - 1`` of the stream of runs that ``seed`` stands for."""

    seed: tuple[int, ...]
    first: int
    last: int


@dataclass(frozen=True, eq=False)
class ErrorCurve:
    """The runs of one policy on one instance at several budgets; curves of different runs add up with ``+``.

    ``errors``, ``errors_within``, ``relaxed_losses``, ``wrongly_accepted`` and ``wrongly_rejected`` are integer totals over all
    runs; ``rate``, ``rate_within``, ``pulls``, ``rounds`` and ``hypervolume`` are means over runs. All have one entry per budget.

    >>> from paretopick import instance, simulate
    >>> curve = simulate(instance("cov-boost"), "ege-sr", budgets=[500, 2000], runs=200, rng=0)
    >>> curve.rate.round(1), curve.runs
    (array([0.7, 0.3]), 200)
    """

    instance: str
    digest: str
    """Of the bandit, and of the means of every run if they had their own: curves that differ in means or noise do not add up,
    whatever their names."""
    policy: str
    options: Mapping[str, Any]
    scale: tuple[float, ...] | None
    """What each objective was divided by before the policy saw it, if it was; 0 where it was without noise."""
    engine: str
    """"compiled", or "reference", in which policies run through ask and tell."""
    budgets: tuple[int, ...]
    tallies: IntArray
    """``(n_budgets, len(TALLIES))`` totals; behind them the errors within the margins, if there are margins or limits; then those
    on the ladder, if there is one; and then, if counted by arm, the pulls of every arm and how often it was wrong."""
    spans: tuple[Span, ...]
    """Which runs these are."""
    margins: tuple[float | None, ...] | None = None
    """The smallest difference that matters in each objective, None where arms are not compared; None as a whole, as the limits,
    if neither margins nor limits were given."""
    limits: tuple[float | None, ...] | None = None
    """The least that arms must have in each objective, None where there is no limit."""
    ladder: tuple[tuple[float | None, ...], ...] = ()
    """Other margins under which the same answers were counted."""
    draws: str = ""
    """Which random numbers it has in common with other curves of the same seed and bandit that say the same: "pulls", pull n of
    each arm in run r; "rounds", the sum of the pulls of an arm in a round, if they are as many after as many; "order", those of
    run r in the order in which they are asked for. Empty if it is not known, as of curves of the first release."""

    def __repr__(self) -> str:
        rates = ", ".join(f"{budget}: {errors}" for budget, errors in zip(self.budgets, self.errors, strict=True))
        return f"<ErrorCurve of {self.policy} on {self.instance}: {self.runs} runs; errors by budget {{{rates}}}>"

    def __str__(self) -> str:
        return pages.text(self)

    def _repr_html_(self) -> str:
        return pages.html_page(self)

    def cells(self) -> tuple[list[str], list[list[str]]]:
        """Returns the errors at each budget, as people read them: header and rows."""
        return pages.cells(self)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ErrorCurve):
            return NotImplemented
        mine, theirs = (tuple(getattr(curve, name) for name in (*IDENTITY, "spans")) for curve in (self, other))
        return mine == theirs and np.array_equal(self.tallies, other.tallies)

    def __hash__(self) -> int:
        return hash((self.digest, self.policy, self.budgets, self.spans))

    def __post_init__(self) -> None:
        object.__setattr__(self, "tallies", frozen(np.array(self.tallies, dtype=np.int64)))

    @property
    def runs(self) -> int:
        """The number of runs at each budget."""
        return sum(span.last - span.first for span in self.spans)

    @property
    def errors(self) -> IntArray:
        """How many runs answered something else than the Pareto set; with limits, that of the arms that keep them."""
        return self._total("errors")

    @property
    def errors_within(self) -> IntArray:
        """How many runs had an answer that is not right within the margins (``right_within_margins``).

        That is counted if ``simulate`` was given margins or limits; otherwise these are the ``errors``, twins and all.
        """
        return self.errors if self.margins is None else self.tallies[:, len(TALLIES)]

    @property
    def errors_on_ladder(self) -> IntArray:
        """How many runs had an answer that is not right within each of the margins on the ladder, ``(n_budgets, n_rungs)``."""
        return self.tallies[:, self._n_totals - len(self.ladder) : self._n_totals]

    @property
    def relaxed_losses(self) -> IntArray:
        """How many runs had a PSI-k loss for the policy's ``max_arms``; without one, the errors."""
        return self._total("relaxed_losses")

    @property
    def wrongly_accepted(self) -> IntArray:
        """How many sub-optimal arms were in the answers of all runs together."""
        return self._total("wrongly_accepted")

    @property
    def wrongly_rejected(self) -> IntArray:
        """How many optimal arms were missing from the answers of all runs together."""
        return self._total("wrongly_rejected")

    @property
    def rate_within(self) -> FloatArray:
        """The rate of errors within the margins."""
        return self.errors_within / self.runs

    @property
    def rate(self) -> FloatArray:
        """The error rate; 0 means no error was seen, for which ``interval`` gives the upper limit."""
        return self.errors / self.runs

    @property
    def pulls(self) -> FloatArray:
        """Pulls used per run, on average."""
        return self._total("pulls") / self.runs

    @property
    def rounds(self) -> FloatArray:
        """Rounds per run, on average; for EGE-SR-k the paper's tau."""
        return self._total("rounds") / self.runs

    @property
    def pulls_by_arm(self) -> FloatArray:
        """Pulls of each arm per run, on average, ``(n_budgets, n_arms)``; of curves that were simulated with ``by_arm``."""
        return self._of_arms(0) / self.runs

    @property
    def wrong_by_arm(self) -> IntArray:
        """How many runs had each arm wrongly in the answer or out of it, ``(n_budgets, n_arms)``; likewise.

        If there are margins or limits, only where it matters: in the answer though it breaks a limit or is outdone by an arm that
        keeps them, or outside though it keeps the limits and no member of the answer covers it.
        """
        return self._of_arms(1)

    @property
    def hypervolume(self) -> FloatArray:
        """The hypervolume fraction of the answer, on average, reference point 0; NaN where no arm lies above that."""
        total = self._total("hypervolume")
        return np.where(total < 0, np.nan, total / BILLION / self.runs)

    def hypervolume_interval(self, level: float = 0.95) -> FloatArray:
        """Returns the confidence interval of the mean hypervolume fraction at each budget, ``(n_budgets, 2)``.

        It is the normal one, cut at 0 and 1; for a single run, or where the hypervolume is NaN, NaN.
        """
        from scipy.stats import norm

        level = check_real(level, "level", above=0.0, below=1.0)
        mean, n = self.hypervolume, self.runs
        variance = np.maximum(self._total("squared_hypervolume") / BILLION / n - mean**2, 0.0)
        width = norm.ppf((1 + level) / 2) * np.sqrt(variance / (n - 1)) if n > 1 else np.full(len(mean), np.nan)
        return np.column_stack((np.maximum(mean - width, 0.0), np.minimum(mean + width, 1.0)))

    def interval(
        self,
        level: float = 0.95,
        *,
        method: Literal["wilson", "clopper-pearson"] = "wilson",
        of: Literal["errors", "errors_within", "relaxed_losses"] = "errors",
    ) -> FloatArray:
        """Returns the confidence interval of the rate at each budget, ``(n_budgets, 2)``.

        Args:
            level: of confidence, between 0 and 1.
            method: ``"wilson"`` is close to the level on average, ``"clopper-pearson"`` never below it.
            of: the errors, those within the margins, or the PSI-k losses.
        """
        level = check_real(level, "level", above=0.0, below=1.0)
        check_choice(method, ("wilson", "clopper-pearson"), "method")
        counted = check_choice(of, ("errors", "errors_within", "relaxed_losses"), "count with an interval")
        counts = self.errors_within if counted == "errors_within" else self._total(counted)
        return np.array([_limits(int(n), self.runs, level, "wilson" if method == "wilson" else "exact") for n in counts])

    def precision(self, level: float = 0.95) -> FloatArray:
        """Returns the half-width of the interval of the error rate relative to the rate, per budget; infinite without errors."""
        widths = np.diff(self.interval(level), axis=1)[:, 0] / 2
        with np.errstate(divide="ignore"):
            return np.where(self.errors > 0, widths / self.rate, np.inf)

    def __add__(self, other: ErrorCurve) -> ErrorCurve:
        """Puts together different runs of the same policy on the same instance at the same budgets."""
        if not isinstance(other, ErrorCurve):
            return NotImplemented
        for what in IDENTITY:
            mine, theirs = getattr(self, what), getattr(other, what)
            if mine != theirs:
                raise InvalidInput(f"curves of {what} {mine!r} and {theirs!r} are different things and do not add up.")
        if self.runs and other.runs and (np.isnan(self.hypervolume) != np.isnan(other.hypervolume)).any():
            raise InvalidInput("one curve has the hypervolume and the other has not; simulate both with or without it.")
        if self.tallies.shape != other.tallies.shape:
            raise InvalidInput("one curve was counted by arm and the other was not; simulate both with or without by_arm.")
        for a in self.spans:
            for b in other.spans:
                if a.seed == b.seed and a.first < b.last and b.first < a.last:
                    raise InvalidInput(
                        f"both curves hold run {max(a.first, b.first)} of the same seed, which would count twice; "
                        "simulate the second with another rng= or with start= behind the first."
                    )
        if (self.tallies.astype(np.float64) + other.tallies >= 2**63).any():
            raise InvalidInput("the pulls of both curves together are more than can be counted.")
        draws = self.draws if self.draws == other.draws else ""
        return replace(self, tallies=self.tallies + other.tallies, spans=_joined((*self.spans, *other.spans)), draws=draws)

    def __radd__(self, other: object) -> ErrorCurve:
        return self if other == 0 else NotImplemented  # sum() starts with 0

    def to_dict(self) -> dict[str, Any]:
        """Returns everything as plain JSON values, with 95% Wilson intervals; ``from_dict`` reads it back."""
        interval, within = self.interval(), self.interval(of="errors_within")
        return {
            "instance": self.instance,
            "digest": self.digest,
            "policy": self.policy,
            "options": dict(self.options),
            "scale": None if self.scale is None else list(self.scale),
            "margins": None if self.margins is None else list(self.margins),
            "limits": None if self.limits is None else list(self.limits),
            "ladder": [list(rung) for rung in self.ladder],
            "engine": self.engine,
            "draws": self.draws,
            "runs": self.runs,
            "spans": [{"seed": list(span.seed), "first": span.first, "last": span.last} for span in self.spans],
            "budgets": [
                {
                    "budget": budget,
                    **{name: int(self._total(name)[i]) for name in TALLIES[:4]},
                    "rate": float(self.rate[i]),
                    "low": float(interval[i, 0]),
                    "high": float(interval[i, 1]),
                    "upper_limit": None if self.errors[i] else float(interval[i, 1]),
                    "errors_within": int(self.errors_within[i]),
                    "rate_within": float(self.rate_within[i]),
                    "low_within": float(within[i, 0]),
                    "high_within": float(within[i, 1]),
                    "pulls": float(self.pulls[i]),
                    "rounds": float(self.rounds[i]),
                    "hypervolume": None if np.isnan(self.hypervolume[i]) else float(self.hypervolume[i]),
                    "tallies": self.tallies[i].tolist(),
                }
                for i, budget in enumerate(self.budgets)
            ],
        }

    @classmethod
    def from_dict(cls, record: Mapping[str, Any], /) -> ErrorCurve:
        """Returns the curve that ``to_dict`` wrote, also that of the release before, which knew no margins."""
        try:
            required = {
                name: tuple(record[name]) for name in ("margins", "limits") if name in record and record[name] is not None
            }
            curve = cls(
                instance=record["instance"],
                digest=record["digest"],
                policy=record["policy"],
                options=dict(record["options"]),
                scale=None if record["scale"] is None else tuple(record["scale"]),
                engine=record["engine"],
                budgets=tuple(row["budget"] for row in record["budgets"]),
                tallies=np.array([row["tallies"] for row in record["budgets"]], dtype=np.int64),
                spans=tuple(Span(tuple(span["seed"]), span["first"], span["last"]) for span in record["spans"]),
                **required,
                ladder=tuple(map(tuple, record["ladder"])) if "ladder" in record else (),
                draws=record.get("draws", ""),
            )
            if (
                not curve.budgets
                or curve.tallies.ndim != 2
                or curve.tallies.shape[1] < curve._n_totals
                or (curve.tallies.shape[1] - curve._n_totals) % 2
                or (curve.margins is None) != (curve.limits is None)
                or not 0 < curve.runs == record["runs"]
            ):
                raise ValueError("its counts do not fit its budgets and runs")
        except (KeyError, TypeError, ValueError, OverflowError) as problem:
            raise InvalidInput(f"this is no saved curve ({problem!r}); pass what to_dict() returned, whole.") from None
        return curve

    def rows(self) -> list[dict[str, Any]]:
        """Returns one flat row per budget: what a CSV file or a data frame holds; ``spans`` is seed:first-last of the runs."""
        record = self.to_dict()
        head = {name: record[name] for name in ("instance", "policy", "options", "scale", "margins", "limits", "engine", "runs")}
        head["spans"] = " ".join(f"{'/'.join(map(str, span.seed))}:{span.first}-{span.last}" for span in self.spans)
        for name in ("scale", "margins", "limits"):
            head[name] = " ".join("none" if number is None else str(number) for number in getattr(self, name) or ())
        head["options"] = " ".join(f"{key}={value}" for key, value in self.options.items())
        return [{**head, **{key: cell for key, cell in row.items() if key != "tallies"}} for row in record["budgets"]]

    def to_pandas(self) -> pd.DataFrame:
        """Returns the ``rows`` as a data frame; needs pandas: ``pip install 'paretopick[pandas]'``."""
        return pandas_frame(self.rows())

    def plot(self, ax: Any = None, *, label: str | None = None, title: str | None = None) -> Axes:
        """Draws the error rate against the budget, with its 95% band, and returns the Axes; ``pp.plot_curves`` draws several.

        ::

            pp.simulate(pp.instance("cov-boost"), "doubt", budgets=[500, 1000, 2000], runs=1000).plot()

        Args:
            ax: the Axes to draw on; by default those of a new figure, which a notebook shows.
            label: of the curve in the legend; by default the policy.
            title: above the picture; by default the instance and the number of runs on a new figure, and none on ``ax``.
        """
        from paretopick.plots.methods import plot_curves

        return plot_curves([self], ax, labels=None if label is None else [label], title=title)

    def _of_arms(self, place: int) -> IntArray:
        """``(n_budgets, n_arms)``: the pulls of each arm, or how often it was wrong."""
        columns = self.tallies[:, self._n_totals :]
        if not columns.size:
            raise InvalidInput("this curve was not counted by arm; simulate it with by_arm=True.")
        return np.asarray(columns.reshape(len(columns), 2, -1)[:, place])

    @property
    def _n_totals(self) -> int:
        """How many totals there are before those of each arm."""
        return len(TALLIES) + (self.margins is not None) + len(self.ladder)

    def _total(self, name: str) -> IntArray:
        return self.tallies[:, TALLIES.index(name)]


def _joined(spans: tuple[Span, ...]) -> tuple[Span, ...]:
    """The same runs in as few spans as possible, in order, so that equal sets of runs compare equal."""
    joined: list[Span] = []
    for span in sorted(spans, key=lambda span: (span.seed, span.first)):
        if joined and joined[-1].seed == span.seed and joined[-1].last == span.first:
            joined[-1] = replace(joined[-1], last=span.last)
        else:
            joined.append(span)
    return tuple(joined)


@lru_cache(maxsize=1 << 14)
def _limits(count: int, of: int, level: float, method: Literal["wilson", "exact"]) -> tuple[float, float]:
    """The confidence interval of a rate; kept, since figures, tables and findings ask for the same ones."""
    from scipy.stats import binomtest

    limits = binomtest(count, of).proportion_ci(level, method=method)
    return float(limits.low), float(limits.high)
