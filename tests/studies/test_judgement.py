"""What all measurements together say: the answer follows from the probabilities, and pairs of options from the same draws."""

import numpy as np
import pytest

from paretopick.errors import InvalidInput
from paretopick.estimates import estimate_tables
from paretopick.studies.certainty import judge
from support.literal_draws import literal_domination


def judged(tables, *, signs=None, exact=None, **options):
    n = len(tables[0][0])
    exact = np.zeros(n, dtype=bool) if exact is None else np.array(exact)
    signs = np.ones(n) if signs is None else np.array(signs)
    return judge(estimate_tables([np.array(table, dtype=float) for table in tables], exact=exact, signs=signs), **options)


def noisy(rng, means, n, stds=1.0):
    return [mean + np.asarray(stds) * rng.normal(size=(n, len(mean))) for mean in np.asarray(means, dtype=float)]


def test_the_answer_never_contradicts_the_probabilities():
    rng = np.random.default_rng(0)
    groups = set()
    for n_options in (2, 4, 9, 30):
        for n in (2, 6, 30):
            found = judged(noisy(rng, rng.normal(size=(n_options, 2)), n))
            assert found.answer.tolist() == (found.probabilities >= 0.5).tolist()
            assert (found.surely_in.astype(int) + found.surely_out + found.open == 1).all()
            assert found.answer[found.surely_in].all()
            assert not found.answer[found.surely_out].any()
            assert found.wrong.tolist() == np.minimum(found.probabilities, 1 - found.probabilities).tolist()
            groups |= {name for name in ("surely_in", "surely_out", "open") if getattr(found, name).any()}
    assert groups == {"surely_in", "surely_out", "open"}


def test_an_answer_is_never_empty():
    rows = [[0.0], [1.0], [2.0], [3.0], [4.0]]
    found = judged([rows] * 4 + [[[value + 0.01] for (value,) in rows]])  # five options alike, in a single metric
    assert found.probabilities.max() < 0.4
    assert found.answer.sum() == 1
    assert found.answer[np.argmax(found.probabilities)]


def test_groups_are_those_of_the_level():
    rng = np.random.default_rng(1)
    tables = noisy(rng, rng.normal(size=(12, 2)), 8)
    open_at = {level: judged(tables, level=level).open for level in (0.6, 0.8, 0.95, 1.0)}
    sizes = [int(mask.sum()) for mask in open_at.values()]
    assert sizes == sorted(sizes)
    assert sizes[0] < sizes[-1]
    chances = judged(tables).probabilities
    assert open_at[0.8].tolist() == ((chances > 1 - 0.8) & (chances < 0.8)).tolist()


@pytest.mark.parametrize("level", [0.5, 0.0, 1.01, 95, float("nan")])
def test_a_level_that_is_none_is_refused(level):
    with pytest.raises(InvalidInput, match=r"level=.* must be above 0\.5"):
        judged(noisy(np.random.default_rng(2), [[0.0], [1.0]], 3), level=level)


def test_after_so_many_options_the_most_likely_are_in_the_answer():
    tables = noisy(np.random.default_rng(3), [[9.0, 0.0], [6.0, 6.0], [5.9, 6.2], [0.0, 9.0], [-9.0, -9.0]], 8)
    every, some = judged(tables), judged(tables, max_arms=2)
    assert every.answer.sum() > 2
    assert some.answer.sum() == 2
    assert every.probabilities[some.answer].min() >= every.probabilities[~some.answer].max()
    assert some.certainty.probability > every.certainty.probability  # right is any answer of two
    assert judged(tables, max_arms=5).answer.tolist() == every.answer.tolist()


def test_who_dominates_whom_is_counted_draw_by_draw():
    rng = np.random.default_rng(4)
    tables = noisy(rng, rng.normal(size=(7, 3)) * 0.3, 5)
    for table, size in zip(tables, [1, 2, 2, 3, 1, 1, 2], strict=True):
        table[:, 2] = size  # exact, with ties
    found = judged(tables, signs=[1.0, -1.0, -1.0], exact=[False, False, True])
    shares = literal_domination(found.draws * found.estimates.signs)
    for option in range(7):
        assert found.domination(option).tolist() == shares[option].tolist()
    assert 0 < shares.max() < 1


def test_intervals_of_differences_hold_the_truth_as_often_as_they_say():
    inside = wide = 0
    for seed in range(400):
        rng = np.random.default_rng([5, seed])
        found = judged(noisy(rng, [[3.0, 0.0], [1.0, 0.0]], 6))
        low, middle, high = found.difference(0, 1, 0)
        assert low < middle < high
        inside += low <= 2.0 <= high
        wide += found.difference(0, 1, 0, level=0.5).high < high
    assert 370 <= inside <= 390  # of 400, 380 to be expected
    assert wide == 400


