"""Policies and noise of one's own: what they need, what they may do, what they see, and what is said when they are wrong."""

import functools
import json
import logging
import multiprocessing
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import pytest

import paretopick as pp
from paretopick.policies import PolicyChoice, check_policy

BANDIT = pp.Bandit([[0.9, 0.2], [0.3, 0.8], [0.4, 0.3], [0.1, 0.1]], pp.Gaussian(std=0.5), name="four", budget=40)
SIZE = {"n_arms": 4, "n_objectives": 2, "budget": 10}


class Fewest(pp.Policy):
    """Uniform allocation, pull by pull, in so many at a time."""

    def __init__(self, *, at_once: int = 1, **size) -> None:
        super().__init__(**size)
        self.at_once = at_once

    def choose(self):
        return np.argsort(self.counts, kind="stable")[: min(self.at_once, self.pulls_left)]


class Dice(pp.Policy):
    def __init__(self, *, n_arms, n_objectives, budget, rng) -> None:
        super().__init__(n_arms=n_arms, n_objectives=n_objectives, budget=budget)
        self.rng = rng

    def choose(self):
        return np.arange(self.n_arms) if self.round == 0 else [self.rng.integers(self.n_arms)]


class Halving(pp.Policy):
    """Of every arm two pulls, then of those that are left; takes out the one with the smallest sum of means."""

    def choose(self):
        if self.round > 0:
            worst = self.active[self.means[self.active].sum(axis=1).argmin()]
            (self.reject if self.round % 2 else self.accept)(worst)
        return np.repeat(self.active, 2) if len(self.active) > 1 else []


def returning(chosen=None, answer=None):
    """A policy that returns these at any time, after every arm was pulled once."""

    class Odd(pp.Policy):
        def choose(self):
            return range(self.n_arms) if self.round == 0 else chosen

        def recommend(self):
            return super().recommend() if answer is None else answer

    return Odd


def test_a_policy_needs_choose_and_nothing_else():
    curve = pp.simulate(BANDIT, Fewest, budgets=[12, 40], runs=60, rng=3)
    assert (curve.policy, curve.options, curve.engine, curve.draws) == ("Fewest", {}, "reference", "pulls")
    uniform = pp.simulate(BANDIT, "uniform", budgets=[12, 40], runs=60, rng=3, engine="reference")
    assert (curve.errors == uniform.errors).all()  # the same pulls of the same arms, in another order
    assert (curve.pulls == [12, 40]).all()
    assert 0 < curve.errors[1] < curve.errors[0]


def test_pulls_are_the_same_however_many_are_asked_for_at_once():
    one, several = pp.simulate(BANDIT, [Fewest, (Fewest, {"at_once": 3})], budgets=[16, 40], runs=50, rng=8)
    assert (one.errors == several.errors).all()
    assert (one.rounds == [16, 40]).all()
    assert several.rounds[0] == 6  # the last one has a single pull
    assert several.options == {"at_once": 3}


def test_policies_that_choose_pull_by_pull_see_what_compiled_ones_see():
    """apt written anew with public names alone, against the kernel of apt."""

    class MyAPT(pp.Policy):
        def choose(self):
            if self.round == 0:
                return np.repeat(np.arange(self.n_arms), 3)
            fewest = int(self.counts.argmin())
            if self.counts[fewest] < 0.2 * self.counts.sum() / self.n_arms:
                return [fewest]
            return [np.lexsort((self.counts, np.sqrt(self.counts) * pp.gaps(self.means)))[0]]

    mine, theirs = pp.simulate(BANDIT, [MyAPT, "apt"], budgets=[20, 60], runs=40, rng=5)
    assert (mine.engine, theirs.engine, mine.draws, theirs.draws) == ("reference", "compiled", "pulls", "pulls")
    assert (mine.tallies == theirs.tallies).all()


@pytest.mark.parametrize(
    "noise",
    [
        pp.Gaussian(std=[0.5, 0.2]),
        pp.Gaussian(cov=[[0.3, 0.1], [0.1, 0.2]]),
        pp.Gaussian(cov=np.eye(2) * np.arange(1, 5)[:, None, None] / 9, shared=0.5),
        pp.Bernoulli(),
    ],
)
def test_the_reference_engine_makes_the_runs_of_the_kernels(noise):
    bandit = pp.Bandit(BANDIT.means, noise)
    for policy, scale in (("apt", None), (("apt", {"batch": 3}), [0.5, 2.0]), ("ape-fb-adapt", None)):
        slow, fast = (
            pp.simulate(bandit, policy, budgets=[20, 45], runs=16, rng=2, scale=scale, engine=engine)
            for engine in ("reference", "compiled")
        )
        assert (slow.tallies == fast.tallies).all(), (policy, scale)


