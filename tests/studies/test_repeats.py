"""Which measurement of its option a measurement is: handed out, kept, taken back, brought along, and shown."""

import functools
import json
import sqlite3
from concurrent.futures import ThreadPoolExecutor

import hypothesis.strategies as st
import pytest
from hypothesis import given

import paretopick as pp
from paretopick.storage.backups import backup, restore
from paretopick.studies.checks import check_storage
from paretopick.studies.commands import Command
from paretopick.studies.definition import Definition
from paretopick.studies.executors import takes_repeat
from paretopick.studies.imports import import_table
from paretopick.studies.repeats import Repeats
from paretopick.studies.state import new_state, restore_state
from paretopick.studies.tables import export, sheet
from support.eventful_studies import POLICIES, eventful, new_study
from support.twin import next_repeats, repeats_by_option

RULES = {"options": ["a", "b", "c"], "metrics": {"m": "max"}, "budget": 60}


@pytest.fixture
def study(storage) -> pp.Study:
    return pp.Study.create("s", **RULES, storage=storage)


def asked(study, n, **more):
    return [(todo.option, todo.repeat) for todo in study.ask(n, **more)]


def lowest_of(taken, out=()):
    repeat = taken.count(None)
    while repeat in taken or repeat in out:
        repeat += 1
    return repeat


# The set of them.


@given(st.lists(st.tuples(st.booleans(), st.none() | st.integers(0, 12))), st.lists(st.integers(0, 12)))
def test_repeats_are_those_of_a_plain_list_whatever_comes_and_goes(steps, out):
    repeats, literal = Repeats(), []
    for come, repeat in steps:
        if come:
            repeats.add(repeat)
            literal.append(repeat)
        elif repeat in literal:
            assert repeats.remove(repeat)
            literal.remove(repeat)
        elif repeat is not None:
            assert not repeats.remove(repeat)
    assert len(repeats) == len(literal)
    assert [repeat for repeat in range(15) if repeat in repeats] == sorted({each for each in literal if each is not None})
    assert next(repeats.free(out)) == lowest_of(literal, out)
    other = Repeats()
    for repeat in sorted(literal, key=str, reverse=True):
        other.add(repeat)
    assert repeats.to_list() == other.to_list() == Repeats.from_list(json.loads(json.dumps(repeats.to_list()))).to_list()


def test_many_repeats_take_little_room():
    repeats = Repeats()
    for repeat in range(10_000):
        repeats.add(repeat)
    repeats.remove(4000)
    assert repeats.to_list() == [0, [[0, 3999], [4001, 9999]], []]


@pytest.mark.parametrize(
    "saved",
    [
        [-1, [], []],
        [0, [[3, 2]], []],
        [0, [[0, 2], [3, 4]], []],
        [0, [[0, 2]], [[3, 1]]],
        [0, [[0, 2]], [[1, 0]]],
        [0, [[0, 2**31]], []],
        [0, [[True, 2]], []],
        [0, []],
    ],
)
def test_what_no_repeats_can_be_is_refused(saved):
    with pytest.raises(ValueError):  # noqa: PT011 -- each says something else
        Repeats.from_list(saved)


# Who gets which.


def test_measurements_of_an_option_are_counted_from_zero(study):
    assert asked(study, 6) == [("a", 0), ("b", 0), ("c", 0), ("a", 1), ("b", 1), ("c", 1)]


@pytest.mark.parametrize("policy", ["ege-sr", "uniform", "apt", "doubt"])
def test_so_they_are_with_every_policy(policy):
    study = pp.Study.create("s", **RULES, policy=policy, storage="sqlite://")
    while todos := study.ask(5):
        for todo in todos:
            study.tell(todo.number, [float(todo.number % 7)])
    for option in "abc":
        told = [row["repeat"] for row in study.measurements() if row["option"] == option]
        assert sorted(told) == list(range(len(told)))


