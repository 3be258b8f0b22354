"""What a result says: statuses, dominators, probabilities, and the same numbers in every form."""

import html
import io
import json
import pickle
import re
from dataclasses import replace

import numpy as np
import pytest
from rich.console import Console

import paretopick as pp
from paretopick.estimates import estimate_tables
from paretopick.studies.pages import how_sure
from paretopick.studies.result import STATUSES
from support.eventful_studies import POLICIES, eventful, new_study
from support.example_results import option_result
from support.example_results import result as hand_made
from support.twin import Twin


def studied(truth, budget=120, metrics=None, policy="ege-sr", std=0.5, seed=0, **options):
    """A study of options with true means, all measured."""
    metrics = metrics or {f"m{d}": "max" for d in range(len(next(iter(truth.values()))))}
    rng = np.random.default_rng(seed)
    noise = np.where([name in options.get("exact", ()) for name in metrics], 0.0, std)
    study = pp.Study.create(
        "s", options=list(truth), metrics=metrics, budget=budget, policy=policy, storage="sqlite://", **options
    )
    while not study.done:
        for todo in study.ask(20):
            study.tell(todo.number, (np.array(truth[todo.option]) + noise * rng.normal(size=len(noise))).tolist())
    return study


def check(result: pp.ParetoResult) -> None:
    """What holds of every result."""
    by_name = {row.option: row for row in result.options}
    signs = {name: 1 if goal == "max" else -1 for name, goal in result.metrics.items()}
    assert result.pareto == tuple(row.option for row in result.options if row.in_answer)
    for row in result.options:
        assert row.status in STATUSES
        assert result.status[row.option] == row.status
        if row.probability is not None:
            sides = [row.probability >= result.level, row.probability <= 1 - result.level]
            assert row.status == ("pareto" if sides[0] else "dominated" if sides[1] else "open")
        else:
            assert row.status in ("open", "retired")
        for name in row.dominated_by:
            assert not row.in_answer
            assert name in result.pareto
            other = by_name[name]
            ahead = [sign * (other.means[metric] - row.means[metric]) for metric, sign in signs.items()]
            assert min(ahead) >= 0
            assert max(ahead) > 0
        if row.beaten_by is not None:
            assert not row.in_answer
            assert row.beaten_by.option in result.pareto
            assert 0 < row.beaten_by.probability <= 1 - row.probability + 1e-9
            assert [difference.metric for difference in row.beaten_by.by] == list(result.metrics)
        if row.status == "retired":
            assert row.option not in result.pareto
    retired = {row.option for row in result.options if row.status == "retired"}
    assert sorted(name for group in result.groups for name in group) == sorted(set(by_name) - retired)
    assert json.loads(result.to_json()) == result.to_dict()


@pytest.mark.sample(3)
@pytest.mark.parametrize("policy", POLICIES, ids=lambda policy: f"{policy[0]} {policy[1] or ''}")
def test_statuses_are_what_the_probabilities_say_and_who_is_beaten_names_by_whom(policy):
    for seed in range(3):
        study = new_study(policy, seed)
        check(study.result())
        check(eventful(study, seed).result())


@pytest.mark.parametrize("seed", range(6))
def test_estimates_are_those_of_the_measurements_that_count(seed):
    study = eventful(new_study(("ege-sr", {}), seed), seed)
    twin = Twin(study.definition, study.events())
    present = [arm for arm in range(6) if arm not in twin.retired]
    rows = [np.array([values for _, values in twin.counted[arm]]) for arm in present]
    if any(len(table) == 0 for table in rows):
        with pytest.raises(pp.NotReady):
            study.estimates()
        return
    expected = estimate_tables(rows, exact=np.array(study.definition.is_exact), signs=study.definition.signs)
    found, names, scale = study.estimates()
    assert names == tuple(f"o{arm}" for arm in present)
    assert found.counts.tolist() == expected.counts.tolist()
    assert found.binary.tolist() == expected.binary.tolist()
    for field in ("means", "stds", "correlation"):
        assert np.allclose(getattr(found, field), getattr(expected, field), rtol=1e-9, atol=1e-9), field
    assert scale == pytest.approx(twin.widths())


