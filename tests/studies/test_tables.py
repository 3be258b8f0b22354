"""Sheets, imports and exports, as spreadsheets and scripts see them."""

import csv
import io
import json
import re
import unicodedata
from datetime import UTC, datetime

import pandas
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import paretopick as pp
from paretopick._tables import is_number, read_table
from paretopick.studies import tables
from paretopick.studies.definition import RESERVED
from paretopick.studies.imports import Difference, Imported, import_table
from paretopick.studies.tables import export, read_options, sheet

OPTIONS = {"a": {"dose": 1}, "b, the second": {"dose": 2}, 'c "quoted"': {"dose": 3}}


def new_study(name="s", policy="doubt", **more):
    given = {"options": OPTIONS, "metrics": {"response": "max", "price": "min"}, "budget": 30, "exact": ["price"]} | more
    return pp.Study.create(name, policy=policy, storage="sqlite://", **given)


@pytest.fixture
def study():
    return new_study()


@pytest.fixture
def in_rounds():
    """Whose policy plans rounds."""
    return new_study(policy="ege-sr")


def write(tmp_path, text: str, name: str = "table.csv", encoding: str = "utf-8"):
    path = tmp_path / name
    path.write_text(text, encoding=encoding)
    return path


def filled(study, tmp_path, fill, n=1000):
    """The sheet of the open round, each row as ``fill`` changes it."""
    rows = list(csv.DictReader(io.StringIO(sheet(study, study.ask(n, worker="sheet", lease=None)))))
    text = io.StringIO()
    writer = csv.DictWriter(text, fieldnames=list(rows[0]))
    writer.writeheader()
    for row in rows:
        fill(row)
        writer.writerow(row)
    return write(tmp_path, text.getvalue())


def test_a_sheet_has_a_row_for_each_measurement_and_a_cell_for_each_metric(study, in_rounds):
    assert sheet(study, study.ask(4)).splitlines() == [
        "number,option,dose,repeat,response,price,failed,study",
        "1,a,1,0,,,,s",
        '2,"b, the second",2,0,,,,s',
        '3,"c ""quoted""",3,0,,,,s',
        "4,a,1,1,,,,s",
    ]
    assert sheet(in_rounds, in_rounds.ask(1)).splitlines() == [
        "number,option,dose,round,repeat,response,price,failed,study",
        "1,a,1,1,0,,,,s",
    ]


def test_a_whole_study_by_sheets(in_rounds, tmp_path):
    study, rounds = in_rounds, 0
    while not study.done:
        dose = lambda row: row.update(response=int(row["dose"]) ** 2 + int(row["number"]) % 3 * 0.1, price=row["dose"])  # noqa: E731
        outcome = import_table(study, filled(study, tmp_path, dose))
        assert outcome.failed == outcome.added == outcome.empty == 0
        rounds += 1
    assert rounds == 2
    assert study.result().pareto == tuple(OPTIONS)
    assert study.used == study.definition.new_policy().schedule.cost


def test_a_sheet_may_be_filled_in_bit_by_bit_and_imported_again_and_again(study, tmp_path):
    def some(row):
        if int(row["number"]) <= 3:
            row.update(response=1.5, price=row["dose"])
        elif row["number"] == "4":
            row.update(failed="tube broke")

    path = filled(study, tmp_path, some)
    first = import_table(study, path)
    assert first == Imported(told=3, failed=1, added=0, known=0, empty=first.empty)
    assert import_table(study, path) == Imported(told=0, failed=0, added=0, known=4, empty=first.empty)
    assert study.used == 3
    assert study.status()["failed"] == 1
    study.void(2, "wrong")
    more = path.read_text().replace('5,"b, the second",2,1,,,,s', '5,"b, the second",2,1,7,2,,s')
    path.write_text(more)
    assert import_table(study, path) == Imported(told=1, failed=0, added=0, known=4, empty=first.empty - 1)
    assert study.used == 3  # one more, and one that stays void


