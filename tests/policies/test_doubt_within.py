"""``doubt`` with margins, limits and costs."""

import json

import numpy as np
import pytest

import paretopick as pp
from paretopick.policies import pair_tables
from paretopick.policies import pairs_within as within_module
from paretopick.policies.doubt import likely_optimal
from paretopick.policies.pairs import Pairs
from paretopick.policies.pairs_within import PairsWithin
from paretopick.theory.requirements import Requirements, is_right, optimal_and_feasible
from support import literal_doubt
from support import literal_doubt_within as literal
from support.doubt_data import TIED, UNTIED, random_data, random_requirements
from support.inputs import tape

pytestmark = pytest.mark.slow


def by_the_letter(counts, means, squares, required: Requirements, chosen=None) -> literal.Step:
    margins = [margin if compared else None for margin, compared in zip(required.margins, required.compared, strict=True)]
    limits = [None if limit == -np.inf else limit for limit in required.limits]
    chosen = None if chosen is None else chosen.tolist()
    return literal.step(counts.tolist(), means.tolist(), squares.tolist(), literal.Required(margins, limits), chosen)


def only_limits(limits) -> Requirements:
    limits = np.array(limits, dtype=float)
    return Requirements(np.zeros(len(limits)), limits, np.ones(len(limits), dtype=bool))


def only_margins(margins) -> Requirements:
    margins = np.array(margins, dtype=float)
    return Requirements(margins, np.full(len(margins), -np.inf), np.ones(len(margins), dtype=bool))


def run(policy, means, rng, std=1.0):
    while not policy.done:
        arms = policy.ask()
        policy.tell(arms, means[arms] + std * rng.normal(size=(len(arms), means.shape[1])))
    return policy


# What it computes.


@pytest.mark.sample(3)
@pytest.mark.parametrize("kind", UNTIED + TIED)
def test_one_step_is_the_rule_to_the_letter(kind):
    rng = np.random.default_rng((UNTIED + TIED).index(kind))
    open_choices = nobody = 0
    for _ in range(250):
        data = random_data(rng, kind)
        required = random_requirements(rng, data[1], kind)
        pairs, expected = PairsWithin(*data, required), by_the_letter(*data, required)
        assert pairs.front.tolist() == expected.front
        assert (pairs.factor, pairs.cover_factor) == pytest.approx(expected.factors, rel=1e-15)
        open_choices += expected.close
        nobody += not expected.front
        if expected.tied:
            continue
        assert pairs.out.tolist() == expected.out
        assert pairs.doubt == pytest.approx(expected.doubt, rel=1e-5, abs=1e-12)
        assert np.flatnonzero(pairs.answer).tolist() == expected.answer
        assert pairs.scores() == pytest.approx(expected.scores, rel=1e-5, abs=1e-30)
        if not expected.close:
            assert pairs.choice() == expected.arm
    assert kind in TIED or open_choices <= 40  # mostly arms that nobody covers for sure, so that nobody is the likeliest to
    assert nobody > 5 or kind == "all equal"


@pytest.mark.parametrize("kind", ["gaussian", "bernoulli"])
@pytest.mark.parametrize("batch, initial", [(1, 2), (4, 3)])
def test_a_run_is_the_rule_to_the_letter_step_by_step(kind, batch, initial):
    rng = np.random.default_rng([batch, initial])
    decided = 0
    for _ in range(5):
        K, D = int(rng.integers(2, 8)), int(rng.integers(1, 5))
        truth = rng.random((K, D))
        data, required = tape(rng, truth, 200, kind), random_requirements(rng, truth, "normal")
        policy = pp.policy("doubt", n_arms=K, n_objectives=D, batch=batch, initial=initial)
        policy.require(required)
        told = np.zeros(K, dtype=int)
        for _ in range(40):
            arms = policy.ask()
            rows = []
            for arm in arms:
                rows.append(data[arm, told[arm]])
                told[arm] += 1
            policy.tell(arms, rows)
            means = np.array([data[arm, : told[arm]].mean(axis=0) for arm in range(K)])
            squares = np.array([((data[arm, : told[arm]] - means[arm]) ** 2).sum(axis=0) for arm in range(K)])
            answer = by_the_letter(told, means, squares, required)
            if not answer.tied:
                assert policy.recommend().tolist() == answer.answer
                assert policy.snapshot().doubt == pytest.approx(answer.doubt, rel=1e-5, abs=1e-12)
            chosen = told.copy()
            for _ in range(batch):
                arm = literal_doubt.in_turn(chosen.tolist())
                if arm is None:
                    step = by_the_letter(told, means, squares, required, chosen)
                    if step.close:
                        break
                    arm = step.arm
                chosen[arm] += 1
            else:
                assert policy.due.tolist() == (chosen - told).tolist()
                decided += 1
    assert decided >= (150 if kind == "gaussian" else 60)


