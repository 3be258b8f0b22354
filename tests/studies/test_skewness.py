"""Metrics that are skewed: named where intervals suffer from it, hardly ever elsewhere."""

import numpy as np
import pytest

import paretopick as pp

KINDS = {
    "lognormal": lambda rng, n: np.exp(rng.normal(size=n)),
    "normal": lambda rng, n: 5 + rng.normal(size=n),
    "uniform": lambda rng, n: rng.uniform(0.5, 1.5, n),
    "hardly skewed": lambda rng, n: np.exp(0.2 * rng.normal(size=n)),
    "below zero": lambda rng, n: np.exp(rng.normal(size=n)) - 0.5,
}


def noted(kind, seed, log=False, policy="doubt"):
    rng = np.random.default_rng([seed, 11])
    metrics = [pp.Metric("m", "min", log=log), pp.Metric("p", "max")]
    study = pp.Study.create("s", options=list("abcd"), metrics=metrics, budget=400, policy=policy, storage="sqlite://")
    for option, scale in zip("abcd", (1.0, 2.0, 3.0, 5.0), strict=True):
        study.add([(option, [scale * value, float(rng.normal())]) for value in KINDS[kind](rng, 12)])
    return [note for note in study.result().notes if "skewed" in note]


@pytest.mark.parametrize("kind", KINDS)
def test_a_metric_is_named_if_its_logarithms_would_do_better(kind):
    found = [noted(kind, seed) for seed in range(5)]
    if kind == "lognormal":
        assert all(len(notes) == 1 and notes[0].startswith("'m' is skewed") for notes in found)
    else:
        assert found == [[]] * 5


def test_it_is_not_named_where_it_is_compared_as_logarithms_or_cannot_be():
    assert noted("lognormal", 0, log=True) == []
    assert noted("lognormal", 0, policy="uniform") == []