def test_a_list_that_mixes_engines_says_which_see_other_random_numbers(caplog):
    with caplog.at_level(logging.WARNING, logger="paretopick"):
        curves = pp.simulate(BANDIT, [Fewest, "ege-sr", "apt"], runs=4, rng=0)
    assert [curve.draws for curve in curves] == ["pulls", "rounds", "pulls"]
    assert any(
        said.startswith("ege-sr: pulls of a round are drawn as one sum, and for Fewest, apt pull by pull")
        for said in caplog.messages
    )
    caplog.clear()
    curves = pp.simulate(BANDIT, [Fewest, "ege-sr"], runs=4, rng=0, engine="reference")
    assert [curve.draws for curve in curves] == ["pulls", "pulls"]
    pp.simulate(BANDIT, ["ege-sr", "apt"], runs=4, rng=0)  # which nobody can make the same in this engine
    assert caplog.messages == []


def test_draws_are_kept_and_curves_of_the_first_release_have_none():
    curve = pp.simulate(BANDIT, Fewest, runs=4, rng=0)
    saved = json.loads(json.dumps(curve.to_dict()))
    assert pp.ErrorCurve.from_dict(saved) == curve
    assert pp.ErrorCurve.from_dict(saved).draws == "pulls"
    del saved["draws"]
    old = pp.ErrorCurve.from_dict(saved)
    assert old.draws == ""
    assert (old + pp.simulate(BANDIT, Fewest, runs=4, rng=1)).draws == ""


def test_a_run_of_a_simulation_can_be_played_alone():
    wrong = 0
    for run in range(10, 30):
        player = Fewest(n_arms=4, n_objectives=2, budget=40)
        pp.play(BANDIT, player, rng=6, run=run)
        wrong += player.recommend().tolist() != np.flatnonzero(BANDIT.optimal).tolist()
    assert pp.simulate(BANDIT, Fewest, runs=20, start=10, rng=6).errors.tolist() == [wrong]
    assert 0 < wrong < 20


def test_dice_are_thrown_anew_in_every_run_and_the_same_in_the_same():
    curve = pp.simulate(BANDIT, Dice, runs=40, rng=1, by_arm=True)
    assert (curve.tallies == pp.simulate(BANDIT, Dice, runs=40, rng=1, by_arm=True).tallies).all()
    assert np.abs(curve.pulls_by_arm[0] - 10).max() < 3  # one and the same sequence would repeat itself
    assert curve.pulls_by_arm.tolist() != pp.simulate(BANDIT, Dice, runs=40, rng=2, by_arm=True).pulls_by_arm.tolist()


def test_arms_that_leave_are_in_the_answer_or_not():
    player = Halving(**{**SIZE, "budget": None})
    while not player.done:
        arms = player.ask()
        player.tell(arms, [[4.0 - arm, 0.0] for arm in arms])
    now = player.snapshot()
    assert (now.rejected, now.accepted, now.active, now.round) == ((1, 3), (2,), (0,), 3)
    assert now.left_in.tolist() == [0, 3, 2, 1]
    assert player.recommend().tolist() == [0, 2]


def test_functions_make_policies_too():
    def weighted(*, n_arms, n_objectives, budget):
        return Fewest(n_arms=n_arms, n_objectives=n_objectives, budget=budget, at_once=2)

    curves = pp.simulate(
        BANDIT, [weighted, functools.partial(Fewest, at_once=2), lambda **size: Fewest(at_once=2, **size)], runs=9, rng=1
    )
    assert [curve.policy for curve in curves] == ["weighted", "Fewest", "own policy"]
    assert len({tuple(curve.errors) for curve in curves}) == 1


def test_a_name_is_that_of_the_class_unless_it_says_another():
    class Named(Fewest):
        name = "my rule"

    assert pp.simulate(BANDIT, (Named, {"at_once": 2}), runs=2, rng=1).policy == "my rule"