@pytest.mark.parametrize(
    "change, message",
    [
        (lambda row: row.update(response="much", price="1"), "row 2: 'much' under 'response' is not a number"),
        (lambda row: row.update(response="nan", price="1"), "row 2: metric 'response' is nan"),
        (lambda row: row.update(response="1", price="1", failed="x"), "row 2: it has values and a reason in 'failed'"),
        (lambda row: row.update(number="x", response="1", price="1"), "row 2: its number is 'x'"),
        (lambda row: row.update(number="1", response="1", price=row["dose"]), "row 3: measurement 1 is there a second time"),
        (lambda row: row.update(number="", failed="x", study=""), "row 2: it says that a measurement failed, without its number"),
        (
            lambda row: row.update(option="a", response="1", price="1"),
            r"20 rows with a problem; nothing was imported:\n  row 3: measurement 2 is of 'b, the second', and not of 'a'",
        ),
        (lambda row: row.update(number="999", response="1", price="1"), "measurement 999|row 3: measurement 999"),
        (lambda row: row.update(response="1", price=str(int(row["number"]) + 1)), "an exact metric never changes"),
    ],
)
def test_a_row_that_is_wrong_stops_the_import_and_nothing_is_kept(study, tmp_path, change, message):
    path = filled(study, tmp_path, change)
    with pytest.raises(pp.InvalidInput, match=message):
        import_table(study, path)
    assert study.events() == []


def test_all_that_is_wrong_with_a_file_is_named_with_its_row(study, tmp_path):
    study.ask(3)
    rows = ["1,a,x,1,", "2,a,1,1,", "7,a,1,1,", ",zz,1,1,", "3,,,,broke", ",a,1,9,", ",a,1,1,"]
    path = write(tmp_path, "\n".join(["number,option,response,price,failed", *rows]))
    with pytest.raises(pp.InvalidInput) as refused:
        import_table(study, path)
    said = str(refused.value).removeprefix(f"{path} ").splitlines()
    assert said[0] == "has 6 rows with a problem; nothing was imported:"
    assert [line.strip().partition(": ")[0] for line in said[1:]] == [f"row {row}" for row in (2, 3, 4, 5, 6, 8)]
    for line, part in zip(
        said[1:], ["not a number", "is of 'b, the second'", "never handed out", "no option named 'zz'", "is of", "never changes"],
        strict=True,
    ):  # fmt: skip
        assert part in line
    many = write(tmp_path, "option,response,price\n" + "a,x,1\n" * 50)
    with pytest.raises(pp.InvalidInput) as refused:
        import_table(study, many)
    said = str(refused.value).splitlines()
    assert (len(said), said[-1]) == (22, "  and 30 more")
    assert study.events() == []


def test_an_empty_cell_is_a_metric_that_could_not_be_measured(study, in_rounds, tmp_path):
    path = filled(study, tmp_path, lambda row: row.update(price=row["dose"]), n=3)
    assert import_table(study, path) == Imported(told=3, failed=0, added=0, known=0, empty=0)
    assert [(row["response"], row["price"]) for row in study.measurements()] == [(None, 1.0), (None, 2.0), (None, 3.0)]
    path = filled(in_rounds, tmp_path, lambda row: row.update(price=row["dose"]), n=1)
    with pytest.raises(
        pp.InvalidInput, match=r"row 2: there is no value for metric 'response', and ege-sr compares options in round"
    ):
        import_table(in_rounds, path)
    assert in_rounds.events() == []


def test_columns_beside_the_metrics_are_kept_and_exported(study, tmp_path):
    text = "option,response,price,plate,lot,remark,probability,response \u00b1\na,9,1,3,007,'=x,0.5,0.1\na,8,1,2.5,,,,\n"
    assert import_table(study, write(tmp_path, text)).added == 2
    first, second = study.measurements()
    assert [first[name] for name in ("plate", "lot", "remark")] == [3, "007", "=x"]
    assert [second[name] for name in ("plate", "lot", "remark")] == [2.5, None, None]
    assert not {"probability", "response \u00b1"} & set(first)
    header, row, _ = csv.reader(io.StringIO(export(study, "csv").decode()))
    assert header[-4:] == ["study", "plate", "lot", "remark"]
    assert row[-4:] == ["s", "3", "007", "'=x"]
    assert study.void(where={"plate": 3}, why="wrong plate") == [1]


