"""identify: options of any kind, calls that take too long, several measurements at once, studies that are there already."""

import functools
import gc
import os
import pickle
import subprocess
import sys
import time
import weakref
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import polars
import pyarrow
import pytest

import paretopick as pp
from paretopick.studies.fingerprints import fingerprint, is_another
from paretopick.studies.named_options import name_of, named_options

METRICS = {"quality": "max", "cost": "min"}


def near(level):
    """Better and dearer the higher, with a little noise."""
    return {"quality": level + np.random.default_rng().normal(0, 0.01), "cost": float(level)}


# Options of any kind.


def test_numbers_come_back_as_numbers():
    result = pp.identify(near, [1, 2.5, np.int64(7)], METRICS, 12, exact=["cost"])
    assert result.pareto == (1, 2.5, 7)
    assert [type(option) for option in result.pareto] == [int, float, np.int64]
    assert result.status[2.5] == "pareto"
    assert result.in_answer[7]
    assert result.groups.surely_in == (7, 2.5, 1)
    assert result.answer == ("1", "2.5", "7")
    assert result.to_dict()["pareto"] == ["1", "2.5", "7"]
    assert result.to_dict()["groups"]["surely_in"] == ["7", "2.5", "1"]


def test_a_mapping_hands_its_values_to_measure_and_results_speak_of_its_keys():
    seen = []
    options = {"linear": len, 3: ("a", "tuple"), "settings": {"level": 9}}
    result = pp.identify(lambda option: seen.append(option) or [1.0], options, {"m": "max"}, 6)
    assert set(result.status) == {"linear", 3, "settings"}
    assert all(any(value is one for one in seen) for value in options.values())


def test_settings_of_a_mapping_stay_in_the_study():
    options = {"zlib 1": {"level": 1}, "zlib 9": {"level": np.int64(9)}}
    result = pp.identify(lambda settings: near(settings["level"]), options, METRICS, 6)
    assert {row["option"]: row["level"] for row in result.study.measurements()} == {"zlib 1": 1, "zlib 9": 9}


def test_dicts_are_named_by_their_settings_and_come_back_as_dicts():
    options = [{"level": 1, "kind": "fast", "model": len}, {"level": 9, "kind": "best", "model": None}]
    result = pp.identify(lambda option: near(option["level"]), options, METRICS, 8, exact=["cost"])
    assert result.pareto[0] is options[0]
    assert result.pareto[1] is options[1]
    assert list(result.status) == ["level=1, kind=fast, model=len", "level=9, kind=best, model=None"]
    first = result.study.measurements()[0]
    assert (first["level"], first["kind"]) in [(1, "fast"), (9, "best")]
    assert "model" not in first


def test_settings_that_are_called_like_metrics_are_for_measure_alone():
    truth = {"a": {"quality": 3.0, "cost": 1.0, "at": "home"}, "b": {"quality": 1.0, "cost": 2.0, "at": "work"}}
    result = pp.identify(lambda row: (row["quality"], row["cost"]), truth, METRICS, 8)
    assert result.pareto == ("a",)


def test_rows_with_names_of_their_own_keep_them_and_a_name_that_is_there_twice_is_a_setting():
    named = named_options([{"name": "x", "level": 1}, {"name": "y", "level": 1}], stored=True)
    assert list(named.table.items()) == [("x", {"level": 1}), ("y", {"level": 1})]
    named = named_options([{"name": "zlib", "level": 1}, {"name": "zlib", "level": 9}], stored=True)
    assert list(named.table) == ["name=zlib, level=1", "name=zlib, level=9"]


def helper():
    """Is called like another one."""


class Model:
    """Python shows where in memory it is, and nothing else."""

    def helper(self):
        """Likewise."""


@pytest.mark.parametrize(
    "option, name",
    [
        (True, "True"),
        (None, "None"),
        (np.float32(0.1), "0.1"),
        (Model(), "Model"),
        ([Model()], "[Model]"),
        (Model, "Model"),
        (functools.partial(helper, 3, kind="x y"), "helper(3, kind='x y')"),
        ({"a": {"b": 1}, "c": "9"}, "a={'b': 1}, c='9'"),
        ("a name " * 30, "a name " * 30),
        (b"\x00", r"b'\x00'"),
        (np.array([[1, 2], [3, 4]]), "array([[1, 2], [3, 4]])"),
    ],
)
def test_names_say_what_an_option_is_and_not_where_in_memory(option, name):
    assert name_of(option) == name


