"""The course of a study as it is drawn."""

from dataclasses import replace

import numpy as np
import pytest

from paretopick import Metric, plots
from paretopick.studies.aims import Aim
from paretopick.studies.course import Course
from paretopick.studies.resolution import Resolution
from support.example_results import boxes, overlaps

SECONDS, SIZE = Metric("time", "min", unit="ms"), Metric("size", "min", log=True)


def course_of(metrics=(SECONDS, SIZE), factors=(4.0, 2.0, 1.0), noise=(0.5, 0.1), **given):
    resolution = Resolution(0.95, 1.0, {}, "0.5 ms in time and 11% in size")
    return Course(
        metrics=tuple(metrics),
        used=np.array((10, 20, 30)),
        probabilities=np.array((0.1, 0.5, 0.9)),
        factors=None if factors is None else np.array(factors),
        noise=np.array(noise),
        **{"aim": Aim(), "level": 0.95, "resolution": resolution, **given},
    )


def test_without_margins_differences_are_drawn_in_the_units_of_two_metrics():
    record = plots.CourseData.of(course_of())
    assert record.by_resolution
    assert record.values.tolist() == [4, 2, 1]
    left, right = record.rulers
    assert str(left.label(log=True)) == "resolved in time (ms, log scale)"
    assert str(right.label(log=False)) == "resolved in size (%)"
    assert left.of(record.values).tolist() == [2, 1, 0.5]
    assert right.of(record.values) == pytest.approx(100 * np.expm1([0.4, 0.2, 0.1]))
    assert left.as_of(right, np.array([2.0])) == pytest.approx(100 * np.expm1(0.4))
    assert right.as_of(left, left.as_of(right, np.array([2.0, 0.1]))) == pytest.approx([2.0, 0.1])
    assert record.notes == ("In the end it is right up to differences of 0.5 ms in time and 11% in size, with 95%.",)
    (axes,) = plots.course_of(course_of()).axes
    (line,) = axes.lines
    assert line.get_xydata().tolist() == [[10, 2], [20, 1], [30, 0.5]]
    assert axes.get_yscale() == "log"
    assert axes.get_ylabel() == "resolved in time (ms, log scale)"
    (second,) = axes.child_axes
    assert second.get_ylabel() == "resolved in size (%, log scale)"


def test_exact_metrics_and_limits_alone_are_no_rulers():
    metrics = (Metric("price", "min", exact=True), SECONDS, Metric("errors", None, at_most=1))
    record = plots.CourseData.of(course_of(metrics, noise=(0.0, 0.5, 0.2)))
    assert [(ruler.metric, ruler.noise) for ruler in record.rulers] == [(SECONDS, 0.5)]


def test_an_answer_that_is_right_as_it_is_has_an_axis_that_begins_at_0():
    (axes,) = plots.course_of(course_of(factors=(2.0, np.nan, 0.0))).axes
    assert axes.get_yscale() == "linear"
    assert axes.get_ylim()[0] == 0


@pytest.mark.parametrize(
    "metrics, label",
    [
        ((replace(SECONDS, margin=0.1), SIZE), "P(right within margins)"),
        ((replace(SECONDS, margin=0.1), replace(SIZE, at_most=3)), "P(right within margins and limits)"),
    ],
    ids=["margins", "limits, too"],
)
def test_with_margins_probabilities_are_drawn(metrics, label):
    record = plots.CourseData.of(course_of(metrics, factors=None, resolution=None))
    assert not record.by_resolution
    assert record.values.tolist() == [0.1, 0.5, 0.9]
    assert record.label == label
    assert (record.target, record.target_label) == (0.95, "95% is called sure")
    (axes,) = plots.course_of(course_of(metrics, factors=None, resolution=None)).axes
    assert axes.get_ylim() == (0, 1)
    assert axes.lines[1].get_xydata().tolist() == [[10, 0.1], [20, 0.5], [30, 0.9]]


def test_what_was_asked_for_is_the_line_to_reach():
    record = plots.CourseData.of(course_of((replace(SECONDS, margin=0.1), SIZE), factors=None, aim=Aim(0.9)))
    assert (record.target, record.target_label) == (0.9, "90% asked for")
    finer = plots.CourseData.of(course_of(aim=Aim(0.9, 0.5)))
    assert finer.by_resolution


def test_where_limits_hide_what_is_resolved_probabilities_are_drawn():
    metrics = (replace(SECONDS, at_most=3), SIZE)
    record = plots.CourseData.of(course_of(metrics, factors=(np.nan, np.nan, np.nan), resolution=None))
    assert not record.by_resolution
    assert record.label == "P(right within limits)"


@pytest.mark.parametrize("unit", ["ms", "$x_1$ (µs)", "a unit that nobody would ever write in such words"])
def test_nothing_is_cut_off_or_on_top_of_something_else(unit):
    figure = plots.course_of(course_of((replace(SECONDS, unit=unit), replace(SIZE, name="W" * 60))))
    figure.draw_without_rendering()
    (axes,) = figure.axes
    second = axes.child_axes[0]
    texts = [axes.yaxis.label, second.yaxis.label, axes.xaxis.label]
    seen = boxes(texts)
    assert overlaps(seen) == []
    assert (seen[:, :2] > -1).all()
    assert (seen[:, 2:] < figure.bbox.size + 1).all()
