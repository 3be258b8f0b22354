"""The baseline in pictures: marked, and named however many options there are."""

from dataclasses import replace

import numpy as np
import pytest

from paretopick import plots
from paretopick.studies.baselines import ComparedWithBaseline
from support.example_results import many


@pytest.fixture(scope="module")
def result():
    """Of many options, of which one that is dominated is the baseline."""
    found = many(60, 2)
    out = next(row.option for row in found.options if row.status == "dominated")
    return replace(found, compared_with_baseline=ComparedWithBaseline(out, "It is beaten."))


def test_a_front_has_a_ring_around_the_baseline_and_names_it(axes, result):
    record = plots.FrontData.of(result)
    assert record.names[record.baseline] == result.compared_with_baseline.baseline
    assert record.tags[record.baseline] == f"{result.compared_with_baseline.baseline} (baseline)"
    assert [tag for tag in record.tags if "(baseline)" in tag] == [record.tags[record.baseline]]
    plots.front(axes, record)
    rings = [line for line in axes.lines if line.get_markersize() > 10]
    assert [ring.get_xydata().tolist() for ring in rings] == [[record.means[record.baseline].tolist()]]


def test_a_ranking_has_a_line_at_the_baseline_and_names_it(axes, result):
    few = replace(result, options=result.options[:20])
    name = few.options[3].option
    few = replace(few, compared_with_baseline=ComparedWithBaseline(name, ""))
    record = plots.RankingData.of(few)
    plots.ranking(axes, record)
    assert f"{name} (baseline)" in record.names
    lines = [line.get_xdata() for line in axes.lines if line.get_linestyle() == ":"]
    assert np.unique(lines).tolist() == [few.options[3].means[next(iter(few.metrics))]]


def test_without_a_baseline_nobody_is_marked(result):
    record = plots.FrontData.of(replace(result, compared_with_baseline=None))
    assert record.baseline is None
    assert not any("baseline" in tag for tag in record.tags)
