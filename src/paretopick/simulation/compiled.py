"""The compiled engine: bandits and policies become arrays, kernels run, answers are counted."""

from __future__ import annotations

import logging
import math
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from paretopick._arrays import FloatArray, IntArray
from paretopick.bandits import Bandit, Bernoulli, Gaussian
from paretopick.errors import InvalidInput
from paretopick.policies.anytime import Anytime
from paretopick.policies.ape import APEFB, AdaptiveAPEFB, PublishedAdaptiveAPEFB
from paretopick.policies.apt import APT
from paretopick.policies.base import Policy
from paretopick.policies.doubt import Doubt
from paretopick.policies.ege import EGE
from paretopick.simulation.common_draws import by_counter
from paretopick.simulation.results import Span
from paretopick.simulation.scores import Scorer
from paretopick.simulation.tasks import Task, has_exact
from paretopick.theory.requirements import Requirements

if TYPE_CHECKING:
    from paretopick.simulation.kernels.draws.counters import Key
    from paretopick.simulation.kernels.draws.pulls import BanditArrays
    from paretopick.simulation.kernels.ege.one_run import ScheduleArrays
    from paretopick.simulation.kernels.gaps_within import Required as RequiredArrays
    from paretopick.simulation.kernels.stepwise.one_run import Known as KnownArrays

log = logging.getLogger("paretopick")

MOST_ARMS_OF_EIGHT_RUNS = 1024
"""Up to this many arms, all that the kernel takes, EGE makes eight runs at once.

That is 1.4 to 4.6 times as fast in two objectives with Gaussian noise, and between 0.8 and 1.2 times with 128 arms or more in ten
objectives, or with few Bernoulli pulls, whose ties are settled in one run at a time.
"""

MOST_COMPARISONS: dict[type[Policy], int] = {AdaptiveAPEFB: 1000, PublishedAdaptiveAPEFB: 1400, APT: 1000}
"""Up to so many n_arms^2 n_objectives for each pull, eight runs at once of the policies that look at all gaps are 1.3 times as
fast as one run or more; one run brings the gaps up to date, and eight runs find them anew, once in a batch."""

MOST_ARMS_WITH_GAPS = 24
"""And up to this many arms, whatever the batch."""

MOST_ARMS_OF_APE_FB = 256
"""Up to this many arms eight runs of APE-FB are made at once, whose step looks at one row and one column of its matrix alone."""

ARMS_OF_ONE_RUN, ARMS_BY_EXPLORATION = 24, 48.0
"""From so many arms on, and so many times sqrt(a), one run of APE-FB is faster: it pulls the same pair for many steps on end."""

LARGEST_SUM = 1e300
"""Kernels do not look for overflow; where sums could come near it, the policies themselves run, which do."""


def why_no_kernel(task: Task) -> str | None:
    """Returns why a task cannot run compiled; None if it can."""
    if task.choice.own is not None:
        return f"{task.policy} is a policy of your own, which has no kernel"
    if task.kind not in KERNELS or not by_counter(task.bandit.noise):
        return f"{task.policy} on {type(task.bandit.noise).__name__} noise has no kernel"
    if task.by_arm and not issubclass(task.kind, Anytime):
        return f"{task.policy} has no kernel that counts by arm"
    if not _largest_sum(task) < LARGEST_SUM:
        return "kernels do not take sums that may come near the largest number there is"
    if os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0"):
        return "NUMBA_DISABLE_JIT is set, and kernels need to be compiled"
    return None


def _largest_sum(task: Task) -> float:
    """A bound on what the coordinates of an arm can add up to; normals are below 9 in size."""
    scale = np.ones(task.bandit.n_objectives) if task.divisors is None else task.divisors
    means = task.bandit.means if task.truths is None else task.truths.means.reshape(-1, task.bandit.n_objectives)
    largest = np.abs(means).max(axis=0)
    if isinstance(task.bandit.noise, Gaussian):
        roots = np.abs(task.bandit.noise.root).max() + np.abs(task.bandit.noise.block_root).max()
        largest = largest + 9.0 * task.bandit.n_objectives * roots
    known = 0.0 if task.known is None else np.abs(task.known.sums).max(axis=0)
    with np.errstate(over="ignore"):
        return float(((largest * max(task.budgets) + known) / scale).sum())


