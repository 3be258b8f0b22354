"""Measurements that lack some metrics: each mean has its own count, and what is not known is what the others let expect."""

import numpy as np
import pytest
from scipy import stats

from paretopick.errors import NotReady
from paretopick.estimates import estimate, estimate_tables
from paretopick.estimates.populations import shrunken
from paretopick.studies.certainty import judge

NAN = float("nan")


def estimates_of(tables, exact=None, signs=None, names=None):
    n = np.shape(tables[0])[1]
    exact = np.zeros(n, dtype=bool) if exact is None else np.array(exact)
    signs = np.ones(n) if signs is None else np.array(signs)
    return estimate_tables([np.array(table, dtype=float) for table in tables], exact=exact, signs=signs, names=names)


def with_gaps(rng, tables, share):
    """The same measurements, of which a share of the values is missing; each option keeps two of each metric."""
    holed = []
    for table in tables:
        gaps = rng.random(table.shape) < share
        gaps[:2] = False
        holed.append(np.where(gaps, NAN, table))
    return holed


def normal_tables(rng, means, n, cov):
    return [mean + rng.multivariate_normal(np.zeros(len(mean)), cov, size=n) for mean in means]


def test_complete_measurements_may_be_counted_in_any_form():
    rng = np.random.default_rng(0)
    counts = rng.integers(2, 9, 7)
    tables = [rng.normal(size=(n, 3)) for n in counts]
    means = np.array([table.mean(axis=0) for table in tables])
    products = np.array([(table - mean).T @ (table - mean) for table, mean in zip(tables, means, strict=True)])
    options = {"binary": np.zeros(3, dtype=bool), "exact": np.zeros(3, dtype=bool), "signs": np.ones(3)}
    plain = estimate(counts, means, products, **options)
    by_metric = estimate(np.repeat(counts[:, None], 3, axis=1), means, products, **options)
    from_tables = estimates_of(tables)
    for other in (by_metric, from_tables):
        assert other.counts.tolist() == counts.tolist()
        assert (other.known == counts[:, None]).all()
        for field in ("means", "stds", "freedom", "pooled", "correlation"):
            assert (getattr(other, field) == getattr(plain, field)).all()
        assert (other.draws(50, np.random.default_rng(1)) == plain.draws(50, np.random.default_rng(1))).all()


def test_each_metric_has_its_own_count_and_two_metrics_that_of_measurements_with_both():
    rng = np.random.default_rng(2)
    tables = with_gaps(rng, normal_tables(rng, np.zeros((2, 2)), 400, [[1.0, 0.8], [0.8, 1.0]]), 0.4)
    tables[0] = np.vstack((tables[0], [[NAN, NAN]]))  # nothing was measured
    found = estimates_of(tables)
    pooled, freedom, crossed, degrees = np.zeros(2), np.zeros(2), 0.0, 0
    for option, table in enumerate(tables):
        for metric in range(2):
            own = [row[metric] for row in table if not np.isnan(row[metric])]
            assert found.known[option, metric] == len(own)
            assert found.means[option, metric] == pytest.approx(sum(own) / len(own))
            pooled[metric] += sum((value - sum(own) / len(own)) ** 2 for value in own)
            freedom[metric] += len(own) - 1
        rows = [row for row in table if not np.isnan(row).any()]
        assert found.both[option, 0, 1] == len(rows)
        centre = np.mean(rows, axis=0)
        crossed += sum((a - centre[0]) * (b - centre[1]) for a, b in rows)
        degrees += len(rows) - 1
        assert found.counts[option] == sum(not np.isnan(row).all() for row in table)
    assert found.pooled == pytest.approx(np.sqrt(pooled / freedom))
    assert (found.freedom == freedom).all()  # two options share their noise
    literal = crossed / degrees / np.sqrt(np.prod(pooled / freedom)) * degrees / (degrees + 2)
    assert found.correlation[0, 1] == pytest.approx(literal)
    assert literal == pytest.approx(0.8, abs=0.1)