def test_a_decimal_comma_beside_the_metrics_is_one_where_it_cannot_mark_thousands(study, tmp_path):
    assert import_table(study, write(tmp_path, "option;response;price;plate;size\na;9,5;1;2,5;1,234\n")).added == 1
    assert [study.measurements()[0][name] for name in ("plate", "size")] == [2.5, "1,234"]


def test_a_sheet_that_was_corrected_shows_the_differences_and_corrects_only_if_that_is_meant(study, tmp_path):
    path = filled(
        study, tmp_path, lambda row: row.update(response=row["number"], price="" if row["number"] == "2" else row["dose"]), n=3
    )
    import_table(study, path)
    path.write_text(path.read_text().replace("1,a,1,0,1,1", "1,a,1,0,10,1").replace('second",2,0,2,,', 'second",2,0,2,2,'))
    before = study.events()
    with pytest.raises(
        pp.AlreadyTold, match="2 other values for measurements that the study knows; nothing was imported"
    ) as refused:
        import_table(study, path)
    assert refused.value.differences == (
        Difference(2, 1, "a", "response", 1.0, 10.0),
        Difference(3, 2, "b, the second", "price", None, 2.0),
    )
    assert "row 2: response of measurement 1 (a) was 1, and is 10 here" in str(refused.value)
    assert study.events() == before
    done = import_table(study, path, correct=True)
    assert (done.corrected, done.known, done.told, done.differences) == (2, 1, 0, refused.value.differences)
    assert [event.kind for event in study.events()[len(before) :]] == ["corrected", "corrected"]
    assert [(row["response"], row["price"]) for row in study.measurements()] == [(10.0, 1.0), (2.0, 2.0), (3.0, 3.0)]
    assert study.measurements()[0]["why"] == "corrected: other values in table.csv"
    assert import_table(study, path).known == 3


def test_an_import_that_is_made_again_under_its_id_has_no_further_effect_and_returns_the_same(study, tmp_path):
    path = filled(study, tmp_path, lambda row: row.update(response=row["number"], price=row["dose"]), n=2)
    path.write_text(path.read_text() + ",a,1,,7,1,,\n")
    first = import_table(study, path, request="one")
    assert (first.told, first.added) == (2, 1)
    assert import_table(study, path, request="one") == first
    path.write_text(path.read_text().replace("1,a,1,0,1,1", "1,a,1,0,10,1"))
    second = import_table(study, path, correct=True, request="two")
    assert (second.corrected, second.known) == (1, 2)
    events = study.events()
    assert import_table(study, path, correct=True, request="two") == second
    assert study.events() == events


@pytest.mark.parametrize(
    "line, message",
    [
        ("1,a,,,lost", "measurement 1 has values already; void it if it was wrong"),
        ('2,"b, the second",9,2,', r"measurement 2 was taken back \(slip\); leave the row out"),
        ('2,"b, the second",,,lost', r"measurement 2 was taken back \(slip\); leave the row out"),
        (
            '3,"c ""quoted""",1,3,',
            r"measurement 3 failed \(broke\); leave the row out. It is measured again under another number",
        ),
        ("4,a,1,1,", "measurement 4 was never handed out, or was given back"),
    ],
)
def test_what_became_of_a_measurement_is_not_changed_by_a_file(study, tmp_path, line, message):
    study.ask(4)
    study.tell([1, 2], [(1, 1), (2, 2)])
    study.void(2, "slip")
    study.fail(3, "broke")
    study.release(4)
    events = study.events()
    with pytest.raises(pp.InvalidInput, match=f"row 2: {message}"):
        import_table(study, write(tmp_path, f"number,option,response,price,failed\n{line}\n"), correct=True)
    assert study.events() == events


def test_what_stands_beside_the_metrics_stays_as_it_was(study, tmp_path):
    text = "number,option,response,price,plate\n1,a,1,1,3\n"
    study.ask(1)
    import_table(study, write(tmp_path, text))
    again = import_table(study, write(tmp_path, text.replace(",3", ",4")))
    assert again.notes == ("what stands beside the metrics of measurement 1 was otherwise before, and stays.",)
    assert study.measurements()[0]["plate"] == 3