def grain(task: Task) -> int:
    """How many runs are made at once."""
    told = task.seen_requirements is not None or {"margins", "limits"} & set(task.options)
    if has_exact(task.scale) or (told and task.kind.knows_margins):
        return 1
    n_arms, n_objectives = task.bandit.means.shape
    if task.kind in MOST_COMPARISONS:
        most = MOST_COMPARISONS[task.kind] * task.options.get("batch", 1)
        few = n_arms <= MOST_ARMS_WITH_GAPS and n_arms**2 * n_objectives <= most
    else:
        few = task.kind is not Doubt and n_arms <= (MOST_ARMS_OF_EIGHT_RUNS if task.kind is EGE else MOST_ARMS_OF_APE_FB)
    return 8 if few else 1


class CompiledRunner:
    """Runs of one policy on one bandit at several budgets, in kernels."""

    def __init__(self, task: Task) -> None:
        self._scorer = Scorer(task)
        self._by_arm = (len(task.budgets), task.bandit.n_arms) if task.by_arm else ()
        with say_if_compiling():
            self._sweep = KERNELS[task.kind](task)
            self._sweep(seed_key((0,)), 0, 0)  # compiles, or reads from the cache

    def span(self, span: Span) -> IntArray:
        """Returns the totals of a span of runs, ``(n_budgets, len(TALLIES))`` or more: a function of the span alone."""
        key = seed_key(span.seed)
        if not self._by_arm:
            return np.array([self._scorer.tally(*answer, first=span.first) for answer in self._sweep(key, span.first, span.last)])
        spent = np.zeros(self._by_arm, dtype=np.int64)
        answers = self._sweep(key, span.first, span.last, spent)
        plain = [self._scorer.tally(*answer, first=span.first) for answer in answers]
        wrong = [self._scorer.wrong_by_arm(answer[0], first=span.first) for answer in answers]
        return np.hstack((plain, spent, wrong))


def seed_key(seed: tuple[int, ...]) -> Key:
    """Returns what stands for a seed in the kernels."""
    from paretopick.simulation.kernels.draws.counters import Key

    entropy, *key = seed
    return Key(*np.random.SeedSequence(entropy, spawn_key=key).generate_state(2, np.uint64))


# One function for each kernel. It turns a task into arrays and returns what makes runs: a function of the key of the seed and of
# the first and the last run that returns, for each budget, the answers, the pulls and the rounds of each run. Those of anytime
# policies also take an array, ``(n_budgets, n_arms)``, to which they add the pulls of each arm.

Sweep = Callable[..., list[tuple[Any, IntArray, IntArray]]]


def _ege(task: Task) -> Sweep:
    from paretopick.simulation.kernels.draws.counters import Runs
    from paretopick.simulation.kernels.ege import exact_runs
    from paretopick.simulation.kernels.ege import kernel as ege

    exact, eight_runs = has_exact(task.scale), grain(task) > 1
    means = flat_means(task)
    prepared = []
    for budget in task.budgets:
        player = task.player(budget)
        assert isinstance(player, EGE)
        schedule, columns = schedule_arrays(player)
        prepared.append((bandit_arrays(task, columns, means), schedule))

    def sweep(seed: Key, first: int, last: int) -> list[tuple[Any, IntArray, IntArray]]:
        results = []
        for bandit, schedule in prepared:
            outcome = _outcome(last - first, bandit.n_arms)
            arguments = _from_run(bandit, first), schedule, Runs(seed, first, last)
            if exact:
                exact_runs.run_ege_exact(*arguments, exact_runs.make_memory(bandit), outcome)
            else:
                ege.run_ege(*arguments, ege.make_memory(bandit, eight_runs=eight_runs), outcome)
            results.append(tuple(outcome))
        return results

    return sweep


def schedule_arrays(player: EGE) -> tuple[ScheduleArrays, IntArray]:
    """Returns a schedule as the kernels see it, and the different numbers of pulls in it."""
    from paretopick.simulation.kernels.ege.one_run import ScheduleArrays

    pulls = np.array(player.schedule.pulls, dtype=np.int64)
    columns, column = np.unique(pulls, return_inverse=True)
    active = np.array(player.schedule.active, dtype=np.int64)
    return ScheduleArrays(active, pulls, column.astype(np.int64), player.max_arms or 0), columns