def test_long_names_are_cut_and_stay_different():
    names = {name_of([*range(50), last]) for last in range(20)}
    assert len(names) == 20
    assert all(len(name) <= 100 and name.startswith("[0, 1, 2") for name in names)


def test_namesakes_get_longer_names_or_numbers_and_are_refused_where_they_would_have_to_be_found_again():
    assert list(named_options([helper, Model.helper], stored=True).table) == [
        "test_identify.helper",
        "test_identify.Model.helper",
    ]
    assert list(named_options([1, "1"], stored=True).table) == ["1", "'1'"]
    twins = [Model(), Model(), lambda: 0]
    assert list(named_options(twins, stored=False).table) == ["Model 1", "Model 2", "<lambda>"]
    with pytest.raises(pp.InvalidInput, match=r"options 1 and 2 are both called 'Model', .* give names to them, as in options={"):
        named_options(twins, stored=True)
    with pytest.raises(pp.InvalidInput, match="option 'a' is there twice"):
        named_options(["a", "b", "a"], stored=False)


def test_objects_that_cannot_be_keys_are_keyed_by_their_names():
    arrays = [np.array([1.0]), np.array([2.0])]
    result = pp.identify(lambda array: near(array[0]), arrays, METRICS, 8, exact=["cost"])
    assert result.pareto[0] is arrays[0]
    assert list(result.status) == ["array([1.])", "array([2.])"]


def test_a_baseline_is_found_by_what_it_is_called_too():
    levels = (0, 1)
    for options, baseline in (
        ([("zlib", level) for level in levels], ("zlib", levels[0])),
        ([np.full(3, level) for level in levels], np.zeros(3, dtype=int)),
        ([2.5, 7], np.float64(2.5)),
    ):
        found = pp.identify(lambda _: [1.0], options, {"m": "max"}, 4, baseline=baseline)
        assert found.baseline is options[0]
    with pytest.raises(pp.UnknownName):
        pp.identify(lambda _: [1.0], [1, 2], {"m": "max"}, 4, baseline=("zlib", 9))


def test_objects_of_a_stored_study_are_found_again_in_the_next_call(tmp_path):
    given = {"metrics": METRICS, "storage": tmp_path / "s.db", "exact": ["cost"]}
    pp.identify(near, [1, 2], budget=8, **given)
    result = pp.identify(near, [1, 2, 3], budget=16, **given)
    assert result.pareto == (1, 2, 3)
    assert result.used == 16
    assert result.study.result().pareto == ("1", "2", "3")  # who opens it by its name knows names


# The study of a result.


def test_a_result_keeps_its_study_and_its_measurements():
    result = pp.identify(near, [1, 2], METRICS, 8)
    assert result.study.name == result.study_name == result.to_dict()["study"] == "study"
    assert len(result.study.measurements()) == 8
    result.study.extend(budget=12)
    assert result.study.budget == 12
    sent = pickle.loads(pickle.dumps(result))
    assert sent == result
    assert sent.study is None
    assert sent.pareto == result.pareto


def test_a_study_ends_with_the_last_result_that_has_it(tmp_path):
    result = pp.identify(near, [1, 2], METRICS, 8, storage=tmp_path / "s.db")
    study = weakref.ref(result.study)
    gc.disable()
    try:
        del result
        assert study() is None
    finally:
        gc.enable()


def test_no_database_stays_open_behind_a_result_or_a_failure(tmp_path):
    given = {"metrics": METRICS, "storage": tmp_path / "s.db"}
    result = pp.identify(near, [1, 2], budget=8, **given)
    with pytest.raises(pp.MeasuringFailed) as failed:
        pp.identify(lambda _: 1 / 0, [1, 2], budget=12, **given)
    links = (os.path.join("/proc/self/fd", entry) for entry in os.listdir("/proc/self/fd"))
    assert not [link for link in links if os.path.islink(link) and str(tmp_path) in os.readlink(link)]
    assert failed.value.study.used == result.study.used == 8


