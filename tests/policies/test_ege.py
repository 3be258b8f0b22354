import tracemalloc

import numpy as np
import pytest

import paretopick as pp
from support import oracle
from support.inputs import drawing, follow, tape

ORACLE = {"ege-sr": oracle.sr, "ege-sh": oracle.sh, "ege-gg": oracle.gg, "uniform": oracle.uniform}


def random_problems(seed: int, n: int, max_objectives: int = 4):
    """Problems with a tape each, continuous and 0/1 in turn, with budgets from the smallest workable one up."""
    rng = np.random.default_rng(seed)
    for i in range(n):
        K, D = int(rng.integers(1, 10)), int(rng.integers(1, max_objectives + 1))
        means = rng.random((K, D))
        yield i, K, D, tape(rng, means, 200, ("gaussian", "bernoulli")[i % 2]), int(rng.integers(0, 6 * K + 1))


@pytest.mark.parametrize("name", sorted(ORACLE))
def test_equals_the_oracle_on_the_same_tape(name):
    for _, K, D, data, extra in random_problems(0, 400):
        budget = max(1, pp.smallest_budget(name.removeprefix("ege-"), K)) + extra
        policy = pp.policy(name, n_arms=K, n_objectives=D, budget=budget)
        follow(policy, data)
        record = policy.snapshot()
        expected = oracle.ege(*ORACLE[name](K, budget), drawing(data))
        assert policy.recommend().tolist() == expected["answer"]
        assert list(record.accepted) == expected["accepted"]
        assert list(record.rejected) == expected["rejected"]
        assert list(record.active) == expected["still_active"]
        assert record.counts.tolist() == expected["counts"]
        assert record.round == expected["rounds"]


def test_ege_sr_k_equals_the_oracle_on_the_same_tape_for_every_k():
    stopped = 0
    for _, K, D, data, extra in random_problems(1, 150):
        budget = K + 1 + extra
        for k in range(1, K + 1):
            policy = pp.policy("ege-sr-k", n_arms=K, n_objectives=D, budget=budget, max_arms=k)
            follow(policy, data)
            expected = oracle.ege(*oracle.sr(K, budget), drawing(data), max_arms=k)
            assert policy.recommend().tolist() == expected["answer"]
            assert policy.counts.tolist() == expected["counts"]
            assert policy.snapshot().round == expected["rounds"]
            stopped += len(expected["accepted"]) == k
    assert stopped > 50


def test_custom_schedules_with_empty_rounds_equal_the_oracle():
    rng = np.random.default_rng(2)
    for i in range(300):
        K, D = int(rng.integers(2, 10)), int(rng.integers(1, 4))
        inner = np.flatnonzero(rng.random(K - 1) < 0.5)[::-1] + 1
        active = (K, *(int(n) for n in inner if 1 < n < K), int(rng.integers(0, 2)))
        pulls = (int(rng.integers(1, 4)), *(int(t) for t in rng.integers(0, 3, len(active) - 2)))
        data = tape(rng, rng.random((K, D)), 60, ("gaussian", "bernoulli")[i % 2])
        rounds = pp.Schedule(active, pulls)
        policy = pp.policy("ege", n_arms=K, n_objectives=D, schedule=rounds)
        follow(policy, data)
        expected = oracle.ege(active, pulls, drawing(data))
        assert policy.recommend().tolist() == expected["answer"]
        assert policy.counts.tolist() == expected["counts"]
        assert policy.budget == policy.counts.sum() == rounds.cost


def test_one_objective_is_successive_rejects_and_sequential_halving():
    for i, K, _, data, extra in random_problems(3, 300, max_objectives=1):
        if i % 2:
            continue  # the classical algorithms say nothing about ties
        for name, classical, smallest in (
            ("ege-sr", oracle.successive_rejects, K + 1),
            ("ege-sh", oracle.sequential_halving, max(1, K * (K - 1).bit_length())),
        ):
            policy = pp.policy(name, n_arms=K, n_objectives=1, budget=smallest + extra)
            follow(policy, data)
            assert policy.recommend().tolist() == [classical(K, smallest + extra, drawing(data))]
            assert policy.snapshot().accepted == ()


def test_k_equal_to_the_number_of_arms_is_plain_ege_sr():
    for _, K, D, data, extra in random_problems(4, 200):
        plain = pp.policy("ege-sr", n_arms=K, n_objectives=D, budget=K + 1 + extra)
        relaxed = pp.policy("ege-sr-k", n_arms=K, n_objectives=D, budget=K + 1 + extra, max_arms=K)
        assert follow(plain, data) == follow(relaxed, data)
        assert (plain.recommend() == relaxed.recommend()).all()


def test_one_round_that_keeps_nobody_is_uniform_allocation():
    for _, K, D, data, extra in random_problems(5, 200):
        t = 1 + extra
        uniform = pp.policy("uniform", n_arms=K, n_objectives=D, budget=t * K)
        custom = pp.policy("ege", n_arms=K, n_objectives=D, schedule=pp.Schedule((K, 0), (t,)))
        follow(uniform, data)
        follow(custom, data)
        sums = data[:, :t].sum(axis=1)
        assert (uniform.recommend() == custom.recommend()).all()
        assert (uniform.recommend() == np.flatnonzero(pp.pareto_mask(sums))).all()


