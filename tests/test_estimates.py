"""What measurements leave open: the draws follow the distributions they are said to."""

import numpy as np
import pytest
from scipy import stats
from scipy.special import digamma, ndtr, polygamma

from paretopick.errors import NotReady
from paretopick.estimates import estimate_tables
from paretopick.estimates.populations import root, shrunken
from paretopick.estimates.records import POPULATION
from paretopick.studies.certainty import _wilson, judge
from paretopick.theory.dominance import optimal_rows
from support.literal_draws import literal_resample


def estimates_of(tables, exact=None, signs=None):
    n = np.atleast_2d(tables[0]).shape[1]
    exact = np.zeros(n, dtype=bool) if exact is None else np.array(exact)
    return estimate_tables(
        [np.array(table, dtype=float) for table in tables], exact=exact, signs=np.ones(n) if signs is None else signs
    )


def normal_tables(rng, means, counts, stds=1.0):
    return [mean + np.asarray(stds) * rng.normal(size=(n, len(mean))) for mean, n in zip(means, counts, strict=True)]


def test_draws_of_few_options_follow_students_t():
    rng = np.random.default_rng(0)
    found = estimates_of(normal_tables(rng, [[0.0], [5.0]], [4, 2]))
    assert found.freedom.tolist() == [[4.0], [4.0]]  # 3 + 1, pooled
    draws = found.draws(20_000, rng)
    for option in range(2):
        standard = (draws[:, option, 0] - found.means[option, 0]) / (found.stds[option, 0] / np.sqrt(found.counts[option]))
        assert stats.kstest(standard, stats.t(4).cdf).pvalue > 0.001


def test_draws_of_zeros_and_ones_follow_beta():
    rng = np.random.default_rng(1)
    found = estimates_of([[[1.0], [0.0], [1.0]], [[0.0]] * 7])
    assert found.binary.tolist() == [True]
    draws = found.draws(20_000, rng)
    for option, (s, n) in enumerate([(2, 3), (0, 7)]):
        assert stats.kstest(draws[:, option, 0], stats.beta(s + 0.5, n - s + 0.5).cdf).pvalue > 0.001


def test_intervals_are_students_and_hold_as_much_of_the_draws_as_they_say():
    rng = np.random.default_rng(11)
    tables = [
        np.hstack((table, (rng.random((n, 1)) < 0.4).astype(float)))
        for n, table in ((n, rng.normal(size=(n, 1))) for n in (3, 6))
    ]
    found = estimates_of(tables)
    limits = found.intervals()
    width = stats.t.ppf(0.975, 2 + 5) * found.stds[:, 0] / np.sqrt(found.counts)
    assert limits[:, 0] == pytest.approx(np.column_stack((found.means[:, 0] - width, found.means[:, 0] + width)))
    draws = found.draws(20_000, rng)
    inside = ((draws >= limits[..., 0]) & (draws <= limits[..., 1])).mean(axis=0)
    assert inside[:, 0] == pytest.approx([0.95, 0.95], abs=0.01)
    assert inside[:, 1] == pytest.approx([0.95, 0.95], abs=0.05)
    assert ((limits[:, 1] >= 0) & (limits[:, 1] <= 1)).all()


def test_metrics_of_a_measurement_are_drawn_together():
    rng = np.random.default_rng(2)
    shared = rng.normal(size=(4000, 1))
    tables = [np.hstack((shared, shared)) + 0.5 * rng.normal(size=(4000, 2)), rng.normal(size=(2, 2)) * 0 + 3.0]
    draws = estimates_of(tables).draws(20_000, rng)
    assert np.corrcoef(draws[:, 0].T)[0, 1] == pytest.approx(1 / 1.25, abs=0.02)


def test_noise_is_pooled_where_options_are_alike_and_their_own_where_not():
    rng = np.random.default_rng(3)
    alike = estimates_of(normal_tables(rng, np.zeros((30, 1)), [8] * 30))
    assert np.ptp(alike.stds) == 0
    assert alike.freedom[0, 0] == 30 * (8 - 1)
    stds = np.exp(np.linspace(-2, 2, 30))
    uneven = estimates_of([std * rng.normal(size=(8, 1)) for std in stds])
    ratio = np.log(uneven.stds[:, 0] / stds)
    assert np.abs(ratio).max() < 0.8  # while the pooled one is off by a factor of seven
    assert uneven.freedom[0, 0] < 20