# What measure returns.


def test_what_is_beside_the_metrics_is_kept():
    beside = {"plate": "p1", "seconds": 1.5, "ok": True, "loss": float("nan"), "day": None}
    result = pp.identify(lambda level: near(level) | beside, [1, 2], METRICS, 6)
    assert "loss" not in result.study.measurements()[0]
    assert {(row["plate"], row["seconds"], row["ok"]) for row in result.study.measurements()} == {("p1", 1.5, True)}


@pytest.mark.parametrize(
    "values, message",
    [
        ({"qualty": 1.0, "cost": 2.0}, "no value for metric 'quality', .*By 'qualty' you may mean 'quality'"),
        ({"Quality": 1.0, "COST": 2.0}, "By 'Quality' you may mean 'quality'. By 'COST' you may mean 'cost'"),
        ([1.0], "has 1 values; a measurement has 2: 'quality', 'cost'"),
        ({"quality": "good", "cost": 1.0}, "'good'"),
        (near(1) | {"model": Model()}, "'model' is <.*Model object .*; beside the metrics .* finite numbers and texts"),
        (near(1) | {"history": [1, 2, 3]}, r"'history' is \[1, 2, 3\]; beside the metrics"),
        ({"quality": np.zeros(3), "cost": np.zeros(2)}, "'quality' has 3, 'cost' has 2 values; give as many of each metric"),
        (np.zeros((0, 2)), "has no rows"),
        (np.zeros((4, 3)), "has 3 values; a measurement has 2"),
        ({"quality": np.array([1.0, np.nan]), "cost": 1.0}, "nan"),
    ],
)
def test_what_is_refused_ends_it_at_the_first_call_and_the_study_says_why(values, message):
    calls = []
    with pytest.raises(pp.MeasuringFailed, match=message) as problem:
        pp.identify(lambda option: calls.append(option) or values, ["a", "b"], METRICS, 10)
    assert len(calls) == 1
    event = problem.value.study.events()[-1]
    assert event.kind == "failed"
    assert event.details["why"].rstrip(".") in str(problem.value)
    assert problem.value.study.used == 0


def test_a_row_of_a_data_frame_is_known_by_its_names():
    result = pp.identify(lambda level: pd.Series({"cost": level, "quality": 10.0}), [1, 2], METRICS, 6)
    assert result.study.measurements()[0]["quality"] == 10.0


def several(level, n):
    rng = np.random.default_rng()
    return {"quality": level + rng.normal(0, 0.1, n), "cost": rng.normal(level, 0.1, n)}


@pytest.mark.parametrize(
    "made",
    [
        lambda level: several(level, 5) | {"plate": "p"},
        lambda level: several(level, 5) | {"cost": float(level), "plate": list("vwxyz")},
        lambda level: np.stack(list(several(level, 5).values()), axis=1),
        lambda level: pd.DataFrame(several(level, 5))[["cost", "quality"]],
        lambda level: [dict(row) for row in pd.DataFrame(several(level, 5)).to_dict("records")],
    ],
    ids=["arrays", "arrays and numbers", "rows", "data frame", "mappings"],
)
@pytest.mark.parametrize("policy", ["doubt", "uniform", "ege-sr"])
def test_several_measurements_at_once_count_each_and_keep_the_budget(made, policy):
    calls = []
    result = pp.identify(lambda level: calls.append(level) or made(level), [1, 2], METRICS, 33, policy=policy)
    rows = [row for row in result.study.measurements() if row["status"] == "told"]
    assert result.done
    assert result.used == len(rows) <= 33
    assert len(calls) < result.used / 2
    assert all(abs(row["quality"] - float(row["option"])) < 1 for row in rows)
    assert any("had no room in the budget" in note for note in result.notes) == (5 * len(calls) > len(rows))
    for option in ("1", "2"):
        assert sorted(row["repeat"] for row in rows if row["option"] == option) == list(
            range(sum(row["option"] == option for row in rows))
        )


