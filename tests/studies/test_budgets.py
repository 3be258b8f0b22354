"""Budgets in a unit: what is spent is what measurements have cost, the study stops when it is reached, and says what is left."""

import json
import math
import random
import subprocess
import sys
import time
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import paretopick as pp
from paretopick.errors import BudgetTooSmall, InvalidInput, LogDamaged
from paretopick.events import Event
from paretopick.storage import open_storage
from paretopick.storage.backups import backup, restore
from paretopick.studies import roundless
from paretopick.studies.budgets import Amount, Spent, amount_text, budget_of, seconds_of
from paretopick.studies.checks import check_storage
from paretopick.studies.crew import FREE
from paretopick.studies.definition import Definition, define
from paretopick.studies.imports import import_table
from paretopick.studies.opening import create_or_open
from paretopick.studies.running import run_study
from paretopick.studies.state import new_state, restore_state
from support.twin import DataTwin

pytestmark = pytest.mark.slow

SUPPORT = Path(__file__).parents[1] / "support"
GIVEN = {"options": ["a", "b", "c"], "metrics": {"quality": "max", "price": "min"}, "budget": ("dollars", 5)}
COSTS = {"a": 0.1, "b": 0.2, "c": 0.4}
TRUTH = {"a": (1.0, 1.0), "b": (1.2, 1.0), "c": (2.0, 3.0), "d": (3.0, 9.0)}


def values(option: str, seed: int) -> dict[str, float]:
    noise = np.random.default_rng(seed).normal(0, 0.5, 2)
    return dict(zip(GIVEN["metrics"], np.add(TRUTH[option], noise).tolist(), strict=True))


def told(todo: pp.Measurement, **more) -> dict[str, float]:
    return values(todo.option, todo.number) | {"dollars": COSTS[todo.option]} | more


def create(storage="sqlite://", name="s", **changes) -> pp.Study:
    return pp.Study.create(name, **GIVEN | changes, storage=storage)


def finish(study: pp.Study, n: int = 1, cost: bool = True) -> pp.Study:
    while not study.done:
        for todo in study.ask(n):
            study.tell(todo.number, told(todo) if cost else values(todo.option, todo.number))
    return study


# What users write.


@pytest.mark.parametrize(
    "given, expected",
    [
        (600, 600),
        ("600", 600),
        ("1e3", 1000),
        (("measurements", 60), 60),
        (np.int64(60), 60),
        (("seconds", 1200), ("seconds", 1200.0)),
        (["seconds", 1200], ("seconds", 1200.0)),
        ({"seconds": 1200}, ("seconds", 1200.0)),
        ("1200s", ("seconds", 1200.0)),
        ("20m", ("seconds", 1200.0)),
        ("2 h", ("seconds", 7200.0)),
        (("minutes", 20), ("seconds", 1200.0)),
        (("dollars", 5), ("dollars", 5.0)),
        ("5dollars", ("dollars", 5.0)),
        ("0.5 GPU hours", ("GPU hours", 0.5)),
    ],
)
def test_a_budget_is_a_number_or_an_amount_with_its_unit(given, expected):
    assert budget_of(given) == expected
    assert define(**GIVEN | {"budget": given}).budget == expected


@pytest.mark.parametrize(
    "given, message",
    [
        ("2.5", "budget='2.5' must be a whole number of measurements, or an amount with its unit.*of what are 2.5"),
        ("x", "budget='x' must be a whole number of measurements"),
        ("", "budget='' must be"),
        ("0s", "is too small; it must be larger than 0"),
        (("dollars", -1), "budget in dollars=-1 is too small"),
        (("dollars", math.nan), "is not finite"),
        (("dollars", "much"), "budget in dollars='much' is not a number"),
        (("", 3), "'' cannot be the name of a unit of a budget"),
        ({"dollars": 1, "seconds": 2}, "it has 2 units"),
        (("dollars",), r"budget=\('dollars',\) must be"),
        (2.5, "is not an int"),
        (0, "budget=0 is too small"),
    ],
)
def test_a_budget_that_cannot_be_is_refused_with_what_to_write(given, message):
    with pytest.raises(InvalidInput, match=message):
        budget_of(given)


