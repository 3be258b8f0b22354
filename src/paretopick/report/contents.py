"""What a report says, put together once as a ``Report``: what was found, how sure that is, what next, how to do it again."""

from __future__ import annotations

import platform
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version

from paretopick._words import joined, percent, probability
from paretopick.report.choices import Comparisons, choices, which
from paretopick.report.facts import facts_of, incidents_of, repeat
from paretopick.studies import ParetoResult, Study
from paretopick.studies.baselines import ComparedWithBaseline
from paretopick.studies.course import Course, course_of
from paretopick.studies.pages import group_lines, how_sure

REHEARSALS = 500
"""How often a study is simulated at the means as measured, unless told otherwise."""


@dataclass(frozen=True)
class Report:
    """Everything that a report says, as texts."""

    study: str
    answer: str
    asked: str
    """Which differences do not matter, and which limits options must keep; empty if nobody said so."""
    how_sure: str
    next_step: str | None
    """What to do next, if that can be said; of a study that is as sure as it was to be, that it is."""
    result: ParetoResult
    which: str
    """What there is to know before one takes an option."""
    choices: tuple[tuple[str, ...], ...]
    """The options of the answer with what speaks for each: a header, and a row for each; nothing if there is no answer."""
    groups: tuple[str, ...]
    """Who is surely in, open, surely out, and nearly equal: a line each."""
    baseline: str | None
    """The option that the others are compared with."""
    against_baseline: str | None
    """Whether it is beaten, and by whom, in a sentence."""
    comparisons: tuple[tuple[str, str], ...]
    """The other options, those of the answer first, and how each differs from the baseline."""
    table_legend: str
    """What the columns of the table of all options are."""
    course: Course | None
    """How sure it was on the way; None if there is nothing to be shown, and for policies whose rounds decide."""
    certainty: tuple[str, ...]
    """How sure, in sentences."""
    facts: tuple[tuple[str, str], ...]
    """How it was measured."""
    incidents: tuple[tuple[str, ...], ...]
    """Measurements that failed or were voided, and options that were retired: a header, and a row for each."""
    repeat: str
    """What to type to do it again."""
    versions: str
    written: str

    @property
    def next_title(self) -> str:
        """What is before the next step."""
        return "What next?" if self.result.stopped is None else "Done."


def make_report(study: Study, *, rehearsals: int | None = None, baseline: str | None = None) -> Report:
    """Returns what a report says about a study, at any time.

    Args:
        study: done, or in progress.
        rehearsals: how often to simulate it at the means as measured; by default 500 times.
        baseline: an option that the others are compared with, if it is another one than that of the study.
    """
    result = study.result(rehearsals=REHEARSALS if rehearsals is None else rehearsals, baseline=baseline)
    compared = result.compared_with_baseline
    state, rows, events = study.status(), study.measurements(), study.events()
    comparisons = Comparisons(study)
    return Report(
        study=study.name,
        answer=result.sentence,
        asked=asked(result),
        how_sure=how_sure(result),
        next_step=result.next_step if result.stopped is None else result.stopped,
        result=result,
        which=which(result),
        choices=tuple(choices(result, comparisons)),
        groups=tuple(group_lines(result)),
        baseline=None if compared is None else compared.baseline,
        against_baseline=None if compared is None else compared.sentence,
        comparisons=() if compared is None else tuple(_with_baseline(result, compared)),
        table_legend=table_legend(result),
        course=course_of(study.definition, events) if study.definition.choice.roundless else None,
        certainty=tuple(_certainty(result)),
        facts=tuple(facts_of(study.definition, result, state, rows)),
        incidents=tuple(incidents_of(study.definition, rows, events)),
        repeat=repeat(study.name, study.definition, study.budget),
        versions=f"paretopick {version('paretopick')}, Python {platform.python_version()}, NumPy {version('numpy')}, "
        f"{platform.system()} {platform.machine()}",
        written=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
    )


def _with_baseline(result: ParetoResult, compared: ComparedWithBaseline) -> Iterable[tuple[str, str]]:
    """The options that can be compared with the baseline, by status, and how each differs from it."""
    for row in result.ranked():
        if text := compared.text(row.option):
            yield row.option, text


def asked(result: ParetoResult) -> str:
    """Returns which differences do not matter, and which limits options must keep, in a sentence or two; empty without any."""
    margins = [f"{metric.margin_text} in {metric.name}" for metric in result.metric_records if metric.margin_text]
    limits = [f"{metric.name} {metric.limit_text}" for metric in result.metric_records if metric.limit_text]
    parts = [f"Differences below {joined(margins)} do not matter."] if margins else []
    parts += [f"Limits: {joined(limits)}."] if limits else []
    return " ".join(parts)


def table_legend(result: ParetoResult) -> str:
    """Returns what the columns of the table of all options are."""
    if result.has_margins:
        able = "keeps the limits and " if result.has_limits else ""
        likely = f"P(worth keeping): how likely an option {able}is outdone by none, in every metric by the margin at least."
    else:
        able = " of those that keep the limits" if result.has_limits else ""
        likely = f"P(optimal): how likely an option is Pareto-optimal{able}."
    ahead = "as good in every metric, but for what does not matter" if result.has_margins else "ahead in every metric"
    parts = (
        likely,
        "P(within limits): how likely it keeps all of them." if result.has_limits else "",
        "Measured: how often it was. 95% interval: where the true mean is with a probability of 95%.",
        "Covered: worth keeping, were it not that an option of the answer is as good." if result.has_margins else "",
        f"Beaten by: the option of the answer that is most likely {ahead}, and by how much, with 95% intervals in brackets.",
    )
    return " ".join(filter(None, parts))


def _certainty(result: ParetoResult) -> Iterable[str]:
    yield result.certainty.how
    if result.certainty.interval is not None and result.certainty.draws:
        low, high = map(probability, result.certainty.interval)
        yield (
            f"That is {probability(result.certainty.probability)}, with a 95% interval from {low} to {high} that comes from the "
            "number of draws alone."
        )
        counted = (
            "P(worth keeping) in the table is the share of these draws in which an option keeps the limits, if there are some, "
            "and no other that does is ahead of it in every metric by the margin at least"
            if result.has_margins
            else "P(optimal) in the table is the share of these draws in which an option is Pareto-optimal"
        )
        yield (
            f"{counted}. How well such numbers are borne out, in thousands of simulated studies whose truth was known, is in "
            "docs/calibration.md of paretopick."
        )
    if (resolved := result.resolution) is not None and resolved.text:
        yield (
            f"Had it been said that differences of {resolved.text} do not matter, {resolved.factor:.2g} times the noise of one "
            f"measurement in each metric, the answer would be right within these margins in {percent(resolved.level)} of draws."
        )
    if result.rehearsal is not None:
        low, high = map(percent, result.rehearsal.interval)
        yield (
            f"{result.rehearsal.how} That is {percent(result.rehearsal.rate)} ({low} to {high}). It says how reliable a study of "
            "this size, started anew, is for a problem that looks like this one; not how likely this answer is to be right."
        )
