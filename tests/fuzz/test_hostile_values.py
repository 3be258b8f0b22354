"""Whatever is passed to the package, what comes out is a result or an error of ours, and a study stays as it was."""

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import paretopick as pp
from support.hostile import VALUES, examples, refused_politely

pytestmark = pytest.mark.slow

MEANS = [[0.2, 0.8], [0.8, 0.2], [0.1, 0.1]]
BANDIT = pp.Bandit(MEANS, pp.Bernoulli())
SHARING = pp.Bandit(MEANS, pp.Gaussian(std=1.0, shared=0.5))
ROUNDS = pp.Schedule((3, 1), (4,))
SIZES: dict[str, Any] = {"n_arms": 3, "n_objectives": 2, "budget": 30}


CURVE = pp.simulate(BANDIT, "uniform", budgets=[6], runs=3, rng=0, engine="reference")


def _closing(plot: Callable[..., Any]) -> Callable[..., Any]:
    """Closes what was drawn."""

    def draw(*args: Any, **kwargs: Any) -> None:
        from matplotlib import pyplot as plt

        try:
            plot(*args, **kwargs)
        finally:
            plt.close("all")

    return draw


def told() -> pp.Policy:
    policy = pp.policy("apt", **SIZES)
    policy.tell([0, 1, 2], MEANS)
    return policy


class Own(pp.Policy):
    """A policy of somebody else, which returns whatever it was given."""

    def __init__(self, *, chosen: Any = None, answer: Any = None, **size: Any) -> None:
        super().__init__(**size)
        self.chosen, self.answer = chosen, answer

    def choose(self) -> Any:
        return range(self.n_arms) if self.round == 0 else self.chosen

    def recommend(self) -> Any:
        return self.answer


class OwnNoise(pp.Noise):
    parameters = ()

    def __init__(self, drawn: Any) -> None:
        self._drawn = drawn

    def sample(self, means: Any, arms: Any, rng: Any) -> Any:
        return self._drawn


def begun() -> pp.Policy:
    policy = pp.policy("doubt", **SIZES)
    policy.begin([3, 3, 3], MEANS, MEANS)
    return policy


def known_study() -> pp.Study:
    study = pp.Study.create("s", options=["a", "b"], metrics={"m": "max", "p": "min"}, budget=20, storage="sqlite://")
    study.tell(study.ask(1)[0].number, (1, 2))
    study.ask(2)
    return study


TABLE = [{"option": "ab"[n % 2], "m": n % 5, "plate": n % 3} for n in range(9)]