@given(st.floats(1e-9, 1e12), st.sampled_from(["seconds", "dollars", "GPU hours", "€"]))
def test_an_amount_as_one_types_it_is_read_back(amount, unit):
    assert budget_of(Amount(unit, amount).typed) == (unit, amount)


def test_times_are_numbers_of_seconds_or_texts():
    assert [seconds_of(given, "--for") for given in (90, "90", "90s", "20m", "1.5h", " 2 days ")] == [
        90,
        90,
        90,
        1200,
        5400,
        172800,
    ]
    for wrong in ("20x", "", "m", "0s", "-1m", math.inf):
        with pytest.raises(InvalidInput, match="--for="):
            seconds_of(wrong, "--for")


@pytest.mark.parametrize(
    "change, message",
    [
        ({"budget": 60, "cost": "dollars"}, "cost='dollars' says what measurements cost, and budget=60 counts them"),
        ({"cost": {"a": 1, "b": 1}}, "cost has nothing for 'c'"),
        ({"cost": {**COSTS, "x": 1}}, "no option named 'x'"),
        ({"cost": {**COSTS, "a": 0}}, "cost of 'a'=0 is too small"),
        ({"cost": {**COSTS, "a": "free"}}, "cost of 'a'='free' is not a number"),
        ({"cost": 3}, "3 cannot be the name of a cost"),
        ({"cost": "worker"}, "cost='worker' is a column that tables have already"),
        ({"cost": "fee", "options": {"a": {"fee": 1}, "b": {"fee": "x"}}}, "cost of 'b'='x' is not a number"),
        (
            {"policy": "ege-sr"},
            "ege-sr plans its rounds for a number of measurements, and the budget is 5 dollars; .* use apt or",
        ),
    ],
)
def test_costs_that_cannot_be_are_refused_by_name(change, message):
    with pytest.raises(InvalidInput, match=message):
        define(**GIVEN | change)


def test_a_budget_too_small_for_the_first_measurements_is_refused_where_costs_are_known():
    with pytest.raises(
        BudgetTooSmall, match=r"2 of each of 3 options, cost 1.4 dollars; raise the budget of 1 dollars to at least"
    ):
        define(**GIVEN | {"cost": COSTS, "budget": ("dollars", 1)})
    assert define(**GIVEN | {"cost": COSTS, "budget": ("dollars", 1.4)})


@pytest.mark.parametrize(
    "change", [{}, {"cost": COSTS}, {"cost": "price"}, {"cost": "fee"}, {"budget": "20m"}, {"budget": 60}, {"budget": {"€": 3}}]
)
def test_a_definition_with_such_a_budget_survives_json(change):
    definition = define(**GIVEN | change)
    assert Definition.from_dict(json.loads(json.dumps(definition.to_dict()))) == definition
    assert Definition.from_dict(json.loads(json.dumps(definition.to_dict()))).costs == definition.costs
    assert isinstance(define(**GIVEN | {"budget": 60}).to_dict()["budget"], int)
    assert "cost" not in define(**GIVEN | {"budget": 60}).to_dict()


# What is spent.


@pytest.mark.sample(4)
@pytest.mark.parametrize("kind", ["beside the metrics", "by option", "a setting", "a metric"])
def test_the_study_stops_asking_when_the_sum_is_reached(storage, kind):
    settings = {option: {"fee": str(cost)} for option, cost in COSTS.items()}
    changes = {
        "beside the metrics": {},
        "by option": {"cost": COSTS},
        "a setting": {"cost": "fee", "options": settings},
        "a metric": {"cost": "dollars", "metrics": {**GIVEN["metrics"], "dollars": "min"}},
    }
    study = finish(create(storage, **changes[kind]), cost=kind in ("beside the metrics", "a metric"))
    costs = [COSTS[study.options[event.arm]] for event in study.events()]
    assert sum(map(Fraction, costs[:-1])) < 5 <= round(sum(costs), 9)
    assert study.spent == Spent("dollars", float(sum(map(Fraction, costs))), 5.0)
    assert study.budget == ("dollars", 5.0)
    assert study.ask(3) == []
    assert study.result().done
    assert study.result().spent == study.spent
    assert pp.Study.open("s", storage=storage).spent == study.spent


