"""``doubt`` for pulls that share blocks: equal to its literal version, and to ``doubt`` where nothing is shared."""

import json

import numpy as np
import pytest

import paretopick as pp
from paretopick._blocks import Blocked, fit
from paretopick.policies.paired import CLOSE
from support import literal_doubt_within as literal
from support.literal_blocks import DenseBlocks

pytestmark = pytest.mark.slow


def literal_step(policy, margins, limits, *, more=None):
    """What the literal version knows and does, from what the policy was told; ``more`` are pulls that are being made."""
    rows = policy._rows
    told = [(arm, block, row) for arm, each in enumerate(rows) for block, row in each.items()]
    arms, blocks = (np.array([each[place] for each in told]) for place in (0, 1))
    blocked = Blocked.of(arms, blocks, np.array([row for *_, row in told]), n_options=policy.n_arms)
    variances, effects, means = [], [], np.empty((policy.n_arms, policy.n_objectives))
    for d in range(policy.n_objectives):
        found = fit(blocked.cells(d, np.arange(policy.n_arms)), moderate, close=CLOSE)
        if found.block_variance == 0:
            return None  # then it is doubt in this objective, as another test says
        variances.append(found.variances)
        effects.append(found.block_variance)
        means[:, d] = found.means
    pending = np.zeros(policy.n_arms, dtype=int) if more is None else more
    cells = [sorted(each) + list(range(len(each), len(each) + n)) for each, n in zip(rows, pending, strict=True)]
    known = DenseBlocks(cells, np.array(variances), np.array(effects), [len(each) for each in cells])
    required = literal.Required(margins, limits)
    counts = [len(each) for each in cells]
    return literal.step(policy.counts.tolist(), means.tolist(), np.zeros_like(means).tolist(), required, counts, known)


def moderate(residuals, degrees):
    pool = np.mean([r / n for r, n in zip(residuals, degrees, strict=True) if n > 1e-9])
    return (residuals + 30 * pool) / (degrees + 30), degrees + 30


def shared_values(rng, n_blocks, n_arms, n_objectives, rho):
    effects = rng.normal(size=(n_blocks, 1, n_objectives))
    means = rng.normal(size=(n_arms, n_objectives))
    return means + np.sqrt(rho) * effects + np.sqrt(1 - rho) * rng.normal(size=(n_blocks, n_arms, n_objectives))


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    "margins, limits",
    [((0.0, 0.0), (None, None)), ((0.3, 0.2), (None, None)), ((0.1, 0.0), (-0.3, None)), ((0.2, None), (None, 0.0))],
)
def test_every_pull_is_that_of_the_literal_version(margins, limits):
    compared = 0
    for seed in range(4):
        rng = np.random.default_rng([seed, *str(margins).encode()])
        n_arms = int(rng.integers(3, 7))
        values = shared_values(rng, 60, n_arms, 2, 0.7)
        plain = margins == (0.0, 0.0)
        options = {} if plain else {"margins": list(margins), "limits": list(limits)}
        policy = pp.policy("doubt", n_arms=n_arms, n_objectives=2, budget=40, paired=True, initial=3, **options)
        while not policy.done:
            if policy.counts.min() >= 3:
                expected = literal_step(policy, margins, limits)
                if expected is not None and not expected.close:
                    assert policy.ask().tolist() == [expected.arm]
                    compared += 1
                if expected is not None and not expected.tied:
                    assert policy.recommend().tolist() == expected.answer
                    if not plain:
                        np.testing.assert_allclose(policy.snapshot().doubt, np.minimum(expected.doubt, 1.0), atol=1e-6)
            arms = policy.ask()
            policy.tell(arms, [values[policy.counts[arm] + nth_before(arms, place), arm] for place, arm in enumerate(arms)])
    assert compared > 40


def nth_before(arms, place):
    return int((arms[:place] == arms[place]).sum())