def _ape(task: Task) -> Sweep:
    from paretopick.simulation.kernels.draws.counters import Runs
    from paretopick.simulation.kernels.stepwise import ape, ape_eight_runs

    one_run, eight_runs = (ape.make_memory, ape.run_ape), (ape_eight_runs.make_memory, ape_eight_runs.run_ape_eight)
    bandit = bandit_arrays(task)
    prepared = []
    for budget in task.budgets:
        player = task.player(budget)
        kernel = eight_runs if grain(task) > 1 else one_run
        if isinstance(player, APEFB):
            if bandit.n_arms >= max(ARMS_OF_ONE_RUN, ARMS_BY_EXPLORATION * math.sqrt(player.exploration)):
                kernel = one_run
            rule = ape.Rule(ape.FIXED, player.exploration, budget)
        else:
            assert isinstance(player, AdaptiveAPEFB | PublishedAdaptiveAPEFB)
            rule = ape.Rule(ape.ADAPTIVE if isinstance(player, AdaptiveAPEFB) else ape.PUBLISHED, player.c, budget)
        prepared.append((*kernel, rule))

    def sweep(seed: Key, first: int, last: int) -> list[tuple[Any, IntArray, IntArray]]:
        results = []
        for make_memory, run, rule in prepared:
            outcome = _outcome(last - first, bandit.n_arms)
            run(_from_run(bandit, first), rule, Runs(seed, first, last), make_memory(bandit), outcome)
            results.append(tuple(outcome))
        return results

    return sweep


def _apt(task: Task) -> Sweep:
    from paretopick.simulation.kernels.stepwise import apt, apt_eight_runs, apt_exact, apt_within

    player = task.player(task.budgets[0])
    assert isinstance(player, APT)
    if not player.required.is_plain:
        required = required_arrays(player.required)
        make_within = partial(apt_within.Rule, gamma=player.gamma, required=required)
        return _anytime(task, make_within, apt_within.make_memory, apt_within.run_apt_within)
    make_rule = partial(apt.Rule, gamma=player.gamma)
    if has_exact(task.scale):
        return _anytime(task, make_rule, apt_exact.make_memory, apt_exact.run_apt_exact)
    if grain(task) > 1:
        return _anytime(task, make_rule, apt_eight_runs.make_memory, apt_eight_runs.run_apt_eight)
    return _anytime(task, make_rule, apt.make_memory, apt.run_apt)


def _doubt(task: Task) -> Sweep:
    from paretopick.simulation.kernels.stepwise import doubt, doubt_within

    player = task.player(task.budgets[0])
    assert isinstance(player, Doubt)
    if player.required.is_plain:
        return _anytime(task, doubt.Rule, doubt.make_memory, doubt.run_doubt)
    make_memory = partial(doubt_within.make_memory, required=required_arrays(player.required))
    return _anytime(task, doubt.Rule, make_memory, doubt_within.run_doubt_within)