def test_equal_costs_that_add_up_to_the_budget_are_all_of_it():
    """Though 0.1 added up fifty times, and 0.3 three times, are not quite 5 and 0.9."""
    assert finish(create(cost=dict.fromkeys("abc", 0.1))).used == 50
    assert finish(create(options=["a"], cost={"a": 0.3}, budget=("dollars", 0.9))).used == 3


def test_a_measurement_that_was_asked_for_says_what_it_cost_or_is_refused(storage):
    study = create(storage)
    (todo,) = study.ask()
    message = (
        r"measurement 1 of 'a': it does not say what it cost, and the budget is in dollars: dollars=\.\.\. beside the metrics is"
    )
    with pytest.raises(InvalidInput, match=message):
        study.tell(todo.number, {"quality": 1, "price": 2})
    with pytest.raises(InvalidInput, match=message):
        study.tell(todo.number, (1, 2))
    for wrong in (-1, "much", True):
        with pytest.raises(
            InvalidInput, match=r"'dollars' is .*, and it is what the measurement costs; expected a number of dollars"
        ):
            study.tell(todo.number, {"quality": 1, "price": 2, "dollars": wrong})
    assert study.events() == []
    study.tell(todo.number, {"quality": 1, "price": 2, "dollars": 0})
    study.tell(todo.number, {"quality": 1, "price": 2})  # the same once more, which is known by its values
    assert study.spent.spent == 0.0


def test_a_cost_that_is_a_metric_must_not_be_missing(storage):
    study = create(storage, cost="price", budget=("dollars", 100))
    (todo,) = study.ask()
    with pytest.raises(InvalidInput, match="the budget is in dollars: metric 'price' is needed"):
        study.tell(todo.number, {"quality": 1, "price": None})
    with pytest.raises(InvalidInput, match=r"'price' is -3.0, and it is what the measurement costs"):
        study.tell(todo.number, {"quality": 1, "price": -3})
    study.tell(todo.number, {"quality": 1, "price": 3})
    with pytest.raises(InvalidInput, match="metric 'price' is needed"):
        study.correct(todo.number, {"price": None}, "lost")
    with pytest.raises(InvalidInput, match=r"'price' is -1.0"):
        study.correct(todo.number, {"price": -1}, "lost")
    study.correct(todo.number, {"price": 4}, "misread")
    assert study.spent.spent == 4.0


def test_what_failed_or_was_taken_back_has_been_paid_for(storage):
    study = create(storage)
    first, second, third, fourth = study.ask(4)
    study.tell(first.number, told(first, dollars=0.5))
    study.fail(second.number, "the tube broke", cost=0.25)
    study.fail(third.number, "nobody came")  # what it cost is not known
    study.tell(fourth.number, told(fourth, dollars=1))
    study.void(first.number, "spilt")
    assert study.used == 1
    assert study.spent.spent == 1.75
    study.correct(fourth.number, {"quality": 3}, "misread")
    assert study.spent.spent == 1.75
    by_option = create(storage, "t", cost=COSTS)
    (todo,) = by_option.ask()
    with pytest.raises(InvalidInput, match=r"cost=3.0 of measurement 1 is not needed: it is known by its option"):
        by_option.fail(todo.number, "no", cost=3)
    by_option.fail(todo.number, "no")
    assert by_option.spent.spent == COSTS["a"]
    with pytest.raises(InvalidInput, match="the budget counts measurements"):
        create(storage, "u", budget=60).fail(1, "no", cost=3)


