"""Options on a front: found as defined, believed where measurements say so, and then as often optimal as is said."""

import numpy as np
import pytest

from paretopick.estimates import estimate_tables
from paretopick.estimates.fronts import BENDS, FACING, SHARES, fronts_of
from paretopick.estimates.populations import normal_population, shared_out
from paretopick.theory.dominance import optimal_in_each, optimal_rows
from support.literal_fronts import literal_front

pytestmark = pytest.mark.slow


def arc(rng, n_options, lag=0.0):
    """Options on a quarter of a circle; every second one, so much behind."""
    angles = rng.uniform(0, np.pi / 2, n_options)
    return (2.0 - lag * (np.arange(n_options) % 2))[:, None] * np.column_stack((np.cos(angles), np.sin(angles)))


def measured(rng, means, n, std, signs=None):
    tables = [mean + std * rng.normal(size=(n, len(mean))) for mean in means]
    D = len(means[0])
    return estimate_tables(tables, exact=np.zeros(D, dtype=bool), signs=np.ones(D) if signs is None else signs)


@pytest.mark.parametrize("n_metrics", [2, 3, 4])
def test_a_front_is_the_literal_one(n_metrics):
    rng = np.random.default_rng(n_metrics)
    means = np.abs(rng.normal(size=(11, n_metrics)))
    means *= (2.0 - 0.4 * (np.arange(11) % 2))[:, None] / np.linalg.norm(means, axis=1)[:, None]
    population = normal_population(*measured(rng, means, 8, 0.4)._located())
    found = fronts_of(population, np.ones(n_metrics))
    assert len(found) == len(SHARES) * len(BENDS)
    values, vectors = np.linalg.eigh(population.between)
    axes = vectors[:, ::-1]
    axes = axes if axes[:, -1].sum() > 0 else -axes
    noise = np.array([axes.T @ one @ axes for one in population.noise])
    for front, (share, bend) in zip(found, [(share, bend) for share in SHARES for bend in BENDS], strict=True):
        literal = literal_front(population.points @ axes, noise, values[:0:-1], np.sqrt(values[0]), share, bend)
        for mine, other in zip((front.shares, front.nearer, front.left, front.log_likelihood), literal, strict=True):
            assert mine == pytest.approx(other, rel=1e-6, abs=1e-8)


def test_the_bend_is_put_back():
    rng = np.random.default_rng(1)
    found = measured(rng, arc(rng, 12), 40, 0.1)
    front = max(fronts_of(normal_population(*found._located()), np.ones(2)), key=lambda front: front.log_likelihood)
    assert front.bend[0] < 0
    mean, widths = front.moments()
    assert mean == pytest.approx(found.means, abs=0.1)  # with little noise options are where they were measured
    deviations, middles = front.draws(20_000, rng)
    draws = middles + deviations
    assert draws.mean(axis=0) == pytest.approx(mean, abs=0.01)
    assert draws.std(axis=0) == pytest.approx(widths, rel=0.05)


@pytest.mark.long
def test_options_on_a_front_are_taken_for_such_and_others_are_not():
    weights = {"front": [], "cloud": [], "line": []}
    for seed in range(30):
        rng = np.random.default_rng([2, seed])
        weights["front"].append(measured(rng, arc(rng, 20), 40, 1.0).front_probability)
        weights["cloud"].append(measured(rng, rng.normal(size=(20, 2)), 40, 1.0).front_probability)
        shared = rng.normal(size=(20, 1))
        weights["line"].append(
            measured(rng, np.hstack((shared, -shared)) + 0.4 * rng.normal(size=(20, 2)), 40, 1.0).front_probability
        )
    means = {name: np.mean(values) for name, values in weights.items()}
    assert means["front"] > 0.6
    assert means["line"] < 0.4
    assert means["cloud"] < 0.2


def test_metrics_that_go_together_have_no_front():
    rng = np.random.default_rng(3)
    good = rng.normal(size=(20, 1)) + 0.2 * rng.normal(size=(20, 2))
    assert measured(rng, good, 30, 0.3).front_probability == 0.0
    assert measured(rng, good, 30, 0.3, signs=np.array([1.0, -1.0])).front_probability > 0.0  # one is to be small
    assert FACING > 0


def test_on_a_front_options_are_said_to_be_optimal_more_often_and_more_truly():
    said, plain, true = [], [], []
    for seed in range(60):
        rng = np.random.default_rng([4, seed])
        means = arc(rng, 12, lag=0.4)
        found = measured(rng, means, 12, 1.0)
        said.append(optimal_in_each(found.draws(400, rng)).mean(axis=0))
        nearer = normal_population(*found._located()).normal()
        deviations, middles = nearer.draws(400, rng)
        plain.append(optimal_in_each(deviations + middles).mean(axis=0))
        true.append(optimal_rows(means))
    truth = np.mean(true)
    assert np.mean(plain) < truth - 0.06
    assert abs(np.mean(said) - truth) < abs(np.mean(plain) - truth) - 0.03


def test_draws_are_shared_out_by_weight():
    assert shared_out(10, np.array([0.5, 0.3, 0.2])).tolist() == [5, 3, 2]
    assert shared_out(10, np.array([0.55, 0.3, 0.15])).tolist() == [6, 3, 1]
    assert shared_out(1, np.array([0.4, 0.6])).tolist() == [0, 1]
    rng = np.random.default_rng(5)
    for n in (0, 7, 400):
        weights = rng.dirichlet(np.ones(6))
        sizes = shared_out(n, weights)
        assert sizes.sum() == n
        assert np.abs(sizes - n * weights).max() < 1
