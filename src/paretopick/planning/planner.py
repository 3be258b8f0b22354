"""``plan``: studies whose truth is known are simulated, for every policy and budget, and the wrong answers counted.

The truth is the means that were guessed, or, after a pilot, what it leaves open, drawn anew for each simulated study.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import replace
from typing import Any, Literal, TypedDict, Unpack, overload

import numpy as np

from paretopick._arrays import FloatArray, check_flag, check_integer, check_real, check_rng
from paretopick._words import counted, joined, short
from paretopick.bandits import Bandit, Seed
from paretopick.errors import BudgetTooSmall, InvalidInput, SimulationInterrupted
from paretopick.planning.ahead import Progress, check_margin, look_ahead, telling
from paretopick.planning.pilots import Pilot
from paretopick.planning.plans import MarginFound, Plan, Recommendation, Unpaired, crossing, limits_of, wrong
from paretopick.policies import PolicyChoice, PolicyGiven, check_policy, needed_options, policies_with
from paretopick.simulation import ErrorCurve, make_task, opened, simulate
from paretopick.studies import Study
from paretopick.studies.continuation import Continuation, two_digits
from paretopick.studies.ladders import FACTORS, Ladder
from paretopick.studies.near_limits import nearest_to_a_limit
from paretopick.studies.next_step import Reason, Truths, nearest, within_text
from paretopick.theory.complexity import complexity
from paretopick.theory.gaps_within import front_and_gaps
from paretopick.theory.margins import Margins
from paretopick.theory.requirements import Requirements

PLANNED = tuple(name for name in policies_with("amendable") if not needed_options(name))
"""The policies that a plan compares unless told otherwise: all that a study can use without further options."""

KNOWING = tuple(name for name in PLANNED if PolicyChoice(name).knows_margins)
"""Those of them that know margins and limits, which are compared where there are some, or where margins are looked for."""

RUNS = 2000
"""Simulated studies for each policy and budget."""

N_BUDGETS = 10
REACH = 500
"""A plan looks at no more than so many measurements per option, unless told otherwise."""

CLOSE = 1.02
"""The smallest budget is found within this factor."""

STRIDE = 1.4
"""By which factor more measurements are looked at, at a time, to find it."""

CAREFUL = 2
"""The smallest budget is judged by so many times the runs."""

SEEN_NOTHING = 3.85
"""Without any error in n runs, the upper limit of Wilson's interval is this over n and this."""

SMALLEST_FACTOR, LARGEST_FACTOR = FACTORS[0], FACTORS[-1]
"""Between these, margins in units of the noise, or of those declared, are looked for."""

FINE = 1.2
"""They are found within this factor."""

MOST_LOOKED_AT = 200
"""Truths that are looked at to find who is too alike."""


class _Options(TypedDict, total=False):
    """The keywords of ``plan`` that are for all it takes."""

    policies: Iterable[PolicyGiven] | None
    budgets: int | Iterable[int] | None
    more: int | Iterable[int] | None
    target: float
    runs: int | None
    max_budget: int | None
    margin: str | None
    rng: Seed
    workers: int | None
    executor: Executor | str | None
    progress: Callable[[str, float, float], None] | bool | None


@overload
def plan(pilot: Pilot | Bandit, /, *, anew: bool = False, **options: Unpack[_Options]) -> Plan: ...


@overload
def plan(pilot: Study, /, *, anew: Literal[False] = False, **options: Unpack[_Options]) -> Continuation: ...


@overload
def plan(pilot: Study, /, *, anew: Literal[True], **options: Unpack[_Options]) -> Plan: ...