@pytest.mark.parametrize("lose", ["fail", "void", "release"])
def test_what_failed_or_was_taken_or_given_back_is_made_again_under_the_same_repeat(study, lose):
    todos = study.ask(6)
    for todo in todos[1:]:
        study.tell(todo.number, [1.0])
    if lose == "fail":
        study.fail(todos[0].number, "broke")
    elif lose == "release":
        study.release(todos[0].number)
    else:
        study.tell(todos[0].number, [1.0])
        study.void(todos[0].number, "wrong")
    again = next(todo for todo in study.ask(6) if todo.option == "a")
    assert again.number != todos[0].number
    assert again.repeat == 0


def test_a_lease_keeps_its_repeat_whoever_gets_it(study):
    (first,) = study.ask(1, worker="one", lease=1e-6)
    assert study.ask(1, worker="one", lease=1e-6)[0].repeat == first.repeat
    (same,) = study.ask(1, worker="two")
    assert (same.number, same.repeat) == (first.number, first.repeat)


def test_two_workers_never_get_the_same_repeat_of_an_option(study):
    both = asked(study, 5, worker="one") + asked(study, 5, worker="two")
    assert len(set(both)) == 10


def test_measurements_without_a_repeat_count_as_the_lowest(study):
    study.add([("a", [1.0]), ("a", [2.0]), ("a", {"m": 3.0, "repeat": 2})])
    assert dict(asked(study, 3)[:3][::-1])["b"] == 0
    state = study._live.state
    assert state.next_repeats({}).tolist() == [3, 0, 0]
    assert state.next_repeats({0: [3, 5], 1: [0, 1]}).tolist() == [4, 2, 0]


@pytest.mark.sample(4)
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("policy", POLICIES[::2], ids=lambda policy: policy[0])
def test_repeats_follow_from_the_events_literally(policy, seed):
    study = eventful(new_study(policy, seed), seed, steps=120)
    events, n = study.events(), len(study.options)
    state = study._live.state
    out = {0: [1, 2], 3: [0]}
    assert state.next_repeats(out).tolist() == next_repeats(events, n, out)
    assert [len(repeats) for repeats in state.repeats] == [len(each) for each in repeats_by_option(events, n)]
    assert len({(event.arm, event.details["repeat"]) for event in events if event.kind == "told" and event.round}) > 10
    one_by_one = new_state(study._live.definition)
    for event in events:
        one_by_one.apply([event])
    assert one_by_one.to_dict() == state.to_dict()
    saved = json.loads(json.dumps(state.to_dict()))
    assert restore_state(study._live.definition, saved).to_dict() == state.to_dict()
    saved["repeats"][0][0] += 1
    with pytest.raises(pp.InvalidInput, match="repeats of other measurements"):
        restore_state(study._live.definition, saved)


def test_a_correction_stays_the_same_repeat_and_a_void_says_which(study):
    (todo,) = study.ask(1)
    study.tell(todo.number, [1.0])
    study.correct(todo.number, [2.0], "misread")
    assert study.events()[-1].details == {"why": "misread", "before": [1.0], "repeat": 0}
    study.void(todo.number, "wrong")
    assert study.events()[-1].details == {"why": "wrong", "repeat": 0}
    assert check_storage_of(study) == ()


def check_storage_of(study):
    """What is wrong in its database, if that can be checked."""
    if study.status()["storage"] == "sqlite://":
        return ()
    return check_storage(study._live.storage).findings


def test_what_is_out_says_the_repeats_of_each_option(storage):
    study = pp.Study.create("s", **RULES, storage=storage)
    study.ask(5, worker="one")
    with storage.reading(study._live.study) as transaction:
        out = transaction.outstanding("two", 3)
        assert (out.by_arm, out.repeats) == ({0: 2, 1: 2, 2: 1}, {0: [0, 1], 1: [0, 1], 2: [0]})
        assert [lease.repeat for lease in transaction.leases()] == [0, 0, 0, 1, 1]