CALLS: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
    "Bandit": (
        pp.Bandit,
        {"means": MEANS, "noise": pp.Bernoulli(), "arm_names": ["a", "b", "c"], "objective_names": ["m", "p"], "budget": 9},
    ),
    "Bandit.resampled": (lambda tables: pp.Bandit.resampled(tables), {"tables": [MEANS, MEANS]}),
    "Bandit.sample": (BANDIT.sample, {"arms": [0, 1], "rng": 0}),
    "Bandit.sample_sums": (BANDIT.sample_sums, {"arms": [0, 1], "pulls": 3, "rng": 0}),
    "Bandit.run": (
        lambda rng, counts, arms: SHARING.run(rng, counts=counts).pull(arms),
        {"rng": 0, "counts": [0, 2, 1], "arms": [0, 1, 1]},
    ),
    "Bandit.sample of shared noise": (SHARING.sample, {"arms": [0, 1, 0], "rng": 0}),
    "Bandit.sample_sums of shared noise": (SHARING.sample_sums, {"arms": [0, 1, 0], "pulls": 3, "rng": 0}),
    "Gaussian": (pp.Gaussian, {"std": None, "cov": None, "shared": 0.0}),
    "Gaussian shared": (lambda std, shared: pp.Gaussian(std=std, shared=shared), {"std": 1.0, "shared": 0.5}),
    "Gaussian shared cov": (lambda cov, shared: pp.Gaussian(cov=cov, shared=shared), {"cov": [[1.0]], "shared": 0.5}),
    "Metric": (pp.Metric, {"name": "m", "goal": "min", "exact": False, "width": 1.0}),
    "Resampled": (pp.Resampled, {"tables": [MEANS]}),
    "Schedule": (pp.Schedule, {"active": (3, 1), "pulls": (4,)}),
    "beats": (lambda means, margins: pp.beats(means, margins=margins), {"means": MEANS, "margins": [0.1, None]}),
    "complexity": (lambda means, max_arms: pp.complexity(means, max_arms=max_arms), {"means": MEANS, "max_arms": 1}),
    "complexity_h2": (lambda means, max_arms: pp.complexity_h2(means, max_arms=max_arms), {"means": MEANS, "max_arms": 1}),
    "covers": (lambda means, margins: pp.covers(means, margins=margins), {"means": MEANS, "margins": 0.1}),
    "effective_budget": (lambda means, rounds: pp.effective_budget(means, rounds), {"means": MEANS, "rounds": ROUNDS}),
    "gaps": (lambda means: pp.gaps(means), {"means": MEANS}),
    "hypervolume": (lambda points, reference: pp.hypervolume(points, reference=reference), {"points": MEANS, "reference": 0.0}),
    "hypervolume_fraction": (
        lambda arms, means, reference: pp.hypervolume_fraction(arms, means, reference=reference),
        {"arms": [0], "means": MEANS, "reference": 0.0},
    ),
    "instance": (pp.instance, {"name": "cov-boost", "path": None}),
    "judge": (
        pp.judge,
        {
            "frame": TABLE, "metrics": {"m": "min"}, "option": "option", "exact": (), "pairing": "plate", "level": 0.9,
            "baseline": "a",
        },
    ),
    "judge columns": (
        lambda **columns: pp.judge(columns, {"m": "min"}),
        {"option": ["a", "b", "a"], "m": [1.0, 2.0, None], "plate": [1, 2, 1], "status": ["told", "", None], "at": [None] * 3},
    ),
    "misidentified": (lambda arms, optimal: pp.misidentified(arms, optimal), {"arms": [0], "optimal": [True, False]}),
    "outdoes": (lambda means, margins: pp.outdoes(means, margins=margins), {"means": MEANS, "margins": [0.1, 0.2]}),
    "pareto_mask": (lambda means: pp.pareto_mask(means), {"means": MEANS}),
    "plan": (
        lambda pilot, **options: pp.plan(pilot, **options),
        {"pilot": BANDIT, "policies": ["uniform"], "budgets": [6], "target": 0.5, "runs": 20, "max_budget": 60, "rng": 0,
         "margin": None, "progress": False},
    ),
    "Pilot.guess": (pp.Pilot.guess, {"bandit": BANDIT, "goals": None}),
    "Pilot.of_table": (
        pp.Pilot.of_table,
        {"table": TABLE, "metrics": {"m": "min"}, "exact": (), "option": "option", "pairing": None},
    ),
    "play": (
        lambda bandit, rng, scale, run: pp.play(bandit, told(), rng, scale=scale, run=run),
        {"bandit": BANDIT, "rng": 0, "scale": None, "run": 2},
    ),
    "plot_curves": (
        lambda curves, ax, labels, title: _closing(pp.plot_curves)(curves, ax, labels=labels, title=title),
        {"curves": [CURVE], "ax": None, "labels": ["a"], "title": "t"},
    ),
    "ParetoResult.plot": (
        lambda kind, ax, x, y, title: _closing(known_study().result().plot)(kind, ax, x=x, y=y, title=title),
        {"kind": "front", "ax": None, "x": "m", "y": "p", "title": "t"},
    ),
    "Study.plot": (lambda kind, x: _closing(known_study().plot)(kind, x=x), {"kind": "ranking", "x": "m"}),
    "policy": (pp.policy, {"name": "ege-sr", **SIZES, "spend": "all"}),
    "policy gg": (pp.policy, {"name": "ege-gg", **SIZES, "n_rounds": 2}),
    "policy apt": (pp.policy, {"name": "apt", **SIZES, "batch": 2, "gamma": 0.1, "initial": 1}),
    "policy doubt": (pp.policy, {"name": "doubt", **SIZES, "batch": 2, "initial": 1}),
    "policy ape-fb": (pp.policy, {"name": "ape-fb", **SIZES, "c": 1.0, "complexity": 5.0}),
    "policy ege": (pp.policy, {"name": "ege", **SIZES, "schedule": ROUNDS}),
    "policy ege-sr-k": (pp.policy, {"name": "ege-sr-k", **SIZES, "max_arms": 1}),
    "Policy.tell": (lambda arms, values: told().tell(arms, values), {"arms": [0], "values": [MEANS[0]]}),
    "Policy.ask": (lambda limit: told().ask(limit), {"limit": 2}),
    "Policy.take_back": (
        lambda arm, values, due, sums: told().take_back(arm, values, due=due, sums=sums),
        {"arm": 0, "values": MEANS[0], "due": False, "sums": None},
    ),
    "Policy.take_back of squares": (
        lambda values, squares: begun().take_back(0, values, due=False, squares=squares),
        {"values": MEANS[0], "squares": [0.5, 0.5]},
    ),
    "Policy.begin": (
        lambda counts, sums, squares: pp.policy("doubt", **SIZES).begin(counts, sums, squares),
        {"counts": [3] * len(MEANS), "sums": MEANS, "squares": MEANS},
    ),
    "Policy.retire": (lambda arm: told().retire(arm), {"arm": 0}),
    "Policy.rescale": (lambda widths: told().rescale(widths), {"widths": [1.0, 2.0]}),
    "Policy.extend": (lambda budget: told().extend(budget), {"budget": 40}),
    "read_instance": (pp.read_instance, {"path": "none.csv", "noise": pp.Bernoulli(), "minimise": (), "budget": 3}),
    "relaxed_gaps": (lambda means, max_arms: pp.relaxed_gaps(means, max_arms=max_arms), {"means": MEANS, "max_arms": 1}),
    "relaxed_loss": (
        lambda arms, optimal, max_arms: pp.relaxed_loss(arms, optimal, max_arms=max_arms),
        {"arms": [0], "optimal": [True, False], "max_arms": 1},
    ),
    "restore_policy": (lambda state: pp.restore_policy(state), {"state": told().to_dict()}),
    "right_within_margins": (
        lambda means, answer, margins, limits: pp.right_within_margins(means, answer, margins=margins, limits=limits),
        {"means": MEANS, "answer": [0], "margins": [0.1, 0.2], "limits": [None, 0.2]},
    ),
    "schedule": (pp.schedule, {"name": "gg", "n_arms": 3, "budget": 30, "spend": "all", "n_rounds": 2}),
    "simulate": (
        lambda bandit, policy, **options: pp.simulate(bandit, policy, engine="reference", **options),
        {
            "bandit": BANDIT, "policy": "uniform", "budgets": [6], "runs": 3, "max_runs": None, "rng": 0, "workers": 1,
            "start": 0, "scale": None, "truths": None, "hypervolume": True, "executor": None, "margins": [0.1, None],
            "limits": [None, 0.2], "ladder": [[0.2, None]], "progress": False,
        },
    ),
    "simulate a policy of one's own": (
        lambda chosen, answer: pp.simulate(
            BANDIT, lambda **size: Own(chosen=chosen, answer=answer, **size), budgets=[6], runs=1, rng=0
        ),
        {"chosen": [0], "answer": [0]},
    ),
    "simulate with options of one's own": (
        lambda policy, options: pp.simulate(BANDIT, (policy, options), budgets=[3], runs=1, rng=0),
        {"policy": Own, "options": {"chosen": [0, 1], "answer": [0]}},
    ),
    "Noise": (
        lambda drawn: pp.simulate(pp.Bandit(MEANS, OwnNoise(drawn)), "uniform", budgets=[3], runs=1, rng=0),
        {"drawn": np.array(MEANS)},
    ),
    "simulate from data": (
        lambda known: pp.simulate(BANDIT, "apt", budgets=[12], runs=2, rng=0, engine="reference", known=known),
        {"known": ([3] * len(MEANS), MEANS)},
    ),
    "smallest_budget": (pp.smallest_budget, {"name": "gg", "n_arms": 3, "spend": "all", "n_rounds": 2}),
    "wrongly_accepted": (lambda arms, optimal: pp.wrongly_accepted(arms, optimal), {"arms": [0], "optimal": [True, False]}),
    "wrongly_rejected": (lambda arms, optimal: pp.wrongly_rejected(arms, optimal), {"arms": [0], "optimal": [True, False]}),
    "identify": (
        lambda **options: pp.identify(lambda option: (1.0, 2.0), **options),
        {
            "options": ["a", "b"], "metrics": {"m": "max", "p": "min"}, "budget": 8, "workers": 1, "retries": 0,
            "name": "s", "policy": "uniform", "scale": "noise", "exact": (), "pairing": None, "if_exists": "replace",
            "timeout": None, "progress": None,
        },
    ),
    "identify what was measured": (
        lambda values: pp.identify(lambda option: values, ["a", "b"], {"m": "max", "p": "min"}, 4, retries=0, policy="uniform"),
        {"values": (1, 2)},
    ),
    "Study.create": (
        lambda name, **options: pp.Study.create(name, storage="sqlite://", **options),
        {
            "name": "s", "options": ["a", "b"], "metrics": {"m": "max"}, "budget": 20, "policy": "ege-sr",
            "scale": "noise", "exact": (), "pairing": None, "if_exists": "error",
        },
    ),
    "Study.open": (lambda name: pp.Study.open(name, storage="sqlite://"), {"name": "s"}),
    "Study.delete": (lambda name: pp.Study.delete(name, storage="sqlite://"), {"name": "s"}),
}  # fmt: skip
"""Every public function with arguments that are right."""