def test_ratios_are_those_of_the_draws_and_need_means_above_zero():
    rng = np.random.default_rng(6)
    found = judged(noisy(rng, [[40.0, 0.2], [10.0, 0.1]], 50), signs=[-1.0, 1.0])
    low, middle, high = found.ratio(0, 1, 0)
    assert low < 4.0 < high
    assert middle == pytest.approx(4.0, abs=0.3)
    assert (low, middle, high) == tuple(np.quantile(found.draws[:, 0, 0] / found.draws[:, 1, 0], [0.025, 0.5, 0.975]))
    turned = found.ratio(1, 0, 0)
    assert (turned.low, turned.high) == pytest.approx((1 / high, 1 / low), rel=0.01)
    assert found.ratio(0, 1, 1) is None


def test_exact_metrics_differ_by_what_they_differ():
    tables = [[[1.0, 5.0], [2.0, 5.0]], [[4.0, 20.0], [3.0, 20.0]]]
    found = judged(tables, exact=[False, True])
    assert found.difference(0, 1, 1) == (-15.0, -15.0, -15.0)
    assert found.ratio(1, 0, 1) == (4.0, 4.0, 4.0)


def test_near_equals_are_alike_in_every_metric_and_known_well():
    rng = np.random.default_rng(7)
    means = [[0.0, 0.0], [0.0, 0.0], [4.0, 4.0], [4.0, 4.0], [4.0, -4.0], [0.0, 8.0]]
    assert judged(noisy(rng, means, 300)).near_equals() == ((0, 1), (2, 3))
    assert judged(noisy(rng, means, 2)).near_equals() == ()  # nothing is known well
    same, *others = noisy(rng, [[0.0, 0.0], [9.0, 0.0], [0.0, 9.0]], 300)
    assert judged([same, others[0], same, others[1], same]).near_equals() == ((0, 2, 4),)


def test_near_equals_are_near_to_all_of_their_group():
    noise = np.random.default_rng(11).normal(size=(200, 1))
    noise = (noise - noise.mean()) / noise.std()
    found = judged(
        [noise + place for place in (0.0, 0.15, 0.3, 5.0, -5.0)]
    )  # neighbours cannot be told apart, the first and third can
    assert found.difference(1, 0, 0).low < 0 < found.difference(2, 0, 0).low
    assert found.near_equals() == ((0, 1),)


def test_near_equals_in_an_exact_metric_are_equal():
    rng = np.random.default_rng(8)
    sizes = [1.0, 1.0, 2.0, 5.0, 9.0]
    tables = [np.column_stack((rng.normal(size=400) + 3 * (i > 2) * i, np.full(400, size))) for i, size in enumerate(sizes)]
    assert judged(tables, exact=[False, True]).near_equals() == ((0, 1),)


def test_another_answer_is_held_against_the_same_draws():
    rng = np.random.default_rng(9)
    found = judged(noisy(rng, rng.normal(size=(6, 2)), 6))
    assert found.certainty_of(found.answer) == found.certainty
    for draw in (0, 1, 2):
        other = found.optimal[draw]
        share = np.mean([(row == other).all() for row in found.optimal])
        assert found.certainty_of(other).probability == share > 0
    assert found.certainty_of(np.zeros(6, dtype=bool)).probability == 0.0


@pytest.mark.parametrize("means", ["cloud", "front"])
@pytest.mark.parametrize("factors", [(2.0**40, 2.0**-40), (2.0**300, 2.0**300), (2.0**-300, 2.0**-300)])
def test_units_do_not_matter(means, factors):
    rng = np.random.default_rng(10)
    angles = np.linspace(0, np.pi / 2, 9)
    places = rng.normal(size=(9, 2)) if means == "cloud" else 2 * np.column_stack((np.cos(angles), np.sin(angles)))
    tables = noisy(rng, places, 6, stds=0.5)
    found = judged(tables)
    assert found.estimates.front_probability > 0
    assert judged([table * factors for table in tables]).probabilities == pytest.approx(found.probabilities, abs=0.04)


def test_options_that_are_exactly_alike_are_all_in():
    found = judged([[[2.0, 5.0]] * 3] * 7 + [[[1.0, 5.0]] * 3], exact=[True, True])
    assert found.answer.tolist() == [True] * 7 + [False]


def test_options_on_a_front_are_cautioned_about():
    rng = np.random.default_rng(12)
    angles = np.linspace(0.05, np.pi / 2 - 0.05, 30)
    on_it = judged(noisy(rng, 2 * np.column_stack((np.cos(angles), np.sin(angles))), 30, stds=0.5))
    assert on_it.estimates.front_probability > 0.5
    assert f"probability {on_it.estimates.front_probability:.0%}" in on_it.caution
    assert "of draws on a front" in on_it.certainty.how
    cloud = judged(noisy(rng, rng.normal(size=(30, 2)), 30, stds=0.5))
    assert cloud.caution is None