def test_what_was_brought_along_costs_what_it_says_or_nothing(storage, tmp_path):
    study = create(storage)
    study.add([("a", {"quality": 1, "price": 2}), ("b", {"quality": 1, "price": 2, "dollars": 0.75})])
    assert (study.used, study.spent.spent) == (2, 0.75)
    with pytest.raises(InvalidInput, match="'dollars' is 'x'"):
        study.add([("a", {"quality": 1, "price": 3, "dollars": "x"})])
    one, two, three, *_ = study.ask(4, worker="sheet")
    (tmp_path / "sheet.csv").write_text(
        f"number,option,quality,price,dollars,failed\n{one.number},{one.option},1,2,0.5,\n{two.number},{two.option},,,0.125,spilt\n"
    )
    import_table(study, tmp_path / "sheet.csv")
    assert study.spent.spent == 0.75 + 0.5 + 0.125
    (tmp_path / "more.csv").write_text(f"number,option,quality,price,failed\n{three.number},{three.option},1,2,\n")
    with pytest.raises(InvalidInput, match=r"more.csv.*does not say what it cost.*Nothing was imported"):
        import_table(study, tmp_path / "more.csv")


def test_a_study_can_be_given_more_of_the_same_unit(storage):
    study = finish(create(storage))
    used = study.used
    study.extend(budget=("dollars", 8))
    assert not study.done
    assert study.budget == ("dollars", 8.0)
    for wrong, message in [
        (100, "budget=100 is in measurements, and that of the study, 8 dollars, in dollars; give it in the same unit"),
        ("20m", "budget=1,200 seconds is in seconds, and that of the study"),
        (("dollars", 7), "budget=7 dollars is less than the 8 dollars that the study has already"),
    ]:
        with pytest.raises(InvalidInput, match=message):
            study.extend(budget=wrong)
    study.extend(budget={"dollars": 8})  # as much as there is: harmless
    assert [event.details for event in study.events() if event.kind == "extended"] == [{"budget": ["dollars", 8.0]}]
    assert finish(study).used > used
    with pytest.raises(InvalidInput, match="is in dollars, and that of the study, 60, in measurements"):
        create(storage, "t", budget=60).extend(budget=("dollars", 100))
    with pytest.raises(InvalidInput, match=r"write extend\(budget=\('dollars', 16.0\)\)"):
        study.extend()


def test_the_same_call_with_more_of_the_unit_and_more_options_goes_on(tmp_path):
    definition = define(**GIVEN | {"cost": COSTS})
    study = create_or_open("s", definition, tmp_path / "s.db")
    more = define(options=[*"abcd"], metrics=GIVEN["metrics"], budget=("dollars", 9), cost={**COSTS, "d": 0.8}, policy="doubt")
    assert create_or_open("s", more, tmp_path / "s.db").budget == ("dollars", 9.0)
    study = pp.Study.open("s", storage=tmp_path / "s.db")
    assert study.options == ("a", "b", "c", "d")
    assert study.definition.costs.by_option == (0.1, 0.2, 0.4, 0.8)
    assert create_or_open("s", definition, tmp_path / "s.db").options == study.options
    for other, message in [
        (define(**GIVEN | {"budget": 60}), "budget is 5 dollars there and 60 here"),
        (define(**GIVEN | {"budget": ("euros", 5), "cost": COSTS}), "budget is 5 dollars there and 5 euros here"),
        (define(**GIVEN), "cost is .* there and dollars here"),
        (define(**GIVEN | {"cost": {**COSTS, "a": 0.3}}), "cost is .* there and .*0.3"),
    ]:
        with pytest.raises(InvalidInput, match=message):
            create_or_open("s", other, tmp_path / "s.db")


def test_an_option_that_turns_up_brings_its_cost(storage):
    study = create(storage, cost=COSTS)
    with pytest.raises(InvalidInput, match="say what a measurement of 'd' costs, too"):
        study.add_option("d")
    study.add_option("d", cost=2)
    assert study.definition.costs.by_option == (0.1, 0.2, 0.4, 2.0)
    with pytest.raises(InvalidInput, match=r"cost=2.0 of option 'd' is not needed"):
        create(storage, "t").add_option("d", cost=2)
    assert pp.Study.open("s", storage=storage).definition == study.definition


# The state: a function of the events.