def test_means_of_measurements_that_lack_metrics_scatter_as_is_said():
    rng = np.random.default_rng(3)
    gaps = rng.random((30, 2)) < [0.2, 0.5]
    tables = [np.where(gaps, NAN, table) for table in normal_tables(rng, np.zeros((4000, 2)), 30, [[1.0, 0.8], [0.8, 1.0]])]
    found = estimates_of(tables)
    seen, said = np.cov(found.means.T), found._located()[1].mean(axis=0)
    assert seen == pytest.approx(said, rel=0.1)
    assert np.corrcoef(found.means.T)[0, 1] < 0.6  # while two metrics of one measurement go together with 0.8


@pytest.mark.slow
@pytest.mark.parametrize("n_options", [4, 30])
def test_draws_hold_the_truth_as_often_as_they_say_where_values_are_missing(n_options):
    inside = of = 0
    for seed in range(60):
        rng = np.random.default_rng([4, seed])
        means = rng.normal(size=(n_options, 2))
        draws = estimates_of(with_gaps(rng, normal_tables(rng, means, 9, [[1.0, -0.5], [-0.5, 1.0]]), 0.5)).draws(2000, rng)
        low, high = np.quantile(draws, [0.1, 0.9], axis=0)
        inside += int(((means >= low) & (means <= high)).sum())
        of += means.size
    assert inside / of == pytest.approx(0.8, abs=0.05)


@pytest.mark.long
@pytest.mark.slow
def test_an_option_that_lacks_a_metric_is_drawn_as_the_population_and_its_other_metrics_have_it():
    rng = np.random.default_rng(5)
    means = rng.multivariate_normal([1.0, 2.0], [[1.0, 0.9], [0.9, 1.0]], size=40)
    tables = normal_tables(rng, means, 6, np.eye(2))
    tables[3] = np.column_stack((tables[3][:, 0], np.full(6, NAN)))
    found = estimates_of(tables)
    assert found.known[3].tolist() == [6, 0]
    assert np.isnan(found.means[3, 1])
    assert np.isnan(found.intervals()[3, 1]).all()
    assert not np.isnan(found.intervals()[:3]).any()
    assert np.isfinite(found.bandit().means).all()
    draws = found.draws(20_000, rng)
    nearer, left, centre, between = literal_population(*found._located(), unknown=found.known == 0)
    assert draws[:, 3].mean(axis=0) == pytest.approx(nearer[3], abs=0.02)
    assert np.cov(draws[:, 3].T) == pytest.approx(left[3], abs=0.03)
    given = centre[1] + between[0, 1] / between[0, 0] * (nearer[3, 0] - centre[0])
    assert nearer[3, 1] == pytest.approx(given, abs=1e-6)
    assert judge(found).probabilities[3] > 0


def literal_population(located, spread, unknown):
    """Expectation-maximisation with precisions, which are 0 for what is unknown; in units of what is known."""
    units = located.std(axis=0)
    x, C = located / units, spread / np.multiply.outer(units, units)
    S = np.cov(x.T)
    mu, A = x.mean(axis=0), S
    for _ in range(3000):
        P, m = [], []
        for y, c, missing in zip(x, C, unknown, strict=True):
            precision = np.zeros_like(c)
            seen = np.flatnonzero(~missing)
            precision[np.ix_(seen, seen)] = np.linalg.inv(c[np.ix_(seen, seen)])
            P.append(np.linalg.inv(np.linalg.inv(A) + precision))
            m.append(P[-1] @ (np.linalg.inv(A) @ mu + precision @ y))
        mu = np.mean(m, axis=0)
        A = (sum(p + np.outer(y - mu, y - mu) for p, y in zip(P, m, strict=True)) + S) / (len(x) + 1)
    outer = np.multiply.outer(units, units)
    return np.array(m) * units, np.array(P) * outer, mu * units, A * outer


def test_the_population_of_options_that_lack_metrics_is_the_literal_one():
    rng = np.random.default_rng(6)
    tables = normal_tables(rng, rng.normal(size=(12, 3)), 4, np.eye(3))
    for option, metric in ((0, 0), (5, 0), (5, 2), (11, 1)):
        tables[option][:, metric] = NAN
    found = estimates_of(tables)
    located, spread = found._located()
    nearer, left = shrunken(located, spread)
    expected = literal_population(located, spread, found.known == 0)
    assert nearer == pytest.approx(expected[0], abs=1e-4)
    assert left == pytest.approx(expected[1], abs=1e-4)