NOT_CALLED = {
    *(
        "Bernoulli",
        "Certainty",
        "Continuation",
        "ErrorCurve",
        "Measurement",
        "OptionResult",
        "OptionVerdict",
        "ParetoResult",
        "Plan",
        "Policy",
    ),
    *("Rehearsal", "Snapshot", "Pilot", "run_study", "Study"),
}
"""Records that the package makes, bases of classes, and what other cases call."""

WORK = ("identify", "plan", "simulate", "policy", "schedule", "smallest_budget", "bounds")
"""What works as much as it is told to, if that takes years."""


def is_much(value: Any) -> bool:
    """Whether so many runs or measurements would take too long for a test."""
    if isinstance(value, list | tuple):
        return any(map(is_much, value))
    return isinstance(value, int | float | np.number) and 200 < value <= 2**53


for _name in pp.bounds.__all__:
    _function = getattr(pp.bounds, _name)
    _right = {
        "means": MEANS,
        "budget": 60,
        "schedule": ROUNDS,
        "sigma": 0.5,
        "max_arms": 1,
        "n_arms": 3,
        "n_rounds": 2,
        "gamma": 0.2,
    }
    _taken = inspect.signature(_function).parameters
    CALLS[f"bounds.{_name}"] = (
        lambda _function=_function, _taken=_taken, **given: _function(
            *(given[name] for name in given if _taken[name].kind is inspect.Parameter.POSITIONAL_ONLY),
            **{name: value for name, value in given.items() if _taken[name].kind is not inspect.Parameter.POSITIONAL_ONLY},
        ),
        {name: _right.get(name) for name in _taken},
    )

