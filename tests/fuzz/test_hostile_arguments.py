"""Whatever is typed after a verb, the command line answers with one line and the exit code 0, 1 or 2; never with a traceback."""

import os
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

import paretopick as pp
from paretopick import cli
from support.hostile import examples

pytestmark = pytest.mark.slow

TEXTS = st.sampled_from(
    [
        *(
            "",
            " ",
            "a",
            "b",
            "s",
            "1",
            "2",
            "-1",
            "0",
            "1.5",
            "1_000",
            "\uff11",
            "nan",
            "inf",
            "1e9",
            "9" * 5000,
            "m=1",
            "m=1_000",
            "m=",
            "m=none",
            "plate=3",
            "plate==x",
        ),
        *(
            "a,b",
            "m:min",
            "m:min,m:max",
            "apt:batch=2",
            "apt:batch=[",
            "{option}",
            "=1+1",
            "\x1b[2J",
            "a\nb",
            "\ud800",
            "é",
            "e\u0301",
        ),
        *(
            "no.csv",
            "no.toml",
            "no/such/x.csv",
            ".",
            "/",
            "x.html",
            "[1]",
            '{"m": 1}',
            '{"m": 1, "m": 2}',
            "100000000000000000000",
        ),
    ]
)
FLAGS = {
    "create": ["--options", "--metrics", "--budget", "--policy", "--exact", "--scale", "--pairing", "--baseline"],
    "ask": ["-n", "--worker", "--lease"],
    "tell": [],
    "fail": [],
    "release": ["--worker"],
    "void": ["--where", "--why"],
    "correct": ["--why"],
    "retire": [],
    "reinstate": ["--why"],
    "add-option": ["--set"],
    "measurements": ["--where"],
    "extend": ["--budget", "--confidence", "--resolution", "--number", "--lease", "--worker"],
    "status": [],
    "baseline": [],
    "result": ["--baseline"],
    "delete": [],
    "sheet": ["-n", "--worker"],
    "import": ["--why"],
    "export": ["--format"],
    "report": ["--format", "--rehearsals", "--baseline"],
    "show": ["--std", "--minimise"],
}
"""Verbs that take no longer than they are told to, and what can be said to them with a text."""


@pytest.fixture(scope="module", params=["uniform", "doubt"])
def folder(request, tmp_path_factory):
    """With one study."""
    folder = tmp_path_factory.mktemp("folder")
    before = os.getcwd()
    os.chdir(folder)
    with pp.Study.create(
        "s", options=["a", "b"], metrics={"m": "min"}, budget=20, policy=request.param, storage="studies.db"
    ) as study:
        study.ask(2)
    yield folder
    os.chdir(before)


@pytest.mark.parametrize("verb", FLAGS)
@examples(6)
@given(data=st.data())
def test_arguments(folder, verb, data):
    words = data.draw(st.lists(TEXTS, max_size=3))
    if data.draw(st.booleans()):
        words = ["s", *words]
    for flag in data.draw(st.lists(st.sampled_from(FLAGS[verb]), max_size=2)) if FLAGS[verb] else ():
        words += [flag, data.draw(TEXTS)]
    if verb != "show":
        words += ["--storage", "studies.db"]
    before = sys.argv
    sys.argv = ["paretopick", verb, *words]
    code = 0
    try:
        cli.main()
    except SystemExit as end:
        code = end.code
    finally:
        sys.argv = before
    assert code in (0, 1, 2, None)