def plan(
    pilot: Pilot | Study | Bandit,
    /,
    *,
    anew: bool = False,
    policies: Iterable[PolicyGiven] | None = None,
    budgets: int | Iterable[int] | None = None,
    more: int | Iterable[int] | None = None,
    target: float = 0.05,
    runs: int | None = None,
    max_budget: int | None = None,
    margin: str | None = None,
    rng: Seed = 0,
    workers: int | None = None,
    executor: Executor | str | None = None,
    progress: Callable[[str, float, float], None] | bool | None = None,
) -> Plan | Continuation:
    """Returns how often studies will be wrong, by policy and budget, and the smallest budget that reaches a target.

    Of a study: what it will reach with more measurements, from what it has measured so far (see ``look_ahead``), unless it is to
    be the pilot of a new one.

    Where metrics have margins or limits, right is what is right within them, and policies that know them are told. Where no
    budget is enough, the plan names options that are hard to tell apart, and the margins that would do.

    Args:
        pilot: what is known: ``Pilot.of_table(...)``, a study in progress, or a ``Bandit`` with guessed means and noise.
        anew: whether a study is the pilot of a new one, which starts from nothing.
        policies: names, or (name, options); by default all that a study can use without further options.
        budgets: to look at; by default ten, from the smallest possible to where the target is reached.
        more: of a study that goes on, the numbers of further measurements to look at; by default 100, 300 and 1,000.
        target: the share of wrong answers that is acceptable.
        runs: simulated studies for each policy and budget; by default 2,000, or at most 400 of a study that goes on.
        max_budget: the largest budget to consider; by default 500 measurements per option, or the largest of ``budgets``.
        margin: ``"?"`` asks which margins the ``budgets`` resolve: the smallest multiple of the noise, the same in all metrics,
            or of the margins that are declared, within which the target is met (``Plan.margins_found``). Of a study that
            goes on, the same for ``more``.
        rng: an int, SeedSequence or Generator.
        workers: threads.
        executor: instead of workers, of a new study: any ``concurrent.futures.Executor``, or the address of a cluster, as
            ``simulate`` takes it; the result is the same.
        progress: by default a line on a terminal or in a notebook, if it takes longer than two seconds; False for none, True for
            one from the start; or a function, called with (what is going on, how much is done, of how much).

    Raises:
        SimulationInterrupted: on Ctrl-C; its ``partial`` is a plan of the policies that are finished, if there are any.

    >>> from paretopick import Gaussian
    >>> guess = Bandit([[0.9, 0.1], [0.2, 0.8], [0.1, 0.0]], Gaussian(std=0.5))
    >>> made = plan(guess, policies=["ege-sr"], budgets=[20, 100, 500], runs=400, target=0.1)
    >>> made.curves[0].rate.round(2), made.recommendation.budget
    (array([0.2 , 0.08, 0.  ]), 70)
    """
    if isinstance(pilot, Study) and not check_flag(anew, "anew"):
        given = {"policies": policies, "budgets": budgets, "max_budget": max_budget, "executor": executor}
        if others := [f"{name}=" for name, value in given.items() if value is not None]:
            raise InvalidInput(
                f"{joined(others)} of a plan {'is' if len(others) == 1 else 'are'} for a new study; say anew=True too, or more= "
                f"for what {pilot.name!r} itself will reach with so many more measurements."
            )
        return look_ahead(pilot, more=more, target=target, runs=runs, margin=margin, rng=rng, workers=workers, progress=progress)
    if more is not None:
        raise InvalidInput(f"more={short(more)} is for a study that goes on; for a new one say budgets=.")
    find_margins = check_margin(margin)
    if find_margins and budgets is None:
        raise InvalidInput('margin="?" asks which margins a budget resolves; say which budget, such as budgets=300.')
    known = _pilot(pilot)
    usual = PLANNED if known.required is None and not find_margins else KNOWING
    if known.pairing is not None:  # others do not take part in studies with pairing
        usual = tuple(name for name in usual if PolicyChoice(name).knows_pairs)
    choices = _several(usual if policies is None else policies)
    with opened(executor) as pool, telling(progress) as tell:
        planner = _Planner(known, target, runs, rng, workers, pool, tell, find_margins=find_margins)
        return planner.plan(choices, budgets, max_budget)


