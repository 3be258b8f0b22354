"""Stopping when sure: what is asked for, when it is looked at, and what opens a study again."""

from __future__ import annotations

import numpy as np
import pytest

import paretopick as pp
from paretopick.errors import InvalidInput
from paretopick.studies import stopping
from paretopick.studies.aims import Aim, check_aim, last_look
from paretopick.studies.state import new_state, restore_state
from paretopick.studies.stopping import Looks, is_reached

pytestmark = pytest.mark.slow

TRUTH = {"a": (3.0, 0.0), "b": (0.0, 3.0), "c": (0.0, 0.0)}
METRICS = {"x": "max~0.5", "y": "max~0.5"}


def measure_with(rng, width=1.0):
    return lambda option: {name: rng.normal(mean, width) for name, mean in zip("xy", TRUTH[option], strict=True)}


def study_of(storage, **more):
    return pp.Study.create("s", options=list(TRUTH), metrics=METRICS, budget=400, storage=storage, **more)


def work(study, measure, most=1000):
    for _ in range(most):
        todos = study.ask()
        if not todos:
            return
        for todo in todos:
            study.tell(todo.number, measure(todo.option))


def test_a_study_stops_as_soon_as_it_is_sure(storage):
    study = study_of(storage, confidence=0.95)
    work(study, measure_with(np.random.default_rng(0)))
    result = study.result()
    assert study.done
    assert result.done
    assert study.used < 60
    assert result.probability >= 0.95
    assert set(result.pareto) == {"a", "b"}
    assert result.stopped == f"It is right with 95%, as was asked for: {study.used} measurements were enough."
    assert result.stopped in str(result)
    assert study.status()["done"]
    assert study.status()["stopped"] == result.stopped
    assert study.progress().done
    assert pp.Study.open("s", storage=storage).done


def test_without_an_aim_the_budget_is_spent():
    study = study_of("sqlite://")
    work(study, measure_with(np.random.default_rng(0)))
    assert study.used == 400
    assert study.result().stopped is None


def test_the_budget_stays_the_ceiling():
    study = pp.Study.create("s", options=["a", "b"], metrics={"x": "max"}, budget=40, storage="sqlite://", confidence=0.999)
    rng = np.random.default_rng(1)
    work(study, lambda _: {"x": rng.normal()})
    assert (study.used, study.done) == (40, True)
    assert study.result().stopped is None


def everybody(study, storage):
    """Whether it is done, as every verb says that, and whoever has just opened it."""
    other = pp.Study.open("s", storage=storage)
    said = set()
    for one in (study, other):
        result = one.result()
        said |= {one.done, result.done, result.stopped is not None, one.status()["done"], one.progress().done}
    todos = other.ask(worker="nobody else")
    other.release(worker="nobody else")
    assert said == {not todos}
    return said.pop()


def test_every_process_and_verb_says_the_same_after_every_measurement(tmp_path):
    storage = tmp_path / "s.db"
    study = study_of(storage, confidence=0.95)
    measure = measure_with(np.random.default_rng(11), width=4.0)
    while not everybody(study, storage):
        (todo,) = study.ask()
        study.tell(todo.number, measure(todo.option))
    assert 40 < study.used < 400


def test_every_process_and_verb_says_the_same_after_every_change(tmp_path):
    storage = tmp_path / "s.db"
    study = study_of(storage, confidence=0.95)
    work(study, measure_with(np.random.default_rng(0)))
    assert everybody(study, storage)
    first = study.measurements()[0]
    study.correct(first["number"], {"x": -40.0}, "read from the wrong line")
    assert not everybody(study, storage)
    study.correct(first["number"], {"x": first["x"]}, "it was the right one")
    assert everybody(study, storage)
    study.aim(confidence=0.999999)
    assert not everybody(study, storage)
    study.aim(confidence=0.9)
    assert everybody(study, storage)
    study.add_option("d")
    assert not everybody(study, storage)
    study.retire("d", "too late")
    assert everybody(study, storage)
    study.reinstate("d")
    assert not everybody(study, storage)


