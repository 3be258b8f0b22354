"""What the data resolve, held against margins that are tried one after the other."""

from __future__ import annotations

import numpy as np
import pytest

import paretopick as pp
from paretopick.studies.resolution import factors_in_each, resolution_of
from paretopick.theory.requirements import Requirements, is_right

METRICS = (pp.Metric("seconds", "min", unit="ms"), pp.Metric("quality", "max"))
NO_LIMITS = np.array([-np.inf, -np.inf])


def draws(rng, n_options, n_draws=60):
    return rng.normal(size=(n_options, 2)) + 0.3 * rng.normal(size=(n_draws, n_options, 2))


@pytest.mark.sample(2)
@pytest.mark.parametrize("noise", [(1.0, 1.0), (0.5, 2.0), (1.0, 0.0)])
@pytest.mark.parametrize("limits", [NO_LIMITS, np.array([-0.5, -np.inf])])
def test_an_answer_is_right_within_margins_from_its_factor_on_and_not_below(noise, limits):
    rng, width = np.random.default_rng(5), np.array(noise)
    for _ in range(20):
        sets = draws(rng, 5)
        if width[1] == 0:
            sets[..., 1] = np.round(sets[0, :, 1])  # exact, with ties
        answer = rng.random(5) < 0.5
        factors = factors_in_each(sets, answer, width, limits, np.ones(2, dtype=bool))
        for one, factor in zip(sets, factors.tolist(), strict=True):
            for times, expected in ((1 + 1e-9, True), (1 - 1e-9, False)):
                tried = factor * times + (1e-9 if expected else 0.0)
                if np.isfinite(tried) and (expected or factor > 0):
                    assert bool(is_right(one, answer, Requirements(tried * width, limits, np.ones(2, dtype=bool)))) is expected
            if factor == np.inf:
                assert not is_right(one, answer, Requirements(1e9 * width, limits, np.ones(2, dtype=bool)))


def test_it_is_the_factor_that_is_enough_in_such_a_share_of_the_draws():
    rng = np.random.default_rng(6)
    sets, answer = draws(rng, 4, n_draws=400), np.array([True, True, False, False])
    noise = np.array([0.5, 2.0])
    found = resolution_of(sets, answer, noise, NO_LIMITS, METRICS, 0.9)
    assert found is not None
    right = is_right(sets, answer, Requirements((found.factor + 1e-9) * noise, NO_LIMITS, np.ones(2, dtype=bool)))
    below = is_right(sets, answer, Requirements((found.factor - 1e-9) * noise, NO_LIMITS, np.ones(2, dtype=bool)))
    assert right.mean() >= 0.9 > below.mean()
    assert found.widths == {"seconds": found.factor * 0.5, "quality": found.factor * 2.0}


def test_it_is_said_in_the_units_of_the_metrics():
    sets = np.array([[[0.0, 1.0], [0.1, 1.2]]] * 10)
    found = resolution_of(sets, np.array([True, False]), np.array([0.5, 1.0]), NO_LIMITS, METRICS, 0.95)
    assert found is not None
    assert found.text == "0.10 ms in seconds and 0.20 in quality"
    assert found.sentence == "right up to differences of 0.10 ms in seconds and 0.20 in quality, with 95%"


def test_ratios_are_said_as_shares():
    metrics = (pp.Metric("seconds", "min", log=True), pp.Metric("quality", "max"))
    sets = np.array([[[0.0, 1.0], [np.log(1.1), 1.0]]] * 10)
    found = resolution_of(sets, np.array([True, False]), np.array([1.0, 1.0]), NO_LIMITS, metrics, 0.95)
    assert found is not None
    assert found.widths["seconds"] == pytest.approx(0.1)
    assert found.text.startswith("10% in seconds")


def test_an_answer_that_is_right_needs_no_margin():
    sets = np.array([[[0.0, 1.0], [-1.0, 0.0]]] * 10)
    found = resolution_of(sets, np.array([True, False]), np.ones(2), NO_LIMITS, METRICS, 0.95)
    assert found is not None
    assert (found.factor, found.text) == (0.0, "")


def test_no_margin_makes_up_for_a_limit_in_doubt():
    sets = np.array([[[0.0, 1.0], [-1.0, 0.0]]] * 10)
    sets[:5, 0, 0] = -2.0
    assert resolution_of(sets, np.array([True, False]), np.ones(2), np.array([-1.5, -np.inf]), METRICS, 0.95) is None


def test_results_say_it_where_no_margin_is_declared_and_only_there():
    rng = np.random.default_rng(7)
    truth = {"a": (1.0, 1.0), "b": (1.0, 1.0), "c": (0.0, 0.0)}

    def measure(option):
        return {"x": rng.normal(truth[option][0]), "y": rng.normal(truth[option][1])}

    plain = pp.identify(measure, list(truth), {"x": "max", "y": "max"}, 120)
    assert plain.resolution is not None
    assert plain.resolution.text in str(plain)
    assert plain.to_dict()["resolution"]["widths"].keys() == {"x", "y"}
    within = pp.identify(measure, list(truth), {"x": "max~2", "y": "max~2"}, 120)
    assert within.resolution is None
    assert "right within the margins with probability" in str(within)
