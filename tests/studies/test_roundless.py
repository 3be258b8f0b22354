"""Studies without rounds: what is asked for next, and the answer, follow from all valid data and from nothing else."""

import json
import random

import numpy as np
import pytest

import paretopick as pp
from paretopick.errors import BudgetTooSmall, InvalidInput, NotDue
from paretopick.studies.state import new_state, restore_state
from support.eventful_studies import POLICIES, eventful, new_study
from support.twin import DataTwin

pytestmark = pytest.mark.slow

ROUNDLESS = [policy for policy in POLICIES if policy[0] in ("apt", "doubt")]
METRICS = {"quality": "max", "cost": "min"}
TRUTH = {"a": (9.0, 9.0), "b": (5.0, 2.0), "c": (3.0, 8.0), "d": (1.0, 1.0), "e": (9.5, 0.5)}  # c is dominated by b, all by e

every_policy = pytest.mark.parametrize("policy", ROUNDLESS, ids=lambda policy: f"{policy[0]} {policy[1] or ''}")


def create(storage="sqlite://", name="s", **changes) -> pp.Study:
    given = {"options": list("abcd"), "metrics": METRICS, "budget": 60, "storage": storage}
    return pp.Study.create(name, **given | changes)


def measure(todo: pp.Measurement) -> dict[str, float]:
    noise = np.random.default_rng(todo.number).normal(0, 0.5, 2)
    return dict(zip(METRICS, np.add(TRUTH[todo.option], noise).tolist(), strict=True))


def finish(study: pp.Study) -> pp.Study:
    while not study.done:
        for todo in study.ask():
            study.tell(todo.number, measure(todo))
    return study


def data(study: pp.Study) -> str:
    """The whole state but for the position, and for what failed."""
    saved = study._state.to_dict()
    return json.dumps({key: value for key, value in saved.items() if key not in ("position", "failed")})


def next_options(study: pp.Study, n: int = 12) -> list[int]:
    return study._state.proposals(n, {})


def test_the_default_policy_needs_no_rounds(storage):
    study = finish(create(storage))
    assert study.definition.policy == "doubt"
    assert study.used == study.budget == 60
    assert study.result().pareto == ("a", "b", "d")
    assert {event.round for event in study.events()} == {1}


@every_policy
@pytest.mark.parametrize("seed", range(8))
def test_the_state_is_the_data_taken_literally(policy, seed):
    study = eventful(new_study(policy, seed), seed)
    state, twin = study._state, DataTwin(study._live.definition, study.events())
    assert (list(study.options), state.budget, set(state.retired)) == (twin.options, twin.budget, twin.retired)
    assert state.counts.tolist() == [len(entries) for entries in twin.counted]
    np.testing.assert_array_equal(state.means(), twin.means())
    np.testing.assert_array_equal(state.variances(), twin.variances())
    incomplete = any(None in row for entries in twin.counted for _, row in entries)
    assert incomplete != state.sums.complete
    if not incomplete and state.present:
        assert state.policy.next_arms(7).tolist() == twin.policy.next_arms(7).tolist()


@every_policy
@pytest.mark.parametrize("seed", range(4))
def test_the_order_of_events_leaves_no_trace(policy, seed):
    """Any order in which nothing happens to a measurement, or to an option, before it is there."""
    study = eventful(new_study(policy, seed), seed, steps=150)
    events, rng = study.events(), random.Random(seed)
    for _ in range(4):
        queues: dict[object, list] = {}
        for event in events:
            about = ("measurement", event.number) if event.number is not None else "options"
            queues.setdefault(about, []).append(event)
        state = new_state(study._live.definition)
        n_options = len(state.definition.options)
        while queues:
            ready = [key for key, queue in queues.items() if (queue[0].arm or 0) < n_options or queue[0].kind == "joined"]
            chosen = rng.choice(ready)
            event = queues[chosen].pop(0)
            if not queues[chosen]:
                del queues[chosen]
            state.apply([event])
            n_options = len(state.definition.options)
        state.position = study._state.position
        assert json.dumps(state.to_dict()) == json.dumps(study._state.to_dict())
        assert state.proposals(9, {1: 2}) == study._state.proposals(9, {1: 2})
        assert state.front() == study._state.front()


