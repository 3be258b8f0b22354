import numpy as np
import pytest

import paretopick as pp
from paretopick._doubting import missing
from paretopick.policies import pair_tables
from paretopick.policies import pairs as pairs_module
from paretopick.policies.doubt import likely_optimal
from paretopick.policies.pairs import Pairs
from support import literal_doubt as literal
from support import rebuilt_doubt as rebuilt
from support.doubt_data import TIED, UNTIED, random_data
from support.inputs import follow, tape


def by_the_letter(counts, means, squares, chosen=None) -> literal.Step:
    return literal.step(counts.tolist(), means.tolist(), squares.tolist(), None if chosen is None else chosen.tolist())


@pytest.mark.sample(3)
@pytest.mark.parametrize("kind", UNTIED + TIED)
def test_one_step_is_the_formulas_to_the_letter(kind):
    rng = np.random.default_rng((UNTIED + TIED).index(kind))
    open_choices = 0
    for _ in range(250):
        data = random_data(rng, kind)
        pairs, expected = Pairs(*data), by_the_letter(*data)
        assert pairs.front.tolist() == expected.front
        assert pairs.factor == pytest.approx(expected.factor, rel=1e-15)
        open_choices += expected.close
        if expected.tied:
            continue
        assert pairs.dominated.tolist() == expected.dominated
        assert pairs.doubt == pytest.approx(expected.doubt, rel=1e-5, abs=1e-12)
        assert np.flatnonzero(pairs.answer).tolist() == expected.answer
        assert pairs.scores() == pytest.approx(expected.scores, rel=1e-5, abs=0)
        if not expected.close:
            assert pairs.choice() == expected.arm
    assert kind in TIED or open_choices <= 3


@pytest.mark.sample(3)
@pytest.mark.parametrize("kind", ["gaussian", "bernoulli"])
@pytest.mark.parametrize("batch, initial", [(1, 2), (1, 1), (4, 3)])
def test_a_run_is_the_formulas_to_the_letter_step_by_step(kind, batch, initial):
    rng = np.random.default_rng([batch, initial])
    decided = 0
    for _ in range(5):
        K, D = int(rng.integers(2, 8)), int(rng.integers(1, 5))
        data = tape(rng, rng.random((K, D)), 200, kind)
        policy = pp.policy("doubt", n_arms=K, n_objectives=D, batch=batch, initial=initial)
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
            answer = by_the_letter(told, means, squares)
            if not answer.tied:
                assert policy.recommend().tolist() == answer.answer
            chosen = told.copy()
            for _ in range(batch):
                arm = literal.in_turn(chosen.tolist())
                if arm is None:
                    step = by_the_letter(told, means, squares, chosen)
                    if step.close:
                        break
                    arm = step.arm
                chosen[arm] += 1
            else:
                assert policy.due.tolist() == (chosen - told).tolist()
                decided += 1
    assert decided >= (150 if kind == "gaussian" else 60)


@pytest.mark.parametrize("kind", UNTIED + TIED)
def test_one_step_is_the_documented_sums_to_the_last_bit(kind):
    rng = np.random.default_rng(50 + (UNTIED + TIED).index(kind))
    for _ in range(60):
        data = random_data(rng, kind)
        pairs, expected = Pairs(*data), rebuilt.Rebuilt(*data, data[0])
        assert pairs.front.tolist() == expected.front
        assert pairs.factor == expected.factor
        assert pairs.dominated.tolist() == expected.dominated
        assert pairs.scores().tolist() == expected.scores()
        assert pairs.choice() == expected.choice()


def same_batch(policy) -> bool:
    """Whether what is due is what the data ask for, all of it computed anew."""
    active = np.setdiff1d(np.arange(policy.n_arms), policy.snapshot().retired)
    data = policy.counts[active], policy.means[active], policy._squares[active]
    return policy.due[active].tolist() == rebuilt.batch(*data, policy.batch)


@pytest.mark.sample(4)
@pytest.mark.parametrize("kind", ["gaussian", "bernoulli", "integers"])
@pytest.mark.parametrize("K, D, batch, rounds", [(1, 2, 1, 20), (2, 1, 1, 120), (5, 2, 1, 200), (9, 3, 4, 30), (20, 4, 1, 120)])
def test_what_is_kept_from_pull_to_pull_equals_all_computed_anew_to_the_last_bit(kind, K, D, batch, rounds):
    rng = np.random.default_rng([K, D])
    means = rng.random((K, D))
    policy = pp.policy("doubt", n_arms=K, n_objectives=D, batch=batch, initial=1 + K % 2)
    for _ in range(rounds):
        arms = policy.ask()
        values = tape(rng, means[arms], 1, "bernoulli" if kind == "bernoulli" else "gaussian")[:, 0]
        policy.tell(arms, np.round(values) if kind == "integers" else values)
        assert same_batch(policy)


