"""Whole figures: the right one, nothing cut off, nothing on top of something else, and names as they are."""

from dataclasses import replace

import numpy as np
import pytest
from matplotlib.text import Text

from paretopick import plots
from support.example_results import boxes, many, option_result, overlaps, result

pytestmark = pytest.mark.slow

ODD = ["$x$", "_hidden", "<b>bold</b>", "漢字の名前", "😀 👩\u200d💻", "W" * 100, "a\\$b^2_3"]
LONG = [f"model=transformer-large,rate=0.00{i},layers={i % 4},decay=0.01" for i in range(30)]
CLUSTER = np.random.default_rng(2).normal(scale=0.02, size=(30, 2)) + (np.arange(30) % 3 == 0)[:, None]


def odd(n_metrics):
    """Names and metrics that are not easy to write."""
    metrics = dict(zip(["$\\alpha$", "_under", "W" * 60, "<i>", "漢字"][:n_metrics], ["min", "max"] * 3, strict=False))
    statuses = ["pareto", "pareto", "open", "dominated", "retired", "pareto", "dominated"]
    options = [
        option_result(
            name,
            status,
            {metric: 1e12 * i if d == 1 else 1e-9 * (i * 3 % 7) if d == 0 else 5.0 for d, metric in enumerate(metrics)},
            [1e-9, 0.0, 0.0, None, 1.0][:n_metrics],
            left=i or None,
        )
        for i, (name, status) in enumerate(zip(ODD, statuses, strict=True))
    ]
    return result(options, metrics)


