"""``plot`` of results, studies and curves: on a new figure or on given axes, where nothing is cut off or on top of something."""

import os
import subprocess
import sys

import codecs_study
import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import pyplot as plt
from matplotlib.axes import Axes

import paretopick as pp
from paretopick.plots.pictures import PICTURES
from support.example_results import boxes, many, option_result, overlaps, result

BANDIT = pp.Bandit([[0.2, 0.8], [0.8, 0.2], [0.1, 0.1]], pp.Bernoulli())


@pytest.fixture(autouse=True)
def _no_figures():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def curves():
    asked = {"budgets": [9, 12, 60], "runs": 40, "rng": 0, "engine": "reference"}
    return [pp.simulate(BANDIT, policy, **asked) for policy in ("uniform", ("apt", {"gamma": 0.2}))]


@pytest.fixture(scope="module")
def study():
    rng = np.random.default_rng(0)
    made = pp.Study.create(
        "three", options=["a", "b", "c"], metrics={"s": "min", "q": "max", "p": "min"}, budget=60, storage="sqlite://"
    )
    for todo in made.ask(60):
        made.tell(todo.number, (rng.normal(size=3) + "abc".index(todo.option) + 1).tolist())
    return made


def inside(figure):
    """Whether everything in a figure is within its edges."""
    figure.draw_without_rendering()
    low, high = (np.array(figure.get_tightbbox().extents) * figure.dpi).reshape(2, 2)
    return bool((low > -1.5).all() and (high < figure.bbox.size + 1.5).all())


def apart(axes):
    """Whether the title, the legend and what is along the axes keep apart."""
    axes.get_figure().draw_without_rendering()
    legend = axes.get_legend()
    written = [axes.title, axes.xaxis.label, axes.yaxis.label, *(legend.get_texts() if legend else ())]
    return overlaps(boxes(written)) == []


def test_a_new_figure_is_that_of_pyplot_and_no_setting_stays_changed(tmp_path):
    plt.figure()  # which has pyplot choose what to draw with
    before = mpl.rcParams.copy()
    axes = many(4, 2).plot()
    assert isinstance(axes, Axes)
    assert plt.gca() is axes
    assert plt.gcf().get_suptitle() == "made by hand: 2 of 4 options Pareto-optimal, 20 measurements"
    plt.savefig(tmp_path / "front.png")
    assert mpl.rcParams == before


@pytest.mark.slow
@pytest.mark.parametrize("kind", PICTURES)
def test_every_kind_of_picture_is_drawn_on_a_new_figure_and_on_axes_that_are_given(kind):
    made = many(4, 3)
    new = made.plot(kind)
    figure, given = plt.subplots(2, 2) if kind == "pairs" else plt.subplots()
    drawn = made.plot(kind, given)
    assert plt.get_fignums() == [1, 2]
    assert np.shape(new) == np.shape(drawn) == ((2, 2) if kind == "pairs" else ())
    assert np.all(drawn == given)
    assert figure.get_suptitle() == ""


@pytest.mark.slow
def test_metrics_of_a_front_and_a_ranking_can_be_chosen():
    made = many(4, 3)
    front = made.plot(x="metric 3", y="metric 1", title="mine")
    assert (front.get_xlabel(), front.get_ylabel()) == ("metric 3 (large is good)", "metric 1 (large is good)")
    assert front.get_figure().get_suptitle() == "mine"
    assert made.plot("ranking", x="metric 2").get_xlabel() == "metric 2 (small is good)"
    _, given = plt.subplots()
    assert made.plot("front", ax=given, title="$x$").get_title() == "$x$"


@pytest.mark.slow
def test_below_the_picture_of_a_new_figure_are_metrics_with_a_limit_alone():
    rows = [option_result(name, "pareto", {"s": 1.0 + i, "q": 2.0 + i, "e": 0.5}) for i, name in enumerate("ab")]
    made = result(rows, {"s": "min", "q": "max", "e": "<=1"})
    front = made.plot()
    assert front.get_xlabel() == "s (small is good)"
    assert len(front.get_figure().axes) == 2
    assert len(made.plot("front").get_figure().axes) == 1