# What is told.


def test_the_repeat_may_be_told_if_it_is_the_right_one(study):
    one, two = study.ask(2)
    study.tell(one.number, {"m": 1.0, "repeat": 0})
    study.tell(one.number, {"m": 1.0, "repeat": 0.0})
    with pytest.raises(pp.InvalidInput, match=f"measurement {two.number} is repeat 0 of its option, and repeat=3 was told"):
        study.tell(two.number, {"m": 1.0, "repeat": 3})
    with pytest.raises(pp.InvalidInput, match=f"measurement {one.number} is repeat 0 of its option, and repeat=3 was told"):
        study.tell(one.number, {"m": 1.0, "repeat": 3})
    assert study.used == 1


@pytest.mark.parametrize("bad", [-1, 0.5, "first", True, 2**31])
def test_a_repeat_is_a_whole_number(study, bad):
    with pytest.raises(pp.InvalidInput, match="repeat="):
        study.add([("a", {"m": 1.0, "repeat": bad})])


def test_two_measurements_may_have_the_same_repeat(study):
    study.add([("a", {"m": 1.0, "repeat": 4}), ("a", {"m": 2.0, "repeat": 4})])
    study.void(1, "wrong")
    assert [row["repeat"] for row in study.measurements()] == [4, 4]
    assert study._live.state.repeats[0].to_list() == [0, [[4, 4]], []]


# Tables.


def test_tables_have_a_column_for_it(study):
    study.tell(study.ask(1)[0].number, [1.0])
    study.ask(1)
    assert list(study.measurements()[0])[:4] == ["number", "option", "round", "repeat"]
    assert {number: row["repeat"] for number, row in study.look_up([1, 2]).items()} == {1: 0, 2: 0}
    assert sheet(study, study.ask(1)).splitlines()[0] == "number,option,repeat,m,failed,study"


def test_an_export_brings_its_repeats_into_another_study(study, tmp_path):
    study.add([("a", {"m": 1.0, "repeat": 7}), ("b", [2.0])])
    for todo in study.ask(4):
        study.tell(todo.number, [float(todo.number)])
    path = tmp_path / "export.csv"
    path.write_bytes(export(study, "csv"))
    other = pp.Study.create("other", **RULES, storage="sqlite://")
    assert import_table(other, path).added == 6
    read, expected = ([(row["option"], row["m"], row["repeat"]) for row in each.measurements()] for each in (other, study))
    assert read == expected
    assert other._live.state.next_repeats({}).tolist() == study._live.state.next_repeats({}).tolist()


def test_a_row_with_another_repeat_than_was_handed_out_is_named(study, tmp_path):
    study.ask(2)
    path = tmp_path / "sheet.csv"
    path.write_text("number,option,repeat,m\n1,a,,1\n2,b,3,2\n")
    with pytest.raises(pp.InvalidInput, match="row 3: measurement 2 is repeat 0, and not 3; have rows been mixed up"):
        import_table(study, path)
    path.write_text("number,option,repeat,m\n1,a,,1\n2,b,first,2\n")
    with pytest.raises(pp.InvalidInput, match="row 3: its repeat is 'first'; it must be a whole number from 0 on, or empty"):
        import_table(study, path)
    path.write_text("number,option,repeat,m\n1,a,,1\n2,b,0.0,2\n")
    assert import_table(study, path).told == 2


def test_a_row_that_failed_is_known_again_with_its_repeat(study, tmp_path):
    study.ask(1)
    path = tmp_path / "sheet.csv"
    path.write_text("number,option,repeat,m,failed\n1,a,0,,broke\n")
    assert import_table(study, path).failed == 1
    assert import_table(study, path).known == 1
    assert study.measurements()[0]["repeat"] == 0


# Studies from before.