def limited(n_options, n_metrics, *, side="at_most"):
    """Half of the options break a limit of the first metric, of which all others have one, too."""
    made = many(n_options, n_metrics, names=LONG[:n_options] if n_options <= len(LONG) else None)
    middle = sorted(row.means["metric 1"] for row in made.options)[n_options // 2]
    goals = {"at_most": "min", "at_least": "max"}
    records = tuple(
        replace(metric, goal=goals[side], unit="µs $x_1$ (漢)", margin=0.2, **{side: middle if i == 0 else 0.1})
        for i, metric in enumerate(made.metric_records)
    )
    rows = [
        replace(row, status="infeasible", in_answer=False) if (row.means["metric 1"] > middle) == (side == "at_most") else row
        for row in made.options
    ]
    answer = tuple(row.option for row in rows if row.in_answer)
    return replace(made, metric_records=records, options=tuple(rows), answer=answer)


def limits_alone(made):
    """The last two metrics have only their limits."""
    *first, third, fourth = made.metric_records
    return replace(made, metric_records=(*first, *(replace(metric, goal=None, margin=None) for metric in (third, fourth))))


def unmeasured(n_metrics):
    return many(3, n_metrics, points=np.full((3, n_metrics), np.nan), done=False, n_pareto=0, status="open")


CASES = {
    "one metric, many options": lambda: many(60, 1),
    "two metrics": lambda: many(30, 2),
    "two metrics, clustered": lambda: many(30, 2, points=CLUSTER),
    "two metrics, the same point": lambda: many(30, 2, points=np.ones((30, 2)), names=LONG),
    "two metrics, many options": lambda: many(200, 2),
    "two metrics, one option": lambda: many(1, 2),
    "two metrics, all open": lambda: many(12, 2, n_pareto=0, status="open", done=False),
    "three metrics, wide names": lambda: many(30, 3, names=[f"{i}{'W' * 60}" for i in range(30)], n_pareto=30),
    "five metrics": lambda: many(30, 5, names=LONG, n_pareto=30),
    "ten metrics, many options": lambda: many(100, 10, n_pareto=60),
    **{f"limits, {d}": lambda d=d: limited(20, d) for d in (1, 2, 3, 5)},
    "limits from below": lambda: limited(20, 2, side="at_least"),
    "limits, many options": lambda: limited(60, 2),
    "limits alone": lambda: limits_alone(limited(20, 4)),
    **{f"odd names, {d}": lambda d=d: odd(d) for d in (1, 2, 3, 5)},
    **{f"nothing measured, {d}": lambda d=d: unmeasured(d) for d in (1, 2, 3, 5)},
}


@pytest.fixture(scope="module", params=CASES)
def figure(request):
    made = plots.figure_of(CASES[request.param]())
    made.draw_without_rendering()
    return made


def written(figure):
    """All texts of a figure but those of ticks, of which matplotlib keeps some that it does not draw."""
    apart = {id(text) for text in ticks(figure)}
    return [text for text in figure.findobj(Text) if text.get_text() and text.get_visible() and id(text) not in apart]


def ticks(figure):
    """What is written along the axes, as far as it is drawn."""
    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            for tick in (*axis.majorTicks, *axis.minorTicks):
                yield from (tick.label1, tick.label2)


def drawn_ticks(axes):
    """Labels of ticks that are within the axes."""
    for axis in (axes.xaxis, axes.yaxis):
        low, high = sorted(axis.get_view_interval())
        yield from (tick.label1 for tick in axis.get_major_ticks() if low <= tick.get_loc() <= high and tick.label1.get_visible())


def check_inside(figure):
    width, height = figure.bbox.size
    tight = figure.get_tightbbox().extents * figure.dpi
    extents = np.vstack([tight, boxes(written(figure))])
    assert (extents[:, :2] > -1.0).all()
    assert (extents[:, 2:] < (width + 1.0, height + 1.0)).all()


@pytest.mark.sample(4)
def test_nothing_is_cut_off(figure):
    check_inside(figure)


@pytest.mark.sample(4)
def test_no_text_is_on_top_of_another(figure):
    for axes in figure.axes:
        assert overlaps(boxes(axes.texts)) == []
    beside = [text for axes in figure.axes for text in axes.texts]
    assert overlaps(boxes(text for text in written(figure) if text not in beside)) == []
    for axes in figure.axes:
        explained = axes.get_legend().get_texts() if axes.get_legend() else []
        assert overlaps(boxes([*explained, *drawn_ticks(axes)])) == []


@pytest.mark.parametrize("n_metrics", [2, 5])
def test_names_keep_apart_whatever_the_resolution(n_metrics):
    points = CLUSTER[:, [i % 2 for i in range(n_metrics)]]
    figure = plots.figure_of(many(30, n_metrics, points=points, n_pareto=30))
    (axes,) = figure.axes
    names = [text for text in axes.texts if text.get_text().startswith("option")]
    assert len(names) == 30
    for dpi in (72, 110, 200):
        figure.set_dpi(dpi)
        figure.draw_without_rendering()
        assert overlaps(boxes(names)) == []
        inside = axes.get_window_extent().extents if n_metrics == 2 else figure.bbox.extents
        assert (boxes(names)[:, :2] >= inside[:2]).all()
        assert (boxes(names)[:, 2:] <= inside[2:]).all()


@pytest.mark.parametrize(
    "made", [many(30, 2), many(60, 2, names=LONG + ODD * 4 + ["c", "d"], n_pareto=20), many(100, 2), odd(2), unmeasured(2)]
)
def test_timelines_fit_too(made):
    figure = plots.timeline_of(made)
    figure.draw_without_rendering()
    check_inside(figure)
    (axes,) = figure.axes
    assert overlaps(boxes(axes.get_yticklabels())) == []
    assert overlaps(boxes(axes.texts)) == []


@pytest.mark.parametrize("n_metrics, panels", [(1, 1), (2, 1), (4, 9), (5, 1)])
def test_the_picture_suits_the_number_of_metrics(n_metrics, panels):
    figure = plots.figure_of(many(4, n_metrics))
    assert len(figure.axes) == panels
    assert figure.get_suptitle() == "made by hand: 2 of 4 options Pareto-optimal, 20 measurements"


def test_numbers_are_explained_in_the_free_corner():
    made = many(60, 3, n_pareto=30)
    statuses = ["open"] * 10 + ["retired"] * 10 + ["dominated"] * 10
    others = [replace(option, status=status) for option, status in zip(made.options[30:], statuses, strict=True)]
    others[0] = replace(others[0], in_answer=True)
    made = replace(made, options=(*made.options[:30], *others), answer=(*made.answer, others[0].option))
    figure = plots.figure_of(made)
    figure.draw_without_rendering()
    _, corner, _, below = figure.axes
    explained = boxes([*corner.texts, *corner.get_legend().get_texts()])
    assert len(explained) == 35
    assert overlaps(explained) == []
    assert explained[:, 1].min() > below.get_window_extent().y1
    check_inside(figure)


def test_a_long_title_and_a_wide_legend_fit():
    with plots.look():
        figure, (axes,) = plots.new_figure(size=(5, 3))
        x, high = np.array([10.0, 100.0]), np.array([0.5, 0.4])
        plots.plan(axes, [plots.Line(f"{i} {'policy ' * 8}", x, high / 2, high / 4, high, plots.BLUE) for i in range(4)])
    figure.draw_without_rendering()
    check_inside(figure)
    titled = plots.figure_of(many(3, 1), title="W" * 200)
    titled.draw_without_rendering()
    check_inside(titled)


def test_titles_say_how_far_a_study_is_and_can_be_left_out():
    assert plots.figure_of(many(4, 1), title="").get_suptitle() == ""
    assert plots.timeline_of(many(4, 1), title="$x$").get_suptitle() == "$x$"
    going_on = plots.figure_of(many(4, 1, done=False))
    assert going_on.get_suptitle() == "made by hand: best guess so far, 2 of 4 options, after 20 of 100 measurements"
    assert plots.figure_of(unmeasured(1)).get_suptitle() == "made by hand: no answer yet, 15 of 100 measurements"


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    "draw, n_metrics", [*((plots.figure_of, d) for d in (1, 2, 3, 5)), (plots.timeline_of, 1)], ids=lambda value: str(value)[:20]
)
def test_names_are_shown_as_they_are(draw, n_metrics):
    figure = draw(odd(n_metrics))
    figure.draw_without_rendering()
    texts = {text.get_text(): text for text in (*written(figure), *ticks(figure))}
    for name in ("$x$", "_hidden"):
        (found,) = (text for shown, text in texts.items() if shown == name or shown.endswith(f"  {name}"))
        assert not found.get_parse_math()
    if draw is plots.figure_of:
        assert any(shown.startswith("$\\alpha$") and not text.get_parse_math() for shown, text in texts.items())