def test_pulls_that_are_being_made_count_in_their_blocks():
    rng = np.random.default_rng(1)
    values = shared_values(rng, 30, 5, 2, 0.8)
    policy = pp.policy("doubt", n_arms=5, n_objectives=2, paired=True)
    while policy.counts.sum() < 24:
        arms = policy.ask()
        policy.tell(arms, [values[policy.counts[arm] + nth_before(arms, place), arm] for place, arm in enumerate(arms)])
    out = np.zeros(5, dtype=int)
    for arm in policy.next_arms(6).tolist():
        expected = literal_step(policy, (0.0, 0.0), (None, None), more=out)
        assert expected.close or expected.arm in policy.next_arms(1, out=out)
        out[arm] += 1


def test_where_nothing_is_shared_the_pulls_are_those_of_doubt():
    """Up to turns of several pulls in a row, which nobody has below 64."""
    for seed in range(4):
        rng = np.random.default_rng(seed)
        counts = rng.integers(2, 9, 6)
        rows = [rng.normal(size=(n, 2)) for n in counts]
        data = (
            counts,
            np.array([each.sum(axis=0) for each in rows]),
            np.array([np.square(each - each.mean(axis=0)).sum(axis=0) for each in rows]),
        )
        plain, paired = (pp.policy("doubt", n_arms=6, n_objectives=2, paired=paired) for paired in (False, True))
        for policy in (plain, paired):
            policy.begin(*data)  # of which nobody knows the blocks
        assert paired.next_arms(20).tolist() == plain.next_arms(20).tolist()
        assert paired.recommend().tolist() == plain.recommend().tolist()
        np.testing.assert_allclose(paired.snapshot().doubt, plain.snapshot().doubt, atol=1e-7)


def test_blocks_that_others_have_are_completed_first():
    """Of two options that are equally in doubt, the one whose next pull completes a block is pulled."""
    rng = np.random.default_rng(2)
    effects = 5 * rng.normal(size=10)
    policy = pp.policy("doubt", n_arms=3, n_objectives=1, paired=True)
    told = {0: range(10), 1: range(10), 2: range(9)}  # the last one lacks block 9, the others would start block 10
    blocked = Blocked.of(
        np.array([arm for arm, blocks in told.items() for _ in blocks]),
        np.array([block for blocks in told.values() for block in blocks]),
        np.array([[effects[block] + 0.02 * arm + 0.3 * rng.normal()] for arm, blocks in told.items() for block in blocks]),
        n_options=3,
    )
    counts = np.array([10, 10, 9])
    policy.restate(counts, np.zeros((3, 1)), np.ones((3, 1)))
    policy.pair(blocked, np.arange(10))
    assert policy.next_arms(1).tolist() == [2]


@pytest.mark.long
def test_what_is_shared_makes_answers_right_with_fewer_pulls():
    wrong = {False: 0, True: 0}
    means = np.array([[0.0, 0.0], [0.35, 0.35], [0.0, 1.0], [1.0, 0.0], [0.1, 0.1]])
    for paired in wrong:
        for seed in range(20):
            rng = np.random.default_rng(seed)
            values = means + np.sqrt(0.8) * rng.normal(size=(100, 1, 2)) + np.sqrt(0.2) * rng.normal(size=(100, 5, 2))
            policy = pp.policy("doubt", n_arms=5, n_objectives=2, budget=60, paired=paired)
            while not policy.done:
                arms = policy.ask()
                policy.tell(arms, [values[policy.counts[arm] + nth_before(arms, place), arm] for place, arm in enumerate(arms)])
            wrong[paired] += set(policy.recommend().tolist()) != {1, 2, 3}
    assert wrong[True] < wrong[False] / 2, wrong


