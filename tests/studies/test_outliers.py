"""Values that are far off: equal to a literal version, seldom named without fault, and never missed in another unit."""

import numpy as np
import pytest
from scipy import stats

import paretopick as pp
from paretopick.estimates import estimate_tables
from paretopick.studies.outliers import FAR, UNLIKELY

OPTIONS = ["a", "b", "c", "d"]


def study_with(rows, *, policy="doubt"):
    """A study that has measured them: option, and a value that may be missing, twice."""
    metrics = {"m": "max", "p": "min"}
    study = pp.Study.create("s", options=OPTIONS, metrics=metrics, budget=500, policy=policy, storage="sqlite://")
    return study, study.add(rows)


def literal(rows, chosen):
    """The same from all values: those that were chosen against the others, and each alone against all others."""
    found = []
    for place in chosen:
        option, row = rows[place]
        for metric, value in enumerate(row):
            for left_out in (chosen, [place]) if value is not None else ():
                others = [each for other, each in enumerate(rows) if other not in left_out]
                near = distance(others, option, metric, value)
                if near and near[0] > FAR and near[1] < UNLIKELY and (place + 1, "mp"[metric]) not in found:
                    found.append((place + 1, "mp"[metric]))
    return found


def distance(rows, option, metric, value):
    """How many standard deviations a value is away, and how likely that is; None without repeats, or others of the option."""
    tables = {name: [row[metric] for each, row in rows if each == name and row[metric] is not None] for name in OPTIONS}
    told = {name: np.array(values)[:, None] for name, values in tables.items() if values}
    if option not in told or all(len(table) < 2 for table in told.values()):
        return None
    found = estimate_tables(list(told.values()), exact=np.array([False]), signs=np.array([1.0]))
    place, n = list(told).index(option), len(told[option])
    away = abs(value - told[option].mean()) / found.stds[place, 0]
    return away, 2 * stats.t.sf(away / np.sqrt(1 + 1 / n), found.freedom[place, 0])


@pytest.mark.sample(4)
@pytest.mark.parametrize("seed", range(12))
def test_values_are_named_as_by_a_literal_version(seed):
    rng = np.random.default_rng([seed, 5])
    rows = []
    for n in range(40):
        option = OPTIONS[n % 4] if n < 8 or seed % 2 else "a"
        row = [float(rng.normal(5.0, 1.0 + OPTIONS.index(option))), float(rng.normal())]
        if n > 30 and rng.random() < 0.15:
            row[int(rng.integers(2))] *= 1000.0
        if rng.random() < 0.1:
            row[int(rng.integers(2))] = None
        if n == 37:
            row[0] = 9000.0
        rows.append((option, row))
    study, numbers = study_with(rows)
    for chosen in (range(40), range(30, 40), [39], range(0, 40, 7)):
        said = [(each.number, each.metric) for each in study.far_off([numbers[place] for place in chosen])]
        expected = literal(rows, list(chosen))
        if len(chosen) < 40:
            assert said == expected
        else:
            assert set(said) <= set(expected)  # looked at from the ends, and no further than one that is not far off
    assert (38, "m") in [(each.number, each.metric) for each in study.far_off(numbers[30:])]


def test_a_value_of_another_unit_is_named_in_the_second_file_of_a_study():
    study, _ = study_with([("a", [1.2, 3.0]), ("a", [1.1, 3.0]), ("b", [1.25, 3.0])])
    numbers = study.add([("b", [1200.0, 3.1]), ("a", [1.2, 3.2]), ("b", [1.2, 3.0]), ("a", [1.2, 3.1]), ("b", [1.2, 3.3])])
    assert [(each.number, each.metric) for each in study.far_off(numbers)] == [(numbers[0], "m")]


def test_where_rounds_are_planned_values_that_wait_are_compared_with_those_that_count():
    rows = [("ab"[n % 2], [5.0 + n % 3 / 10, n % 4 + 0.5]) for n in range(400)]
    rows[350] = ("a", [5000.0, 0.5])
    study, numbers = study_with(rows, policy="ege-sr")
    assert study.used < 350
    (found,) = study.far_off([numbers[350]])
    assert (found.number, found.others) == (numbers[350], pytest.approx(5.1, abs=0.01))
    assert study.far_off(numbers) == []  # without them nothing is left, and those that wait are not among the others


@pytest.mark.sample(3)
@pytest.mark.slow
@pytest.mark.parametrize("kind", ["equal", "unequal", "lognormal"])
def test_hardly_a_value_is_named_without_fault_and_none_of_another_unit_is_missed(kind):
    rng = np.random.default_rng(101)
    named = missed = 0
    for _ in range(8):
        means, widths = rng.normal(scale=3, size=4), np.exp(rng.normal(size=4)) if kind == "unequal" else np.ones(4)
        rows = []
        for n in range(40):
            pair = means[n % 4] + widths[n % 4] * rng.normal(size=2)
            rows.append((OPTIONS[n % 4], (np.exp(pair / 2) if kind == "lognormal" else pair).tolist()))
        study, numbers = study_with(rows)
        named += sum(len(study.far_off([number])) for number in numbers)
        (wrong,) = study.add([("a", [3000.0 * max(1.0, abs(rows[0][1][0])), rows[0][1][1]])])
        missed += not any(each.metric == "m" for each in study.far_off([wrong]))
    assert named <= 1  # of 640 values
    assert missed == 0