def test_the_same_data_by_other_ways_ask_for_the_same(storage):
    """Told, imported, corrected, taken back, late, of an option that came later: the data are the same."""
    rng = np.random.default_rng(0)
    rows = [(option, tuple(rng.normal(TRUTH[option], 0.5))) for option in "abcde" * 3]
    plain = create(storage, "plain", options=list("abcde"))
    plain.add([(rows[0][0], dict(zip(plain.metrics, rows[0][1], strict=True)) | {"repeat": 0}), *rows[1:]])
    other = create(storage, "other", budget=30)
    other.add_option("e")
    other.extend(budget=60)
    (first,) = other.ask(1, worker="slow")
    assert first.option == "a"
    other.retire("b", "lost")
    other.add([row for row in rows[1:] if row[0] != "b"])
    other.reinstate("b", "found")
    (wrong,) = other.add([("c", (0.0, 0.0))])
    numbers = other.add([("b", (1e9, 0.0))] * 3)
    for number, (_, values) in zip(numbers, [row for row in rows if row[0] == "b"], strict=True):
        other.correct(number, values, "in the wrong unit")
    other.void(wrong, "the wrong sample")
    other.tell(first.number, rows[0][1])
    assert data(plain) == data(other).replace('"joined": [["e", {}]]', '"joined": []').replace(
        json.loads(data(other))["study"], json.loads(data(plain))["study"]
    )
    assert next_options(plain) == next_options(other)
    assert plain.result().pareto == other.result().pareto


# The six blockers of the first release (what people stumbled over when they tried it on real things).


def test_blocker_1_no_decision_stands_against_the_data(storage):
    """An option that looks bad in its first measurements, and is the best, is in the answer once the data say so."""
    study = create(storage, budget=200)
    study.add([("a", (0.0, 20.0)), ("a", (0.2, 20.0)), *(("b", (5.0, 2.0 + i)) for i in range(4))])
    study.add([("c", (3.0, 8.0 + i)) for i in range(3)] + [("d", (1.0, 1.0 + i / 10)) for i in range(3)])
    assert "a" not in study.result().pareto
    study.add([("a", (9.0 + i / 10, 9.0)) for i in range(40)])
    assert "a" in study.result().pareto


def test_blocker_2_the_budget_can_grow(storage):
    study = finish(create(storage, budget=20))
    assert study.ask() == []
    study.extend(budget=30)
    assert not study.done
    assert finish(study).used == 30
    with pytest.raises(InvalidInput, match="less than the 30"):
        study.extend(budget=25)


def test_blocker_3_options_can_be_added(storage):
    study = finish(create(storage, budget=40))
    study.add_option("e")
    study.add_option("e")  # once more is harmless
    assert study.options == ("a", "b", "c", "d", "e")
    assert pp.Study.open("s", storage=storage).options == study.options
    study.extend(budget=60)
    assert [todo.option for todo in study.ask(2)] == ["e", "e"]
    finish(study)
    assert study.result().pareto == ("e",)
    with pytest.raises(InvalidInput, match="there is an option 'a' already"):
        study.add_option("a", {"level": 3})


def test_an_option_that_came_later_does_not_hide_what_is_known_of_the_others(storage):
    study = finish(create(storage, budget=40))
    before = study.result()
    study.add_option("e")
    result = study.result()
    assert result.pareto == before.pareto
    assert [row.probability for row in result.options[:4]] == [row.probability for row in before.options]
    newcomer = result.options[4]
    assert (newcomer.status, newcomer.in_answer, newcomer.probability) == ("open", False, None)
    assert "'e' has no measurements; the answer is about the others." in result.notes
    assert result.next_step == "'e' has to be measured first."
    assert study.progress(guess=True).best_guess == before.pareto


