"""Data that exist already: judged as a study would be that was told them, whatever holds them."""

import html
import pickle
from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pandas as pd
import polars
import pyarrow
import pytest

import paretopick as pp
from paretopick.studies.imports import import_table

METRICS = {"seconds": "min~2%", "accuracy": "max"}
BASE = {"a": (1.0, 0.6), "b": (2.0, 0.7), "c": (2.1, 0.71), "d": (3.0, 0.65), "e": (5.0, 0.9)}


def measured(n: int = 60) -> pd.DataFrame:
    """Measurements of five options, one of them without its accuracy, on several days."""
    rng = np.random.default_rng(3)
    options = [*BASE, *rng.choice(list(BASE), n - len(BASE))]
    table = pd.DataFrame({"option": options})
    table["seconds"] = [BASE[name][0] for name in options] + rng.normal(0, 0.1, n)
    table["accuracy"] = [BASE[name][1] for name in options] + rng.normal(0, 0.02, n)
    table["day"] = pd.Timestamp("2026-01-05") + pd.to_timedelta(rng.integers(0, 3, n), unit="D")
    table["plate"] = rng.integers(1, 7, n)
    table.loc[7, "accuracy"] = np.nan
    return table


FRAME = measured()


class Interchanged:
    """A data frame of which nothing is known but the interchange protocol."""

    def __init__(self, frame: pd.DataFrame) -> None:
        self.__dataframe__ = pyarrow.Table.from_pandas(frame).__dataframe__


HOLDERS = {
    "pandas": lambda frame: frame,
    "pandas with an index": lambda frame: frame.set_index("option"),
    "nullable": lambda frame: frame.convert_dtypes(),
    "categories": lambda frame: frame.astype({"option": "category"}),
    "polars": polars.from_pandas,
    "arrow": pyarrow.Table.from_pandas,
    "interchange": Interchanged,
    "rows": lambda frame: frame.to_dict("records"),
    "rows that lack entries": lambda frame: [{k: v for k, v in row.items() if v == v} for row in frame.to_dict("records")],
    "generator": lambda frame: (row for row in frame.to_dict("records")),
    "columns": lambda frame: {name: frame[name].to_numpy() for name in frame},
}


def rows_of(frame: pd.DataFrame) -> list[tuple[str, dict]]:
    """The same, as a study is told it."""
    texts = frame.assign(day=[day.isoformat() for day in frame["day"]])
    return [
        (row.pop("option"), {name: None if value != value else value for name, value in row.items()})
        for row in texts.to_dict("records")
    ]


def told(pairing: str | None = None) -> pp.Study:
    study = pp.Study.create("data", options=list(BASE), metrics=METRICS, budget=len(FRAME), pairing=pairing, storage="sqlite://")
    repeats = FRAME.groupby("option").cumcount().tolist()
    more = [{"repeat": repeat} if pairing == "repeat" else {} for repeat in repeats]
    study.add([(option, row | own) for (option, row), own in zip(rows_of(FRAME), more, strict=True)])
    return study


@pytest.fixture(scope="module")
def expected() -> pp.ParetoResult:
    return told().result()


def without_time(rows: list[dict]) -> list[dict]:
    return [{name: value for name, value in row.items() if name != "at"} for row in rows]


@pytest.mark.parametrize("holder", HOLDERS)
def test_whatever_holds_the_data_the_answer_is_that_of_a_study(holder, expected):
    result = pp.judge(HOLDERS[holder](FRAME), METRICS)
    assert replace(result, judged=False) == expected
    assert without_time(result.measurements) == without_time(expected.measurements)


def test_a_csv_file_is_a_table_too(tmp_path, expected):
    FRAME.to_csv(tmp_path / "data.csv", index=False)
    result = pp.judge(tmp_path / "data.csv", METRICS)
    assert replace(result, judged=False) == expected
    assert result.measurements[0]["day"] == FRAME["day"][0].date().isoformat()


@pytest.mark.parametrize("pairing", ["plate", "repeat"])
def test_pairing_is_that_of_a_study(pairing):
    result = pp.judge(FRAME, METRICS, pairing=pairing)
    assert replace(result, judged=False) == told(pairing).result()
    assert result.sharing is not None


