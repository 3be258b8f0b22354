"""Who beats whom by how much: as counted draw by draw, and in words that can be read one way only."""

import numpy as np
import pytest

from paretopick.estimates import estimate_tables
from paretopick.metrics import check_metrics
from paretopick.studies.beating import beaten, compared
from paretopick.studies.certainty import judge
from paretopick.studies.differences import Beaten, Difference

METRICS = check_metrics("seconds:min,quality:max,price:min", exact="price")


def judged(seed, n=9, shift=5.0):
    rng = np.random.default_rng(seed)
    means = rng.normal(size=(n, 3)) + np.array((shift, 0.0, 0.0))
    means[:, 2] = rng.integers(1, 4, n)
    tables = [mean + rng.normal(size=(6, 3)) * (0.5, 0.5, 0.0) for mean in means]
    exact = np.array([metric.exact for metric in METRICS])
    return judge(estimate_tables(tables, exact=exact, signs=np.array([metric.sign for metric in METRICS])))


@pytest.mark.parametrize("seed", range(8))
def test_whoever_most_often_dominates_is_named_with_the_differences_of_the_draws(seed):
    judgement = judged(seed)
    names = [f"o{i}" for i in range(9)]
    found = beaten(judgement, judgement.answer, names, METRICS)
    for option in np.flatnonzero(~judgement.answer):
        shares = np.where(judgement.answer, judgement.domination(int(option)), 0.0)
        if not shares.any():
            assert option not in found
            continue
        by = found[int(option)]
        member = names.index(by.option)
        assert shares[member] == pytest.approx(shares.max())
        assert by.probability == pytest.approx(shares.max())
        for metric, difference in enumerate(by.by):
            low, middle, high = judgement.difference(member, int(option), metric)
            assert (difference.interval[0], difference.difference, difference.interval[1]) == pytest.approx((low, middle, high))
            ratio = judgement.ratio(member, int(option), metric)
            if ratio is not None and metric != 1:
                assert (*difference.ratio_interval, difference.ratio) == pytest.approx((ratio.low, ratio.high, ratio.middle))
            elif metric == 1:
                assert difference.ratio is None  # qualities below 0 are there
    assert set(found) <= set(np.flatnonzero(~judgement.answer).tolist())


def test_nobody_is_named_without_an_answer_or_when_all_are_in_it():
    judgement = judged(0)
    names = [f"o{i}" for i in range(9)]
    assert beaten(judgement, np.zeros(9, dtype=bool), names, METRICS) == {}
    assert beaten(judgement, np.ones(9, dtype=bool), names, METRICS) == {}


def test_a_ratio_is_said_although_a_few_draws_of_a_positive_metric_are_below_zero():
    rng = np.random.default_rng(0)
    tables = [1.0 + 0.2 * rng.normal(size=(2, 1)), 4.0 + 0.2 * rng.normal(size=(2, 1)), 4.5 + 0.2 * rng.normal(size=(2, 1))]
    judgement = judge(estimate_tables(tables, exact=np.zeros(1, dtype=bool), signs=-np.ones(1)))
    assert judgement.ratio(0, 2, 0) is None  # Student's t with three degrees of freedom reaches far
    assert 0 < (judgement.draws[:, [0, 2]] <= 0).any(axis=1).mean() < 0.01
    ((difference,),) = compared(judgement, ["a"], "c", ["a", "b", "c"], check_metrics("seconds:min"))
    own, other = judgement.draws[:, 0, 0], judgement.draws[:, 2, 0]
    fine = (own > 0) & (other > 0)
    assert difference.ratio == pytest.approx(np.median(own[fine] / other[fine]), rel=0.02)
    assert str(difference).startswith("seconds 4.")


@pytest.mark.parametrize(
    "difference, said",
    [
        (Difference("s", -3.1, (-3.4, -2.8), 0.244, (0.217, 0.277)), "s 4.1 times smaller (3.6 to 4.6)"),
        (Difference("s", 30.0, (25.0, 34.0), 12.3, (10.1, 15.6)), "s 12 times larger (10 to 16)"),
        (Difference("b", -30.0, (-30.0, -30.0), 0.97, (0.97, 0.97)), "b 3.0% smaller"),
        (Difference("b", -3.0, (-5.0, 1.0), 0.99, (0.985, 1.003)), "b 1.0% smaller (-0.30% to 1.5%)"),
        (Difference("b", -112.0, (-112.0, -112.0), 0.99996, (0.99996, 0.99996)), "b smaller by 112"),
        (Difference("q", 0.012, (0.004, 0.02), 1.013, (1.004, 1.022), is_share=True), "q larger by 0.0120 (0.0040 to 0.0200)"),
        (Difference("q", 0.5, (0.4, 0.6), 2.0, (1.8, 2.3), is_share=True), "q 2.0 times larger (1.8 to 2.3)"),
        (Difference("d", -0.012, (-0.024, 0.002)), "d smaller by 0.012 (-0.002 to 0.024)"),
        (Difference("p", 0.0, (0.0, 0.0), 1.0, (1.0, 1.0)), "p equal"),
        (Difference("m", 0.003, (-0.059, 0.066), 1.0003, (0.994, 1.006), in_ratios=True), "m 0.03% larger (-0.60% to 0.60%)"),
        (Difference("m", 1e-5, (-0.05, 0.05), 1.00001, (0.99, 1.01), in_ratios=True), "m about equal (-1.0% to 1.0%)"),
        (Difference("m", -1.0, (-1.0, -1.0), 1 - 2e-6, (1 - 2e-6,) * 2, in_ratios=True), "m 0.0002% smaller"),
        (
            Difference("q", 0.012, (0.01, 0.02), 1.013, (1.01, 1.02), is_share=True, in_ratios=True),
            "q 1.3% larger (1.0% to 2.0%)",
        ),
        (Difference("p", 0.0, (0.0, 0.0), 1.0, (1.0, 1.0), in_ratios=True), "p equal"),
        (Difference("r", -0.001, (-0.15, 0.15), 0.9995, (0.93, 1.08)), "r about equal (-0.15 to 0.15)"),
    ],
)
def test_differences_in_words(difference, said):
    assert str(difference) == said


def test_who_beats_is_named_before_by_how_much():
    by = (Difference("s", -30.0, (-30.0, -30.0), 0.97, (0.97, 0.97)), Difference("p", 0.0, (0.0, 0.0)))
    assert str(Beaten("zstd 3", 0.9, by)) == "zstd 3: s 3.0% smaller, p equal"
