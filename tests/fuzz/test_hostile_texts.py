"""Whatever is in a file, or comes out of a command, is read, or refused with an error of ours."""

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

import paretopick as pp
from paretopick._texts import number_of, split_at_commas, value_of
from paretopick.policies import check_policy
from paretopick.studies.files import read_study_file
from paretopick.studies.imports import import_table
from paretopick.studies.readings import readings
from paretopick.studies.tables import export, read_measurements, read_options
from support.hostile import examples, refused_politely

pytestmark = pytest.mark.slow

CELLS = st.sampled_from(
    [
        *(
            "",
            " ",
            "a",
            "b",
            "1",
            "2.5",
            "1,5",
            "1,234",
            "1.234",
            "1_000",
            "nan",
            "-inf",
            "9" * 5000,
            "1e999",
            "'=1",
            "=1+1",
            "''",
        ),
        *(
            "number",
            "option",
            "failed",
            "m",
            "M",
            "status",
            "study",
            "told",
            "s",
            "0",
            "no",
            '"',
            '"a',
            "x" * 200_000,
            "\ufeff",
            "é",
        ),
        *("\x1b[2J", "\0", "\r", "\n", "sep=;", "99999999999", "-1", "1.0", "2026-01-31", "0001-01-01T00:00+14:00", "007"),
    ]
)
TABLES = st.tuples(
    st.sampled_from([",", ";", "\t"]),
    st.sampled_from(
        ["option,m", "number,option,m,failed,study", "m", "option;m", "a,b", "option,m,plate,worker,at", "number,m,option,at,p"]
    )
    | st.just(""),
    st.lists(st.lists(CELLS, max_size=5), max_size=5),
).map(
    lambda drawn: "\n".join([drawn[1].replace(",", drawn[0]), *(drawn[0].join(row) for row in drawn[2])]).encode(errors="replace")
)
FILES = TABLES | st.binary(max_size=200) | TABLES.map(lambda content: content.decode().encode("utf-16"))

TOML_VALUES = st.sampled_from(
    [
        *(
            "5",
            "-1",
            "1.5",
            "nan",
            "inf",
            "true",
            '""',
            '"a"',
            '"\\u0000"',
            '"a:min"',
            "[]",
            '["a", "b"]',
            "[1, 2]",
            "[[1]]",
            "{}",
        ),
        *('{m = "min"}', '{a = {x = 1}, b = {x = "\\u0000"}}', "2020-01-01", "9" * 5000, "0x" + "f" * 5000, '"apt:batch=2"'),
        *(
            '{name = "apt", batch = 1e300}',
            '"no.csv"',
            "[" * 3000,
            '"""',
            '"\\ud800"',
            '["./x", "{option}"]',
            "1e999",
            '"\\u001b"',
        ),
    ]
)
KEYS = st.sampled_from(
    [
        *("name", "options", "metrics", "exact", "budget", "policy", "scale", "command", "shell", "timeout", "folder"),
        *("retries", "workers", "other", '"\\u0000"', "a.b"),
    ]
)
STUDY_FILES = st.tuples(
    st.sampled_from(["", 'options = ["a", "b"]\nmetrics = {m = "max"}\nbudget = 20\n']),
    st.lists(st.tuples(KEYS, TOML_VALUES).map(" = ".join), max_size=4, unique_by=lambda line: line.split()[0]),
).map(lambda drawn: (drawn[0] + "\n".join(drawn[1])).encode())


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return tmp_path_factory.mktemp("files") / "any.file"


@pytest.mark.parametrize("policy", ["ege-sr", "doubt"])
@examples(40)
@given(content=FILES)
def test_tables(path, policy, content):
    path.write_bytes(content)
    study = pp.Study.create("s", options=["a", "b"], metrics={"m": "max"}, budget=20, policy=policy, storage="sqlite://")
    study.tell(study.ask(3)[0].number, (7.0,))
    before, imported = study.events(), None
    with refused_politely():
        imported = import_table(study, path, correct=True)
    assert (imported is None) <= (study.events() == before)  # all rows, or none
    for form in ("csv", "json"):
        export(study, form)
    for read in (
        read_options,
        lambda file: read_measurements(file, {"m": "max"}),
        lambda file: pp.read_instance(file, noise=pp.Gaussian(std=1.0)),
    ):
        with refused_politely():
            read(path)


@examples(40)
@given(content=STUDY_FILES | st.binary(max_size=100))
def test_study_files(path, content):
    path.write_bytes(content)
    with refused_politely():
        read_study_file(path)


LINES = st.sampled_from(
    [
        *(
            "m=1",
            "m = 1_000",
            "m=1,5",
            "m=\uff11",
            "m=nan",
            "m=",
            "=",
            '{"m": 1}',
            '{"m": true}',
            '{"m": "1_000"}',
            '{"m": [1]}',
            "{",
        ),
        *(
            '{"m": null}',
            '{"m": {"a": 1}}',
            '{"m": 1, "m": 2}',
            f'{{"m": {"9" * 5000}}}',
            "m=" + "9" * 5000,
            '{"m": ' * 3000,
            "\0",
        ),
        *('{"m": 1e999}', '{"m": NaN}', "\x1b[31mm=1\x1b[0m", "[1]", "\ud800", "m\u200b=1"),
    ]
)


@examples(40)
@given(output=st.lists(LINES | st.text(max_size=20), max_size=4).map("\n".join))
def test_outputs_of_commands(output):
    with refused_politely():
        assert readings(output, ["m"]).keys() == {"m"}


@examples(100)
@given(text=st.text(max_size=30) | LINES | CELLS)
def test_texts_that_people_type(text):
    value_of(text)
    assert all(split_at_commas([text]))
    with contextlib.suppress(ValueError):
        number_of(text)
    for make in (
        check_policy,
        lambda given: pp.Study.create("s", options=["a", "b"], metrics=given, budget=9, storage="sqlite://"),
    ):
        with refused_politely():
            make(text)