def test_workers_that_measure_side_by_side_end_together():
    study = study_of("sqlite://", confidence=0.95)
    measure = measure_with(np.random.default_rng(12), width=2.0)
    out = study.ask(8, worker="w")
    while out:
        todo = out.pop(0)
        study.tell(todo.number, measure(todo.option))
        out += [new for new in study.ask(8, worker="w") if new.number not in {old.number for old in out}]
    assert study.done
    assert study.used < 400


def test_a_state_that_is_kept_knows_when_it_was_last_looked_at():
    study = study_of("sqlite://", confidence=0.95)
    work(study, measure_with(np.random.default_rng(13), width=9.0), most=47)
    study.aim(confidence=0.96)
    work(study, measure_with(np.random.default_rng(14), width=9.0), most=60)
    events = study.events()
    definition = study._live.definition
    at_once, one_by_one = new_state(definition), new_state(definition)
    at_once.apply(events)
    for event in events:
        one_by_one.apply([event])
        kept = one_by_one.to_dict()
        assert restore_state(definition, kept).to_dict() == kept
    assert at_once.to_dict() == one_by_one.to_dict()
    assert one_by_one.aims == [Aim(0.95), Aim(0.96)]
    assert one_by_one.at_last_look is not None
    assert one_by_one.when_last_looked_at().used == last_look(107) == 104


def test_what_was_seen_of_older_data_does_not_replace_what_was_seen_of_newer_ones():
    study = study_of("sqlite://", confidence=0.95)
    looks, measure = Looks(), measure_with(np.random.default_rng(0))
    states = []
    while not study.done:
        (todo,) = study.ask()
        study.tell(todo.number, measure(todo.option))
        states.append(study._state.copy())
    assert looks.reached(states[-1])
    assert not looks.reached(states[0])  # by a thread that began before
    assert looks.known(states[-1])


def test_a_single_option_that_is_left_ends_it_everywhere(tmp_path):
    storage = tmp_path / "s.db"
    study = study_of(storage, confidence=0.95)
    work(study, measure_with(np.random.default_rng(0)), most=9)
    study.retire("b", "broken")
    study.retire("c", "broken")
    assert everybody(study, storage)
    assert study.status()["next"] == []
    assert study.result().stopped == "It is done: 'a' is the only option that is left."
    study.reinstate("b")
    assert not everybody(study, storage)


def test_a_confidence_of_one_spends_the_budget_where_a_resolution_is_declared():
    told = {"options": list(TRUTH), "metrics": {"x": "max", "y": "max"}, "budget": 60, "storage": "sqlite://"}
    study = pp.Study.create("s", **told, resolution=2.0)
    work(study, measure_with(np.random.default_rng(0)))
    assert study.used < 60
    study.aim(confidence=1)
    work(study, measure_with(np.random.default_rng(1)))
    assert (study.used, study.result().stopped) == (60, None)


def test_what_is_taken_back_or_corrected_opens_it_again(storage):
    study = study_of(storage, confidence=0.95)
    work(study, measure_with(np.random.default_rng(0)))
    first = study.measurements()[0]
    study.correct(first["number"], {"x": -40.0, "y": -40.0}, "read from the wrong line")
    assert not study.done
    assert study.result().stopped is None
    assert study.ask()


def test_what_was_in_flight_is_looked_at_too():
    study = study_of("sqlite://", confidence=0.95)
    measure = measure_with(np.random.default_rng(0))
    beside = []
    while not study.done:
        for todo in study.ask(2, worker="w"):
            if not beside and study.used >= 6:
                beside.append(todo.number)
            elif todo.number not in beside:
                study.tell(todo.number, measure(todo.option))
    used = study.used
    study.tell(beside[0], {"x": -300.0, "y": 300.0})
    assert study.used == used + 1
    assert not study.done  # the noise is another one now


