"""What the page about policies says of ``doubt`` is true: expected doubt, its slope, and where that is steepest."""

import re
from importlib import resources

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import ndtr, owens_t
from scipy.stats import norm

from paretopick._normals import value_of

CASES = [(z, x) for z in (0.0, 0.3, 1.0, 2.0, 3.5) for x in (0.02, 0.5, 2.0, 9.0)]


def g(z, x):
    return np.exp(-(z**2) / 2 * (1 + 1 / x)) / (np.sqrt(x) * (1 + x))


@pytest.mark.parametrize("z, x", CASES)
def test_expected_doubt_is_twice_owens_t(z, x):
    """The page's first display, integrated: the posterior mean moves, and the sign it then has is wrong with what is left."""
    centre, width = z * np.sqrt(1 + x), np.sqrt(x)
    ends = (centre - 12 * width, centre + 12 * width)
    expected, _ = quad(
        lambda u: norm.pdf(u, centre, width) * ndtr(-abs(u)),
        *ends,
        points=[point for point in (-1.0, 0.0, 1.0, centre) if ends[0] < point < ends[1]],
        limit=400,
    )
    assert 2 * owens_t(z, 1 / np.sqrt(x)) == pytest.approx(expected, rel=1e-6, abs=1e-12)


def test_expected_doubt_is_what_more_pulls_leave():
    """The same by experiment: draw the truth from what is known, measure it more, and see how often the sign is wrong."""
    rng, z, x, n = np.random.default_rng(5), 1.2, 1.5, 400_000
    truth = rng.normal(z, 1.0, n)
    measured = rng.normal(truth, 1 / np.sqrt(x))  # x times the present precision
    after = (z + x * measured) / (1 + x)
    wrong = ((after > 0) != (truth > 0)).mean()
    assert wrong == pytest.approx(2 * owens_t(z, 1 / np.sqrt(x)), abs=4 * np.sqrt(wrong / n))


@pytest.mark.parametrize("z, x", CASES)
def test_g_is_the_slope_of_expected_doubt(z, x):
    step = 1e-4 * x
    slope = (owens_t(z, 1 / np.sqrt(x + step)) - owens_t(z, 1 / np.sqrt(x - step))) / step
    assert -2 * np.pi * slope == pytest.approx(g(z, x), rel=1e-5, abs=1e-10)


@pytest.mark.parametrize("z", [0.1, 1.0, np.sqrt(2), 3.0, 6.0])
def test_the_slope_is_steepest_between_a_third_of_z_squared_and_z_squared(z):
    grid = z**2 * np.linspace(0.1, 2, 19_001)
    best = grid[g(z, grid).argmax()] / z**2
    assert 1 / 3 <= best <= 1
    if z == np.sqrt(2):
        assert best == pytest.approx(1 / 2, abs=2e-4)


def test_the_policy_values_a_pull_by_that_slope():
    z = np.array([0.0, 0.2, 1.0, 2.5, 5.0])
    share = np.array([0.1, 0.1, 0.01, 0.3, 0.001])
    x = np.maximum(z**2 / 2, np.maximum(share, 0.05))
    values = value_of(ndtr(z) / ndtr(-z), z, share, np.full(5, 0.05))
    factors = values / g(z, x)
    assert factors == pytest.approx(np.full(5, factors[0]), rel=1e-4)


def test_every_test_that_the_page_names_is_here():
    named = re.findall(r"::(test_\w+)`", (resources.files("paretopick.paper") / "data" / "doubt.md").read_text())
    assert len(named) == 3
    assert all(callable(globals()[name]) for name in named)
