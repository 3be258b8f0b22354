"""Exact sums: whatever is added and taken out, they are those of what is left, and what is read from them is rounded once."""

import json
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paretopick.errors import InvalidInput
from paretopick.studies import sums as sums_module
from paretopick.studies.sums import OptionSums, Sums

TIES = st.sampled_from([0.0, 1.0, -0.0, 0.5, 2.0, 3.0, -1.0])
WILD = st.sampled_from([1e300, -1e300, 1e-300, 5e-324, -5e-324, 1.7e308, -1.7e308, 0.1, 2.0**-1022, 1 + 2.0**-52, 0.001, 1000.1])
VALUES = TIES | WILD | st.floats(allow_nan=False, allow_infinity=False)
ROWS = st.integers(1, 3).flatmap(lambda d: st.lists(st.lists(VALUES, min_size=d, max_size=d), min_size=1, max_size=25))


def added(rows) -> OptionSums:
    option = OptionSums(len(rows[0]))
    for row in rows:
        option.change(row, 1)
    return option


def nearest(number: Fraction) -> float:
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf


@given(ROWS)
def test_what_is_read_is_the_nearest_float(rows):
    option, n = added(rows), len(rows)
    columns = [[Fraction(value) for value in column] for column in zip(*rows, strict=True)]
    for i, column in enumerate(columns):
        assert option.total(i) == nearest(sum(column))
        assert option.mean(i) == nearest(sum(column) / n)
        assert option.fractions[i] == sum(value not in (0, 1) for value in column)
        for j, other in enumerate(columns):
            apart = sum((x - sum(column) / n) * (y - sum(other) / n) for x, y in zip(column, other, strict=True))
            assert option.deviations(i, j) == nearest(apart)


@given(ROWS)
def test_many_at_once_are_the_same_as_one_by_one(rows):
    at_once = OptionSums(len(rows[0]))
    at_once.add_rows(np.array(rows))
    assert at_once.to_list() == added(rows).to_list()


@pytest.mark.parametrize("bits", range(80))
def test_values_of_different_size_at_once_are_the_same_as_one_by_one(bits):
    """Up to ten bits apart they are added in 64 bits."""
    rows = [[1 + 2.0**-52], [-(2.0**bits) * (2 - 2.0**-52)]]
    at_once = OptionSums(1)
    at_once.add_rows(np.array(rows))
    assert at_once.to_list() == added(rows).to_list()


@given(ROWS, st.randoms(use_true_random=False), st.booleans())
def test_what_is_taken_out_leaves_no_trace(rows, random, through_json):
    """The first one, all, in any order, also when the sums were saved in between."""
    option = added(rows)
    if through_json:
        option = OptionSums.from_list(json.loads(json.dumps(option.to_list())), len(rows[0]))
    left = random.sample(rows, random.randrange(len(rows) + 1))
    rest = list(rows)
    for row in left:
        rest.remove(row)
    for row in random.sample(rest, len(rest)):
        option.change(row, -1)
    assert option.to_list() == (added(left) if left else OptionSums(len(rows[0]))).to_list()
    option.change([0.1] * len(rows[0]), 1)
    assert option.to_list() == added([*left, [0.1] * len(rows[0])]).to_list()


@given(VALUES, st.integers(1, 50))
def test_the_mean_of_equal_values_is_that_value(value, n):
    option = added([[value]] * n)
    assert option.mean(0) == value
    assert option.deviations(0, 0) == 0.0