@pytest.mark.sample(3)
def test_it_can_be_told_to_be_surer_and_to_spend_everything(storage):
    study = study_of(storage, confidence=0.9)
    work(study, measure_with(np.random.default_rng(0)))
    before = study.used
    study.aim(confidence=0.9999)
    work(study, measure_with(np.random.default_rng(1)))
    assert before < study.used < 400
    assert study.result().probability >= 0.9999
    study.aim(confidence=1)
    work(study, measure_with(np.random.default_rng(2)))
    assert study.used == 400
    assert [event.details for event in study.events() if event.kind == "aimed"] == [{"confidence": 0.9999}, {"confidence": 1.0}]


def test_the_same_call_with_another_confidence_goes_on(tmp_path):
    rng, storage = np.random.default_rng(3), tmp_path / "s.db"
    told = {"options": list(TRUTH), "metrics": METRICS, "budget": 400, "storage": storage}
    first = pp.identify(measure_with(rng), **told, confidence=0.9)
    again = pp.identify(measure_with(rng), **told, confidence=0.9)
    assert again.used == first.used
    surer = pp.identify(measure_with(rng), **told, confidence=0.9999)
    assert surer.used > first.used
    assert surer.probability >= 0.9999


def test_an_aim_that_was_said_since_stands_when_the_first_call_is_made_again(tmp_path, capsys):
    rng, storage = np.random.default_rng(3), tmp_path / "s.db"
    told = {"options": list(TRUTH), "metrics": METRICS, "budget": 400, "storage": storage}
    first = pp.identify(measure_with(rng), **told, confidence=0.9)
    second = pp.identify(measure_with(rng), **told, confidence=0.99)
    pp.Study.open("study", storage=storage).aim(confidence=0.9999)
    for confidence in (0.9, 0.99):
        again = pp.identify(measure_with(rng), **told, confidence=confidence)
        assert again.probability >= 0.9999
        said = f"measuring until it is right with > 99.9%, as was said since, and not until it is right with {confidence:.0%}"
        assert said in capsys.readouterr().err
    assert first.used <= second.used < again.used < 400


def test_a_resolution_is_reached_in_units_of_the_noise_or_of_the_metrics():
    rng = np.random.default_rng(4)
    told = {"options": list(TRUTH), "metrics": {"x": "max", "y": "max"}, "budget": 2000}
    rough = pp.identify(measure_with(rng), **told, resolution=1.0)
    fine = pp.identify(measure_with(rng), **told, resolution={"x": 0.2, "y": 0.2})
    assert rough.used <= fine.used < 2000
    assert rough.resolution.factor <= 1.0
    assert max(fine.resolution.widths.values()) <= 0.2
    assert "right up to differences of 0.2 in x and 0.2 in y with 95%" in fine.stopped


def test_looks_are_rare_and_wait_for_every_option(monkeypatch):
    study = study_of("sqlite://", confidence=0.999999)
    looked, judged = [], stopping.is_reached
    monkeypatch.setattr(stopping, "is_reached", lambda *given: (looked.append(study._state.used), judged(*given))[1])
    measure = measure_with(np.random.default_rng(5), width=6.0)
    for _ in range(300):
        (todo,) = study.ask()
        study.tell(todo.number, measure(todo.option))
        study.done, study.progress()
    assert looked[0] == 6
    assert looked == [count for count in range(6, 301) if last_look(count) == count]
    assert len(looked) < 80


def test_an_aim_is_what_it_says():
    metrics = (pp.Metric("x", "max"), pp.Metric("y", "max", exact=True))
    assert not Aim().is_set
    assert not Aim(1.0).is_set
    assert not Aim(1.0, 0.5).is_set
    assert Aim(None, 0.5).is_set
    assert Aim(0.9).with_other(Aim(None, 0.5)) == Aim(0.9, 0.5)
    assert Aim(0.9, 0.5).says(Aim(None, 0.5))
    assert not Aim(0.9, 0.5).says(Aim(0.95))
    assert check_aim(None, {"x": 2}, metrics).to_dict() == {"resolution": {"x": 2.0}}
    assert not is_reached(Aim(), None, metrics)