@pytest.mark.parametrize("seed", range(6))
def test_whatever_happens_the_next_pull_depends_on_the_data_alone(seed):
    """Arms that come and go, observations that are taken back, an objective that turns out to be without noise."""
    rng = np.random.default_rng(seed)
    K, D = 5, 2
    means = rng.normal(size=(30, D))
    policy = pp.policy("doubt", n_arms=K, n_objectives=D, batch=1 + 2 * (seed % 2))
    last = None
    for step in range(90):
        if step % 20 == 7:
            policy.add_arm()
        elif step % 20 == 12:
            policy.retire(int(rng.choice(policy.snapshot().active)))
        elif step % 20 == 17 and last is not None and last[0] in policy.snapshot().active:
            policy.take_back(*last, due=False)
        elif step == 60 and seed >= 3:
            policy.rescale([1.0, 0.0])
        arms = policy.ask()
        values = np.round(2 * (means[arms] + rng.normal(size=(len(arms), D))))
        policy.tell(arms, values)
        last = int(arms[-1]), values[-1]
        if (policy.counts[list(policy.snapshot().active)] > 0).all() and policy.due.sum() == policy.batch:
            assert same_batch(policy)
    assert policy.n_arms > K
    assert policy.snapshot().retired


@pytest.mark.sample(3)
@pytest.mark.slow
@pytest.mark.parametrize("in_the_middle", [0, 1, 2, 6])
def test_arms_with_many_pulls_get_several_in_a_row_which_the_counts_alone_say(in_the_middle):
    rng = np.random.default_rng(in_the_middle)
    for _ in range(40):
        K, D, batch = 6, 2, int(rng.choice([1, 2, 7, 60]))
        counts = rng.choice([5, 63, 64, 130, 256, 520, 1040], K)
        counts[:in_the_middle] = rng.choice([65, 127, 129, 250, 259, 1001], in_the_middle)
        policy = pp.policy("doubt", n_arms=K, n_objectives=D, batch=batch)
        policy.begin(counts, counts[:, None] * rng.normal(size=(K, D)) / 5, (counts - 1)[:, None] * rng.uniform(1, 2, (K, D)))
        for _ in range(3):
            assert same_batch(policy)
            arms = policy.ask()
            policy.tell(arms, rng.normal(size=(batch, D)))


def test_a_turn_adds_at_most_a_thirty_second():
    for count in range(1, 5000):
        after = count + max(missing(count), 1)
        assert missing(after) == 0 or after == count + 1
        assert missing(count) <= count / 32
        assert (missing(count) > 0) == (literal.in_turn([count]) == 0)


def test_many_arms_that_change_at_once_and_tables_in_parts(monkeypatch):
    rng = np.random.default_rng(0)
    K, D = 130, 3
    data = [(rng.integers(1, 9, K), np.round(4 * rng.normal(size=(K, D))) / 4, rng.random((K, D))) for _ in range(2)]
    few = data[1][0].copy(), data[1][1].copy(), data[1][2].copy()
    for part in few:
        part[5:] = data[0][0][5:] if part.ndim == 1 else part[5:]
    anew = Pairs(*data[1]).scores().tolist()
    for at_once in (1 << 15, 50, 1):
        for module in (pair_tables, pairs_module):
            monkeypatch.setattr(module, "AT_ONCE", at_once)
        pairs = Pairs(*data[0])
        pairs.scores()
        pairs.update(*few)
        assert pairs.scores().tolist() == Pairs(*few).scores().tolist()
        pairs.update(*data[1])
        assert pairs.scores().tolist() == anew
        pairs.count(data[1][0] + (np.arange(K) == 3))
        assert pairs.scores().tolist() != anew
        pairs.update(*data[1])
        assert pairs.scores().tolist() == anew


# What does not matter.