def test_every_form_of_a_result_shows_the_same_numbers():
    truth = {"<b>bold</b>": (3.0, 1.0), "a & b": (1.0, 3.0), "poor": (0.5, 0.5), "close": (2.9, 0.9)}
    result = studied(truth, metrics={"speed": "max", "price": "max"}).result()
    header, rows = result.cells()
    page = result._repr_html_()
    shown = re.findall(r"<tr class=.*?</tr>", page, flags=re.DOTALL)
    assert [re.findall(r"<td[^>]*>(.*?)</td>", line) for line in shown] == [[html.escape(cell) for cell in row] for row in rows]
    assert "<b>" not in page
    record = {row["option"]: row for row in result.to_dict()["options"]}
    frame = result.to_pandas()
    for row in rows:
        cells = dict(zip(header, row, strict=True))
        own = record[cells["option"]]
        assert cells["status"].split(",")[0] == own["status"] == frame.loc[cells["option"], "status"]
        assert frame.loc[cells["option"], ["speed_low", "speed_high"]].tolist() == own["intervals"]["speed"]
        beaten = own["beaten_by"]
        assert cells["beaten by"].partition(":")[0] == ("" if beaten is None else beaten["option"])
        assert float(cells["speed"]) == pytest.approx(
            own["means"]["speed"], abs=0.51 * 10 ** -len(cells["speed"].partition(".")[2])
        )
        assert frame.loc[cells["option"], "speed"] == own["means"]["speed"]
        assert frame.loc[cells["option"], "probability"] == own["probability"]
    console = Console(width=400, file=io.StringIO())
    console.print(result)
    text = console.file.getvalue()
    for row in rows:
        assert all(cell in text for cell in row)
    assert str(result) in text
    assert all(html.escape(line) in page for line in str(result).splitlines())


def test_a_close_call_is_less_sure_than_a_clear_one():
    clear = studied({"a": (9.0,), "b": (0.0,), "c": (1.0,)}).result()
    assert clear.certainty.probability > 0.999
    assert clear.options[0].probability > 0.999
    assert clear.sentence == "Of 3 options, a is Pareto-optimal."
    close = studied({"a": (1.0,), "b": (1.0,), "c": (0.0,)}).result()
    assert 0.3 < close.certainty.probability < 0.98
    assert close.certainty.interval[0] <= close.certainty.probability <= close.certainty.interval[1]
    assert f"{close.certainty.draws:,}" in close.certainty.how
    assert sum(row.probability for row in close.options) == pytest.approx(1.0)  # of one metric one is the best


def test_before_there_is_enough_no_probability_is_made_up():
    study = pp.Study.create("s", options=["a", "b"], metrics={"m": "max"}, budget=20, storage="sqlite://")
    assert study.result().certainty.how == "2 of 2 options have no measurements."
    assert study.result().certainty.probability is None
    for todo in study.ask(4):
        if todo.option == "a":
            study.tell(todo.number, [1.0])
    assert [row.probability for row in study.result().options] == [None, None]
    assert "probability" not in str(study.result())


def test_one_option_is_certain_without_measurements():
    study = pp.Study.create("s", options=["only"], metrics={"m": "max"}, budget=5, storage="sqlite://")
    assert study.result().certainty.probability == 1.0
    assert study.result().options[0].probability == 1.0


def test_zeros_and_ones_are_judged_by_their_chances():
    rng = np.random.default_rng(0)
    truth = {"good": (0.9, 0.2), "bad": (0.2, 0.8), "fair": (0.6, 0.5)}
    measured = lambda option: (rng.random(2) < truth[option]).astype(float).tolist()  # noqa: E731
    result = pp.identify(measured, options=list(truth), metrics={"works": "max", "breaks": "min"}, budget=300)
    assert result.pareto == ("good",)
    assert "Beta" in result.certainty.how
    assert result.certainty.probability > 0.99


def test_a_rehearsal_is_the_simulation_of_the_same_study_at_the_measured_means():
    study = studied({"a": (1.0, 0.0), "b": (0.0, 1.0), "c": (0.3, 0.3)}, budget=60, std=1.0)
    rehearsal = study.result(rehearsals=400).rehearsal
    estimates, _, scale = study.estimates()
    bandit = pp.Bandit(estimates.means, pp.Gaussian(cov=estimates.covariances))
    curve = pp.simulate(bandit, ("ege-sr", {"spend": "all"}), budgets=60, runs=400, rng=0, scale=scale)
    assert rehearsal.right == 400 - curve.errors[0]
    assert rehearsal.interval == pytest.approx(tuple(1 - curve.interval()[0][::-1]))
    assert f"{rehearsal.right} of 400" in rehearsal.how
    assert study.result().rehearsal is None


