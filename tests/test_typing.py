import inspect
from dataclasses import fields
from pathlib import Path
from typing import get_args

import pytest

import paretopick as pp
from paretopick import typing
from paretopick._metric_texts import GOALS
from paretopick.policies import policy_options
from paretopick.studies.result import STATUSES

ROOT = Path(__file__).parents[1]
PROGRAM = ROOT / "tests" / "support" / "typed_program.py"


@pytest.mark.parametrize(
    "alias, names",
    [
        (typing.PolicyName, pp.POLICIES),
        (typing.ScheduleName, pp.SCHEDULES),
        (typing.InstanceName, pp.INSTANCES),
        (typing.Goal, GOALS),
        (typing.Status, STATUSES),
    ],
)
def test_types_name_what_there_is(alias, names):
    assert get_args(alias) == tuple(names)


def test_the_options_of_policies_are_those_of_their_types():
    assert set(typing.PolicyOptions.__annotations__) == {option for name in pp.POLICIES for option in policy_options(name)}
    assert set(typing.PolicyTable.__annotations__) == {*typing.PolicyOptions.__annotations__, "name"}


def test_the_table_of_a_metric_has_all_of_its_fields_but_the_name():
    assert ["name", *typing.MetricTable.__annotations__] == [field.name for field in fields(pp.Metric)]


def test_every_name_of_the_types_is_explained():
    for name in typing.__all__:
        assert f"``{name}``" in inspect.getdoc(typing), name


@pytest.mark.slow  # for mypy, which reads numpy's types first
def test_a_type_checker_takes_what_is_right_and_refuses_what_is_not():
    from mypy import api

    told, problems, _ = api.run(["--config-file", str(ROOT / "pyproject.toml"), "--no-error-summary", str(PROGRAM)])
    assert not problems
    found = {int(line.split(":")[1]) for line in told.splitlines() if ": error:" in line}
    marked = {number for number, line in enumerate(PROGRAM.read_text().splitlines(), start=1) if line.endswith("# refused")}
    assert found == marked, told