def test_moderated_noise_is_the_solution_of_its_equations():
    rng = np.random.default_rng(4)
    tables = [std * rng.normal(size=(n, 1)) for std, n in zip(np.exp(rng.normal(size=12)), rng.integers(3, 12, 12), strict=True)]
    found = estimates_of(tables)
    d = np.array([len(table) - 1.0 for table in tables])
    s2 = np.array([table.var(ddof=1) for table in tables])
    prior = found.freedom[0, 0] - d[0]
    typical = (found.stds[0, 0] ** 2 * (prior + d[0]) - d[0] * s2[0]) / prior
    assert np.allclose(found.stds[:, 0] ** 2, (prior * typical + d * s2) / (prior + d))
    e = np.log(s2) - digamma(d / 2) + np.log(d / 2)
    assert polygamma(1, prior / 2) == pytest.approx(np.var(e, ddof=1) - polygamma(1, d / 2).mean(), rel=1e-6)
    assert np.log(typical) == pytest.approx(e.mean() + digamma(prior / 2) - np.log(prior / 2), rel=1e-6)


def test_many_options_are_drawn_towards_each_other_and_nearer_to_the_truth():
    rng = np.random.default_rng(5)
    truth = rng.normal(size=(60, 2)) @ [[1.0, 0.9], [0.0, 0.3]]
    found = estimates_of(normal_tables(rng, truth, [3] * 60))
    draws = found.draws(4000, rng).mean(axis=0)
    before, after = np.square(found.means - truth).mean(), np.square(draws - truth).mean()
    assert after < 0.8 * before
    few = estimates_of(normal_tables(rng, truth[: POPULATION - 1], [30] * (POPULATION - 1)))
    centre = few.draws(40_000, rng).mean(axis=0)
    assert np.abs(centre - few.means).max() < 0.01  # too few to be a population


@pytest.mark.parametrize("n_options, n_metrics, expected", [(5, 3, False), (6, 1, True), (2, 8, False), (3, 4, True)])
def test_so_many_options_are_a_population(n_options, n_metrics, expected):
    rng = np.random.default_rng(18)
    found = estimates_of(normal_tables(rng, rng.normal(size=(n_options, n_metrics)), [4] * n_options))
    assert found.is_population == expected
    centre = found.draws(4000, rng).mean(axis=0)
    assert (np.abs(centre - found.means).max() > 0.1) == expected


def test_exact_metrics_are_drawn_as_they_are():
    rng = np.random.default_rng(6)
    tables = [np.column_stack((rng.normal(size=3), np.full(3, price))) for price in range(8)]
    draws = estimates_of(tables, exact=[False, True]).draws(50, rng)
    assert (draws[:, :, 1] == np.arange(8)).all()
    assert (draws[:, :, 0].std(axis=0) > 0).all()


def test_what_measurements_cannot_say_is_said():
    with pytest.raises(NotReady, match="no option has been measured twice"):
        estimates_of([[[1.0]], [[2.5]]])
    assert estimates_of([[[1.0]], [[0.0]]]).binary.all()  # the noise of 0 and 1 needs no repeats


def test_a_bandit_of_chances_keeps_them_where_small_is_good():
    found = estimates_of([[[1.0, 1.0], [0.0, 1.0]], [[0.0, 0.0], [0.0, 0.0]]], signs=np.array([1.0, -1.0]))
    bandit = found.bandit()
    assert bandit.means.tolist() == [[0.5, 0.0], [0.0, 1.0]]
    assert type(bandit.noise).__name__ == "Bernoulli"


def mixed_tables(rng, n_options, kinds):
    """Measurements of options that overlap; metrics are normal (n), 0 or 1 (b), or exact with few levels (x)."""
    places = rng.normal(size=(n_options, len(kinds)))
    levels = rng.integers(0, 3, n_options)
    return [
        np.column_stack(
            [
                {
                    "n": place + rng.normal(size=n),
                    "b": (rng.random(n) < ndtr(place)).astype(float),
                    "x": np.full(n, float(level)),
                }[kind]
                for kind, place in zip(kinds, row, strict=True)
            ]
        )
        for row, level, n in zip(places, levels, rng.integers(2, 9, n_options), strict=True)
    ]