def test_a_class_that_was_defined_anew_is_the_new_one():
    """As in a notebook, where a cell is run again: the runners that are kept must not be those of the class before."""
    for wanted in ([0], [1]):

        class Redefined(pp.Policy):
            answer = wanted

            def choose(self):
                return range(self.n_arms) if self.round == 0 else []

            def recommend(self):
                return self.answer

        curve = pp.simulate(BANDIT, Redefined, runs=3, rng=0, by_arm=True)
        assert curve.wrong_by_arm[0].tolist() == ([0, 3, 3, 0] if wanted == [0] else [3, 0, 3, 0])


ARMS = "arms are numbered 0 to 3"


@pytest.mark.parametrize(
    "policy, message",
    [
        (returning([7]), rf"what Odd.choose\(\) returned has arm 7 .*{ARMS}"),
        (returning([-1]), rf"what Odd.choose\(\) returned has arm -1 .*{ARMS}"),
        (returning([0.5]), r"what Odd.choose\(\) returned=\[0.5\] .*is not a list of whole arm numbers"),
        (returning(None), r"Odd.choose\(\) returned None; return the arms to pull next"),
        (
            returning([0] * 37),
            r"Odd.choose\(\) returned 37 pulls .*and 36 are left of its budget of 40; return no more than self",
        ),
        (returning([], [4]), rf"what Odd.recommend\(\) returned has arm 4 .*{ARMS}"),
        (returning([], BANDIT.optimal), r"Odd.recommend\(\) returned a mask; return the numbers of arms"),
        (pp.Policy, r"Policy does not say what to pull: give it a method choose"),
        (lambda **size: "apt", "returned 'apt'; expected a policy, an object of a subclass of pp.Policy"),
        (lambda: None, r"own policy\(n_arms=4, n_objectives=2, budget=40\) failed: got an unexpected keyword argument 'n_arms'"),
        (lambda **size: Fewest(**{**size, "n_arms": 3}), "made a policy for 3 arms and 2 objectives, and four has 4 and 2"),
        (lambda **size: Fewest(**{**size, "budget": 50}), "was given budget=40 and plans for 50 pulls; hand on budget="),
        (lambda **size: Fewest(**{**size, "budget": None}), "was given budget=40 and plans without end"),
        ((Fewest, {"at_twice": 2}), r"failed: .*unexpected keyword argument 'at_twice'"),
        ((Dice, {"dice": 2}), "no option of Dice named 'dice'"),
        ((Fewest, {"at_once": object()}), r"option at_once=<object .*> of Fewest is neither a number nor a text"),
        ((Fewest, {"budget": 3}), "no option of Fewest named 'budget'"),
        (dict, "is no policy; a class of your own is a subclass of pp.Policy"),
    ],
)
def test_what_is_wrong_with_a_policy_is_said_with_its_name(policy, message):
    with pytest.raises((ValueError, NotImplementedError), match=message):
        pp.simulate(BANDIT, policy, runs=2, rng=0)


def test_a_base_that_was_not_made_ready_is_said_so():
    class Forgetful(pp.Policy):
        def __init__(self, **size) -> None:
            pass

    with pytest.raises(ValueError, match=r"Forgetful.__init__ does not make the base ready: write super\(\).__init__"):
        pp.simulate(BANDIT, Forgetful, runs=2, rng=0)


def test_a_policy_may_not_be_called_as_one_of_ours():
    with pytest.raises(ValueError, match=r"is called 'apt', as one of pp\.POLICIES is"):
        pp.simulate(BANDIT, type("apt", (Fewest,), {}), runs=2, rng=0)


def test_arms_that_left_or_are_due_cannot_leave_or_be_pulled():
    class Confused(pp.Policy):
        def choose(self):
            self.reject([0])
            return [0]

    with pytest.raises(ValueError, match=r"Confused.choose\(\) returned arm 0, which it has accepted or rejected"):
        Confused(**SIZE).ask()
    player = Halving(**SIZE)
    assert len(player.ask()) == 8
    with pytest.raises(ValueError, match=r"accept\(\) is for choose\(\), when all that was asked for has been told; 8 are due"):
        player.accept([0])