def test_blocker_4_what_is_imported_counts(storage):
    study = create(storage, budget=30)
    study.add([(option, TRUTH[option]) for option in "abcd" for _ in range(5)])
    assert study.used == 20
    assert {row.option: row.measurements for row in study.result().options} == dict.fromkeys("abcd", 5)
    assert not any("more than asked for" in note for note in study.result().notes)
    assert len(study.ask(100)) == 10
    more = study.add([("a", TRUTH["a"])] * 30)  # beyond the budget, and data nevertheless
    assert len(more) == 30
    assert study.used == 50
    assert study.done


def test_blocker_5_a_correction_reaches_the_answer(storage):
    study = create(storage, options=["x", "y"], budget=20)
    numbers = study.add([("x", (5.0, 5.0 + i / 100)) for i in range(6)] + [("y", (50.0, 4.0 + i / 100)) for i in range(6)])
    assert study.result().pareto == ("y",)
    for number in numbers[6:]:
        assert study.correct(number, {"quality": 0.5, "cost": 40.0}, "kg for t")
    assert not study.correct(numbers[-1], (0.5, 40.0), "the same again")
    assert not study.correct(numbers[-1], {"cost": 40.0}, "of one metric alone")
    with pytest.raises(InvalidInput, match="needs a reason"):
        study.correct(numbers[-1], {"cost": 41.0})
    assert study.result().pareto == ("x",)
    assert study.used == 12
    rows = study.measurements()
    assert rows[-1]["quality"] == 0.5
    assert rows[-1]["why"] == "corrected: kg for t"
    kinds = [event.kind for event in study.events()]
    assert kinds.count("corrected") == 6
    study.void(numbers[-1], "after all")
    assert study.used == 11
    with pytest.raises(NotDue, match="was voided already"):
        study.correct(numbers[-1], (1.0, 1.0), "too late")


def test_blocker_6_one_missing_metric_does_not_discard_the_others(storage):
    study = create(storage, budget=30)
    for todo in study.ask(16):
        row = measure(todo)
        study.tell(todo.number, row | {"cost": None} if todo.option == "a" and todo.number > 4 else row)
    result = {row.option: row for row in study.result().options}
    assert result["a"].measurements == 4
    sample = [row["quality"] for row in study.measurements() if row["option"] == "a"]
    assert result["a"].means["quality"] == pytest.approx(np.mean(sample))
    assert [row["cost"] for row in study.measurements() if row["option"] == "a"][1:] == [None] * 3
    assert pp.Study.open("s", storage=storage).result() == study.result()
    with pytest.raises(InvalidInput, match=r"there is no value for metric 'cost'.*None for what could not be measured"):
        study.tell(study.ask()[0].number, {"quality": 1.0})
    with pytest.raises(InvalidInput, match="has no value at all; report it as failed"):
        study.tell(study.ask()[0].number, (None, None))


def test_a_metric_that_an_option_lacks_altogether_does_not_stop_the_study():
    study = create(budget=40)
    while not study.done:
        for todo in study.ask():
            study.tell(todo.number, measure(todo) | ({"cost": None} if todo.option == "a" else {}))
    counts = {row.option: row.measurements for row in study.result().options}
    assert sum(counts.values()) == 40
    assert min(counts.values()) >= 2


def test_rounds_need_all_metrics_and_their_options_and_budget(storage):
    study = create(storage, policy="ege-sr")
    (todo,) = study.ask()
    with pytest.raises(InvalidInput, match=r"metric 'cost' is missing, and ege-sr compares options in rounds.*apt or doubt take"):
        study.tell(todo.number, (1.0, None))
    for act in (
        lambda: study.extend(budget=100),
        lambda: study.add_option("z"),
        lambda: study.reinstate("a"),
    ):
        with pytest.raises(InvalidInput, match=r"the rounds of ege-sr are planned .* only a study with apt or doubt can"):
            act()
    assert study.events() == []


def test_exact_values_are_equal_however_often_they_were_measured():
    """A sum of three 0.1 divided by 3 is not 0.1: equal prices would differ beyond doubt."""
    study = create(options=["a", "b", "c"], metrics={"quality": "max", "price": "min"}, exact=["price"])
    study.add([("a", (1.0, 0.1))] * 3 + [("b", (1.1, 0.1)), ("b", (1.3, 0.1))] + [("c", (0.5, 0.3))] * 6)
    assert study._state.policy.means[:, 1].tolist() == [-0.1, -0.1, -0.3]


