"""What measurements share: how it is declared, refused, kept and compared, and what states know of it."""

import json
import math
from collections import defaultdict

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

import paretopick as pp
from paretopick.studies.blocks import Blocks, as_block
from paretopick.studies.definition import Definition, define
from paretopick.studies.files import read_study_file, study_file_text
from paretopick.studies.state import new_state, restore_state
from support.terminals import call, stdout_of

RULES = {"options": {"a": {"dose": 1}, "b": {"dose": 2}, "c": {"dose": 3}}, "metrics": {"m": "max", "t": "min"}, "budget": 60}


def new(pairing="repeat", **more) -> pp.Study:
    return pp.Study.create("s", **RULES | more, pairing=pairing, storage="sqlite://")


# How it is declared.


@pytest.mark.parametrize("pairing", ["repeat", "plate"])
def test_a_definition_keeps_its_pairing(pairing):
    definition = define(**RULES, pairing=pairing)
    assert definition.pairing == pairing
    assert Definition.from_dict(json.loads(json.dumps(definition.to_dict()))) == definition


def test_without_pairing_a_definition_is_as_before():
    assert "pairing" not in define(**RULES).to_dict()
    assert define(**RULES).pairing is None
    assert new(None)._live.state.blocks is None


@pytest.mark.parametrize(
    "pairing, more, message",
    [
        ("repeat", {"policy": "ege-sr"}, "pairing='repeat' is about what measurements share, of which ege-sr .* or use doubt"),
        ("m", {}, "pairing='m' is a metric; name what measurements share"),
        ("dose", {}, "pairing='dose' is a setting of the options; name"),
        ("worker", {}, "pairing='worker' is a column that tables have already; name"),
        ("m ±", {}, "pairing='m ±' is a column that tables have already; name"),
        ("repeat", {"exact": ["m", "t"]}, "is about what makes measurements vary, and all metrics are exact; leave it out"),
        ("", {}, "'' cannot be the name of a pairing"),
        (3, {}, "3 cannot be the name of a pairing"),
    ],
)
def test_a_pairing_from_which_nothing_could_follow_is_refused(pairing, more, message):
    with pytest.raises(pp.InvalidInput, match=message):
        define(**RULES | more, pairing=pairing)


def test_one_exact_metric_does_not_matter():
    assert define(**RULES, exact=["t"], pairing="plate").pairing == "plate"


def test_a_stored_pairing_that_is_none_is_refused():
    with pytest.raises(pp.InvalidInput, match="pairing"):
        Definition.from_dict(define(**RULES).to_dict() | {"pairing": 3})


def test_another_pairing_is_another_study():
    one, other = define(**RULES, pairing="repeat"), define(**RULES)
    assert one.differences(other) == ["pairing is 'repeat' there and none here"]
    assert one.differences(one) == []
    saved = new_state(one).to_dict()
    with pytest.raises(pp.InvalidInput, match="it is that of another study"):
        restore_state(other, saved)


def test_a_study_file_has_it(tmp_path):
    path = tmp_path / "s.toml"
    path.write_text('pairing = "plate"\noptions = ["a", "b"]\nbudget = 20\n[metrics]\nm = "max"\n')
    read = read_study_file(path)
    assert read.definition.pairing == "plate"
    assert 'pairing = "plate"' in study_file_text(read)


def test_identify_takes_it():
    found = pp.identify(lambda option, repeat: {"m": repeat, "t": 1.0}, list("ab"), RULES["metrics"], 20, pairing="repeat")
    assert found.used == 20


CREATE = ["--options", "a,b", "--metrics", "m:max", "--budget", "12", "--pairing", "repeat"]


def test_the_command_line_takes_it(tmp_path):
    created = json.loads(stdout_of("create", "s", *CREATE, "--json", cwd=tmp_path))
    assert created["pairing"] == "repeat"
    todos = json.loads(stdout_of("ask", "s", "-n", "3", "--json", cwd=tmp_path))
    assert [(todo["option"], todo["repeat"]) for todo in todos] == [("a", 0), ("b", 0), ("a", 1)]
    assert "repeat" in stdout_of("ask", "s", cwd=tmp_path).splitlines()[0]
    assert json.loads(stdout_of("sheet", "s", "-n", "1", "--json", cwd=tmp_path))[0]["repeat"] == 1
    stdout_of("tell", "s", "3", "m=1", "repeat=1", cwd=tmp_path)
    assert "is repeat 0 of its option, and repeat=5 was told" in call("tell", "s", "1", "m=1", "repeat=5", cwd=tmp_path).stderr
    assert json.loads(stdout_of("measurements", "s", "--json", cwd=tmp_path))[0]["repeat"] == 1
    stdout_of("void", "s", "--where", "repeat=1", "--why", "wrong", cwd=tmp_path)