def test_what_cannot_be_drawn_is_refused_with_what_can(study):
    made = many(4, 3)
    with pytest.raises(pp.UnknownName, match="no kind of picture named 'paralel'; did you mean 'parallel'"):
        made.plot("paralel")
    with pytest.raises(pp.UnknownName, match=r"there is .*'timeline'"):
        made.plot("scatter")
    with pytest.raises(pp.UnknownName, match=r'write result\.study\.plot\("course"\)'):
        made.plot("course")
    with pytest.raises(
        pp.InvalidInput, match="kind='pairs' needs 3 metrics with a goal, and 2 metrics have one; kind='front' su"
    ):
        many(4, 2).plot("pairs")
    with pytest.raises(pp.InvalidInput, match=r"needs 4 Axes: ax=plt.subplots\(2, 2\)\[1\], and ax has 1"):
        made.plot("pairs", plt.gca())
    with pytest.raises(pp.InvalidInput, match="needs one Axes, and ax has 2"):
        made.plot("front", plt.subplots(1, 2)[1])
    with pytest.raises(pp.InvalidInput, match="ax='here' is not what to draw on"):
        made.plot("front", "here")
    with pytest.raises(pp.InvalidInput, match="y='metric 1' cannot be chosen for kind='ranking'; use kind='front'"):
        made.plot("ranking", y="metric 1")
    with pytest.raises(pp.UnknownName, match="no metric named 'metric 9'"):
        made.plot("front", x="metric 9")
    with pytest.raises(pp.InvalidInput, match="kind='course' has no metrics"):
        study.plot("course", x="s")


SMALL = [("front", None), ("front", "constrained"), ("parallel", None), ("ranking", None), ("timeline", "constrained")]


@pytest.mark.slow
@pytest.mark.parametrize("kind, layout", SMALL)
def test_on_small_axes_nothing_is_cut_off_and_titles_are_above_the_legend(kind, layout):
    made = many(9, 3, names=[f"a name that is not short {i}" for i in range(9)])
    figure, axes = plt.subplots(figsize=(3, 2), layout=layout)
    made.plot(kind, axes)
    assert inside(figure)
    axes.set_title("mine")
    assert inside(figure)
    assert apart(axes)
    legend = axes.get_legend().get_window_extent()
    assert axes.title.get_window_extent().y0 > legend.y1
    assert legend.y0 >= axes.get_window_extent().y1


@pytest.mark.slow
def test_pictures_beside_each_other_keep_apart():
    made = many(9, 2)
    figure, three = plt.subplots(1, 3, figsize=(11, 3.5))
    for axes, kind in zip(three, ("front", "ranking", "timeline"), strict=True):
        made.plot(kind, axes)
    assert inside(figure)
    extents = np.array([axes.get_tightbbox().extents for axes in three])
    assert overlaps(extents) == []


@pytest.mark.slow
@pytest.mark.parametrize("change", ["tight_layout", "zoom"])
def test_names_find_other_places_when_the_axes_change(change):
    figure, axes = plt.subplots(figsize=(7, 6))
    many(14, 2).plot(ax=axes)
    figure.draw_without_rendering()
    if change == "tight_layout":
        figure.tight_layout(rect=(0, 0, 0.75, 0.6))
    else:
        axes.set(xlim=(-1, 1), ylim=(-1, 1))
    figure.draw_without_rendering()
    names = [text for text in axes.texts if text.get_text().startswith("option") and text.get_visible()]
    assert len(names) >= 5
    extents, frame = boxes(names), axes.get_window_extent().extents
    assert overlaps(extents) == []
    assert (extents[:, :2] >= np.array(frame[:2]) - 1).all()
    assert (extents[:, 2:] <= np.array(frame[2:]) + 1).all()


@pytest.mark.slow
def test_axes_say_that_they_are_logarithmic():
    rows = [
        option_result(f"{i}", "pareto", {"s": 10.0**i, "t": 2.0 + i, "u": 4.0 - i}, interval=(10.0**i / 2, 20.0**i))
        for i in range(4)
    ]
    made = result(rows, {"s": "min", "t": "min", "u": "min"})
    assert made.plot("front").get_xlabel() == "s (small is good, log scale)"
    assert made.plot("ranking").get_xlabel() == "s (small is good, log scale)"
    assert made.plot("pairs")[1, 0].get_xlabel() == "s (small is good, log scale)"
    written = [" ".join(text.get_text().split()) for text in made.plot("parallel").texts]
    assert "s (small is good, log scale)" in written


@pytest.mark.slow
def test_options_in_doubt_have_names_in_pairs_of_metrics():
    made = many(20, 3, n_pareto=3, status="open", done=False)
    corner = made.plot()[0, 1]
    shown = [text.get_text() for text in corner.texts]
    assert all(any(name == text.partition("  ")[2] for text in shown) for name in (row.option for row in made.options))
    few = many(5, 3, points=np.arange(15.0).reshape(5, 3), status="open")
    for axes in few.plot()[[0, 1, 1], [0, 0, 1]]:
        assert {row.option for row in few.options} <= {text.get_text() for text in axes.texts if text.get_visible()}


