"""Study, in memory, on SQLite and on PostgreSQL."""

import json
import threading
import time

import numpy as np
import pytest

import paretopick as pp
from paretopick.events import Checkpoint
from paretopick.studies import live
from support.twin import replayed_answer

pytestmark = pytest.mark.slow

OPTIONS = ["a", "b", "c", "d"]
METRICS = {"quality": "max", "cost": "min"}
TRUTH = {"a": (9.0, 9.0), "b": (5.0, 2.0), "c": (3.0, 8.0), "d": (1.0, 1.0)}  # c is dominated by b
FRONT = ("a", "b", "d")
GIVEN = {"options": OPTIONS, "metrics": METRICS, "budget": 60, "policy": "ege-sr"}  # in rounds; test_roundless.py has the others


def create(storage, name="s", **changes) -> pp.Study:
    return pp.Study.create(name, **{**GIVEN, "storage": storage, **changes})


def measure(todo: pp.Measurement) -> tuple[float, float]:
    noise = np.random.default_rng(todo.number).normal(0, 0.5, 2)
    return tuple(np.add(TRUTH[todo.option], noise).tolist())


def finish(study: pp.Study, **options) -> pp.Study:
    while not study.done:
        for todo in study.ask(**options):
            study.tell(todo.number, measure(todo))
    return study


def open_again(study: pp.Study, storage) -> pp.Study:
    return pp.Study.open(study.name, storage=storage)


def test_a_study_from_the_first_question_to_the_answer(storage):
    study = finish(create(storage))
    result = study.result()
    assert result.done
    assert result.pareto == FRONT
    assert study.used == result.used == study.definition.new_policy().schedule.cost <= 60
    assert list(result.pareto) == replayed_answer(study)
    assert study.ask() == []
    assert study.ask(5, worker="other") == []
    assert {row["option"]: row["status"] for row in result.table} == dict.fromkeys(FRONT, "pareto") | {"c": "dominated"}


def test_means_are_in_the_units_and_the_direction_of_the_user(storage):
    study = finish(create(storage))
    rows = {option: [] for option in OPTIONS}
    for row in study.measurements():
        rows[row["option"]].append((row["quality"], row["cost"]))
    for option in study.result().options:
        sample = np.array(rows[option.option])
        assert option.measurements == len(sample)
        assert list(option.means.values()) == pytest.approx(sample.mean(axis=0))
        assert list(option.standard_errors.values()) == pytest.approx(sample.std(axis=0, ddof=1) / np.sqrt(len(sample)))


def test_asking_only_reserves_and_options_take_turns(storage):
    study = create(storage)
    first = study.ask(6)
    assert [todo.option for todo in first] == ["a", "b", "c", "d", "a", "b"]
    assert [todo.number for todo in first] == [1, 2, 3, 4, 5, 6]
    assert {todo.round for todo in first} == {1}
    assert study.used == 0


def test_the_same_worker_gets_its_own_back_first(storage):
    study = create(storage)
    mine = study.ask(3, worker="w1")
    others = study.ask(2, worker="w2")
    assert not {todo.number for todo in mine} & {todo.number for todo in others}
    again = open_again(study, storage).ask(5, worker="w1")  # another process, after a crash
    assert [todo.number for todo in again[:3]] == [todo.number for todo in mine]
    assert [todo.option for todo in again[:3]] == [todo.option for todo in mine]
    assert [todo.number for todo in again[3:]] == [6, 7]
    assert [todo.number for todo in study.ask(1, worker="w2")] == [others[0].number]
    assert study.ask(0) == []


def test_a_lease_that_ran_out_is_handed_out_again_under_its_number(storage):
    study = create(storage)
    (late,) = study.ask(worker="slow", lease=0.05)
    time.sleep(0.1)
    (again,) = study.ask(worker="quick")
    assert (again.number, again.option) == (late.number, late.option)
    study.tell(again.number, (1.0, 2.0))
    study.tell(late.number, (1.0, 2.0))  # the same values: harmless
    with pytest.raises(pp.AlreadyTold, match=r"measurement 1 was already told quality=1, cost=2; .*Correct it"):
        study.tell(late.number, (1.0, 3.0))
    assert study.used == 1
    assert len(study.events()) == 1