def test_several_at_once_leave_room_for_what_others_are_measuring():
    study = pp.Study.create("s", options=["a", "b"], metrics={"m": "max"}, budget=6, storage="sqlite://")
    study.ask(3, worker="other")
    (mine,) = study.ask(worker="me")
    assert study.tell_repeats(mine.number, [[float(i)] for i in range(9)]) == 3
    assert study.used == 3
    assert study.ask(9, worker="me") == []
    with pytest.raises(pp.AlreadyTold):
        study.tell_repeats(mine.number, [[5.0], [6.0]])
    with pytest.raises(pp.InvalidInput, match="there are no measurements"):
        study.tell_repeats(mine.number, [])


def test_several_at_once_count_once_however_often_the_call_is_made():
    study = pp.Study.create("s", options=["a", "b"], metrics={"m": "max"}, budget=6, storage="sqlite://")
    (mine,) = study.ask()
    assert [study.tell_repeats(mine.number, [[1.0], [2.0]], request="r") for _ in range(2)] == [2, 2]
    assert study.used == 2
    (mine,) = study.ask()
    assert [study.tell_repeats(mine.number, [[1.0]] * 9, request="s") for _ in range(2)] == [4, 4]
    assert study.used == 6


def test_several_at_once_are_refused_where_repeats_are_paired_and_share_the_time_that_they_took():
    with pytest.raises(pp.MeasuringFailed, match="3 values came out of measurement 1, which is one repeat"):
        pp.identify(lambda level: several(level, 3), [1, 2], METRICS, 12, pairing="repeat")
    result = pp.identify(lambda level: time.sleep(0.02) or several(level, 4), [1, 2], METRICS, ("seconds", 0.1))
    took = [row["seconds"] for row in result.study.measurements()]
    assert len(took) % 4 == 0
    assert len(set(took[:4])) == 1
    assert took[0] >= 0.005


@pytest.mark.parametrize(
    "made",
    [
        polars.DataFrame({"m": [1.0, 2.0]}),
        pyarrow.table({"m": [1.0, 2.0]}),
        {"m": polars.Series([1.0, 2.0])},
        {"m": pd.Series([1.0, 2.0])},
    ],
    ids=["polars", "arrow", "series of polars", "series of pandas"],
)
def test_data_frames_of_others_are_several_measurements_too(made):
    rows = pp.identify(lambda _: made, ["a", "b"], {"m": "max"}, 4).study.measurements()
    assert sorted(row["m"] for row in rows) == [1.0, 1.0, 2.0, 2.0]


class Tensor:
    """A number of a library that says the size of its arrays by a method."""

    def size(self):
        return ()

    def item(self):
        return 0.5


def test_a_number_of_another_library_is_a_value():
    assert pp.identify(lambda _: {"m": Tensor()}, ["a", "b"], {"m": "max"}, 4).table[0]["m"] == 0.5
    with pytest.raises(pp.MeasuringFailed, match=r"'m' is .*, which is not a number"):
        pp.identify(lambda _: [polars.Series([1.0, 2.0])], ["a", "b"], {"m": "max"}, 4)


def test_lists_keep_the_kinds_of_their_entries_and_ragged_ones_are_refused():
    made = {"m": [1.0, 2.0], "plate": ["left", 3]}
    rows = pp.identify(lambda _: made, ["a", "b"], {"m": "max"}, 8).study.measurements()
    assert [row["plate"] for row in rows[:2]] == ["left", 3]
    with pytest.raises(pp.MeasuringFailed, match=r"metric 'm' is \[1\.0\], which is not a number"):
        pp.identify(lambda _: {"m": [[1.0], [2.0, 3.0]]}, ["a", "b"], {"m": "max"}, 8)


# Calls that take too long.


