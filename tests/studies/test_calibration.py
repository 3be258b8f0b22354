"""A small version of ``make calibration``, which has the numbers."""

import calibration
import numpy as np
import pytest
from calibration_page import errors, off, page, rules


@pytest.mark.slow
@pytest.mark.parametrize("population", ["independent", "few", "0 or 1", "circle"])
def test_what_is_said_is_true_about_as_often(population):
    outcomes = [calibration.simulated((population, number)) for number in range(5, 86, 4)]  # ege-sr, half of them rehearsed
    said, true = (np.concatenate([getattr(outcome, name) for outcome in outcomes]) for name in ("said", "optimal"))
    assert said.mean() == pytest.approx(true.mean(), abs=0.1)
    assert off(said, true) < 0.12
    whole, right = np.mean([outcome.whole for outcome in outcomes]), np.mean([outcome.right for outcome in outcomes])
    assert whole == pytest.approx(right, abs=0.2)
    assert rules(outcomes, [population])[2].count("%") == 5


@pytest.mark.long
@pytest.mark.slow
def test_doubt_errs_no_more_than_the_first_release():
    """On few sets of options, which leave ten points open; docs/calibration.md has the numbers of 1,080."""
    races = [calibration.raced((name, number)) for name in ("few", "uneven") for number in range(12)]
    wrong = {entry: 1 - np.mean([race.right[entry] for race in races]) for entry in ("doubt", "ege-sr, its own answer")}
    assert wrong["doubt"] < wrong["ege-sr, its own answer"] + 0.1
    assert errors(races, ["few"], list(wrong), calibration.BUDGETS)[-1].startswith("| *few* |")


@pytest.mark.long
@pytest.mark.slow
def test_the_page_has_all_tables():
    names = [*calibration.POPULATIONS, *(name for name in calibration.FRONTS if name != "circle"), "cov-boost"]
    outcomes = [calibration.simulated((name, number)) for name in names for number in (2, 3)]
    outcomes += [calibration.simulated((name, 7)) for name in calibration.PAPER[1:]]
    races = [calibration.raced((name, 0)) for name in (*calibration.POPULATIONS, "tenfold")]
    text = page(outcomes, races, calibration.BUDGETS, calibration.REHEARSALS)
    for words in ("## The three groups", "*circle*", "| uniform |", "empirical front", "high-dimension"):
        assert words in text