def test_whoever_takes_over_a_lease_has_it_for_as_long_as_it_was_asked_for(url):
    study = create(url)
    others = open_again(study, url)  # with a connection of its own
    (late,) = study.ask(worker="slow", lease=0.05)
    time.sleep(0.1)
    (taken,) = study.ask(worker="quick", lease=1000)
    assert taken.number == late.number
    assert others.ask(worker="third", lease=1000)[0].number == 2  # not the first, which runs out much later now
    (lease, _) = others.status()["out"]
    assert (lease["number"], lease["worker"]) == (1, "quick")
    assert 900 < lease["seconds_left"] <= 1000
    study.ask(worker="quick", lease=0.05)  # one's own, for less
    time.sleep(0.1)
    assert others.ask(2, worker="third", lease=1000)[1].number == 1


def test_whoever_lost_a_lease_cannot_fail_the_measurement_of_others(storage):
    study = create(storage)
    (late,) = study.ask(worker="slow", lease=0.05)
    time.sleep(0.1)
    study.ask(worker="quick")
    study.fail(late.number, "it broke for me", worker="slow")
    study.tell(late.number, (1.0, 2.0), worker="quick")
    assert [(event.kind, event.worker) for event in study.events()] == [("told", "quick")]


def test_a_late_result_counts_if_nobody_else_was_quicker(storage):
    study = create(storage)
    (late,) = study.ask(worker="slow", lease=0.05)
    time.sleep(0.1)
    study.ask(worker="quick")
    study.tell(late.number, (1.0, 2.0))
    with pytest.raises(pp.AlreadyTold):
        study.tell(late.number, (9.0, 9.0))
    assert study.used == 1


def test_leases_can_be_without_end_and_can_be_renewed_and_released(storage):
    study = create(storage)
    (forever,) = study.ask(worker="lab", lease=None)
    assert forever.expires is None
    (short,) = study.ask(worker="w", lease=0.2)
    assert study.renew(short.number, forever.number, worker="w", lease=1000) == [short.number]
    time.sleep(0.3)
    assert study.ask(2, worker="w")[0].number == short.number
    assert study.ask(worker="x")[0].number == 4  # neither ran out
    study.release(short.number, forever.number, worker="w")
    assert study.renew(short.number, worker="w") == []
    with pytest.raises(pp.NotDue, match="measurement 2 was given back"):
        study.tell(short.number, (1, 1))
    assert [row["number"] for row in study.status()["out"]] == [1, 3, 4]


def test_at_the_end_of_a_round_there_is_nothing_to_ask_until_others_have_told(storage):
    study = create(storage)
    everything = study.ask(1000, worker="w1")
    assert study.ask(worker="w2") == []
    assert not study.done
    for todo in everything[1:]:
        study.tell(todo.number, measure(todo))
    assert study.ask(worker="w2") == []
    study.tell(everything[0].number, measure(everything[0]))
    (next_one,) = study.ask(worker="w2")
    assert next_one.round == 2


def test_failures_leave_the_option_due_and_are_kept(storage):
    study = create(storage)
    (todo,) = study.ask()
    due = study.status()["due"]
    study.fail(todo.number, "the tube broke", output="glass everywhere")
    study.fail(todo.number, "once more")  # harmless
    assert study.status()["due"] == due
    assert study.status()["failed"] == 1
    (again,) = study.ask()
    assert (again.option, again.number) == (todo.option, todo.number + 1)
    with pytest.raises(pp.NotDue, match=r"measurement 1 was failed \(the tube broke\); ask for a new one"):
        study.tell(todo.number, (1, 1))
    row = study.measurements()[0]
    assert (row["status"], row["why"], row["quality"]) == ("failed", "the tube broke", None)
    assert study.events()[0].details["output"] == "glass everywhere"
    study.tell(again.number, (1, 1))
    with pytest.raises(pp.NotDue, match="measurement 2 was told already; void it"):
        study.fail(again.number, "too late")


def test_void_in_the_open_round_makes_the_measurement_due_again(storage):
    study = create(storage)
    (todo,) = study.ask()
    study.tell(todo.number, (100, 100))
    due = study.status()["due"]
    study.void(todo.number, "wrong dose")
    assert study.used == 0
    assert study.status()["due"] == due + 1
    with pytest.raises(pp.NotDue, match=r"measurement 1 was voided \(wrong dose\)"):
        study.tell(todo.number, (1, 1))
    with pytest.raises(pp.NotDue, match="was voided already"):
        study.void(todo.number, "again")
    finish(study)
    assert study.used == study.definition.new_policy().schedule.cost
    (left,) = study.result().notes
    assert left.startswith(f"{study.budget - study.used} measurements of the budget are left over: in a round all options")
    assert study.measurements()[0]["status"] == "voided"


