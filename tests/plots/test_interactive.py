"""The interactive front as data and HTML: the texts of tables, names that stay text, and a picture where there is no front."""

import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

from paretopick import plots
from paretopick.metrics import check_metrics
from paretopick.plots.interactive import front_record, interactive_assets, interactive_front, notebook_front
from paretopick.studies.baselines import ComparedWithBaseline
from support.example_fronts import HOSTILE, in_three_metrics, within
from support.example_results import many, option_result, result

STATIC = "<p>static</p>"


class Parts(HTMLParser):
    """Tags with their attributes, and the texts of scripts."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.scripts = [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data):
        if self.tags and self.tags[-1][0] == "script":
            self.scripts.append(data)


def fragment(found):
    return interactive_front(found, static=STATIC, assets=False)


def test_what_is_said_of_an_option_is_what_tables_say():
    found = within()
    record = front_record(found)
    header, rows = found.cells()
    assert record["headings"] == ["seconds", "ratio", "P(worth keeping)", "P(within limits)", "P(optimal)", "measured"]
    by_name = {row[0]: dict(zip(header[6:], row[6:], strict=True)) for row in rows}
    for option in record["options"]:
        said = dict(zip(record["headings"], option["facts"], strict=True))
        assert by_name[option["name"]].items() - {("beaten by", by_name[option["name"]]["beaten by"])} <= said.items()
        assert said["P(optimal)"] == "62%"
    first = record["options"][0]
    assert (first["name"], first["facts"][:2]) == (HOSTILE[0], ["1.00 s (0.90 to 1.10)", "2.00 (1.90 to 2.10)"])
    more = {option["name"]: option["more"] for option in record["options"]}
    assert more[HOSTILE[4]] == f"Beaten by {HOSTILE[1]}: seconds smaller by 2.0 s (1.0 to 3.0)"
    assert more[HOSTILE[5]] == "Beyond seconds at most 40 s"


def test_the_baseline_is_marked_and_options_are_compared_with_it():
    plain = within()
    baseline = replace(plain, compared_with_baseline=ComparedWithBaseline("plain", "It is beyond a limit."))
    record = front_record(baseline)
    assert record["options"][record["pairs"]["0 1"]["baseline"]]["name"] == "plain"
    assert record["headings"] == [*front_record(plain)["headings"], "compared with the baseline"]
    told = {option["name"]: option["facts"] for option in record["options"]}
    assert told["plain"][-3:] == ["62%", "5", "is the baseline"]
    assert front_record(plain)["pairs"]["0 1"]["baseline"] is None


def test_what_is_drawn_is_what_the_static_picture_draws():
    found = within()
    record, data = front_record(found), plots.FrontData.of(found)
    pair = record["pairs"]["0 1"]
    assert [record["options"][place]["name"] for place in pair["points"]] == list(data.names)
    assert [record["options"][place]["kind"] for place in pair["points"]] == list(data.kinds)
    assert [record["options"][place]["means"] for place in pair["points"]] == data.means.tolist()
    assert (pair["stairs"], pair["band"]) == (data.stairs.tolist(), data.band.tolist())
    assert (pair["x"]["ends"], pair["x"]["log"], pair["x"]["details"]) == (list(data.x.ends), True, data.x.label.details)
    assert pair["x"]["forbidden"]["text"] == "at most 40 s"
    assert record["kinds"]["worth keeping"]["colour"] == plots.BLUE


def test_names_cannot_leave_the_element_of_the_data():
    parts = Parts(fragment(within()))
    assert [tag for tag, _ in parts.tags] == ["div", "div", "p", "script"]
    (text,) = parts.scripts
    assert text.isascii()
    assert "<" not in text
    assert {option["name"] for option in json.loads(text)["options"]} == set(HOSTILE)


@pytest.mark.slow
def test_a_notebook_gets_the_answer_a_picture_in_a_frame_of_which_nothing_leaks_and_the_table():
    found = within()
    shown = found._repr_html_()
    table, front = found.to_html_table(), notebook_front(found)
    assert 0 <= shown.index("<p>Worth keeping") < shown.index(front) < shown.index(table)
    parts = Parts(front)
    assert [tag for tag, _ in parts.tags] == ["div", "div", "img", "iframe"]
    page = parts.tags[-1][1]["srcdoc"]
    assert interactive_assets() in page
    assert json.loads(Parts(page).scripts[0]) == front_record(found)
    assert "alert(1)" not in front.replace("alert(1)\\u003c", "")


def test_an_option_without_a_mean_is_in_the_pairs_that_know_it():
    record = front_record(in_three_metrics())
    names = {key: [record["options"][place]["name"] for place in pair["points"]] for key, pair in record["pairs"].items()}
    assert {key: sorted(found) for key, found in names.items()} == {"0 1": ["a", "b", "c"], "0 2": ["a", "b"], "1 2": ["a", "b"]}
    (option,) = (option for option in record["options"] if option["name"] == "c")
    assert option["means"][2] is None
    assert option["facts"][2] == "not measured"
    assert "Not measured: c." in record["pairs"]["0 2"]["notes"]


def test_without_two_metrics_or_a_measurement_there_is_no_front():
    assert Parts(fragment(many(3, 1))).tags == [("div", {"class": "pp-front"}), ("div", {"class": "pp-static"}), ("p", {})]
    assert "iframe" not in notebook_front(many(3, 1))
    nothing = result([option_result("a", "open", {"x": None, "y": None}, measurements=0)], {"x": "max", "y": "min"})
    assert notebook_front(nothing) == ""
    assert "script" not in fragment(nothing)


def test_without_an_answer_there_are_points_and_no_stairs():
    pair = front_record(many(5, 2, n_pareto=0))["pairs"]["0 1"]
    assert (len(pair["points"]), pair["stairs"]) == (5, [[], []])


def test_two_hundred_options_in_six_metrics_are_told_in_few_bytes():
    found = many(200, 6)
    assert len(fragment(found)) < 200 * 6 * 100
    assert len(front_record(found)["pairs"]) == 15


def test_a_note_says_so_where_more_metrics_are_compared_than_shown():
    for third, said in (("min", True), ("<=2000", False)):
        found = replace(in_three_metrics(), metric_records=check_metrics({"speed": "max", "quality": "max", "cost": third}))
        notes = front_record(found)["pairs"]["0 1"]["notes"]
        assert any(note.startswith("Two of 3 metrics are shown") for note in notes) == said


def test_among_many_options_a_note_says_whose_regions_are_drawn():
    found = many(40, 2)
    known = [replace(row, intervals=dict.fromkeys(row.means, (-0.1, 0.1))) for row in found.options]
    notes = front_record(replace(found, options=tuple(known)))["pairs"]["0 1"]["notes"]
    assert "Ellipses: 95% regions of the means, of options that may be Pareto-optimal." in notes


def test_style_and_script_end_where_they_should_and_have_the_licence():
    assets = interactive_assets()
    tags = [tag for tag, _ in Parts(assets).tags]
    assert tags == ["style", "script", "script"]
    assert assets.count("</script") == 2
    assert "Copyright (c) 2022 Leon Sorokin" in assets
    assert "without restriction" in assets


@pytest.mark.slow
def test_the_example_of_the_documentation_runs():
    page = (Path(__file__).parents[2] / "docs" / "interactive.md").read_text()
    (example,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    names = {}
    exec(compile(example, "interactive.md", "exec"), names)
    assert [tag for tag, _ in Parts(names["page"]).tags].count("script") == 3