def eventful(study: pp.Study, seed: int) -> pp.Study:
    """All that can cost something, in any order."""
    rng = random.Random(seed)
    by_option = isinstance(study.definition.cost, dict)
    by_metric = study.definition.cost == "price"
    numbers: list[int] = []
    for _ in range(120):
        what = rng.random()
        if what < 0.6:
            for todo in study.ask(rng.randint(1, 3), worker=f"w{rng.randint(1, 2)}"):
                row = values(todo.option, todo.number) | {"price": rng.choice([0.0, 0.1, 0.3, 1e-3])}
                if rng.random() < 0.2:
                    cost = {} if by_option else {"cost": rng.choice([None, 0.1, 0.7])}
                    study.fail(todo.number, "no", **cost)
                elif rng.random() < 0.9:
                    study.tell(todo.number, row if by_option or by_metric else row | {"dollars": rng.choice([0.0, 0.1, 1 / 3])})
                    numbers.append(todo.number)
        elif what < 0.7 and numbers:
            study.void(numbers.pop(rng.randrange(len(numbers))), "wrong")
        elif what < 0.8 and numbers:
            study.correct(rng.choice(numbers), {"price": rng.choice([0.2, 0.4])}, "misread")
        elif what < 0.85:
            extra = {"dollars": 0.2} if rng.random() < 0.5 and not by_option and not by_metric else {}
            numbers += study.add([("b", values("b", rng.randint(0, 99)) | {"price": 0.1} | extra)])
        elif what < 0.88 and len(study.options) < 4:
            study.add_option("d", cost=0.8 if by_option else None)
        elif what < 0.92:
            study.extend(budget=("dollars", study.budget.amount + 0.5))
        elif what < 0.94 and "a" not in study.status()["retired"]:
            study.retire("a", "gone")
    return study


KINDS = [{}, {"cost": COSTS}, {"cost": "price"}]


@pytest.mark.parametrize("kind", KINDS, ids=["beside", "by option", "metric"])
@pytest.mark.parametrize("policy", ["doubt", "apt"])
@pytest.mark.parametrize("seed", range(3))
def test_replay_is_live_and_both_are_literal(kind, policy, seed, monkeypatch):
    study = eventful(create(policy=policy, **kind), seed)
    events, base, live = study.events(), study._live.definition, json.dumps(study._state.to_dict())
    state, twin = study._state, DataTwin(base, events)
    assert state.spent.spent == pytest.approx(twin.spent, rel=1e-15)
    assert (state.spent.unit, state.spent.budget) == twin.budget
    charges = state._payments.charges()
    if twin.mean_costs() is not None:
        np.testing.assert_allclose(charges, np.maximum(twin.mean_costs(), 0.01 * np.mean(twin.mean_costs())), rtol=1e-15)
    assert state.policy.next_arms(5).tolist() == twin.policy.next_arms(5).tolist()
    for few in (0, 10**6):
        monkeypatch.setattr(roundless, "FEW", few)
        again = new_state(base)
        again.apply(events)
        assert json.dumps(again.to_dict()) == live
    for cut in range(1, len(events), 9):
        part = new_state(base)
        part.apply(events[:cut])
        part = restore_state(base, json.loads(json.dumps(part.to_dict())))
        part.apply(events[cut:])
        assert json.dumps(part.to_dict()) == live


@pytest.mark.parametrize("kind", KINDS, ids=["beside", "by option", "metric"])
def test_the_order_of_what_was_paid_leaves_no_trace(kind):
    study = eventful(create(**kind), 5)
    events = [event for event in study.events() if event.kind in ("told", "failed") and event.arm < 3]
    states = []
    for seed in range(3):
        shuffled = random.Random(seed).sample(events, len(events))
        state = new_state(define(**GIVEN | kind))
        state.apply([event._replace(position=place) for place, event in enumerate(shuffled, start=1)])
        states.append(json.dumps(state.to_dict()))
    assert len(set(states)) == 1


def test_a_study_whose_budget_counts_measurements_has_the_state_that_it_had():
    state = new_state(define(**GIVEN | {"budget": 60}))
    assert list(state.to_dict()) == ["format", "study", "position", "failed", "retired", "sums", "repeats", "budget", "joined"]
    assert state.spent is None