def test_tied_gaps_keep_the_empirically_optimal_arm():
    # The better arm's gap is that of the only arm it dominates; whoever has the larger index, the dominated one leaves.
    for values in ([[1.0], [0.0]], [[0.0], [1.0]]):
        policy = pp.policy("ege", n_arms=2, n_objectives=1, schedule=pp.Schedule((2, 1), (1,)))
        policy.tell([0, 1], values)
        assert policy.recommend().tolist() == [int(np.argmax(values))]
        assert policy.snapshot().rejected == (int(np.argmin(values)),)


def test_tied_gaps_of_like_arms_keep_the_smaller_index():
    policy = pp.policy("ege", n_arms=3, n_objectives=1, schedule=pp.Schedule((3, 2, 1), (1, 1)))
    policy.tell([0, 1, 2], [[1.0], [0.0], [0.0]])
    record = policy.snapshot()
    assert record.rejected == (2,)
    assert record.left_in.tolist() == [0, 0, 1]


def test_ties_are_judged_on_sums_where_means_would_round():
    # Sums 1, 3, 5 of 7 pulls; on means 5/7 - 3/7 and 3/7 - 1/7 differ in the last bit.
    policy = pp.policy("ege", n_arms=3, n_objectives=1, schedule=pp.Schedule((3, 2, 1), (7, 1)))
    data = {0: [0, 0, 0, 0, 0, 0, 1], 1: [1, 1, 1, 0, 0, 0, 0], 2: [1, 1, 1, 1, 1, 0, 0]}
    for arm, values in data.items():
        policy.tell([arm] * 7, np.array(values, dtype=float)[:, None])
    assert policy.snapshot().gaps.tolist() == [4 / 7, 2 / 7, 2 / 7]
    assert policy.snapshot().active == (1, 2)


def test_a_round_closes_by_itself_and_the_next_one_asks_the_survivors():
    policy = pp.policy("ege-sh", n_arms=4, n_objectives=1, budget=16)
    assert policy.ask().tolist() == [0, 0, 1, 1, 2, 2, 3, 3]
    policy.tell([3, 3, 2, 1, 0, 0], [[9.0], [9.0], [5.0], [1.0], [0.0], [0.0]])
    assert policy.ask().tolist() == [1, 2]
    assert policy.snapshot().round == 1
    policy.tell([2, 1], [[5.0], [1.0]])
    assert policy.snapshot().round == 2
    assert policy.ask().tolist() == [2] * 4 + [3] * 4
    assert policy.snapshot().left_in.tolist() == [1, 1, 0, 0]


def test_an_arm_of_another_round_is_not_due():
    policy = pp.policy("ege-sh", n_arms=4, n_objectives=1, budget=16)
    policy.tell(policy.ask(), np.repeat([[0.0], [1.0], [2.0], [3.0]], 2, axis=0))
    with pytest.raises(
        pp.NotDue, match=r"arm 0 was told once and is due 0 times; tell only what ask\(\) returned, for now arms 2, 3"
    ):
        policy.tell([0], [[1.0]])


def test_gaps_of_a_snapshot_are_those_with_which_arms_stayed_or_left():
    policy = pp.policy("ege-sr", n_arms=3, n_objectives=1, budget=20)
    policy.tell(policy.ask(), np.repeat([[0.0], [1.0], [3.0]], policy.ask().size // 3, axis=0))
    assert policy.snapshot().gaps.tolist() == [3.0, 2.0, 2.0]
    policy.tell(policy.ask(), np.full((len(policy.ask()), 1), 2.0))
    assert policy.snapshot().gaps[0] == 3.0
    assert policy.done


def test_one_arm_is_the_answer_without_a_single_pull():
    policy = pp.policy("ege-sr", n_arms=1, n_objectives=2, budget=10)
    assert policy.done
    assert policy.recommend().tolist() == [0]


def test_the_budget_left_by_the_printed_schedule_can_be_spent():
    printed = pp.policy("ege-gg", n_arms=20, n_objectives=1, budget=2500)
    everything = pp.policy("ege-gg", n_arms=20, n_objectives=1, budget=2500, spend="all")
    assert printed.snapshot().pulls_left == 1126
    assert 2480 < everything.snapshot().pulls_left <= 2500


@pytest.mark.parametrize("name, n_arms, pulls", [("ege-sh", 100_000, None), ("ege-sr", 10_000, 10)])
def test_very_many_arms_in_whole_rounds_in_memory_that_grows_with_them(name, n_arms, pulls):
    """Gaps without a matrix of pairs, and rounds without pulls taken off one ranking: seconds, not hours."""
    budget = pp.smallest_budget(name.removeprefix("ege-"), n_arms) if pulls is None else pulls * n_arms
    rng = np.random.default_rng(0)
    means = rng.normal(size=(n_arms, 2))
    policy = pp.policy(name, n_arms=n_arms, n_objectives=2, budget=budget)
    tracemalloc.start()
    try:
        while not policy.done:
            arms = policy.ask()
            policy.tell(arms, means[arms] + 0.01 * rng.normal(size=(len(arms), 2)))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert policy.recommend().tolist() == np.flatnonzero(pp.pareto_mask(means)).tolist()
    assert peak < 8 * 2 * n_arms * 40 + 10_000_000
