"""The report: the same numbers as the result, names as they are, and nothing that leaves the file."""

import dataclasses
import html
import json
import os
import re
from html.parser import HTMLParser

import numpy as np
import pytest

import paretopick as pp
from paretopick import plots
from paretopick.report import make_report, repeat, to_html, to_markdown, write_pictures
from paretopick.report.choices import AGAINST_THE_ONE_ABOVE
from paretopick.studies.certainty import judge
from paretopick.studies.definition import define
from paretopick.studies.files import StudyFile, read_study_file
from support.browsers import chromium, listened
from support.terminals import call

pytestmark = pytest.mark.slow

NAMES = [
    "<script>alert(1)</script>",
    "a & b",
    "$x^2$ | _y_",
    "a name that goes on and on, " * 4 + "to its end",
    "ünïcödé 漢字",
    "f",
]


def finish(study, std=0.7, stop=10**9):
    """Measures up to ``stop`` times, with two failures and a void on the way."""
    rng = np.random.default_rng(0)
    truth = {name: rng.normal(size=len(study.metrics)) for name in study.options}
    told = 0
    while not study.done and told < stop:
        for todo in study.ask(1):
            if todo.number in (7, 20):
                study.fail(todo.number, "the <i>probe</i> broke\n\n# twice | or so")
                continue
            study.tell(todo.number, (truth[todo.option] + std * rng.normal(size=len(study.metrics))).tolist())
            told += 1
            if told == 40:
                study.void(todo.number, "wrong tube & label")
    return study


def study_of(options=NAMES, metrics=None, storage="sqlite://", **given):
    return pp.Study.create(
        given.pop("name", "boosters <b>bold</b>"),
        options=options,
        metrics=metrics or {"time <s>": "min", "quality": "max"},
        storage=storage,
        **{"budget": 120, **given},
    )


@pytest.fixture(scope="module")
def study():
    return finish(study_of())


@pytest.fixture(scope="module")
def report(study):
    return make_report(study, rehearsals=20)


@pytest.fixture(scope="module")
def page(report):
    return to_html(report)


