"""What is drawn is what was computed."""

import numpy as np
import pytest

from paretopick import plots


def line(rate, low, high, **look):
    x = np.arange(1.0, len(rate) + 1)
    return plots.Line("policy", x, np.array(rate), np.array(low), np.array(high), plots.BLUE, **look)


@pytest.fixture
def axes():
    with plots.look():
        _, (one,) = plots.new_figure(size=(4, 3))
    return one


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


def test_the_staircase_runs_below_the_front():
    corners = plots.staircase(np.array([[3.0, 1.0], [1.0, 3.0], [2.0, 2.0]]))
    assert corners.T.tolist() == [[1, 3], [1, 2], [2, 2], [2, 1], [3, 1]]
    assert plots.staircase(np.array([[1.0, 2.0]])).T.tolist() == [[1, 2]]


def test_optimal_arms_are_told_apart_and_named(axes):
    means = np.array([[1.0, 3.0], [2.0, 2.0], [0.5, 0.5]])
    plots.arms(axes, means, names=["a", "b", "c"], labels=("speed", "size"))
    _, dominated, optimal = axes.lines
    assert dominated.get_xydata().tolist() == [[0.5, 0.5]]
    assert optimal.get_xydata().tolist() == [[1, 3], [2, 2]]
    assert [text.get_text() for text in axes.texts] == ["a", "b", "c"]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("speed", "size")


def test_the_same_figure_is_the_same_bytes_and_nothing_else_is_left_behind(tmp_path):
    contents = []
    for name in ("one", "two"):
        with plots.look():
            figure, (axes,) = plots.new_figure(size=(4, 3))
            plots.log_rates(axes, [line([0.1], [0.05], [0.2])], xlabel="T")
            files = plots.save(figure, tmp_path, name)
        assert [file.name for file in files] == [f"{name}.png", f"{name}.pdf"]
        contents.append([file.read_bytes() for file in files])
    assert contents[0] == contents[1]
    assert len(list(tmp_path.iterdir())) == 4


def test_drawing_changes_no_setting_of_matplotlib(tmp_path):
    import matplotlib

    before = dict(matplotlib.rcParams)
    with plots.look():
        figure, _ = plots.new_figure(size=(4, 3))
        plots.save(figure, tmp_path, "empty")
    assert dict(matplotlib.rcParams) == before