VERBS: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
    "ask": (pp.Study.ask, {"n": 1, "worker": "w", "lease": 5.0, "wait": 0.0}),
    "tell": (pp.Study.tell, {"number": 2, "values": (1, 2), "worker": "w"}),
    "tell_repeats": (pp.Study.tell_repeats, {"number": 2, "values": [(1, 2), {"m": 1, "p": 2, "plate": 3}], "worker": "w"}),
    "fail": (pp.Study.fail, {"number": 2, "why": "broke", "output": "x", "worker": "w"}),
    "tell several": (
        pp.Study.tell,
        {"number": [2, 3], "values": [(1, None), {"m": 1, "p": 2, "plate": 3}], "worker": "w"},
    ),
    "void": (pp.Study.void, {"number": 1, "why": "wrong"}),
    "void where": (pp.Study.void, {"where": {"option": "a"}, "why": "wrong"}),
    "find": (pp.Study.find, {"where": {"option": "a"}}),
    "look_up": (pp.Study.look_up, {"numbers": [1, 2]}),
    "far_off": (pp.Study.far_off, {"numbers": [1, 2]}),
    "correct": (pp.Study.correct, {"number": 1, "values": (3, None), "why": "wrong"}),
    "add_option": (pp.Study.add_option, {"option": "c", "settings": None}),
    "reinstate": (pp.Study.reinstate, {"option": "a", "why": "back"}),
    "retire": (pp.Study.retire, {"option": "a", "why": "gone"}),
    "renew": (lambda study, number, **more: study.renew(number, **more), {"number": 2, "worker": "main", "lease": 5.0}),
    "release": (lambda study, number, **more: study.release(number, **more), {"number": 2, "worker": "main"}),
    "extend": (pp.Study.extend, {"budget": 40, "confidence": 0.9, "resolution": None}),
    "choose_baseline": (pp.Study.choose_baseline, {"option": "a"}),
    "aim": (pp.Study.aim, {"confidence": 0.9, "resolution": None}),
    "add": (pp.Study.add, {"measurements": [("a", (1, 2)), ("b", {"m": 1, "p": 2, "repeat": 3})]}),
    "add a table": (pp.Study.add, {"measurements": [{"option": "a", "m": 1, "p": 2, "plate": 3}], "option": "option"}),
    "record": (
        pp.Study.record,
        {
            "told": {2: (1, 2)}, "failed": {3: "broke"}, "added": [("a", (3, 4))], "options": {2: "b"}, "again": False,
            "corrected": {1: (1, None)}, "why": "wrong",
        },
    ),
    "result": (pp.Study.result, {"rehearsals": 0, "baseline": "a"}),
}  # fmt: skip
"""What can be done with a study, with arguments that are right for that of ``known_study``."""