class _Planner:
    """What all simulations of a plan have in common."""

    def __init__(
        self,
        pilot: Pilot,
        target: float,
        runs: int | None,
        rng: Seed,
        workers: int | None,
        executor: Executor | None,
        say: Progress,
        *,
        find_margins: bool = False,
    ) -> None:
        if pilot.bandit.n_arms == 1:
            raise InvalidInput("a single option is Pareto-optimal without any measurement; there is nothing to plan.")
        self._pilot = pilot
        self._bandit = self._pilot.bandit
        required = pilot.required or Requirements.none(pilot.bandit.n_objectives)
        self._find_margins = find_margins
        self._required = required
        of_declared = find_margins and bool(required.margins.any())
        self._ladder = Ladder(required, pilot.noise, pilot.metrics, of_declared)
        self._target = check_real(target, "target", above=0.0, below=1.0)
        self._runs = RUNS if runs is None else check_integer(runs, "runs", minimum=20)
        self._workers, self._executor = workers, executor
        self._tell, self._doing, self._done, self._steps = say, "", 0, 1
        self._furthest = 0.0
        """The largest share of the work that was said to be done: looking for a budget may take more steps than was thought."""
        self._limit = 0
        """The largest budget to consider."""
        least = math.ceil(SEEN_NOTHING * (1 / self._target - 1) / CAREFUL)
        if self._runs < least:
            raise InvalidInput(
                f"runs={self._runs} cannot show an error of {self._target:g}, even if none occurs; say runs={least} or more, "
                "or a larger target."
            )
        generator = check_rng(rng)
        self._seed = rng if isinstance(rng, int) else int(generator.integers(2**62))
        self._truths = self._sorted(pilot.truths(2 * CAREFUL * self._runs, generator))

    def _sorted(self, truths: FloatArray | None) -> FloatArray | None:
        """The same, with those of the first runs from the easiest to the hardest, so that their quarters can be told apart."""
        if truths is None:
            return None
        order = np.argsort([self._hardness(truth) for truth in truths[: self._runs]], kind="stable")
        return np.concatenate((truths[order], truths[self._runs :]))

    def _hardness(self, truth: FloatArray) -> float:
        """How hard it is to find the right answer: the paper's complexity, from gaps within margins and limits if there are."""
        scale = self._pilot.scale
        widths = np.ones(truth.shape[1]) if scale is None else np.where(scale > 0, scale, 1.0)
        if self._required.is_plain:
            return complexity(truth / widths)
        with np.errstate(divide="ignore"):
            return float((1.0 / self._gaps(truth) ** 2).sum())

    def _gaps(self, truth: FloatArray) -> FloatArray:
        """The gaps of the options, in units of what metrics are divided by."""
        scale = self._pilot.scale if self._pilot.scale is not None else np.ones(truth.shape[1])
        points, required = truth / np.where(scale > 0, scale, 1.0), self._required.divided(scale)
        return front_and_gaps(points, required, scale == 0)[1]

    def plan(self, given: Sequence[PolicyChoice], budgets: int | Iterable[int] | None, max_budget: int | None) -> Plan:
        """The plan."""
        choices = [choice.with_default(spend="all") if self._pilot.spend_all else choice for choice in given]
        smallest = max(self._smallest(choice) for choice in choices)
        finished: list[list[ErrorCurve]] = []
        self._steps = len(choices) + 3
        try:
            chosen = self._budgets(choices[0], budgets, smallest, max_budget)
            for choice in choices:
                self._done, self._doing = 1 + len(finished), f"{choice.label} at {counted(len(chosen), 'budget')}"
                finished.append(self._quarters(choice, chosen))
            self._done += 1
            found = None
            if not self._find_margins:
                found = self._recommendation(choices, [_total(parts) for parts in finished], smallest)
            draft = self._plan(choices, finished, found)
            if self._pilot.pairing is not None and found is not None:
                draft = replace(draft, unpaired=self._unpaired(choices[draft.best], found.budget))
            draft = replace(draft, **self._resolved(choices, draft))
            if self._truths is None:
                return draft
            self._done, self._doing = self._done + 1, "what the pilot leaves open"
            return replace(draft, if_right=self._if_right(choices[draft.best], chosen), quarters=tuple(finished[draft.best]))
        except KeyboardInterrupt:
            partial = self._plan(choices[: len(finished)], finished, None, complete=False) if finished else None
            raise SimulationInterrupted(partial) from None

    def _plan(
        self,
        choices: Sequence[PolicyChoice],
        quarters: Sequence[Sequence[ErrorCurve]],
        found: Recommendation | None,
        *,
        complete: bool = True,
    ) -> Plan:
        n_options, n_metrics = self._pilot.bandit.means.shape
        labels = tuple(choice.label for choice in choices)
        curves = tuple(_total(parts) for parts in quarters)
        return Plan(
            source=self._pilot.source,
            n_options=n_options,
            n_metrics=n_metrics,
            notes=self._pilot.notes,
            target=self._target,
            largest=self._limit,
            complete=complete,
            curves=curves,
            labels=labels,
            recommendation=found,
            if_right=None,
            quarters=(),
            within=within_text(self._required),
            says_margins=not self._required.margins.any(),
        )

    def _unpaired(self, choice: PolicyChoice, budget: int) -> Unpaired:
        """How many measurements the same policy would take if measurements shared nothing, from a budget on."""
        self._bandit = self._pilot.without_pairing
        try:
            found = self._climb(choice, budget, start=CAREFUL * self._runs)
        finally:
            self._bandit = self._pilot.bandit
        pairing = self._pilot.pairing or ""
        return Unpaired(pairing, self._limit, None if found is None else found[0].budgets[found[1]])

    def _resolved(self, choices: Sequence[PolicyChoice], draft: Plan) -> dict[str, Any]:
        """Which differences the budgets resolve with the best policy, and why none is enough if none is."""
        self._doing = "which differences the budgets resolve"
        curve = self._curve(choices[draft.best], draft.budgets, runs=self._runs, ladder=True)
        resolves = tuple(self._ladder.reached(curve, place, self._target) for place in range(len(draft.budgets)))
        if self._find_margins:
            return {"resolves": resolves, "margins_found": tuple(self._margins_found(choices, draft.budgets))}
        if draft.recommendation is not None:
            return {"resolves": resolves}
        if (last := resolves[-1]) is not None and last.factor < self._ladder.narrowest.factor:  # enough, but not confirmed
            resolves = (*resolves[:-1], self._ladder.narrowest)
        return {"resolves": resolves, "reason": self._reason(limits=last is None)}

    def _reason(self, *, limits: bool) -> Reason:
        """Who is too alike, or too near a limit, for any budget that was looked at: the option with the smallest gap.

        Or the one nearest to a limit, if doubts about ``limits`` remain whatever the margins.
        """
        truths = self._pilot.bandit.means[None] if self._truths is None else self._truths[:MOST_LOOKED_AT]
        worst = int(np.median([self._gaps(truth) for truth in truths], axis=0).argmin())
        exact = np.zeros(truths.shape[2], dtype=np.bool_) if self._pilot.scale is None else self._pilot.scale == 0
        known = Truths(truths, exact, self._pilot.noise, self._required)
        names, metrics = self._pilot.bandit.arm_names, self._pilot.metrics
        if limits and (near := nearest_to_a_limit(known, names, metrics)) is not None:
            return near
        return nearest(known, worst, names, metrics, several=self._truths is not None)

    def _margins_found(self, choices: Sequence[PolicyChoice], budgets: Sequence[int]) -> Iterator[MarginFound]:
        """For each budget the smallest margins within which the target is met, with the policy that needs the smallest."""
        starts = []
        for choice in choices:
            self._doing = f"which margins {choice.label} resolves"
            curve = self._curve(choice, budgets, runs=self._runs, ladder=True)
            starts.append([self._ladder.reached(curve, place, self._target) for place in range(len(budgets))])
        for place, budget in enumerate(budgets):
            resolved = [row[place] for row in starts]
            factors = [math.inf if one is None else one.factor for one in resolved]
            best = int(np.argmin(factors))
            yield self._smallest_margins(choices[best], budget, factors[best])

    def _smallest_margins(self, choice: PolicyChoice, budget: int, start: float) -> MarginFound:
        """The same for one policy that knows the margins, from those on that the answers without them resolve."""

        def curve_at(factor: float) -> ErrorCurve:
            unit = "those declared" if self._ladder.of_declared else "the noise"
            self._doing = f"{choice.label} with {budget:,} measurements and margins of {factor:.2g} times {unit}"
            margins = self._ladder.margins(factor)
            return self._curve(choice, (budget,), runs=CAREFUL * self._runs, start=CAREFUL * self._runs, margins=margins)

        def is_enough(curve: ErrorCurve) -> bool:
            return bool(curve.interval(of="errors_within")[0, 1] <= self._target)

        factor = max(min(start, LARGEST_FACTOR), SMALLEST_FACTOR) if start > 0 else 0.0
        curve = curve_at(factor)
        enough = is_enough(curve)
        while enough and factor > 0:  # down, as long as it is enough
            less = factor / FINE if factor / FINE >= SMALLEST_FACTOR else 0.0
            below = curve_at(less)
            if not is_enough(below):
                break
            factor, curve = less, below
        while not enough and factor < LARGEST_FACTOR:
            factor = min(max(factor * FINE, SMALLEST_FACTOR), LARGEST_FACTOR)
            curve = curve_at(factor)
            enough = is_enough(curve)
        low, high = curve.interval(of="errors_within")[0].tolist()
        resolved = self._ladder.at(factor) if enough else None
        rate = float(curve.rate_within[0])
        return MarginFound(budget, resolved, curve.policy, dict(curve.options), rate, (low, high), curve.runs)

    def _smallest(self, choice: PolicyChoice) -> int:
        """The smallest budget that a policy can work with."""
        budget = 1
        while True:
            try:
                make_task(self._pilot.bandit, choice, budgets=budget)
                return budget
            except BudgetTooSmall as refusal:
                budget = max(refusal.smallest, budget + 1)

    def _budgets(
        self, choice: PolicyChoice, given: int | Iterable[int] | None, smallest: int, max_budget: int | None
    ) -> tuple[int, ...]:
        """Those given, or ten from the smallest possible to where the target is reached or the largest; and how far to look."""
        if given is not None:
            several = given if isinstance(given, Iterable) else (given,)
            budgets = tuple(sorted({check_integer(budget, "budgets", minimum=1) for budget in several}))
            if not budgets or budgets[0] < smallest:
                least = budgets[0] if budgets else 0
                raise BudgetTooSmall(f"budgets has {least}; these policies need {smallest} or more.", smallest)
            self._limit = max(budgets[-1], 0 if max_budget is None else check_integer(max_budget, "max_budget"))
            return budgets
        largest = max(REACH * self._pilot.bandit.n_arms, 2 * smallest) if max_budget is None else max_budget
        if check_integer(largest, "max_budget") <= smallest:
            raise BudgetTooSmall(f"max_budget={largest} is too small; these policies need more than {smallest}.", smallest + 1)
        last, self._limit = smallest, largest
        few = max(self._runs // 5, 20)
        while last < largest:
            last = min(2 * last, largest)
            self._doing = f"{choice.label} with {last:,} measurements"
            if wrong(self._curve(choice, (last,), runs=few, start=self._runs))[0] <= few * self._target / 2:
                break
        steps = np.geomspace(smallest, last, N_BUDGETS)
        return tuple(sorted({smallest, last, *(two_digits(step) for step in steps[1:-1])}))

    def _quarters(self, choice: PolicyChoice, budgets: Sequence[int]) -> list[ErrorCurve]:
        """The error at some budgets in each quarter of what the pilot leaves open, from the easiest to the hardest."""
        cuts = [self._runs * part // 4 for part in range(5)]
        return [self._curve(choice, budgets, runs=cuts[i + 1] - cuts[i], start=cuts[i]) for i in range(4)]

    def _if_right(self, choice: PolicyChoice, budgets: Sequence[int]) -> ErrorCurve:
        """The error if the pilot is exactly right, from fewer runs."""
        return self._curve(choice, budgets, runs=max(self._runs // 4, 20), if_right=True)

    def _curve(
        self,
        choice: PolicyChoice,
        budgets: Sequence[int],
        *,
        runs: int,
        start: int = 0,
        if_right: bool = False,
        ladder: bool = False,
        margins: Margins = None,
    ) -> ErrorCurve:
        """The error at some budgets, with what the pilot leaves open, or as if it were exactly right."""
        self._say(self._done)
        asked = not self._required.is_plain or margins is not None
        return simulate(
            self._bandit,
            choice,
            budgets=budgets,
            runs=runs,
            start=start,
            rng=self._seed,
            workers=self._workers,
            executor=self._executor,
            scale=self._pilot.scale,
            truths=None if if_right else self._truths,
            hypervolume=False,
            margins=(self._required.as_margins if margins is None else margins) if asked else None,
            limits=self._required.as_limits if asked else None,
            ladder=self._ladder.rungs if ladder else (),
            progress=lambda done, of: self._say(self._done + min(done / of, 1.0)),
        )

    def _say(self, done: float) -> None:
        """Tells whoever watches how much is done, and never less than before."""
        self._furthest = max(self._furthest, done / self._steps)
        self._tell(self._doing, self._furthest * self._steps, self._steps)

    def _recommendation(
        self, choices: Sequence[PolicyChoice], curves: Sequence[ErrorCurve], smallest: int
    ) -> Recommendation | None:
        """The policy whose curve crosses the target first, with fewer rounds if several do at once, and where exactly.

        Where that is not confirmed by more runs, the next one is tried.
        """
        order = sorted(range(len(curves)), key=lambda at: _promise(curves[at], self._target))
        within_reach = [at for at in order if crossing(curves[at], self._target) < math.inf]
        for at in within_reach or order[:1]:
            if (found := self._confirmed(choices[at], curves[at], smallest)) is not None:
                return found
        return None

    def _confirmed(self, choice: PolicyChoice, curve: ErrorCurve, smallest: int) -> Recommendation | None:
        """From which budget on a policy is wrong seldom enough; None if that cannot be confirmed."""
        short = [budget for budget, n in zip(curve.budgets, wrong(curve), strict=True) if n > self._target * curve.runs]
        likely = self._climb(choice, max(short, default=smallest), start=0)
        # Once more with other runs than those that made it look good, and further up if that was luck.
        sure = None if likely is None else self._climb(choice, likely[0].budgets[likely[1]], start=CAREFUL * self._runs)
        if sure is None:
            return None
        found, at = sure
        low, high = limits_of(found)[at].tolist()
        return Recommendation(
            curve.policy,
            dict(curve.options),
            found.budgets[at],
            float(wrong(found)[at] / found.runs),
            (low, high),
            found.runs,
            float(found.rounds[at]),
        )

    def _climb(self, choice: PolicyChoice, low: int, *, start: int) -> tuple[ErrorCurve, int] | None:
        """The first budget from ``low`` on at which the upper limit of the error meets the target: a curve, and where on it."""
        while True:
            high = min(max(math.ceil(low * STRIDE), low + 1), self._limit)
            self._doing = f"the smallest budget that will do, {low:,} to {high:,}"
            curve = self._curve(choice, _ladder(low, high), runs=CAREFUL * self._runs, start=start)
            enough = limits_of(curve)[:, 1] <= self._target
            if enough.any():
                return curve, int(np.argmax(enough))
            if high >= self._limit:
                return None
            low = high


def _promise(curve: ErrorCurve, target: float) -> tuple[float, float, float]:
    """By which policies are compared: who crosses the target first, with fewer rounds; or else who is wrong least."""
    where = crossing(curve, target)
    last = float(wrong(curve)[-1])
    return (where, float(curve.rounds[-1]), last) if where < math.inf else (where, last, float(curve.rounds[-1]))


def _total(parts: Sequence[ErrorCurve]) -> ErrorCurve:
    return sum(parts[1:], start=parts[0])


def _several(policies: Any) -> list[PolicyChoice]:
    """The policies to compare."""
    if isinstance(policies, str | Mapping | PolicyChoice) or not isinstance(policies, Iterable):
        raise InvalidInput(
            f'policies={short(policies)} is not a list of policies; write for instance ["uniform", ("apt", {{"batch": 8}})].'
        )
    choices = [check_policy(policy) for policy in policies]
    if not choices:
        raise InvalidInput("policies is empty; name at least one.")
    return choices


def _pilot(given: Any) -> Pilot:
    if isinstance(given, Study):
        return Pilot.of_study(given)
    if isinstance(given, Bandit):
        return Pilot.guess(given)
    if not isinstance(given, Pilot):
        raise InvalidInput(f"pilot={short(given)} is no pilot; pass a Bandit, a Study, or Pilot.of_table(FILE, metrics).")
    return given


def _ladder(low: int, high: int) -> tuple[int, ...]:
    """Budgets from one to another, each larger by a factor of ``CLOSE`` at most."""
    steps = max(1, math.ceil(math.log(max(high, 1) / max(low, 1)) / math.log(CLOSE)))
    return tuple(sorted({low, high, *(round(step) for step in np.geomspace(low, high, steps + 1).tolist())}))