def test_an_old_sheet_does_not_undo_a_correction(study, tmp_path):
    path = filled(study, tmp_path, lambda row: row.update(response=row["number"], price=row["dose"]), n=2)
    import_table(study, path)
    study.correct(1, (5, 1), "slip")
    again = import_table(study, path)
    assert (again.known, again.differences) == (2, ())
    assert again.notes == ("the values of measurement 1 were corrected since; the corrections stay.",)
    assert study.measurements()[0]["response"] == 5.0


def test_an_export_brings_worker_time_and_extras_to_another_study_and_all_of_it_counts(tmp_path):
    first, second = new_study("first"), new_study("second", budget=6)
    for n, todo in enumerate(first.ask(7, worker="Ada")):
        price = todo.settings["dose"]
        first.tell(todo.number, {"response": n, "price": None if n == 2 else price, "plate": n % 2, "note": "dry" if n else None})
    path = write(tmp_path, export(first, "csv").decode())
    assert import_table(second, path).added == 7
    assert second.used == 7
    for there, here in zip(first.measurements(), second.measurements(), strict=True):
        kept = ("option", "dose", "response", "price", "worker", "plate", "note")
        assert [here[name] for name in kept] == [there[name] for name in kept]
        assert here["at"] == pytest.approx(there["at"], abs=1e-3)
    assert import_table(second, path).known == 7
    path.write_text(path.read_text().replace("+00:00", " noon", 1).replace("s,2,", "s,,"))
    third = new_study("third")
    with pytest.raises(pp.InvalidInput, match=r"row 2: its time \('at'\) is .* write it as 2026-01-31T12:00:00"):
        import_table(third, path)
    write(tmp_path, "option,response,price,at\na,1,1,2026-01-31 12:00\n")
    import_table(third, tmp_path / "table.csv")
    assert datetime.fromtimestamp(third.measurements()[0]["at"], UTC).isoformat() == "2026-01-31T12:00:00+00:00"


def test_a_value_that_is_far_from_all_others_is_taken_and_named(tmp_path):
    study = new_study(exact=[], budget=200)
    rows = [f"a,{5 + n % 4 / 10},{n % 3}" for n in range(20)]
    rows[7] = "a,5200,1"
    done = import_table(study, write(tmp_path, "\n".join(["option,response,price", *rows])))
    assert [(each.number, each.option, each.metric, each.value) for each in done.far_off] == [(8, "a", "response", 5200.0)]
    assert done.far_off[0].others == pytest.approx(5.15, abs=0.05)
    assert "response=5200 of measurement 8 is " in str(done.far_off[0])
    assert study.used == 20
    study.void(8, "kg, not t")
    more = write(tmp_path, "option,response,price\na,5100,1\na,5300,2\na,5.15,0\n", "more.csv")
    assert [each.number for each in import_table(study, more).far_off] == [21, 22]  # which do not hide each other


@pytest.mark.parametrize("values", [[0, 1] * 30 + [1], [0] * 60 + [1], [5.0, 5.5] * 3 + [5.9], [7.0] * 9 + [8.0]])
def test_values_that_are_not_far_off_are_not_named(tmp_path, values):
    """Chances have no values that are far off, nor do those that never varied say how far one may be."""
    study = new_study(exact=[], budget=200, options=["a", "b"])
    study.add([("b", (3.0, 1.0)), ("b", (4.0, 2.0))] if max(values) > 1 else [("b", (1, 1)), ("b", (0, 1))])
    numbers = study.add([("a", (value, n % 2)) for n, value in enumerate(values)])
    assert study.far_off(numbers) == study.far_off(numbers[-1:]) == []