def test_void_after_the_round_changes_the_means_and_no_decision_and_the_result_says_so(storage):
    study = create(storage)
    while study.status()["round"] == 1:
        for todo in study.ask():
            study.tell(todo.number, measure(todo))
    (gone,) = (row for row in study.result().options if row.left_in_round)
    wrong = next(row["number"] for row in study.measurements() if row["option"] == gone.option)
    before = study.used
    study.void(wrong, "mixed up")
    after = next(row for row in study.result().options if row.option == gone.option)
    assert after.measurements == gone.measurements - 1
    assert after.means != gone.means
    assert (after.status, after.left_in_round) == (gone.status, gone.left_in_round)
    assert study.used == before - 1
    assert study.result().notes == (
        f"measurement {wrong} left the means after the round was closed; what was decided with them stands.",
    )
    finish(study)
    assert study.used == study.definition.new_policy().schedule.cost - 1


@pytest.mark.parametrize("row", [(1.0, 2.0), (3.0, 4.0)])
def test_telling_what_was_voided_is_refused_even_with_the_same_values(storage, row):
    study = create(storage)
    (todo,) = study.ask()
    study.tell(todo.number, (1.0, 2.0))
    study.void(todo.number, "the wrong cable")
    with pytest.raises(pp.NotDue, match=r"measurement 1 was voided \(the wrong cable\); ask for a new one"):
        study.tell(todo.number, row)
    assert study.used == 0
    assert [event.kind for event in study.events()] == ["told", "voided"]


def test_void_needs_something_that_was_told(storage):
    study = create(storage)
    (todo,) = study.ask()
    with pytest.raises(pp.NotDue, match="was not told yet; report it as failed"):
        study.void(todo.number, "?")
    study.fail(todo.number, "x")
    with pytest.raises(pp.NotDue, match="measurement 1 was failed already"):
        study.void(todo.number, "?")
    with pytest.raises(pp.NotDue, match=r"measurement 99 was never handed out; .* the last one was 1"):
        study.void(99, "?")


def test_a_retired_option_is_never_asked_again_and_not_in_the_answer(storage):
    study = create(storage)
    todos = study.ask(4)
    study.retire("a", "no longer made")
    assert {todo.option for todo in study.ask(1000)} == {"b", "c", "d"}
    study.tell(todos[0].number, (1, 1))  # was on its way: kept, and does not count
    assert study.used == 0
    finish(study, n=1000)
    result = study.result()
    assert result.pareto == ("b", "d")
    assert "'a' was retired: no longer made" in result.notes
    assert "1 measurement more than the rounds have asked for is not in the means (yet)." in result.notes
    assert result.options[0].status == "retired"
    with pytest.raises(pp.InvalidInput, match="'a' was retired already: no longer made"):
        study.retire("a", "again")
    with pytest.raises(pp.UnknownName, match="no option named 'e'"):
        study.retire("e", "?")


def test_when_enough_is_found_the_answer_is_that_and_a_retired_one_is_replaced(storage):
    study = finish(create(storage, policy=("ege-sr-k", {"max_arms": 1}), budget=200))
    (found,) = study.result().pareto
    assert study.result().status[found] == "pareto"
    assert [option for option, is_in in study.result().in_answer.items() if is_in] == [found]
    study.retire(found, "no longer made")
    assert not study.done
    (other,) = finish(study).result().pareto
    assert other != found
    assert other in FRONT
    assert study.used <= 200


def test_retiring_all_but_one_and_all_ends_the_study(storage):
    study = create(storage)
    for option in ("a", "b", "c"):
        study.retire(option, "gone")
    finish(study)
    assert study.result().pareto == ("d",)
    other = create(storage, "other")
    for option in OPTIONS:
        other.retire(option, "gone")
    assert other.done
    assert other.result().pareto == ()