def test_what_a_policy_of_ones_own_cannot_do_is_refused():
    player = Fewest(**SIZE)
    with pytest.raises(ValueError, match=r"this Fewest was not made by pp.policy\(\)"):
        player.to_dict()
    with pytest.raises(ValueError, match=r"Fewest has no take_back\(\); these have: ege-sr"):
        player.take_back(0, [0.0, 0.0], due=False)
    for options in ({"scale": [1.0, 0.0]}, {"known": ([1] * 4, BANDIT.means)}, {"engine": "compiled"}):
        with pytest.raises(ValueError, match=r"knows no such|cannot start from known=|Fewest is a policy of your own"):
            pp.simulate(BANDIT, Fewest, runs=2, rng=0, **options)


@pytest.mark.parametrize("given", [Fewest, (Fewest, {"at_once": 2}), lambda **size: None])
def test_studies_and_plans_say_that_they_know_policies_by_name(given):
    with pytest.raises(ValueError, match=r"is of your own, which only pp.simulate\(\) and pp.play\(\) take"):
        check_policy(given)
    with pytest.raises(ValueError, match="is of your own"):
        pp.plan(BANDIT, policies=[given], budgets=[10], runs=40, target=0.5)


def test_a_policy_that_was_made_already_is_refused_with_its_class():
    with pytest.raises(ValueError, match="is one policy, and every run needs a new one; give its class, Fewest"):
        pp.simulate(BANDIT, Fewest(**SIZE), runs=2, rng=0)


@pytest.mark.parametrize("given", [(Fewest, {}, 1), (Fewest, [2])])
def test_a_class_with_something_else_than_options_says_how_options_are_written(given):
    with pytest.raises(ValueError, match=r"is not a policy with its options; write \(MyPolicy, {'option': 1}\)"):
        pp.simulate(BANDIT, given, runs=2, rng=0)


def test_a_policy_that_ends_without_having_pulled_all_arms_is_named():
    class First(pp.Policy):
        def choose(self):
            return [0]

    with pytest.raises(pp.errors.NotReady, match=r"First ended after 12 pulls: arms 1, 2, 3 have no pulls yet"):
        pp.simulate(BANDIT, [Fewest, First], budgets=12, runs=2, rng=0)


def test_several_bandits_are_refused_with_what_to_do():
    with pytest.raises(ValueError, match=r"is not a Bandit; write .*, one in each call"):
        pp.simulate([BANDIT, BANDIT], Fewest, runs=2, rng=0)


def test_a_warning_of_different_random_numbers_tells_options_apart(caplog):
    pp.simulate(BANDIT, [Fewest, (Fewest, {"at_once": 2}), "uniform"], budgets=12, runs=2, rng=0)
    assert "for Fewest, Fewest (at_once=2) pull by pull" in caplog.text


def test_a_run_with_dice_can_be_played_again_alone():
    class Dice(pp.Policy):
        def __init__(self, *, rng, **size):
            super().__init__(**size)
            self.rng = rng

        def choose(self):
            return np.arange(self.n_arms) if self.round == 0 else [self.rng.integers(self.n_arms)]

    player = Dice(n_arms=4, n_objectives=2, budget=12, rng=np.random.default_rng(np.random.SeedSequence(1, spawn_key=(7, 1))))
    pp.play(BANDIT, player, rng=1, run=7)
    simulated = pp.simulate(BANDIT, Dice, budgets=12, runs=1, start=7, rng=1, by_arm=True)
    assert player.counts.tolist() == simulated.pulls_by_arm[0].tolist()


def test_a_policy_with_margins_of_its_own_is_told_them():
    class Careful(Fewest):
        knows_margins = True

        def require(self, required):
            self.margins = required.margins.tolist()

        def recommend(self):
            return [0] if self.margins == [0.1, 0.1] else []

    assert PolicyChoice("Careful", {}, Careful).knows_margins
    assert pp.simulate(BANDIT, Careful, runs=2, rng=0, margins=0.1, by_arm=True).wrong_by_arm[0].tolist() == [0, 2, 0, 0]


# Processes.


@pytest.mark.slow
def test_a_policy_of_a_module_runs_in_processes():
    alone = pp.simulate(BANDIT, Fewest, runs=30, rng=1)
    assert (pp.simulate(BANDIT, Fewest, runs=30, rng=1, workers=2).tallies == alone.tallies).all()
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        assert (pp.simulate(BANDIT, (Fewest, {"at_once": 1}), runs=30, rng=1, executor=pool).tallies == alone.tallies).all()