@pytest.mark.parametrize("kind", ["normal", "noise of its own", "some exact", "integers"])
def test_the_order_of_arms_and_of_objectives_does_not_matter(kind):
    rng = np.random.default_rng(1)
    for _ in range(60):
        counts, means, squares = random_data(rng, kind, max_arms=12)
        if by_the_letter(counts, means, squares).tied or len(np.unique(means, axis=0)) < len(means):
            continue  # which of two equally likely dominators is the first depends on the order
        scores = Pairs(counts, means, squares).scores()
        arms, objectives = rng.permutation(len(counts)), rng.permutation(means.shape[1])
        assert Pairs(counts[arms], means[arms], squares[arms]).scores() == pytest.approx(scores[arms], rel=1e-9)
        assert Pairs(counts, means[:, objectives], squares[:, objectives]).scores() == pytest.approx(scores, rel=1e-9)


def test_units_that_are_powers_of_two_and_where_zero_is_do_not_matter():
    rng = np.random.default_rng(2)
    for kind in ("normal", "integers", "all exact"):
        for _ in range(40):
            counts, means, squares = random_data(rng, kind, max_arms=12)
            means = np.round(64 * means) / 64  # so that shifts are exact
            scale, shift = 2.0 ** rng.integers(-9, 9, means.shape[1]), rng.integers(-9, 9, means.shape[1])
            expected = Pairs(counts, means, squares)
            moved = Pairs(counts, (means + shift) * scale, squares * scale**2)
            assert moved.scores().tolist() == expected.scores().tolist()
            assert moved.doubt.tolist() == expected.doubt.tolist()


def test_the_order_of_arrival_does_not_matter_to_whoever_keeps_exact_sums():
    rng = np.random.default_rng(3)
    arms = np.repeat(np.arange(6), 4)
    values = np.round(8 * rng.normal(size=(24, 3)))
    sums = np.array([values[arms == arm].sum(axis=0) for arm in range(6)])
    squares = np.array([((values[arms == arm] - values[arms == arm].mean(axis=0)) ** 2).sum(axis=0) for arm in range(6)])
    due = set()
    for _ in range(5):
        order = rng.permutation(24)
        policy = pp.policy("doubt", n_arms=6, n_objectives=3, initial=4, batch=10)
        policy.tell(arms[order], values[order], sums=sums[arms[order]], squares=squares[arms[order]])
        due.add(tuple(policy.due.tolist()))
    assert len(due) == 1


# Cases at the edge.


def test_arms_that_are_all_equal_take_turns():
    for values in ([0.0, 0.0], [5.0, -0.75]):
        policy = pp.policy("doubt", n_arms=5, n_objectives=2, budget=62)
        while not policy.done:
            arms = policy.ask()
            policy.tell(arms, [values] * len(arms))
            assert np.ptp(policy.counts) <= 1
        assert policy.recommend().tolist() == [0, 1, 2, 3, 4]


def test_with_objectives_without_noise_alone_the_answer_is_the_pareto_set():
    means = np.random.default_rng(4).integers(0, 5, (12, 2)).astype(float)
    policy = pp.policy("doubt", n_arms=12, n_objectives=2, budget=60)
    policy.rescale([0.0, 0.0])
    while not policy.done:
        arms = policy.ask()
        policy.tell(arms, means[arms])
    assert np.ptp(policy.counts) <= 1, "there is nothing to be learnt"
    assert policy.recommend().tolist() == np.flatnonzero(pp.pareto_mask(means)).tolist()


def test_one_arm_and_one_objective():
    policy = pp.policy("doubt", n_arms=1, n_objectives=1, budget=9)
    assert follow(policy, np.arange(9.0).reshape(1, 9, 1)) == [0] * 9
    assert policy.recommend().tolist() == [0]
    assert policy.snapshot().doubt.tolist() == [0.0]


@pytest.mark.parametrize("D", [1, 2, 9])
def test_of_two_arms_the_noisier_one_is_pulled_more_often(D):
    rng = np.random.default_rng(5)
    noise = np.array([1.0, 3.0])
    policy = pp.policy("doubt", n_arms=2, n_objectives=D, budget=400)
    while not policy.done:
        arms = policy.ask()
        policy.tell(arms, 0.3 * arms[:, None] + noise[arms, None] * rng.normal(size=(len(arms), D)))
    low, high = policy.counts
    assert 1.5 * low < high