def test_a_rehearsal_with_exact_metrics_and_retired_options():
    truth = {"a": (1.0, 1.0), "b": (2.0, 2.0), "c": (0.5, 1.0), "d": (3.0, 3.0)}
    study = studied(truth, budget=80, metrics={"gain": "max", "price": "min"}, exact=["price"])
    study.retire("d", "sold out")
    result = study.result(rehearsals=20)
    assert result.rehearsal.runs == 20
    assert result.options[3].probability is None
    assert [row.probability is None for row in result.options] == [False, False, False, True]


def test_an_option_that_doubt_keeps_although_another_is_ahead_is_named():
    study = pp.Study.create(
        "s", options=["a", "b"], metrics={"m": "max", "n": "max"}, budget=4, storage="sqlite://", policy="doubt"
    )
    seen = {"a": [(0.0, 1.0), (1.0, 0.0)], "b": [(0.1, 1.1), (1.1, 0.1)]}
    while not study.done:
        for todo in study.ask():
            study.tell(todo.number, seen[todo.option].pop())
    result = study.result()
    assert result.pareto == ("a", "b")
    assert "kept in, though as measured another option is ahead in every metric: a; that may be chance." in result.notes


def test_an_option_of_the_answer_that_another_dominates_by_now_is_named():
    schedule = {"active": [3, 2, 1], "pulls": [1, 9]}
    study = pp.Study.create(
        "s",
        options=["a", "b", "c"],
        metrics={"m": "max", "n": "max"},
        budget=21,
        scale="raw",
        storage="sqlite://",
        policy=("ege", {"schedule": schedule}),
    )
    first = {"a": (0, 0), "b": (90, -90), "c": (1, 1)}  # b is clearly optimal and leaves
    while not study.done:
        for todo in study.ask():
            later = todo.round > 1 and todo.option == "c"
            study.tell(todo.number, (900, 900) if later else first[todo.option])
    result = study.result()
    assert set(result.pareto) == {"b", "c"}
    assert "the rounds of ege have kept b, which by all measurements together is more likely dominated." in result.notes
    assert (result.status["b"], result.in_answer["b"]) == ("dominated", True)
    assert ["b", "dominated, kept in"] in [row[:2] for row in result.cells()[1]]
    assert result.doubtful[0].option == "b"
    assert "the doubt is mostly about b (in it, wrongly with 99.9%)" in how_sure(result)
    check(result)


def test_equal_values_are_equal_however_often_they_were_measured():
    truth = {"a": (3.0, 0.1), "b": (2.0, 0.1), "c": (1.0, 0.1), "d": (0.0, 0.1)}
    study = pp.Study.create("s", options=list(truth), metrics={"m": "max", "price": "min"}, budget=90, storage="sqlite://")
    rng = np.random.default_rng(0)
    while not study.done:
        for todo in study.ask(5):
            study.tell(todo.number, (truth[todo.option][0] + 0.2 * rng.normal(), 0.1))
    result = study.result()
    assert {row.means["price"] for row in result.options} == {0.1}
    assert [row.status for row in result.options] == ["pareto", "dominated", "dominated", "dominated"]


def test_when_one_dominated_option_is_left_nobody_is_said_to_be_sure_of_nothing():
    study = studied({"a": (9.0,), "b": (0.0,)}, budget=20)
    study.retire("a", "gone")
    result = study.result()
    assert result.pareto == ()
    assert result.certainty.probability == 0.0


def test_what_is_sure_depends_on_the_level_and_what_is_open_says_its_side():
    study = studied({"a": (1.0, 0.0), "b": (0.0, 1.0), "c": (0.8, -0.1)}, budget=30, policy="doubt", std=0.6)
    usual, strict, lax = (study.result(level=level) for level in (0.95, 1.0, 0.501))
    assert usual == study.result()
    for result, level in ((usual, 0.95), (strict, 1.0), (lax, 0.501)):
        check(result)
        assert result.level == level
        assert result.pareto == usual.pareto
    assert strict.groups.open
    assert lax.groups.open == ()
    assert set(lax.groups.surely_in) == set(lax.pareto)
    for row in strict.options:
        if row.status == "open":
            assert row.in_answer == (row.probability >= 0.5)
            side = "in the answer" if row.in_answer else "not in it"
            assert re.search(rf"^Open, {side} \(\d\): .*{row.option} \(", str(strict), re.MULTILINE)
    for level in (0.5, 1.1, "x"):
        with pytest.raises(pp.InvalidInput, match="level="):
            study.result(level=level)