@pytest.mark.parametrize(
    "change, message",
    [
        ({"budget": ["dollars", 4.0]}, "its budget is 4 dollars, and the study has 5 dollars"),
        ({"budget": ["euros", 9.0]}, "its budget is 9 euros"),
        ({"budget": 60}, "its budget is 60"),
        ({"costs": []}, "sums of 0 options"),
        ({"position": 0}, "more was paid for than its 0 events|more measurements than its 0 events"),
    ],
)
def test_a_saved_state_that_cannot_be_is_refused(change, message):
    study = create()
    for todo in study.ask(3):
        study.tell(todo.number, told(todo))
    saved = study._state.to_dict()
    with pytest.raises(InvalidInput, match=message):
        restore_state(study.definition, saved | change)


@pytest.mark.parametrize(
    "event",
    [
        Event(1, "told", 1, 0, 1, [1.0, 2.0], {"extra": {"dollars": -1}}),
        Event(1, "told", 1, 0, 1, [1.0, 2.0], {"extra": {"dollars": "x"}}),
        Event(1, "failed", 1, 0, 1, None, {"why": "no", "cost": math.nan}),
        Event(1, "extended", details={"budget": 90}),
    ],
)
def test_an_event_that_nobody_can_have_written_is_damage(event):
    with pytest.raises(LogDamaged, match="event 1 of the log"):
        new_state(define(**GIVEN)).apply([event])


def test_checkpoints_checks_backups_and_restores_keep_what_was_paid(url, tmp_path, monkeypatch):
    from paretopick.studies import live

    monkeypatch.setattr(live, "CHECKPOINT_EVERY", 7)
    study = finish(create(open_storage(url)))
    assert check_storage(url).findings == ()
    backup(url, tmp_path / "backup.db")
    study.close()
    restore(tmp_path / "backup.db", url, replace=True)
    again = pp.Study.open("s", storage=url)
    assert (again.spent, again.budget) == (study._state.spent, ("dollars", 5.0))
    assert check_storage(url).findings == ()


# What is asked for.


def test_while_nobody_knows_what_measurements_cost_only_first_ones_are_handed_out():
    study = create()
    assert len(study.ask(100, worker="one")) == 6  # two of each
    assert len(study.ask(100, worker="two")) == 1
    assert study.status()["planned"] == 6


def test_no_more_is_handed_out_than_is_expected_to_be_paid_for():
    study = create(cost=dict.fromkeys("abc", 0.5))
    out = study.ask(100, worker="one")
    assert len(out) == 10
    assert study.ask(5, worker="two") == []
    study.tell(out[0].number, values(out[0].option, 0))
    assert study.ask(5, worker="two") == []
    study.release(*(todo.number for todo in out[5:]), worker="one")
    assert len(study.ask(9, worker="two")) == 5


def test_what_is_planned_is_estimated_from_mean_costs():
    study = create()
    for todo in study.ask(6):
        study.tell(todo.number, told(todo, dollars=0.25))
    state = study.status()
    assert (state["used"], state["planned"], state["budget"], state["due"]) == (6, 20, 20, 14)
    assert state["spent"] == {"unit": "dollars", "spent": 1.5, "budget": 5.0, "left": 3.5, "over": 0.0}
    assert study.progress().planned == 20
    assert study.progress().spent == study.spent


def test_options_that_cost_nothing_do_not_take_all_measurements_for_ever():
    study = create(budget=("dollars", 2))
    for _ in range(300):
        if study.done:
            break
        for todo in study.ask():
            study.tell(todo.number, told(todo, dollars=0.0 if todo.option == "a" else 0.2))
    assert study.done


def test_a_study_of_options_that_all_cost_nothing_goes_on():
    study = create()
    for _ in range(40):
        (todo,) = study.ask()
        study.tell(todo.number, told(todo, dollars=0))
    assert study.used == 40
    assert not study.done
    assert study.result().spent.left == 5.0


def test_cheap_options_are_measured_more_often_than_dear_ones_that_are_as_doubtful():
    counts = {}
    for dear in ("b", "c"):
        study = create(options=["b", "c"], cost={"b": 1.0, "c": 1.0} | {dear: 16.0}, budget=("dollars", 400))
        while not study.done:
            for todo in study.ask():
                noise = np.random.default_rng(todo.number).normal(0, 1.0, 2)
                study.tell(todo.number, noise.tolist())
        counts[dear] = study._state.counts.tolist()
    assert counts["c"][0] > counts["c"][1]
    assert counts["b"][1] > counts["b"][0]


