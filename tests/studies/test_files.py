"""The file of a study: what is read is what was written, whatever the names."""

import dataclasses
import json
import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

import paretopick as pp
from paretopick.studies.definition import RESERVED, Definition, define
from paretopick.studies.files import StudyFile, read_study_file, study_file_text

NAMES = st.one_of(
    st.text(min_size=1, max_size=12),
    st.sampled_from(
        ['say "cheese"', "it's", "a\\b", "a = b # c", "[x]", "漢字 ünïcödé", "{option}", "a, b and c", "\N{SNOWMAN}"]
    ),
).filter(lambda name: name == name.strip() and name.isprintable() and name)
COLUMNS = NAMES.filter(lambda name: name not in RESERVED and not name.endswith(" ±"))
SETTINGS = st.one_of(
    st.text(max_size=8).filter(lambda text: "\0" not in text),  # which no command could be given
    st.integers(),
    st.booleans(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from(["a\nb", "\t", "\x7f", '"""', "\r\n", "\\"]),
)
POLICIES = st.sampled_from(
    [
        "ege-sr",
        ("ege-gg", {"n_rounds": 2}),
        "doubt",
        ("apt", {"batch": 3}),
        ("uniform", {"spend": "printed"}),
        ("ege-gg", {"n_rounds": None}),
    ]
)


WITH_MARGINS = ["doubt", ("apt", {"batch": 3})]


@st.composite
def entries(draw, with_more: bool, exact: bool) -> str | dict:
    """What a study may say of a metric: its goal, or a table of all that matters about it."""
    goal = draw(st.sampled_from(["min", "max"]))
    if not with_more:
        return goal
    kind = draw(st.sampled_from(["share", "margin", "limit alone", *([] if exact else ["log"])]))
    side = {"min": "at_most", "max": "at_least"}[goal]
    limit = draw(st.floats(1e-9, 1e9))
    entry = {"at_most" if draw(st.booleans()) else "at_least": limit} if kind == "limit alone" else {"goal": goal}
    if kind == "share":
        entry["margin"] = f"{draw(st.floats(0.01, 100))}%"
    elif kind == "margin":
        entry["margin"] = draw(st.floats(0, 1e6))
    elif kind == "log":
        entry["log"] = True
    if draw(st.booleans()):
        entry["unit"] = draw(NAMES)
    return entry | ({side: limit} if kind != "limit alone" and draw(st.booleans()) else {})


@st.composite
def study_files(draw) -> StudyFile:
    """Any study that can be defined, measured in any way."""
    names = draw(st.lists(NAMES, min_size=2, max_size=5, unique=True))
    columns = draw(st.lists(COLUMNS, min_size=1, max_size=5, unique=True))
    n_metrics = draw(st.integers(1, len(columns)))
    policy = draw(POLICIES)
    exact = [name for name in columns[:n_metrics] if draw(st.booleans())]
    with_more = policy in WITH_MARGINS
    metrics = {name: draw(entries(with_more and place > 0, name in exact)) for place, name in enumerate(columns[:n_metrics])}
    widths = {name: draw(st.floats(1e-9, 1e9)) for name in metrics if name not in exact}
    budget, cost = draw(st.integers(100, 10**6)), None
    if with_more and draw(st.booleans()):
        unit = draw(NAMES.filter(lambda name: name not in RESERVED and name not in columns[n_metrics:]))
        budget = (unit, draw(st.floats(1e6, 1e9)))
        cost = draw(st.sampled_from([None, columns[0], {name: draw(st.floats(1, 9)) for name in names}]))
    paired = policy == "doubt" and len(exact) < n_metrics
    pairing = draw(st.sampled_from([None, "repeat", "a plate"])) if paired and "a plate" not in columns else None
    definition = define(
        options={name: {column: draw(SETTINGS) for column in columns[n_metrics:]} for name in names},
        metrics=metrics,
        budget=budget,
        cost=cost,
        policy=policy,
        scale=draw(st.sampled_from(["noise", "raw", widths])),
        exact=exact,
        baseline=draw(st.sampled_from([None, *names])),
        pairing=pairing,
    )
    definition = dataclasses.replace(
        definition,
        command=tuple(draw(st.lists(st.text(max_size=20), max_size=3))),
        shell=draw(st.booleans()),
        timeout=draw(st.none() | st.floats(1e-3, 1e6)),
        folder="/" + draw(st.sampled_from(["", "tmp", 'a "folder"'])),
        prepare=tuple(draw(st.lists(st.text(max_size=20), max_size=3))),
        warmup=draw(st.integers(0, 9)),
    )
    return StudyFile(draw(NAMES), definition, draw(st.none() | st.integers(0, 9)), draw(st.none() | st.integers(1, 9)))


@given(study_files())
def test_what_is_read_is_what_was_written(tmp_path_factory, study):
    path = tmp_path_factory.getbasetemp() / "any.toml"
    path.write_text(study_file_text(study), encoding="utf-8")
    assert read_study_file(path) == study


def test_metrics_may_be_tables_short_texts_and_one_text(tmp_path):
    path = tmp_path / "s.toml"
    start = 'options = ["a", "b"]\nbudget = 20\n'
    tables = (
        '[metrics]\nseconds = {goal = "min", margin = "2%", at_most = 50, unit = "s"}\n'
        'price = {goal = "min", exact = true}\nerrors = {at_most = 0.01}\n'
    )
    path.write_text(start + tables)
    read = read_study_file(path).definition
    assert read.metrics == (
        pp.Metric("seconds", "min", margin="2%", at_most=50, unit="s"),
        pp.Metric("price", "min", exact=True),
        pp.Metric("errors", at_most=0.01),
    )
    path.write_text(start + 'exact = ["price"]\nmetrics = {seconds = "min~2%<=50", price = "min", errors = "<=0.01"}\n')
    assert [metric.text for metric in read_study_file(path).definition.metrics] == [metric.text for metric in read.metrics]
    path.write_text(start + 'metrics = "seconds:min~2%<=50,price:min,errors<=0.01"\n')
    assert [metric.text for metric in read_study_file(path).definition.metrics] == [metric.text for metric in read.metrics]
    path.write_text(start + "[metrics]\nseconds = {goal = 'min', width = 0.5}\nsize = {goal = 'min', exact = true}\n")
    assert read_study_file(path).definition.scale == {"seconds": 0.5}


def test_a_file_says_the_goal_alone_where_there_is_nothing_else():
    metrics = {"seconds": "min~2%<=50", "size": "min", "errors": "<=0.01"}
    written = tomllib.loads(study_file_text(StudyFile("s", define(options=["a", "b"], metrics=metrics, budget=20))))
    assert written["metrics"] == {
        "seconds": {"goal": "min", "margin": "2%", "at_most": 50.0},
        "size": "min",
        "errors": {"at_most": 0.01},
    }


@pytest.mark.parametrize(
    "text, budget, cost",
    [
        ("budget = 20", 20, None),
        ("budget = {seconds = 1200}", ("seconds", 1200.0), None),
        ('budget = ["seconds", 1200]', ("seconds", 1200.0), None),
        ('budget = "20m"', ("seconds", 1200.0), None),
        ("budget = {dollars = 5}\ncost = {a = 1, b = 0.5}", ("dollars", 5.0), {"a": 1, "b": 0.5}),
        ('budget = "5 dollars"\ncost = "fee"', ("dollars", 5.0), "fee"),
    ],
)
def test_a_budget_may_be_in_a_unit(text, budget, cost, tmp_path):
    path = tmp_path / "s.toml"
    path.write_text(f'options = ["a", "b"]\nmetrics = {{m = "max"}}\n{text}\n')
    read = read_study_file(path).definition
    assert (read.budget, read.cost) == (budget, cost)


def test_what_is_wrong_with_a_metric_of_a_file_is_said_with_the_file(tmp_path):
    path = tmp_path / "s.toml"
    path.write_text('options = ["a", "b"]\nbudget = 20\nmetrics = {seconds = {goal = "min", margn = "2%"}}\n')
    with pytest.raises(pp.InvalidInput, match=r"s\.toml: no key of metric 'seconds' named 'margn'; did you mean 'margin'"):
        read_study_file(path)


@given(st.dictionaries(st.text(), SETTINGS | st.lists(SETTINGS)))
def test_every_value_is_valid_toml(table):
    from paretopick.studies.files import _toml

    assert tomllib.loads(f"x = {_toml(table)}") == {"x": table}


def study() -> Definition:
    return define(options=["a", "b"], metrics={"m": "max"}, budget=20)


@pytest.mark.parametrize("name", ["two\nlines", " blank", "", "bell\a"])
def test_a_name_that_cannot_be_shown_on_a_line_is_refused(name, tmp_path):
    path = tmp_path / "s.toml"
    path.write_text(study_file_text(StudyFile("s", dataclasses.replace(study(), options=(name, "b"), folder="/"))))
    with pytest.raises(pp.InvalidInput, match=r"s\.toml: .* cannot be the name of an option"):
        read_study_file(path)


def test_the_command_runs_in_the_folder_of_the_file_or_where_it_says(tmp_path):
    path = tmp_path / "s.toml"
    text = 'options = ["a", "b"]\nmetrics = {m = "max"}\nbudget = 20\ncommand = "pwd"\n'
    path.write_text(text)
    assert read_study_file(path).definition.folder == str(tmp_path)
    path.write_text(f'{text}folder = "sub/x"\n')
    assert read_study_file(path).definition.folder == str(tmp_path / "sub" / "x")
    path.write_text(f"{text}folder = 3\n")
    with pytest.raises(pp.InvalidInput, match="folder=3 is not a text; put it between quotes"):
        read_study_file(path)


def test_a_study_stored_before_these_were_kept_opens():
    record = study().to_dict()
    for key in ("shell", "timeout", "folder"):
        del record[key]
    assert not {"prepare", "warmup"} & set(record)
    assert Definition.from_dict(json.loads(json.dumps(record))) == study()


def test_options_that_are_lists_of_words_are_called_as_one_types_them_and_stand_for_several_words(tmp_path):
    path = tmp_path / "study.toml"
    text = 'options = [["printf", "%s.", "a b", "c"], ["true"], "my program"]\nmetrics = {output_bytes = "max"}\nbudget = 12\n'
    path.write_text(f'{text}command = ["{{option}}", "x{{option}}"]\n')
    told = read_study_file(path)
    assert told.definition.options == ("printf %s. 'a b' c", "true", "'my program'")
    assert told.definition.command == ("{option...}", "x{option}")
    path.write_text(f'{text}command = ["env", "{{option}}"]\n')
    measure = read_study_file(path).measure()
    assert measure(pp.Measurement(1, "printf %s. 'a b' c", 1, {}, None)) == {"output_bytes": 6}
    path.write_text(text.replace('["true"]', "[[]]"))
    with pytest.raises(pp.InvalidInput, match=r"options have \[\[\]\], which is not a list of words; write \[\"gzip\", \"-9\"\]"):
        read_study_file(path)
