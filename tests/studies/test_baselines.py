"""The baseline: what is used today, and how all other options compare with it."""

import json

import numpy as np
import pytest

import paretopick as pp
from paretopick.studies.baselines import ComparedWithBaseline
from paretopick.studies.certainty import judge
from paretopick.studies.state import new_state, restore_state
from support.terminals import call

TRUTH = {"today": (2.0, 10.0), "fast": (1.5, 10.0), "small": (2.0, 8.0), "worse": (3.0, 12.0), "same": (2.01, 10.0)}


def measured(truth=TRUTH, metrics=None, n=8, std=0.02, storage="sqlite://", **given):
    """A study whose options were measured so often, with a baseline."""
    metrics = metrics or [pp.Metric("seconds", "min", log=True), pp.Metric("size", "min", exact=True)]
    given = {"baseline": "today", "budget": 100, **given}
    study = pp.Study.create("s", options=list(truth), metrics=metrics, storage=storage, **given)
    rng = np.random.default_rng(1)
    rows = [
        (name, [values[0] * np.exp(std * rng.standard_normal()), *values[1:]]) for name, values in truth.items() for _ in range(n)
    ]
    study.add(rows)
    return study


@pytest.fixture(scope="module")
def result():
    return measured().result()


def by_metric(result, option):
    return {each.metric: each for each in result.compared_with_baseline.differences[option]}


def test_every_other_option_is_compared_in_every_metric_and_in_words(result):
    assert result.baseline == "today"
    assert set(result.compared_with_baseline.differences) == set(TRUTH) - {"today"}
    seconds = by_metric(result, "fast")["seconds"]
    low, high = (1 / end for end in reversed(seconds.ratio_interval))
    assert low < 4 / 3 < high
    assert str(seconds) == f"{1 / seconds.ratio:.2f} times faster ({low:.2f} to {high:.2f})"
    assert (seconds.verdict, by_metric(result, "worse")["seconds"].verdict) == ("better", "worse")
    assert by_metric(result, "same")["seconds"].verdict == "unclear"
    assert str(by_metric(result, "small")["size"]) == "size 20% smaller"
    assert str(by_metric(result, "fast")["size"]) == "size equal"
    assert "times slower" in result.compared_with_baseline.text("worse")


def test_intervals_are_those_of_the_differences_of_the_draws_that_all_else_is_said_from(result):
    estimates, names, _ = measured().estimates()
    there = np.exp(judge(estimates).plain_draws[:, :, 0])
    apart = np.quantile(there[:, names.index("fast")] - there[:, names.index("today")], [0.025, 0.975])
    assert by_metric(result, "fast")["seconds"].interval == pytest.approx(tuple(apart))


def test_who_beats_the_baseline_is_said_and_that_nobody_does(result):
    assert result.compared_with_baseline.beaten_by == ("fast",)
    by = result.compared_with_baseline.text("fast")
    assert result.compared_with_baseline.sentence == f"The baseline today is beaten by fast: {by}."
    study = measured()
    assert study.result(baseline="fast").compared_with_baseline.sentence == (
        "Nothing here is better than the baseline fast: what gains in one metric loses in another."
    )
    assert study.result().baseline == "today"  # another one for once changes nothing


def test_with_one_metric_nothing_is_traded():
    truth = {name: values[:1] for name, values in TRUTH.items() if name != "same"}
    result = measured(truth, [pp.Metric("seconds", "min")], baseline="fast").result()
    assert result.compared_with_baseline.sentence == "Nothing here is better than the baseline fast."


def test_differences_within_the_margin_do_not_matter():
    metrics = ["seconds:min~20%", "size:min~0.5"]
    result = measured(metrics=",".join(metrics), exact=["size"]).result()
    same = by_metric(result, "same")
    assert (same["seconds"].verdict, str(same["seconds"])) == ("same", "seconds: no difference that matters")
    assert by_metric(result, "fast")["seconds"].verdict == "better"