def test_a_call_that_takes_too_long_has_failed_and_what_it_brings_is_not_used():
    calls = []

    def measure(option):
        calls.append(option)
        if len(calls) == 2:
            time.sleep(1.0)
            return 99.0, 99.0
        return 1.0, 2.0

    said = []
    given = {"timeout": 0.4, "watch": lambda _, text: said.append(text)}
    result = pp.identify(measure, ["a", "b"], METRICS, 8, **given)
    rows = result.study.measurements()
    assert [row["why"] for row in rows if row["status"] == "failed"] == ["it took longer than timeout=0.4 s"]
    assert result.used == 8
    assert all(row["quality"] == 1.0 for row in rows if row["status"] == "told")
    assert "1 attempt to measure failed." in result.notes
    assert any("failed: it took longer" in text for text in said)


def test_an_option_that_always_takes_too_long_is_named():
    with pytest.raises(pp.MeasuringFailed, match=r"option 'b' failed 2 times in a row, .*longer than timeout=0\.05 s"):
        pp.identify(
            lambda option: time.sleep(0.3 * (option == "b")) or [1.0], ["a", "b"], {"m": "max"}, 8, timeout=0.05, retries=1
        )
    with pytest.raises(pp.InvalidInput, match="timeout"):
        pp.identify(near, [1, 2], METRICS, 8, timeout=0)


def test_in_an_executor_of_the_user_a_late_call_keeps_its_place_until_it_ends():
    begun, ended = [], []

    def measure(option):
        begun.append(time.monotonic())
        if len(begun) == 1:
            time.sleep(0.8)
        ended.append(time.monotonic())
        return [1.0]

    with ThreadPoolExecutor(1) as executor:
        result = pp.identify(measure, ["a", "b"], {"m": "max"}, 6, timeout=0.4, workers=executor)
    assert result.used == 6
    assert result.study.status()["failed"] == 1  # none has waited for its turn until its time was over
    assert begun[1] >= ended[0]


def sleeps_at_first(path):
    """Leaves a file when it is called first, and then sleeps for long; leaves another one if it wakes up again."""
    if not path.exists():
        path.touch()
        time.sleep(1)
        path.with_suffix(".late").touch()
    return [os.getpid()]


@pytest.mark.slow
def test_a_process_that_takes_too_long_is_ended_and_the_others_go_on(tmp_path):
    options = {name: tmp_path / name for name in ("a", "b", "c")}
    for name in ("b", "c"):
        options[name].touch()
    result = pp.identify(sleeps_at_first, options, {"pid": "max"}, 12, workers=2, processes=True, timeout=0.4)
    rows = result.study.measurements()
    failed = [(row["option"], row["why"]) for row in rows if row["status"] == "failed"]
    assert failed == [("a", "it took longer than timeout=0.4 s")]
    assert result.used == 12
    time.sleep(0.8)
    assert not (tmp_path / "a.late").exists()


# Studies that are there already.


def test_if_exists_says_what_happens_to_a_study_of_the_same_name(tmp_path):
    given = {"metrics": METRICS, "budget": 8, "storage": tmp_path / "s.db"}
    first = pp.identify(near, [1, 2], **given)
    again = pp.identify(near, [1, 2], **given)
    assert [row["at"] for row in again.study.measurements()] == [row["at"] for row in first.study.measurements()]
    assert again.notes[0] == (
        'all 8 measurements were made before this call; if_exists="replace" measures again, and a larger budget goes on.'
    )
    with pytest.raises(pp.InvalidInput, match=r"there is a study named 'study' .* already"):
        pp.identify(near, [1, 2], if_exists="error", **given)
    before = max(row["at"] for row in again.study.measurements())
    new = pp.identify(near, [1, 2], if_exists="replace", **given)
    assert new.used == 8
    assert new.notes[:1] != again.notes[:1]
    assert min(row["at"] for row in new.study.measurements()) > before
    with pytest.raises(pp.StudyGone):
        first.study.measurements()
    with pytest.raises(pp.InvalidInput, match='if_exists=\'replaced\' must be one of "open", "replace", "error"'):
        pp.identify(near, [1, 2], if_exists="replaced", **given)


