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
        ("apt", {"batch": 3}),
        ("uniform", {"spend": "printed"}),
        ("ege-gg", {"n_rounds": None}),
    ]
)


@st.composite
def study_files(draw) -> StudyFile:
    """Any study that can be defined, measured in any way."""
    names = draw(st.lists(NAMES, min_size=2, max_size=5, unique=True))
    columns = draw(st.lists(COLUMNS, min_size=1, max_size=5, unique=True))
    n_metrics = draw(st.integers(1, len(columns)))
    metrics = {name: draw(st.sampled_from(["min", "max"])) for name in columns[:n_metrics]}
    exact = [name for name in metrics if draw(st.booleans())]
    widths = {name: draw(st.floats(1e-9, 1e9)) for name in metrics if name not in exact}
    definition = define(
        options={name: {column: draw(SETTINGS) for column in columns[n_metrics:]} for name in names},
        metrics=metrics,
        budget=draw(st.integers(100, 10**6)),
        policy=draw(POLICIES),
        scale=draw(st.sampled_from(["noise", "raw", widths])),
        exact=exact,
    )
    definition = dataclasses.replace(
        definition,
        command=tuple(draw(st.lists(st.text(max_size=20), max_size=3))),
        shell=draw(st.booleans()),
        timeout=draw(st.none() | st.floats(1e-3, 1e6)),
        folder="/" + draw(st.sampled_from(["", "tmp", 'a "folder"'])),
    )
    return StudyFile(draw(NAMES), definition, draw(st.none() | st.integers(0, 9)), draw(st.none() | st.integers(1, 9)))


@given(study_files())
def test_what_is_read_is_what_was_written(tmp_path_factory, study):
    path = tmp_path_factory.getbasetemp() / "any.toml"
    path.write_text(study_file_text(study), encoding="utf-8")
    assert read_study_file(path) == study


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
    assert Definition.from_dict(json.loads(json.dumps(record))) == study()