@pytest.mark.sample(4)
@pytest.mark.parametrize("kind", UNTIED + TIED)
def test_without_margins_and_limits_it_is_the_plain_rule_to_the_last_bit(kind):
    rng = np.random.default_rng(90 + (UNTIED + TIED).index(kind))
    for _ in range(400):
        data = random_data(rng, kind)
        plain, general = Pairs(*data), PairsWithin(*data, Requirements.none(data[1].shape[1]))
        assert general.front.tolist() == plain.front.tolist()
        assert general.factor == general.cover_factor == plain.factor
        assert general.out.tolist() == plain.dominated.tolist()
        assert general.answer.tolist() == plain.answer.tolist()
        assert general.scores().tolist() == plain.scores().tolist()
        assert general.choice() == plain.choice()


def test_without_margins_and_limits_a_policy_uses_the_plain_rule():
    first, second, third = (pp.policy("doubt", n_arms=6, n_objectives=2, budget=90, **o) for o in ({}, {"margins": [0, 0]}, {}))
    third.require(only_margins([0.4, 0.4]))
    means = np.random.default_rng(0).normal(size=(6, 2))
    for policy in (first, second, third):
        run(policy, means, np.random.default_rng(1))
    assert type(first._pairs) is type(second._pairs) is Pairs
    assert first.counts.tolist() == second.counts.tolist() != third.counts.tolist()


@pytest.mark.parametrize("kind", ["normal", "some exact", "integers"])
def test_what_is_kept_while_arms_change_equals_all_computed_anew_to_the_last_bit(kind, monkeypatch):
    rng = np.random.default_rng(["normal", "some exact", "integers"].index(kind))
    for case in range(25):
        if case == 20:
            for module in (pair_tables, within_module):
                monkeypatch.setattr(module, "AT_ONCE", 7)
        counts, means, squares = random_data(rng, kind)
        required = random_requirements(rng, means, kind)
        kept = PairsWithin(counts, means, squares, required)
        for _ in range(20):
            others = random_data(np.random.default_rng(rng.integers(1 << 30)), kind)
            some = rng.choice(len(counts), int(rng.integers(1, len(counts) + 1)), replace=False)
            if rng.random() < 0.3:
                more = counts + rng.integers(0, 3, len(counts))
                kept.count(more)
                anew = PairsWithin(counts, means, squares, required)
                anew.count(more)
            else:
                for arm in some:
                    row = rng.integers(len(others[0]))
                    if others[1].shape[1] >= means.shape[1]:
                        counts[arm] = others[0][row]
                        means[arm], squares[arm] = others[1][row, : means.shape[1]], others[2][row, : means.shape[1]]
                kept.update(counts, means, squares)
                anew = PairsWithin(counts, means, squares, required)
            assert kept.scores().tolist() == anew.scores().tolist()
            assert kept.answer.tolist() == anew.answer.tolist()
            assert kept.doubt.tolist() == anew.doubt.tolist()


def test_many_arms_that_change_at_once():
    rng = np.random.default_rng(0)
    K, D = 130, 3
    data = [(rng.integers(1, 9, K), np.round(4 * rng.normal(size=(K, D))) / 4, rng.random((K, D))) for _ in range(2)]
    required = Requirements(np.array([0.25, 0.0, 0.5]), np.array([-np.inf, -0.5, -np.inf]), np.array([True, True, False]))
    pairs = PairsWithin(*data[0], required)
    pairs.update(*data[1])
    assert pairs.scores().tolist() == PairsWithin(*data[1], required).scores().tolist()