def test_measurements_made_before_are_added_once(study, tmp_path):
    path = write(tmp_path, 'price,option,response,remark\n1,a,9,"x, y"\n1,a,8,\n2,"b, the second",7,\n')
    assert import_table(study, path) == Imported(told=0, failed=0, added=3, known=0, empty=0)
    assert study.used == 3
    assert [row["round"] for row in study.measurements()] == [None] * 3
    assert import_table(study, path) == Imported(told=0, failed=0, added=0, known=3, empty=0)
    path.write_text(path.read_text() + '2,"b, the second",6,late\n')
    assert import_table(study, path) == Imported(told=0, failed=0, added=1, known=3, empty=0)
    assert study.used == 4
    other = write(tmp_path, "option,response,price\na,2.5,1\na,8,1\n", "other.csv")
    with pytest.raises(pp.InvalidInput, match=r"other\.csv, row 3: measurement 2 of 2, 'a' with response=8, price=1, was added"):
        import_table(study, other)
    assert study.used == 4
    assert import_table(study, other, again=True).added == 2


@pytest.mark.parametrize(
    "text, encoding",
    [
        ("option;response;price\na;9,5;1\n", "utf-8-sig"),
        ("option\tresponse\tprice\r\na\t9,5\t1\r\n\r\n", "utf-8"),
        ("option,response,price\na, 9.5 ,1\n,,\n", "utf-8"),
        ("option,response,price\r\na,9.5,1", "utf-8-sig"),
        ("sep=;\noption;Response;PRICE;größe;\na;9,5;1;2;remark\n", "cp1252"),
        ("option\tresponse\tprice\na\t9.5\t1\n", "utf-16"),
    ],
)
def test_tables_of_every_spreadsheet_are_read(study, tmp_path, text, encoding):
    assert import_table(study, write(tmp_path, text, encoding=encoding)).added == 1
    assert study.result().options[0].means["response"] == 9.5


@pytest.mark.parametrize(
    "text, message",
    [
        ("", "is empty; its first line must name the columns"),
        ("option;response;price\na;2,5;1\na;1.234;1\n", r"a comma \(2,5, row 2\) and numbers with a dot \(1.234, row 3\)"),
        ("option,response,price,study\na,1,1,s\n", "row 2: it is of a sheet, and its number is missing"),
        ("option,response\na,1\n", "has no column 'price'; it has 'option', 'response'"),
        ("option,price,response,price\n", "has 'price' 2 times in its first line"),
        ("option,response,price\na,1\n", "row 2: the cells are 2, and the columns are 3"),
        ("response,price\n1,2\n", "row 2: it has neither a number nor an option"),
        ("option,response,price\n\nz,1,2\n", "row 3: no option named 'z'"),
        ("number,option,response,price,faild\n", "has a column 'faild'; did you mean 'failed'"),
        ("number,option,response,price,study\n1,a,1,1,other\n", "row 2: it is of the study 'other', and not of 's'"),
        (
            "number,option,response,price\n99999999999999999999,a,1,1\n",
            "row 2: its number is '99999999999999999999'; it must be one from a sheet",
        ),
    ],
)
def test_a_table_that_cannot_be_read_is_refused(study, tmp_path, text, message):
    with pytest.raises(pp.InvalidInput, match=message):
        import_table(study, write(tmp_path, text))
    assert study.events() == []


def test_a_decimal_comma_is_one_in_numbers_alone(tmp_path):
    study = pp.Study.create("s", options=["0,5", "1,5"], metrics={"m": "max"}, budget=10, storage="sqlite://")
    assert import_table(study, write(tmp_path, "\noption;m\n0,5;1,25\n")).added == 1
    assert study.result().options[0].means == {"m": 1.25}


def test_a_sheet_with_separators_in_its_names_is_read_back(tmp_path):
    study = pp.Study.create("s", options=["x", "y"], metrics={"a;b;c;d;e;f;g": "max", "h": "min"}, budget=10, storage="sqlite://")
    path = filled(study, tmp_path, lambda row: row.update({"a;b;c;d;e;f;g": 1, "h": 2}))
    assert import_table(study, path).told == study.used


def test_a_cell_beyond_all_measure_is_refused(study, tmp_path):
    with pytest.raises(pp.InvalidInput, match="is not a table: field larger than"):
        import_table(study, write(tmp_path, "option,response,price\n" + "x" * 200_000 + ",1,2\n"))


