"""What measurements that share blocks say about means: as without blocks where nothing is shared, and as often true as said."""

import numpy as np
import pytest

from paretopick.estimates import Estimates, estimate_tables

FIELDS = ("counts", "both", "means", "stds", "freedom", "pooled", "correlation", "binary", "exact")


def estimates(tables, blocks=None, *, exact=None) -> Estimates:
    n_metrics = tables[0].shape[1]
    mask = np.zeros(n_metrics, dtype=bool) if exact is None else np.array(exact)
    return estimate_tables(tables, exact=mask, signs=np.ones(n_metrics), blocks=blocks)


def measured(rng, n_options, n_blocks, rho, *, n_metrics=1, sizes=None, stds=None, drift=False):
    """Tables of options and the blocks of their measurements, with the true means."""
    means = 0.5 * rng.normal(size=(n_options, n_metrics))
    effects = rng.normal(size=(n_blocks, n_metrics))
    if drift:
        effects = np.cumsum(effects, axis=0)
        effects = (effects - effects.mean(axis=0)) / effects.std(axis=0)
    stds = np.ones(n_options) if stds is None else stds
    blocks = [np.arange(n_blocks if sizes is None else sizes[option]) for option in range(n_options)]
    tables = [
        means[option] + np.sqrt(rho) * effects[own] + np.sqrt(1 - rho) * stds[option] * rng.normal(size=(len(own), n_metrics))
        for option, own in enumerate(blocks)
    ]
    return tables, blocks, means


def test_blocks_that_nobody_shares_change_nothing():
    rng = np.random.default_rng(0)
    tables = [rng.normal(size=(n, 2)) for n in (3, 5, 2, 4, 6, 3)]
    first = np.cumsum([0, 3, 5, 2, 4, 6])
    apart = [start + np.arange(len(table)) for start, table in zip(first, tables, strict=True)]
    plain = estimates(tables)
    for blocks in (apart, [np.full(len(table), -1) for table in tables]):
        found = estimates(tables, blocks)
        assert found.sharing is None
        for field in FIELDS:
            np.testing.assert_array_equal(getattr(found, field), getattr(plain, field))
        draws = [each.draws(50, np.random.default_rng(1)) for each in (found, plain)]
        np.testing.assert_array_equal(*draws)


def test_a_metric_in_which_blocks_bring_nothing_is_as_without_blocks():
    rng = np.random.default_rng(1)
    tables, blocks, _ = measured(rng, 6, 12, 0.7, n_metrics=2)
    each = np.array(tables)[:, :, 1]
    each -= each.mean(axis=0)  # in every block the same mean: less than chance would have it
    tables = [np.column_stack((table[:, 0], own)) for table, own in zip(tables, each, strict=True)]
    found, plain = estimates(tables, blocks), estimates(tables)
    assert found.sharing.stds[0] > 0
    assert found.sharing.stds[1] == 0
    for field in ("means", "stds", "freedom"):
        np.testing.assert_array_equal(getattr(found, field)[:, 1], getattr(plain, field)[:, 1])
        assert (getattr(found, field)[:, 0] != getattr(plain, field)[:, 0]).any() or field == "means"
    assert not found.sharing.common[1].any()


def test_draws_vary_as_the_model_says():
    rng = np.random.default_rng(2)
    tables, blocks, _ = measured(rng, 4, 40, 0.8, sizes=[40, 40, 12, 25])
    found = estimates(tables, blocks)
    draws = found.draws(200_000, np.random.default_rng(3), population=False)[:, :, 0]
    expected = found.sharing.common[0] + np.diag(found.stds[:, 0] ** 2 / found.counts)
    np.testing.assert_allclose(np.cov(draws.T), expected, rtol=0.1)