@pytest.mark.parametrize(
    "told, message",
    [
        ({"confidence": 0.5}, "confidence=0.5"),
        ({"confidence": 95}, "confidence=95"),
        ({"resolution": 0}, "resolution=0"),
        ({"resolution": {}}, "resolution is empty"),
        ({"resolution": {"z": 1.0}}, "no metric with noise and a goal named 'z'"),
        ({"resolution": {"y": 1.0}}, "'y'"),
        ({"confidence": 0.9, "policy": "ege-sr"}, "cannot stop when it is sure"),
    ],
)
def test_bad_aims_are_refused(told, message):
    with pytest.raises((InvalidInput, LookupError), match=message):
        pp.Study.create(
            "s", options=["a", "b"], metrics={"x": "max", "y": "max"}, exact=["y"], budget=90, storage="sqlite://", **told
        )


def test_margins_and_a_resolution_say_the_same_thing_twice():
    with pytest.raises(InvalidInput, match="leave resolution out"):
        study_of("sqlite://", resolution=0.2)


def test_study_files_say_when_to_stop(tmp_path):
    from paretopick.studies.files import read_study_file, study_file_text

    path = tmp_path / "s.toml"
    path.write_text('options = ["a", "b"]\nbudget = 40\nconfidence = 0.9\nresolution = {x = 0.5}\n[metrics]\nx = "max"\n')
    told = read_study_file(path)
    assert told.definition.aim == Aim(0.9, {"x": 0.5})
    path.write_text(study_file_text(told))
    assert read_study_file(path).definition == told.definition


def test_a_single_option_with_a_limit_is_measured():
    rng = np.random.default_rng(8)
    for limit, kept in ((2.0, ("a",)), (0.5, ())):
        result = pp.identify(lambda _: {"t": rng.normal(1.0, 0.1)}, ["a"], {"t": f"min<={limit}"}, 60, confidence=0.95)
        assert result.pareto == kept
        assert result.status == {"a": "pareto" if kept else "infeasible"}
        assert result.used < 60
    assert result.sentence == "No option keeps the limits."


def test_the_resolution_of_a_metric_with_log_is_a_share(tmp_path):
    metrics = [pp.Metric("ms", "min", log=True), pp.Metric("q", "max")]
    rng = np.random.default_rng(4)

    def measure(option):
        ms = {"a": 100.0, "b": 200.0, "c": 105.0}[option]
        return {"ms": ms * np.exp(rng.normal(0, 0.1)), "q": rng.normal({"a": 0.0, "b": 5.0, "c": -9.0}[option], 0.1)}

    for wrong in (5, 0.05, "5", "-5%", "much%"):
        with pytest.raises(pp.InvalidInput, match=r"resolution of 'ms' is .* write a share, such as '5%'"):
            pp.identify(measure, ["a", "b", "c"], metrics, 400, resolution={"ms": wrong})
    result = pp.identify(measure, ["a", "b", "c"], metrics, 400, resolution={"ms": "6%"}, storage=tmp_path / "s.db", name="s")
    assert result.stopped.startswith("It is right up to differences of 6% in ms with 95%, as was asked for: ")
    assert result.resolution.widths["ms"] <= 0.06
    assert pp.Study.open("s", storage=tmp_path / "s.db").result().stopped == result.stopped


def test_nothing_is_said_to_be_sure_enough_below_the_confidence_that_was_asked_for():
    unsure = 0
    for seed in range(6):
        given = {"options": list(TRUTH), "metrics": METRICS, "budget": 30, "confidence": 0.999}
        result = pp.identify(measure_with(np.random.default_rng(seed)), **given)
        if result.stopped is None and 0.96 < result.probability < 0.995:
            unsure += 1
            assert "sure enough" not in result.next_step
    assert unsure