def test_repeats_may_be_said_in_a_column():
    shuffled = FRAME.assign(repeat=FRAME.groupby("option").cumcount()).sample(frac=1.0, random_state=1)
    in_order = pp.judge(FRAME, METRICS, pairing="repeat")
    result = pp.judge(shuffled, METRICS, pairing="repeat")
    assert result.probability == pytest.approx(in_order.probability, abs=0.03)
    assert result.sharing.sentence == in_order.sharing.sentence


def test_what_it_says_needs_no_budget(expected):
    result = pp.judge(FRAME, METRICS)
    assert result.done
    assert "(60 measurements)" in repr(result)
    assert "(60 of 60 measurements used)" in repr(expected)
    again = pp.judge(FRAME, METRICS, level=0.999)
    assert len(again.groups.open) >= len(result.groups.open)
    assert again.level == 0.999


@pytest.mark.slow
def test_the_next_step_speaks_of_more_measurements():
    result = pp.judge(FRAME[FRAME["option"].isin(["a", "b", "c", "d"])].iloc[:12], METRICS)
    assert "more measurement" in result.next_step
    assert f"Next: {result.next_step}" in str(result)


def test_others_are_compared_with_a_baseline():
    result = pp.judge(FRAME, METRICS, baseline="d")
    assert replace(result, judged=False) == told().result(baseline="d")
    row = result.to_pandas().loc["b"]
    assert row["seconds_ratio_low"] < row["seconds_ratio"] < row["seconds_ratio_high"]
    assert row["seconds_ratio"] == pytest.approx(2 / 3, abs=0.05)
    with pytest.raises(pp.UnknownName, match="no option named 'z'"):
        pp.judge(FRAME, METRICS, baseline="z")


def test_the_study_itself_can_be_judged_from_its_data_frame():
    study = told()
    (todo,) = study.extend(budget=70) or study.ask()
    study.fail(todo.number, "broke")
    study.void(2, "wrong")
    frame = study.to_pandas()
    assert set(frame["status"]) == {"told", "failed", "voided"}
    result = pp.judge(frame, METRICS)
    assert (result.pareto, result.probability, result.used) == (study.result().pareto, study.result().probability, 59)
    moments = [row["at"] for row in study.measurements() if row["status"] == "told"]
    assert [row["at"] for row in result.measurements] == pytest.approx(moments)


def test_one_row_for_each_option_is_a_guess():
    result = pp.judge({"option": ["a", "b", "c"], "m": [1.0, 2.0, 3.0]}, {"m": "min"})
    assert (result.pareto, result.done, result.probability) == (("a",), False, None)
    assert "no option has been measured twice" in str(result)


def test_an_option_without_any_value_is_named():
    rows = [{"option": "a", "m": 1.0}, {"option": "a", "m": 1.1}, {"option": "b", "m": 2.0}, {"option": "b", "m": 2.1}]
    result = pp.judge([*rows, {"option": "c", "m": None}], {"m": "min"})
    assert result.used == 4
    assert any("'c' has no measurements" in note for note in result.notes)


def test_a_row_without_anything_is_left_out_and_one_without_its_option_is_not():
    rows = [{"option": "a", "m": 1.0}, {"option": "b", "m": 2.0}, {"option": None, "m": None}]
    assert pp.judge(rows, {"m": "max"}).used == 2
    with pytest.raises(pp.InvalidInput, match="row 2: it names no option"):
        pp.judge([*rows[:2], {"option": None, "m": 3.0}], {"m": "max"})


def test_very_small_numbers_are_shown():
    tiny = {"a": (1e-308, 2e-308), "b": (5e-324, 0.0), "c": (1e-200, 3e-200)}
    rows = [{"option": name, "m": value, "n": -value} for name, values in tiny.items() for value in values]
    found = pp.judge(rows, {"m": "max", "n": "max"})
    assert np.isfinite(found.correlation).all()
    assert "<table" in found._repr_html_()


def test_options_may_be_numbers_in_any_column():
    result = pp.judge({"depth": [3, 5, 3, 5], "loss": [1.0, 2.0, 1.1, 2.1]}, {"loss": "min"}, option="depth")
    assert [row.option for row in result.options] == ["3", "5"]
    assert result.pareto == (3,)
    assert result.status == {3: "pareto", 5: "dominated"}


