"""Planning: from a pilot or a guess to the error against the budget, and to the smallest budget that will do.

A plan simulates studies whose truth is known: the means that were guessed, or, after a pilot, what it leaves open, drawn anew for
each simulated study.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from paretopick._arrays import FloatArray, check_integer, check_real, check_rng
from paretopick.bandits import Bandit, Bernoulli, Gaussian, Seed
from paretopick.errors import BudgetTooSmall, InvalidInput, NotReady, SimulationInterrupted
from paretopick.estimates import Estimates, estimate_tables
from paretopick.policies import policy_options
from paretopick.simulation import ErrorCurve, make_task, simulate
from paretopick.simulation.tasks import PolicySpec
from paretopick.studies import Study
from paretopick.studies.tables import read_measurements
from paretopick.theory.complexity import complexity

PLANNED = ("ege-sr", "ege-sh", "ege-gg", "apt", "uniform")
"""The policies that a plan compares unless told otherwise: all that a study can use without further options."""

RUNS = 2000
"""Simulated studies for each policy and budget."""

RUNS_WITH_EXACT_METRICS = 200
"""The same where metrics are exact, for which there are no kernels."""

N_BUDGETS = 10
REACH = 500
"""A plan looks at no more than so many measurements per option, unless told otherwise."""

CLOSE = 1.02
"""The smallest budget is found within this factor."""

CAREFUL = 2
"""The smallest budget is judged by so many times the runs."""

Progress = Callable[[str, float, float], None]


@dataclass(frozen=True, eq=False)
class Pilot:
    """What is known beforehand: made by ``guess``, ``of_table`` or ``of_study``."""

    bandit: Bandit
    """The means as guessed or measured, larger is better, and the noise."""
    source: str
    """Where they come from, in a phrase."""
    scale: FloatArray | None
    """What the policies divide metrics by, 0 for exact ones; None: nothing."""
    spend_all: bool
    """Whether policies spend all of the budget that rounds can divide, as studies do."""
    estimates: Estimates | None = None
    """What a pilot leaves open; None if the means are taken for the truth."""

    @classmethod
    def guess(cls, bandit: Bandit, *, like_a_study: bool = True) -> Pilot:
        """Returns means and noise that are taken for the truth.

        Args:
            bandit: with them.
            like_a_study: whether metrics are compared in units of their noise and all of the budget is spent, as studies do;
                else policies work as ``simulate`` has them.
        """
        widths = _noise_widths(bandit) if like_a_study else None
        return cls(bandit, f"the means of {bandit.name}, taken for the truth", widths, like_a_study)

    @classmethod
    def of_table(cls, path: str | os.PathLike[str], metrics: Mapping[str, str], *, exact: Iterable[str] = ()) -> Pilot:
        """Returns the pilot whose measurements are in a CSV file, a row for each.

        Args:
            path: of the file.
            metrics: the columns that count, to "min" or "max".
            exact: metrics without noise.
        """
        measured = read_measurements(path, metrics)
        estimates = _known(
            os.fspath(path),
            lambda: estimate_tables(
                [np.array(rows) for rows in measured.values()],
                exact=np.array([name in set(exact) for name in metrics]),
                signs=np.array([1.0 if goal == "max" else -1.0 for goal in metrics.values()]),
            ),
        )
        bandit = replace(estimates.bandit(os.fspath(path)), arm_names=tuple(measured), objective_names=tuple(metrics))
        return cls(bandit, _measured(estimates, os.fspath(path)), estimates.scale(), True, estimates)

    @classmethod
    def of_study(cls, study: Study) -> Pilot:
        """Returns what a study has measured so far, as the pilot of a new one with the same options, without retired ones."""
        estimates, options, scale = _known(f"the study {study.name!r}", study.estimates)
        bandit = replace(estimates.bandit(study.name), arm_names=options, objective_names=tuple(study.metrics))
        return cls(bandit, _measured(estimates, f"the study {study.name!r}"), scale, True, estimates)

    @property
    def has_exact_metrics(self) -> bool:
        """Whether differences in a metric are certain."""
        return self.scale is not None and not self.scale.all()

    def truths(self, n: int, rng: np.random.Generator) -> FloatArray | None:
        """Returns ``(n, n_options, n_metrics)`` of what the means may be, larger is better; None if they are known."""
        return None if self.estimates is None else self.estimates.larger_is_better(self.estimates.draws(n, rng))


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


@dataclass(frozen=True, eq=False)
class Plan:
    """Error against budget for several policies, and what follows from it."""

    source: str
    n_options: int
    n_metrics: int
    target: float
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
        return int(np.argmin([curve.errors[-1] for curve in self.curves]))

    def sentences(self) -> list[str]:
        """Returns what the plan says, in words."""
        curve, label = self.curves[self.best], self.labels[self.best]
        found = self.recommendation
        said = [f"Planned from {self.source}; {curve.runs:,} simulated studies for each policy and budget."]
        if found is None:
            said.append(
                f"No budget up to {self.budgets[-1]:,} has an error of {self.target:.3g} or less; with {self.budgets[-1]:,} "
                f"measurements {label} is wrong in {share(curve.rate[-1], curve.runs)} of cases."
            )
        else:
            said.append(
                f"Measure {found.budget:,} times with {label}, {in_rounds(found.rounds, found.budget)}: the answer is then wrong "
                f"in {share(found.rate, found.runs)} of cases ({interval(found.interval)}), and the target is {self.target:.3g}."
            )
        shown = sorted({0, len(self.budgets) // 2, len(self.budgets) - 1})
        buys = [f"with {self.budgets[i]:,} in {share(curve.rate[i], curve.runs)}" for i in shown]
        said.append(f"What a budget buys with {label}: the answer is wrong {_joined(buys)} of cases.")
        if self.if_right is not None:
            last = len(self.budgets) - 1
            easy, hard = (share(part.rate[last], part.runs) for part in (self.quarters[0], self.quarters[-1]))
            said.append(
                f"What the pilot leaves open: with {self.budgets[last]:,} the answer is wrong in {easy} of cases in the "
                f"easiest quarter of what the means may be, and in {hard} in the hardest; if its means are exactly right, in "
                f"{share(self.if_right.rate[last], self.if_right.runs)}."
            )
        return said

    def to_dict(self) -> dict[str, Any]:
        """Returns everything as JSON values."""
        found = self.recommendation
        return {
            "source": self.source,
            "options": self.n_options,
            "metrics": self.n_metrics,
            "target": self.target,
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
            "sentences": self.sentences(),
        }

    def __str__(self) -> str:
        return "\n".join(self.sentences())

    __repr__ = __str__


def plan(
    pilot: Pilot | Study | Bandit,
    /,
    *,
    policies: Iterable[PolicySpec] = PLANNED,
    budgets: int | Iterable[int] | None = None,
    target: float = 0.05,
    runs: int | None = None,
    max_budget: int | None = None,
    rng: Seed = 0,
    workers: int | None = None,
    progress: Progress | None = None,
) -> Plan:
    """Returns how often studies will be wrong, by policy and budget, and the smallest budget that reaches a target.

    Args:
        pilot: what is known: ``Pilot.of_table(...)``, a study in progress, or a ``Bandit`` with guessed means and noise.
        policies: names, or (name, options).
        budgets: to look at; by default ten, from the smallest possible to where the target is reached.
        target: the share of wrong answers that is acceptable.
        runs: simulated studies for each policy and budget; by default 2,000, or 200 with exact metrics.
        max_budget: the largest budget to consider; by default 500 measurements per option, or the largest of ``budgets``.
        rng: an int, SeedSequence or Generator.
        workers: threads.
        progress: called with (what is going on, how much is done, of how much).

    Raises:
        SimulationInterrupted: on Ctrl-C; its ``partial`` is a plan of the policies that are finished, if there are any.
    """
    planner = _Planner(_pilot(pilot), target, runs, rng, workers, progress or (lambda *_: None))
    return planner.made(list(policies), budgets, max_budget)


class _Planner:
    """What all simulations of a plan have in common."""

    def __init__(self, pilot: Pilot, target: float, runs: int | None, rng: Seed, workers: int | None, say: Progress) -> None:
        if pilot.bandit.n_arms == 1:
            raise InvalidInput("a single option is Pareto-optimal without any measurement; there is nothing to plan.")
        self._pilot = pilot
        self._target = check_real(target, "target", above=0.0, below=1.0)
        usual = RUNS_WITH_EXACT_METRICS if pilot.has_exact_metrics else RUNS
        self._runs = usual if runs is None else check_integer(runs, "runs", minimum=20)
        self._workers, self._say = workers, say
        generator = check_rng(rng)
        self._seed = int(generator.integers(2**62))
        self._truths = self._sorted(pilot.truths(2 * CAREFUL * self._runs, generator))

    def _sorted(self, truths: FloatArray | None) -> FloatArray | None:
        """The same, with those of the first runs from the easiest to the hardest, so that their quarters can be told apart."""
        if truths is None:
            return None
        scale = self._pilot.scale
        widths = 1.0 if scale is None else np.where(scale > 0, scale, 1.0)
        order = np.argsort([complexity(truth / widths) for truth in truths[: self._runs]], kind="stable")
        return np.concatenate((truths[order], truths[self._runs :]))

    def made(self, policies: Sequence[PolicySpec], budgets: int | Iterable[int] | None, max_budget: int | None) -> Plan:
        """The plan."""
        if not policies:
            raise InvalidInput("policies is empty; name at least one.")
        specs = [self._spec(policy) for policy in policies]
        smallest = max(self._smallest(spec) for spec in specs)
        finished: list[list[ErrorCurve]] = []
        steps = len(specs) + 2.0
        try:
            chosen = self._budgets(specs[0], budgets, smallest, max_budget)
            for spec in specs:
                self._say(f"{_label(spec)} at {len(chosen)} budgets", len(finished), steps)
                finished.append(self._quarters(spec, chosen))
            self._say("the smallest budget that will do", len(specs), steps)
            found = self._recommendation(specs, [_total(parts) for parts in finished], smallest)
            draft = self._plan(specs, finished, found)
            if self._truths is None:
                return draft
            self._say("what the pilot leaves open", len(specs) + 1.0, steps)
            return replace(draft, if_right=self._if_right(specs[draft.best], chosen), quarters=tuple(finished[draft.best]))
        except KeyboardInterrupt:
            partial = self._plan(specs[: len(finished)], finished, None) if finished else None
            raise SimulationInterrupted(partial) from None

    def _plan(self, specs: Sequence[PolicySpec], quarters: Sequence[Sequence[ErrorCurve]], found: Recommendation | None) -> Plan:
        n_options, n_metrics = self._pilot.bandit.means.shape
        labels = tuple(_label(spec) for spec in specs)
        curves = tuple(_total(parts) for parts in quarters)
        return Plan(self._pilot.source, n_options, n_metrics, self._target, curves, labels, found, None, ())

    def _spec(self, policy: PolicySpec) -> tuple[str, dict[str, Any]]:
        name, options = (policy, {}) if isinstance(policy, str) else policy
        if self._pilot.spend_all and "spend" in policy_options(name):
            return name, {"spend": "all", **options}
        return name, dict(options)

    def _smallest(self, spec: PolicySpec) -> int:
        """The smallest budget that a policy can work with."""
        budget = 1
        while True:
            try:
                make_task(self._pilot.bandit, spec, budgets=budget)
                return budget
            except BudgetTooSmall as refusal:
                budget = max(refusal.smallest, budget + 1)

    def _budgets(
        self, spec: PolicySpec, given: int | Iterable[int] | None, smallest: int, max_budget: int | None
    ) -> tuple[int, ...]:
        """Those given, or ten from the smallest possible to where the target is reached or the largest."""
        if given is not None:
            several = given if isinstance(given, Iterable) else (given,)
            budgets = tuple(sorted({check_integer(budget, "budgets", minimum=1) for budget in several}))
            if not budgets or budgets[0] < smallest:
                least = budgets[0] if budgets else 0
                raise BudgetTooSmall(f"budgets has {least}; these policies need {smallest} or more.", smallest)
            return budgets
        largest = max(REACH * self._pilot.bandit.n_arms, 2 * smallest) if max_budget is None else max_budget
        if check_integer(largest, "max_budget") <= smallest:
            raise BudgetTooSmall(f"max_budget={largest} is too small; these policies need more than {smallest}.", smallest + 1)
        last = smallest
        few = max(self._runs // 5, 20)
        while last < largest:
            last = min(2 * last, largest)
            self._say(f"{_label(spec)} with {last:,} measurements", 0.0, 1.0)
            if self._curve(spec, (last,), runs=few, start=self._runs).rate[0] <= self._target / 2:
                break
        steps = np.geomspace(smallest, last, N_BUDGETS)
        return tuple(sorted({smallest, last, *(_round(step) for step in steps[1:-1])}))

    def _quarters(self, spec: PolicySpec, budgets: Sequence[int]) -> list[ErrorCurve]:
        """The error at some budgets in each quarter of what the pilot leaves open, from the easiest to the hardest."""
        cuts = [self._runs * part // 4 for part in range(5)]
        return [self._curve(spec, budgets, runs=cuts[i + 1] - cuts[i], start=cuts[i]) for i in range(4)]

    def _if_right(self, spec: PolicySpec, budgets: Sequence[int]) -> ErrorCurve:
        """The error if the pilot is exactly right, from fewer runs."""
        return self._curve(spec, budgets, runs=max(self._runs // 4, 20), if_right=True)

    def _curve(
        self, spec: PolicySpec, budgets: Sequence[int], *, runs: int, start: int = 0, if_right: bool = False
    ) -> ErrorCurve:
        """The error at some budgets, with what the pilot leaves open, or as if it were exactly right."""
        return simulate(
            self._pilot.bandit,
            spec,
            budgets=budgets,
            runs=runs,
            start=start,
            rng=self._seed,
            workers=self._workers,
            scale=self._pilot.scale,
            truths=None if if_right else self._truths,
            hypervolume=False,
        )

    def _recommendation(self, specs: Sequence[PolicySpec], curves: Sequence[ErrorCurve], smallest: int) -> Recommendation | None:
        """The policy whose curve crosses the target first, and where exactly."""
        crossings = [_crossing(curve, self._target) for curve in curves]
        if min(crossings) == math.inf:
            return None
        best = int(np.argmin(crossings))
        curve, runs = curves[best], CAREFUL * self._runs
        good = self._reached(curve)
        if good == len(curve.budgets):
            return None
        low = curve.budgets[good - 1] if good else smallest
        near = self._curve(specs[best], _ladder(low, curve.budgets[good]), runs=runs)
        found = min(self._reached(near), len(near.budgets) - 1)
        # Once more with other runs than those that made it look good, and a little more in case it was luck.
        again = _ladder(near.budgets[found], math.ceil(near.budgets[found] * CLOSE**4))
        fresh = self._curve(specs[best], again, runs=runs, start=runs)
        at = self._reached(fresh)
        if at == len(again):
            return None
        low, high = fresh.interval()[at].tolist()
        return Recommendation(
            curve.policy, dict(curve.options), again[at], float(fresh.rate[at]), (low, high), fresh.runs, float(fresh.rounds[at])
        )

    def _reached(self, curve: ErrorCurve) -> int:
        """From which budget of a curve on the target is met, by the upper limits of its intervals; their number if never."""
        return _first_of_the_last(curve.interval()[:, 1] <= self._target)


def _total(parts: Sequence[ErrorCurve]) -> ErrorCurve:
    return sum(parts[1:], start=parts[0])


def share(rate: float, runs: int) -> str:
    """A share of wrong answers as people read it."""
    if rate == 0:
        return f"fewer than {3 / runs:.2g}" if runs < 300 else f"less than {3 / runs:.1%}"
    return f"{rate:.0%}" if rate >= 0.1 else f"{rate:.1%}"


def in_rounds(rounds: float, budget: int) -> str:
    """How often measurements have to be waited for, in words."""
    if rounds > budget / 4:
        return "each chosen after the one before"
    return f"in {rounds:.0f} {'round' if round(rounds) == 1 else 'rounds'}"


def interval(limits: Sequence[float]) -> str:
    """An interval of shares as people read it."""
    digits = 0 if limits[1] >= 0.1 else 1
    return f"{limits[0]:.{digits}%} to {limits[1]:.{digits}%}"


def _pilot(given: Any) -> Pilot:
    if isinstance(given, Study):
        return Pilot.of_study(given)
    if isinstance(given, Bandit):
        return Pilot.guess(given)
    if not isinstance(given, Pilot):
        raise InvalidInput(f"pilot={given!r} is no pilot; pass a Bandit, a Study, or Pilot.of_table(FILE, metrics).")
    return given


def _known(what: str, estimates: Callable[[], Any]) -> Any:
    try:
        return estimates()
    except NotReady as reason:
        raise NotReady(f"{what} says too little to plan with: {reason}") from None


def _measured(estimates: Estimates, what: str) -> str:
    return f"{int(estimates.counts.sum()):,} measurements of {len(estimates.counts):,} options in {what}"


def _noise_widths(bandit: Bandit) -> FloatArray:
    """The noise of each objective, on average over the arms; 0 where there is none."""
    if isinstance(bandit.noise, Gaussian):
        if bandit.noise.cov is None:
            variances = np.broadcast_to(np.asarray(bandit.noise.std), (bandit.n_objectives,)) ** 2
        else:
            variances = np.diagonal(bandit.noise.cov, axis1=-2, axis2=-1).reshape(-1, bandit.n_objectives).mean(axis=0)
    elif isinstance(bandit.noise, Bernoulli):
        variances = (bandit.means * (1 - bandit.means)).mean(axis=0)
    else:
        raise InvalidInput("a plan is made from normal noise or from 0 and 1; of measurements make a Pilot.of_table.")
    return np.asarray(np.sqrt(variances))


def _label(spec: PolicySpec) -> str:
    """A policy in words; that all of the budget is spent goes without saying."""
    name, options = (spec, {}) if isinstance(spec, str) else spec
    told = [f"{key}={value}" for key, value in options.items() if (key, value) != ("spend", "all")]
    return f"{name} ({', '.join(told)})" if told else name


def _crossing(curve: ErrorCurve, target: float) -> float:
    """About where a curve falls below the target for good: between budgets by straight lines in logarithms."""
    rates = np.maximum(curve.rate, 0.5 / curve.runs)
    first = _first_of_the_last(rates <= target)
    if first == len(rates):
        return math.inf
    if first == 0:
        return float(curve.budgets[0])
    (a, b), (x, y) = np.log(rates[first - 1 : first + 1]), np.log(curve.budgets[first - 1 : first + 1])
    return float(np.exp(x + (y - x) * (a - np.log(target)) / (a - b)))


def _ladder(low: int, high: int) -> tuple[int, ...]:
    """Budgets from one to another, each larger by ``CLOSE`` at most."""
    steps = max(1, math.ceil(math.log(max(high, 1) / max(low, 1)) / math.log(CLOSE)))
    return tuple(sorted({low, high, *(round(step) for step in np.geomspace(low, high, steps + 1).tolist())}))


def _first_of_the_last(flags: Any) -> int:
    """Where the run of true ones at the end begins; the length if there is none."""
    return len(flags) - int(np.argmin(np.append(flags[::-1], False)))


def _round(budget: float) -> int:
    """To two digits."""
    digits = 10 ** max(0, math.floor(math.log10(budget)) - 1)
    return int(round(budget / digits) * digits)


def _joined(parts: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(parts[:-1]), parts[-1])))