class Reader(HTMLParser):
    """The tags that are opened, and the cells of all tables."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.tables, self.texts = [], [], []
        self._in_cell = False
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in ("td", "th"):
            self.tables[-1][-1].append("")
            self._in_cell = True

    def handle_endtag(self, tag):
        if tag in ("td", "th"):
            self._in_cell = False

    def handle_data(self, data):
        self.texts.append(data)
        if self._in_cell:
            self.tables[-1][-1][-1] += data


def table(page, *first):
    """The table of a page whose columns begin with these."""
    (found,) = (rows for rows in Reader(page).tables if rows[0][: len(first)] == list(first))
    return found


def as_shown(result):
    """The table of a result as the page has it: intervals below their means; of many columns, who beats whom below the row."""
    header, rows = result.cells()
    units = {metric.name: f"{metric.name} ({metric.unit})" if metric.unit else metric.name for metric in result.metric_records}
    kept = [i for i, name in enumerate(header) if name != "95% interval"]
    table = [[units.get(header[i], header[i]) for i in kept]]
    for row in rows:
        followed = [i + 1 < len(row) and header[i + 1] == "95% interval" and row[i + 1] for i in kept]
        table.append([f"{row[i]} {row[i + 1]}" if both else row[i] for i, both in zip(kept, followed, strict=True)])
    if len(kept) <= 8:
        return table
    folded = [table[0][:-1]]
    for *cells, why in table[1:]:
        folded += [cells, *([[why if why.startswith("beyond ") else f"beaten by {why}"]] if why else [])]
    return folded


def test_the_page_opens_with_the_answer_and_has_all_its_parts_in_order(page, report):
    parts = ['class="answer"', 'class="sure"', "What next?", "Which to take", "<table>", "Surely in", "The options", "<svg"]
    parts += [
        "What was measured",
        "What went wrong",
        "How it was measured",
        "How often each was measured",
        "What the measurements resolved",
        "Appendix: how sure that is",
        "Appendix: do it again",
        "paretopick create study.toml",
        f"paretopick {pp.__version__}",
    ]
    places = [page.index(part) for part in parts]
    assert places == sorted(places)
    assert report.answer.startswith("Of 6 options, ")
    assert "draws" not in page[: page.index("Appendix")]  # statistics are not for the first page
    assert html.escape(report.next_step) in page


def test_which_to_take_has_the_answer_along_the_first_metric_and_what_speaks_for_each(page, report):
    header, *rows = table(page, "option", "time <s>")
    assert sorted(row[0] for row in rows) == sorted(report.result.pareto)
    times = [float(row[header.index("time <s>")]) for row in rows]
    assert times == sorted(times)
    fastest = min(report.result.options, key=lambda row: row.means["time <s>"])
    speaks = {row[0]: row[header.index("what speaks for it")] for row in rows}
    assert "the smallest time <s>" in speaks[fastest.option]
    surely = [option for option, said in speaks.items() if "surely" in said]
    assert surely == [row[0] for row in rows if report.result.status[row[0]] == "pareto"]


def test_the_answer_is_compared_with_a_baseline(study):
    members = study.result().pareto
    baseline = next(name for name in study.options if name not in members)
    made = make_report(study, rehearsals=0, baseline=baseline)
    assert sorted(name for name, _ in made.comparisons) == sorted(set(study.options) - {baseline})
    assert {name for name, _ in made.comparisons[: len(members)]} == set(members)
    estimates, names, _ = study.estimates()
    judgement = judge(estimates)
    for name, said in made.comparisons:
        apart = judgement.difference(names.index(name), names.index(baseline), 0)
        assert f"time <s> {'smaller' if apart.middle < 0 else 'larger'} by {abs(apart.middle):.2f}" in said
    page = to_html(made)
    first = page[: page.index("The options")]
    assert f"<strong>Compared with {html.escape(baseline)}?</strong> {html.escape(made.against_baseline)}" in first
    for name, said in made.comparisons[: len(members)]:
        assert html.escape(said) in first, name  # beside what each costs
    assert f"All options compared with {html.escape(baseline)}" in page
    assert "**Compared with " in to_markdown(made)
    assert "## All options compared with" in to_markdown(made)
    with pytest.raises(pp.UnknownName, match="no option named 'nobody'"):
        make_report(study, rehearsals=0, baseline="nobody")


CODECS = {
    "gzip": (2.0, 16.0, 2.0),
    "zstd": (0.3, 14.0, 6.0),
    "zstd twin": (0.301, 14.0, 6.1),
    "bzip2": (7.0, 12.0, 8.0),
    "xz": (25.0, 11.0, 90.0),
}
WITHIN = [
    pp.Metric("time", "min", margin="10%", at_most=10, unit="s"),
    pp.Metric("size", "min", margin="3%", unit="MB"),
    pp.Metric("memory_mb", None, at_most=50, unit="MB"),
]


def codecs(metrics=WITHIN, budget=300, **given):
    rng = np.random.default_rng(1)
    study = study_of(list(CODECS), metrics, name="codecs", budget=budget, **given)
    while not study.done:
        for todo in study.ask(4):
            truth = np.array(CODECS[todo.option])[: len(metrics)]
            study.tell(todo.number, (truth * np.exp(0.03 * rng.normal(size=len(truth)))).tolist())
    return study


FLAGS = {f: (0.06 + 0.01 * i, 14488.0, 30.0 - 6 * i) for i, f in enumerate(["-O0", "-O1", "-O3 -march=native", "-Os"])}


@pytest.fixture(scope="module")
def flags():
    """A study of options along a front of two metrics, which are all alike in a third."""
    metrics = [
        pp.Metric("seconds", "min", margin="2%"),
        pp.Metric("bytes", "min", margin="1%", exact=True),
        pp.Metric("memory", "min"),
    ]
    rng = np.random.default_rng(1)
    study = study_of(list(FLAGS), metrics, name="flags", budget=60)
    while not study.done:
        for todo in study.ask(4):
            study.tell(todo.number, (np.array(FLAGS[todo.option]) * (1 + 0.02 * rng.normal(size=3) * [1, 0, 1])).tolist())
    return study


def test_what_all_have_alike_speaks_for_nobody(flags):
    made = make_report(flags, rehearsals=0)
    header, *rows = made.choices
    assert {row[0]: row[header.index("what speaks for it")] for row in rows} == {
        "-O0": "surely worth keeping and the smallest seconds",
        "-O1": "surely worth keeping and nobody is better by the margins in everything",
        "-O3 -march=native": "surely worth keeping and nobody is better by the margins in everything",
        "-Os": "surely worth keeping and the smallest memory",
    }
    assert made.which.startswith("Each of these is the right choice for somebody. Which one to take")


def test_names_of_options_wrap_at_blanks_alone(flags):
    page = to_html(make_report(flags, rehearsals=0))
    name = '<span class="whole">-O3</span> <span class="whole">-march=native</span>'
    assert page.count(f">{name}</td>") == 2
    assert ".whole { white-space: nowrap; }" in page
    assert not re.search(r"\.text:first-child \{[^}]*anywhere", page)
    long = "-" * 99
    assert f">{long}</td>" in to_html(make_report(study_of([long, "b"]), rehearsals=0))  # or it would widen the page


@pytest.fixture(scope="module")
def within():
    return codecs(confidence=0.95)


@pytest.fixture(scope="module")
def page_within(within):
    return to_html(make_report(within, rehearsals=0))


def test_margins_and_limits_are_said_before_how_sure_it_is(within, page_within):
    made = make_report(within, rehearsals=0)
    assert made.asked == (
        "Differences below 10% in time and 3% in size do not matter. Limits: time at most 10 s and memory_mb at most 50 MB."
    )
    assert page_within.index("worth keeping.") < page_within.index(made.asked) < page_within.index("right within the margins")
    assert made.asked in to_markdown(made).replace("\\", "")
    assert make_report(study_of(["x", "y"]), rehearsals=0).asked == ""


def test_a_study_that_was_sure_says_so_instead_of_a_next_step(within, page_within):
    result = within.result()
    assert result.stopped is not None
    assert f"<strong>Done.</strong> {result.stopped}" in page_within
    assert "What next?" not in page_within
    assert f"**Done.** {result.stopped}" in to_markdown(make_report(within, rehearsals=0)).replace("\\", "")
    assert ("stops when", "right with 95%: reached") in make_report(within, rehearsals=0).facts


def test_probabilities_within_margins_and_limits_are_in_the_table_and_explained(within, page_within):
    result = within.result()
    header, *rows = table(page_within, "option", "status")
    assert [header, *rows] == as_shown(result)
    assert header[2:7] == ["time (s)", "size (MB)", "memory_mb (MB)", "P(worth keeping)", "P(within limits)"]
    assert "beyond time at most 10 s and memory_mb at most 50 MB" in page_within
    assert '<tr class="infeasible">' in page_within
    for word in ("P(worth keeping): ", "P(within limits): ", "Covered: ", "Beaten by: "):
        assert word in make_report(within, rehearsals=0).table_legend
    plain = make_report(study_of(["x", "y"]), rehearsals=0).table_legend
    assert "P(optimal): " in plain
    assert "limits" not in plain
    assert "Covered" not in plain


def test_with_two_metrics_each_option_to_take_is_compared_with_the_one_above(within, page_within):
    header, *rows = table(page_within, "option", "time (s)")
    assert [row[0] for row in rows] == ["zstd twin", "bzip2"]  # zstd would do as well, and has no row of its own
    assert header[-2:] == ["what speaks for it", "compared with the one above"]
    assert rows[0][-2:] == ["surely worth keeping, the smallest time and zstd would do as well", ""]
    assert "the smallest size" in rows[1][-2]  # xz is smaller, and breaks the limits
    estimates, names, _ = within.estimates()
    ratio = judge(estimates, required=within.definition.requirements).draws[
        :, [names.index("bzip2"), names.index("zstd twin")], 0
    ]
    low, middle, high = np.exp(np.quantile(ratio[:, 0] - ratio[:, 1], [0.025, 0.5, 0.975]))
    assert f"time {middle:.0f} times larger ({low:.0f} to {high:.0f})" in rows[1][-1]
    three = codecs([*WITHIN[:2], pp.Metric("memory_mb", "min", margin="5%")])
    assert AGAINST_THE_ONE_ABOVE not in to_html(make_report(three, rehearsals=0))


@pytest.mark.parametrize(
    "metrics, said",
    [
        (WITHIN, "None of the others that keep the limits is missed: one of these is as good in every metric, but for"),
        ([pp.Metric("time", "min"), pp.Metric("size", "min")], "whatever else one takes is worse in at least one metric. Which"),
        ([pp.Metric("time", "min"), pp.Metric("size", "min", at_most=20)], "worse in at least one metric, or breaks a limit."),
        ([pp.Metric("time", "min", margin="20%")], "Either will do: they differ by nothing that matters."),
        ([pp.Metric("time", "max", margin="20%")], "no other option is better in any metric, but for differences that do not"),
    ],
    ids=["margins and limits", "neither", "limits", "twins", "one"],
)
def test_what_there_is_to_know_before_one_takes_an_option(metrics, said):
    assert said in make_report(codecs(metrics, budget=60), rehearsals=0).which


def test_where_no_option_keeps_the_limits_there_is_none_to_take():
    made = make_report(codecs([pp.Metric("time", "min", at_most=0.01), WITHIN[1]], budget=40), rehearsals=0)
    text = to_html(made)
    assert made.answer == "No option keeps the limits."
    assert "Which to take" not in text
    assert "<svg" in text


def test_without_margins_what_the_data_resolve_is_the_headline(report, page):
    resolved = report.result.resolution
    assert html.escape(resolved.sentence) in page[: page.index("Which to take")]
    assert any(f"differences of {resolved.text} do not matter" in line for line in report.certainty)


def test_how_sure_it_was_on_the_way_is_drawn_unless_rounds_decide(within, page_within):
    assert "How sure it was on the way" in page_within
    by_rounds = finish(study_of(["x", "y", "z"], policy="ege-sr", budget=60))
    made = make_report(by_rounds, rehearsals=0)
    assert made.course is None
    assert "What the measurements resolved" not in to_html(made)


def test_facts_say_what_each_metric_is(within):
    facts = dict(make_report(within, rehearsals=0).facts)
    assert facts["metric time"] == "in s, small is good, at most 10 s, differences below 10% do not matter, compared as ratios"
    assert facts["metric memory_mb"] == "in MB, at most 50 MB"


def test_numbers_of_the_report_are_those_of_the_result(page, report, study):
    result = study.result(rehearsals=20)
    assert report.result == result
    header, rows = result.cells()
    assert table(page, "option", "status") == as_shown(result)
    said = {f"{row['option']}": row for row in json.loads(result.to_json())["options"]}
    for row in rows:
        assert said[row[0]]["status"] == row[1].partition(",")[0]
        assert int(row[header.index("measured")]) == said[row[0]]["measurements"]
    assert f"{round(result.certainty.probability * result.certainty.draws):,} of these draws" in page
    assert f"{result.rehearsal.right} of 20" in page


def test_everything_that_went_wrong_is_there_with_its_reason(page, study):
    header, *rows = table(page, "what", "option")
    bad = [row for row in study.measurements() if row["status"] != "told"]
    assert len(bad) == len(rows) == 3
    for row, cells in zip(bad, rows, strict=True):
        assert cells[0] == f"measurement {row['number']} {row['status']}"
        assert cells[header.index("why")] == row["why"]
        assert cells[header.index("when")].endswith(" UTC")
        assert cells[1] == row["option"]


def test_corrections_show_what_the_values_were():
    study = finish(study_of(["x", "y"], budget=40))
    told = next(row for row in study.measurements() if row["status"] == "told" and row["number"] > 20)
    study.correct(told["number"], {"time <s>": told["time <s>"] + 1.0, "quality": told["quality"]}, "a slip of the pen")
    study.retire("x", "sold")
    study.reinstate("x", "found again")
    header, *rows = table(to_html(make_report(study, rehearsals=0)), "what", "option")
    (row,) = (row for row in rows if row[0] == f"measurement {told['number']} corrected")
    assert row[header.index("time <s>")] == f"{told['time <s>'] + 1:.6g} (was {told['time <s>']:.6g})"
    assert row[header.index("quality")] == f"{told['quality']:.6g}"
    assert row[header.index("why")] == "a slip of the pen"
    assert [row[0] for row in rows][-2:] == ["option retired", "option reinstated"]


def test_nothing_in_the_page_is_fetched_and_only_the_script_of_the_front_is_run(page):
    tags = Reader(page).tags
    assert {tag for tag, _ in tags}.isdisjoint({"link", "img", "iframe", "object", "i", "b"})
    assert [attributes for tag, attributes in tags if tag == "script"] == [{"type": "application/json"}, {}, {}]
    assert plots.interactive_assets() in page
    page = page.replace(plots.interactive_assets(), "")
    for _, attributes in tags:
        for name, value in attributes.items():
            assert not name.startswith("on")
            if name in ("href", "src", "xlink:href"):
                assert value.startswith("#")
    assert "http" not in re.sub(r'xmlns(:xlink)?="[^"]*"', "", page)


def test_names_are_shown_as_they_are(page):
    text = "".join(Reader(page).texts)
    for name in NAMES:
        assert name in text


@pytest.mark.parametrize("command", [(), ("./bench.sh", "{option}")], ids=["by hand", "by a command"])
def test_what_repeats_a_study_defines_the_same_study(command, tmp_path):
    options = {name: {"level": i, "kind": 'x"\\'} for i, name in enumerate(NAMES)}
    definition = define(
        options=options, metrics={"time": "min", "q": "max"}, budget=99, policy=("ege-gg", {"n_rounds": 3}), exact=["q"]
    )
    definition = dataclasses.replace(definition, command=command, timeout=2.5, folder=str(tmp_path))
    text = repeat("again", definition, 120)
    (tmp_path / "study.toml").write_text(text)
    assert read_study_file(tmp_path / "study.toml") == StudyFile("again", dataclasses.replace(definition, budget=120))
    assert text.endswith("paretopick run study.toml" if command else "paretopick create study.toml")


DRAWN = [pytest.param(kind, marks=pytest.mark.slow) for kind in ("one metric", "five metrics", "all retired")]


@pytest.mark.sample(3)
@pytest.mark.parametrize("kind", ["empty", "one option", "begun", *DRAWN])
def test_a_report_can_be_written_at_any_time(kind, tmp_path):
    metrics = {"one metric": 1, "five metrics": 5}.get(kind, 2)
    options = ["only"] if kind == "one option" else NAMES
    study = study_of(options, {f"m{i}": "max" for i in range(metrics)}, budget=90)
    if kind not in ("empty", "one option"):
        finish(study, stop=15 if kind == "begun" else 10**9)
    if kind == "all retired":
        for name in NAMES:
            study.retire(name, "sold")
    made = make_report(study, rehearsals=0)
    text = to_html(made)
    assert ("<svg" in text) == (kind not in ("empty", "one option"))
    assert ("data-pp-front" in text.partition("<body>")[2]) == (kind not in ("empty", "one option", "one metric"))
    assert table(text, "option", "status") == as_shown(made.result)
    pictures = write_pictures(made, tmp_path / "r.md")
    assert all(file.read_bytes().startswith(b"\x89PNG") for file in pictures.values())
    assert html.escape(made.answer) in text


def test_markdown_has_the_same_table_and_takes_nothing_for_markup(report):
    text = to_markdown(report, {"front": "f.png", "timeline": "t.png", "course": "c.png"})
    assert "![The options](f.png)" in text
    assert "![What the measurements resolved](c.png)" in text
    table = text[text.index("## What was measured") :].splitlines()[2:]
    header, rows = report.result.cells()
    for line, cells in zip(table, [header, ["---"] * len(header), *rows], strict=False):
        shown = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        plain = [re.sub(r"\\(.)", r"\1", cell).replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&") for cell in shown]
        assert plain == cells
    assert "<script>" not in text.replace('"<script>alert(1)</script>"', "")  # but in the file at the end


def invoke(*words):
    return call("report", *map(str, words), "--rehearsals", "0")


def test_the_command_writes_a_report_and_replaces_only_its_own(tmp_path):
    storage = f"sqlite:///{tmp_path}/s.db"
    finish(study_of(["x", "y", "z"], storage=storage, name="b"), stop=15).close()
    target = tmp_path / "report.html"
    said = invoke("b", "--storage", storage, "-o", target).stdout
    assert f"Wrote the report to {target}" in said
    assert invoke("b", "--storage", storage, "-o", target).returncode == 0  # again
    other = tmp_path / "mine.html"
    other.write_text("my page")
    refused = invoke("b", "--storage", storage, "-o", other)
    assert "is there already" in refused.stderr
    assert other.read_text() == "my page"
    record = json.loads(invoke("b", "--storage", storage, "-o", tmp_path / "r.md", "--json").stdout)
    assert [os.path.exists(file) for file in record["files"]] == [True] * 4
    (tmp_path / "x-front.png").write_text("mine")
    refused = invoke("b", "--storage", storage, "-o", tmp_path / "x.md")
    assert "x-front.png is there already" in refused.stderr
    refused = invoke("b", "--storage", storage, "-o", tmp_path / "x.pdf")
    assert "is called neither .html nor .md" in refused.stderr


@pytest.fixture(scope="module")
def browser():
    with chromium() as launched:
        yield launched


@pytest.mark.parametrize("width", [1280, 390])
def test_the_page_in_a_browser(browser, page, width, tmp_path):
    file = tmp_path / "report.html"
    file.write_text(page, encoding="utf-8")
    window = browser.new_page(viewport={"width": width, "height": 844})
    said, asked = listened(window)
    window.goto(file.as_uri())
    assert said == []
    assert asked == [file.as_uri()]
    assert window.evaluate("document.documentElement.scrollWidth") <= width
    shown = window.inner_text("body")
    for name in NAMES:
        assert name in shown
    assert window.is_visible(".pp-live canvas")
    for picture in [one for one in window.query_selector_all("figure svg:not(.pp-mark)") if one.is_visible()]:
        box = picture.bounding_box()
        assert box["width"] > 250
        assert box["height"] > 100
    assert window.pdf().startswith(b"%PDF")
    window.close()


def test_on_a_phone_all_numbers_are_on_the_screen_and_on_a_desktop_no_table_scrolls(browser, page_within, tmp_path):
    file = tmp_path / "report.html"
    file.write_text(page_within, encoding="utf-8")
    for width in (390, 1200):
        window = browser.new_page(viewport={"width": width, "height": 844})
        window.goto(file.as_uri())
        for box in window.query_selector_all(".scroll"):
            assert box.evaluate("box => box.scrollWidth <= box.clientWidth")
        cells = [cell for cell in window.query_selector_all("td") if cell.is_visible()]
        assert len(cells) > 30
        for cell in cells:
            place = cell.bounding_box()
            assert place["x"] >= 0
            assert place["x"] + place["width"] <= width
        before = cells[1].evaluate("cell => getComputedStyle(cell, '::before').content")  # which says what the number is
        assert before == ('"time (s) "' if width == 390 else "none")
        window.close()
