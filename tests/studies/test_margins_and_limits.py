"""Studies whose metrics have margins, limits, logarithms and units, or no goal: nothing breaks, nothing is half-written."""

import csv
import io
import json
import re
import tomllib
from dataclasses import replace

import numpy as np
import pytest

import paretopick as pp
from paretopick.storage import open_storage
from paretopick.storage.backups import backup, restore
from paretopick.studies.checks import check_storage
from paretopick.studies.definition import RESERVED_LATER, Definition, define
from paretopick.studies.imports import import_table
from paretopick.studies.opening import create_or_open
from paretopick.studies.state import new_state, restore_state
from paretopick.studies.tables import export, sheet
from support.terminals import call, stdout_of
from support.twin import DataTwin

METRICS = "seconds:min~2%<=50,errors<=0.01,size:min"
GIVEN = {"options": ["a", "b", "c"], "metrics": METRICS, "budget": 40, "exact": ["size"]}
SIZES = {"a": 10.0, "b": 20.0, "c": 5.0}
CREATE = ("create", "s", "--options", "a,b,c", "--metrics", METRICS, "--exact", "size", "--budget", "40")


def values(todo: pp.Measurement) -> dict[str, float]:
    """b is fast and breaks the limit of errors."""
    rng = np.random.default_rng(todo.number)
    seconds = {"a": 20.0, "b": 2.0, "c": 40.0}[todo.option]
    errors = {"a": 0.001, "b": 0.4, "c": 0.002}[todo.option]
    return {"seconds": seconds * np.exp(rng.normal(0, 0.1)), "errors": errors * rng.uniform(0.9, 1.1), "size": SIZES[todo.option]}


def finished(storage="sqlite://") -> pp.Study:
    study = pp.Study.create("s", **GIVEN, storage=storage)
    while not study.done:
        for todo in study.ask(4):
            study.tell(todo.number, values(todo))
    return study


def test_a_study_with_a_metric_without_a_goal_comes_to_its_end(storage):
    study = finished(storage)
    assert study.metrics == {"seconds": "min", "errors": None, "size": "min"}
    assert study.result().status["b"] == "infeasible"
    assert pp.Study.open("s", storage=storage).result() == study.result()
    assert study.status()["details"] == {
        "seconds": {"margin": "2%", "at_most": 50.0, "log": True},
        "errors": {"at_most": 0.01},
    }


def test_means_of_a_metric_with_log_are_geometric_and_replay_is_literal(storage):
    study = finished(storage)
    study.correct(1, {"seconds": 3.5}, "misread")
    study.void(2, "wrong")
    state, twin = study._state, DataTwin(study.definition, study.events())
    np.testing.assert_allclose(state.means(), twin.means(), rtol=1e-14)
    np.testing.assert_array_equal(state.compared_means(), twin.compared_means())
    again = new_state(study.definition)
    again.apply(study.events())
    assert again.to_dict() == state.to_dict()
    assert restore_state(study.definition, json.loads(json.dumps(state.to_dict()))).to_dict() == state.to_dict()
    assert state.policy.next_arms(5).tolist() == twin.policy.next_arms(5).tolist()


@pytest.mark.parametrize("value", [0.0, -3.0])
def test_a_value_without_a_logarithm_is_refused_and_nothing_is_written(storage, value, tmp_path):
    study = pp.Study.create("s", **GIVEN, storage=storage)
    first, second = study.ask(2)
    message = rf"metric 'seconds' is {value:g}, and its margin 2% needs values above 0"
    with pytest.raises(pp.InvalidInput, match=message):
        study.tell(first.number, {"seconds": value, "errors": 0, "size": 10})
    with pytest.raises(pp.InvalidInput, match=message):
        study.tell([first.number, second.number], [{"seconds": 1, "errors": 0, "size": 10}, (value, 0, 20)])
    with pytest.raises(pp.InvalidInput, match=message):
        study.add([("a", (1.0, 0.0, 10.0)), ("b", (value, 0.0, 20.0))])
    (tmp_path / "rows.csv").write_text(f"option,seconds,errors,size\na,1,0,10\nb,{value},0,20\nc,x,0,5\n")
    with pytest.raises(pp.InvalidInput, match=rf"(?s)nothing was imported.*row 3: {message}.*row 4: "):
        import_table(study, tmp_path / "rows.csv")
    assert study.events() == []
    study.tell(first.number, {"seconds": 1, "errors": -1, "size": 10})  # a limit is no bound of values
    with pytest.raises(pp.InvalidInput, match=message):
        study.correct(first.number, {"seconds": value}, "misread")
    assert [event.kind for event in study.events()] == ["told"]