@pytest.mark.parametrize(
    "table, said",
    [
        (FRAME.drop(columns="option"), "has no column 'option' with the names of the options; it has 'seconds', 'accuracy'"),
        (FRAME.drop(columns="seconds"), "the table has no column 'seconds'; it has 'option', 'accuracy'"),
        (FRAME.assign(option=[None, *FRAME["option"][1:]]), "the table, row 0: it names no option."),
        ([{"option": "a", "seconds": "fast", "accuracy": 1}], "row 0: metric 'seconds' is 'fast', which is not a number."),
        ([{"option": "a", "seconds": 1, "accuracy": np.inf}], "row 0: metric 'accuracy' is inf"),
        (
            [{"option": "a", "seconds": -1, "accuracy": 1}],
            "row 0: metric 'seconds' is -1, and its margin 2% needs values above 0",
        ),
        ([{"option": "a", "seconds": None, "accuracy": None}], "no row has a value of 'seconds', 'accuracy'"),
        (FRAME.iloc[:0], "the table has no measurements"),
        ({"option": ["a"], "seconds": [1, 2], "accuracy": [1]}, "the column 'seconds' has 2 entries, and 'option' has 1"),
        ({"option": ["a"], "seconds": 1, "accuracy": [1]}, "the column 'seconds' is 1; a table has a list for each column"),
        (pd.concat([FRAME, FRAME[["seconds"]]], axis=1), "the table has 2 columns 'seconds'; name every column once"),
        (polars.from_pandas(FRAME).lazy(), "is no table of measurements; give a data frame, a list of rows"),
        (FRAME["seconds"], "a pandas.Series is no table of measurements"),
        ([("a", 1.0)], "is no table of measurements"),
        (7, "7 is no table of measurements"),
        (FRAME.assign(at="yesterday"), "row 0: its time ('at') is 'yesterday'"),
        (FRAME.assign(repeat=-1), "row 0: repeat=-1 is too small"),
    ],
)
def test_what_cannot_be_judged_is_said(table, said):
    with pytest.raises(pp.InvalidInput) as refusal:
        pp.judge(table, METRICS)
    assert said in str(refusal.value)


def test_a_pairing_must_be_a_column():
    with pytest.raises(pp.InvalidInput, match="has no column 'batch'"):
        pp.judge(FRAME, METRICS, pairing="batch")


def test_an_exact_metric_that_varies_is_refused():
    with pytest.raises(pp.InvalidInput, match="an exact metric never changes"):
        pp.judge(FRAME, METRICS, exact=["accuracy"])


@pytest.mark.parametrize("missing", [["pyarrow"], ["pyarrow", "pandas.api.interchange"]])
def test_without_pyarrow_it_is_said_what_to_install(monkeypatch, missing):
    for name in missing:
        monkeypatch.setitem(__import__("sys").modules, name, None)
    with pytest.raises(pp.InvalidInput, match=r"to read a polars\.DataFrame the package pyarrow is needed: pip install pyarrow"):
        pp.judge(polars.DataFrame({"option": ["a"], "m": [1.0]}), {"m": "min"})


def test_lists_columns_and_files_need_no_other_package(monkeypatch, tmp_path, expected):
    rows = FRAME.to_dict("records")
    FRAME.to_csv(tmp_path / "data.csv", index=False)
    for name in ("pandas", "pyarrow", "polars"):
        monkeypatch.setitem(__import__("sys").modules, name, None)
    for table in (rows, {name: [row[name] for row in rows] for name in rows[0]}, tmp_path / "data.csv"):
        assert pp.judge(table, METRICS).probability == expected.probability
    with pytest.raises(ImportError, match=r"pip install 'paretopick\[pandas\]'"):
        expected.to_pandas()


# What is behind a result.


def test_the_measurements_of_identify_are_kept():
    values = iter(range(100))
    result = pp.identify(lambda option: {"m": next(values), "day": "Monday"}, ["a", "b"], {"m": "min"}, 8)
    assert sorted(row["m"] for row in result.measurements) == list(range(8))
    assert {row["day"] for row in result.measurements} == {"Monday"}


def test_measurements_are_those_of_the_result_though_the_study_has_gone_on():
    study = told()
    result = study.result()
    study.add([("a", {"seconds": 1.0, "accuracy": 0.5})])
    assert len(result.measurements) == len(FRAME)
    assert len(study.result().measurements) == len(FRAME) + 1


def test_the_measurements_of_a_result_can_be_brought_to_another_study(expected):
    study = pp.Study.create("next", options=list(BASE), metrics=METRICS, budget=200, storage="sqlite://")
    study.add(expected.measurements)
    assert study.result().probability == expected.probability
    assert [row["at"] for row in study.measurements()] == [row["at"] for row in expected.measurements]


