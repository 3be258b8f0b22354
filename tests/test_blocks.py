"""Measurements that share blocks: the model equals dense matrices, and is what it was where nothing is shared."""

import numpy as np
import pytest

from paretopick._blocks import Blocked, Spread, fit, pooled
from support.literal_blocks import Dense, Told, by_block, random_design


@pytest.mark.sample(4)
@pytest.mark.slow
@pytest.mark.parametrize("part", range(4))
def test_means_and_their_covariance_equal_those_of_dense_matrices(part):
    rng, compared = np.random.default_rng(part), 0
    for _ in range(600):
        told, n_options = random_design(rng)
        cells = by_block(told, n_options).cells(0, np.arange(n_options))
        if not cells.shared:
            continue
        found = fit(cells, pooled)
        if found.variances[0] < 1e-3 * found.block_variance:
            continue  # which dense matrices cannot tell from 0
        compared += 1
        dense = Dense(told, found.variances, found.block_variance)
        np.testing.assert_allclose(found.means, dense.means, rtol=0, atol=1e-8)
        np.testing.assert_allclose(found.covariance, dense.covariance, rtol=1e-8, atol=1e-10)
        residuals = [dense.residuals(arm) for arm in range(n_options)]
        np.testing.assert_allclose(np.column_stack((found.residuals, found.degrees)), residuals, rtol=1e-6, atol=1e-8)
        blocks = [block for kind, block in dense.blocks if kind == 0]
        np.testing.assert_allclose(found.effects[blocks], dense.effects[: len(blocks)], atol=1e-8)
    assert compared > 420


@pytest.mark.slow
def test_variances_are_those_of_restricted_maximum_likelihood():
    rng = np.random.default_rng(10)
    zero = inside = 0
    for _ in range(450):
        told, n_options = random_design(rng)
        cells = by_block(told, n_options).cells(0, np.arange(n_options))
        if not cells.shared:
            continue
        found = fit(cells, pooled, close=1e-12)
        if found.variances[0] < 1e-3 * found.block_variance:
            continue
        dense = Dense(told, found.variances, found.block_variance)
        unit = found.variances[0] / len(told)
        if found.block_variance > 0:
            inside += 1
            assert abs(dense.block_slope) * unit < 1e-4
        else:  # at the edge it would go down
            zero += 1
            assert dense.block_slope * unit < 1e-4
        assert abs(dense.slope(np.eye(len(told)))) * unit < 1e-4
    assert min(zero, inside) > 70


def test_each_option_has_a_variance_of_its_own_if_nobody_moderates():
    rng = np.random.default_rng(11)
    values = rng.normal(size=(60, 3)) * [1.0, 1.5, 3.0] + rng.normal(size=(60, 1))
    told = [Told(arm, block, values[block, arm]) for block in range(60) for arm in range(3)]
    found = fit(by_block(told, 3).cells(0, np.arange(3)), lambda squares, degrees: (squares / degrees, degrees), close=1e-10)
    dense = Dense(told, found.variances, found.block_variance)
    for arm in range(3):
        assert abs(dense.slope(np.diag((dense.arms == arm).astype(float)))) < 1e-5
    assert found.variances == pytest.approx([1.0, 2.25, 9.0], rel=0.6)
    assert found.block_variance == pytest.approx(1.0, rel=0.6)


def test_in_complete_blocks_it_is_the_analysis_of_variance():
    rng = np.random.default_rng(12)
    values = rng.normal(size=(20, 4)) + 2 * rng.normal(size=(20, 1))
    told = [Told(arm, block, values[block, arm]) for block in range(20) for arm in range(4)]
    found = fit(by_block(told, 4).cells(0, np.arange(4)), pooled)
    left = values - values.mean(axis=0) - values.mean(axis=1, keepdims=True) + values.mean()
    own = np.square(left).sum() / (19 * 3)
    between = 4 * values.mean(axis=1).var(ddof=1)
    assert found.means == pytest.approx(values.mean(axis=0))
    assert found.variances == pytest.approx(own)
    assert found.block_variance == pytest.approx((between - own) / 4, rel=1e-5)
    assert found.degrees.sum() == pytest.approx(
        19 * 3 + 19 * (1 - found.block_variance * 4 / (found.block_variance * 4 + own)), rel=1e-4
    )
    covariance = found.covariance
    assert covariance[0, 0] + covariance[1, 1] - 2 * covariance[0, 1] == pytest.approx(2 * own / 20)
    assert found.common == pytest.approx(np.full((4, 4), found.block_variance / 20))