def _anytime(task: Task, make_rule: Callable[..., Any], make_memory: Callable[[BanditArrays], Any], run: Any) -> Sweep:
    """Runs of an anytime policy, which are made once and read off at every budget."""
    from paretopick.simulation.kernels.draws.counters import Runs

    bandit = bandit_arrays(task)
    player = task.player(task.budgets[0])
    assert isinstance(player, Anytime)
    order = np.argsort(task.budgets)
    budgets = np.array(task.budgets, dtype=np.int64)[order]
    known = known_arrays(task)
    batch = min(player.batch, max(task.budgets))
    rule = make_rule(batch=batch, initial=player.initial, budgets=budgets, known=known)
    rounds = 1 - (np.maximum(known.counts, player.initial).sum() - budgets) // batch

    def sweep(seed: Key, first: int, last: int, spent: IntArray | None = None) -> list[tuple[Any, IntArray, IntArray]]:
        n = last - first
        answers = np.zeros((n, len(budgets), -(-bandit.n_arms // 64)), dtype=np.uint64)
        pulls = np.zeros((len(budgets), bandit.n_arms), dtype=np.int64)
        run(_from_run(bandit, first), rule, Runs(seed, first, last), make_memory(bandit), answers, pulls)
        if spent is not None:
            spent[order] += pulls
        results: list[Any] = [None] * len(budgets)
        for place, at in enumerate(order):
            results[at] = (answers[:, place], np.full(n, budgets[place]), np.full(n, rounds[place]))
        return results

    return sweep


KERNELS: dict[type[Policy], Callable[[Task], Sweep]] = {
    EGE: _ege,
    APEFB: _ape,
    AdaptiveAPEFB: _ape,
    PublishedAdaptiveAPEFB: _ape,
    APT: _apt,
    Doubt: _doubt,
}
"""The classes of policies that have a kernel."""


def known_arrays(task: Task) -> KnownArrays:
    """Returns what runs of an anytime policy start from as the kernels see it: divided as pulls are, and means where exact."""
    from paretopick.simulation.kernels.stepwise.one_run import Known

    K, D = task.bandit.means.shape
    if task.known is None:
        return Known(np.zeros(K, dtype=np.int64), np.zeros(K * D), np.zeros(K * D))
    sums, squares = task.known.divided_by(task.divisors)
    squares = np.zeros((K, D)) if squares is None else squares
    sums = np.where(task.exact, sums / np.maximum(task.known.counts, 1)[:, None], sums)
    return Known(task.known.counts.astype(np.int64), sums.flatten(), np.where(task.exact, 0.0, squares).flatten())


def required_arrays(required: Requirements) -> RequiredArrays:
    """Returns margins and limits as the kernels see them, in the units in which policies are told values."""
    from paretopick.simulation.kernels.gaps_within import Required

    return Required(required.margins.copy(), required.limits.copy(), required.compared.copy())


def _outcome(n_runs: int, n_arms: int) -> Any:
    from paretopick.simulation.kernels.outcomes import Outcome

    return Outcome(
        np.zeros((n_runs, -(-n_arms // 64)), dtype=np.uint64), np.zeros(n_runs, dtype=np.int64), np.zeros(n_runs, dtype=np.int64)
    )


def flat_means(task: Task) -> FloatArray:
    """Returns the means as the kernels see them, flat: those of the bandit, or of every run and of lanes behind the last."""
    K, D = task.bandit.means.shape
    means = task.bandit.means[None]
    if task.truths is not None:
        means = task.truths.means
        means = np.concatenate((means, np.broadcast_to(means[-1], (7, K, D))))
    if task.divisors is None or isinstance(task.bandit.noise, Bernoulli):
        return means.flatten()  # an array that is read-only would be another type, and compiled for
    return (means / task.divisors).ravel()


def _from_run(bandit: BanditArrays, run: int) -> BanditArrays:
    """The same with the means from those of a run on, where runs have means of their own."""
    return bandit._replace(means=bandit.means[run * bandit.step :])


def bandit_arrays(task: Task, columns: IntArray | None = None, means: FloatArray | None = None) -> BanditArrays:
    """Returns the bandit as the kernels see it, divided by the scale if that has no 0.

    Args:
        task: what is simulated.
        columns: the numbers of pulls to draw sums of.
        means: what ``flat_means`` returned, if that is at hand.
    """
    from paretopick.simulation.kernels.draws import pulls
    from paretopick.simulation.kernels.draws.binomials import MOST_PULLS, make_tables, no_tables

    K, D = task.bandit.means.shape
    scale = np.ones(D) if task.divisors is None else task.divisors
    means = flat_means(task) if means is None else means
    exact = task.exact.copy()
    widths = np.where(exact, 1.0, task.scale) if task.scale is not None and exact.any() else np.ones(D)
    step = 0 if task.truths is None else K * D
    if isinstance(task.bandit.noise, Bernoulli):
        if columns is not None and columns.max(initial=0) > MOST_PULLS:
            raise InvalidInput(f"a round pulls an arm {columns.max()} times; Bernoulli sums are drawn of at most {MOST_PULLS}.")
        # Tables are for chances that serve many runs.
        tables = no_tables() if columns is None or step else make_tables(columns, means)
        return pulls.BanditArrays(pulls.BERNOULLI, K, D, step, 0, means, 1.0 / scale, tables, exact, widths)
    kind, shared, factors = _gaussian(task.bandit, scale)
    return pulls.BanditArrays(kind, K, D, step, shared, means, factors, no_tables(), exact, widths)


def _gaussian(bandit: Bandit, scale: FloatArray) -> tuple[int, int, FloatArray]:
    """The kind of Gaussian noise, and what standard normals are multiplied by, from what place on for what arms share."""
    from paretopick.simulation.kernels.draws import pulls

    assert isinstance(bandit.noise, Gaussian)
    K, D = bandit.means.shape
    root, block_root = bandit.noise.root, bandit.noise.block_root
    if bandit.noise.cov is None:
        kind, factors, block_root = pulls.DIAGONAL, np.broadcast_to(root, (D,)) / scale, np.eye(D) * block_root
    else:
        kind, factors = pulls.COVARIANCE, (np.broadcast_to(root, (K, D, D)) / scale[:, None]).ravel()
    if not bandit.noise.shared:
        return kind, 0, factors
    return kind, factors.size, np.concatenate((factors, (block_root / scale[:, None]).ravel()))


@contextmanager
def say_if_compiling() -> Iterator[None]:
    """Says once that kernels are being compiled, if they are."""
    from numba.core import event

    class Listener(event.Listener):
        said = False

        def on_start(self, _: Any) -> None:
            if not self.said:
                log.warning("compiling a simulation kernel, which takes up to half a minute; it is then kept on disk")
            self.said = True

        def on_end(self, _: Any) -> None:
            pass

    with event.install_listener("numba:compile", Listener()):
        yield
