import json

import numpy as np
import pytest

import paretopick as pp
from paretopick.policies import PolicyChoice, check_policy, policies_with
from paretopick.policies.base import Policy
from support.policy_cases import CASES, make

BANDIT = pp.Bandit([[1.0, 2.0], [2.0, 1.0]], pp.Gaussian(std=1.0))
BATCH = PolicyChoice("apt", {"batch": 8})


@pytest.mark.parametrize(
    "given",
    [
        ("apt", {"batch": np.int64(8)}),
        ["apt", {"batch": 8}],
        {"name": "apt", "batch": 8},
        "apt:batch=8",
        " apt : batch = 8",
        BATCH,
    ],
)
def test_every_form_of_a_choice_means_the_same(given):
    assert check_policy(given) == BATCH


def test_a_name_alone_is_a_choice():
    assert check_policy("ege-sr") == check_policy(("ege-sr", {})) == check_policy({"name": "ege-sr"}) == PolicyChoice("ege-sr")


@pytest.mark.parametrize("case", CASES)
def test_a_choice_survives_its_texts(case):
    made = make(case, 4, 2, 200)
    choice = PolicyChoice(made.name, made.options)
    assert check_policy(choice.text) == choice
    assert check_policy(json.loads(json.dumps(choice.to_dict()))) == choice


@pytest.mark.parametrize(
    "given, message",
    [
        (5, "policy=5 is neither a name nor a name with options"),
        (None, "policy=None is neither"),
        (("apt", "batch"), r"policy=\('apt', 'batch'\) is neither"),
        (("apt",), "is neither a name nor"),
        ({"batch": 8}, "policy={'batch': 8} has no 'name'"),
        ((5, {}), "no policy named 5"),
        ("ege-rs", "no policy named 'ege-rs'; did you mean 'ege-"),
        ("apt:batch", "'batch' in policy='apt:batch' is not OPTION=VALUE"),
        ("apt,ege-sr", "policy='apt,ege-sr' names several"),
        (("apt", {"batches": 8}), "no option of apt named 'batches'; did you mean 'batch'"),
        ("ege-sr-k", "ege-sr-k needs max_arms="),
    ],
)
def test_what_is_no_choice_is_refused_everywhere(given, message):
    with pytest.raises(pp.InvalidInput, match=message):
        check_policy(given)
    with pytest.raises(pp.InvalidInput, match=message):
        pp.simulate(BANDIT, given, budgets=100, runs=1)
    with pytest.raises(pp.InvalidInput, match=message):
        pp.plan(BANDIT, policies=[given])
    with pytest.raises(pp.InvalidInput, match=message):
        pp.Study.create("s", options=["a", "b"], metrics={"m": "max"}, budget=100, policy=given, storage="sqlite://")


@pytest.mark.parametrize("case", CASES)
def test_traits_are_read_from_the_choice_as_from_the_policy(case):
    made = make(case, 4, 2, 200)
    choice = PolicyChoice(made.name, made.options)
    assert type(made) in choice.kinds
    assert all(issubclass(kind, Policy) and kind is not Policy for kind in choice.kinds)
    for trait in ("amendable", "extendable", "growable", "stepwise"):
        assert getattr(choice, trait) == getattr(made, trait)
    assert choice.max_arms == made.max_arms


@pytest.mark.parametrize("case", CASES)
def test_what_a_policy_says_it_can_do_it_can(case):
    made = make(case, 4, 2, 200)
    made.tell(*(lambda arms: (arms, np.zeros((len(arms), 2))))(made.ask()))
    for is_able, act in (
        (made.extendable, lambda: made.extend(300)),
        (made.amendable, lambda: made.rescale([1.0, 0.0])),
        (made.growable, made.add_arm),
    ):
        if is_able:
            act()
        else:
            with pytest.raises(pp.InvalidInput, match=r"apt"):
                act()
    if made.extendable:
        assert made.budget == 300


def test_policies_are_listed_by_what_they_can_do():
    extendable, amendable, growable, stepwise = map(policies_with, ("extendable", "amendable", "growable", "stepwise"))
    known = ("ege-sr", "uniform", "ege-sr-k", "ege", "ape-fb", "ape-fb-adapt", "apt", "doubt")
    assert [name for name in known if name in extendable] == ["apt", "doubt"]
    assert [name for name in known if name in growable] == ["apt", "doubt"]
    assert [name for name in known if name not in amendable] == ["ape-fb", "ape-fb-adapt"]
    assert [name for name in known if name in stepwise] == ["ape-fb", "ape-fb-adapt", "apt", "doubt"]


def test_an_oracle_needs_the_complexity_unless_it_is_told_how_much_to_explore():
    assert PolicyChoice("ape-fb").needs_complexity
    assert not PolicyChoice("ape-fb", {"exploration": 2.0}).needs_complexity
    assert not any(PolicyChoice(name, options).needs_complexity for name, options in (("apt", {}), ("ape-fb-adapt", {})))


def test_a_default_fills_in_options_that_a_policy_has():
    assert PolicyChoice("ege-sr").with_default(spend="all").options == {"spend": "all"}
    assert PolicyChoice("ege-sr", {"spend": "printed"}).with_default(spend="all").options == {"spend": "printed"}
    assert PolicyChoice("apt").with_default(spend="all").options == {}


def test_a_choice_in_words():
    assert PolicyChoice("ege-sr", {"spend": "all"}).label == "ege-sr"
    assert PolicyChoice("ege-sr-k", {"max_arms": 2, "spend": "all"}).label == "ege-sr-k (max_arms=2)"
    assert BATCH.text == "apt:batch=8"


def test_a_policy_without_a_declared_class_has_the_traits_of_all(monkeypatch):
    monkeypatch.setitem(pp.POLICIES, "odd", lambda *, n_arms, n_objectives, budget: None)
    assert PolicyChoice("odd").kinds == (Policy,)

    class Odd(Policy):
        amendable = False

        def __init__(self, *, n_arms, n_objectives, budget):
            super().__init__(n_arms=n_arms, n_objectives=n_objectives, budget=budget, planned=budget)

    monkeypatch.setitem(pp.POLICIES, "odd", Odd)
    assert not PolicyChoice("odd").amendable
