"""What results of paired studies say: how much is shared, what it saved, which blocks are far off; and what to pair by."""

import numpy as np
import pytest

import paretopick as pp
from paretopick.estimates.sharing import Share
from paretopick.policies.paired_doubt import PairedDoubt

pytestmark = pytest.mark.slow

OPTIONS = ("a", "b", "c", "d")
MEANS = dict(zip(OPTIONS, (0.0, 0.5, 1.0, 0.2), strict=True))


def rows_of(rng, n_blocks, rho, *, bad=None, shift=0.0):
    """Measurements of all options on plates, with a metric that shares much of its noise and one that shares nothing."""
    effects = np.sqrt(rho) * rng.normal(size=n_blocks)
    if bad is not None:
        effects[bad] += shift
    return [
        (option, {"yield": mean + effect + np.sqrt(1 - rho) * rng.normal(), "price": 10 - mean + rng.normal(), "plate": plate})
        for plate, effect in enumerate(effects)
        for option, mean in MEANS.items()
    ]


def study_of(rows, *, name="plates", **more):
    study = pp.Study.create(
        name, options=OPTIONS, metrics={"yield": "max", "price": "min"}, budget=500, storage="sqlite://", **more
    )
    study.add(rows)
    return study


def test_a_result_says_how_much_is_shared_and_what_it_saved():
    result = study_of(rows_of(np.random.default_rng(0), 25, 0.8), pairing="plate").result()
    low, value, high = result.sharing.shares["yield"]
    assert 0.6 < low < value < high < 0.95
    assert result.sharing.shares["price"].low == 0.0
    assert result.sharing.gains["yield"] > 2
    assert result.sharing.gains["price"] == pytest.approx(1.0, abs=0.3)
    text = str(result)
    assert f"Shared: Measurements with the same plate share {value:.0%} of the noise of yield" in text
    assert "times as many in yield that share nothing" in text
    assert "in price that" not in text  # which may be chance
    said = result.to_dict()["sharing"]
    assert said["pairing"] == "plate"
    assert said["shares"]["yield"] == [low, value, high]
    assert isinstance(result.sharing.shares["yield"], Share)


def test_without_pairing_nothing_is_said_of_it():
    rows = [
        (option, {name: x for name, x in values.items() if name != "plate"})
        for option, values in rows_of(np.random.default_rng(1), 9, 0.0)
    ]
    result = study_of(rows).result()
    assert result.sharing is None
    assert "Shared" not in str(result)


def test_differences_are_known_better_than_without_pairing():
    rows = rows_of(np.random.default_rng(2), 12, 0.85)
    paired, plain = (study_of(rows, pairing=pairing).result() for pairing in ("plate", None))
    widths = []
    for result in (paired, plain):
        beaten = {row.option: row.beaten_by for row in result.options}
        widths.append(sum(row.doubt or 0.0 for row in result.options))
        assert beaten
    assert widths[0] < widths[1]
    assert (paired.probability or 0) > (plain.probability or 0)


def test_means_are_those_that_blocks_are_taken_out_of():
    """An option that was measured on good plates alone does not look good for that."""
    rng = np.random.default_rng(3)
    rows = []
    for plate in range(20):
        good = 5.0 if plate < 10 else 0.0
        for option in OPTIONS if plate < 10 else OPTIONS[:3]:
            rows.append((option, {"yield": good + 0.3 * rng.normal(), "price": 1 + 0.1 * rng.normal(), "plate": plate}))
    paired, plain = (
        {row.option: row.means["yield"] for row in study_of(rows, pairing=pairing).result().options}
        for pairing in ("plate", None)
    )
    assert plain["d"] - plain["a"] > 2
    assert abs(paired["d"] - paired["a"]) < 0.5


def test_a_study_in_which_no_two_measurements_share_a_block_says_what_one_without_pairing_says():
    rows = rows_of(np.random.default_rng(4), 6, 0.5)
    rows = [(option, {**values, "plate": place}) for place, (option, values) in enumerate(rows)]
    paired, plain = (study_of(rows, pairing=pairing).result().to_dict() for pairing in ("plate", None))
    assert paired == plain


def test_the_answer_and_what_comes_next_do_not_depend_on_the_order_of_arrival():
    rows = rows_of(np.random.default_rng(5), 10, 0.6)
    found = []
    for seed in range(3):
        order = np.random.default_rng(seed).permutation(len(rows)) if seed else range(len(rows))
        study = study_of([rows[i] for i in order], pairing="plate")
        found.append((study.result().to_dict(), [todo.option for todo in study.ask(7)]))
    assert found[0] == found[1] == found[2]


def test_what_is_taken_back_leaves_no_trace():
    rows = rows_of(np.random.default_rng(6), 8, 0.6)
    study = study_of(rows, pairing="plate")
    extra = study.add([("a", {"yield": 50.0, "price": 3.0, "plate": 2}), ("b", {"yield": 60.0, "price": 3.0, "plate": 99})])
    study.void(extra, "wrong")
    found, expected = study.result().to_dict(), study_of(rows, pairing="plate").result().to_dict()
    assert found == expected