def test_measurements_made_before_count(storage):
    study = create(storage)
    per_option = study.status()["due"] // 4
    rng = np.random.default_rng(0)
    before = [(option, rng.normal(TRUTH[option], 0.5)) for option in ("a", "b") for _ in range(per_option + 2)]
    numbers = study.add(before)
    assert numbers == list(range(1, 2 * per_option + 5))
    assert study.used == 2 * per_option  # two of each wait for the next round
    assert "4 measurements more than the rounds have asked for are not in the means (yet)." in study.result().notes
    assert {todo.option for todo in study.ask(1000)} == {"c", "d"}
    asked = 2 * per_option
    for todo in study.ask(1000):
        study.tell(todo.number, measure(todo))
    while not study.done:
        for todo in study.ask(1000):
            asked += 1
            study.tell(todo.number, measure(todo))
    cost = study.definition.new_policy().schedule.cost
    assert study.used == cost
    assert cost - 2 * per_option - 4 <= asked <= cost - 2 * per_option
    assert study.result().pareto == FRONT


def test_of_measurements_made_before_all_are_added_or_none(storage):
    study = create(storage)
    with pytest.raises(pp.InvalidInput, match="no option named 'z'"):
        study.add([("a", (1, 1)), ("z", (1, 1))])
    with pytest.raises(pp.InvalidInput, match="'cost' is nan"):
        study.add([("a", (1, 1)), ("b", (1, float("nan")))])
    assert study.add([]) == []
    assert study.events() == []
    assert study.ask()[0].number == 1


def test_whoever_measures_what_was_imported_meanwhile_loses_nothing(storage):
    study = create(storage)
    todos = study.ask(1000, worker="w1")
    study.add([("a", (9, 9))] * len([todo for todo in todos if todo.option == "a"]))
    rest = study.ask(1000, worker="w1")
    assert {todo.option for todo in rest} == {"b", "c", "d"}
    late = next(todo for todo in todos if todo.option == "a")
    used = study.used
    study.tell(late.number, (9, 9))
    assert study.used == used
    for todo in rest:
        study.tell(todo.number, measure(todo))
    finish(study)
    assert study.used == study.definition.new_policy().schedule.cost


def test_exact_metrics_never_change(storage):
    study = create(storage, exact=["cost"])
    first, *others = (todo for todo in study.ask(9) if todo.option == "a")
    study.tell(first.number, (9, 3.1))
    with pytest.raises(pp.InvalidInput, match=r"metric 'cost' of 'a' is 3\.2 and was 3\.1 before; an exact metric never"):
        study.tell(others[0].number, (9, 3.2))
    study.void(first.number, "typing error")
    study.tell(others[0].number, (9, 3.2))
    with pytest.raises(pp.InvalidInput, match="and was"):
        study.add([("b", (1, 5.0)), ("b", (1, 6.0))])
    assert study.used == 1


def test_a_price_that_is_a_sum_of_cents_stays_exact_in_the_answer(storage):
    """0.1 + 0.1 + 0.1 is not 0.3, and divided by three it is not 0.1: a and b cost the same all the same."""
    study = create(storage, options=["a", "b", "c"], exact=["cost"], budget=90)
    price = {"a": 0.1, "b": 0.1, "c": 0.3}
    while not study.done:
        for todo in study.ask():
            noise = np.random.default_rng(todo.number).normal()
            study.tell(todo.number, ({"a": 9.0, "b": 5.0, "c": 7.0}[todo.option] + noise, price[todo.option]))
    assert study.result().pareto == ("a",)
    assert [row.means["cost"] for row in study.result().options] == [0.1, 0.1, 0.3]


def test_apt_can_be_given_more_budget_later(storage):
    study = finish(create(storage, policy=("apt", {"batch": 4}), budget=30))
    assert study.used == 30
    study.extend(budget=41)
    assert not study.done
    assert study.budget == 41
    assert len(study.ask(1000)) == 11
    finish(study)
    assert study.used == 41
    assert open_again(study, storage).budget == 41
    with pytest.raises(pp.InvalidInput, match="budget=40 is less than the 41"):
        study.extend(budget=40)
    with pytest.raises(pp.InvalidInput, match="the rounds of ege-sr are planned for its options and for the budget of 60"):
        create(storage, "other").extend(budget=100)


def test_the_budget_that_a_study_has_already_is_no_extension(storage):
    study = create(storage, policy=("apt", {"batch": 4}), budget=30)
    study.extend(budget=30)
    assert study.events() == []
    study.extend(budget=31)
    study.extend(budget=31)
    assert [(event.kind, event.details) for event in study.events()] == [("extended", {"budget": 31})]
    assert study.budget == open_again(study, storage).budget == 31


