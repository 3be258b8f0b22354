"""Calls whose answer was lost: made again with the same request they count once, whatever happened the first time."""

import pytest

import paretopick as pp
from support.terminals import call

METRICS = {"x": "max", "y": "min"}
OPTIONS = ["a", "b", "c"]


def create(storage, **changes) -> pp.Study:
    return pp.Study.create("s", **({"options": OPTIONS, "metrics": METRICS, "budget": 60} | changes), storage=storage)


def kinds(study: pp.Study) -> list[str]:
    return [event.kind for event in study.events()]


def test_adding_again_with_the_same_request_adds_nothing_and_returns_the_same(storage):
    study = create(storage)
    rows = [("a", [1.0, 2.0]), ("b", [1.0, 2.0])]
    first = study.add(rows, request="monday")
    assert study.add(rows, request="monday") == first == [1, 2]
    assert pp.Study.open("s", storage=storage).add(rows, request="monday") == first
    assert study.add(rows) == [3, 4]
    assert study.used == 4


def test_so_does_recording(storage):
    study = create(storage)
    (todo,) = study.ask()
    rows = [("a", [1.0, 2.0])]
    for _ in range(3):
        assert study.record({todo.number: [5.0, 6.0]}, {}, rows, again=True, request="r") == [2]
    assert kinds(study) == ["told", "imported", "told"]


def test_voiding_again_with_the_same_request_is_harmless_and_without_is_refused(storage):
    study = create(storage)
    (number,) = study.add([("a", [1.0, 2.0])])
    for _ in range(2):
        study.void(number, "wrong", request="v")
    with pytest.raises(pp.NotDue, match="was voided already"):
        study.void(number, "wrong")
    assert kinds(study) == ["imported", "told", "voided"]


def test_so_is_retiring_extending_and_giving_back(storage):
    study = create(storage, policy="apt")
    for _ in range(2):
        study.retire("c", "sold out", request="r1")
        study.extend(budget=80, request="r2")
    with pytest.raises(pp.InvalidInput, match="was retired already"):
        study.retire("c", "sold out")
    numbers = [todo.number for todo in study.ask(2, worker="w")]
    assert study.release(worker="w", request="r3") == study.release(worker="w", request="r3") == numbers
    assert study.release(worker="w") == []
    assert kinds(study) == ["retired", "extended", "released"]


def test_giving_nothing_back_is_still_nothing_when_the_call_is_made_again(storage):
    study = create(storage)
    assert study.release(worker="w", request="r") == []
    (todo,) = study.ask(worker="w")
    assert study.release(worker="w", request="r") == []
    assert [again.number for again in study.ask(worker="w")] == [todo.number]


def test_a_measurement_told_with_a_request_may_be_told_again_though_it_was_voided_since(storage):
    study = create(storage)
    (todo,) = study.ask()
    study.tell(todo.number, [1.0, 2.0], request="t")
    study.void(todo.number, "wrong")
    study.tell(todo.number, [1.0, 2.0], request="t")
    with pytest.raises(pp.NotDue, match="was voided"):
        study.tell(todo.number, [1.0, 2.0])
    with pytest.raises(pp.NotDue, match="was voided"):
        study.tell(todo.number, [1.0, 2.0], request="another")
    assert kinds(study) == ["told", "voided"]


def test_a_request_is_for_one_call(storage):
    study = create(storage, policy="apt")
    study.retire("c", "sold out", request="r")
    with pytest.raises(pp.InvalidInput, match="request='r' was used before, for something retired"):
        study.add([("a", [1.0, 2.0])], request="r")
    with pytest.raises(pp.InvalidInput, match="cannot be the name of a request"):
        study.extend(budget=90, request="")
    assert kinds(study) == ["retired"]