def test_what_cannot_be_sent_to_processes_is_refused_and_runs_in_threads():
    def nameless(**size):
        return Fewest(**size)

    with pytest.raises(ValueError, match=r"nameless cannot be sent to other processes .*; define it at the top of a module"):
        pp.simulate(BANDIT, nameless, runs=8, rng=1, workers=2)
    with ThreadPoolExecutor(1) as threads:
        curve = pp.simulate(BANDIT, nameless, runs=8, rng=1, executor=threads)
    assert (curve.tallies == pp.simulate(BANDIT, Fewest, runs=8, rng=1).tallies).all()


# Noise.


@dataclass(frozen=True)
class Laplace(pp.Noise):
    width: float = 1.0

    def sample(self, means, arms, rng):
        return means[arms] + rng.laplace(scale=self.width, size=(len(arms), means.shape[1]))


class Drifting(pp.Noise):
    """Pulls of a run that are all off by the same amount, which comes to light in the mean of many runs alone."""

    def sample(self, means, arms, rng):
        return self.begin_run(means, np.zeros(len(means)), rng)(arms)

    def begin_run(self, means, counts, rng):
        off = rng.normal(size=means.shape[1])
        return lambda arms: means[arms] + off


def test_noise_needs_sample_and_nothing_else():
    bandit = pp.Bandit(BANDIT.means, Laplace(0.4), budget=40)
    curves = pp.simulate(bandit, [Fewest, "uniform", "ege-sr"], runs=40, rng=2)
    assert {(curve.engine, curve.draws) for curve in curves} == {("reference", "order")}
    assert bandit.noise.sigma == np.inf
    drawn = bandit.sample(np.zeros(4000, dtype=int), rng=1)
    assert np.abs(drawn.mean(axis=0) - BANDIT.means[0]).max() < 0.05
    sums = bandit.sample_sums([0, 1], [70_000, 0], rng=1)
    assert np.abs(sums[0] / 70_000 - BANDIT.means[0]).max() < 0.02
    assert sums[1].tolist() == [0.0, 0.0]


def test_noise_of_other_numbers_is_another_bandit():
    one, same, other = (pp.Bandit(BANDIT.means, Laplace(width)) for width in (0.4, 0.4, 0.5))
    assert one.digest == same.digest != other.digest
    with pytest.raises(ValueError, match="curves of digest"):
        pp.simulate(one, "uniform", budgets=8, runs=2, rng=1) + pp.simulate(other, "uniform", budgets=8, runs=2, rng=2)


def test_noise_may_remember_what_it_drew_in_a_run():
    run = pp.Bandit(BANDIT.means, Drifting()).run(rng=0)
    assert np.allclose(run.pull([0]) - run.pull([1, 1])[1:], BANDIT.means[0] - BANDIT.means[1])
    assert pp.simulate(pp.Bandit(BANDIT.means, Drifting()), "uniform", budgets=4, runs=20, rng=0).errors.tolist() == [0]


class Odd(pp.Noise):
    def __init__(self, drawn) -> None:
        self._drawn = drawn

    parameters = ()

    def sample(self, means, arms, rng):
        return self._drawn


@pytest.mark.parametrize("drawn", [[1.0, 2.0], [[1.0, np.nan]], None, [["a", "b"]] * 4, [[1.0]]])
def test_what_is_wrong_with_noise_is_said_with_its_name(drawn):
    with pytest.raises(ValueError, match=r"Odd drew .* for 4 pulls; expected finite numbers of shape \(4, 2\)"):
        pp.simulate(pp.Bandit(BANDIT.means, Odd(drawn)), "uniform", budgets=4, runs=1, rng=0)


def test_noise_that_is_not_made_of_numbers_says_so_itself():
    with pytest.raises(ValueError, match=r"Laplace has width='wide', which is no number or array; give it a property parameters"):
        pp.Bandit(BANDIT.means, Laplace("wide"))
    with pytest.raises(TypeError, match="abstract"):
        type("Silent", (pp.Noise,), {})()
    with pytest.raises(ValueError, match=r"is no noise; write Laplace\(...\)"):
        pp.Bandit(BANDIT.means, Laplace)