def test_the_ranking_is_sorted_and_has_the_intervals_of_the_result():
    options = [
        option_result("b", "dominated", {"s": 2.0}, interval=(1.5, 2.6)),
        option_result("c", "dominated", {"s": 3.0}, interval=(3.0, 3.0)),
        option_result("a", "pareto", {"s": 1.0}),
    ]
    record = plots.RankingData.of(result(options, {"s": "min"}))
    assert record.names == ("a", "b", "c")
    assert record.means.tolist() == [1, 2, 3]
    assert np.isnan(record.intervals[0]).all()
    assert record.intervals[1:].tolist() == [[1.5, 2.6], [3, 3]]
    assert record.x.ends[0] < 1
    assert record.x.ends[1] > 3
    assert plots.RankingData.of(result(options, {"s": "max"})).names == ("c", "b", "a")
    long = plots.RankingData.of(many(60, 1))
    assert len(long.names) == 40
    assert "The best 40 of 60 options that were measured." in long.notes
    (axes,) = plots.figure_of(result(options, {"s": "min"})).axes
    bars = [tuple(line.get_xdata()) for line in axes.lines if len(line.get_xdata()) == 2]
    assert bars == [(1.5, 2.6), (3, 3)]


def test_parallel_axes_have_the_best_at_the_top():
    options = [
        option_result("a", "pareto", {"s": 1.0, "q": 5.0, "same": 3.0}),
        option_result("b", "dominated", {"s": 2.0, "q": 10.0, "same": 3.0}),
        option_result("c", "pareto", {"s": 5.0, "q": 0.0, "same": 3.0}),
    ]
    record = plots.ParallelData.of(result(options, {"s": "min", "q": "max", "same": "max"}))
    assert record.names == ("a", "c", "b")
    assert record.heights.tolist() == [[1, 0.5, 0.5], [0, 0, 0.5], [0.75, 1, 0.5]]
    assert (record.best, record.worst) == (("1", "10", "all 3"), ("5", "0", ""))
    assert record.tags == ("a", "c")