@pytest.mark.parametrize(
    "wrong",
    [
        {"timeout": 0},
        {"seconds": float("nan")},
        {"retries": -1},
        {"progress": "yes"},
        {"processes": True},
        {"workers": 0},
        {"measure": 5},
    ],
    ids=lambda wrong: next(iter(wrong)),
)
def test_nothing_is_replaced_before_everything_is_checked(tmp_path, wrong):
    given = {
        "options": [1, 2],
        "metrics": METRICS,
        "budget": 4,
        "storage": tmp_path / "s.db",
        "measure": lambda level: (level, 1),
    }
    kept = pp.identify(**given).study
    with pytest.raises(pp.InvalidInput):
        pp.identify(**given | {"if_exists": "replace"} | wrong)
    assert kept.used == 4


def test_create_opens_or_replaces_if_it_is_told_to(url):
    about = {"options": ["a", "b"], "metrics": METRICS, "storage": url}
    study = pp.Study.create("s", budget=8, **about)
    study.add([("a", [1.0, 2.0])])
    with pytest.raises(pp.InvalidInput, match="there is a study named 's'"):
        pp.Study.create("s", budget=8, **about)
    opened = pp.Study.create("s", budget=10, if_exists="open", **about)
    assert (opened.used, opened.budget) == (1, 10)
    with pytest.raises(pp.InvalidInput, match=r"another study named 's' .*metrics is .* there and .* here.*delete the other one"):
        pp.Study.create("s", budget=8, if_exists="open", **about | {"metrics": {"other": "max"}})
    other = pp.Study.create("s", budget=8, if_exists="replace", **about | {"metrics": {"other": "max"}})
    assert other.used == 0
    assert list(other.metrics) == ["other"]
    assert pp.Study.open("s", storage=url).events() == []
    with pytest.raises(pp.StudyGone):
        study.tell(1, [1.0, 2.0])
    assert pp.Study.create("new", budget=8, if_exists="replace", **about).used == 0
    assert pp.Study.list(storage=url) == ["new", "s"]


def test_a_replacement_that_is_interrupted_leaves_the_old_study(tmp_path, monkeypatch):
    about = {"options": ["a", "b"], "metrics": METRICS, "budget": 8, "storage": tmp_path / "s.db"}
    pp.Study.create("s", **about).add([("a", [1.0, 2.0])])
    from paretopick.storage import sql

    def delete_and_die(*given):
        delete(*given)
        raise KeyboardInterrupt

    delete = sql.delete_rows
    monkeypatch.setattr(sql, "delete_rows", delete_and_die)
    with pytest.raises(KeyboardInterrupt):
        pp.Study.create("s", if_exists="replace", **about)
    assert pp.Study.open("s", storage=tmp_path / "s.db").used == 1


# Versions of the function that measures.


def other_version(level):
    return {"quality": level + 5 + np.random.default_rng().normal(0, 0.01), "cost": float(level)}


def test_measurements_of_another_version_of_measure_are_counted(tmp_path):
    given = {"metrics": METRICS, "storage": tmp_path / "s.db"}
    pp.identify(near, [1, 2], budget=8, **given)
    done = pp.identify(other_version, [1, 2], budget=8, **given)
    assert "all 8 measurements were made before this call" in done.notes[0]
    assert "8 of 8 measurements were made by another version of measure." in done.notes
    more = pp.identify(other_version, [1, 2], budget=10, **given)
    assert "8 of 10 measurements were made by another version of measure." in more.notes
    back = pp.identify(near, [1, 2], budget=10, **given)
    assert "2 of 10 measurements were made by another version of measure." in back.notes
    assert not any("version" in note for note in pp.identify(near, [1, 2], budget=10, if_exists="replace", **given).notes)


FIRST = """
LIMIT = 3
def part(x):
    return x in {'a', 'b', 'c'}
def measure(x, k=1):
    return part(x) + LIMIT, [i for i in x]
"""
KNOWN_AGAIN = f"""
from paretopick.studies.fingerprints import fingerprint
from paretopick.studies.named_options import name_of
print(name_of(frozenset(["red", "green", "blue", "grey"])))
first = {FIRST!r}
changes = [("", ""), ("LIMIT = 3", "# why\\n\\nLIMIT = 4"), ("k=1", "k=2"), ("'c'", "'d'"), ("[i", "[-i")]
for old, new in changes:
    scope = {{"__name__": "script"}}
    exec(first.replace(old, new, 1), scope)
    print(fingerprint(scope["measure"]))
"""