def older(name: str, database, **rules) -> pp.Study:
    """A study that has something of its own under the name of repeats, as it could before."""
    definition = Definition.from_dict(
        pp.Study.create("x", **(RULES | rules), storage="sqlite://").definition.to_dict()
        | ({"metrics": {"repeat": "max"}} if name == "metric" else {})
        | ({"settings": [{"repeat": n} for n in range(3)]} if name == "setting" else {})
    )
    return pp.Study(database, database.create("s", definition.to_dict()))


@pytest.mark.parametrize("name", ["metric", "setting"])
def test_a_study_with_a_metric_or_setting_of_that_name_goes_on(storage, name):
    study = older(name, storage)
    for todo in study.ask(4):
        study.tell(todo.number, {next(iter(study.metrics)): 2.5})
    assert [event.details["repeat"] for event in study.events()] == [0, 0, 0, 1]
    row = study.measurements()[1]
    assert list(row).count("repeat") == 1
    assert row["repeat"] == (2.5 if name == "metric" else 1)
    assert sheet(study, study.ask(1)).splitlines()[0].count("repeat") == 1
    assert export(study, "csv").decode().splitlines()[0].count("repeat") == 1


def test_a_study_whose_cost_has_that_name_goes_on(storage):
    record = pp.Study.create("x", **RULES | {"budget": ("dollars", 5)}, storage="sqlite://").definition.to_dict()
    study = pp.Study(storage, storage.create("s", record | {"cost": "repeat"}))
    for todo in study.ask(2):
        study.tell(todo.number, {"m": 1.0, "repeat": 0.5})
    assert study.spent.spent == 1.0
    assert [row["repeat"] for row in study.measurements()] == [0.5, 0.5]


def test_a_study_that_tells_something_else_under_that_name_goes_on(study):
    todos = study.ask(4)
    told = pp.studies.definition.Told([1.0], {"repeat": "first"})
    study._live.change(lambda rules: rules.tell(todos[0].number, told))
    assert study.definition.tells_repeat
    study.tell(todos[1].number, {"m": 2.0, "repeat": "second"})
    study.tell(todos[3].number, {"m": 3.0})
    assert [row["repeat"] for row in study.measurements()] == ["first", "second", None]
    assert study.events()[-1].details == {"repeat": 1}
    assert restore_state(study._live.definition, study._live.state.to_dict()).definition.tells_repeat
    assert "repeat" not in sheet(study, study.ask(1)).splitlines()[0]


def test_leases_from_before_get_a_repeat_when_they_are_handed_out_again(tmp_path):
    path = tmp_path / "s.db"
    study = pp.Study.create("s", **RULES, storage=path)
    study.ask(4)
    study.close()
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE paretopick_leases SET repeat = NULL WHERE number IN (1, 4)")
    connection.close()
    assert check_storage(path).fine
    study = pp.Study.open("s", storage=path)
    study.tell(1, [1.0])  # told without having asked again
    assert study.events()[0].details is None
    assert study._live.state.next_repeats({}).tolist() == [1, 0, 0]
    assert [(todo.number, todo.repeat) for todo in study.ask(3)] == [(2, 0), (3, 0), (4, 1)]
    study.tell(4, [1.0])
    assert study.events()[-1].details == {"repeat": 1}


def test_a_backup_keeps_the_repeats_of_what_is_out(url, tmp_path):
    study = pp.Study.create("s", **RULES, storage=url)
    study.ask(5)
    backup(url, tmp_path / "b.db")
    for target in (tmp_path / "c.db", pp.storage.open_storage("sqlite://")):
        restore(tmp_path / "b.db", target)
        assert asked(pp.Study.open("s", storage=target), 6)[3:] == [("a", 1), ("b", 1), ("c", 1)]