def test_files_that_are_not_there_or_not_text(study, tmp_path):
    with pytest.raises(FileNotFoundError, match="there is no file"):
        read_table(tmp_path / "no.csv")
    with pytest.raises(pp.InvalidInput, match="cannot be read"):
        read_table(tmp_path)
    (tmp_path / "book.xlsx").write_bytes(b"PK\x03\x04rest")
    with pytest.raises(pp.InvalidInput, match=r"book\.xlsx is the file of a spreadsheet program; save the sheet as CSV"):
        read_table(tmp_path / "book.xlsx")
    (tmp_path / "bytes.csv").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(pp.InvalidInput, match="is not a text; save it as CSV in UTF-8"):
        read_table(tmp_path / "bytes.csv")


@pytest.mark.parametrize("word", ["no", "-", "0", "Nein", "FALSE"])
def test_that_nothing_failed_may_be_said_in_words(study, tmp_path, word):
    path = filled(
        study, tmp_path, lambda row: row.update(response=1, price=row["dose"], failed=word, number=row["number"] + ".0")
    )
    assert import_table(study, path).told == study.used


def test_options_from_a_table(tmp_path):
    assert read_options(write(tmp_path, "name,level\nx,1\ny,2\n")) == {"x": {"level": "1"}, "y": {"level": "2"}}
    assert read_options(write(tmp_path, "level,option\n1,x\n")) == {"x": {"level": "1"}}
    with pytest.raises(pp.InvalidInput, match=r"option 'x' is in .* twice"):
        read_options(write(tmp_path, "name\nx\nx\n"))
    with pytest.raises(pp.InvalidInput, match="has no options"):
        read_options(write(tmp_path, "name\n"))


@pytest.fixture
def measured(study):
    first, second, third, _ = study.ask(4)
    study.tell(first.number, (0.1 + 0.2, 1))
    study.tell(second.number, (1, 2))
    study.fail(third.number, "it, broke")
    study.void(second.number, "wrong")
    return study


def test_options_from_a_table_whose_columns_are_spelt_otherwise_or_hold_other_separators(tmp_path):
    path = tmp_path / "options.csv"
    path.write_text("dose,Option\n1,a\n2,b\n")
    assert read_options(path) == {"a": {"dose": "1"}, "b": {"dose": "2"}}
    path.write_text("option;time, s;size, kb\na;1;2\nb;3;4\n")
    assert read_options(path) == {"a": {"time, s": "1", "size, kb": "2"}, "b": {"time, s": "3", "size, kb": "4"}}


def test_export_as_csv_has_every_measurement_with_all_its_digits(measured):
    rows = list(csv.DictReader(io.StringIO(export(measured, "csv").decode())))
    assert list(rows[0]) == [
        *("number", "option", "dose", "round", "repeat", "response", "price"),
        *("status", "why", "worker", "at", "study"),
    ]
    assert rows[0]["dose"] == "1"
    assert [(row["number"], row["status"], row["why"]) for row in rows] == [
        ("1", "told", ""),
        ("2", "voided", "wrong"),
        ("3", "failed", "it, broke"),
    ]
    assert float(rows[0]["response"]) == 0.1 + 0.2
    assert rows[0]["at"].endswith("+00:00")


def test_export_as_json_has_the_events_and_the_result_too(measured):
    record = json.loads(export(measured, "json"))
    assert record["definition"]["budget"] == 30
    assert [event["kind"] for event in record["events"]] == ["told", "told", "failed", "voided"]
    assert record["result"]["used"] == 1
    assert len(record["measurements"]) == 3


def test_what_is_beside_the_metrics_is_of_one_type_in_parquet(study, tmp_path):
    for n, todo in enumerate(study.ask(3)):
        study.tell(todo.number, {"response": 1, "price": todo.settings["dose"], "plate": ["x", 2, None][n], "day": n})
    (tmp_path / "m.parquet").write_bytes(export(study, "parquet"))
    frame = pandas.read_parquet(tmp_path / "m.parquet")
    assert frame["plate"].tolist()[:2] == ["x", "2"]
    assert frame["day"].tolist() == [0, 1, 2]
    assert frame["dose"].tolist() == [1, 2, 3]