def test_a_value_without_a_logarithm_is_a_failed_measurement_and_ends_the_run():
    def measure(option):
        return {"seconds": 0.0 if option == "c" else 1.0, "errors": 0.0, "size": SIZES[option]}

    with pytest.raises(pp.MeasuringFailed, match=r"option 'c' gave what is refused.*needs values above 0") as problem:
        pp.identify(measure, **GIVEN)
    assert {event.kind for event in problem.value.study.events()} == {"told", "failed"}


def test_sheets_imports_and_exports_have_all_metrics(tmp_path):
    study = pp.Study.create("s", **GIVEN, storage=tmp_path / "s.db")
    rows = list(csv.DictReader(io.StringIO(sheet(study, study.ask(5, worker="sheet", lease=None)))))
    assert list(rows[0]) == ["number", "option", "repeat", "seconds", "errors", "size", "failed", "study"]
    for row in rows:
        row |= {"seconds": "3.5", "errors": "", "size": str(SIZES[row["option"]])}
    with (tmp_path / "sheet.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    assert import_table(study, tmp_path / "sheet.csv").told == 5
    other = pp.Study.create("other", **GIVEN, storage=tmp_path / "s.db")
    (tmp_path / "export.csv").write_bytes(export(study, "csv"))
    assert import_table(other, tmp_path / "export.csv").added == 5
    record = json.loads(export(study, "json"))
    assert Definition.from_dict(record["definition"]) == study.definition
    assert record["definition"]["metrics"]["errors"] is None
    pandas = pytest.importorskip("pandas")
    frame = pandas.read_parquet(io.BytesIO(export(study, "parquet")))
    assert frame[["seconds", "errors", "size"]].dtypes.astype(str).tolist() == ["float64"] * 3


def test_the_command_line_takes_margins_and_limits(tmp_path):
    created = json.loads(stdout_of(*CREATE, "--json", cwd=tmp_path))
    assert created["metrics"] == {"seconds": "min", "errors": None, "size": "min"}
    stdout_of("ask", "s", "-n", "2", cwd=tmp_path)
    stdout_of("tell", "s", "1", "seconds=2", "errors=0.001", "size=10", cwd=tmp_path)
    refused = call("tell", "s", "2", "seconds=0", "errors=0.001", "size=20", cwd=tmp_path)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert refused.stderr.startswith("error: metric 'seconds' is 0, and its margin 2% needs values above 0")
    stdout_of("tell", "s", "2", "seconds=3", "errors=none", "size=20", cwd=tmp_path)
    assert "2 of 40 measurements used" in stdout_of("status", "s", cwd=tmp_path)
    assert stdout_of("status", cwd=tmp_path)
    assert "errors" in stdout_of("result", cwd=tmp_path)
    for form in ("--json", "--csv"):
        assert "errors" in stdout_of("result", "s", form, cwd=tmp_path)
    assert json.loads(stdout_of("measurements", "s", "--json", cwd=tmp_path))[1]["errors"] is None
    stdout_of("export", "s", "-o", "out.csv", cwd=tmp_path)
    assert stdout_of("sheet", "s", cwd=tmp_path).startswith("number,option,repeat,seconds,errors,size,failed,study")


@pytest.mark.parametrize(
    "metrics, message",
    [
        ("errors<=0.01", "are all limits; give one a goal"),
        ("seconds:min~2", "has a margin, a limit or log, of which ege-sr knows nothing; use"),
        ("seconds:min>=3", "is to be small, and its limit >=3 keeps it from being that"),
        ("seconds:min~x", "~x of metric 'seconds:min~x' is no number"),
    ],
)
def test_the_command_line_refuses_what_cannot_be_with_what_to_write(metrics, message, tmp_path):
    given = ("--options", "a,b", "--metrics", metrics, "--budget", "9", "--policy", "ege-sr")
    for verb in (("create", "s", *given), ("run", *given, "--", "echo", "seconds={option}")):
        refused = call(*verb, cwd=tmp_path)
        assert refused.returncode == 2
        assert message in refused.stderr
    assert not (tmp_path / "paretopick.db").exists()


@pytest.mark.slow
def test_a_run_with_a_limit_alone_creates_goes_on_and_refuses_another_limit(tmp_path):
    def run(metrics):
        words = ("--name", "s", "--options", "3,4,5", "--budget", "8", "--metrics", metrics)
        return call("run", *words, "--", "echo", '{{"seconds": {option}, "errors": 0.{option}}}', cwd=tmp_path)

    done = run("seconds:min~2%,errors<=0.45")
    assert done.returncode == 0, done.stderr
    assert "Surely beyond the limits" in done.stdout or "beyond errors at most 0.45" in done.stdout
    assert "was finished before" in run("seconds:min~2%,errors<=0.45").stderr
    refused = run("seconds:min~3%,errors<=0.4")
    assert refused.returncode == 2
    assert (
        "metric 'seconds' is seconds:min~2% there and seconds:min~3% here; metric 'errors' is errors<=0.45 there and "
        "errors<=0.4 here" in refused.stderr
    )


@pytest.mark.parametrize(
    "change, said",
    [
        ({"metrics": "seconds:min,errors<=0.01,size:min"}, ["metric 'seconds' is seconds:min~2%<=50 there and seconds:min here"]),
        (
            {"metrics": {"seconds": {"goal": "min", "log": True, "unit": "s"}, "errors": "<=0.01", "size": "min"}},
            ["metric 'seconds' is seconds:min~2%<=50 there and seconds:min (log, in s) here"],
        ),
        ({"exact": ()}, ["metric 'size' is size:min (exact) there and size:min here"]),
        ({"scale": "raw"}, ["scale is noise there and raw here"]),
        (
            {"metrics": "errors<=0.01,seconds:min~2%<=50,size:min"},
            [
                "metrics is seconds:min~2%<=50, errors<=0.01, size:min (exact) there and errors<=0.01, seconds:min~2%<=50, "
                "size:min (exact) here"
            ],
        ),
        ({"options": [*"abc", "x" * 70], "budget": 50}, ["options is", "budget is 40 there and 50 here"]),
    ],
)
def test_differences_in_margins_limits_and_logarithms_are_said_in_words(change, said):
    mine, other = define(**GIVEN), define(**GIVEN | change)
    found = mine.differences(other)
    assert len(found) == len(said)
    assert all(sentence.startswith(start) for sentence, start in zip(found, said, strict=True))
    assert mine.differences(define(**GIVEN)) == []
    assert len(other.differences(mine)) == len(said)  # also where only the other one has more to say


def test_a_difference_behind_what_is_shown_is_found():
    long = [f"a long name of an option {i}" for i in range(9)]
    mine, other = (define(options=[*long, last], metrics="m:min", budget=99) for last in "xy")
    assert mine.differences(other)


def test_checks_backups_and_restores_know_margins_and_limits(url, tmp_path):
    study = finished(open_storage(url))
    assert check_storage(url).fine
    backup(url, tmp_path / "backup.db")
    events = study.events()
    study.close()
    restore(tmp_path / "backup.db", url, replace=True)
    again = pp.Study.open("s", storage=url)
    assert (again.definition, again.events()) == (study.definition, events)
    assert check_storage(url).fine


def test_a_logarithm_of_nothing_in_a_log_is_named_by_a_check(tmp_path):
    """Whoever wrote it: such an event cannot be replayed."""
    definition = define(**GIVEN)
    plain = define(**GIVEN | {"metrics": "seconds:min<=50,errors<=0.01,size:min"})
    study = create_or_open("s", plain, tmp_path / "s.db")
    study.add([("a", (0.0, 0.0, 10.0))])
    state = new_state(definition)
    with pytest.raises(pp.LogDamaged, match=r"event 2 .* with the values \[0.0, 0.0, 10.0\]; expected .* with log above 0"):
        state.apply(study.events())


def test_a_definition_without_details_is_that_of_before():
    plain = define(**GIVEN | {"metrics": "seconds:min,errors:min,size:min"})
    assert "details" not in plain.to_dict()
    with_details = define(**GIVEN)
    assert Definition.from_dict(json.loads(json.dumps(with_details.to_dict()))) == with_details


@pytest.mark.parametrize("name", RESERVED_LATER)
def test_a_study_that_has_a_column_of_today_as_a_metric_goes_on(name, tmp_path):
    given = {"options": ["a", "b"], "metrics": {name: "max", "m": "min"}, "budget": 8}
    definition = define(**given)
    with pytest.raises(pp.InvalidInput, match=f"'{name}' is a column that tables have already"):
        pp.Study.create("s", **given, storage=tmp_path / "s.db")
    with pytest.raises(pp.InvalidInput, match=f"'{name}' is a column that tables have already"):
        create_or_open("s", definition, tmp_path / "s.db")
    assert pp.Study.list(storage=tmp_path / "s.db") == []
    open_storage(tmp_path / "s.db").create("s", definition.to_dict())  # as an earlier version did
    study = create_or_open("s", definition, tmp_path / "s.db")
    for todo in study.ask(8):
        study.tell(todo.number, (todo.number, 1.0))
    assert pp.Study.open("s", storage=tmp_path / "s.db").result().pareto
    assert study.result().table[0][name] == study.result().options[0].means[name]


def test_a_file_of_a_study_is_written_from_its_definition_with_all_that_matters(tmp_path):
    from paretopick.studies.files import StudyFile, read_study_file, study_file_text

    study = finished()
    path = tmp_path / "again.toml"
    path.write_text(study_file_text(StudyFile("s", replace(study.definition, folder=str(tmp_path)))))
    assert tomllib.loads(path.read_text())["metrics"]["errors"] == {"at_most": 0.01}
    assert not study.definition.differences(read_study_file(path).definition)


@pytest.mark.slow
@pytest.mark.parametrize("metrics", [{"s": "min~2%"}, {"s": "min", "m": {"goal": "max", "log": True}}])
def test_ratios_beyond_all_numbers_are_told_all_the_same(metrics, tmp_path):
    study = pp.Study.create("s", options=["a", "b", "c"], metrics=metrics, budget=40, storage=tmp_path / "paretopick.db")
    for at, todo in enumerate(study.ask(9)):
        study.tell(todo.number, dict.fromkeys(metrics, 1e140 if at % 2 else 1e-140))
    result = study.result()
    assert all(np.isfinite(option.intervals["s"]).all() for option in result.options)
    assert "a factor of " in str(result)
    assert call("report", "s", "-o", "s.html", "--rehearsals", "0", cwd=tmp_path).returncode == 0


def test_comparisons_in_a_metric_of_ratios_are_all_ratios():
    """Also of options that hardly differ in it, which would be said in its unit."""
    rng = np.random.default_rng(3)
    metrics = [pp.Metric("seconds", "min"), pp.Metric("memory", "min", margin="3%", unit="MB")]
    study = pp.Study.create("s", options=[f"o{i}" for i in range(8)], metrics=metrics, budget=80, storage="sqlite://")
    study.add([(f"o{i}", [1.0 + i, 20 * np.exp(0.001 * rng.normal())]) for i in range(8) for _ in range(10)])
    said = [str(by) for row in study.result().options if row.beaten_by for by in row.beaten_by.by if by.metric == "memory"]
    assert len(said) == 7
    assert all(re.search(r"%|times|equal", text) for text in said)
    assert not any("MB" in text for text in said)


def test_intervals_of_exact_metrics_are_their_values():
    metrics = [pp.Metric("seconds", "min", margin="2%"), pp.Metric("bytes", "min", margin="1%", exact=True)]
    study = pp.Study.create("s", options=["a", "b"], metrics=metrics, budget=20, storage="sqlite://")
    study.add([(name, [1 + 0.1 * i, value]) for name, value in (("a", 14488.0), ("b", 123457.1)) for i in range(5)])
    for row in study.result().options:
        assert row.intervals["bytes"] == (row.means["bytes"], row.means["bytes"])
        assert row.means["bytes"] in (14488.0, 123457.1)


def test_a_metric_that_decides_nothing_since_its_margin_is_wider_than_all_differences_is_named():
    times = {"quick": 1.0, "slow": 11.0}
    rows = [{"option": name, "s": s + 0.01 * n, "size": 500} for name, s in times.items() for n in range(6)]
    found = pp.judge(rows, {"s": "min~10%", "size": "min~1%"}, exact=["size"])
    assert found.to_pandas().loc["slow", "worth_keeping"] > 0.9  # nobody is better by the margin everywhere
    (note,) = [note for note in found.notes if "decides nothing" in note]
    assert note.startswith("as measured, no two options differ by more than the margin in 'size': it decides nothing")
    for metrics in ({"s": "min~10%", "size": "min"}, {"s": "min~10%"}):
        assert not any("decides nothing" in note for note in pp.judge(rows, metrics).notes)
