"""The random numbers of the kernels: equal to a literal version, and distributed as they should be."""

import math

import numpy as np
import pytest
from scipy import stats

import paretopick as pp
from paretopick.simulation import make_task
from paretopick.simulation.kernels import SOURCES
from paretopick.simulation.kernels.compiling import kernel
from paretopick.simulation.kernels.draws import binomials
from paretopick.simulation.kernels.draws import counters as random_words
from paretopick.simulation.kernels.draws import normals as random_normals
from paretopick.simulation.kernels.vector_memory import store
from paretopick.simulation.kernels.vectors import lane_numbers, spread
from support.literal_words import MASK, literal_pair, literal_word
from support.same_draws import Draws

SEED = random_words.Key(np.uint64(0x0123456789ABCDEF), np.uint64(0xFEDCBA9876543210))


@kernel
def fill_words(seed, run, first, out, sources=SOURCES):
    """Words for counters from ``first`` on."""
    key = random_words.run_key(seed, run)
    start, middle = spread(key.start), spread(key.middle)
    for i in range(0, out.size, 8):
        counters = (spread(np.uint64(first + i)) + lane_numbers()) * spread(random_words.GOLDEN)
        store(out, i, random_words.words(start, middle, counters))


@kernel
def fill_normals(seed, run, first, one, other, sources=SOURCES):
    """Pairs of normals for counters from ``first`` on."""
    key = random_words.run_key(seed, run)
    start, middle = spread(key.start), spread(key.middle)
    for i in range(0, one.size, 8):
        counters = (spread(np.uint64(first + i)) + lane_numbers()) * spread(random_words.GOLDEN)
        a, b = random_normals.normal_pair(start, middle, counters)
        store(one, i, a)
        store(other, i, b)


def words(run: int, n: int, first: int = 0) -> np.ndarray:
    out = np.empty(n, np.uint64)
    fill_words(SEED, run, first, out)
    return out


def normals(run: int, n: int, first: int = 0) -> tuple[np.ndarray, np.ndarray]:
    pair = np.empty(n), np.empty(n)
    fill_normals(SEED, run, first, *pair)
    return pair


def test_words_are_those_of_the_literal_version():
    for run in (0, 1, 12345, 2**40):
        for first in (0, 7, 2**50, 2**63 - 100):
            assert words(run, 16, first).tolist() == [literal_word(SEED, run, (first + i) & MASK) for i in range(16)]


def test_normals_are_those_of_the_literal_version():
    one, other = normals(3, 40_000)
    expected = np.array([literal_pair(int(word)) for word in words(3, 40_000)])
    assert np.abs(one - expected[:, 0]).max() < 3e-12
    assert np.abs(other - expected[:, 1]).max() < 3e-12


@pytest.mark.slow
def test_normals_are_finite_and_none_is_larger_than_52_bits_allow():
    one, other = normals(0, 4_000_000)
    assert max(np.abs(one).max(), np.abs(other).max()) < 8.5


# How they are distributed. Sizes are such that a bias of a few ten-thousandths would show; seeds are fixed.


@pytest.fixture(scope="module")
def many() -> np.ndarray:
    """Two rows of normals: the first and the second of each pair, for neighbouring draws."""
    return np.array(normals(11, 8_000_000))


@pytest.mark.long
@pytest.mark.slow
def test_moments_of_the_normals(many):
    squares = many * many
    fourths = squares * squares
    powers = {1: many, 2: squares, 3: squares * many, 4: fourths, 6: fourths * squares, 8: fourths * fourths}
    for power, moment, variance in ((1, 0, 1), (2, 1, 2), (3, 0, 15), (4, 3, 96), (6, 15, 10_170), (8, 105, 2_016_000)):
        assert abs(powers[power].mean() - moment) < 4.5 * math.sqrt(variance / many.size), power


@pytest.mark.slow
def test_normals_by_kolmogorov_and_smirnov(many):
    for row in many:
        assert stats.kstest(row[:2_000_000], "norm").pvalue > 1e-3
        assert stats.kstest(row[-2_000_000:], "norm").pvalue > 1e-3


@pytest.mark.slow
def test_normals_in_bins_of_equal_chance(many):
    for row in many:
        counts = np.bincount((stats.norm.cdf(row) * 2000).astype(int), minlength=2000)
        assert stats.chisquare(counts).pvalue > 1e-3


