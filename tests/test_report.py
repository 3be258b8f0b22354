"""The report: the same numbers as the result, names as they are, and nothing that leaves the file."""

import dataclasses
import html
import json
import os
import re
import shutil
from html.parser import HTMLParser

import numpy as np
import pytest

import paretopick as pp
from paretopick.report import make_report, repeat, to_html, to_markdown, write_pictures
from paretopick.studies.certainty import judge
from paretopick.studies.definition import define
from paretopick.studies.files import StudyFile, read_study_file
from support.terminals import call

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


def test_the_page_opens_with_the_answer_and_has_all_its_parts_in_order(page, report):
    parts = ['class="answer"', 'class="sure"', "What next?", "Which to take", "<table>", "Surely in", "The options", "<svg"]
    parts += [
        "What was measured",
        "What went wrong",
        "How it was measured",
        "How often each was measured",
        "Appendix: how sure that is",
        "Appendix: do it again",
        "paretopick create study.toml",
        "paretopick 0.1.0",
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
    (said,) = (row[-1] for row in rows if row[0] == fastest.option)
    assert "the smallest time <s>" in said
    assert [row[0] for row in rows if "surely" in row[-1]] == [row[0] for row in rows if report.result.status[row[0]] == "pareto"]


def test_the_answer_is_compared_with_a_baseline(study):
    members = study.result().pareto
    baseline = next(name for name in study.options if name not in members)
    made = make_report(study, rehearsals=0, baseline=baseline)
    assert sorted(name for name, _ in made.comparisons) == sorted(members)
    estimates, names, _ = study.estimates()
    judgement = judge(estimates)
    for name, said in made.comparisons:
        apart = judgement.difference(names.index(name), names.index(baseline), 0)
        assert f"time <s> {'smaller' if apart.middle < 0 else 'larger'} by {abs(apart.middle):.2f}" in said
    assert f"Compared with {html.escape(baseline)}" in to_html(made)
    assert "## Compared with" in to_markdown(made)
    with pytest.raises(pp.UnknownName, match="no option named 'nobody'"):
        make_report(study, rehearsals=0, baseline="nobody")


def test_numbers_of_the_report_are_those_of_the_result(page, report, study):
    result = study.result(rehearsals=20)
    assert report.result == result
    header, rows = result.cells()
    assert table(page, "option", "status") == [header, *rows]
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


def test_nothing_in_the_page_is_run_or_fetched(page):
    tags = Reader(page).tags
    assert {tag for tag, _ in tags}.isdisjoint({"script", "link", "img", "iframe", "object", "i", "b"})
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
    assert table(text, "option", "status") == [made.result.cells()[0], *made.result.cells()[1]]
    pictures = write_pictures(made, tmp_path / "r.md")
    assert all(file.read_bytes().startswith(b"\x89PNG") for file in pictures.values())
    assert html.escape(made.answer) in text


def test_markdown_has_the_same_table_and_takes_nothing_for_markup(report):
    text = to_markdown(report, {"front": "f.png", "timeline": "t.png"})
    assert "![The options](f.png)" in text
    table = text[text.index("## What was measured") :].splitlines()[2:]
    header, rows = report.result.cells()
    for line, cells in zip(table, [header, ["---"] * len(header), *rows], strict=False):
        shown = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        plain = [re.sub(r"\\(.)", r"\1", cell).replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&") for cell in shown]
        assert plain == cells
    assert "<script>" not in text.replace('"<script>alert(1)</script>"', "")  # but in the file at the end


def invoke(*words):
    return call("report", *map(str, words), "--rehearsals", "0")


@pytest.mark.slow
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
    assert [os.path.exists(file) for file in record["files"]] == [True] * 3
    (tmp_path / "x-front.png").write_text("mine")
    refused = invoke("b", "--storage", storage, "-o", tmp_path / "x.md")
    assert "x-front.png is there already" in refused.stderr
    refused = invoke("b", "--storage", storage, "-o", tmp_path / "x.pdf")
    assert "is called neither .html nor .md" in refused.stderr


@pytest.fixture(scope="module")
def browser():
    from playwright.sync_api import sync_playwright

    found = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    assert found, "Chromium is not installed; make test installs it on Debian"
    with sync_playwright() as driver:
        launched = driver.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield launched
        launched.close()


@pytest.mark.slow
@pytest.mark.parametrize("width", [1280, 390])
def test_the_page_in_a_browser(browser, page, width, tmp_path):
    file = tmp_path / "report.html"
    file.write_text(page, encoding="utf-8")
    window = browser.new_page(viewport={"width": width, "height": 844})
    said, asked = [], []
    window.on("console", lambda message: said.append(message.text))
    window.on("pageerror", lambda error: said.append(str(error)))
    window.on("dialog", lambda dialog: said.append(dialog.message))
    window.on("request", lambda request: asked.append(request.url))
    window.goto(file.as_uri())
    assert said == []
    assert asked == [file.as_uri()]
    assert window.evaluate("document.documentElement.scrollWidth") <= width
    shown = window.inner_text("body")
    for name in NAMES:
        assert name in shown
    for picture in window.query_selector_all("svg"):
        box = picture.bounding_box()
        assert box["width"] > 250
        assert box["height"] > 100
    assert window.pdf().startswith(b"%PDF")
    window.close()