@pytest.mark.parametrize("seed", range(4))
def test_whatever_happens_the_next_pull_depends_on_the_data_alone(seed):
    """Arms that come and go, an objective that turns out to be without noise, other margins and limits in the middle."""
    rng = np.random.default_rng(seed)
    means = rng.normal(size=(30, 2))
    policy = pp.policy("doubt", n_arms=5, n_objectives=2)
    required = Requirements.none(2)
    for step in range(90):
        if step % 20 == 7:
            policy.add_arm()
        elif step % 20 == 12:
            policy.retire(int(rng.choice(policy.snapshot().active)))
        elif step % 30 == 20:
            required = random_requirements(rng, 2 * means, "normal")
            policy.require(required)
            policy.restate(policy.counts, policy._sums, policy._squares)
            assert policy.done
            assert policy.next_arms(1).tolist() == [next_arm(policy, required)]
            policy._end_round()
        elif step == 60 and seed >= 2:
            policy.rescale([1.0, 0.0])
        arms = policy.ask()
        policy.tell(arms, np.round(2 * (means[arms] + rng.normal(size=(len(arms), 2)))))
        if (policy.counts[list(policy.snapshot().active)] > 0).all() and policy.due.sum() == 1:
            assert policy.ask().tolist() == [next_arm(policy, required)]


def next_arm(policy, required: Requirements) -> int:
    active = np.array(policy.snapshot().active)
    data = policy.counts[active], policy.means[active], policy._squares[active]
    arm = literal_doubt.in_turn(data[0].tolist())
    anew = Pairs(*data) if required.is_plain else PairsWithin(*data, required)
    return int(active[anew.choice() if arm is None else arm])


# What that comes to.


def test_a_tie_within_the_margin_gets_fewer_pulls_than_without():
    angle = np.linspace(0.2, 1.3, 5)
    rng = np.random.default_rng(0)
    means = np.concatenate([3 * np.column_stack([np.cos(angle), np.sin(angle)]), 0.5 * rng.normal(size=(15, 2))])
    means[5] = means[2]
    share = {}
    for margin in (0.0, 1.0):
        policies = [pp.policy("doubt", n_arms=20, n_objectives=2, budget=500, margins=margin) for _ in range(4)]
        share[margin] = np.mean([run(policy, means, rng).counts[[2, 5]].sum() / 500 for policy in policies])
    assert share[0.0] > 0.6
    assert share[1.0] < 0.4


def test_arms_that_break_a_limit_for_sure_get_few_pulls():
    rng = np.random.default_rng(1)
    means = rng.normal(size=(12, 2))
    means[:6, 0] -= 8.0
    limits = [-4.0, None]
    policy = run(pp.policy("doubt", n_arms=12, n_objectives=2, budget=500, limits=limits), means, rng)
    assert policy.counts[:6].max() < 8
    assert policy.recommend().min() >= 6
    alone = run(pp.policy("doubt", n_arms=12, n_objectives=2, budget=500, limits=limits, margins=[None, 0]), means, rng)
    assert alone.counts[:6].max() < 8
    assert alone.recommend().tolist() == [6 + means[6:, 1].argmax()]


def test_an_arm_near_its_limit_gets_pulls_for_that():
    """All are equally good, none is near another; only arm 3 may break the limit, or not."""
    means = np.array([[0.0, 30.0], [10.0, 20.0], [20.0, 10.0], [30.0, 0.2]])
    policy = run(
        pp.policy("doubt", n_arms=4, n_objectives=2, budget=300, limits=[None, 0.0], initial=5), means, np.random.default_rng(0)
    )
    assert policy.counts[3] > 150


def test_if_nobody_keeps_the_limits_the_answer_is_empty():
    rng = np.random.default_rng(2)
    means = rng.normal(size=(6, 2))
    policy = run(pp.policy("doubt", n_arms=6, n_objectives=2, budget=120, limits=[4.0, None]), means, rng)
    assert policy.recommend().tolist() == []
    assert (policy.snapshot().doubt < 0.1).all()
    assert policy.counts[means[:, 0].argmax()] == policy.counts.max(), "the likeliest to keep it"
    data = policy.counts, policy._sums, policy._squares
    assert not likely_optimal(*data, required=policy.required).any()
    assert likely_optimal(*data).any()


@pytest.mark.parametrize("limit, answer", [(0.0, [0]), (5.0, [])])
def test_one_arm_and_one_objective(limit, answer):
    policy = pp.policy("doubt", n_arms=1, n_objectives=1, budget=9, limits=[limit])
    with pytest.raises(pp.NotReady, match="arms 0 have no pulls yet"):
        policy.recommend()
    run(policy, np.array([[2.0]]), np.random.default_rng(0))
    assert policy.recommend().tolist() == answer
    policy.retire(0)
    assert policy.recommend().tolist() == []