def test_what_was_taken_back_is_pulled_again_in_its_block():
    policy = pp.policy("doubt", n_arms=2, n_objectives=1, budget=20, paired=True)
    policy.tell([0, 1, 0, 1], [[1.0], [2.0], [3.0], [5.0]])
    policy.take_back(0, [1.0], due=False)
    assert sorted(policy._rows[0]) == [1]
    while policy.counts[0] < 2:
        arms = policy.ask()
        policy.tell(arms, [[7.0 + place] for place, _ in enumerate(arms)])
    assert sorted(policy._rows[0]) == [0, 1]
    with pytest.raises(pp.InvalidInput, match="never told"):
        policy.take_back(1, [99.0], due=False)


def test_a_policy_that_was_saved_goes_on_alike():
    rng = np.random.default_rng(3)
    values = shared_values(rng, 40, 4, 2, 0.5)
    policy = pp.policy("doubt", n_arms=4, n_objectives=2, budget=40, paired=True)
    while not policy.done:
        policy = pp.restore_policy(json.loads(json.dumps(policy.to_dict())))
        arms = policy.ask()
        policy.tell(arms, [values[policy.counts[arm] + nth_before(arms, place), arm] for place, arm in enumerate(arms)])
    again = pp.policy("doubt", n_arms=4, n_objectives=2, budget=40, paired=True)
    while not again.done:
        arms = again.ask()
        again.tell(arms, [values[again.counts[arm] + nth_before(arms, place), arm] for place, arm in enumerate(arms)])
    assert policy.counts.tolist() == again.counts.tolist()
    assert policy.recommend().tolist() == again.recommend().tolist()


def test_what_was_corrected_stays_in_its_block():
    policy = pp.policy("doubt", n_arms=1, n_objectives=1, budget=20, paired=True, initial=4)
    policy.tell([0, 0, 0, 0], [[0.1], [0.2], [0.3], [0.5]])
    policy.take_back(0, [0.1], due=False)
    policy.correct(0, [0.5], [0.6])
    assert {block: row.tolist() for block, row in sorted(policy._rows[0].items())} == {1: [0.2], 2: [0.3], 3: [0.6]}
    with pytest.raises(pp.InvalidInput, match="never told"):
        policy.correct(0, [0.5], [0.7])


def test_of_equal_pulls_the_last_one_is_taken_back_also_after_saving():
    found = []
    for again in (False, True):
        policy = pp.policy("doubt", n_arms=1, n_objectives=1, budget=20, paired=True, initial=3)
        policy.tell([0, 0, 0], [[1.0], [0.0], [1.0]])
        policy.take_back(0, [1.0], due=False)
        policy.tell([0], [[1.0]])
        if again:
            policy = pp.restore_policy(json.loads(json.dumps(policy.to_dict())))
        policy.take_back(0, [1.0], due=False)
        found.append({block: row.tolist() for block, row in sorted(policy._rows[0].items())})
    assert found[0] == found[1] == {0: [1.0], 1: [0.0]}


def test_where_nobody_knows_the_next_block_arms_are_put_together():
    """Several pulls at once go into one new block, so that an arm is hardly ever alone in it."""
    rng = np.random.default_rng(4)
    effects = 3 * rng.normal(size=9)
    told = [(arm, block) for block in range(8) for arm in range(4)] + [(4, 8)]  # the last one came later, on a plate of its own
    rows = np.array([[effects[block] + 0.1 * arm + 0.3 * rng.normal()] for arm, block in told])
    blocked = Blocked.of(*(np.array(part) for part in zip(*told, strict=True)), rows, n_options=5)
    policy = pp.policy("doubt", n_arms=5, n_objectives=1, paired=True, initial=1)
    policy.restate(np.array([8, 8, 8, 8, 1]), np.zeros((5, 1)), np.array([[1.0]] * 4 + [[0.0]]))
    policy.pair(blocked)
    asked = policy.next_arms(6).tolist()
    assert 4 in asked
    assert len(set(asked)) > 1


def test_paired_is_a_flag():
    with pytest.raises(pp.InvalidInput, match="paired"):
        pp.policy("doubt", n_arms=2, n_objectives=1, paired="yes")