@pytest.mark.sample(4)
@pytest.mark.parametrize("kinds", ["n", "b", "nn", "bx", "xxn", "nbxb", "bbbbb", "nnnnn"])
@pytest.mark.parametrize("n_options", [2, 5, pytest.param(70, marks=pytest.mark.slow)])
def test_probabilities_are_exactly_the_literal_ones(kinds, n_options):
    rng = np.random.default_rng(n_options)
    tables = mixed_tables(rng, n_options, kinds)
    tables[-1] = tables[0]  # a twin
    signs = np.where(np.arange(len(kinds)) % 2, -1.0, 1.0)
    found = estimates_of(tables, exact=[kind == "x" for kind in kinds], signs=signs)
    answer = optimal_rows(found.means * signs)
    draws, shares, right = literal_resample(found, answer, 400)
    assert found.draws(400, np.random.default_rng(0)) == pytest.approx(draws, rel=1e-9, abs=1e-12)
    judged = judge(found, n_draws=400)
    said = judged.certainty_of(answer)
    assert (said.draws, said.probability) == (400, right)
    assert judged.probabilities.tolist() == shares.tolist()


@pytest.mark.parametrize("of", [1, 7, 400])
def test_intervals_of_shares_are_wilsons(of):
    for right in range(of + 1):
        limits = stats.binomtest(right, of).proportion_ci(0.95, method="wilson")
        assert _wilson(right, of) == pytest.approx((limits.low, limits.high), rel=1e-12)


@pytest.mark.parametrize("distance", [0.0, 1.0, 2.5])
def test_probability_of_the_better_of_two_is_the_normal_one(distance):
    rng = np.random.default_rng(8)
    tables = [table - table.mean() for table in normal_tables(rng, [[0.0], [0.0]], [400, 400])]
    tables[0] = tables[0] / tables[0].std(ddof=1) + distance * np.sqrt(2 / 400)
    tables[1] = tables[1] / tables[1].std(ddof=1)
    judged = judge(estimates_of(tables))
    shares, said = judged.probabilities, judged.certainty_of(np.array([True, False]))
    expected = stats.norm.cdf(distance)
    assert shares[0] == pytest.approx(expected, abs=0.025)
    assert said.probability == shares[0] == 1 - shares[1]
    assert said.interval[0] < said.probability < said.interval[1] or distance == 0


def test_an_answer_of_so_many_options_is_right_if_all_of_them_are_optimal():
    rng = np.random.default_rng(9)
    found = estimates_of(normal_tables(rng, [[9.0, 0.0], [0.0, 9.0], [-9.0, -9.0]], [50] * 3))
    answer = np.array([True, False, False])
    assert judge(found).certainty_of(answer).probability == 0.0
    assert judge(found, max_arms=1).certainty_of(answer).probability == 1.0
    assert judge(found, max_arms=1).certainty_of(np.array([False, False, True])).probability == 0.0


def test_the_same_data_say_the_same():
    rng = np.random.default_rng(10)
    found = estimates_of(normal_tables(rng, rng.normal(size=(8, 2)), [5] * 8))
    first, second = judge(found), judge(found)
    assert (first.draws == second.draws).all()
    assert (first.answer == second.answer).all()
    assert first.certainty == second.certainty


def test_an_outlier_and_a_metric_without_noise_change_nothing_about_the_others():
    rng = np.random.default_rng(12)
    near = [1 + 0.2 * i for i in range(5)]
    tables = [value * (1 + 0.001 * rng.normal(size=(8, 1))) for value in (*near, 1e6)]
    found = estimates_of(tables, signs=np.array([-1.0]))
    judged = judge(found)
    assert judged.answer.tolist() == [True] + [False] * 5
    assert judged.certainty.probability > 0.99
    sizes = np.repeat([0.0, 1e6, 2e6], [2, 2, 3])
    both = [np.column_stack((i + 0.1 * rng.normal(size=9), np.full(9, size))) for i, size in enumerate(sizes)]
    draws = estimates_of(both).draws(200, rng)
    assert np.abs(draws[..., 1] - sizes).max() < 1e6  # the smallest difference between options, not rounding of large numbers