def test_with_objectives_without_noise_alone_the_answer_is_right_and_nothing_is_learnt():
    rng = np.random.default_rng(4)
    for _ in range(20):
        means = rng.integers(0, 5, (12, 3)).astype(float)
        required = Requirements(
            rng.choice([0.0, 1.0], 3), np.array([1.0, -np.inf, -np.inf]), np.array([True, True, rng.random() < 0.5])
        )
        policy = pp.policy("doubt", n_arms=12, n_objectives=3, budget=60)
        policy.rescale([0.0, 0.0, 0.0])
        policy.require(required)
        run(policy, means, rng, std=0.0)
        assert np.ptp(policy.counts) <= 1
        answer = np.isin(np.arange(12), policy.recommend())
        assert is_right(means, answer, required)
        assert (answer >= optimal_and_feasible(means, required)).all()


def test_a_limit_that_is_reached_exactly_is_kept():
    policy = pp.policy("doubt", n_arms=2, n_objectives=1, budget=8, limits=[0.3])
    policy.rescale([0.0])
    run(policy, np.array([[0.3], [0.2]]), np.random.default_rng(0), std=0.0)
    assert policy.recommend().tolist() == [0]


def test_the_order_of_arms_and_of_objectives_does_not_matter():
    rng = np.random.default_rng(5)
    for _ in range(80):
        counts, means, squares = random_data(rng, "noise of its own", max_arms=12)
        required = random_requirements(rng, means, "normal")
        if by_the_letter(counts, means, squares, required).tied:
            continue
        scores = PairsWithin(counts, means, squares, required).scores()
        arms, d = rng.permutation(len(counts)), rng.permutation(means.shape[1])
        turned = Requirements(required.margins[d], required.limits[d], required.compared[d])
        assert PairsWithin(counts[arms], means[arms], squares[arms], required).scores() == pytest.approx(scores[arms], rel=1e-9)
        assert PairsWithin(counts, means[:, d], squares[:, d], turned).scores() == pytest.approx(scores, rel=1e-9)


@pytest.mark.parametrize("far", [1e140, 1e152])
def test_values_beyond_all_measure_are_survived(far):
    policy = pp.policy("doubt", n_arms=3, n_objectives=2, budget=40, margins=[0.1 * far, 0], limits=[None, -2 * far])
    signs = np.array([[1.0, -1.0], [-1.0, 1.0], [0.0, 0.0]])
    while not policy.done:
        arms = policy.ask()
        policy.tell(arms, far * (signs[arms] + 1e-3 * (policy.counts[arms] % 2)[:, None]))
    assert np.isfinite(policy.snapshot().doubt).all()
    assert {0, 1} <= set(policy.recommend().tolist())


# Costs.


def test_equal_costs_change_no_choice():
    rng = np.random.default_rng(0)
    means = rng.normal(size=(7, 3))
    for required in (Requirements.none(3), only_margins([0.2, 0.0, 0.1])):
        counts = []
        for cost in (None, 1.0, 3.7e-5, 1e7 / 3):
            policy = pp.policy("doubt", n_arms=7, n_objectives=3, budget=200)
            policy.require(required)
            policy.charge(None if cost is None else [cost] * 7)
            counts.append(run(policy, means, np.random.default_rng(1)).counts.tolist())
        assert counts[0] == counts[1] == counts[2] == counts[3]


@pytest.mark.parametrize("required", [Requirements.none(2), only_margins([0.2, 0.0])])
def test_the_score_is_divided_by_the_cost(required):
    rng = np.random.default_rng(3)
    others = 0
    for _ in range(40):
        counts, costs = rng.integers(2, 30, 5), rng.uniform(1, 10, 5)
        means, squares = rng.normal(size=(5, 2)), (counts - 1)[:, None] * rng.uniform(0.5, 2, (5, 2))
        policy = pp.policy("doubt", n_arms=5, n_objectives=2)
        policy.require(required)
        policy.restate(counts, means * counts[:, None], squares)
        free = policy.next_arms(1)
        policy.charge(costs)
        data = counts, policy.means, squares
        scores = Pairs(*data).scores() if required.is_plain else PairsWithin(*data, required).scores()
        assert policy.next_arms(1).tolist() == [(scores / costs).argmax()]
        others += free != policy.next_arms(1)
    assert others > 5


