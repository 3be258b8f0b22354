"""The reference engine: every run goes through ask and tell, pull by pull; slow, and obviously right."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from paretopick._arrays import FloatArray, IntArray, check_arms, check_integer
from paretopick._words import counted, short
from paretopick.bandits import Bandit, Seed, check_bandit
from paretopick.errors import InvalidInput, NotReady
from paretopick.policies.base import Policy
from paretopick.simulation.common_draws import CommonPulls, by_counter, seed_of
from paretopick.simulation.results import Span
from paretopick.simulation.scores import Scorer, packed
from paretopick.simulation.tasks import Task, check_exact, check_scale, has_exact, n_tallies


def play(bandit: Bandit, player: Policy, rng: Seed, *, scale: ArrayLike | None = None, run: int | None = None) -> None:
    """Pulls whatever the policy asks for until it is done.

    Args:
        bandit: what is pulled.
        player: a policy, fresh or in the middle of a run.
        rng: an int, SeedSequence or Generator.
        scale: what each objective is divided by before the policy sees it; by default 1. 0 says that an objective is without
            noise: the policy is told the means of it, and by ``rescale`` what all objectives are to be divided by.
        run: plays the run of this number that ``simulate`` makes of the same seed in its reference engine; by default the arms
            are drawn from ``rng`` as they are asked for.

    >>> from paretopick import Bandit, Gaussian, policy
    >>> rejects = policy("ege-sr", n_arms=3, n_objectives=2, budget=60)
    >>> play(Bandit([[0.9, 0.1], [0.2, 0.8], [0.1, 0.0]], Gaussian(std=0.1)), rejects, rng=0)
    >>> rejects.recommend(), rejects.counts
    (array([0, 1]), array([22, 22, 15]))
    """
    if not isinstance(player, Policy):
        example = "pp.policy(NAME, n_arms=..., n_objectives=..., budget=...)"  # type: ignore[unreachable]  # of a careful caller
        raise InvalidInput(f"player={short(player)} is not a policy; write {example}.")
    check_bandit(bandit)
    if (player.n_arms, player.n_objectives) != bandit.means.shape:
        raise InvalidInput(
            f"the policy is for {player.n_arms} arms and {player.n_objectives} objectives, the bandit has {bandit.n_arms} and "
            f"{bandit.n_objectives}; make one for the other."
        )
    if player.pulls_left is None:
        raise InvalidInput(f"{player.name or type(player).__name__} has no budget and is never done; make it with budget=.")
    widths = check_scale(scale, bandit.n_objectives)
    if widths is not None and has_exact(widths):
        check_exact(player, widths)
    if run is None:
        _play(bandit.run(rng, counts=player.counts), bandit, player, widths)
    else:
        number = check_integer(run, "run", minimum=0, maximum=2**62)
        _play(_pulls(bandit, seed_of(rng), number, player), bandit, player, widths)


class _Pulls(Protocol):
    """Whatever draws the pulls of a run."""

    def pull(self, arms: IntArray) -> FloatArray: ...


def _pulls(bandit: Bandit, seed: tuple[int, ...], run: int, player: Policy) -> _Pulls:
    """What draws a run of a seed.

    Pull n of an arm is the same at every budget and for every policy, and the one that the kernels draw. Noise without a kernel
    draws from a generator of the run, in the order in which arms are asked for.
    """
    if by_counter(bandit.noise):
        return CommonPulls(bandit, seed, run, player.counts)
    entropy, *key = seed
    return bandit.run(np.random.SeedSequence(entropy, spawn_key=(*key, run)), counts=player.counts)


def _play(run: _Pulls, bandit: Bandit, player: Policy, widths: FloatArray | None) -> None:
    """A run; widths as ``scale`` of ``play``."""
    exact = None
    if widths is not None and has_exact(widths):
        player.rescale(widths)
        exact, widths = widths == 0, None
    while not player.done:
        arms = player.ask()
        if len(arms) == 0:
            raise InvalidInput(
                f"{type(player).__name__}.ask() returned no arm although it is not done; return [] in choose() to end."
            )
        values = run.pull(arms)
        if exact is not None:  # the root of a covariance may leave a rounding where there should be no noise
            values = np.where(exact, bandit.means[arms], values)
        with np.errstate(over="ignore"):  # the policy says so itself
            player.tell(arms, values if widths is None else values / widths)


class ReferenceRunner:
    """Runs of one policy on one bandit at several budgets, each through ask and tell."""

    def __init__(self, task: Task) -> None:
        self._task = task
        self._scorer = Scorer(task)

    def span(self, span: Span) -> IntArray:
        """Returns the totals of a span of runs, ``(n_budgets, len(TALLIES))`` or more: a function of the span alone.

        Policies that throw dice have a generator of the run for themselves, which is the same at every budget.
        """
        tallies = np.zeros((len(self._task.budgets), n_tallies(self._task)), dtype=np.int64)
        entropy, *key = span.seed
        for run in range(span.first, span.last):
            bandit = self._task.bandit_of(run)
            for row, budget in zip(tallies, self._task.budgets, strict=True):
                dice = np.random.SeedSequence(entropy, spawn_key=(*key, run, 1)) if self._task.choice.own else None
                player = self._task.player(budget, None if dice is None else np.random.default_rng(dice))
                _play(_pulls(bandit, span.seed, run, player), bandit, player, self._task.scale)
                row += self._score(player, run)
        return tallies

    def _score(self, player: Policy, run: int) -> IntArray:
        answer = np.zeros((1, player.n_arms), dtype=np.bool_)
        answer[0, _answer(player)] = True
        record = player.snapshot()
        words = packed(answer)
        plain = self._scorer.tally(words, np.array([record.pulls_used]), np.array([record.round]), first=run)
        if not self._task.by_arm:
            return plain
        return np.concatenate((plain, record.counts, self._scorer.wrong_by_arm(words, first=run)))


def _answer(player: Policy) -> IntArray:
    """The answer of a policy, if it is one."""
    kind = type(player).__name__
    try:
        given = player.recommend()
    except NotReady as problem:
        raise NotReady(f"{kind} ended after {counted(int(player.counts.sum()), 'pull')}: {problem}") from None
    if given is None or (isinstance(given, np.ndarray) and given.dtype == np.bool_):
        what = "None" if given is None else "a mask"
        raise InvalidInput(f"{kind}.recommend() returned {what}; return the numbers of arms, such as np.flatnonzero(mask).")
    return check_arms(given, f"what {kind}.recommend() returned", player.n_arms)