def test_a_file_and_the_flag_beside_it_are_one_too_many(tmp_path):
    (tmp_path / "s.toml").write_text('options = ["a", "b"]\nbudget = 20\ncommand = "echo m={repeat}"\n[metrics]\nm = "max"\n')
    for verb in ("create", "run"):
        assert "--pairing stands beside s.toml" in call(verb, "s.toml", "--pairing", "repeat", cwd=tmp_path).stderr


def test_a_run_measures_each_repeat_of_each_option(tmp_path):
    stdout_of("run", "--name", "s", *CREATE, "--", "sh", "-c", "echo m=$PARETOPICK_REPEAT # {option}", cwd=tmp_path)
    rows = json.loads(stdout_of("measurements", "s", "--json", cwd=tmp_path))
    assert len(rows) == 12
    assert all(row["m"] == row["repeat"] for row in rows)
    assert (
        "pairing is 'repeat' there and none here"
        in call("run", "--name", "s", *CREATE[:-2], "--", "echo", "m={repeat}", cwd=tmp_path).stderr
    )


def test_a_status_says_it():
    assert new("plate").status()["pairing"] == "plate"


# What is handed out together.


@pytest.mark.parametrize("shuffle", [False, True])
def test_what_is_of_one_repeat_is_handed_out_together(shuffle):
    study = new()
    study.add([("a", {"m": 1.0, "t": 1.0, "repeat": n}) for n in range(3)])
    todos = study.ask(9, shuffle=shuffle)
    assert [todo.repeat for todo in todos] == sorted(todo.repeat for todo in todos)
    assert [todo.number for todo in todos] == sorted(todo.number for todo in todos)


def test_within_a_repeat_the_order_is_random_if_that_is_wanted():
    orders = set()
    for name in "abcdefgh":
        study = pp.Study.create(name, **RULES, pairing="repeat", storage="sqlite://")
        todos = study.ask(6, shuffle=True)
        assert [todo.repeat for todo in todos] == [0, 0, 0, 1, 1, 1]
        orders.add("".join(todo.option for todo in todos))
    assert len(orders) > 2


# What amendments say.


def test_what_is_amended_says_its_block():
    study = new("plate")
    numbers = study.add([("a", {"m": 1.0, "t": 1.0, "plate": "3", "repeat": 4}), ("b", {"m": 1.0, "t": 1.0})])
    study.correct(numbers[0], {"m": 2.0}, "misread")
    assert study.events()[-1].details == {"why": "misread", "before": [1.0, 1.0], "repeat": 4, "block": "3"}
    study.correct(numbers[0], {"m": 3.0}, "misread again")
    study.void(numbers[0], "wrong")
    assert study.events()[-1].details == {"why": "wrong", "repeat": 4, "block": "3"}
    study.void(numbers[1], "wrong, too")
    assert study.events()[-1].details == {"why": "wrong, too"}
    assert study._live.state.blocks.to_list() == Blocks(3, 2).to_list()


# Blocks themselves.

BLOCKS = st.none() | st.sampled_from([0, 1, 2.0, 2.5, "2", "plate", "007", 10**20, -3])
VALUES = st.none() | st.sampled_from([0.0, -0.0, 1.0, 0.1, 0.2, 1e150, -3e-9])
ROWS = st.tuples(VALUES, VALUES).filter(lambda row: row != (None, None))
MEASUREMENTS = st.lists(st.tuples(st.integers(0, 2), BLOCKS, ROWS), max_size=25)


def literal_cells(measurements, arms, metric):
    """Blocks in their order, and of each option counts and means by block, and squared deviations."""
    cells, alone = defaultdict(list), defaultdict(list)
    for arm, block, row in measurements:
        if arm in arms and row[metric] is not None:
            name = as_block(block)
            (alone[arm] if name is None else cells[name, arm]).append(row[metric] + 0.0)
    names = sorted({name for name, _ in cells}, key=lambda name: (isinstance(name, str), name))
    counts = [[len(cells.get((name, arm), [])) for arm in arms] for name in names]
    means = [[_mean(cells.get((name, arm), [])) for arm in arms] for name in names]
    squares = [math.fsum(each for name in names for each in _squares(cells.get((name, arm), []))) for arm in arms]
    apart = [([len(alone[arm]), _mean(alone[arm]), math.fsum(_squares(alone[arm]))]) for arm in arms]
    return names, counts, means, squares, [list(part) for part in zip(*apart, strict=True)]