@pytest.mark.slow
def test_names_and_functions_are_known_again_in_every_process():
    runs = [
        subprocess.run(
            [sys.executable, "-c", KNOWN_AGAIN],
            env=os.environ | {"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        )
        for seed in ("1", "2")
    ]
    assert runs[0].stdout == runs[1].stdout
    name, first, *changed = runs[0].stdout.splitlines()
    assert name == "{blue, green, grey, red}"
    assert first == changed[0]  # a comment, and the value of another variable
    assert len({first, *changed}) == 4


class Mute:
    def __repr__(self):
        raise RuntimeError("nothing to say")


def test_a_default_that_cannot_be_shown_does_not_keep_anybody_from_measuring():
    def measure(option, model=Mute()):  # noqa: B008
        return [1.0]

    assert fingerprint(measure) is None
    assert pp.identify(measure, ["a", "b"], {"m": "max"}, 4).used == 4


def test_what_has_no_code_of_its_own_is_not_taken_for_another_version():
    class Measures:
        def __call__(self, option):
            return [1.0]

    assert fingerprint(Measures()) == fingerprint(Measures()) != fingerprint(near)
    assert fingerprint(functools.partial(near, level=1)) != fingerprint(functools.partial(near, level=2))
    assert fingerprint(functools.partial(near)) is not None
    assert fingerprint(len) is None
    assert not is_another(None, fingerprint(near))
    assert not is_another("3.10:aa", "3.11:bb")


# Metrics that are 0 or 1.


def right_share(exact, n):
    """How often studies are right about options that always pass or always fail, and how often they say what they assume."""
    right, notes, rng = [], [], np.random.default_rng(7)
    for _ in range(n):
        truth = np.stack([(rng.random(6) < 0.6).astype(float), rng.normal(0, 1, 6)], axis=1)
        about = {"options": range(6), "metrics": {"passed": "max", "speed": "max"}, "budget": 60, "exact": exact}
        study = pp.Study.create("s", storage="sqlite://", **about)
        study.add([(str(i), [passed, rng.normal(speed, 0.5)]) for i, (passed, speed) in enumerate(truth) for _ in range(10)])
        result = study.result()
        right.append(set(map(int, result.pareto)) == set(np.flatnonzero(pp.pareto_mask(truth))))
        notes.append(any("is taken for the flips of a coin" in note for note in result.notes))
    return np.mean(right), np.mean(notes)


@pytest.mark.slow
def test_of_metrics_that_are_always_0_or_1_it_is_said_what_is_assumed_and_declaring_them_exact_helps():
    coins, exact = right_share((), 12), right_share(("passed",), 12)
    assert (coins[1], exact[1]) == (1.0, 0.0)
    assert exact[0] >= coins[0] + 0.2


@pytest.mark.parametrize("values, coin", [([1, 1], True), ([0, 1], True), ([2, 2], False), ([0.5, 1], False)])
def test_only_zeros_and_ones_that_never_varied_are_said_to_be_taken_for_coins(values, coin):
    study = pp.Study.create("s", options=["a", "b"], metrics={"passed": "max", "m": "max"}, budget=20, storage="sqlite://")
    study.add([(option, [values[option == "b"], i]) for option in "ab" for i in range(9)])
    notes = study.result().notes
    assert any("'passed' was 0 or 1, the same in all repeats" in note and "9 alike leave" in note for note in notes) == coin
    assert any("'passed' never varied" in note for note in notes) != coin
    study.add([("a", [1 - values[0], 1.0])])  # which has not been seen before
    assert not any("coin" in note for note in study.result().notes)


def test_a_pilot_with_a_coin_that_never_fell_on_its_other_side_says_so(tmp_path):
    rows = [f"{option},1,{i % 3}" for option in "ab" for i in range(6)]
    (tmp_path / "pilot.csv").write_text("\n".join(["option,passed,m", *rows]))
    pilot = pp.Pilot.of_table(tmp_path / "pilot.csv", metrics={"passed": "max", "m": "max"})
    assert any("6 alike leave open that only 74% are" in line for line in pilot.notes)