@pytest.mark.parametrize("repeat", [-1, "0", 1.5, 2**31])
def test_a_check_names_a_repeat_that_cannot_be(tmp_path, repeat):
    path = tmp_path / "s.db"
    study = pp.Study.create("s", **RULES, storage=path)
    study.ask(1)
    study.close()
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("UPDATE paretopick_leases SET repeat = ?", [repeat])
    connection.close()
    found = check_storage(path).findings
    if repeat == "0":  # a number to SQLite
        assert found == ()
    else:
        assert "its repeat is" in found[0].what


# What measures.


class Measure:
    def __call__(self, option, *, repeat):
        return [float(repeat)]


def with_repeat(option, repeat):
    return [float(repeat)]


def plain(option):
    return [1.0]


def wrapped(function, takes):
    @functools.wraps(function)
    def everything(*words, **more):
        return function(*words, **more)

    @functools.wraps(function)
    def one(option):
        return function(option, 0)

    return everything if takes else one


@pytest.mark.parametrize(
    "measure, takes",
    [
        (with_repeat, True),
        (lambda option, repeat=5: [float(repeat)], True),
        (Measure(), True),
        (Measure().__call__, True),
        (functools.partial(lambda more, option, repeat: [float(repeat)], 1), True),
        (wrapped(with_repeat, takes=True), True),
        (wrapped(with_repeat, takes=False), False),
        (functools.partial(with_repeat, repeat=9), False),
        (lambda repeat: [1.0], False),
        (lambda repeat, /, more=0: [1.0], False),
        (lambda option, **more: [float(len(more))], False),
        (plain, False),
        (dict, False),
        (print, False),
    ],
)
def test_a_function_with_a_parameter_of_that_name_is_told_the_repeat(measure, takes):
    assert takes_repeat(measure) == takes
    if measure in (dict, print):
        return
    study = pp.Study.create("s", **RULES | {"budget": 12}, storage="sqlite://")
    pp.run_study(study, measure, argument=lambda todo: todo.option)
    assert all((row["m"] == row["repeat"]) == takes for row in study.measurements() if row["repeat"] not in (0, 1))
    assert study.used == 12


@pytest.mark.slow
@pytest.mark.parametrize("more", [{"workers": 2}, {"processes": True}, {"workers": ThreadPoolExecutor(2)}])
def test_so_it_is_by_whomever_it_is_called(more):
    found = pp.identify(with_repeat, ["a", "b"], {"m": "max"}, 12, **more)
    assert [row.means["m"] for row in found.options] == [(row.measurements - 1) / 2 for row in found.options]


def test_a_function_that_is_timed_is_told_it_too():
    study = pp.Study.create("s", **RULES | {"budget": ("seconds", 0.001)}, storage="sqlite://")
    pp.run_study(study, with_repeat, argument=lambda todo: todo.option)
    assert all(row["m"] == row["repeat"] for row in study.measurements())


@pytest.mark.parametrize("shell", [False, True])
def test_a_command_finds_the_repeat_in_its_words_and_in_its_environment(tmp_path, shell):
    words = ["echo m={repeat}"] if shell else ["echo", "m={repeat}"]
    command = Command(words, metrics=["m"], shell=shell)
    assert command(pp.Measurement(1, "a", 1, {}, None, 7)) == {"m": 7.0}
    assert not command.depends_on_the_option
    log = tmp_path / "log"
    before = [f"echo $PARETOPICK_REPEAT {{repeat}} >> {log}"] if shell else ["sh", "-c", f"echo $PARETOPICK_REPEAT >> {log}"]
    command = Command(words, metrics=["m"], shell=shell, prepare=before, warmup=1)
    command(pp.Measurement(1, "a", 1, {}, None, 7))
    assert log.read_text() == ("7 7\n" * 2 if shell else "7\n" * 2)  # before the run that does not count, too


def test_a_setting_of_that_name_comes_first():
    command = Command(["echo", "m={repeat}"], metrics=["m"], settings=["repeat"])
    assert command(pp.Measurement(1, "a", 1, {"repeat": 3}, None, 7)) == {"m": 3.0}
