"""Which option to take: those of the answer, what speaks for each, and what each costs against the next one and the baseline."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from paretopick._words import joined, listed, probability
from paretopick.errors import NotReady
from paretopick.metrics import Metric
from paretopick.studies import ParetoResult, Study
from paretopick.studies.beating import compared
from paretopick.studies.certainty import Judgement, judge
from paretopick.studies.pages import mean_and_interval
from paretopick.studies.result import OptionResult

AGAINST_THE_ONE_ABOVE = "compared with the one above"


class Comparisons:
    """How the options of a study differ from each other, as far as the measurements say.

    Args:
        study: whose measurements.
    """

    def __init__(self, study: Study) -> None:
        self._metrics = study.definition.metrics
        self._judgement: Judgement | None = None
        self._names: tuple[str, ...] = ()
        self.why_not = ""
        """Why nothing can be compared; empty if it can."""
        try:
            estimates, self._names, _ = study.estimates()
            self._judgement = judge(estimates, required=study.definition.requirements)
        except NotReady as reason:
            self.why_not = str(reason)

    def differences(self, name: str, other: str) -> str:
        """Returns how an option differs from another one, in words; nothing if that cannot be said."""
        if self._judgement is None or name not in self._names or other not in self._names:
            return ""
        (by,) = compared(self._judgement, [name], other, self._names, self._metrics)
        return joined([str(difference) for difference in by])


def which(result: ParetoResult) -> str:
    """Returns what there is to know before one takes an option of the answer."""
    hardly = ", but for differences that do not matter" if result.has_margins else ""
    if len(result.answer) == 1:
        others = "no other option that keeps the limits" if result.has_limits else "no other option"
        return f"There is nothing to weigh up: {others} is better in any metric{hardly}."
    if any(set(result.answer) <= set(group) for group in result.alike):
        far = "differ by nothing that matters" if result.has_margins else "are nearly equal"
        return f"Either will do: they {far}."
    if len(result.answer) == len(result.options):
        why = ""
    elif result.has_margins:
        others = "the others that keep the limits" if result.has_limits else "the others"
        why = f". None of {others} is missed: one of these is as good in every metric{hardly}"
    else:
        why = f": whatever else one takes is worse in at least one metric{', or breaks a limit' if result.has_limits else ''}"
    return f"Each of these is the right choice for somebody{why}. Which one to take depends on what a metric is worth to you."


def choices(result: ParetoResult, comparisons: Comparisons) -> Iterable[tuple[str, ...]]:
    """Yields a header, and then the options of the answer along the first metric, with their means and what speaks for each.

    Of members of which either will do there is one, the best in the first metric, and the others are named beside it. With two
    metrics there is one way along the front, so each is compared with the one above it: what is gained, at which price. Where
    there is a baseline, it is compared with that instead.
    """
    goals = [metric for metric in result.metric_records if metric.compared]
    first = goals[0]
    by_name = {row.option: row for row in result.options}
    each = [[by_name[name] for name in group] for group in result.named_choices]
    best = [min(group, key=lambda row: -first.sign * (row.means[first.name] or 0.0)) for group in each]
    members = sorted(best, key=lambda row: -first.sign * (row.means[first.name] or 0.0))
    against = result.compared_with_baseline
    steps = len(goals) == 2 and len(members) > 1 and not comparisons.why_not and against is None
    if members:
        yield (
            "option",
            *map(with_unit, result.metric_records),
            "what speaks for it",
            *([AGAINST_THE_ONE_ABOVE] if steps else []),
            *([] if against is None else [f"compared with {against.baseline}"]),
        )
    for place, row in enumerate(members):
        means = (mean_and_interval(row.means[name], row.intervals[name])[0] for name in result.metrics)
        reasons = [*_best_in(row, result), *_alike(row, result)] or _undefeated(row, result)
        speaks = joined([_how_likely(row, result), *reasons])
        step = [comparisons.differences(row.option, members[place - 1].option) if place else ""] if steps else []
        today = [] if against is None else ["the same" if row.option == against.baseline else against.text(row.option)]
        yield (row.option, *means, speaks, *step, *today)


def with_unit(metric: Metric) -> str:
    """Returns what is above a column of a metric: its name, and its unit."""
    return metric.name if metric.unit is None else f"{metric.name} ({metric.unit})"


def _how_likely(row: OptionResult, result: ParetoResult) -> str:
    sought, chance = ("worth keeping", row.worth_keeping) if result.has_margins else ("Pareto-optimal", row.probability)
    if chance is None:
        return "as measured so far"
    if row.in_answer and row.beaten_by is not None:
        return f"{sought} with {probability(chance)}, though {row.beaten_by.option} most likely beats it"
    return f"surely {sought}" if row.status == "pareto" else f"{sought} with {probability(chance)}"


def _best_in(row: OptionResult, result: ParetoResult) -> Iterable[str]:
    """The metrics in which its mean is better than that of all options that can be taken, but for those that would do as well."""
    beside = {row.option, *_near_equals(row, result)}
    there = [other for other in result.options if other.status not in ("retired", "infeasible") and other.option not in beside]
    for metric in result.metric_records:
        means = [metric.sign * mean for other in there if (mean := other.means[metric.name]) is not None]
        own = row.means[metric.name]
        if metric.compared and means and own is not None and metric.sign * own > max(means):
            yield f"the {'smallest' if metric.goal == 'min' else 'largest'} {metric.name}"


def _undefeated(row: OptionResult, result: ParetoResult) -> Iterable[str]:
    """What speaks for an option that is neither the best in a metric nor as good as another one."""
    if result.has_margins and row.status == "pareto":
        yield "nobody is better by the margins in everything"


def _near_equals(row: OptionResult, result: ParetoResult) -> Sequence[str]:
    return [name for group in result.alike if row.option in group for name in group if name != row.option]


def _alike(row: OptionResult, result: ParetoResult) -> Iterable[str]:
    others = _near_equals(row, result)
    if others:
        yield f"{listed(others)} would do as well" if result.has_margins else f"nearly equal to {listed(others)}"