def test_a_copy_of_a_result_has_its_measurements():
    result = pp.judge(FRAME, METRICS)
    copy = pickle.loads(pickle.dumps(result))
    assert copy == result
    assert copy.measurements == result.measurements


def test_a_data_frame_of_measurements_has_all_that_is_known_of_them():
    study = pp.Study.create(
        "s", options={"a": {"dose": 1}, "b": {"dose": 2}}, metrics={"m": "min", "p": "max"}, budget=9, storage="sqlite://"
    )
    for todo in study.ask(2, worker="w1"):
        study.tell(todo.number, {"m": todo.settings["dose"] / 3, "p": None, "plate": 7}, worker="w1")
    frame = study.to_pandas()
    assert list(frame.columns) == [
        *("number", "option", "dose", "round", "repeat", "m", "p", "status", "why", "worker", "at", "plate")
    ]
    assert frame["m"].tolist() == [dose / 3 for dose in frame["dose"]]
    assert frame["p"].isna().all()
    assert frame["repeat"].tolist() == [0, 0]
    assert set(frame["worker"]) == {"w1"}
    assert (datetime.now(UTC) - frame["at"].max()).total_seconds() < 3600
    assert study.to_pandas().dtypes["at"].tz is not None


def test_an_empty_study_has_an_empty_data_frame():
    study = pp.Study.create("s", options=["a", "b"], metrics={"m": "min"}, budget=9, storage="sqlite://")
    assert list(study.to_pandas().columns)[:2] == ["number", "option"]
    assert len(study.to_pandas()) == 0


# The columns of tables.


def test_tables_have_plain_columns_and_nothing_is_rounded(expected):
    frame = expected.to_pandas()
    assert {"seconds", "seconds_se", "seconds_low", "seconds_high", "probability", "status", "in_answer"} <= set(frame.columns)
    assert not any("±" in name for name in frame.columns)
    own = FRAME.groupby("option")["accuracy"]
    for found in expected.options:
        row = frame.loc[found.option]
        assert row["accuracy"] == pytest.approx(own.mean()[found.option], rel=1e-14)
        assert row["accuracy_se"] == pytest.approx(own.sem()[found.option], rel=1e-12)
        assert row["probability"] == found.probability
        assert (row["seconds_low"], row["seconds_high"]) == found.intervals["seconds"]


def test_metrics_and_settings_called_as_other_columns_lose_nothing():
    names = ["t", "t_se", "t_low", "t_se_"]
    study = pp.Study.create(
        "s",
        options={"a": {"t_high": "x"}, "b": {"t_high": "y"}},
        metrics=dict.fromkeys(names, "min"),
        budget=20,
        storage="sqlite://",
    )
    rng = np.random.default_rng(0)
    study.add([(option, rng.normal(size=4)) for option in "abab"])
    result = study.result()
    (row, _) = result.table
    found = result.options[0]
    assert [row[name] for name in names] == [found.means[name] for name in names]
    assert row["t_high"] == "x"
    assert (row["t_se__"], row["t_low_"], row["t_high_"]) == (found.standard_errors["t"], *found.intervals["t"])
    assert row["t_se_se"] == found.standard_errors["t_se"]
    columns = 4 * 4 + 1  # a mean, an error and two ends of each metric, and the setting
    assert len(row) == columns + len(pp.judge({"option": ["a", "b"] * 2, "m": range(4)}, {"m": "min"}).table[0]) - 4
    assert list(study.to_pandas()["t_high"]) == ["x", "y", "x", "y"]


def test_settings_of_options_are_in_tables_and_records_and_notebooks():
    study = pp.Study.create(
        "s", options={"a": {"dose": "1 <mg>"}, "b": {"dose": 2.5}}, metrics={"m": "min"}, budget=9, storage="sqlite://"
    )
    result = study.result()
    assert [row["dose"] for row in result.table] == ["1 <mg>", 2.5]
    assert result.to_dict()["options"][1]["settings"] == {"dose": 2.5}
    assert result.to_pandas().loc["a", "dose"] == "1 <mg>"
    assert ">1 &lt;mg&gt;</td>" in result._repr_html_()


# Notebooks.