def test_the_population_is_the_one_of_a_literal_expectation_maximisation():
    rng = np.random.default_rng(13)
    tables = normal_tables(rng, rng.normal(size=(9, 2)), rng.integers(2, 9, 9))
    found = estimates_of(tables)
    located, spread = found._located()
    nearer, left = shrunken(located, spread)
    units = located.std(axis=0)
    x, C = located / units, [c / np.outer(units, units) for c in spread]
    S = np.cov(x.T)
    mu, A = x.mean(axis=0), S
    for _ in range(2000):
        posterior = [np.linalg.inv(np.linalg.inv(A) + np.linalg.inv(c)) for c in C]
        m = [P @ (np.linalg.inv(A) @ mu + np.linalg.inv(c) @ y) for P, c, y in zip(posterior, C, x, strict=True)]
        mu = np.mean(m, axis=0)
        A = (sum(P + np.outer(y - mu, y - mu) for P, y in zip(posterior, m, strict=True)) + S) / (len(x) + 1)
    assert nearer == pytest.approx(np.array(m) * units, abs=1e-4)
    assert left == pytest.approx(np.array(posterior) * np.outer(units, units), abs=1e-4)


def test_goals_turn_correlations_in_simulations():
    rng = np.random.default_rng(14)
    shared = rng.normal(size=(500, 1))
    tables = [np.hstack((shared, shared)) + 0.2 * rng.normal(size=(500, 2)) + i for i in range(2)]
    same = estimates_of(tables).noise.cov[0]
    turned = estimates_of(tables, signs=np.array([1.0, -1.0])).noise.cov[0]
    assert same[0, 1] > 0.8
    assert turned == pytest.approx(same * [[1, -1], [-1, 1]])


def test_chances_go_together_with_other_metrics():
    rng = np.random.default_rng(15)
    works = (rng.random((400, 1)) < 0.5).astype(float)
    tables = [np.hstack((works, works + 0.3 * rng.normal(size=(400, 1)))), np.array([[0.0, 1.0], [1.0, 2.0]])]
    draws = estimates_of(tables).draws(4000, rng)[:, 0]
    assert np.corrcoef(draws.T)[0, 1] > 0.7


def test_few_repeats_say_little_about_correlations():
    few = estimates_of([[[0.0, 0.0], [1.0, 1.0]], [[5.0, 2.0]]])
    assert few.correlation[0, 1] == pytest.approx(1 / 3)  # one degree of freedom, two metrics


def test_noise_that_is_shared_is_uncertain_for_all_at_once():
    found = estimates_of([[[0.0], [1.0]], [[2.0], [3.0]]])
    draws = found.draws(20_000, np.random.default_rng(16))
    distance = (draws[:, 1, 0] - draws[:, 0, 0] - 2.0) / (found.stds[0, 0] * np.sqrt(1 / 2 + 1 / 2))
    assert stats.kstest(distance, stats.t(2).cdf).pvalue > 0.001


def test_degrees_of_freedom_are_no_more_than_there_are():
    rng = np.random.default_rng(17)
    for _ in range(200):
        found = estimates_of(normal_tables(rng, np.zeros((3, 1)), [2, 2, 2]))
        assert found.freedom.max() <= 3


def test_units_far_apart_do_not_drown_each_other():
    rng = np.random.default_rng(19)
    some = rng.normal(size=(4, 3, 6))
    covariances = some @ np.swapaxes(some, 1, 2)
    for powers in ((40, 0, -40), (0, -40, 40), (0, 0, 0)):
        units = 2.0 ** np.array(powers)
        scaled = covariances * units[:, None] * units
        roots = root(scaled)
        assert roots @ np.swapaxes(roots, 1, 2) == pytest.approx(scaled, rel=1e-12)
    assert (root(np.zeros((1, 2, 2))) == 0).all()