@pytest.mark.parametrize(
    "given, said",
    [
        (((12,), {}), r"extend\(12\) is not about a budget; .* or renew\(12\) to give a worker more time"),
        (((3, 4), {"worker": "w", "lease": 9}), r"renew\(3, 4, worker='w', lease=9\)"),
        (((), {}), r"write extend\(budget=160\) to allow more measurements"),
    ],
)
def test_who_extends_a_lease_is_told_to_renew_it(given, said):
    numbers, options = given
    with pytest.raises(pp.InvalidInput, match=said):
        create("sqlite://").extend(*numbers, **options)


@pytest.mark.parametrize("wrong", [{"quality": 1}, {"quality": 1, "cost": float("nan")}, [1], "x", {"quality": 1, "cots": 2}])
def test_a_bad_result_is_refused_and_nothing_is_stored(storage, wrong):
    study = create(storage)
    (todo,) = study.ask()
    with pytest.raises(pp.InvalidInput):
        study.tell(todo.number, wrong)
    assert study.events() == []
    study.tell(todo.number, {"cost": 2, "quality": 1})
    assert list(study.result().options[0].means.values()) == [1.0, 2.0]


@pytest.mark.parametrize("number", ["1", 1.5, None, True, 0, -1, 2**31, 10**20])
def test_numbers_are_whole_numbers(storage, number):
    with pytest.raises(pp.InvalidInput, match="number="):
        create(storage).tell(number, (1, 1))


def test_names_are_just_characters(storage):
    nasty = ["'; DROP TABLE paretopick_studies; --", "$(rm -rf /)", 'a\\b"c', "日本語 ☃", "%s {option} \\x00", "--help", "x y"]
    for name in nasty:
        study = create(storage, name, options=nasty, metrics={"m; --": "max", "`m`": "min"}, budget=100)
        (todo,) = study.ask(worker=name)
        study.tell(todo.number, {"m; --": 1, "`m`": 2})
        study.retire(nasty[1], "why? " + "".join(nasty) + "\0")
    assert pp.Study.list(storage=storage) == sorted(nasty)
    for name in nasty:
        study = pp.Study.open(name, storage=storage)
        assert study.options == tuple(nasty)
        assert study.used == 1


def test_two_studies_in_one_database_do_not_disturb_each_other(storage):
    one, two = create(storage, "one"), create(storage, "two", policy="uniform", budget=40)
    for _ in range(30):
        for study in (one, two):
            for todo in study.ask():
                study.tell(todo.number, measure(todo))
    alone = create(storage, "alone")
    for _ in range(30):
        for todo in alone.ask():
            alone.tell(todo.number, measure(todo))
    assert json.dumps(one._state.to_dict()) == json.dumps(alone._state.to_dict())
    assert (one.used, two.used) == (30, 30)


def test_a_name_can_be_used_once_and_an_unknown_one_is_guessed(storage):
    create(storage)
    with pytest.raises(pp.InvalidInput, match="there is a study named 's'"):
        create(storage)
    with pytest.raises(pp.UnknownName, match="no study named 'sx'"):
        pp.Study.open("sx", storage=storage)
    with pytest.raises(pp.InvalidInput, match="cannot be the name of a study"):
        create(storage, "")


def test_several_objects_and_threads_work_on_one_study(storage):
    shared = create(storage)
    mine = [shared, shared, open_again(shared, storage), open_again(shared, storage)]

    def work(i: int) -> None:
        while not mine[i].done:
            for todo in mine[i].ask(2, worker=f"w{i}"):
                mine[i].tell(todo.number, measure(todo))

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert shared.used == shared.definition.new_policy().schedule.cost
    assert list(shared.result().pareto) == replayed_answer(shared)
    for study in mine[2:]:
        assert study.result() == shared.result()


def test_long_studies_are_opened_from_a_checkpoint_and_are_the_same_without(storage, monkeypatch):
    monkeypatch.setattr(live, "CHECKPOINT_EVERY", 7)
    study = finish(create(storage))
    with storage.reading(study._live.study) as transaction:
        position = transaction.checkpoint().place.position
    assert 0 < study._state.position - position <= 7
    with_it = open_again(study, storage)
    assert with_it._state.to_dict() == study._state.to_dict()
    for spoiled in ({"format": "of another version"}, {"policy": {}}, {"first": None}, {"kept": [[1]]}):
        with storage.writing(study._live.study) as transaction:
            transaction.keep_checkpoint(Checkpoint(transaction.end, study._state.to_dict() | spoiled))
        assert open_again(study, storage)._state.to_dict() == study._state.to_dict()