@pytest.mark.parametrize("few", [0, 3, 100])
def test_options_do_not_mix(few, monkeypatch):
    monkeypatch.setattr(sums_module, "FEW", few)
    rng = np.random.default_rng(0)
    arms, rows = rng.integers(0, 7, 60), rng.normal(size=(60, 2)).round(1)
    together, apart = Sums(9, 2), Sums(9, 2)
    together.add_many(arms, rows)
    for arm, row in zip(arms.tolist(), rows.tolist(), strict=True):
        apart.add(arm, row)
    assert together.to_list() == apart.to_list()
    assert together.counts.tolist() == np.bincount(arms, minlength=9).tolist()
    np.testing.assert_array_equal(together.means(), apart.means())
    for arm in range(7):
        table = rows[arms == arm]
        np.testing.assert_allclose(together.means()[arm], table.mean(axis=0))
        np.testing.assert_allclose(together.squares()[arm], table.var(axis=0) * len(table))
        np.testing.assert_allclose(together.products([arm])[0], np.cov(table.T, bias=True) * len(table), atol=1e-14)
    assert np.isnan(together.means()[7:]).all()
    assert together.binary([7, 8]).all()
    assert together.binary([]).all()


def test_what_is_read_follows_every_change():
    sums = Sums(2, 1)
    sums.add(0, [1.0])
    sums.add(0, [3.0])
    assert (sums.means()[0, 0], sums.squares()[0, 0], sums.totals([0])[0, 0]) == (2.0, 2.0, 4.0)
    assert not sums.binary([0]).any()
    sums.remove(0, [3.0])
    assert (sums.means()[0, 0], sums.squares()[0, 0], sums.totals([0])[0, 0]) == (1.0, 0.0, 1.0)
    assert sums.binary([0]).all()
    sums.remove(0, [1.0])
    assert np.isnan(sums.means()[0, 0])


def test_what_is_left_may_need_a_smaller_unit_than_the_sums_show():
    """The sums of 0.5 are whole numbers, and so are those of 1; the sum of their products is not."""
    option = added([[0.5, 1.0], [0.5, 0.0], [0.5, 0.0], [0.5, 0.0]])
    assert option.to_list()[1:3] == [["1p1", "1p0"], ["1p0", "1p-1", "1p0"]]
    assert OptionSums.from_list(option.to_list(), 2).to_list() == option.to_list()


def test_sums_are_written_short():
    option = added([[0.5, 1024.0]] * 4)
    assert option.to_list() == [4, ["1p1", "1p12"], ["1p0", "1p11", "1p22"], [4, 4]]


@pytest.mark.parametrize(
    "saved",
    [
        [-1, ["0p0"], ["0p0"], [0]],
        [True, ["1p0"], ["1p0"], [0]],
        [1, ["1p0"], ["0p0"], [0]],  # one measurement of 1 has a square of 1
        [0, ["1p0"], ["1p0"], [0]],
        [0, ["0p0"], ["1p0"], [0]],
        [2, ["1p1"], ["1p0"], [0]],  # squares are smaller than the mean allows
        [1, ["1p0"], ["1p0"], [2]],
        [1, ["1p0", "1p0"], ["1p0"], [0]],
        [1, ["1p0"], ["1p0", "1p0"], [0]],
        [1, ["1p0"], ["1p0"], [0, 0]],
        [1, ["1p9999"], ["1p9999"], [1]],
        [1, ["1p-9999"], ["1p-9999"], [1]],
        [1, ["1p999999999999"], ["1p0"], [1]],
        [1, ["f" * 1999 + "p0"], ["1p0"], [1]],
        [1, ["1_0p0"], ["1p8"], [1]],
        [1, [" 1p0"], ["1p0"], [0]],
        [1, [""], ["1p0"], [0]],
        [1, [1], ["1p0"], [0]],
        [1, "1", "1", [0]],
        [2, ["2p0"], ["-5p0"], [0]],
        [1, ["1p0"], ["1p0"]],
        "1p0",
        None,
        {},
    ],
)
def test_what_no_measurements_add_up_to_is_refused(saved):
    with pytest.raises((InvalidInput, TypeError, ValueError)):
        OptionSums.from_list(saved, 1)


def test_metrics_that_vary_more_together_than_each_by_itself_are_refused():
    saved = added([[1.0, 2.0], [2.0, 4.0], [4.0, 7.0]]).to_list()
    assert saved[2][1] == "13p1"
    saved[2][1] = "17p1"
    with pytest.raises(InvalidInput, match="3 measurements cannot have the sums"):
        OptionSums.from_list(saved, 2)