@pytest.mark.slow
def test_recorded_compressors_are_not_squeezed_into_a_corner():
    rows = codecs_study.recorded()
    metrics = {"wall_seconds": "min~10%", "output_bytes": "min~2%"}
    study = pp.Study.create("codecs", options=list(rows), metrics=metrics, budget=4 * len(rows), storage="sqlite://")
    for todo in study.ask(4 * len(rows)):
        study.tell(todo.number, rows[todo.option][todo.number % 50, [0, 2]].tolist())
    axes = study.plot()
    axes.get_figure().draw_without_rendering()
    assert axes.get_xlabel() == "wall_seconds (small is good, log scale)"
    places = axes.transAxes.inverted().transform(
        axes.transData.transform([[row.means[name] for name in metrics] for row in study.result().options])
    )
    assert (np.subtract(*np.quantile(places, (0.9, 0.1), axis=0)) > 0.4).all()
    names = {text.get_text() for text in axes.texts if text.get_visible()}
    assert set(rows) <= names


@pytest.mark.slow
def test_a_study_draws_its_result_and_its_course(study):
    assert study.plot("front").get_xlabel() == study.result().plot("front").get_xlabel()
    course = study.plot("course")
    assert course.get_figure().get_suptitle() == "three: what the measurements resolved"
    assert course.lines[0].get_xdata()[-1] == 60
    empty = pp.Study.create("none", options=["a", "b"], metrics={"m": "max"}, budget=9, storage="sqlite://")
    for kind in (None, "course"):
        assert [text.get_text() for text in empty.plot(kind).texts] == ["nothing was measured yet"]


def test_curves_are_drawn_with_their_names(curves):
    one = curves[0].plot()
    assert one.lines[0].get_xdata().tolist() == [9, 12, 60]
    assert one.lines[0].get_ydata()[:2] == pytest.approx(curves[0].rate[:2])  # in the end there are no errors to be drawn
    _, given = plt.subplots()
    both = pp.plot_curves(curves, given)
    assert both is given
    assert [text.get_text() for text in both.get_legend().get_texts()] == ["uniform", "apt (gamma=0.2)"]
    assert both.get_xlabel() == "budget (measurements, log scale)"
    named = pp.plot_curves(curves, labels=["$a$", "_b"], title="mine")
    assert [text.get_text() for text in named.get_legend().get_texts()] == ["$a$", "_b"]
    assert named.get_figure().get_suptitle() == "mine"


def test_what_is_no_list_of_curves_is_refused(curves):
    for wrong, said in [([], "has no curve"), ([1], "which is no curve"), (5, "is no list of curves")]:
        with pytest.raises(pp.InvalidInput, match=said):
            pp.plot_curves(wrong)
    with pytest.raises(pp.InvalidInput, match="must be a text for each of the curves, of which there are 2"):
        pp.plot_curves(curves, labels=["one"])


def test_errors_within_margins_are_named_so(curves):
    within = pp.simulate(BANDIT, "uniform", budgets=[6, 12], runs=40, rng=0, engine="reference", margins=0.1)
    assert within.plot().get_ylabel().startswith("probability of a wrong answer within the margins")
    mixed = pp.plot_curves([curves[0], within])
    shown = [text.get_text() for text in mixed.get_legend().get_texts()]
    assert shown == ["uniform (1)", "uniform (2), within margins"]


@pytest.mark.slow
def test_a_plan_is_drawn_on_axes_that_are_given():
    made = pp.plan(BANDIT, policies=["uniform"], budgets=[6, 12], target=0.9, runs=20, max_budget=60, rng=0)
    figure, axes = plt.subplots()
    assert made.plot(axes) is axes
    assert inside(figure)
    assert apart(axes)
    assert made.plot().get_figure().get_suptitle() == f"Planned from {made.source}"


NOTEBOOK = r"""
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output

shell = InteractiveShell.instance()

def shown(*lines):
    with capture_output() as seen:
        shell.run_cell("\n".join(lines)).raise_error()
    return sum("image/png" in output.data for output in seen.outputs), seen.stderr

print(shown(
    "import paretopick as pp",
    "study = pp.Study.create('s', options=['a', 'b'], metrics={'x': 'min'}, budget=8, storage='sqlite://')",
    "for todo in study.ask(8): study.tell(todo.number, [todo.number % 3])",
    "study.plot();",
))
print(shown("import matplotlib.pyplot as plt", "plt.rcParams['figure.max_open_warning'] = 2"))
print(shown("for _ in range(3): study.plot('timeline')"))
print(shown("assert plt.get_fignums() == [] and not plt.rcParams['axes.grid']"))
"""


@pytest.mark.slow
def test_a_notebook_shows_pictures_in_every_cell_and_closes_any_number_of_them(tmp_path):
    environment = os.environ | {"MPLBACKEND": "module://matplotlib_inline.backend_inline", "IPYTHONDIR": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", NOTEBOOK], env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-4:] == ["(1, '')", "(0, '')", "(3, '')", "(0, '')"]