def test_every_public_function_is_tried():
    functions = {name for name in pp.__all__ if callable(getattr(pp, name)) and not _is_error(getattr(pp, name))}
    assert functions - {name.partition(" ")[0] for name in CALLS} == NOT_CALLED


def _is_error(value: Any) -> bool:
    return isinstance(value, type) and issubclass(value, BaseException)


@pytest.mark.parametrize("name", CALLS)
def test_what_is_right_is_taken(name):
    call, right = CALLS[name]
    try:
        call(**right)
    except pp.InvalidInput:
        assert name in (
            "Gaussian",
            "bounds.alternatives",
            "bounds.ege_sr_k_pulls",
            "bounds.lower_bound",
            "Study.open",
            "Study.delete",
        )
    except pp.MissingFile:
        assert name == "read_instance"


@pytest.mark.parametrize("name", CALLS)
@examples(15)
@given(data=st.data())
def test_whatever_a_function_is_given_only_errors_of_ours_come_out(name, data):
    call, right = CALLS[name]
    wrong = data.draw(st.dictionaries(st.sampled_from(list(right)), VALUES, min_size=1, max_size=2))
    if name.startswith(WORK):
        assume(not any(map(is_much, wrong.values())))
    with refused_politely():
        call(**right | wrong)


@pytest.mark.parametrize("verb", VERBS)
@examples(15)
@given(data=st.data())
def test_whatever_a_verb_is_given_only_errors_of_ours_come_out_and_then_nothing_has_changed(verb, data):
    call, right = VERBS[verb]
    study = known_study()
    before = study.events(), study.status()["out"]
    wrong = data.draw(st.dictionaries(st.sampled_from(list(right)), VALUES, min_size=1, max_size=2))
    refused = True
    with refused_politely():
        call(study, **right | wrong)
        refused = False
    if refused:
        assert study.events() == before[0]
        assert [row["number"] for row in study.status()["out"]] == [row["number"] for row in before[1]]
    assert study.used <= study.budget