def test_export_as_parquet_is_read_back_by_pandas(measured, study, tmp_path):
    (tmp_path / "m.parquet").write_bytes(export(measured, "parquet"))
    frame = pandas.read_parquet(tmp_path / "m.parquet")
    assert frame["response"].tolist()[:2] == [0.1 + 0.2, 1.0]
    assert frame["status"].tolist() == ["told", "voided", "failed"]


def test_an_export_of_nothing_and_of_another_kind(study):
    assert export(study, "csv").decode().count("\n") == 1
    assert export(study, "parquet")
    with pytest.raises(pp.InvalidInput, match="there is no format 'xls'"):
        export(study, "xls")
    assert tables.FORMATS == ("csv", "json", "parquet")


def test_an_export_brings_nothing_new_to_its_own_study_and_is_a_pilot_of_another(measured, tmp_path):
    path = write(tmp_path, export(measured, "csv").decode())
    assert import_table(measured, path) == Imported(told=0, failed=0, added=0, known=1, empty=2)
    assert measured.used == 1
    other = pp.Study.create("t", options=list(OPTIONS), metrics=measured.metrics, budget=30, storage="sqlite://")
    sheet_of_s = write(tmp_path, sheet(measured, measured.ask(1)).replace(",,,", ",1,3,"), "sheet.csv")
    with pytest.raises(pp.InvalidInput, match="row 2: it is of the study 's', and not of 't'"):
        import_table(other, sheet_of_s)
    assert import_table(other, path) == Imported(told=0, failed=0, added=1, known=0, empty=2)  # what was told there


@pytest.mark.parametrize("separator", [";", "\t"])
@pytest.mark.parametrize("cell", ["1,234", "-12,345", "999,000"])
def test_a_comma_that_may_mark_thousands_is_not_guessed(study, tmp_path, separator, cell):
    rows = [["option", "response", "price"], ["a", "7", "1"], ["a", cell, "1"]]
    path = write(tmp_path, "\n".join(map(separator.join, rows)))
    both = f"can be {cell.replace(',', '')} or {cell.replace(',', '.')}"
    with pytest.raises(pp.InvalidInput, match=rf"table\.csv, row 3: '{cell}' under 'response' {both}, and no other number"):
        import_table(study, path)
    assert study.events() == []


@pytest.mark.parametrize("other", ["1,5", "0,125", "1234,5", "12,3456"])
def test_another_number_of_the_file_tells_what_a_comma_marks(study, tmp_path, other):
    path = write(tmp_path, f"option;response;price\na;1,234;1\na;{other};1\n")
    assert import_table(study, path).added == 2
    assert study.measurements()[0]["response"] == 1.234


def test_a_dot_between_semicolons_may_mark_thousands_and_between_tabs_and_commas_marks_decimals(study, tmp_path):
    with pytest.raises(pp.InvalidInput, match=r"'1.234' under 'response' can be 1234 or 1.234"):
        import_table(study, write(tmp_path, "option;response;price\na;1.234;1\n"))
    for place, separator in enumerate("\t,", start=1):
        text = "option;response;price\na;1.234;1\n".replace(";", separator)
        assert import_table(study, write(tmp_path, text), again=True).added == 1
        assert study.measurements()[place - 1]["response"] == 1.234


@pytest.mark.parametrize("cell", ["1_000", "\uff11\uff12", "0x10", "1 000", "\u0661", "1e", "--1", "1.2.3", "True"])
def test_only_numbers_as_everybody_writes_them_are_read(study, tmp_path, cell):
    with pytest.raises(pp.InvalidInput, match=f"row 2: '{re.escape(cell)}' under 'response' is not a number"):
        import_table(study, write(tmp_path, f"option,response,price\na,{cell},1\n"))
    with pytest.raises(pp.InvalidInput, match="its number is"):
        import_table(study, write(tmp_path, f"number,option,response,price\n{cell}x,a,1,1\n"))