def _mean(values):
    return 0.0 if not values else values[0] if len(set(values)) == 1 else math.fsum(values) / len(values)


def _squares(values):
    return [(value - _mean(values)) * (value - _mean(values)) for value in values]


def same(blocks, measurements):
    for arms in ([0, 1, 2], [2, 0], [1]):
        for metric in (0, 1):
            names, counts, means, squares, alone = literal_cells(measurements, arms, metric)
            cells = blocks.cells(arms, metric)
            assert blocks.names(arms, metric) == names
            assert cells.counts.tolist() == counts
            assert cells.counts.shape == (len(names), len(arms))
            assert cells.means.tolist() == means
            assert cells.squares.tolist() == squares
            assert [part.tolist() for part in (cells.alone, cells.alone_means, cells.alone_squares)] == alone


@given(MEASUREMENTS, MEASUREMENTS, st.randoms(use_true_random=False))
def test_blocks_are_those_of_a_plain_list_and_removals_leave_no_trace(kept, gone, random):
    steps = [(True, each) for each in kept + gone]
    random.shuffle(steps)
    blocks = Blocks(3, 2)
    for _, each in steps:
        blocks.add(*each)
    for each in gone:
        assert blocks.remove(*each)
    assert len(blocks) == len(kept)
    assert blocks.counts.tolist() == [sum(arm == each for each, *_ in kept) for arm in range(3)]
    same(blocks, kept)
    plain = Blocks(3, 2)
    for each in kept:
        plain.add(*each)
    assert blocks.to_list() == plain.to_list()
    again = Blocks.from_list(json.loads(json.dumps(blocks.to_list())), 3, 2)
    assert again.to_list() == blocks.to_list()
    same(again, kept)