@pytest.mark.slow
def test_tails_of_the_normals(many):
    for limit in (3.0, 4.0, 4.5, 5.0):
        seen, expected = int((np.abs(many) > limit).sum()), 2 * stats.norm.sf(limit) * many.size
        assert stats.poisson.cdf(seen, expected) > 1e-4
        assert stats.poisson.sf(seen - 1, expected) > 1e-4


@pytest.mark.sample(2)
@pytest.mark.slow
@pytest.mark.parametrize("function", [lambda z: z, np.abs, np.square, np.sign], ids=["z", "|z|", "z^2", "sign"])
def test_neighbouring_counters_are_uncorrelated(many, function):
    """Next to each other, one arm or a few rounds apart, and within a pair; in value and in size."""
    n = many.shape[1]
    rows = [function(row) for row in many]
    rows = [(row - row.mean()) / row.std() for row in rows]
    for lag in (1, 2, 3, 4, 8, 20, 60, 64, 206, 1024):
        for a in rows:
            for b in rows:
                assert abs((a[:-lag] * b[lag:]).mean()) < 4.5 / math.sqrt(n), lag
    assert abs((rows[0] * rows[1]).mean()) < 4.5 / math.sqrt(n)


@pytest.mark.slow
def test_the_direction_of_a_pair_is_uniform_and_says_nothing_about_its_length(many):
    angle = np.arctan2(many[1], many[0])
    counts = np.bincount(((angle + math.pi) / (2 * math.pi) * 720).astype(int).clip(0, 719), minlength=720)
    assert stats.chisquare(counts).pvalue > 1e-3
    long = (many**2).sum(axis=0) > 2 * math.log(100)
    counts = np.bincount(((angle[long] + math.pi) / (2 * math.pi) * 72).astype(int).clip(0, 71), minlength=72)
    assert stats.chisquare(counts).pvalue > 1e-3


@pytest.mark.slow
def test_neighbouring_runs_are_unrelated():
    for run in (0, 1, 2, 1000):
        a, b = normals(run, 1_000_000)[0], normals(run + 1, 1_000_000)[0]
        for lag in (0, 1, 2, 7):
            assert abs((a[: len(a) - lag] * b[lag:]).mean()) < 4.5 / 1000


@pytest.mark.slow
def test_every_bit_of_the_words_is_fair_and_flips_half_of_the_time():
    sample = words(5, 2_000_000)
    for bit in range(64):
        ones = (sample >> np.uint64(bit)) & np.uint64(1)
        assert abs(ones.mean() - 0.5) < 4.5 * 0.5 / math.sqrt(len(sample)), bit
        flips = ones[1:] != ones[:-1]
        assert abs(flips.mean() - 0.5) < 4.5 * 0.5 / math.sqrt(len(sample)), bit


@pytest.mark.slow
def test_no_word_comes_twice():
    """Runs that shared a stretch of words would be dependent: of 8 million words of 64 bits none should be equal."""
    sample = np.sort(np.concatenate([words(run, 800) for run in range(10_000)]))
    assert (sample[1:] != sample[:-1]).all()


# Sums of Bernoulli pulls.


CASES = [
    (1, 0.5),
    (1, 0.01),
    (2, 0.3),
    (7, 0.75),
    (30, 0.02),
    (100, 0.5),
    (300, 0.997),
    (1000, 0.001),
    (5000, 0.4),
    (66_000, 0.73),
]


def table_chances(tables: binomials.Tables, table: int) -> tuple[int, np.ndarray]:
    """The smallest outcome of a table, and the exact probabilities that its cells stand for."""
    cells = tables.cells[tables.first[table] : tables.first[table + 1]]
    own = ((cells >> np.uint64(binomials.ALIAS_BITS)).astype(float) + 1.0) / 2.0 ** (64 - binomials.ALIAS_BITS)
    chances = own / len(cells)
    others = (cells & np.uint64((1 << binomials.ALIAS_BITS) - 1)).astype(int)
    np.add.at(chances, others, (1.0 - own) / len(cells))
    return int(tables.low[table]), chances


@kernel
def look_up_many(tables, sample, out, sources=SOURCES):
    for i in range(sample.size):
        out[i] = binomials.look_up(tables, 0, sample[i])


@kernel
def invert_many(n, p, sample, out, sources=SOURCES):
    for i in range(sample.size):
        out[i] = binomials.invert(n, p, sample[i])