def test_numbers_of_measurements_are_whole_and_short(study, tmp_path):
    for number in ("1_0", "\uff11", "9" * 5000):
        with pytest.raises(pp.InvalidInput, match="row 2: its number is"):
            import_table(study, write(tmp_path, f"number,option,response,price\n{number},a,1,1\n"))


FORMULAS = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d")
NAMES = st.one_of(
    st.text(min_size=1, max_size=8),
    st.tuples(st.sampled_from(["=", "+", "-", "@", "'", "''", "'='", "-1", "+1.5e3"]), st.text(max_size=5)).map("".join),
).filter(lambda name: name == name.strip() and name.isprintable() and name)


@st.composite
def exports(draw) -> pp.Study:
    """A study with any names that has measured everything once, and failed at something."""
    names = draw(st.lists(NAMES, min_size=2, max_size=3, unique_by=lambda name: unicodedata.normalize("NFC", name)))
    allowed = NAMES.filter(lambda name: name.casefold() not in RESERVED and not name.endswith(" ±"))
    metrics = draw(
        st.lists(allowed, min_size=1, max_size=2, unique_by=lambda name: unicodedata.normalize("NFC", name).casefold())
    )
    study = pp.Study.create(draw(NAMES), options=names, metrics=dict.fromkeys(metrics, "max"), budget=20, storage="sqlite://")
    todos = study.ask(len(names) + 1)
    values = st.floats(-1e100, 1e100) | st.integers(-9, 9).map(float)
    for todo in todos[:-1]:
        study.tell(todo.number, [draw(values) for _ in metrics])
    study.fail(todos[-1].number, draw(st.text(max_size=9) | st.just("=cmd()")))
    return study


@settings(max_examples=60)
@given(study=exports())
def test_an_export_holds_no_formula_and_is_read_back_as_it_was(tmp_path_factory, study):
    path = tmp_path_factory.getbasetemp() / "export.csv"
    path.write_bytes(export(study, "csv"))
    for row in csv.reader(io.StringIO(path.read_text(encoding="utf-8"), newline="")):
        for cell in row:
            assert not cell.startswith(FORMULAS) or re.fullmatch(
                r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", cell, re.ASCII | re.IGNORECASE
            )
    other = pp.Study.create("other", options=study.options, metrics=study.metrics, budget=20, storage="sqlite://")
    assert import_table(other, path).added == len(study.options)
    told = [(row["option"], *(row[name] for name in study.metrics)) for row in study.measurements() if row["status"] == "told"]
    assert [(row["option"], *(row[name] for name in study.metrics)) for row in other.measurements()] == told
    assert import_table(study, path).known == len(study.options)  # its own numbers, and nothing new


@settings(max_examples=60)
@given(study=exports())
def test_a_sheet_holds_no_formula_and_is_read_back_as_it_was(tmp_path_factory, study):
    path = tmp_path_factory.getbasetemp() / "sheet.csv"
    rows = list(csv.reader(io.StringIO(sheet(study, study.ask(2, worker="w")))))
    assert not [cell for row in rows for cell in row if cell.startswith(FORMULAS) and not is_number(cell, decimal_comma=False)]
    for row in rows[1:]:
        row[3 : 3 + len(study.metrics)] = ["-1.5"] * len(study.metrics)
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(rows)
    used = study.used
    assert import_table(study, path).told == 2
    assert study.used == used + 2


def test_a_sheet_of_the_release_before_is_still_read(tmp_path):
    options = ["=a", "-b", "@c", "'d'", "plain"]
    study = pp.Study.create("=s", options=options, metrics={"+m": "max"}, budget=30, storage="sqlite://")
    todos = study.ask(5)
    lines = ["number,option,round,+m,failed,study", *(f"{todo.number},{todo.option},1,2.5,,=s" for todo in todos)]
    assert import_table(study, write(tmp_path, "\n".join(lines))).told == 5


def test_a_file_with_nul_is_refused(study, tmp_path):
    with pytest.raises(pp.InvalidInput, match="is not a text"):
        import_table(study, write(tmp_path, "option,response,price\na\0,1,1\n"))
    with pytest.raises(pp.InvalidInput, match="cannot be the path of a file"):
        import_table(study, "a\0b.csv")