def test_a_baseline_beyond_a_limit_is_said_to_be():
    result = measured(metrics="seconds:min<=1.8,size:min", exact=["size"]).result()
    said = result.compared_with_baseline.sentence
    assert said.startswith("The baseline today is beyond seconds at most 1.8, and beaten by fast: ")


def test_a_baseline_that_is_retired_or_not_measured_is_said_to_be():
    study = measured()
    study.retire("today", "no longer sold")
    assert study.result().compared_with_baseline == ComparedWithBaseline(
        "today", "Nothing can be compared with the baseline today: it is retired."
    )
    empty = pp.Study.create("e", options=["a", "b"], metrics={"m": "min"}, budget=9, baseline="b", storage="sqlite://")
    assert "too few measurements" in str(empty.result())


def test_what_blocks_share_is_not_in_the_comparison():
    rng = np.random.default_rng(0)
    options, pairing = ["today", "new"], {}
    for paired in (None, "repeat"):
        study = pp.Study.create(
            "s", options=options, metrics={"score": "max"}, budget=60, pairing=paired, baseline="today", storage="sqlite://"
        )
        shared = np.random.default_rng(5).normal(0, 3, 20)
        study.add([(name, {"score": 10 + shared[n] + rng.normal(0, 0.3), "repeat": n}) for n in range(20) for name in options])
        (score,) = study.result().compared_with_baseline.differences["new"]
        pairing[paired] = score.interval[1] - score.interval[0]
    assert pairing["repeat"] < 0.3 * pairing[None]


def test_print_tables_json_and_frames_have_it(result):
    text = str(result)
    assert "The baseline today is beaten by" in text
    assert f"Compared with today, fast: {result.compared_with_baseline.text('fast')}" in text
    header, rows = result.cells()
    column = header.index("compared with the baseline")
    assert {row[0]: row[column] for row in rows}["today"] == "is the baseline"
    assert {row[0]: row[column] for row in rows}["fast"] == result.compared_with_baseline.text("fast")
    (fast,) = (row for row in result.table if row["option"] == "fast")
    seconds = by_metric(result, "fast")["seconds"]
    assert (fast["seconds_ratio"], fast["seconds_ratio_low"], fast["seconds_ratio_high"]) == (
        seconds.ratio, *seconds.ratio_interval,
    )  # fmt: skip
    assert fast["seconds_difference_low"] == seconds.interval[0]
    assert fast["compared_with_baseline"] == result.compared_with_baseline.text("fast")
    record = json.loads(result.to_json())["compared_with_baseline"]
    assert record["baseline"] == "today"
    assert record["differences"]["fast"][0]["verdict"] == "better"
    assert set(result.to_pandas().columns) >= {"seconds_ratio", "size_difference"}


def test_without_a_baseline_nothing_is_said_of_it():
    result = measured(baseline=None).result()
    assert result.baseline is None
    assert "baseline" not in str(result)
    assert not [column for column in result.table[0] if "ratio" in column or "baseline" in column]


@pytest.mark.parametrize("policy", ["doubt", "uniform"])
def test_it_is_part_of_no_question_and_may_be_chosen_later(policy, tmp_path):
    metrics = {"seconds": "min", "size": "min"}
    given = {"metrics": metrics, "policy": policy, "storage": str(tmp_path / "s.db")}
    study = measured(exact=["size"], baseline=None, **given)
    study.choose_baseline("fast")
    study.choose_baseline("fast")
    assert [event.details for event in study.events() if event.kind == "described"] == [{"baseline": "fast"}]
    again = pp.Study.open("s", storage=given["storage"])
    assert again.definition.baseline == "fast"
    assert again.status()["baseline"] == "fast"
    kept = new_state(study._live.definition)
    kept.apply(study.events())
    assert restore_state(study._live.definition, json.loads(json.dumps(kept.to_dict()))).definition.baseline == "fast"
    study.choose_baseline(None)
    assert study.result().baseline is None
    with pytest.raises(pp.UnknownName, match="no option named 'fats'; did you mean 'fast'"):
        study.choose_baseline("fats")