@pytest.mark.parametrize("n, p", CASES)
def test_tables_stand_for_the_exact_probabilities(n, p):
    low, chances = table_chances(binomials.make_tables(np.array([n]), np.array([p])), 0)
    exact = stats.binom.pmf(np.arange(low, low + len(chances)), n, p)
    assert np.abs(chances - exact).max() < 1e-12
    likely = exact > 1e-9
    assert (np.abs(chances / exact - 1)[likely] < 1e-4).all()
    assert stats.binom.cdf(low - 1, n, p) + stats.binom.sf(low + len(chances) - 1, n, p) < 1e-16


@pytest.mark.sample(5)
@pytest.mark.slow
@pytest.mark.parametrize("method", ["tables", "inversion"])
@pytest.mark.parametrize("n, p", CASES)
def test_frequencies_of_sums(n, p, method):
    sample, out = words(n, 4_000_000 if method == "tables" else 1_000_000), np.empty(4_000_000, np.int64)
    out = out[: len(sample)]
    if method == "tables":
        look_up_many(binomials.make_tables(np.array([n]), np.array([p])), sample, out)
    else:
        invert_many(n, p, sample, out)
    outcomes = np.arange(n + 1)
    expected = stats.binom.pmf(outcomes, n, p) * len(out)
    rare = expected < 10  # together one outcome, that of the likeliest if they are too few
    group = np.where(rare, expected.argmax() if expected[rare].sum() < 10 else outcomes[rare].min(initial=n), outcomes)
    groups, place = np.unique(group, return_inverse=True)
    seen = np.bincount(place[out], minlength=len(groups))
    assert stats.chisquare(seen, np.bincount(place, expected) * len(out) / expected.sum()).pvalue > 1e-4


def test_certain_and_impossible_pulls():
    for n in (0, 1, 5, 1000):
        for p, expected in ((0.0, 0), (1.0, n)):
            out = np.empty(64, np.int64)
            look_up_many(binomials.make_tables(np.array([n]), np.array([p])), words(1, 64), out)
            assert (out == expected).all()
            invert_many(n, p, words(1, 64), out)
            assert (out == expected).all()


def test_without_pulls_or_with_too_many_tables_there_are_none():
    assert binomials.make_tables(np.empty(0, np.int64), np.array([0.5])).cells.size == 0
    assert binomials.make_tables(np.array([100]), np.full(2_000_000, 0.5)).first.size == 0


# Pulls of arms.


def test_sums_of_gaussian_pulls_have_their_mean_and_covariance():
    rng = np.random.default_rng(0)
    roots = rng.normal(size=(2, 3, 3))
    covs = roots @ np.swapaxes(roots, 1, 2)
    K = 200_000
    bandit = pp.Bandit(np.tile([[1.0, -2.0, 0.5], [0.0, 3.0, 9.0]], (K // 2, 1)), pp.Gaussian(cov=np.tile(covs, (K // 2, 1, 1))))
    draws = Draws(make_task(bandit, "uniform", budgets=7 * K), 7 * K, seed=1)
    sums = draws.sums(run=0, pulls=7, before=0)
    for kind in range(2):
        mine = sums[kind::2]
        assert mine.mean(axis=0) == pytest.approx(7 * bandit.means[kind], abs=5 * math.sqrt(7 * covs.max() / len(mine)))
        assert np.cov(mine.T) == pytest.approx(7 * covs[kind], abs=0.02 * 7 * covs.max())


@pytest.mark.parametrize("noise", [pp.Gaussian(std=[0.5, 2.0]), pp.Bernoulli()])
def test_single_pulls_add_up_to_what_sums_are(noise):
    """Ten single pulls, and ten drawn as one sum: the same distribution."""
    bandit = pp.Bandit(np.tile([[0.3, 0.8]], (400, 1)), noise)
    singles = Draws(make_task(bandit, "apt", budgets=4000), 4000, seed=1)
    sums = Draws(make_task(bandit, "uniform", budgets=4000), 4000, seed=2).sums(run=0, pulls=10, before=0)
    added = np.array([[singles.single(0, arm, number) for number in range(10)] for arm in range(400)]).sum(axis=1)
    for d in range(2):
        assert stats.ks_2samp(added[:, d], sums[:, d]).pvalue > 1e-3
