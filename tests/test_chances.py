"""Beta quantiles from series are those of SciPy, one by one."""

import numpy as np
import pytest
from scipy.special import betaincinv, ndtr

from paretopick._chances import REACH, WORTH_IT, beta_quantiles


def literal(a, b, z):
    return betaincinv(a, b, ndtr(z))


def jeffreys(rng, n, how_many):
    """Parameters after n measurements of which some, or none, or all, were 1."""
    ones = rng.choice([0, n, *rng.integers(0, n + 1, 6)], how_many)
    return ones + 0.5, n - ones + 0.5


@pytest.mark.sample(4)
@pytest.mark.parametrize("n", [1, 3, 30, 1000])
@pytest.mark.parametrize("deviations", [WORTH_IT - 1, WORTH_IT, 700])
def test_quantiles_are_scipys_and_lie_in_the_same_order(n, deviations):
    rng = np.random.default_rng(n)
    a, b = jeffreys(rng, n, 40)
    z = rng.normal(size=(deviations, 40))
    z[:3, :3] = [[0.0, 0.25, -0.25], [REACH, -REACH, REACH + 0.1], [9.0, -9.0, 40.0]]
    found, expected = beta_quantiles(a, b, z), literal(a, b, z)
    assert np.abs(found - expected).max() < 1e-12
    assert found == pytest.approx(expected, rel=1e-10, abs=0)
    assert (np.argsort(found, axis=1, kind="stable") == np.argsort(expected, axis=1, kind="stable")).all()


@pytest.mark.parametrize("least", [1e-12, 1e-3, 0.02, 0.1, 0.4])
def test_where_nearly_all_is_at_0_or_1_ends_are_hit_exactly_as_often(least):
    rng = np.random.default_rng(1)
    a, b, z = np.full(40, least), rng.uniform(least, 2.0, 40), rng.normal(size=(1000, 40))
    for first, second in ((a, b), (b, a)):
        found, expected = beta_quantiles(first, second, z), literal(first, second, z)
        assert ((found == 0) == (expected == 0)).all()
        assert ((found == 1) == (expected == 1)).all()
        assert np.abs(found - expected).max() < 1e-10


@pytest.mark.parametrize("a, b", [(0.5, 1e5), (3e5, 4e5), (9e5, 12.5)])
def test_many_measurements_change_nothing(a, b):
    z = np.linspace(-5, 5, 401)[:, None]
    found = beta_quantiles(np.array([a]), np.array([b]), z)
    assert found == pytest.approx(literal(a, b, z), rel=1e-9, abs=0)


def test_inputs_are_not_written_to():
    z = np.random.default_rng(2).normal(size=(500, 3))
    before = z.copy()
    beta_quantiles(np.full(3, 2.5), np.full(3, 0.5), z)
    assert (z == before).all()