def test_exact_metrics_and_zeros_and_ones_may_be_missing_too():
    rng = np.random.default_rng(7)
    tables = [
        np.column_stack((rng.normal(size=9), np.full(9, size), (rng.random(9) < chance).astype(float)))
        for size, chance in zip(range(8), np.linspace(0.2, 0.9, 8), strict=True)
    ]
    tables[2][:, 1] = NAN
    tables[4][:, 2] = NAN
    found = estimates_of(tables, exact=[False, True, False])
    assert found.binary.tolist() == [False, False, True]
    draws = found.draws(4000, rng)
    known = [0, 1, 3, 4, 5, 6, 7]
    assert (draws[:, known, 1] == known).all()
    assert draws[:, 2, 1].std() > 1.0  # anywhere among the others
    assert ((draws[..., 2] >= 0) & (draws[..., 2] <= 1)).all()
    assert draws[:, 4, 2].std() > draws[:, 3, 2].std()
    assert found.bandit().means[4, 2] == pytest.approx(draws[:, 4, 2].mean(), abs=0.03)


def test_too_few_options_cannot_say_what_a_missing_metric_may_be():
    tables = [[[1.0, 2.0], [2.0, 3.0]], [[1.0, 5.0], [0.0, 4.0]], [[1.0, NAN], [2.0, NAN]]]
    names = (("oak", "ash", "elm"), ("height", "price"))
    with pytest.raises(NotReady, match=r"'elm' has no value of metric 'price', and 2 other options have one; .* be 6 to say"):
        estimates_of(tables, names=names)
    with pytest.raises(NotReady, match="option 2 has no value of metric 1"):
        estimates_of(tables)
    with pytest.raises(NotReady, match="1 of 3 options has no measurements"):
        estimates_of([*tables[:2], [[NAN, NAN]]])
    with pytest.raises(NotReady, match="no option has two values of metric 'price'"):
        estimates_of([[[1.0, 2.0], [2.0, NAN]], [[1.0, 5.0], [0.0, NAN]]], names=(("oak", "ash"), ("height", "price")))
    many = [[[float(i), float(i % 3)], [i + 1.0, i % 3 + 0.5]] for i in range(7)]
    with pytest.raises(NotReady, match="as part of a population only"):
        estimates_of([*many, [[1.0, NAN]]]).draws(10, np.random.default_rng(0), population=False)


def test_metrics_that_were_never_measured_together_are_not_thought_to_go_together():
    rng = np.random.default_rng(8)
    apart = [
        np.column_stack((np.where(np.arange(20) % 2, rng.normal(size=20), NAN), np.where(np.arange(20) % 2, NAN, 3.0)))
        for _ in range(3)
    ]
    for table in apart:
        table[::2, 1] += rng.normal(size=10)
    found = estimates_of(apart)
    assert found.correlation.tolist() == [[1.0, 0.0], [0.0, 1.0]]
    assert found.counts.tolist() == [20] * 3
    standard = (found.draws(4000, rng)[:, 0, 0] - found.means[0, 0]) / (found.stds[0, 0] / np.sqrt(10))
    assert stats.kstest(standard, stats.t(27).cdf).pvalue > 0.001


def test_correlations_of_different_measurements_are_possible_together():
    rng = np.random.default_rng(9)
    rows = []
    for a, b, sign in ((0, 1, 1.0), (1, 2, 1.0), (0, 2, -1.0)):  # together impossible: 1 with 2, 2 with 3, but 1 against 3
        block = np.full((30, 3), NAN)
        block[:, a] = rng.normal(size=30)
        block[:, b] = sign * block[:, a] + 0.05 * rng.normal(size=30)
        rows.append(block)
    found = estimates_of([np.vstack(rows), np.vstack(rows) + 1.0])
    assert np.linalg.eigvalsh(found.correlation)[0] >= -1e-12
    assert (np.diagonal(found.correlation) == 1.0).all()
    assert found.correlation[0, 1] > 0.3 > -0.3 > found.correlation[0, 2]
    assert np.isfinite(found.draws(10, rng)).all()