def test_print_and_notebooks_show_a_study_with_its_notes():
    study = told()
    study.retire("d", "too <dear>")
    assert repr(study) == "<study 'data': 5 options, 60 of 60 used>"
    assert str(study).splitlines()[0] == "study 'data': 5 options, 60 of 60 used"
    assert "Note: 'd' was retired: too <dear>" in str(study).splitlines()
    page = study._repr_html_()
    assert "<dear>" not in page
    assert all(f"<p>{html.escape(line)}</p>" in page for line in str(study).splitlines())
    assert study.result().to_html_table() in page
    assert "<p>Note: &#x27;d&#x27; was retired: too &lt;dear&gt;</p>" in page
    assert "color" not in study.result().to_html_table()


def test_a_study_shows_itself_before_anything_was_measured():
    study = pp.Study.create("s", options=["a", "b"], metrics={"m": "min"}, budget=9, storage="sqlite://")
    assert "none yet (0 of 9 measurements used)" in str(study)
    assert "none yet (0 of 9 measurements used)" in study._repr_html_()


# Studies and pilots.


@pytest.mark.parametrize("holder", [holder for holder in HOLDERS if holder != "generator"])  # which would be one of pairs
def test_a_study_takes_a_data_frame(holder):
    study = pp.Study.create("s", options=list(BASE), metrics=METRICS, budget=100, storage="sqlite://")
    numbers = study.add(HOLDERS[holder](FRAME))
    assert numbers == list(range(1, 61))
    assert without_time(study.measurements()) == without_time(told().measurements())


def test_a_study_takes_what_another_one_exports():
    settings = {name: {"depth": depth} for depth, name in enumerate(BASE)}
    first, second = (
        pp.Study.create(name, options=settings, metrics=METRICS, budget=100, storage="sqlite://") for name in ("s", "t")
    )
    first.add(FRAME)
    first.void(3, "wrong")
    assert len(second.add(first.to_pandas())) == 59
    assert [row["at"] for row in second.measurements()] == pytest.approx(
        [row["at"] for row in first.measurements() if row["status"] == "told"]
    )
    assert second.result().probability == first.result().probability


def test_columns_of_results_of_the_release_before_are_left_out(tmp_path):
    """Their standard errors were under a name with a sign that plain columns do not have."""
    older = [{"option": "a", "m": 1.0, "m ±": 0.1, "day": 3}, {"option": "b", "m": 2.0, "m ±": 0.1, "day": 3}]
    pd.DataFrame(older).to_csv(tmp_path / "older.csv", index=False)
    study = pp.Study.create("s", options=["a", "b"], metrics={"m": "min"}, budget=9, storage="sqlite://")
    study.add(older)
    assert import_table(study, tmp_path / "older.csv", again=True).added == 2
    judged = pp.judge(older, {"m": "min"})
    for row in [*study.measurements(), *judged.measurements]:
        assert "m ±" not in row
        assert row["day"] == 3


def test_a_study_refuses_a_table_with_an_option_that_it_does_not_have_and_takes_none_of_it():
    study = pp.Study.create("s", options=["a", "b"], metrics=METRICS, budget=100, storage="sqlite://")
    with pytest.raises(pp.UnknownName, match="the table, row 2: no option named 'c'"):
        study.add(FRAME)
    assert study.measurements() == []


@pytest.mark.parametrize("holder", HOLDERS)
def test_a_pilot_is_made_of_a_data_frame(holder, tmp_path):
    complete = FRAME.dropna()
    complete.to_csv(tmp_path / "pilot.csv", index=False)
    of_file = pp.Pilot.of_table(tmp_path / "pilot.csv", METRICS, pairing="plate")
    pilot = pp.Pilot.of_table(HOLDERS[holder](complete), METRICS, pairing="plate")
    assert pilot.source == "59 measurements of 5 options in the table"
    np.testing.assert_array_equal(pilot.bandit.means, of_file.bandit.means)
    assert pilot.bandit.arm_names == of_file.bandit.arm_names
    assert pilot.notes == of_file.notes


def test_a_pilot_names_the_row_that_is_incomplete_and_the_column_of_options():
    with pytest.raises(pp.InvalidInput, match="the table, row 7: there is no value for metric 'accuracy'"):
        pp.Pilot.of_table(FRAME, METRICS)
    renamed = FRAME.dropna()[["seconds", "accuracy", "option"]].rename(columns={"option": "model"})
    assert pp.Pilot.of_table(renamed, METRICS, option="model").bandit.arm_names == tuple(BASE)
    with pytest.raises(pp.InvalidInput, match="no column that names the options"):
        pp.Pilot.of_table(renamed, METRICS)