def test_a_new_arm_costs_as_much_as_the_others_on_average_and_costs_are_saved():
    policy = pp.policy("doubt", n_arms=2, n_objectives=1)
    policy.charge([1.0, 3.0])
    policy.add_arm()
    assert policy.to_dict()["more"]["costs"] == [1.0, 3.0, 2.0]
    again = pp.restore_policy(json.loads(json.dumps(policy.to_dict())))
    assert again.to_dict() == policy.to_dict()
    policy.charge(None)
    assert "costs" not in policy.to_dict()["more"]


@pytest.mark.parametrize("costs", [[1.0], [1.0, 0.0], [1.0, -2.0], [1.0, np.inf], [np.nan, 1.0]])
def test_bad_costs_are_shown(costs):
    policy = pp.policy("doubt", n_arms=2, n_objectives=1)
    with pytest.raises(pp.InvalidInput, match=r"costs=.* must be 2 positive numbers, .* or None if all cost the same"):
        policy.charge(costs)


# Options, and what is saved.


@pytest.mark.parametrize("name", ["doubt", "apt"])
def test_margins_and_limits_are_options(name):
    policy = pp.policy(name, n_arms=3, n_objectives=3, margins=[0.5, None, 0], limits=[None, 2.0, None])
    expected = Requirements(np.array([0.5, 0.0, 0.0]), np.array([-np.inf, 2.0, -np.inf]), np.array([True, False, True]))
    assert policy.required == expected
    text = pp.policies.check_policy(f"{name}:margins=[0.5,null,0],limits=[null,2.0,null]")
    assert text.new(n_arms=3, n_objectives=3).required == expected
    assert pp.policies.check_policy(text.text) == text
    assert pp.policy(name, n_arms=3, n_objectives=3, margins=0.5).required == only_margins([0.5, 0.5, 0.5])


@pytest.mark.parametrize("name", ["doubt", "apt"])
@pytest.mark.parametrize(
    "options, message",
    [
        ({"margins": [0.1]}, r"margins=\[0.1\] must be one number, or 2, one per objective"),
        ({"margins": [-0.1, 0]}, "margins has -0.1 for objective 0"),
        ({"margins": [None, None]}, "compares arms in no objective"),
        ({"limits": [1.0, "low"]}, "limits has 'low' for objective 1"),
        ({"limits": 3.0}, "limits=3.0 must be 2 numbers"),
    ],
)
def test_bad_options_are_shown(name, options, message):
    with pytest.raises(pp.InvalidInput, match=message):
        pp.policy(name, n_arms=3, n_objectives=2, **options)


@pytest.mark.parametrize("name", ["doubt", "apt"])
@pytest.mark.parametrize("options", [{}, {"margins": [0.5, 0.25]}])
def test_what_is_required_is_saved(name, options):
    required = Requirements(np.array([0.1, 0.0]), np.array([-np.inf, 0.5]), np.array([True, False]))
    policy = pp.policy(name, n_arms=4, n_objectives=2, budget=60, **options)
    declared = policy.required
    assert policy.to_dict()["more"] == {}, "options say it already"
    for told in (required, Requirements.none(2), declared):
        policy.require(told)
        again = pp.restore_policy(json.loads(json.dumps(policy.to_dict())))
        assert again.required == told
        assert again.to_dict() == policy.to_dict()
    means = np.random.default_rng(0).normal(size=(4, 2))
    assert run(again, means, np.random.default_rng(1)).to_dict() == run(policy, means, np.random.default_rng(1)).to_dict()


def test_what_is_required_must_fit():
    policy = pp.policy("doubt", n_arms=2, n_objectives=3)
    with pytest.raises(pp.InvalidInput, match="required is about 2 objectives; expected 3"):
        policy.require(only_margins([0.1, 0.2]))
    with pytest.raises(pp.InvalidInput, match="compares arms in no objective; expected one at least"):
        policy.require(Requirements(np.zeros(3), np.zeros(3), np.zeros(3, dtype=bool)))
    with pytest.raises(pp.InvalidInput, match=r"uniform has no require\(\); these have: apt, doubt"):
        pp.policy("uniform", n_arms=2, n_objectives=3, budget=9).require(only_limits([0.0, 0.0, 0.0]))
