"""Limits and margins in pictures: what is shaded is what the theory says, computed another way."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from matplotlib.colors import to_rgba
from matplotlib.path import Path

from paretopick import Metric, plots
from paretopick.metrics import requirements_of
from paretopick.plots.labels import place
from paretopick.plots.limits import Forbidden, LimitTexts, forbidden, limit_notes
from paretopick.plots.style import FORBIDDEN, KINDS
from paretopick.theory.requirements import covers, outdoes
from support.example_results import boxes, many, option_result, overlaps, result

pytestmark = pytest.mark.slow

SECONDS = Metric("time", "min", margin="10%", at_most=10, unit="s")
SIZE = Metric("size", "min", margin="2%", unit="MB")


def compressors(metrics=(SECONDS, SIZE), **given):
    """Four that keep the limit, of which one is dominated, and one that breaks it and would be the smallest."""
    rows = [
        option_result("lz4", "pareto", {"time": 0.1, "size": 19.0}),
        option_result("zstd", "pareto", {"time": 0.3, "size": 14.0}),
        option_result("bzip2", "open", {"time": 7.0, "size": 12.0}, probability=0.6),
        option_result("gzip", "dominated", {"time": 2.0, "size": 16.0}),
        option_result("xz", "infeasible", {"time": 25.0, "size": 11.0}),
    ]
    return result(rows, list(metrics), pareto=("lz4", "zstd", "bzip2"), **given)


@pytest.mark.parametrize("goals", list(itertools.product(("min", "max"), repeat=2)), ids="-".join)
@pytest.mark.parametrize("margins", [(0.1, 0.05), (None, 0.2), ("20%", "5%"), ("30%", 0.1)], ids=str)
def test_the_band_is_what_the_front_covers_and_does_not_outdo(goals, margins):
    metrics = [Metric(name, goal, margin=margin) for name, goal, margin in zip("xy", goals, margins, strict=True)]
    rng = np.random.default_rng(3)
    points, tried = rng.uniform(0.2, 1.0, size=(6, 2)), rng.uniform(0.1, 1.2, size=(2000, 2))
    band = plots.margin_band(points, metrics, ((0.1, 1.2), (0.1, 1.2)))
    front, others = (
        np.column_stack([metric.sign * metric.scaled(column) for metric, column in zip(metrics, some.T, strict=True)])
        for some in (points, tried)
    )
    required = requirements_of(metrics)
    does_not_matter = covers(front, others, required).any(axis=0) & ~outdoes(front, others, required).any(axis=0)
    assert Path(band.T).contains_points(tried).tolist() == does_not_matter.tolist()
    assert 20 < does_not_matter.sum() < 1800


def test_without_margins_or_points_there_is_no_band():
    ends = ((0.0, 1.0), (0.0, 1.0))
    plain = [Metric("x", "min"), Metric("y", "max")]
    assert plots.margin_band(np.array([[0.5, 0.5]]), plain, ends).shape == (2, 0)
    assert plots.margin_band(np.empty((0, 2)), [SECONDS, SIZE], ends).shape == (2, 0)


def test_the_band_of_a_percent_margin_has_one_width_on_a_logarithmic_axis():
    band = plots.margin_band(np.array([[0.1, 20.0], [1.0, 10.0]]), [SECONDS, SIZE], ((0.01, 10.0), (5.0, 30.0)))
    times, sizes = (sorted(set(row.round(12))) for row in band)
    assert times == pytest.approx([0.1 / 1.1, 0.1 * 1.1, 1 / 1.1, 1.1, 10.0])  # the last is the end of the axis
    assert sizes == pytest.approx([10 / 1.02, 10 * 1.02, 20 / 1.02, 20 * 1.02, 30.0])


@pytest.mark.parametrize(
    "limit, ends, span",
    [
        ({"at_most": 5}, (0.0, 8.0), (5.0, 8.0)),
        ({"at_least": 5}, (0.0, 8.0), (0.0, 5.0)),
        ({"at_most": 5}, (6.0, 8.0), (6.0, 8.0)),
        ({"at_most": 5}, (0.0, 4.0), None),
        ({"at_least": 5}, (6.0, 8.0), None),
    ],
    ids=str,
)
def test_what_is_forbidden_is_beyond_the_limit(limit, ends, span):
    metric = Metric("m", None, unit="kg", **limit)
    found = forbidden(metric, ends)
    words = f"at {next(iter(limit))[3:]} 5 kg"
    assert found == (None if span is None else Forbidden(words, 5.0, span))
    said = limit_notes([metric], [found])
    if span is None:
        assert said == (f"All options shown keep the limit of m, {words}.",)
    elif 5.0 in span:
        assert said == ()
    else:
        assert said == (f"All options shown break the limit of m, {words}.",)
    assert forbidden(Metric("m", "min"), ends) is None


def test_the_staircase_is_of_options_that_keep_the_limits_and_ends_at_them():
    record = plots.FrontData.of(compressors())
    assert record.kinds == ("worth keeping", "worth keeping", "open in", "dominated", "infeasible")
    assert record.forbidden == (Forbidden("at most 10 s", 10.0, (10.0, record.x.ends[1])), None)
    assert record.x.ends[1] > 25
    corners = record.stairs.T.tolist()
    assert corners[0] == [10.0, record.y.ends[1]]  # the worst corner of what is allowed
    assert corners[2:-2] == [[7.0, 12.0], [7.0, 14.0], [0.3, 14.0], [0.3, 19.0], [0.1, 19.0]]
    assert record.band[0].max() == 10.0
    assert record.notes == ("Band along the front: differences below 10% in time and 2% in size do not matter.",)


def test_a_best_guess_beyond_a_limit_is_not_on_the_staircase():
    made = compressors()
    guess = [replace(row, in_answer=True, status="open") if row.option == "xz" else row for row in made.options]
    record = plots.FrontData.of(replace(made, options=tuple(guess), answer=(*made.answer, "xz")))
    assert record.kinds[record.names.index("xz")] == "open in"
    assert record.stairs[0].max() == 10.0
    assert [25.0, 11.0] not in record.stairs.T.tolist()


def test_where_no_option_keeps_the_limits_there_are_no_stairs():
    rows = [replace(row, status="infeasible", in_answer=False) for row in compressors().options]
    none = result(rows, [replace(SECONDS, at_most=1e-9), SIZE], pareto=())
    record = plots.FrontData.of(none)
    assert record.stairs.size == record.band.size == 0
    assert record.forbidden[0].span == record.x.ends
    assert "All options shown break the limit of time, at most 1e-09 s." in record.notes
    assert plots.figure_of(none).get_suptitle() == "made by hand: no option keeps the limits, 25 measurements"


def test_a_limit_is_in_sight_unless_it_is_far_away():
    near = plots.FrontData.of(compressors((replace(SECONDS, at_most=60), SIZE)))
    assert near.x.ends[1] > 60
    far = plots.FrontData.of(compressors((replace(SECONDS, at_most=1e6), SIZE)))
    assert far.x.ends[1] < 1e6
    assert far.forbidden[0] is None
    assert "All options shown keep the limit of time, at most 1000000 s." in far.notes


def test_metrics_compared_as_logarithms_have_logarithmic_axes_and_regions():
    rows = [option_result(f"{i}", "pareto", {"a": a, "b": 3.0 - a}, (0.1, 0.1)) for i, a in enumerate((1.0, 2.0))]
    rows = [
        replace(row, intervals={name: (mean / 1.5, mean * 1.5) if name == "a" else None for name, mean in row.means.items()})
        for row in rows
    ]
    record = plots.FrontData.of(result(rows, [Metric("a", "min", log=True), Metric("b", "min")], correlation=((1, 0), (0, 1))))
    assert (record.x.log, record.y.log) == (True, False)
    assert str(record.x.label) == "a (small is good, log scale)"
    wide = np.sqrt(5.991 / 3.841)  # a region in two metrics is wider than an interval in one
    assert np.log(record.regions[0][0]).max() == pytest.approx(wide * np.log(1.5), rel=1e-3)
    assert np.log(record.regions[0][0]).min() == pytest.approx(-wide * np.log(1.5), rel=1e-3)
    assert record.regions[0][1].max() == pytest.approx(2 + np.sqrt(5.991) * 0.1, rel=1e-3)


def test_the_standard_error_of_a_retired_option_becomes_one_of_its_logarithm():
    rows = [option_result("a", "retired", {"x": 4.0, "y": 4.0}, (0.2, 0.2))]
    record = plots.FrontData.of(result(rows, [Metric("x", "min", log=True), Metric("y", "min")]))
    assert np.log(record.regions[0][0]).max() == pytest.approx(np.log(4) + np.sqrt(5.991) * 0.05, rel=1e-3)
    assert record.regions[0][1].max() == pytest.approx(4 + np.sqrt(5.991) * 0.2, rel=1e-3)


@pytest.mark.sample(5)
@pytest.mark.parametrize("n_metrics", [1, 2, 3])
@pytest.mark.parametrize("low, high", [(0.06, 0.1), (0.06, 0.3), (0.058, 0.061), (14200, 14500), (0.9, 40.0), (1e-4, 1e4)])
def test_what_is_written_at_the_ticks_of_logarithmic_axes_keeps_apart(n_metrics, low, high):
    names = "abc"[:n_metrics]
    metrics = [Metric(name, "min", margin="2%") for name in names]
    rows = [
        option_result(f"{i}", "pareto", dict.fromkeys(names, value))
        for i, value in enumerate(np.geomspace(low, high, 5).tolist())
    ]
    figure = plots.figure_of(result(rows, metrics))
    figure.draw_without_rendering()
    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            written = [text for text in axis.get_ticklabels() if text.get_text() and text.get_visible()]
            if axis.get_scale() == "log" and written:
                assert len(written) > 1
                assert overlaps(boxes(written) + np.array((-2, 0, 2, 0))) == []  # nor do they touch


def test_a_metric_in_which_all_are_alike_is_in_the_middle_of_its_axis():
    rows = [option_result(f"{i}", "pareto", {"time": 1.0 + i, "size": 14488.0}) for i in range(3)]
    for size in (Metric("size", "min", margin="1%"), Metric("size", "min", margin=50), Metric("size", "min")):
        ends = np.array(plots.FrontData.of(result(rows, [Metric("time", "min"), size])).y.ends)
        assert size.scaled(ends).mean() == pytest.approx(float(size.scaled(14488.0)), rel=1e-3)
    low, high = plots.FrontData.of(result(rows, [Metric("time", "min"), Metric("size", "min", at_most=15000)])).y.ends
    assert high > 15000
    assert 0.25 < (14488 - low) / (high - low) < 0.5


def test_a_limit_far_above_what_is_all_alike_makes_no_room_below_0():
    rows = [option_result(f"{i}", "pareto", {"time": 1.0 + i, "size": 5.0}) for i in range(3)]
    low, high = plots.FrontData.of(result(rows, [Metric("time", "min"), Metric("size", "min", at_most=50)])).y.ends
    assert (low, high) == pytest.approx((0 - 0.06 * 50, 50 + 0.06 * 50))


@pytest.mark.parametrize("n_metrics", [2, 3, 4, 5])
def test_pictures_of_any_number_of_metrics_say_their_margins(n_metrics):
    metrics = [Metric(name, "min", margin="2%", exact=True) for name in "abcde"[:n_metrics]]
    rows = [option_result(f"{i}", "pareto", dict.fromkeys("abcde"[:n_metrics], 1.0 + i)) for i in range(3)]
    figure = plots.figure_of(result(rows, metrics))
    assert "2% in b" in figure.get_supxlabel()
    assert "do not matter" in figure.get_supxlabel()


def test_parallel_axes_of_ratios_say_that_all_are_alike():
    rows = [option_result(f"{i}", "pareto", {"s": 1.0 + i, "size": 14488.0}) for i in range(3)]
    record = plots.ParallelData.of(result(rows, [Metric("s", "min"), Metric("size", "min", margin="1%")]))
    assert (record.best[1], record.worst[1]) == ("all 14,488", "")


def test_units_are_on_the_axes():
    record = plots.FrontData.of(compressors())
    assert str(record.x.label) == "time (s, small is good, log scale)"
    odd = plots.FrontData.of(compressors((replace(SECONDS, unit="$x_1$ (µs)"), SIZE)))
    assert str(odd.x.label) == "time ($x_1$ (µs), small is good, log scale)"
    (axes,) = plots.figure_of(compressors((replace(SECONDS, unit="$x_1$ (µs)"), SIZE))).axes
    assert axes.get_xlabel() == str(odd.x.label)
    assert not axes.xaxis.label.get_parse_math()
    ranked = plots.RankingData.of(compressors(), "time")
    assert str(ranked.x.label) == "time (s, small is good, at most 10 s, log scale)"


def test_in_small_panels_labels_have_two_lines_and_the_whole_name():
    made = many(3, 3, points=np.arange(9.0).reshape(3, 3) + 1)
    records = [replace(metric, name=f"a_name_that_is_rather_long_{i}", unit="MB") for i, metric in enumerate(made.metric_records)]
    rename = dict(zip(made.metrics, (metric.name for metric in records), strict=True))
    rows = [
        replace(
            row,
            **{
                field: {rename[name]: value for name, value in getattr(row, field).items()}
                for field in ("means", "intervals", "standard_errors")
            },
        )
        for row in made.options
    ]
    figure = plots.figure_of(replace(made, options=tuple(rows), metric_records=tuple(records)))
    assert figure.axes[2].get_ylabel() == "a_name_that_is_rather_long_2\n(MB, large is good)"


def test_limits_are_lines_beside_which_they_are_named():
    (axes,) = plots.figure_of(compressors()).axes
    lines = [line for line in axes.lines if line.get_color() == FORBIDDEN and list(line.get_xdata()) == [10.0, 10.0]]
    assert len(lines) == 1
    spans = [patch for patch in axes.patches if patch.get_facecolor() == to_rgba(FORBIDDEN, 0.09)]
    assert [patch.get_extents().x0 for patch in spans] == [axes.transData.transform((10.0, 12.0))[0]]
    assert [text.get_text() for text in axes.texts if text.get_text().startswith("at ")] == ["at most 10 s"]


def test_a_limit_is_written_where_it_hides_no_point(axes):
    axes.set(xlim=(0, 10), ylim=(0, 10))
    axes.get_figure().draw_without_rendering()
    mark = Forbidden("at most 5 s", 5.0, (5.0, 10.0))
    crowd = np.column_stack((np.full(30, 5.3), np.linspace(5, 10, 30)))  # all along the line but at its lower end
    (box,) = LimitTexts(axes, (mark, None), crowd).arrange()
    pixels = axes.transData.transform(crowd)
    assert not ((pixels > box[:2]) & (pixels < box[2:])).all(axis=1).any()
    axes.get_figure().draw_without_rendering()
    (text,) = axes.texts
    (shown,) = boxes([text])
    assert (shown[:2] >= box[:2]).all()
    assert (shown[2:] <= box[2:]).all()
    assert (box[2:] - box[:2] < 1.2 * (shown[2:] - shown[:2]) + 4).all()
    assert box[0] > axes.transData.transform((5, 5))[0]  # on the forbidden side
    left = Forbidden("at least 5 kg", 5.0, (0.0, 5.0))
    both = LimitTexts(axes, (left, left), np.empty((0, 2))).arrange()
    assert both[0, 2] < axes.transData.transform((5, 5))[0]
    assert both[1, 3] < axes.transData.transform((5, 5))[1]
    assert overlaps(both) == []


def test_names_keep_off_what_is_taken():
    anchor, size = np.array([[50.0, 50.0]]), np.array([[20.0, 10.0]])
    nothing = np.empty((0, 2))
    (free,) = place(anchor, size, nothing, np.empty(0), (0, 0, 100, 100))
    taken = np.array([[*(free - 1), *(free + 21)]])
    (moved,) = place(anchor, size, nothing, np.empty(0), (0, 0, 100, 100), taken)
    assert overlaps(np.vstack([taken, [*moved, *(moved + size[0])]])) == []
    (nowhere,) = place(anchor, size, nothing, np.empty(0), (0, 0, 100, 100), np.array([[0.0, 0.0, 100.0, 100.0]]))
    assert np.isnan(nowhere).all()


MEMORY = Metric("memory", None, at_most=50, unit="MB")


def with_memory(made):
    rows = [
        replace(
            row,
            means={**row.means, "memory": 10.0 * (i + 1)},
            intervals={**row.intervals, "memory": None},
            standard_errors={**row.standard_errors, "memory": None},
        )
        for i, row in enumerate(made.options)
    ]
    return replace(made, options=tuple(rows), metric_records=(*made.metric_records, MEMORY))


def test_a_metric_with_a_limit_alone_is_no_axis_of_the_front_and_has_a_picture_below():
    made = with_memory(compressors())
    record = plots.FrontData.of(made)
    assert (record.x.label.name, record.y.label.name) == ("time", "size")
    assert record.stairs.size > 0
    ranked = plots.RankingData.of(made, "memory")
    assert ranked.names == ("lz4", "zstd", "bzip2", "gzip", "xz")
    assert str(ranked.x.label) == "memory (MB, at most 50 MB)"
    assert ranked.band is None
    front, below = plots.figure_of(made).axes
    assert front.get_xlabel().startswith("time")
    assert below.get_xlabel() == "memory (MB, at most 50 MB)"
    assert below.get_legend() is None
    assert below.get_window_extent().y1 < front.get_window_extent().y0


@pytest.mark.parametrize("n_metrics, panels", [(1, 1), (3, 4), (5, 1)])
def test_limits_alone_do_not_count_as_metrics_of_the_picture(n_metrics, panels):
    assert len(plots.figure_of(with_memory(many(4, n_metrics))).axes) == panels + 1


def test_of_many_options_those_of_the_answer_are_in_the_picture_of_a_limit():
    made = with_memory(many(60, 2, n_pareto=3))
    high = [replace(row, means={**row.means, "memory": -row.means["memory"]}) for row in made.options]
    made = replace(made, options=tuple(high))  # the answer is the worst in memory, as far as that goes
    ranked = plots.RankingData.of(made, "memory")
    assert len(ranked.names) == 40
    assert {"option 1", "option 2", "option 3"} <= set(ranked.names)
    assert ranked.means.tolist() == sorted(ranked.means)
    assert "40 of 60 options that were measured." in ranked.notes


def test_a_ranking_has_a_band_at_the_best_of_the_answer():
    rows = [
        option_result("fast", "infeasible", {"s": 1.0}),
        option_result("good", "pareto", {"s": 2.0}),
        option_result("as good", "dominated", {"s": 2.1}),
    ]
    record = plots.RankingData.of(result(rows, [Metric("s", "min", margin=0.5)]))
    assert record.band == (1.5, 2.5)
    assert record.notes == ("Band at the best: differences below 0.5 in s do not matter.",)
    assert plots.RankingData.of(result(rows, [Metric("s", "max", margin="25%")])).band == pytest.approx((1.6, 2.5))


def test_parallel_axes_say_where_limits_are():
    rows = [
        option_result("a", "pareto", {"s": 1.0, "q": 5.0, "same": 3.0}),
        option_result("b", "open", {"s": 2.0, "q": 10.0, "same": 3.0}, probability=0.3),
        option_result("c", "infeasible", {"s": 5.0, "q": 0.0, "same": 3.0}),
    ]
    metrics = [
        Metric("s", "min", at_most=4, unit="ms", margin=0.1),
        Metric("q", "max", at_least=-1),
        Metric("same", "max", at_least=4),
    ]
    record = plots.ParallelData.of(result(rows, metrics))
    assert record.forbidden.tolist() == [0.25, 0.0, 1.0]
    assert record.limits == ("at most 4 ms", "at least -1", "at least 4")
    assert record.metrics == ("s, ms", "q", "same")
    assert record.tags == ("a", "b")  # who is in doubt has a name, too
    assert record.notes == ("Differences below 0.1 ms in s do not matter.",)
    logs = [replace(metrics[0], margin=None, log=True), *metrics[1:]]
    assert plots.ParallelData.of(result(rows, logs)).forbidden[0] == pytest.approx(1 - np.log(4) / np.log(5))


def test_with_margins_options_are_worth_keeping_or_covered():
    made = compressors()
    rows = [replace(row, worth_keeping=0.9 if row.option == "gzip" else 0.1) for row in made.options]
    within = replace(made, options=tuple(rows))
    assert plots.FrontData.of(within).kinds == ("worth keeping", "worth keeping", "open in", "covered", "infeasible")
    assert plots.TimelineData.of(within).kinds == ("worth keeping", "worth keeping", "open in", "covered", "infeasible")
    assert plots.figure_of(within).get_suptitle() == "made by hand: 3 of 5 options worth keeping, 25 measurements"
    plain = replace(within, metric_records=tuple(replace(metric, margin=None) for metric in made.metric_records))
    assert plots.FrontData.of(plain).kinds == ("pareto", "pareto", "open in", "dominated", "infeasible")
    assert plots.figure_of(plain).get_suptitle() == "made by hand: 3 of 5 options Pareto-optimal, 25 measurements"


def test_among_many_options_with_margins_those_that_may_be_worth_keeping_are_named():
    rows = [option_result(f"{i}", "dominated", {"time": 1.0 + i, "size": 30.0}, probability=0.5) for i in range(40)]
    rows.append(replace(option_result("open", "open", {"time": 1.0, "size": 1.0}, probability=0.0), worth_keeping=0.4))
    rows.append(replace(option_result("hardly", "open", {"time": 1.0, "size": 1.0}, probability=0.4), worth_keeping=0.001))
    record = plots.FrontData.of(result(rows, [SECONDS, SIZE], pareto=()))
    assert record.tags == ("open", "hardly")
    assert "Named are the 2 options that are or may be worth keeping." in record.notes


def test_infeasible_options_have_their_own_look():
    looks = [(kind.colour, kind.marker) for kind in KINDS.values()]
    assert looks.count(("#a8508a", "X")) == 1
    (axes,) = plots.figure_of(compressors()).axes
    assert [text.get_text() for text in axes.get_legend().get_texts()] == [
        "worth keeping (2)",
        "open, in the answer (1)",
        "dominated (1)",
        "infeasible (1)",
    ]


def test_a_png_keeps_the_colours_of_single_points(tmp_path):
    from PIL import Image

    figure = plots.figure_of(compressors())
    file = plots.save_png(figure, tmp_path / "front.png")
    figure.savefig(tmp_path / "all.png")
    pictures = [np.asarray(Image.open(path).convert("RGB"), dtype=int) for path in (file, tmp_path / "all.png")]
    assert np.abs(pictures[0] - pictures[1]).sum(axis=2).max() < 30