def test_a_request_with_other_contents_is_refused_and_loses_nothing_silently(storage):
    study = create(storage, policy="apt")
    (told, other) = study.ask(2)
    study.tell(told.number, [1.0, 2.0], request="t")
    with pytest.raises(pp.AlreadyTold):
        study.tell(told.number, [9.0, 9.0], request="t")
    study.add([("a", [1.0, 2.0])], request="night")
    with pytest.raises(pp.InvalidInput, match="request='night' was used before, for other measurements"):
        study.add([("a", [1.0, 2.0]), ("b", [3.0, 4.0])], request="night")
    study.retire("c", "sold out", request="r")
    with pytest.raises(pp.InvalidInput, match="for another option"):
        study.retire("b", "sold out", request="r")
    study.extend(budget=80, request="e")
    with pytest.raises(pp.InvalidInput, match="for another budget"):
        study.extend(budget=90, request="e")
    study.record({}, {}, [("b", [5.0, 6.0])], request="sheet")
    study.record({other.number: [7.0, 8.0]}, {}, [("b", [5.0, 6.0])], request="sheet")  # what came in since is taken
    assert kinds(study) == ["told", "imported", "told", "retired", "extended", "imported", "told", "told"]


def test_every_event_says_which_call_made_it(storage):
    study = create(storage)
    study.add([("a", [1.0, 2.0]), ("b", [1.0, 2.0])])
    study.retire("c", "sold out")
    first, *rest = study.events()
    assert [event.request for event in rest[:2]] == [first.request] * 2
    assert rest[2].request not in (None, first.request)


CALLS = {
    "ask": lambda study: [todo.number for todo in study.ask(2, worker="w")],
    "tell": lambda study: study.tell(1, [1.0, 2.0]),
    "fail": lambda study: study.fail(1, "it broke"),
    "void": lambda study: study.void(2, "wrong"),
    "retire": lambda study: study.retire("c", "sold out"),
    "extend": lambda study: study.extend(budget=100),
    "aim": lambda study: study.aim(confidence=0.9),
    "choose_baseline": lambda study: study.choose_baseline("b"),
    "release": lambda study: study.release(),
    "add": lambda study: study.add([("a", [1.0, 2.0])]),
    "record again": lambda study: study.record({}, {}, [("a", [1.0, 2.0])], again=True),
}


@pytest.mark.slow
@pytest.mark.parametrize("call", CALLS)
def test_a_lost_answer_to_commit_is_found_out(tcp_server, proxy, call):
    """The connection is cut when the server has stored everything and before it could say so."""
    here, there = (create(tcp_server.new_database(port=port), policy="apt") for port in (tcp_server.port, proxy.port))
    outcomes = []
    for study in (here, there):
        study.ask()
        study.add([("b", [3.0, 4.0])])
        if study is there:
            proxy.lose_answer_to(b"COMMIT\0")
        outcomes.append(CALLS[call](study))
    assert proxy.answers_lost == 1
    assert outcomes[0] == outcomes[1]
    assert [event[1:8] for event in here.events()] == [event[1:8] for event in there.events()]
    assert here.used == there.used