def test_means_are_those_that_the_blocks_are_taken_out_of():
    """An option that was measured on good days only is not better for that."""
    effects = np.repeat([10.0, 0.0], 20)
    rng = np.random.default_rng(4)
    tables = [(effects + 0.5 * rng.normal(size=40))[:, None] for _ in range(3)] + [
        (effects[:20] + 0.5 * rng.normal(size=20))[:, None]
    ]
    found = estimates(tables, [np.arange(40)] * 3 + [np.arange(20)])
    assert np.ptp([table.mean() for table in tables]) > 4
    assert np.ptp(found.means) < 0.6


CASES = {
    "complete": {},
    "dropped options": {"sizes": [4, 4, 4, 8, 8, 16, 16, 16]},
    "unequal noise": {"stds": np.exp(np.linspace(-0.6, 0.6, 8))},
    "drift": {"drift": True, "sizes": [5, 5, 5, 8, 8, 16, 16, 16]},
}


@pytest.mark.slow
@pytest.mark.sample(5)
@pytest.mark.parametrize("rho", [0.0, 0.35, 0.8])
@pytest.mark.parametrize("case", CASES)
def test_intervals_of_differences_hold_as_often_as_they_say(case, rho):
    inside, widths, n = [], [], 100
    for seed in range(n):
        tables, blocks, means = measured(np.random.default_rng([seed, int(100 * rho)]), 8, 16, rho, **CASES[case])
        ends = []
        for each in (estimates(tables), estimates(tables, blocks)):
            draws = each.draws(1000, np.random.default_rng(seed), population=False)[:, :, 0]
            first, second = np.triu_indices(8, 1)
            ends.append(np.quantile(draws[:, first] - draws[:, second], [0.025, 0.975], axis=0))
        truth = (means[first] - means[second])[:, 0]
        inside.append(((ends[1][0] <= truth) & (truth <= ends[1][1])).mean())
        widths.append(np.diff(ends[1], axis=0).mean() / np.diff(ends[0], axis=0).mean())
    assert (0.91 if case == "drift" else 0.925) <= np.mean(inside) <= 0.975  # blocks that drift are no random ones
    if rho == 0.0:
        assert 0.95 <= np.mean(widths) <= 1.05  # declared in vain, it costs nothing
    elif case == "complete":
        assert np.mean(widths) == pytest.approx(np.sqrt(1 - rho), abs=0.05)


@pytest.mark.slow
@pytest.mark.parametrize("rho", [0.0, 0.35, 0.8])
def test_intervals_of_chances_hold_where_there_are_enough_zeros_and_ones(rho):
    from scipy.special import ndtr

    inside, cover = [], []
    for seed in range(80):
        rng = np.random.default_rng([seed, 9])
        effects, levels = rng.normal(size=40), rng.normal(size=8) * 0.6
        sizes = [40, 40, 40, 40, 20, 20, 10, 10]
        tables = [
            ((np.sqrt(rho) * effects[:n] + np.sqrt(1 - rho) * rng.normal(size=n)) < level).astype(float)[:, None]
            for n, level in zip(sizes, levels, strict=True)
        ]
        found = estimates(tables, [np.arange(n) for n in sizes])
        draws = found.draws(1000, np.random.default_rng(seed), population=False)[:, :, 0]
        assert ((draws >= 0) & (draws <= 1)).all()
        truth = ndtr(levels)
        first, second = np.triu_indices(8, 1)
        low, high = np.quantile(draws[:, first] - draws[:, second], [0.025, 0.975], axis=0)
        inside.append(((low <= truth[first] - truth[second]) & (truth[first] - truth[second] <= high)).mean())
        ends = found.intervals()[:, 0]
        cover.append(((ends[:, 0] <= truth) & (truth <= ends[:, 1])).mean())
    assert np.mean(inside) >= 0.925
    assert np.mean(cover) >= 0.90