def test_an_arm_with_thirty_times_the_noise_of_the_others_gets_more_pulls():
    rng = np.random.default_rng(6)
    angle = np.linspace(0.1, 1.4, 6)
    means = np.column_stack([np.cos(angle), np.sin(angle)])
    noise = np.array([0.02, 0.02, 0.6, 0.02, 0.02, 0.02])
    policy = pp.policy("doubt", n_arms=6, n_objectives=2, budget=600)
    while not policy.done:
        arms = policy.ask()
        policy.tell(arms, means[arms] + noise[arms, None] * rng.normal(size=(len(arms), 2)))
    others = np.delete(policy.counts, 2)
    assert policy.counts[2] > 1.5 * others.max()


@pytest.mark.parametrize("far", [1e140, 1e152, 1e153])
def test_values_beyond_all_measure_are_survived(far):
    """Variances may overflow: the choice is then any arm, and not an error."""
    policy = pp.policy("doubt", n_arms=3, n_objectives=2, budget=40)
    signs = np.array([[1.0, -1.0], [-1.0, 1.0], [0.0, 0.0]])
    while not policy.done:
        arms = policy.ask()
        policy.tell(arms, far * (signs[arms] + 1e-3 * (policy.counts[arms] % 2)[:, None]))
    assert np.isfinite(policy.snapshot().doubt).all()
    assert {0, 1} <= set(policy.recommend().tolist())


# What it says.


def test_the_doubt_of_a_snapshot_is_how_likely_each_status_is_wrong():
    rng = np.random.default_rng(7)
    data = tape(rng, rng.random((7, 3)), 100)
    policy = pp.policy("doubt", n_arms=7, n_objectives=3, budget=100)
    assert np.isnan(policy.snapshot().doubt).all()
    for _ in range(60):
        arms = policy.ask()
        policy.tell(arms, [data[arm, policy.counts[arm]] for arm in arms] if len(arms) == 1 else data[arms, 0])
        now = policy.snapshot()
        expected = by_the_letter(policy.counts, policy.means, policy.squares)
        assert now.doubt == pytest.approx(expected.doubt, rel=1e-5, abs=1e-12)
        below = np.setdiff1d(np.arange(7), expected.front)
        assert (now.doubt[below] <= 0.5).all(), "below the front the likelier status is taken"
        assert policy.recommend().tolist() == expected.answer
    policy.retire(2)
    assert np.flatnonzero(np.isnan(policy.snapshot().doubt)).tolist() == [2]


def test_the_answer_is_whoever_is_more_likely_optimal_than_not():
    rng = np.random.default_rng(8)
    from_below = left_out = 0
    for case in range(120):
        D = (2, 8)[case % 2]
        counts = rng.integers(2, 9, 6)
        means = 0.5 * rng.normal(size=(6, D)) if D == 2 else rng.normal(size=(6, 1)) + 0.5 * rng.normal(size=(6, D))
        squares = (counts - 1)[:, None] * rng.uniform(0.5, 1.0, (6, D))
        expected = by_the_letter(counts, means, squares)
        sums = means * counts[:, None]
        policy = pp.policy("doubt", n_arms=6, n_objectives=D)
        policy.begin(counts, sums, squares)
        answer = policy.recommend().tolist()
        assert answer == np.flatnonzero(likely_optimal(counts, sums, squares)).tolist()
        assert answer == expected.answer
        from_below += not set(answer) <= set(expected.front)
        left_out += not set(expected.front) <= set(answer)
    assert from_below > 5
    assert left_out > 5


def test_there_is_no_answer_before_every_arm_was_told():
    policy = pp.policy("doubt", n_arms=3, n_objectives=1)
    policy.tell([0, 2, 2], [[1.0], [2.0], [3.0]])
    with pytest.raises(pp.NotReady, match="arms 1 have no pulls yet"):
        policy.recommend()
    assert np.isnan(policy.snapshot().doubt).all()
    policy.retire(1)
    assert policy.recommend().tolist() == [2]


def test_the_base_factor_is_one_unless_arms_dominate_each_other_more_often_than_by_chance():
    def factor(means):
        return Pairs(np.full(len(means), 2), np.asarray(means, dtype=float), np.ones(np.shape(means))).factor

    line = np.arange(4.0)
    assert factor(np.column_stack([line, -line])) == 1.0
    assert factor(np.column_stack([line, line])) == 2.0  # b = 7/16, F = 7/9 to 1/3 = 2.33, rounded to a power of sqrt 2
    assert factor(np.column_stack([line] * 10)) == pytest.approx(2**9.5)  # b = 0.375, F = 614
    assert factor(line[:, None]) == 1.0
    assert factor(np.zeros((4, 2))) == 1.0