def test_what_is_being_measured_when_the_budget_is_reached_still_counts_and_is_said():
    study = create(budget=("dollars", 2))
    first = study.ask(6)
    for todo in first[:4]:
        study.tell(todo.number, told(todo, dollars=0.6))
    assert study.done
    assert study.ask(2) == []  # whoever asks gets nothing, not even what it has
    study.tell(first[4].number, told(first[4], dollars=0.6))
    result = study.result()
    assert result.spent == Spent("dollars", 3.0, 2.0)
    assert (result.spent.over, result.spent.left) == (1.0, 0.0)
    assert "(5 measurements, 3 of 2 dollars spent)" in str(result)
    assert "Budget: 3 of 2 dollars are spent: 1 more, by what was being measured when they were reached." in str(result)
    assert result.to_dict()["spent"]["over"] == 1.0
    assert json.loads(result.to_json())["spent"]["unit"] == "dollars"


def test_amounts_are_shown_with_a_few_digits():
    assert [amount_text(amount) for amount in (1203.456, 4.98, 20, 0.1 + 0.2, 1e7)] == [
        "1,203",
        "4.98",
        "20",
        "0.3",
        "10,000,000",
    ]
    assert repr(create()) == "<study 's': 3 options, 0 made, 0 of 5 dollars spent>"


# Measuring, by the clock.


def slow(option: str) -> dict[str, float]:
    time.sleep({"a": 0.002, "b": 0.005, "c": 0.01}[option])
    return values(option, random.randrange(10**6))


@pytest.mark.parametrize("how", [{}, {"workers": 3}, {"workers": 2, "processes": True}], ids=["here", "threads", "processes"])
def test_seconds_are_measured_around_the_call_and_kept(tmp_path, how):
    if how.get("processes"):
        pytest.importorskip("multiprocessing")
    result = pp.identify(slow, ["a", "b", "c"], GIVEN["metrics"], ("seconds", 0.3), storage=tmp_path / "s.db", name="s", **how)
    study = pp.Study.open("s", storage=tmp_path / "s.db")
    took = [row["seconds"] for row in study.measurements()]
    assert all(seconds >= 0.002 for seconds in took)
    assert result.spent.spent == pytest.approx(sum(took))
    assert result.done
    assert result.spent.over <= sum(sorted(took)[-how.get("workers", 1) :])


def test_a_value_of_that_name_comes_before_the_clock(tmp_path):
    def beside(option):
        return values(option, random.randrange(10**6)) | {"seconds": 10}

    assert pp.identify(beside, ["a", "b"], GIVEN["metrics"], ("seconds", 80)).spent.spent == 80
    metrics = {"quality": "max", "price": "min", "seconds": "min"}
    result = pp.identify(beside, ["a", "b"], metrics, ("seconds", 80))
    assert (result.spent.spent, result.used) == (80, 8)


def test_of_what_failed_the_time_counts_too():
    attempts = []

    def measure(option):
        attempts.append(option)
        if len(attempts) % 3 == 0:
            time.sleep(0.02)
            raise OSError("the tube broke")
        return {**values(option, len(attempts)), "seconds": 0.001}

    study = create(budget=("seconds", 0.2))
    run_study(study, measure, retries=100, argument=lambda todo: todo.option)
    failed = [event for event in study.events() if event.kind == "failed"]
    assert failed
    assert all(0.02 <= event.details["cost"] < 0.5 for event in failed)
    assert study.done
    assert study.spent.spent == pytest.approx(sum(e.details["cost"] for e in failed) + 0.001 * study.used)


def test_a_measure_that_does_not_say_what_it_cost_fails_with_what_to_return():
    with pytest.raises(
        pp.MeasuringFailed, match=r"gave what is refused.*does not say what it cost, and the budget is in dollars"
    ):
        pp.identify(lambda option: values(option, 1), ["a", "b"], GIVEN["metrics"], ("dollars", 5))


