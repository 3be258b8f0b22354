"""Plan: errors against budgets, and what they say, in words and as JSON."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from paretopick._arrays import FloatArray, IntArray
from paretopick._html import paragraphs, table
from paretopick._words import capital, counted, joined, percent
from paretopick.policies import PolicyChoice
from paretopick.simulation import ErrorCurve
from paretopick.studies.continuation import two_digits
from paretopick.studies.ladders import FACTORS, Resolved
from paretopick.studies.next_step import NO_MARGIN, Reason

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class Recommendation:
    """The policy that reaches the target with the fewest measurements, and how many these are."""

    policy: str
    options: Mapping[str, Any]
    budget: int
    rate: float
    interval: tuple[float, float]
    """95%, from ``runs`` studies that were not used to find the budget."""
    runs: int
    rounds: float
    """On average."""


@dataclass(frozen=True)
class MarginFound:
    """Which differences a budget resolves: the smallest margins within which the target is met."""

    budget: int
    resolved: Resolved | None
    """None if no margins that were looked at would do."""
    policy: str
    options: Mapping[str, Any]
    rate: float
    """How often the answer is wrong by more than that, if the policy knows the margins."""
    interval: tuple[float, float]
    """95%."""
    runs: int


@dataclass(frozen=True)
class Unpaired:
    """What the recommended policy would take if measurements shared nothing."""

    pairing: str
    """What they share: "repeat", or a column."""
    largest: int
    """No larger budget was considered."""
    budget: int | None
    """None if that is more."""

    def sentence(self, paired: int) -> str:
        """Returns what pairing saves, in a sentence."""
        what = "what every repeat has in common" if self.pairing == "repeat" else f"the same {self.pairing} for all options"
        if self.budget is None:
            return f"With {what}, {paired:,} measurements instead of more than {self.largest:,}."
        return f"With {what}, {paired:,} measurements instead of {self.budget:,}."


@dataclass(frozen=True, eq=False)
class Plan:
    """Error against budget for several policies, and what follows from it; errors are those within margins, if there are some.

    Made by ``plan``; ``print`` says what follows::

        made = pp.plan(pp.Pilot.of_table("pilot.csv", metrics={"quality": "max", "cost": "min"}), target=0.05)
        print(made, made.recommendation)
    """

    source: str
    n_options: int
    n_metrics: int
    notes: tuple[str, ...]
    """What else to know about the source, in sentences."""
    target: float
    largest: int
    """No larger budget was considered."""
    complete: bool
    """Whether the smallest budget was looked for; False after Ctrl-C."""
    curves: tuple[ErrorCurve, ...]
    """One per policy, all at the same budgets; the pilot's uncertainty is in them."""
    labels: tuple[str, ...]
    """The policies in words, in the order of the curves."""
    recommendation: Recommendation | None
    """None if no budget looked at reaches the target."""
    if_right: ErrorCurve | None
    """The error of the recommended policy, or else the best, if the means of the pilot were exactly right."""
    quarters: tuple[ErrorCurve, ...]
    """The same for the quarters of what the pilot leaves open, from the easiest to the hardest; empty without a pilot."""
    within: str = ""
    """What a right answer is, if not exactly the Pareto set: `` within the margins``, for example."""
    says_margins: bool = True
    """Whether no margins were declared, so that it says up to which differences answers will be right."""
    resolves: tuple[Resolved | None, ...] = ()
    """For each budget up to which differences answers of the best policy are right as often as the target asks; None if limits
    are in doubt. Empty after Ctrl-C."""
    reason: Reason | None = None
    """Why no budget reaches the target, if none does."""
    margins_found: tuple[MarginFound, ...] = ()
    """Which differences each budget resolves, if that was asked for."""
    unpaired: Unpaired | None = None
    """What it would take if measurements shared nothing, of a plan with pairing."""

    @property
    def budgets(self) -> tuple[int, ...]:
        """At which the curves are."""
        return self.curves[0].budgets

    @property
    def best(self) -> int:
        """The number of the curve of the recommended policy, or else of the one with fewest errors at the largest budget."""
        if self.recommendation is not None:
            chosen = (self.recommendation.policy, dict(self.recommendation.options))
            return [(curve.policy, dict(curve.options)) for curve in self.curves].index(chosen)
        return int(np.argmin([wrong(curve)[-1] for curve in self.curves]))

    def sentences(self) -> list[str]:
        """Returns what the plan says, in words."""
        curve, label = self.curves[self.best], self.labels[self.best]
        found = self.recommendation
        said = [f"Planned from {self.source}; {curve.runs:,} simulated studies for each policy and budget."]
        rate = wrong(curve) / curve.runs
        if self.within:
            said.append(f"Right is what is right{self.within}.")
        if not self.complete:
            said.append("It was interrupted before the smallest budget was found.")
        elif self.margins_found:
            said += [self._resolved(one) for one in self.margins_found]
        elif found is None:
            said.append(
                f"No budget up to {self.largest:,} was confirmed to be wrong in at most {percent(self.target)} of "
                f"cases; with {self.budgets[-1]:,} measurements {label} is wrong in {share(rate[-1], curve.runs)} of cases "
                f"({interval(limits_of(curve)[-1])})."
            )
            said += self._remedy()
        else:
            said.append(
                f"Measure {found.budget:,} times with {label}, {in_rounds(curve, found.rounds)}: the answer is then wrong "
                f"in {share(found.rate, found.runs)} of cases ({interval(found.interval)}), and the target is "
                f"{percent(self.target)}."
            )
            if self.unpaired is not None:
                said.append(self.unpaired.sentence(found.budget))
            said += self._others()
        shown = sorted({0, len(self.budgets) // 2, len(self.budgets) - 1})
        buys = [f"with {self.budgets[i]:,} in {share(rate[i], curve.runs)}" for i in shown]
        said.append(f"What a budget buys with {label}: the answer is wrong {joined(buys)} of cases.")
        if self.says_margins and found is not None:
            said += self._sees(shown[1:])
        if self.if_right is not None:
            said.append(self._left_open(self.if_right))
        return [*said, *self.notes]

    def _resolved(self, found: MarginFound) -> str:
        """Which differences a budget resolves."""
        of_declared = not self.says_margins
        if found.resolved is None and of_declared:
            return f"With {found.budget:,} measurements no margins up to {FACTORS[-1]:g} times as wide are enough."
        if found.resolved is None:
            return f"With {found.budget:,} measurements no margins are wide enough: it stays in doubt who keeps the limits."
        label = PolicyChoice(found.policy, found.options).label
        wrong_in = f"in {share(found.rate, found.runs)} of cases ({interval(found.interval)})"
        if not found.resolved.text:
            return f"With {found.budget:,} measurements {label} is wrong {wrong_in}, however small the differences."
        if of_declared:
            return f"With {found.budget:,} measurements {label} is wrong {wrong_in} within {found.resolved.as_margins}."
        return (
            f"With {found.budget:,} measurements {label} resolves differences of {found.resolved.text}: with these as margins, "
            f"the answer is wrong {wrong_in}."
        )

    def _sees(self, places: Sequence[int]) -> list[str]:
        """Up to which differences answers with some of the budgets are right, where they are not right without."""
        texts = {self.budgets[i]: one.text for i in places if i < len(self.resolves) and (one := self.resolves[i]) and one.text}
        sees = [f"differences of {text} with {budget:,}" for budget, text in texts.items()]
        return [f"What it resolves, in {percent(1.0 - self.target)} of cases: {'; '.join(sees)}."] if sees else []

    def _remedy(self) -> list[str]:
        """Why no budget reaches the target, and which margins would do."""
        said = [] if self.reason is None else [f"{capital(self.reason.text)}."]
        last = self.resolves[-1] if self.resolves else None
        if self.reason is not None and (self.reason.is_limit or last is None):
            return [*said, NO_MARGIN]
        if last is not None and last.text:
            reached = f"{self.budgets[-1]:,} measurements are wrong in no more than {percent(self.target)} of cases"
            said.append(f"Set margins: up to differences of {last.text}, {reached}.")
        return said

    def _left_open(self, if_right: ErrorCurve) -> str:
        """How much what the pilot leaves open matters, and whether chance alone could have it so."""
        at = self._near
        easy, hard = self.quarters[0], self.quarters[-1]
        easily, hardly = (share(wrong(part)[at] / part.runs, part.runs) for part in (easy, hard))
        exactly = share(wrong(if_right)[at] / if_right.runs, if_right.runs)
        if differ(int(wrong(hard)[at]), hard.runs, int(wrong(easy)[at]), easy.runs):
            # What is hard without margins and limits, by which quarters are told apart, is not what is hard with them.
            return f"If the means of the pilot are exactly right, with {self.budgets[at]:,} the answer is wrong in {exactly}."
        said = (
            f"What the pilot leaves open: with {self.budgets[at]:,} the answer is wrong in {easily} of cases in the easiest "
            f"quarter of what the means may be, and in {hardly} in the hardest"
        )
        if not differ(int(wrong(easy)[at]), easy.runs, int(wrong(hard)[at]), hard.runs):
            said += f" (no more apart than chance alone has it in {easy.runs:,} simulated studies each; more runs would tell)"
        return f"{said}; if its means are exactly right, in {exactly}."

    @property
    def _near(self) -> int:
        """The number of the budget that is nearest to the recommended one, or else of the largest."""
        if self.recommendation is None:
            return len(self.budgets) - 1
        return int(np.argmin(np.abs(np.log(self.budgets) - np.log(self.recommendation.budget))))

    def _others(self) -> list[str]:
        """About how many measurements the other policies take, and in how many rounds."""
        others = []
        for i, (label, curve) in enumerate(zip(self.labels, self.curves, strict=True)):
            where = crossing(curve, self.target)
            if i != self.best:
                rounds = in_rounds(curve, float(curve.rounds[self._near]))
                others.append(
                    f"{label} more than {self.budgets[-1]:,}"
                    if where == math.inf
                    else f"{label} about {two_digits(where):,}, {rounds}"
                )
        return [f"The others take: {'; '.join(others)}."] if others else []

    def plot(self, ax: Any = None, *, title: str | None = None) -> Axes:
        """Draws how often answers are wrong against the budget, with the target and what is recommended, and returns the Axes.

        ::

            pp.plan(pp.instance("cov-boost"), target=0.2).plot()

        Args:
            ax: the Axes to draw on; by default those of a new figure, which a notebook shows.
            title: above the picture; by default what the plan is from on a new figure, and none on ``ax``.
        """
        from paretopick.plots.methods import plot_plan

        return plot_plan(self, ax, title=title)

    def to_dict(self) -> dict[str, Any]:
        """Returns everything as JSON values."""
        found = self.recommendation
        return {
            "source": self.source,
            "options": self.n_options,
            "metrics": self.n_metrics,
            "notes": list(self.notes),
            "target": self.target,
            "largest": self.largest,
            "complete": self.complete,
            "recommendation": None
            if found is None
            else {
                "policy": found.policy,
                "policy_options": dict(found.options),
                "budget": found.budget,
                "rate": found.rate,
                "low": found.interval[0],
                "high": found.interval[1],
                "runs": found.runs,
                "rounds": found.rounds,
            },
            "curves": [curve.to_dict() for curve in self.curves],
            "if_right": None if self.if_right is None else self.if_right.to_dict(),
            "quarters": [curve.to_dict() for curve in self.quarters],
            "resolves": [None if one is None else asdict(one) for one in self.resolves],
            "unpaired": None if self.unpaired is None else asdict(self.unpaired),
            "margins_found": [asdict(one) for one in self.margins_found],
            "reason": None if self.reason is None else self.reason.text,
            "sentences": self.sentences(),
        }

    def cells(self) -> tuple[list[str], list[list[str]]]:
        """Returns how often each policy is wrong at each budget, with 95% intervals, as people read it: header and rows."""
        rows = [[f"{budget:,}", *(wrong_text(curve, at) for curve in self.curves)] for at, budget in enumerate(self.budgets)]
        return ["budget", *self.labels], rows

    def __str__(self) -> str:
        return "\n".join(self.sentences())

    __repr__ = __str__

    def _repr_html_(self) -> str:
        title = "How often the answer will be wrong, with 95% intervals:"
        return f"{paragraphs([title])}{table(*self.cells())}{paragraphs(self.sentences())}"


def wrong(curve: ErrorCurve) -> IntArray:
    """How many runs of a curve were wrong, within the margins if there are some; where some options are enough, not these."""
    return curve.relaxed_losses if curve.margins is None else curve.errors_within


def limits_of(curve: ErrorCurve) -> FloatArray:
    """The 95% intervals of that."""
    return curve.interval(of="relaxed_losses" if curve.margins is None else "errors_within")


def wrong_text(curve: ErrorCurve, place: int) -> str:
    """How often the answer is wrong at one of the budgets, with the interval of that."""
    errors, limits = wrong(curve)[place], limits_of(curve)[place]
    return f"{share(errors / curve.runs, curve.runs)} ({interval(limits)})" if errors else f"< {limits[1]:.1%}"


def differ(fewer: int, of_fewer: int, more: int, of_more: int) -> bool:
    """Whether the second share is larger than the first by more than chance has it, once in 40 times."""
    together = (fewer + more) / (of_fewer + of_more)
    error = math.sqrt(together * (1.0 - together) * (1.0 / of_fewer + 1.0 / of_more))
    return more / of_more - fewer / of_fewer > 1.96 * error


def crossing(curve: ErrorCurve, target: float) -> float:
    """About where a curve falls below the target for good: between budgets by straight lines in logarithms."""
    rates = np.maximum(wrong(curve), 0.5) / curve.runs
    first = _first_of_the_last(rates <= target)
    if first == len(rates):
        return math.inf
    if first == 0:
        return float(curve.budgets[0])
    (a, b), (x, y) = np.log(rates[first - 1 : first + 1]), np.log(curve.budgets[first - 1 : first + 1])
    return float(np.exp(x + (y - x) * (a - np.log(target)) / (a - b)))


def _first_of_the_last(flags: Any) -> int:
    """Where the run of true ones at the end begins; the length if there is none."""
    return len(flags) - int(np.argmin(np.append(flags[::-1], False)))


def share(rate: float, runs: int) -> str:
    """A share of wrong answers as people read it."""
    return f"less than {percent(3 / runs)}" if rate == 0 else percent(rate)


def interval(limits: Sequence[float]) -> str:
    """An interval of shares as people read it."""
    return f"{percent(limits[0])} to {percent(limits[1])}"


def in_rounds(curve: ErrorCurve, rounds: float) -> str:
    """How often measurements have to be waited for, in words."""
    choice = PolicyChoice(curve.policy, curve.options)
    if choice.stepwise and choice.batch == 1:
        return "each chosen after the one before"
    return f"in {counted(round(rounds), 'round')}"