def test_a_void_after_a_checkpoint_is_the_same_as_without(storage, monkeypatch):
    monkeypatch.setattr(live, "CHECKPOINT_EVERY", 7)
    study, other = create(storage), None
    for i in range(40):
        for todo in study.ask():
            study.tell(todo.number, measure(todo))
        if i == 20:
            other = open_again(study, storage)  # from a checkpoint
    other.void(3, "wrong")
    study.void(17, "wrong, too")
    assert other.used == study.used == open_again(study, storage).used == 38
    assert other._state.to_dict() == study._state.to_dict() == open_again(study, storage)._state.to_dict()


def test_a_retired_single_option_does_not_spoil_the_checkpoint(storage, monkeypatch):
    monkeypatch.setattr(live, "CHECKPOINT_EVERY", 1)
    study = create(storage, options=["only"], metrics={"m": "max"}, budget=3)
    study.retire("only", "gone")
    study.add([("only", [1.0])] * 3)
    assert open_again(study, storage).result().pareto == ()


def test_applying_events_that_was_interrupted_is_done_anew(storage, monkeypatch):
    """Ctrl-C in the middle of the arithmetic: the next look starts from the log."""
    study = create(storage)
    (todo,) = study.ask()

    def interrupt(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(study._state, "_use_kept", interrupt)  # the policy has been told by then
        with pytest.raises(KeyboardInterrupt):
            study.tell(todo.number, (1.0, 2.0))
    assert study.used == 1
    assert len(study.ask(1000)) == study.status()["due"]


def test_results_before_the_end_say_what_is_known(storage):
    study = create(storage)
    first = study.result()
    assert (first.done, first.pareto, first.used) == (False, (), 0)
    assert {row.status for row in first.options} == {"open"}
    assert first.options[0].means == {"quality": None, "cost": None}
    assert "Best guess so far: none yet (0 of 60 measurements used)." in str(first)
    for todo in study.ask(4):
        study.tell(todo.number, TRUTH[todo.option])
    guess = study.result()
    assert guess.pareto == FRONT
    assert json.loads(json.dumps(guess.to_dict()))["pareto"] == list(FRONT)


@pytest.mark.sample(4)
@pytest.mark.parametrize("policy", ["ege-sr", ("ege-sr-k", {"max_arms": 1}), ("apt", {"batch": 3})])
def test_progress_is_a_part_of_the_status_at_any_time(storage, policy):
    study = create(storage, policy=policy)

    def look() -> None:
        now, status = study.progress(guess=True), study.status()
        assert now.best_guess == tuple(status["pareto"])  # here nothing is so unclear that fewer draws see it otherwise
        assert now == (
            *(status[key] for key in ("used", "planned", "budget", "round", "rounds")),
            *(len(status["active"]), status["due"], len(status["out"]), status["done"], now.best_guess, status["roundless"]),
            None,
        )
        assert study.progress() == now._replace(best_guess=None)

    look()
    study.ask(2, worker="another", lease=None)
    while not study.done:
        todos = study.ask(3) or study.ask(2, worker="another")
        look()
        for todo in todos:
            study.tell(todo.number, measure(todo))
    look()
    study.retire("a", "gone")
    look()


def test_one_option_and_one_metric_are_a_study_too(storage):
    study = create(storage, options=["only"], metrics={"m": "max"}, budget=3)
    assert study.done
    assert study.result().pareto == ("only",)
    assert study.result().notes == ("a single option is Pareto-optimal without any measurement.",)
    two = create(storage, "two", options=["x", "y"], metrics={"m": "max"}, budget=4)
    while not two.done:
        for todo in two.ask():
            two.tell(todo.number, [float(todo.option == "y")])
    assert two.result().pareto == ("y",)
    assert two.used == 4


def test_an_option_that_lost_all_its_measurements_is_named(storage):
    study = create(storage, policy="uniform", budget=4)
    for todo in study.ask(4):
        study.tell(todo.number, TRUTH[todo.option])
    study.void(1, "typing error")
    assert study.result().pareto == FRONT
    assert "'a' has no measurements; what was decided about it stands." in study.result().notes


def test_rows_that_were_recorded_before_are_known_again(storage):
    """A table that has grown brings what is new; equal rows elsewhere are refused unless told otherwise."""
    study = create(storage)
    rows = [("a", (9, 9)), ("a", (9, 9)), ("b", (5, 2))]
    assert len(study.record({}, {}, rows)) == 3
    assert study.record({}, {}, rows) == []
    assert len(study.record({}, {}, [*rows, ("c", (3, 8))])) == 1
    assert study.record({}, {}, [*rows, ("c", (3, 8))]) == []
    with pytest.raises(pp.InvalidInput, match="measurement 2 of 2, 'b' with quality=5, cost=2, was added before"):
        study.record({}, {}, [("d", (1, 1)), ("b", (5, 2))])
    assert study.used == 4
    assert len(study.record({}, {}, [("b", (5, 2))], again=True)) == 1
    assert study.used == 5


def test_everything_that_a_worker_has_can_be_given_back(storage):
    study = create(storage)
    study.ask(3, worker="w")
    study.ask(2, worker="v")
    assert study.release(worker="w") == [1, 2, 3]
    assert [row["number"] for row in study.status()["out"]] == [4, 5]


def test_whoever_waits_gets_what_comes_up(storage):
    study = create(storage)
    todos = study.ask(1000, worker="w1")
    start = time.monotonic()
    assert study.ask(worker="w2", wait=0.3) == []
    assert time.monotonic() - start >= 0.3
    timer = threading.Timer(0.3, lambda: [study.tell(todo.number, measure(todo)) for todo in todos])
    timer.start()
    assert study.ask(worker="w2", wait=30)[0].round == 2
    timer.join()
    assert finish(study, worker="w2").ask(wait=30) == []


def test_an_option_that_nobody_dominates_any_more_is_named(storage):
    study = create(storage, options=["a", "b", "c"], budget=12)
    worth = {"a": (3, 1), "b": (2, 2), "c": (1, 1.5)}
    while not study.done:
        for todo in study.ask():
            study.tell(todo.number, worth[todo.option])
    assert study.result().pareto == ("a",)
    study.retire("a", "not available")
    assert study.result().pareto == ()
    assert str(study.result()).startswith("Pareto-optimal: none (")
    result = study.result()
    assert (
        "the rounds of ege-sr have left out b and c, which by all measurements together are more likely Pareto-optimal."
        in result.notes
    )
    assert [row.status for row in result.options] == ["retired", "pareto", "pareto"]
    assert result.in_answer == {"a": False, "b": False, "c": False}
    assert [row.dominated_by for row in result.options] == [(), (), ()]


def test_a_study_can_be_deleted_and_the_others_stay(storage):
    for name in ("one", "two"):
        finish(create(storage, name))
    pp.Study.delete("one", storage=storage)
    assert pp.Study.list(storage=storage) == ["two"]
    assert pp.Study.open("two", storage=storage).done
    assert create(storage, "one").used == 0


def test_looking_for_studies_makes_no_file(tmp_path):
    with pytest.raises(pp.MissingFile, match="there is no database"):
        pp.Study.list(storage=tmp_path / "no.db")
    with pytest.raises(FileNotFoundError, match=r"there is no database .*no\.db"):
        pp.Study.open("s", storage=tmp_path / "no.db")
    assert list(tmp_path.iterdir()) == []


def test_an_empty_address_is_refused():
    with pytest.raises(pp.InvalidInput, match="storage='' is empty"):
        pp.Study.list(storage="")


def test_the_default_storage_is_a_file_here_or_what_the_environment_says(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PARETOPICK_STORAGE", raising=False)
    pp.Study.create("s", options=OPTIONS, metrics=METRICS, budget=60)
    assert (tmp_path / "paretopick.db").exists()
    monkeypatch.setenv("PARETOPICK_STORAGE", f"sqlite:///{tmp_path}/other.db")
    with pytest.raises(pp.MissingFile, match="there is no database"):
        pp.Study.list()
    pp.Study.create("s", options=OPTIONS, metrics=METRICS, budget=60)
    assert (tmp_path / "other.db").exists()


def test_leases_are_renewed_and_given_back_by_number():
    study = create("sqlite://")
    (todo,) = study.ask()
    for act in (study.renew, study.release):
        with pytest.raises(pp.InvalidInput, match=r"pass its number, which is \.number of it: 1"):
            act(todo)
        with pytest.raises(pp.InvalidInput, match="number='1' is not an int"):
            act("1")
    assert study.release(todo.number) == [1]