# Workers.


def test_workers_are_sent_to_different_places(storage):
    """What is out counts as if it had come in: eight who ask one by one get what one gets who asks for eight."""
    study = create(storage, budget=100)
    study.add([(option, np.random.default_rng(i).normal(TRUTH[option], 0.5)) for i, option in enumerate("abcd" * 4)])
    at_once = [todo.option for todo in study.ask(8)]
    study.release()
    one_by_one = [study.ask(1, worker=f"w{i}")[0].option for i in range(8)]
    assert sorted(at_once) == sorted(one_by_one)
    assert len(set(one_by_one)) > 1


def test_there_is_always_something_to_hand_out_until_the_budget_is_out(storage):
    study = create(storage, budget=25)
    todos = [study.ask(1, worker=f"w{i}") for i in range(40)]  # nobody has told anything
    assert [len(todo) for todo in todos] == [1] * 25 + [0] * 15
    counts = np.unique([todo[0].option for todo in todos if todo], return_counts=True)[1]
    assert counts.max() - counts.min() <= 1
    for todo in todos[:25]:
        study.tell(todo[0].number, measure(todo[0]))
    assert study.done
    assert study.used == 25


def test_a_slow_first_measurement_holds_nobody_up():
    study = create(budget=60)
    (slow,) = study.ask(1, worker="slow")
    for _ in range(30):
        (todo,) = study.ask(1, worker="quick")
        study.tell(todo.number, measure(todo))
    counts = study._state.counts
    assert counts.sum() == 30
    assert counts[study.options.index(slow.option)] <= 2
    study.tell(slow.number, measure(slow))
    finish(study)
    assert study.result().pareto == ("a", "b", "d")


def test_a_void_gives_its_measurement_back_to_the_budget(storage):
    study = finish(create(storage, budget=20))
    (gone,) = study.void(3, "spilt")
    assert gone == 3
    assert not study.done
    assert len(study.ask(5)) == 1


def test_options_that_are_retired_are_not_asked_for_and_come_back_with_their_data(storage):
    study = create(storage, budget=80)
    study.add([(option, TRUTH[option]) for option in "abcd" for _ in range(3)])
    study.retire("b", "sold out")
    assert "b" not in {todo.option for todo in study.ask(20)}
    assert "b" not in study.result().pareto
    study.reinstate("b", "in stock again")
    assert next(row for row in study.result().options if row.option == "b").measurements == 3
    with pytest.raises(InvalidInput, match="option 'b' is not retired"):
        study.reinstate("b")


def test_what_is_guessed_on_the_way_is_what_the_result_says():
    study = create(budget=40)
    while not study.done:
        for todo in study.ask():
            study.tell(todo.number, measure(todo))
        if study.used > 12:
            shown, said = study.progress(guess=True).best_guess, study.result()
            unclear = {row.option for row in said.options if 0.45 < row.probability < 0.55}
            assert set(shown) ^ set(said.pareto) <= unclear
            doubt = study.status()["doubt"]
            wrong = {row.option: 1 - row.probability if row.in_answer else row.probability for row in said.options}
            assert doubt == pytest.approx(wrong)


def test_a_value_that_is_far_off_is_named_by_the_result_too(storage):
    study = create(storage, budget=60)
    study.add([(option, np.random.default_rng(i).normal(TRUTH[option], 0.5)) for i, option in enumerate("abcd" * 4)])
    assert study.result().notes == ()
    (number,) = study.add([("b", (5120.0, 2.0))])
    (note,) = (note for note in study.result().notes if "standard deviations" in note)
    assert note.startswith(f"quality=5120 of measurement {number} is")
    assert note.endswith("correct or void it if it is wrong.")
    study.correct(number, {"quality": 5.12}, "g for kg")
    assert study.result().notes == ()


