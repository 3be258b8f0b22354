"""Measurements that wait: first come, first served, whatever is taken, dropped and saved in between."""

import itertools
import json
import tracemalloc
from collections import deque

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paretopick.errors import InvalidInput
from paretopick.studies.kept import Kept, Numbers

ACTIONS = ["keep", "keep", "keep", "take", "drop", "save"]
STEPS = st.lists(st.tuples(st.sampled_from(ACTIONS), st.integers(0, 1), st.integers(0, 5)), min_size=20, max_size=60)


@given(STEPS)
def test_they_are_queues(steps):
    kept, queues, number = Kept(3, 2), [deque(), deque(), deque()], 0
    for step, arm, n in steps:
        queue = queues[arm]
        if step == "keep":
            number += 1
            queue.append((number, [number / 10, -0.0]))
            kept.keep(arm, *queue[-1])
        elif step == "take" and (n := min(n, len(queue))):
            numbers, rows = kept.take(arm, n)
            assert list(zip(numbers, rows.tolist(), strict=True)) == [queue.popleft() for _ in range(n)]
        elif step == "drop":
            wanted = queue[n % len(queue)] if queue else None
            assert kept.drop(arm, wanted[0] if wanted else number + 1) is (wanted is not None)
            if wanted:
                queue.remove(wanted)
        elif step == "save":
            kept = Kept.from_list(json.loads(json.dumps(kept.to_list())), 3, 2)
        assert kept.counts.tolist() == [len(queue) for queue in queues]
        assert (len(kept), bool(kept)) == (sum(map(len, queues)), any(queues))
        assert [kept.first(arm) for arm in range(3)] == [queue[0][1] if queue else None for queue in queues]


def test_many_take_little_memory():
    tracemalloc.start()
    try:
        kept = Kept(2, 2)
        for number in range(50_000):
            kept.keep(number % 2, number, (number / 7, number / 9))
        assert tracemalloc.get_traced_memory()[0] < 40 * 50_000  # 24 bytes are a number and two values
    finally:
        tracemalloc.stop()


@given(st.lists(st.integers(1, 40), unique=True), st.lists(st.integers(1, 40), max_size=10))
def test_a_set_of_numbers_is_saved_as_runs(numbers, gone):
    mine = Numbers()
    mine.add(numbers)
    left = set(numbers)
    for number in gone:
        assert mine.discard(number) is (number in left)
        left.discard(number)
    runs = mine.to_list()
    assert [number for first, last in runs for number in range(first, last + 1)] == sorted(left)
    assert all(second[0] > first[1] + 1 for first, second in itertools.pairwise(runs))
    assert Numbers.from_list(runs, at_most=len(left)).to_list() == runs


@pytest.mark.parametrize(
    "runs", [[[1, 10**15]], [[0, 1]], [[3, 2]], [[1, 2], [2, 3]], [[1]], [["1", "2"]], [[1.0, 2.0]], 5, [[1, 4]]]
)
def test_runs_that_cannot_be_are_refused(runs):
    with pytest.raises((InvalidInput, TypeError, ValueError)):
        Numbers.from_list(runs, at_most=3)


ONE, VALUES = "AQAAAAAAAAA=", "AAAAAAAA8D8AAAAAAADwPw=="  # number 1, and the values 1.0 and 1.0


@pytest.mark.parametrize(
    "saved",
    [
        [[3, ONE, VALUES]],
        [[-1, ONE, VALUES]],
        [["0", ONE, VALUES]],
        [[0, ONE, VALUES], [0, ONE, VALUES]],
        [[0, ONE, ONE]],
        [[0, "", ""]],
        [[0, "AAAAAAAAAAA=", VALUES]],  # number 0
        [[0, ONE, "AAAAAAAA+H8AAAAAAADwPw=="]],  # not a number
        [[0, ONE, VALUES[:-1]]],
        [[0, "*" + ONE, VALUES]],
        [[0, 1, 2]],
        [[0, ONE]],
        [0],
        7,
    ],
)
def test_measurements_that_cannot_wait_are_refused(saved):
    assert len(Kept.from_list([[0, ONE, VALUES]], 3, 2)) == 1
    with pytest.raises((InvalidInput, TypeError, ValueError)):
        Kept.from_list(saved, 3, 2)
