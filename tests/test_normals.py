"""Normal probabilities from the four operations, against SciPy's."""

import numpy as np
import pytest
from scipy import special

from paretopick import _normals as normals

AT = np.concatenate([np.linspace(0, normals.FAR, 20_001), np.geomspace(1e-300, 1, 400)])


def error(found: np.ndarray, expected: np.ndarray) -> float:
    return float(np.max(np.abs(found / expected - 1)))


def value(odds, share, other):
    odds = normals.clipped(odds)
    return normals.value_of(odds, normals.deviation_of(odds), share, other)


def test_exponentials():
    y = np.concatenate([np.linspace(0, 42, 50_001), np.geomspace(1e-300, 1, 100)])
    assert error(normals.exp_of_minus(y), np.exp(-y)) < 1e-8


def test_logarithms():
    x = np.concatenate([np.geomspace(1e-300, 1e300, 50_001), np.linspace(0.4, 2.1, 5001)])
    found = normals.log_of(x)
    assert np.max(np.abs(found - np.log(x)) / np.maximum(np.abs(np.log(x)), 1)) < 1e-8


def test_tails():
    above, below = normals.tail_factors(AT)
    assert error(above / below * np.exp(-AT * AT / 2), special.ndtr(-AT)) < 1e-8


def test_deviations_of_odds():
    odds = np.concatenate([np.geomspace(1, normals.SURE, 50_001), 1 + np.geomspace(1e-15, 1, 5001)])
    expected = -special.ndtri_exp(-np.log1p(odds))
    assert (np.abs(normals.deviation_of(odds) - expected) < np.maximum(2e-6 * expected, 1e-10)).all()


def test_signs():
    u = np.concatenate([AT, -AT])
    variance = np.random.default_rng(0).choice([1e-200, 0.25, 1.0, 3.0, 1e200], len(u))
    likely, unlikely, weight, precision = normals.sign_of(u * np.sqrt(variance), variance)
    assert error(likely, special.ndtr(u)) < 1e-8
    assert error(unlikely, special.ndtr(-u)) < 1e-8
    assert error(weight, np.exp(-u * u / 2) / special.ndtr(u)) < 2e-8  # of two factors
    assert error(precision, 1 / variance) < 1e-15


@pytest.mark.parametrize("difference", [0.0, -0.0, 1e-320, -1e-320, 1.0, -1.0, 1e308, -1e308, np.inf, -np.inf])
@pytest.mark.parametrize("variance", [0.0, -1e-18, 1e-320, 1e-300, 1e-299, 1.0, 1e308, np.inf])
def test_signs_at_the_edges_are_probabilities(difference, variance):
    with np.errstate(over="ignore", invalid="ignore"):
        likely, unlikely, weight, precision = (float(x) for x in normals.sign_of(np.array(difference), np.array(variance)))
    assert 0 < likely <= 1
    assert 0 < unlikely <= 1
    assert likely + unlikely == pytest.approx(1)
    assert 0 < weight < 300
    assert 0 <= precision <= 1e300
    if variance <= normals.SMALLEST:
        assert precision == 0
        assert (likely > unlikely) == (difference >= 0), "without variance it is a step, and a tie counts as positive"
    elif np.isfinite([difference, variance]).all():
        assert (likely >= 0.5 - 1e-8) == (difference >= -1e-8 * np.sqrt(variance))


def test_the_value_of_a_pull_is_the_slope_of_owens_function():
    """2 OwenT(z, 1 / sqrt(x)) is how likely a sign is wrong when the precision has been raised by a factor 1 + x."""
    rng = np.random.default_rng(1)
    odds, share, other = np.exp(rng.uniform(0, 30, 3000)), rng.random(3000), rng.random(3000)
    z = -special.ndtri_exp(-np.log1p(odds))
    x = np.maximum(np.maximum(z * z / 2, share), other)
    formula = np.exp(-z * z / 2 * (1 + 1 / x)) / (np.sqrt(x) * (1 + x))
    assert error(value(odds, share, other), formula) < 1e-5
    step = 1e-4 * x
    slope = 2 * (special.owens_t(z, 1 / np.sqrt(x - step)) - special.owens_t(z, 1 / np.sqrt(x + step))) / (2 * step)
    near = z < 4  # where the difference is not lost to rounding
    ratio = slope[near] / formula[near]
    assert np.max(np.abs(ratio / ratio.mean() - 1)) < 1e-4


@pytest.mark.parametrize("odds", [0.0, 1e-300, 0.5, 1.0, 1e18, 1e19, 1e300, np.inf])
@pytest.mark.parametrize("share, other", [(0.0, 0.0), (0.0, 0.5), (1.0, 1.0), (1e-300, 0.0), (1e-320, 1e-320)])
def test_values_at_the_edges_are_numbers(odds, share, other):
    with np.errstate(over="ignore", invalid="ignore"):
        found = float(value(np.array(odds), np.array(share), np.array(other)))
    assert np.isfinite(found)
    assert found >= 0
    assert found * max(share, other) < 1e150


def test_numbers_one_by_one_come_to_the_same_bits_as_together():
    rng = np.random.default_rng(2)
    difference, variance, odds = rng.normal(size=300) * 4, rng.random(300), np.exp(rng.normal(size=300) * 9)
    together = [*normals.sign_of(difference, variance), value(odds, variance, difference**2)]
    one_by_one = [
        [*normals.sign_of(np.float64(d), np.float64(v)), value(np.float64(o), np.float64(v), np.float64(d) ** 2)]
        for d, v, o in zip(difference, variance, odds, strict=True)
    ]
    assert np.array(one_by_one).T.tolist() == np.array(together).tolist()