def test_without_a_shared_block_the_means_are_plain():
    told = [Told(0, 0, 1.0), Told(0, 1, 2.0), Told(1, 2, 5.0), Told(1, None, 6.0)]
    cells = by_block(told, 2).cells(0, np.arange(2))
    assert not cells.shared
    assert cells.plain_means() == pytest.approx([1.5, 5.5])
    assert cells.deviations() == pytest.approx([0.5, 0.5])


def test_degrees_within_blocks_are_what_the_rank_of_the_design_leaves():
    rng = np.random.default_rng(16)
    for _ in range(300):
        told, n_options = random_design(rng)
        blocked = [each for each in told if each.block is not None]
        X = np.array([[each.arm == arm for arm in range(5)] + [each.block == block for block in range(7)] for each in blocked])
        rank = np.linalg.matrix_rank(X.astype(float)) if len(blocked) else 0
        assert by_block(told, n_options).cells(0, np.arange(n_options)).degrees_within == len(blocked) - rank


def test_where_nothing_varies_within_blocks_nothing_is_said_to_be_shared():
    told = [Told(0, 0, 1.0), Told(1, 0, 3.0), Told(0, 1, 2.0), Told(1, 2, 5.0)]  # any share would fit
    assert not by_block(told, 2).cells(0, np.arange(2)).shared


def test_differences_that_never_vary_are_known_but_not_by_dividing_by_0():
    effects = np.random.default_rng(13).normal(size=12)
    told = [Told(arm, block, arm + effects[block]) for block in range(12) for arm in range(3)]
    found = fit(by_block(told, 3).cells(0, np.arange(3)), pooled)
    assert np.isfinite(found.covariance).all()
    assert np.diff(found.means) == pytest.approx(1.0)
    assert found.covariance[0, 0] + found.covariance[1, 1] - 2 * found.covariance[0, 1] < 1e-6


def test_one_more_measurement_takes_away_what_the_square_of_a_covariance_says():
    """What policies value a pull by: the exact drop is the square of the covariance over the variance of what is told."""
    rng = np.random.default_rng(14)
    for _ in range(100):
        n_blocks, n_options = int(rng.integers(2, 6)), int(rng.integers(2, 5))
        counts = rng.integers(0, 2, (n_blocks, n_options))
        counts[0] = 1
        variances, tau2 = np.exp(rng.normal(size=n_options)), float(rng.choice([0.3, 2.0]))
        spread = Spread(counts, np.zeros(n_options, dtype=np.int64), variances, tau2)
        arm, block = int(rng.integers(n_options)), int(rng.integers(n_blocks))
        more = counts.copy()
        more[block, arm] += 1
        after = Spread(more, np.zeros(n_options, dtype=np.int64), variances, tau2).covariance
        told = spread.covariance[arm] + spread.links[block]
        d, w = spread.open[block], spread.weights[block]
        width = spread.covariance[arm, arm] + 2 * spread.links[block, arm] + d + d * d * w @ spread.covariance @ w
        expected = spread.covariance - np.outer(told, told) / (variances[arm] + width)
        np.testing.assert_allclose(after, expected, atol=1e-10)


def test_by_block_is_what_a_dictionary_of_cells_says():
    rng = np.random.default_rng(15)
    for _ in range(50):
        n = int(rng.integers(1, 40))
        arms, blocks = rng.integers(0, 3, n), rng.integers(-1, 4, n)
        rows = np.where(rng.random((n, 2)) < 0.2, np.nan, rng.normal(size=(n, 2)))
        found = Blocked.of(arms, blocks, rows, n_options=3)
        for metric in range(2):
            for arm in range(3):
                squares = 0.0
                for block in range(int(blocks.max()) + 1):
                    cell = rows[(arms == arm) & (blocks == block), metric]
                    cell = cell[~np.isnan(cell)]
                    assert found.counts[block, arm, metric] == len(cell)
                    if len(cell):
                        assert found.means[block, arm, metric] == pytest.approx(cell.mean())
                        squares += np.square(cell - cell.mean()).sum()
                assert found.squares[arm, metric] == pytest.approx(squares)
                alone = rows[(arms == arm) & (blocks < 0), metric]
                assert found.alone[arm, metric] == (~np.isnan(alone)).sum()


def test_an_option_that_was_measured_once_says_nothing_of_the_noise():
    rng = np.random.default_rng(17)
    effects = rng.normal(size=20)
    told = [Told(arm, block, effects[block] + rng.normal()) for arm in range(4) for block in range(20)]
    single = [Told(4, 3, 9.0), Told(5, None, 7.0)]
    found = fit(by_block(told + single, 6).cells(0, np.arange(6)), pooled)
    assert found.degrees[4:].tolist() == [0.0, 0.0]
    assert found.residuals[4:].tolist() == [0.0, 0.0]