def test_what_rounds_decided_against_the_measurements_is_marked():
    cases = [("open", 0.6, False), ("open", 0.4, True), ("pareto", 0.99, False), ("dominated", 0.01, True), ("open", None, True)]
    rows = [option_result(f"{i}", status, {"m": 1.0}, probability=chance) for i, (status, chance, _) in enumerate(cases)]
    made = hand_made(rows, {"m": "max"}, pareto=tuple(f"{i}" for i, (*_, is_in) in enumerate(cases) if is_in))
    said = {row[0]: row[1] for row in made.cells()[1]}
    assert [said[f"{i}"] for i in range(5)] == [
        *("open, left out", "open, kept in", "pareto, left out", "dominated, kept in", "open, best guess")
    ]


def test_doubt_is_named_by_how_likely_a_side_is_wrong():
    rows = [
        option_result(name, "open", {"m": 1.0}, probability=chance) for name, chance in (("a", 0.88), ("b", 0.45), ("c", 0.7))
    ]
    made = hand_made(rows, {"m": "max"}, pareto=("b", "c"))
    assert [row.option for row in made.doubtful] == ["a", "b", "c"]
    assert [row.doubt for row in made.doubtful] == pytest.approx([0.88, 0.55, 0.3])
    made = replace(made, certainty=pp.Certainty(0.1, (0.0, 0.2), 100, "."))
    assert "mostly about a (not in it, wrongly with 88%), b (in it, wrongly with 55%) and c" in how_sure(made)
    alike = replace(made, alike=(("a", "c"),))  # of which one is in the answer
    assert "mostly about b (in it, wrongly with 55%) and c" in how_sure(alike)
    assert how_sure(alike).endswith("; of a and c, which are nearly equal, either will do.")
    assert "Nearly equal, either will do: a and c" in str(alike)


def test_members_of_which_either_will_do_are_one_choice_where_margins_say_what_matters():
    rows = [option_result(name, "pareto", {"m": 1.0, "n": 1.0}, probability=1.0) for name in ("a", "b or c", "d", "e", "f")]
    made = hand_made(rows, {"m": "max~0.1", "n": "min"}, pareto=("a", "b or c", "d", "e"))
    assert made.choices == (("a",), ("b or c",), ("d",), ("e",))
    alike = replace(made, alike=(("a", "d"), ("b or c", "f")))
    assert alike.choices == (("a", "d"), ("b or c",), ("e",))
    assert 'Worth keeping: a or d, "b or c", e (' in repr(alike)
    assert 'a or d, "b or c" and e are worth keeping.' in alike.sentence
    plain = replace(hand_made(rows, {"m": "max", "n": "min"}, pareto=("a", "d")), alike=(("a", "d"),))
    assert plain.choices == (("a",), ("d",))  # either may be Pareto-optimal


def test_options_that_cannot_be_told_apart_are_shown_together():
    study = studied({"a": (9.0, 0.0), "b": (9.0, 0.0), "c": (0.0, 9.0), "d": (0.0, 0.0)}, budget=120, policy="doubt")
    assert study.result().near_equals == (("a", "b"),)
    assert "Nearly equal, either will do: a and b" in str(study.result())


def test_the_next_step_is_found_when_it_is_asked_for():
    study = studied({"a": (1.0, 0.0), "b": (0.0, 1.0), "c": (0.8, -0.1)}, budget=30, policy="doubt", std=0.6)
    result = study.result()
    assert result.to_dict()["next_step"] is None
    assert result.probability < 0.95
    assert "more measurement" in result.next_step
    assert result.to_dict()["next_step"] == result.next_step == study.result().next_step
    assert f"Next: {result.next_step}" in str(result)
    assert result == study.result()
    assert pickle.loads(pickle.dumps(study.result())).next_step == result.next_step
    assert studied({"a": (9.0,), "b": (0.0,)}).result().next_step == "It is sure enough: nothing more is needed."
    part = studied({"a": (9.0,), "b": (0.0,), "c": (0.0,)}, policy=("ege-sr-k", {"max_arms": 1})).result()
    assert part.next_step is None  # some are enough


def test_print_notebooks_and_terminals_show_the_notes():
    study = studied({"a": (9.0, 0.0), "b": (0.0, 9.0), "c": (-9.0, -9.0)}, policy="doubt")
    study.retire("c", "sold out")
    result = study.result()
    assert "Note: 'c' was retired: sold out" in str(result)
    assert "&#x27;c&#x27; was retired: sold out" in result._repr_html_()
    console = Console(width=300, file=io.StringIO())
    console.print(result)
    assert "Note: 'c' was retired: sold out" in console.file.getvalue()
    assert repr(result) == str(result).splitlines()[0]