def test_exact_metrics_stay_as_they_are_and_missing_values_are_no_trouble():
    rng = np.random.default_rng(5)
    tables, blocks, _ = measured(rng, 7, 15, 0.6, n_metrics=3)
    for option, table in enumerate(tables):
        table[:, 2] = option
        table[rng.random(len(table)) < 0.3, 1] = np.nan
    tables[6][:, 0] = np.nan
    found = estimates(tables, blocks, exact=[False, False, True])
    assert found.means[:, 2].tolist() == list(range(7))
    assert np.isnan(found.means[6, 0])
    draws = found.draws(200, np.random.default_rng(6))
    assert np.isfinite(draws).all()
    assert (draws[:, :, 2] == np.arange(7)).all()
    assert found.sharing.shares[2] is None
    assert not found.sharing.common[0][6].any()


@pytest.mark.slow
def test_the_share_is_said_with_an_interval_that_holds():
    inside, gains = [], []
    for seed in range(200):
        tables, blocks, _ = measured(np.random.default_rng([seed, 7]), 6, 20, 0.6)
        sharing = estimates(tables, blocks).sharing
        low, value, high = sharing.shares[0]
        assert low <= value <= high
        inside.append(low <= 0.6 <= high)
        gains.append(sharing.gains[0])
    assert np.mean(inside) == pytest.approx(0.95, abs=0.035)
    assert np.median(gains) == pytest.approx(1 / 0.4, rel=0.1)


def test_options_that_were_measured_once_do_not_change_the_noise_of_the_others():
    stds = np.array([0.1, 0.1, 0.3, 1.0, 3.0, 3.0])
    for seed in range(10):
        rng = np.random.default_rng(seed)
        effects = rng.normal(size=20)
        tables = [(effects + std * rng.normal(size=20))[:, None] for std in stds]
        blocks = [np.arange(20)] * 6
        few = estimates(tables, blocks)
        more = estimates(
            [*tables, *(np.array([[effects[0]]]) for _ in range(3))], [*blocks, *(np.zeros(1, dtype=int) for _ in range(3))]
        )
        np.testing.assert_allclose(more.stds[:6], few.stds, rtol=0.05)
        np.testing.assert_allclose(more.freedom[:6], few.freedom, rtol=0.2)


@pytest.mark.slow
def test_variances_and_their_degrees_of_freedom_are_of_one_model():
    """Where it is a toss-up whether options differ in their noise, all get one variance, and the freedom of all."""
    for seed in range(120):
        rng = np.random.default_rng([seed, 3])
        n_options, n_blocks = int(rng.integers(3, 7)), int(rng.integers(4, 12))
        effects, tables, blocks = rng.normal(size=n_blocks), [], []
        for _ in range(n_options):
            own = np.sort(rng.permutation(n_blocks)[: int(rng.integers(3, n_blocks + 1))])
            blocks.append(own)
            tables.append((effects[own] + rng.normal(size=len(own)) * np.exp(0.25 * rng.normal()))[:, None])
        found = estimates(tables, blocks)
        assert np.ptp(found.stds) > 1e-9 or np.ptp(found.freedom) < 1e-9, seed


def test_missing_values_do_not_make_metrics_go_together_less():
    rng = np.random.default_rng(18)
    noise = rng.multivariate_normal([0, 0], [[1, 0.9], [0.9, 1]], size=(6, 60))
    effects = rng.normal(size=(60, 2))
    tables = [effects + own for own in noise]
    for table in tables:
        table[rng.random(60) < 0.5, 1] = np.nan
    found = estimates(tables, [np.arange(60)] * 6)
    assert found.correlation[0, 1] == pytest.approx(
        0.9, abs=0.15
    )  # effects of blocks are known less well where values are missing


def test_zeros_and_ones_that_share_nothing_are_simulated_as_zeros_and_ones():
    rng = np.random.default_rng(19)
    values = (rng.random((5, 12)) < 0.6).astype(float)
    values[:, ::2] = 1 - values[:, 1::2]  # each block has the same mean, or nearly so
    found = estimates([row[:, None] for row in values], [np.arange(12)] * 5)
    if found.sharing is not None and not found.sharing.stds.any():
        assert found.as_chances
        plain = estimates([row[:, None] for row in values])
        np.testing.assert_array_equal(*(each.draws(40, np.random.default_rng(1)) for each in (found, plain)))
    assert found.sharing is not None
