"""Curves: what is drawn is what was computed."""

import numpy as np
import pytest

from paretopick import plots
from paretopick.plots.ticks import log_ticks

PLAN = ([500.0, 1000.0, 2500.0, 5000.0], [0.5, 0.2, 0.04, 0.0], [0.4, 0.15, 0.03, 0.0], [0.6, 0.25, 0.05, 0.001])
"""Budgets, rates, and their limits."""


def line(rate, low, high, **look):
    x = np.arange(1.0, len(rate) + 1)
    return plots.Line("policy", x, np.array(rate), np.array(low), np.array(high), plots.BLUE, **look)


def test_rates_are_drawn_as_logs_with_their_bands(axes):
    plots.log_rates(axes, [line([0.1, 0.01], [0.05, 0.005], [0.2, 0.02])], xlabel="budget T")
    drawn = axes.lines[0]
    assert drawn.get_xdata().tolist() == [1, 2]
    assert drawn.get_ydata() == pytest.approx([-1, -2])
    band = axes.collections[0].get_paths()[0].vertices
    assert band[:, 1].min() == pytest.approx(np.log10(0.005))
    assert band[:, 1].max() == pytest.approx(np.log10(0.2))
    assert axes.get_xlabel() == "budget T"


def test_where_no_error_was_seen_an_arrow_hangs_from_the_upper_limit(axes):
    plots.log_rates(axes, [line([0.1, 0.0], [0.05, 0.0], [0.2, 0.001])], xlabel="budget T")
    assert np.isnan(axes.lines[0].get_ydata()[1])
    (limits,) = axes.containers
    data, caps, _ = limits
    assert data.get_xydata().tolist() == [[2.0, -3.0]]
    assert limits.has_yerr
    assert caps[0].get_marker() == 11  # matplotlib's CARETDOWNBASE: the head of an arrow that points down
    assert np.isfinite(axes.dataLim.get_points()).all()


def test_a_line_without_points_is_in_the_legend_all_the_same(axes):
    plots.log_rates(axes, [line([], [], [])], xlabel="budget T")
    assert axes.get_legend_handles_labels()[1] == ["policy"]


def test_a_plan_has_its_bands_its_target_and_readable_ticks(axes):
    one = plots.Line("_ege $x$", *(np.array(row) for row in PLAN), plots.BLUE)
    plots.plan(axes, [one], target=0.05, chosen=(2500.0, 0.04), truth=[one])
    drawn, truth, target, star = axes.lines[0], axes.lines[-3], axes.lines[-2], axes.lines[-1]
    assert drawn.get_ydata()[:3].tolist() == [0.5, 0.2, 0.04]
    assert np.isnan(drawn.get_ydata()[3])
    assert truth.get_linestyle() == "--"
    assert target.get_ydata() == [0.05, 0.05]
    assert star.get_xydata().tolist() == [[2500, 0.04]]
    assert [text.get_text() for text in axes.texts if text.get_text()] == ["2,500 measurements: 4%"]
    assert [text.get_text() for text in axes.get_xticklabels()] == ["500", "1,000", "2,500", "5,000"]  # on four inches
    assert [text.get_text() for text in axes.get_yticklabels()] == ["0.1%", "0.3%", "1%", "3%", "10%", "30%"]
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["_ege $x$", "_ege $x$", "target 5%"]
    band = axes.collections[0].get_paths()[0].vertices
    assert (band[:, 1].min(), band[:, 1].max()) == (0.03, 0.6)


def test_a_plan_hangs_an_arrow_from_the_upper_limit_where_no_error_was_seen(axes):
    one = plots.Line("ege", *(np.array(row) for row in PLAN), plots.BLUE)
    plots.plan(axes, [one], chosen=(5000.0, 0.0))
    (limits,) = axes.containers
    data, caps, _ = limits
    assert data.get_xydata().tolist() == [[5000.0, 0.001]]
    assert caps[0].get_marker() == 11
    assert axes.lines[-1].get_xydata().tolist() == [[5000, 0.001]]
    assert [text.get_text() for text in axes.texts if text.get_text()] == ["5,000 measurements: below 0.1%"]


@pytest.mark.parametrize("ends", [(300, 6000), (0.073, 0.13), (1e-6, 1.0), (1000, 1001), (5, 5e7), (99, 101)])
def test_ticks_of_logarithmic_axes_are_round_and_neither_few_nor_many(ends):
    ticks = log_ticks(*ends)
    assert 2 <= len(ticks) <= 8
    assert ends[0] <= ticks[0] < ticks[-1] <= ends[1]
    assert all(float(f"{tick:.5g}") == tick for tick in ticks)


def test_a_plan_without_anything_is_empty(axes):
    plots.plan(axes, [])
    assert axes.get_legend() is None