@pytest.mark.sample(4)
@pytest.mark.parametrize("policy", POLICIES)
def test_no_word_of_ours_is_left_in_what_users_read(policy):
    study = eventful(new_study(policy, 1), 1)
    result = study.result()
    said = " ".join([str(result), *result.cells()[0], *study.status()["notes"], result.sentence])
    assert not re.search(r"\b(told|undecided|arms?|pulls?|left after)\b|kept, and counted", said)


def test_an_answer_of_so_many_says_that_there_may_be_more():
    truth = {"a": (9.0, 0.0), "b": (0.0, 9.0), "c": (-9.0, -9.0)}
    study = studied(truth, budget=60, policy=("ege-sr-k", {"max_arms": 1}))
    result = study.result(rehearsals=20)
    assert result.sentence.endswith("is Pareto-optimal; others may be, too, since no more were asked for.")
    assert result.rehearsal.right == 20  # one of two is enough
    assert "what was asked for" in result.rehearsal.how
    assert result.certainty.probability > 0.99
    assert result.doubtful == ()


def test_a_void_of_the_only_value_that_is_not_0_or_1_makes_a_metric_a_chance_again():
    study = pp.Study.create("s", options=["a", "b"], metrics={"m": "max"}, budget=40, storage="sqlite://")
    (todo, *others) = study.ask(6)
    study.tell(todo.number, [0.5])
    for other in others:
        study.tell(other.number, [float(other.option == "a")])
    assert not study.estimates()[0].binary.any()
    study.void(todo.number, "a typing error")
    assert study.estimates()[0].binary.all()


def test_a_metric_equal_for_all_options_takes_no_time():
    study = pp.Study.create(
        "s", options=[f"o{i}" for i in range(8)], metrics={"ok": "max", "sec": "min"}, budget=160, storage="sqlite://"
    )
    rng = np.random.default_rng(0)
    for todo in study.ask(72):
        study.tell(todo.number, (1.0, float(rng.normal(int(todo.option[1:])))))
    result = study.result()
    assert all(0 <= row.probability <= 1 for row in result.options)
    assert result.certainty.probability > 0.2


@pytest.mark.parametrize(
    "name", ["probability", "measurements", "dominated_by", "left_in_round", "in_answer", "beaten_by", "x ±"]
)
def test_columns_of_results_are_not_names_of_metrics(name):
    with pytest.raises(pp.InvalidInput, match="is a column that tables have already"):
        pp.Study.create("s", options=["a", "b"], metrics={name: "max"}, budget=40, storage="sqlite://")


@pytest.mark.parametrize("share, text", [(0.0, "< 0.1%"), (0.004, "0.4%"), (0.5, "50%"), (0.994, "99.4%"), (1.0, "> 99.9%")])
def test_probabilities_are_never_said_to_be_zero_or_one(share, text):
    from paretopick._words import probability

    assert probability(share) == text


def test_options_that_seem_to_lie_on_a_front_are_cautioned_about():
    study = pp.Study.create(
        "s", options=[f"o{i}" for i in range(12)], metrics={"m": "max", "n": "max"}, budget=400, storage="sqlite://"
    )
    rng = np.random.default_rng(0)
    angles = np.linspace(0.1, 1.4, 12)
    points = 10 * np.column_stack((np.cos(angles), np.sin(angles)))
    study.add([(f"o{i}", rng.normal(points[i], 0.3)) for i in range(12) for _ in range(12)])
    assert any(note.startswith("Most options seem to lie on a front") for note in study.result().notes)


def test_a_member_that_another_one_most_likely_beats_is_open_and_it_is_said_who_does():
    """All are equal in one metric as far as is known, so that nobody outdoes anybody."""
    times, rng = {"fast": 1.0, "slow": 4.0, "slower": 8.0}, np.random.default_rng(7)
    metrics = {"time": "min~10%", "memory": "min~10%"}

    def measure(option):
        return {"time": times[option] * np.exp(rng.normal(0, 0.1)), "memory": 100 * np.exp(rng.normal(0, 0.3))}

    result = pp.identify(measure, list(times), metrics, 24)
    assert result.pareto == ("fast", "slow")
    assert result.status["slow"] == "open"
    slow = next(row for row in result.options if row.option == "slow")
    assert slow.worth_keeping > 0.8
    assert slow.beaten_by.option == "fast"
    assert "Open, in the answer (1): slow (most likely beaten by fast)" in str(result)