def test_the_same_call_with_another_baseline_goes_on_with_the_study(tmp_path):
    given = {"options": ["a", "b"], "metrics": {"m": "min"}, "budget": 8, "storage": tmp_path / "s.db"}
    calls = []

    def measure(option):
        calls.append(option)
        return [float(len(calls) % 3)]

    assert pp.identify(measure, **given).baseline is None
    assert pp.identify(measure, **given, baseline="b").baseline == "b"
    assert pp.identify(measure, **given).baseline == "b"  # what was said stays
    assert len(calls) == 8


def test_whatever_is_an_option_may_be_the_baseline():
    result = pp.identify(lambda level: [level + 0.5], [1, 2], {"m": "min"}, 8, baseline=2)
    assert result.baseline == 2
    slow, fast = {"depth": 9, "width": 2}, {"depth": 1, "width": 2}
    assert pp.identify(lambda option: [option["depth"]], [slow, fast], {"m": "min"}, 8, baseline=slow).baseline is slow


def test_what_is_no_option_is_refused():
    with pytest.raises(pp.UnknownName, match="no option named 'tody'; did you mean 'today'"):
        measured(baseline="tody")


def test_commands_and_files_have_it(tmp_path):
    (tmp_path / "study.toml").write_text(
        'options = [["echo", "m=1"], ["echo", "m=2"]]\nbudget = 8\nbaseline = ["echo", "m=2"]\n'
        'command = ["{option}"]\n[metrics]\nm = "min"\n'
    )
    ran = call("run", "study.toml", cwd=tmp_path)
    assert "The baseline echo m=2 is beaten by echo m=1: m 2.0 times smaller (" in ran.stdout
    assert "m 2.0 times smaller" in ran.stdout
    for_once = call("result", "--baseline", "echo m=1", cwd=tmp_path)
    assert "Nothing here is better than the baseline echo m=1." in for_once.stdout
    chosen = call("baseline", "study", "echo m=1", cwd=tmp_path)
    assert "Results compare the other options with 'echo m=1'" in chosen.stdout
    assert json.loads(call("result", "--json", cwd=tmp_path).stdout)["compared_with_baseline"]["baseline"] == "echo m=1"
    assert "Results compare with no option" in call("baseline", "study", cwd=tmp_path).stdout
    created = call("create", "c", "--options", "a,b", "--metrics", "m:min", "--budget", "9", "--baseline", "x", cwd=tmp_path)
    assert created.returncode == 2
    assert "no option named 'x'" in created.stderr


@pytest.mark.sample(3)
@pytest.mark.slow
@pytest.mark.parametrize("kind", ["log", "paired", "unequal"])
def test_intervals_hold_as_often_as_they_say(kind):
    rng, n_options, held = np.random.default_rng([7, len(kind)]), 4, []
    names = [f"o{i}" for i in range(n_options)]
    for _ in range(60):
        truth = rng.normal(3.0, 0.6, n_options)
        study = pp.Study.create(
            "s", options=names, metrics=[pp.Metric("m", "min", log=kind == "log")], budget=999, storage="sqlite://",
            pairing="repeat" if kind == "paired" else None, baseline="o0",
        )  # fmt: skip
        shared = rng.normal(0, 1.0 if kind == "paired" else 0.0, 8)
        widths = np.exp(rng.normal(0, 1, n_options)) if kind == "unequal" else np.full(n_options, 0.5)
        values = truth + shared[:, None] + widths * rng.normal(size=(8, n_options))
        values = np.exp(values) if kind == "log" else values
        study.add([(name, {"m": values[n, i], "repeat": n}) for n in range(8) for i, name in enumerate(names)])
        for name, (each,) in study.result().compared_with_baseline.differences.items():
            i = names.index(name)
            if kind == "log":
                held.append(each.ratio_interval[0] <= np.exp(truth[i] - truth[0]) <= each.ratio_interval[1])
            else:
                held.append(each.interval[0] <= truth[i] - truth[0] <= each.interval[1])
    assert 0.90 <= np.mean(held) <= 0.99  # of 180, three from each study and not independent