@pytest.mark.slow
def test_if_the_server_stays_away_the_error_says_what_is_known_and_how_to_make_the_call_again(tcp_server, proxy):
    study = create(tcp_server.new_database(port=proxy.port))
    proxy.lose_answer_to(b"COMMIT\0", swallow=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("paretopick.storage.dialects.PATIENCE", 1.0)
        study.close()
        with pytest.raises(
            pp.OutcomeUnknown, match=r"there as a whole, or not at all.*Make the call again with request="
        ) as lost:
            study.add([("a", [1.0, 2.0])])
    proxy.forward()
    assert study.add([("a", [1.0, 2.0])], request=lost.value.request) == [1]
    assert study.add([("a", [1.0, 2.0])], request=lost.value.request) == [1]
    assert study.used == 1


@pytest.mark.slow
def test_whoever_has_waited_long_for_the_answer_is_not_made_to_wait_once_more(tcp_server, proxy, monkeypatch):
    study = create(tcp_server.new_database(port=proxy.port))
    monkeypatch.setattr("paretopick.storage.dialects.PATIENCE", 1.0)
    monkeypatch.setattr("paretopick.studies.live.SOON", 0.5)
    proxy.lose_answer_to(b"COMMIT\0", swallow=True)
    study.close()
    with pytest.raises(pp.OutcomeUnknown, match="Make the call again with request=") as lost:
        study.retire("c", "sold out")
    assert proxy.connections == 2  # one to create it, and one to retire: nobody tried a third
    proxy.forward()
    study.retire("c", "sold out", request=lost.value.request)
    assert kinds(study) == ["retired"]


@pytest.mark.slow
def test_a_study_whose_creation_was_not_confirmed_is_created_once(tcp_server, proxy):
    url = tcp_server.new_database(port=proxy.port)
    pp.Study.list(storage=url)
    storage = pp.storage.open_storage(url)
    proxy.lose_answer_to(b"COMMIT\0")
    study = create(storage)
    assert proxy.answers_lost == 1
    assert pp.Study.open("s", storage=url)._live.study == study._live.study
    with pytest.raises(pp.InvalidInput, match="there is a study named 's'"):
        create(storage)


@pytest.mark.slow
def test_an_ask_and_a_tell_are_at_most_three_round_trips_each(tcp_server, proxy):
    study = create(tcp_server.new_database(port=proxy.port), budget=1000)
    for todo in study.ask(10):
        study.tell(todo.number, [1.0, 2.0])
    before = proxy.round_trips
    (todo,) = study.ask(worker="v")
    assert proxy.round_trips - before <= 3
    before = proxy.round_trips
    study.tell(todo.number, [1.0, 2.0])
    assert proxy.round_trips - before <= 3


@pytest.mark.slow
def test_the_command_line_says_how_to_make_a_call_again_and_takes_it_once(tcp_server, proxy, tmp_path, monkeypatch):
    url = tcp_server.new_database(port=proxy.port)
    create(url, policy="apt").close()
    file = tmp_path / "made before.csv"
    file.write_text("option,x,y\na,1,2\n")
    words = ["import", "s", str(file), "--again", "--storage", url]
    monkeypatch.setattr("paretopick.storage.dialects.PATIENCE", 1.0)
    proxy.lose_answer_to(b"imported", swallow=True)  # which is sent together with the commit
    failed = call(*words)
    assert failed.returncode == 2
    assert "it is there as a whole, or not at all" in " ".join(failed.stderr.split())
    request = failed.stderr.split("add --request ")[1].split()[0]
    proxy.forward()
    for _ in range(2):
        assert call(*words, "--request", request).returncode == 0
    assert pp.Study.open("s", storage=url).used == 1


def test_a_budget_and_an_aim_are_changed_together_or_not_at_all(storage):
    study = create(storage)
    for _ in range(2):
        study.extend(budget=80, confidence=0.99, request="e")
        study.extend(budget=80, confidence=0.999, request="f")  # of which the budget is so already
    assert kinds(study) == ["extended", "aimed", "aimed"]
    for wrong in ({"budget": 90, "confidence": 0.99}, {"budget": 80, "confidence": 0.9}, {"budget": 90}):
        with pytest.raises(pp.InvalidInput, match="request='e' was used before"):
            study.extend(**wrong, request="e")
    with pytest.raises(pp.InvalidInput, match="budget=70 is less"):
        study.extend(budget=70, confidence=0.9)
    with pytest.raises(pp.InvalidInput, match="confidence=90"):
        study.extend(budget=100, confidence=90)
    assert (study.budget, study.aims[-1].confidence) == (80, 0.999)
    for _ in range(2):
        study.aim(confidence=0.9, request="a")
    with pytest.raises(pp.InvalidInput, match="for another aim"):
        study.aim(confidence=0.95, request="a")