@pytest.mark.parametrize("pairing", ["plate", "repeat"])
def test_a_block_that_is_far_from_the_others_is_named(pairing):
    rows = rows_of(np.random.default_rng(7), 15, 0.3, bad=4, shift=9.0)
    if pairing == "repeat":
        rows = [(option, {("repeat" if name == "plate" else name): x for name, x in values.items()}) for option, values in rows]
    result = study_of(rows, pairing=pairing).result()
    assert len(result.sharing.far) == 1
    assert result.sharing.far[0].startswith(f"{pairing} 4 is far from the others")
    assert "in yield" in result.sharing.far[0]
    assert result.sharing.far[0] in result.notes


@pytest.mark.long
def test_blocks_that_are_alike_are_hardly_ever_named():
    named = [
        study_of(rows_of(np.random.default_rng([8, seed]), 12, 0.5), name=f"s{seed}", pairing="plate").result().sharing
        for seed in range(40)
    ]
    assert sum(len(each.far) for each in named if each is not None) <= 1


def test_a_column_that_has_much_of_the_noise_is_suggested():
    rows = rows_of(np.random.default_rng(9), 12, 0.8)
    rows = [(option, {**values, "operator": f"person {place % 3}"}) for place, (option, values) in enumerate(rows)]
    study = study_of(rows)
    notes = [note for note in study.result().notes if "vary together" in note]
    assert len(notes) == 1
    assert "with the same plate" in notes[0]
    assert "pairing='plate'" in notes[0]
    study.correct(1, {"yield": 0.1, "price": 9.0}, "slip")
    assert any("with the same plate" in note for note in study.result().notes)


def test_the_repeat_is_suggested_too():
    effects = np.random.default_rng(10).normal(size=200)
    rng = np.random.default_rng(11)

    def measure(option, repeat):
        return {"score": MEANS[option] + effects[repeat] + 0.4 * rng.normal(), "cost": 1.0}

    result = pp.identify(measure, options=OPTIONS, metrics={"score": "max", "cost": "min"}, budget=60, exact=["cost"])
    assert any("with the same repeat" in note and "pairing='repeat'" in note for note in result.notes)


def test_columns_that_explain_nothing_are_not_suggested():
    said = 0
    for seed in range(25):
        result = study_of(rows_of(np.random.default_rng([12, seed]), 10, 0.0), name=f"s{seed}").result()
        said += any("vary together" in note for note in result.notes)
    assert said <= 1


def test_a_paired_study_measures_by_its_blocks():
    study = study_of(rows_of(np.random.default_rng(13), 5, 0.7), pairing="plate")
    assert isinstance(study._state.policy, PairedDoubt)
    assert [todo.option for todo in study.ask(3)]
    with pytest.raises(pp.InvalidInput, match="apt knows nothing; leave it out, or use doubt"):
        study_of([], pairing="plate", policy="apt")


def test_one_ask_hands_out_options_of_the_same_block_together():
    effects = np.random.default_rng(15).normal(size=300)
    rng = np.random.default_rng(16)
    study = pp.Study.create("q", options=OPTIONS, metrics={"score": "max"}, budget=120, pairing="repeat", storage="sqlite://")
    while study.used < 60:
        todo = study.ask(4)
        repeats = [each.repeat for each in todo]
        assert repeats == sorted(repeats)
        study.tell(
            [each.number for each in todo], [[MEANS[each.option] + effects[each.repeat] + 0.3 * rng.normal()] for each in todo]
        )
    shared = study.result().sharing
    assert shared.shares["score"].value > 0.7


def test_paired_studies_take_what_real_measurements_are_like():
    """Missing metrics, logarithms, exact metrics, limits, options that come later or go, measurements without a plate."""
    rng = np.random.default_rng(17)
    study = pp.Study.create(
        "all",
        options=OPTIONS,
        metrics={"seconds": "min~2%<=9", "score": "max", "price": "min"},
        exact=["price"],
        budget=400,
        pairing="plate",
        confidence=0.999,
        storage="sqlite://",
    )

    def row(option, plate):
        seconds = float(np.exp(0.2 * (plate or 0) % 1 + 0.1 * rng.normal() + 0.1 * len(option)))
        values = {"seconds": seconds, "score": rng.normal() + (plate or 0) % 3, "price": float(ord(option[0]))}
        if rng.random() < 0.2:
            values["score"] = None
        return values | ({} if plate is None else {"plate": plate})

    for plate in range(8):
        study.add([(option, row(option, plate)) for option in OPTIONS])
    study.add([(option, row(option, None)) for option in OPTIONS])
    study.add_option("e")
    study.retire("d", "sold out")
    for todo in study.ask(10):
        study.tell(todo.number, row(todo.option, 8))
    result = study.result()
    assert result.sharing is not None
    assert result.probability is not None
    assert set(result.status) == {*OPTIONS, "e"}
    assert isinstance(result.next_step, str)
    assert study.ask(3)