@given(MEASUREMENTS, MEASUREMENTS)
def test_a_copy_goes_its_own_way(first, more):
    import copy

    blocks = Blocks(3, 2)
    for each in first:
        blocks.add(*each)
    copied = copy.deepcopy(blocks)
    for each in more:
        blocks.add(*each)
    for each in first[: len(first) // 2]:
        copied.remove(*each)
    same(blocks, first + more)
    same(copied, first[len(first) // 2 :])


def test_what_is_not_there_cannot_be_removed():
    blocks = Blocks(2, 1)
    blocks.add(0, 3, [1.0])
    assert not blocks.remove(0, 3, [2.0])
    assert not blocks.remove(0, 4, [1.0])
    assert not blocks.remove(0, None, [1.0])
    assert not blocks.remove(1, 3, [1.0])
    assert blocks.remove(0, "3.0", [1.0])


def test_an_option_that_joined_has_blocks_too():
    blocks = Blocks(1, 1)
    blocks.add_option()
    blocks.add(1, "x", [2.0])
    assert blocks.cells([0, 1], 0).counts.tolist() == [[0, 1]]


def test_numbers_and_their_texts_are_the_same_block():
    assert {as_block(value) for value in (3, 3.0, "3", "3.0", " 3 ", "3e0", np.float64(3))} == {3}
    assert as_block("03") == "03"
    assert as_block("1e999") == "1e999"
    assert as_block("nan") == "nan"


@pytest.mark.parametrize(
    "change",
    [
        lambda names, rows: (names[:1], rows),
        lambda names, rows: ([*names, "nobody"], rows),
        lambda names, rows: ([names[0]] * 2, rows),
        lambda names, rows: ([names[0], "3"], rows),
        lambda names, rows: (names, rows[:1]),
        lambda names, rows: (names, [rows[0], [rows[1][0], rows[0][1]]]),
        lambda names, rows: (names, [rows[0], ["!", rows[1][1]]]),
    ],
)
def test_what_no_blocks_can_be_is_refused(change):
    blocks = Blocks(2, 1)
    for each in ((0, 1, [1.0]), (0, "x", [2.0]), (1, "x", [3.0])):
        blocks.add(*each)
    names, rows = blocks.to_list()
    with pytest.raises(ValueError):  # noqa: PT011 -- each says something else
        Blocks.from_list(list(change(names, rows)), 2, 1)


# Blocks of states.


def measured_by_block(study):
    """The valid measurements of a study, with their blocks, literally."""
    pairing = study.definition.pairing
    rows = [row for row in study.measurements() if row["status"] == "told"]
    return [(study.options.index(row["option"]), row.get(pairing), (row["m"], row["t"])) for row in rows]


def eventful(study, seed, steps=60):
    rng = np.random.default_rng(seed)
    for _ in range(steps):
        action, numbers = rng.random(), [row["number"] for row in study.measurements() if row["status"] == "told"]
        if action < 0.6 or not numbers:
            for todo in study.ask(3):
                plate = {} if rng.random() < 0.2 else {"plate": [1, "1", 2.0, "x"][rng.integers(4)]}
                value = None if rng.random() < 0.2 else float(rng.integers(3))
                study.tell(todo.number, {"m": float(rng.integers(3)), "t": value, **plate})
        elif action < 0.75:
            study.void(int(rng.choice(numbers)), "wrong")
        elif action < 0.9:
            study.correct(int(rng.choice(numbers)), {"m": float(rng.integers(9))}, "misread")
        elif action < 0.95:
            study.add([("a", {"m": 1.0, "t": 2.0, "repeat": int(rng.integers(5)), "plate": 7}), ("b", [1.0, 2.0])])
        elif len(study.options) < 5:
            study.add_option(f"new {len(study.options)}", {"dose": 9})
    return study


@pytest.mark.sample(3)
@pytest.mark.parametrize("pairing", ["repeat", "plate"])
@pytest.mark.parametrize("seed", range(4))
def test_a_state_has_the_blocks_of_its_valid_measurements(pairing, seed):
    study = eventful(new(pairing, confidence=0.999), seed)
    state, definition = study._live.state, study._live.definition
    expected = Blocks(len(study.options), 2)
    for each in measured_by_block(study):
        expected.add(*each)
    assert len(expected) == state.used > 10
    assert state.blocks.to_list() == expected.to_list()
    events = study.events()
    for parts in ([events], [[event] for event in events], [events[:20], events[20:]]):
        other = new_state(definition)
        for part in parts:
            other.apply(part)
        assert other.to_dict() == state.to_dict()
        assert restore_state(definition, json.loads(json.dumps(other.to_dict()))).to_dict() == state.to_dict()


def test_a_state_as_it_was_when_it_was_looked_at_has_its_blocks():
    study = new(budget=200, confidence=0.999)
    while study.used < 120:
        for todo in study.ask(1):
            study.tell(todo.number, [float(todo.number % 5), 1.0])
        state = study._live.state
        before = state.when_last_looked_at()
        assert np.array_equal(before.blocks.counts, before.sums.counts)
        if state.at_last_look is not None:
            literal = new_state(study._live.definition)
            literal.apply(study.events()[: state.at_last_look[0]])
            assert literal.blocks.to_list() == before.blocks.to_list()
            assert literal.sums.to_list() == before.sums.to_list()
            assert len(before.blocks) < len(state.blocks)


def test_a_checkpoint_without_its_blocks_is_refused():
    study = eventful(new(), 1)
    saved = json.loads(json.dumps(study._live.state.to_dict()))
    saved["blocks"][1][0] = Blocks(1, 2).to_list()[1][0]
    with pytest.raises(pp.InvalidInput, match="cannot be read"):
        restore_state(study._live.definition, saved)
    del saved["blocks"]
    with pytest.raises(pp.InvalidInput, match="the pairing is 'repeat'"):
        restore_state(study._live.definition, saved)


def test_logarithms_are_in_the_blocks_where_they_are_compared():
    study = new(metrics={"m": "max~5%", "t": "min"})
    study.add([("a", {"m": math.e, "t": 2.0, "repeat": 0})])
    cells = study._live.state.blocks.cells([0], 0)
    assert cells.means.tolist() == [[1.0]]


def test_values_that_are_far_off_are_found_where_measurements_share_blocks():
    study = new("plate")
    numbers = study.add([("a", {"m": n % 3, "t": 1.0, "plate": n % 2}) for n in range(20)] + [("b", [1.0, 1.0])] * 4)
    (wrong,) = study.add([("a", {"m": 1e6, "t": 1.0, "plate": 1})])
    study.correct(wrong, {"m": 2e6}, "worse")
    assert [each.number for each in study.far_off([*numbers, wrong])] == [wrong]
    assert any(f"of measurement {wrong} is" in note for note in study.result().notes)