def test_a_limit_of_time_ends_the_call_and_the_study_goes_on(tmp_path):
    began, takes = [], [0.1]

    def measure(option):
        began.append(time.monotonic())
        time.sleep(takes[0])
        return values(option, len(began))

    given = {"options": ["a", "b", "c"], "metrics": GIVEN["metrics"], "budget": 100, "storage": tmp_path / "s.db"}
    first = pp.identify(measure, **given, seconds=0.5, workers=2)
    assert not first.done
    assert 0 < first.used < 100
    assert max(began) - min(began) < 2.5  # all of it would have taken 5
    assert pp.Study.open("study", storage=tmp_path / "s.db").status()["out"] == []  # what was begun was finished
    assert len(began) == first.used
    takes[0] = 0.0
    last = pp.identify(measure, **given, workers=2)
    assert last.done
    assert len(began) == last.used == 100
    for wrong in (0, -1, "x", math.nan):
        with pytest.raises(InvalidInput, match="seconds="):
            pp.identify(measure, **given, seconds=wrong)


def test_a_limit_of_time_is_also_one_for_waiting(tmp_path):
    study = pp.Study.create("s", options=["a", "b"], metrics="m:max", budget=4, storage=tmp_path / "s.db")
    study.ask(4, worker="somebody else")
    start = time.monotonic()
    assert not run_study(study, lambda todo: {"m": 1.0}, seconds=0.3).done
    assert 0.25 < time.monotonic() - start < 5
    assert study.used == 0


@pytest.mark.sample(2)
def test_workers_that_are_killed_exceed_the_seconds_by_no_more_than_what_is_in_flight(url, tmp_path):
    """Several processes on one study, killed and started again; each makes one measurement at a time."""
    workers, budget = 4, 4.0
    study = pp.Study.create("s", options=list("abc"), metrics=GIVEN["metrics"], budget=("seconds", budget), storage=url)
    command = [sys.executable, str(SUPPORT / "seconds.py"), url, "s", str(workers), "0.12"]
    outcome = json.loads(subprocess.run(command, capture_output=True, text=True, check=True, timeout=120).stdout)
    assert outcome["kills"] >= 5
    assert outcome["codes"] == [0] * workers
    costs = [event.details["extra"]["seconds"] for event in study.events() if event.kind == "told"]
    spent = np.cumsum(costs)
    reached = int(np.argmax(spent >= budget))
    assert spent[-1] >= budget
    assert len(costs) - 1 - reached < workers  # nobody began a measurement after that
    assert study.spent.over < sum(costs[reached:])
    assert study.spent.spent == pytest.approx(spent[-1])
    assert study.done
    assert check_storage(url).fine
    state = new_state(study.definition)
    state.apply(study.events())
    assert state.to_dict() == study._state.to_dict()


@pytest.mark.parametrize("costs", [(1e-320, 1e-320), (5e-324, 0.0), (1e-310, 1e-320), (5e-324, 1e-3)])
def test_costs_that_are_hardly_numbers_are_costs(costs):
    study = pp.Study.create("s", options=["a", "b"], metrics={"x": "max"}, budget=("dollars", 1), storage="sqlite://")
    for round in range(3):
        study.add([(option, {"x": float(round), "dollars": cost}) for option, cost in zip("ab", costs, strict=True)])
        assert study.status()["planned"] > 0
        assert study.progress().planned > 0
        assert study.result().budget > 0
        assert len(study.ask()) == 1
        study.release()
    charges = study._state._payments.charges()
    assert (charges > 0).all()
    assert np.isfinite(1.0 / charges).all()


def test_measurements_that_cost_nothing_are_said_to_have_no_end():
    told = {"options": ["a", "b"], "metrics": {"x": "max"}, "budget": ("dollars", 1), "storage": "sqlite://"}
    study, said, made = pp.Study.create("s", **told), [], []

    def measure(_):
        made.append(0.0 if len(made) < FREE + 20 else 0.2)
        return {"x": float(len(made)), "dollars": made[-1]}

    run_study(study, measure, watch=lambda _, sentence: said.append(sentence))
    assert [sentence for sentence in said if sentence] == [
        f"measuring without an end: {FREE} measurements have cost 0 dollars, and the budget is 1 dollars; say what they cost, "
        "stop with Ctrl-C, or limit the time"
    ]