def test_the_next_step_of_a_paired_study_counts_on_what_is_shared():
    rows = rows_of(np.random.default_rng(18), 8, 0.85)
    needed = []
    for pairing in ("plate", None):
        study = pp.Study.create(
            "next",
            options=OPTIONS,
            metrics={"yield": "max~0.2", "price": "min~0.5"},
            budget=4000,
            pairing=pairing,
            storage="sqlite://",
        )
        study.add(rows)
        found = pp.plan(study, target=0.02)
        needed.append(float("inf") if found.needed is None else found.needed)
    assert needed[0] < needed[1]


def test_reports_say_what_is_shared():
    from paretopick.report import make_report

    study = study_of(rows_of(np.random.default_rng(19), 10, 0.7), pairing="plate")
    facts = dict(make_report(study, rehearsals=0).facts)
    assert facts["paired by"].startswith("plate. Measurements with the same plate share")


def test_a_metric_that_nobody_has_measured_yet_is_no_trouble():
    study = pp.Study.create(
        "m", options=list("abc"), metrics={"x": "max", "y": "max"}, budget=30, pairing="repeat", storage="sqlite://"
    )
    for number in range(8):
        (todo,) = study.ask(1)
        study.tell(todo.number, {"x": float(number % 3), "y": None})
    assert study.ask(1)


def test_means_of_zeros_and_ones_are_chances():
    rng = np.random.default_rng(20)
    study = pp.Study.create(
        "q", options=list("abcd"), metrics={"score": "max"}, budget=300, pairing="question", storage="sqlite://"
    )
    rows = [(option, {"score": float(rng.random() < 0.97), "question": q}) for q in range(30) for option in "abc"]
    rows += [("d", {"score": 0.0, "question": q}) for q in (31, 32, 33)] + [
        ("a", {"score": 0.0, "question": q}) for q in (31, 32, 33)
    ]
    study.add(rows)
    for row in study.result().options:
        assert 0.0 <= row.means["score"] <= 1.0
        assert row.intervals["score"][0] <= row.means["score"] <= row.intervals["score"][1]


def test_standard_errors_belong_to_the_means_beside_them():
    rng = np.random.default_rng(21)
    effects = 20 * rng.normal(size=6)
    rows = [
        ("abcd"[arm], {"yield": effects[plate] + rng.normal(), "price": 1.0 + 0.1 * rng.normal(), "plate": plate})
        for plate in range(6)
        for arm in range(4)
        if arm or plate < 3
    ]
    errors = [row.standard_errors["yield"] for row in study_of(rows, pairing="plate").result().options]
    assert max(errors) < 1.5 * min(errors)


def test_what_blocks_leave_open_between_options_is_in_the_next_step():
    """An option in blocks of its own is known badly, however little it varies within them."""
    rng = np.random.default_rng(22)
    effects = 5 * rng.normal(size=12)
    rows = [
        (option, {"x": 0.3 * place + effects[q] + 0.3 * rng.normal(), "q": q})
        for q in range(10)
        for place, option in enumerate("ab")
    ]
    rows += [("c", {"x": 1.0 + effects[q] + 0.3 * rng.normal(), "q": q}) for q in (10, 11)]
    study = pp.Study.create("n", options=list("abc"), metrics={"x": "max~0.2"}, budget=2000, pairing="q", storage="sqlite://")
    study.add(rows)
    estimates = study.data().estimates
    drawn = estimates.draws(4000, np.random.default_rng(0), shift=False)[:, :, 0]
    whole = estimates.draws(4000, np.random.default_rng(0))[:, :, 0]
    assert (drawn[:, 2] - drawn[:, 0]).std() == pytest.approx((whole[:, 2] - whole[:, 0]).std(), rel=0.1)
    assert drawn[:, 0].std() < whole[:, 0].std() / 2


def test_a_measurement_that_was_told_is_not_moved_to_another_block_without_a_word():
    study = study_of([], pairing="plate")
    (todo,) = study.ask(1)
    study.tell(todo.number, {"yield": 1.0, "price": 2.0, "plate": 1})
    study.tell(todo.number, {"yield": 1.0, "price": 2.0, "plate": "1"})  # the same
    with pytest.raises(pp.AlreadyTold, match="has plate=2 here and was told with plate=1"):
        study.tell(todo.number, {"yield": 1.0, "price": 2.0, "plate": 2})


def test_a_result_says_how_many_measurements_are_in_no_block():
    rows = rows_of(np.random.default_rng(23), 6, 0.5)
    rows[3][1].pop("plate")
    assert "1 of 24 measurements has no plate, and shares nothing with others." in study_of(rows, pairing="plate").result().notes


def test_sheets_of_a_study_that_is_paired_by_a_column_have_that_column():
    from paretopick.studies.tables import sheet

    study = study_of([], pairing="plate")
    assert sheet(study, study.ask(2)).splitlines()[0] == "number,option,repeat,plate,yield,price,failed,study"