# Many at once, and values beside the metrics.


def test_many_results_are_told_at_once_or_not_at_all(storage):
    study = create(storage)
    todos = study.ask(6)
    rows = np.array([list(measure(todo).values()) for todo in todos])
    with pytest.raises(InvalidInput, match="5 rows of values"):
        study.tell([todo.number for todo in todos], rows[:5])
    with pytest.raises(InvalidInput, match="nan"):
        study.tell([todo.number for todo in todos], np.where(np.arange(12).reshape(6, 2) == 7, np.nan, rows))
    assert study.used == 0
    study.tell([todo.number for todo in todos], rows)
    study.tell(np.array([todo.number for todo in todos]), rows.tolist())  # the same again is harmless
    assert study.used == 6


def test_values_beside_the_metrics_are_kept_and_can_be_voided_by(storage):
    study = create(storage)
    for todo in study.ask(12):
        study.tell(todo.number, measure(todo) | {"plate": todo.number % 3, "operator": "Ä", "note": None})
    rows = pp.Study.open("s", storage=storage).measurements()
    assert [row["plate"] for row in rows] == [number % 3 for number in range(1, 13)]
    assert {row["operator"] for row in rows} == {"Ä"}
    assert "note" not in rows[0]
    assert study.find({"plate": "2", "option": "b"}) == [2]
    assert study.void(where={"plate": 2}, why="the plate was dirty") == [2, 5, 8, 11]
    assert study.used == 8
    with pytest.raises(InvalidInput, match="no valid measurement has plate=2"):
        study.void(where={"plate": 2}, why="again")
    with pytest.raises(InvalidInput, match=r"'plat'.*did you mean 'plate'"):
        study.find({"plat": 2})
    with pytest.raises(InvalidInput, match="'worker' is a column that tables have already"):
        study.tell(study.ask()[0].number, measure(study.ask()[0]) | {"worker": "x"})


def test_many_are_voided_together_or_not_at_all(storage):
    study = create(storage)
    todos = study.ask(5)
    for todo in todos[:4]:
        study.tell(todo.number, measure(todo))
    with pytest.raises(NotDue, match="measurement 5 was not told yet"):
        study.void([1, 2, 5], "all wrong")
    assert study.used == 4
    assert study.void([1, 2], "both wrong") == [1, 2]
    assert study.used == 2
    with pytest.raises(InvalidInput, match="needs numbers of measurements, or where="):
        study.void(why="?")


@pytest.mark.parametrize("seed", range(4))
def test_checkpoints_hold_all_of_it(seed):
    study = eventful(new_study(("doubt", {}), seed), seed)
    saved = json.loads(json.dumps(study._state.to_dict()))
    again = restore_state(study._live.definition, saved)
    assert again.to_dict() == study._state.to_dict()
    assert again.definition.options == study.options
    for key, value in (
        ("budget", 1),
        ("joined", [["o1", {}]]),
        ("sums", saved["sums"][1:]),
        ("position", 1),
        ("retired", [[99, ""]]),
    ):
        with pytest.raises(InvalidInput, match="cannot be read"):
            restore_state(study._live.definition, saved | {key: value})


def test_requests_count_once(storage):
    study = create(storage)
    numbers = study.add([("a", (1.0, 1.0)), ("b", (2.0, 2.0))])
    for _ in range(2):
        study.correct(numbers[0], (3.0, 3.0), "misread", request="c1")
        study.add_option("z", request="o1")
        study.retire("b", "gone", request="r1")
        study.reinstate("b", "back", request="i1")
        study.void(numbers, "all wrong", request="v1")
    assert [event.kind for event in study.events()] == [
        *("imported", "told", "told", "corrected", "joined", "retired", "reinstated", "voided", "voided")
    ]
    with pytest.raises(InvalidInput, match="request='o1' was used before, for another option"):
        study.add_option("y", request="o1")


def test_a_budget_too_small_for_the_first_measurements_is_refused():
    with pytest.raises(BudgetTooSmall, match="doubt needs 8 measurements or more for 4 options"):
        create(budget=7)
