"""What more measurements would bring: the continuation of a study, simulated from its present data.

For every run a truth is drawn from what the data leave open, and the study goes on from its data with measurements of that truth.
How often the answer is then right, and which options were measured, is read off at several numbers of further measurements. Right
is what is right within the margins and limits of the metrics; the same answers are also counted under wider margins, to say which
ones would do.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from paretopick._arrays import FloatArray, IntArray
from paretopick._doubting import SINGLE
from paretopick._html import NUMBERS, TEXTS, paragraphs, table
from paretopick._words import counted, probability, quoted
from paretopick.bandits import Bandit
from paretopick.errors import InvalidInput
from paretopick.estimates import Estimates
from paretopick.metrics import Metric, requirements_of
from paretopick.policies import PolicyChoice
from paretopick.simulation import simulate
from paretopick.studies.certainty import required_of
from paretopick.studies.data import StudyData
from paretopick.studies.ladders import FACTORS, Ladder, Resolved, scaled_sentence
from paretopick.studies.near_limits import nearest_to_a_limit
from paretopick.studies.next_step import SURE, NextStep, Truths, resolved_sentence, too_alike, within_text
from paretopick.theory.requirements import Requirements

RUNS = 400
"""Simulated continuations, if that does not take too long."""

FEWEST_RUNS = 100

SECONDS = 3.0
"""About how long the simulations may take on one core."""

STEPS = 12
"""Numbers of further measurements that are looked at."""

FURTHEST = 10
"""They go up to so many times what was measured so far, at least ``FEWEST_EACH`` for each option, if the time allows it."""

FEWEST_EACH = 20

MOSTLY = 0.5
MOST_NAMED = 3
"""Options are named that get this share of the measurements together, if they are no more than so many."""


@dataclass(frozen=True)
class Step:
    """What a number of further measurements would bring."""

    more: int
    right: float
    """The probability that the answer is then right, within the margins if there are some."""
    mostly: tuple[str, ...]
    """The options that would get most of them; empty if they are spread over many."""
    shares: tuple[float, ...]
    """Which part of them each option would get."""
    resolves: Resolved | None = None
    """Up to which differences the answer is then right with the probability that was aimed for; None if limits are in the way."""


@dataclass(frozen=True)
class Continuation:
    """What further measurements would bring; ``next_step`` says it in a sentence.

    Made by ``plan`` of a study that goes on::

        ahead = pp.plan(study, more=[100, 300])
        print(ahead.present, ahead.needed, ahead.next_step)
    """

    used: int
    """Measurements so far."""
    present: float
    """The probability that the answer is right now."""
    target: float
    steps: tuple[Step, ...]
    next_step: str
    needed: int | None
    """How many more are needed to reach the target, about; None if no step does."""
    policy: str
    """What chooses the measurements."""
    options: tuple[str, ...]
    runs: int
    """How many continuations were simulated."""
    asked: tuple[int, ...] = ()
    """The numbers of further measurements that somebody wanted to know about."""
    within: str = ""
    """What a right answer is, if not exactly the Pareto set: `` within the margins``, for example."""
    says_margins: bool = False
    """Whether it says up to which differences answers will be right: if no margins were declared, or somebody asked."""
    of_declared: bool = False
    """Whether what steps resolve are multiples of the declared margins."""

    @property
    def shown(self) -> tuple[Step, ...]:
        """The steps that were asked for, or else all."""
        return tuple(step for step in self.steps if step.more in self.asked) if self.asked else self.steps

    def sentences(self) -> list[str]:
        """Returns what it says, in words."""
        now = f"The answer is right{self.within} with {probability(self.present)} now, after {counted(self.used, 'measurement')}."
        said = [now, self.next_step]
        if self.says_margins:
            sentence = scaled_sentence if self.of_declared else resolved_sentence
            said += [sentence(step.more, step.resolves, self.target) for step in self.shown if step.more in self.asked]
        if self.runs:
            said.append(
                f"Simulated {self.runs:,} times from the data so far with {self.policy}, each time with means drawn from what "
                f"the data leave open; chance alone moves these shares by up to {100 / math.sqrt(self.runs):.0f} points."
            )
        return said

    def rows(self) -> list[dict[str, Any]]:
        """Returns one flat row for each step that is shown: what a CSV file holds."""
        return [
            {
                "more": step.more,
                "budget": self.used + step.more,
                "right": step.right,
                "resolves": None if step.resolves is None else step.resolves.factor,
                **{f"share of {name}": share for name, share in zip(self.options, step.shares, strict=True)},
            }
            for step in self.shown
        ]

    def to_dict(self) -> dict[str, Any]:
        """Returns everything as JSON values."""
        return {
            "used": self.used,
            "present": self.present,
            "target": self.target,
            "needed": self.needed,
            "next_step": self.next_step,
            "policy": self.policy,
            "runs": self.runs,
            "asked": list(self.asked),
            "sentences": self.sentences(),
            "steps": [
                {
                    "more": step.more,
                    "budget": self.used + step.more,
                    "right": step.right,
                    "resolves": None if step.resolves is None else asdict(step.resolves),
                    "mostly": list(step.mostly),
                    "shares": dict(zip(self.options, step.shares, strict=True)),
                }
                for step in self.steps
            ],
        }

    @property
    def title(self) -> str:
        """What ``cells`` are about."""
        return f"How likely the answer will be right{self.within} after more measurements:"

    def cells(self) -> tuple[list[str], list[list[str]]]:
        """Returns the steps that are shown, as people read them: header and rows, the first of which is now."""
        now = ["0", f"{self.used:,}", probability(self.present), ""]
        steps = [
            [f"{step.more:,}", f"{self.used + step.more:,}", probability(step.right), quoted(step.mostly) or "many"]
            for step in self.shown
        ]
        return ["more", "in all", "right", "mostly of"], [now, *steps]

    def __str__(self) -> str:
        return "\n".join(self.sentences())

    __repr__ = __str__

    def _repr_html_(self) -> str:
        cells = table(*self.cells(), places=[NUMBERS, NUMBERS, NUMBERS, TEXTS])
        return f"{paragraphs([self.title])}{cells}{paragraphs(self.sentences())}"


def continuation_of(data: StudyData, **more: Any) -> Continuation:
    """Returns what further measurements of a study would bring, from its data; ``more`` are arguments of ``continuation``."""
    return continuation(
        data.estimates,
        counts=data.counts,
        sums=data.sums,
        squares=data.squares,
        choice=data.choice,
        names=data.options,
        metrics=data.metrics,
        used=data.used,
        **more,
    )


def continuation(
    estimates: Estimates,
    *,
    counts: IntArray,
    sums: FloatArray,
    squares: FloatArray,
    choice: PolicyChoice,
    names: Sequence[str],
    metrics: Sequence[Metric],
    present_probability: float,
    target: float = 0.95,
    used: int | None = None,
    more: Sequence[int] | None = None,
    runs: int | None = None,
    rng: int = 0,
    workers: int | None = None,
    find_margins: bool = False,
    progress: Callable[[int, int], None] | bool = False,
) -> Continuation:
    """Returns what further measurements of a study would bring.

    Args:
        estimates: what is known of the options that take part, as they are compared.
        counts: their measurements.
        sums: ``(n_options, n_metrics)`` of what was measured, with signs: larger is better.
        squares: sums of squared deviations from the means, likewise.
        choice: the policy of the study; ``doubt`` goes on instead of one that plans rounds ahead.
        names: of the options.
        metrics: of the study.
        present_probability: that the answer is right now, as the study says it.
        target: the probability that is enough.
        used: measurements so far, if others count than those of these options.
        more: numbers of further measurements to look at beside the ladder; None: if the answer is sure enough, at none.
        runs: continuations to simulate; by default as many as a second or two allows, at most 400.
        rng: the seed; the same data say the same, whenever they are asked.
        workers: threads.
        find_margins: whether to say which margins a number of measurements resolves though the metrics have some.
        progress: as for ``simulate``.
    """
    here = int(counts.sum())
    used = here if used is None else used
    goes_on = _going_on(choice)
    if more is None and (present_probability >= target or probability(present_probability) == probability(target)):
        within = within_text(requirements_of(metrics))
        return Continuation(used, present_probability, target, (), SURE, 0, goes_on.name, tuple(names), 0, within=within)
    plain = requirements_of(metrics).is_plain
    steps, affordable = _ladder(here, needed_first(choice, counts), estimates.means.shape, more or (), plain=plain)
    runs = affordable if runs is None else runs
    problem = _Problem(estimates, counts, metrics)
    required = problem.required
    # What moves all options alike matters to limits alone; what is known of them so far would not move with it.
    truths = problem.simulated(estimates.draws(runs, np.random.default_rng(rng), shift=required.limited))
    says_margins = find_margins or not required.margins.any()
    ladder = Ladder(required, np.where(estimates.exact, 0.0, estimates.pooled), metrics)
    of_declared = find_margins and bool(required.margins.any())
    scaled = replace(ladder, of_declared=True)
    curve = simulate(
        Bandit(problem.simulated(estimates.means), estimates.noise, name="continuation"),
        goes_on,
        budgets=[here + step for step in steps],
        runs=runs,
        rng=rng,
        workers=workers,
        scale=[metric.divisor(noise) for metric, noise in zip(metrics, estimates.scale().tolist(), strict=True)],
        truths=truths,
        known=(counts, problem.known_sums(counts, sums), np.where(estimates.exact, 0.0, squares)),
        hypervolume=False,
        by_arm=True,
        margins=None if required.is_plain else required.as_margins,
        limits=None if required.is_plain else required.as_limits,
        ladder=[*ladder.rungs, *(scaled.rungs if of_declared else [])],
        progress=progress,
    )
    right = np.maximum(_rising(1.0 - curve.rate_within), present_probability)
    shares = (curve.pulls_by_arm - counts) / np.array(steps)[:, None]
    resolved = _falling([ladder.reached(curve, place, 1.0 - target) for place in range(len(steps))])
    found = [
        Step(n, float(chance), _mostly(share, names), tuple(share.tolist()), margins)
        for n, chance, share, margins in zip(steps, right, shares, resolved, strict=True)
    ]
    needed = _crossing(present_probability, found, target)
    if needed is None and (last := found[-1].resolves) is not None and last.factor < ladder.narrowest.factor:  # by chance
        found[-1] = replace(found[-1], resolves=ladder.narrowest)
    said = NextStep(present_probability, target, used, found, choice is goes_on)
    if of_declared:
        resolved = _falling([scaled.reached(curve, place, 1.0 - target, first=len(FACTORS)) for place in range(len(steps))])
        found = [
            replace(step, resolves=_agreeing(scaled, margins, enough=step.right >= target))
            for step, margins in zip(found, resolved, strict=True)
        ]
    if needed is None:
        reason = too_alike(curve, truths, estimates.exact, ladder.noise, names, metrics, required)
        if said.steps[-1].resolves is None:  # so the doubts are about limits
            reason = nearest_to_a_limit(Truths(truths, estimates.exact, ladder.noise, required), names, metrics) or reason
        sentence = said.missed(reason)
    else:
        sentence = said.reached(needed)
    return Continuation(
        used=used,
        present=present_probability,
        target=target,
        steps=tuple(found),
        next_step=sentence,
        needed=needed,
        policy=goes_on.name,
        options=tuple(names),
        runs=runs,
        asked=tuple(more or ()),
        within=within_text(required),
        says_margins=says_margins,
        of_declared=of_declared,
    )


# What is simulated.


def _going_on(choice: PolicyChoice) -> PolicyChoice:
    """The policy with which a study goes on."""
    return choice if choice.growable else PolicyChoice("doubt")


def needed_first(choice: PolicyChoice, counts: IntArray) -> int:
    """Returns how many measurements of options that have few come before all others when a study goes on."""
    initial = getattr(_going_on(choice).new(n_arms=len(counts), n_objectives=1), "initial", 0)
    return int(np.maximum(initial - counts, 0).sum())


def _ladder(used: int, missing: int, shape: tuple[int, ...], more: Sequence[int], *, plain: bool) -> tuple[list[int], int]:
    """Numbers of further measurements, and how many continuations to simulate up to the last of them."""
    if more and min(more) < max(missing, 1):
        first = f"; options that were measured less often than the others get {missing} first" if missing else ""
        raise InvalidInput(f"more={list(more)} must be numbers of further measurements, {max(missing, 1)} or more{first}.")
    wanted = max(FURTHEST * used, FEWEST_EACH * shape[0])
    affordable = SECONDS / (_seconds(used, *shape) * (1.0 if plain else 1.5 + shape[0] / 70))
    last = max(min(wanted, affordable / FEWEST_RUNS), missing, shape[0])
    first_step = max(missing, last / 100, 1)
    steps = sorted({*more, *(max(two_digits(n), missing, 1) for n in np.geomspace(first_step, last, STEPS))})
    return steps, int(np.clip(affordable / steps[-1], FEWEST_RUNS, RUNS))


def _seconds(used: int, n_options: int, n_metrics: int) -> float:
    """About how long one simulated measurement takes on one core; options that were measured often get several in a row."""
    in_a_row = max(1.0, used / n_options / SINGLE)
    return (0.2 + (0.3 + n_options / 80) / in_a_row) * (1 + n_metrics) * 1e-6


class _Problem:
    """What is simulated: options as they may be, larger is better, and what is required of them in the same units."""

    def __init__(self, estimates: Estimates, counts: IntArray, metrics: Sequence[Metric]) -> None:
        self._estimates = estimates
        declared = required_of(estimates, metrics)
        limits, margins = declared.limits.copy(), declared.margins.copy()
        bits = 53 - max(int(counts.max()), 1).bit_length()
        self._certain = np.zeros(estimates.means.shape)
        for metric in np.flatnonzero(estimates.exact):
            values = estimates.larger_is_better(estimates.means)[:, metric]
            if margins[metric] > 0 or limits[metric] > -np.inf:
                self._certain[:, metric] = _rounded(values, bits)
                limits[metric], margins[metric] = _rounded(limits[metric], bits), _rounded(margins[metric], bits)
            else:
                self._certain[:, metric] = np.unique(values, return_inverse=True)[1].reshape(-1)
        self.required = Requirements(margins, limits, declared.compared)
        """Which differences matter, and which limits options must keep."""

    def simulated(self, means: FloatArray) -> FloatArray:
        """Returns means, larger is better; exact ones so that sums of them are not rounded.

        Where only the order of exact values matters, they are ranks; where a margin or a limit is in their unit, values of so
        many digits that a sum of all measurements has room for them.
        """
        return np.where(self._estimates.exact, self._certain, self._estimates.larger_is_better(means))

    def known_sums(self, counts: IntArray, sums: FloatArray) -> FloatArray:
        """Returns the sums as the simulated options have them."""
        if self._estimates.as_chances:
            return np.where(self._estimates.signs > 0, sums, sums + counts[:, None])
        return np.where(self._estimates.exact, self._certain * counts[:, None], sums)


def _rounded(values: Any, bits: int) -> Any:
    """Numbers with so many binary digits: their products with small whole numbers are exact, and so are quotients of these."""
    part, exponent = np.frexp(values)
    return np.ldexp(np.round(np.ldexp(part, bits)), exponent - bits)


# What follows from it.


def _rising(rates: FloatArray) -> FloatArray:
    """Rates that rise, those that fall averaged with their neighbours: more data do not make answers worse, but chance does."""
    groups: list[list[float]] = []
    for rate in rates.tolist():
        groups.append([rate])
        while len(groups) > 1 and np.mean(groups[-2]) > np.mean(groups[-1]):
            last = groups.pop()
            groups[-1] += last
    return np.array([np.mean(group) for group in groups for _ in group])


def _falling(resolved: Sequence[Resolved | None]) -> list[Resolved | None]:
    """What is resolved, at each step no less than before: more data do not see less, but chance has it so."""
    best: Resolved | None = None
    found = []
    for one in resolved:
        if best is None or (one is not None and one.factor < best.factor):
            best = one
        found.append(best)
    return found


def _agreeing(scaled: Ladder, resolved: Resolved | None, *, enough: bool) -> Resolved | None:
    """A multiple of the declared margins that says no more and no less than whether these are enough, but for chance."""
    if enough:
        return scaled.at(1.0) if resolved is None or resolved.factor > 1.0 else resolved
    return scaled.at(1.0) if resolved is not None and resolved.factor < 1.0 else resolved


def _mostly(shares: FloatArray, names: Sequence[str]) -> tuple[str, ...]:
    """The options that get most of the measurements; none if that would be too many to name."""
    order = np.argsort(-shares, kind="stable")
    enough = int(np.searchsorted(np.cumsum(shares[order]), MOSTLY - 1e-9)) + 1
    return tuple(names[i] for i in order[:enough]) if enough <= MOST_NAMED else ()


def _crossing(present: float, steps: Sequence[Step], target: float) -> int | None:
    """About how many more measurements reach the target, between steps by straight lines; None if none do."""
    if present >= target:
        return 0
    before, chance = 0, present
    for step in steps:
        if step.right >= target:
            part = (target - chance) / (step.right - chance)
            return two_digits(before + part * (step.more - before), up=True)
        before, chance = step.more, step.right
    return None


def two_digits(number: float, *, up: bool = False) -> int:
    """Returns a number of measurements to two digits, the nearest or the next above."""
    digits = 10 ** max(0, math.floor(math.log10(max(number, 1.0))) - 1)
    return int((math.ceil if up else round)(number / digits) * digits)
