"""The contract of a storage, in memory, on SQLite and on PostgreSQL; and what is peculiar to each."""

import contextlib
import gc
import os
import sqlite3
import subprocess
import sys
import threading
import time

import pytest
import sqlalchemy as sql
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory

import paretopick as pp
from paretopick.events import Checkpoint, Event, Lease
from paretopick.storage import MemoryStorage, StoredStudy, dialects, open_storage, schema
from paretopick.storage.addresses import read_address


def told(number: int, arm: int = 0, values=(1.5, -2.0)) -> Event:
    return Event(0, "told", number, arm, 1, list(values), worker="w")


DEFINITION = {"options": ["ä", "b'; DROP TABLE x; --"], "budget": 3}


def test_a_study_is_found_again_by_name_as_it_was_kept(storage):
    kept = storage.create("first", DEFINITION)
    assert kept.definition == DEFINITION
    assert storage.create("first", {"options": []}) is None
    assert storage.find("first") == kept
    assert storage.names() == ["first"]
    with pytest.raises(pp.UnknownName, match="no study named 'fist'; did you mean 'first'"):
        storage.find("fist")


def test_so_it_is_by_others(database, url):
    kept = database.create("first", DEFINITION)
    assert open_storage(url).find("first") == kept
    assert open_storage(url).create("first", {}) is None


def test_a_study_takes_the_place_of_another_one_if_that_is_wanted(storage):
    first, other = storage.create("s", {}), storage.create("other", {})
    with storage.writing(first) as transaction:
        transaction.append([told(1)])
        transaction.hand_out([Lease(2, 0, 1, "w", None, False)])
    second = storage.create("s", DEFINITION, replace=True)
    assert storage.find("s") == second
    assert storage.find("other") == other
    with storage.reading(second) as transaction:
        assert transaction.events() == transaction.leases() == []
    with pytest.raises(pp.StudyGone, match="is gone"), storage.reading(first):
        pass
    assert storage.create("new", {}, replace=True) == storage.find("new")


def test_names_are_free_again_after_a_study_was_deleted(storage):
    first = storage.create("s", {})
    with storage.writing(first) as transaction:
        transaction.append([told(1)])
        transaction.hand_out([Lease(2, 0, 1, "w", None, False)])
    storage.delete("s")
    assert storage.names() == []
    with pytest.raises(pp.StudyGone, match="is gone"), storage.reading(first):
        pass
    with storage.reading(storage.create("s", {})) as transaction:
        assert transaction.events() == transaction.leases() == []


def test_events_keep_their_order_their_values_and_a_time(storage):
    study = storage.create("s", {})
    before = time.time()
    values = [0.1 + 0.2, -1e-300, 1e150, 5e-324]
    with storage.writing(study) as transaction:
        transaction.append([told(1, values=values), told(2, arm=3)])
        transaction.append([Event(0, "failed", 3, 1, 2, details={"why": "it broke: 'x' \"y\" ü"}, worker="w")])
    with storage.reading(study) as transaction:
        first, second, third = transaction.events()
        assert transaction.events(after=2) == [third]
        assert transaction.history(2) == [second]
        assert transaction.events(after=1, limit=1) == [second]
        assert transaction.n_events == 3
    assert [event.position for event in (first, second, third)] == [1, 2, 3]
    assert first.measured == values
    assert third.details == {"why": "it broke: 'x' \"y\" ü"}
    assert third.measured is None
    assert abs(first.at - before) < 60


def test_leases_are_handed_out_changed_and_dropped(storage):
    study = storage.create("s", {})
    leases = [Lease(number, number + 1, 1, "w", 2e9, False) for number in (1, 2, 3)]
    with storage.writing(study) as transaction:
        assert list(transaction.new_numbers(3)) == [1, 2, 3]
        transaction.hand_out(leases)
        transaction.change_leases([2], worker="v", expires=None)
        transaction.change_leases([3], withdrawn=True)
        transaction.drop_leases([1])
    with storage.reading(study) as transaction:
        assert transaction.leases() == [leases[1]._replace(worker="v", expires=None), leases[2]._replace(withdrawn=True)]
        assert transaction.lease(1) is None
        assert transaction.lease(3).withdrawn
        assert transaction.next_number == 4


def test_a_transaction_that_fails_leaves_nothing_behind(storage):
    study = storage.create("s", {})

    def fail_at_the_end() -> None:
        with storage.writing(study) as transaction:
            transaction.append([told(1)])
            transaction.new_numbers(5)
            transaction.hand_out([Lease(1, 0, 1, "w", None, False)])
            transaction.keep_checkpoint(Checkpoint(transaction.end, {}))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail_at_the_end()
    with storage.reading(study) as transaction:
        assert (transaction.n_events, transaction.next_number) == (0, 1)
        assert transaction.events() == transaction.leases() == []
        assert transaction.checkpoint() is None


def test_the_database_itself_refuses_to_count_a_measurement_twice(storage):
    study = storage.create("s", {})
    with storage.writing(study) as transaction:
        transaction.append([told(1)])
    with pytest.raises(pp.StorageFailed, match=r"UNIQUE|unique"), storage.writing(study) as transaction:
        transaction.append([told(1)])
    with storage.writing(study) as transaction:
        transaction.append([told(1)._replace(kind="voided")])


def test_the_last_checkpoint_is_the_one_that_is_kept(storage):
    study = storage.create("s", {})
    for number in (1, 2):
        with storage.writing(study) as transaction:
            transaction.append([told(number)])
            last = Checkpoint(transaction.end, {"position": number, "x": [0.1, None]})
            transaction.keep_checkpoint(last)
    with storage.reading(study) as transaction:
        assert transaction.checkpoint() == last
        assert last.place.position == 2


def test_two_studies_do_not_see_each_other(storage):
    one, two = storage.create("one", {}), storage.create("two", {})
    for study, arm in ((one, 1), (two, 2)):
        with storage.writing(study) as transaction:
            number = transaction.new_numbers(1)[0]
            assert number == 1
            transaction.append([told(number, arm)])
            transaction.hand_out([Lease(7, arm, 1, "w", None, False)])
    with storage.writing(two) as transaction:
        transaction.drop_leases([7])
        transaction.keep_checkpoint(Checkpoint(transaction.end, {"of": "two"}))
    with storage.reading(one) as transaction:
        assert [event.arm for event in transaction.events()] == [1]
        assert len(transaction.leases()) == 1
        assert transaction.checkpoint() is None


def test_what_is_read_can_be_changed_and_what_is_kept_is_not(storage):
    study = storage.create("s", {"options": ["a"]})
    event = Event(0, "failed", 1, 0, 1, [1.0], {"why": ["x"]}, "w")
    state = {"voided": [1]}
    with storage.writing(study) as transaction:
        transaction.append([event])
        transaction.keep_checkpoint(Checkpoint(transaction.end, state))
    for spoiled in (event.measured, event.details["why"], state["voided"]):
        spoiled.append(9)
    for _ in range(2):
        with storage.reading(study) as transaction:
            (found,) = transaction.events()
            assert (found.measured, found.details) == ([1.0], {"why": ["x"]})
            kept = transaction.checkpoint().state
            assert kept == {"voided": [1]}
        definition = storage.find("s").definition
        assert definition == {"options": ["a"]}
        for spoiled in (found.measured, found.details["why"], kept["voided"], definition["options"]):
            spoiled.append(9)


def test_a_transaction_sees_what_it_has_done(storage):
    study = storage.create("s", {})
    with storage.writing(study) as transaction:
        transaction.append([told(1), told(2)])
        transaction.append([Event(0, "voided", 1, 0, 1, [1.5, -2.0], {"why": "x"})])
        assert [event.kind for event in transaction.history(1)] == ["told", "voided"]
        assert [event.position for event in transaction.events(after=1)] == [2, 3]
        assert transaction.appended == transaction.events()
        assert transaction.n_events == 3
    with storage.writing(study) as transaction:
        transaction.append([Event(0, "voided", 2, 0, 1, [1.5, -2.0], {"why": "x"})])
        assert [event.position for event in transaction.events(after=2)] == [3, 4]
        assert [event.position for event in transaction.events(after=3)] == [4]
        assert [event.position for event in transaction.history(2)] == [2, 4]
        assert [event.position for event in transaction.events(after=1, limit=2)] == [2, 3]
        assert [event.position for event in transaction.appended] == [4]


def write_in_turns(storages) -> None:
    """Threads add to one log; what each has read is true when it writes."""
    study = storages[0].create("s", {})

    def write(mine) -> None:
        for _ in range(20):
            with mine.writing(study) as transaction:
                assert len(transaction.events()) == transaction.n_events
                time.sleep(0.001)  # the others want to write now
                transaction.append([told(transaction.new_numbers(1)[0])])

    threads = [threading.Thread(target=write, args=(mine,)) for mine in storages]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with storages[0].reading(study) as transaction:
        everything = list(range(1, 20 * len(storages) + 1))
        assert [event.position for event in transaction.events()] == everything
        assert [event.number for event in transaction.events()] == everything


def test_threads_that_share_a_storage_take_turns_and_nothing_is_lost(storage):
    write_in_turns([storage] * 5)


def test_so_do_those_with_connections_of_their_own(url):
    with contextlib.ExitStack() as stack:
        write_in_turns([stack.enter_context(contextlib.closing(open_storage(url))) for _ in range(5)])


def in_another_thread(act) -> None:
    """Does something there, and is done with it in time; the locks of this thread are not its own."""
    problems = []

    def attempt() -> None:
        try:
            act()
        except BaseException as problem:
            problems.append(problem)

    thread = threading.Thread(target=attempt, daemon=True)
    thread.start()
    thread.join(20)
    assert not thread.is_alive()
    assert problems == []


def read_beside_a_writer(writer, reader) -> None:
    study = writer.create("s", {})

    def look() -> None:
        with reader.reading(study) as seen:
            assert (seen.n_events, seen.next_number, seen.events(), seen.leases()) == (0, 1, [], [])

    with writer.writing(study) as transaction:
        transaction.append([told(1)])
        transaction.hand_out([Lease(2, 0, 1, "w", None, False)])
        assert len(transaction.events()) == 1  # the writer sees it
        in_another_thread(look)
    with reader.reading(study) as seen:
        assert len(seen.events()) == seen.n_events == 1
        with writer.writing(study) as transaction:
            transaction.append([told(3)])
            transaction.drop_leases([2])
        assert (len(seen.events()), len(seen.leases()), seen.history(3)) == (1, 1, [])


def test_whoever_reads_does_not_wait_for_a_writer_and_sees_one_state(storage):
    read_beside_a_writer(storage, storage)


def test_so_does_whoever_reads_elsewhere(url):
    read_beside_a_writer(open_storage(url), open_storage(url))


def test_a_study_that_was_deleted_is_missed_clearly(storage):
    missing = StoredStudy(99, "token", "s", {}, 0.0)
    with pytest.raises(pp.StudyGone, match="the study 's' is gone"), storage.writing(missing):
        pass


def test_the_migrations_make_the_tables_that_the_code_uses(database):
    with database.database.reading() as connection:
        context = MigrationContext.configure(connection, opts={"version_table": schema.VERSION_TABLE})
        assert compare_metadata(context, schema.metadata) == []
        assert schema.layout(connection) == schema.LAYOUT


def test_the_layout_is_that_of_the_newest_migration():
    config = Config()
    config.set_main_option("script_location", str(schema.MIGRATIONS))
    assert ScriptDirectory.from_config(config).get_current_head() == schema.LAYOUT


def test_migrations_can_be_taken_back(database):
    from alembic import command

    config = Config()
    config.set_main_option("script_location", str(schema.MIGRATIONS))
    with database.database.writing() as connection:
        config.attributes["connection"] = connection
        command.downgrade(config, "base")
        assert not [name for name in sql.inspect(connection).get_table_names() if name != schema.VERSION_TABLE]
        command.upgrade(config, "head")
    assert database.names() == []


def test_a_database_of_a_newer_version_is_refused(database, url):
    with database.database.writing() as connection:
        connection.exec_driver_sql(f"UPDATE {schema.VERSION_TABLE} SET version_num = '9999'")
    with pytest.raises(pp.InvalidInput, match="written by a newer version of paretopick"):
        open_storage(url)


def test_tables_of_others_in_the_same_database_are_left_alone(url):
    engine = sql.create_engine(read_address(url).url)
    with engine.begin() as connection:
        connection.exec_driver_sql("CREATE TABLE alembic_version (version_num VARCHAR(32))")
        connection.exec_driver_sql("CREATE TABLE events (mine INTEGER)")
    open_storage(url).create("s", {})
    with engine.connect() as connection:
        assert set(sql.inspect(connection).get_table_names()) > {"alembic_version", "events"}
        assert connection.exec_driver_sql("SELECT count(*) FROM alembic_version").scalar() == 0
    engine.dispose()


@pytest.mark.sample(2)
@pytest.mark.slow
def test_many_processes_may_open_a_new_database_at_once(url):
    code = f"from paretopick.storage import open_storage; import sys; open_storage({url!r}).create(sys.argv[1], {{}})"
    processes = [subprocess.Popen([sys.executable, "-W", "error", "-c", code, f"s{i}"]) for i in range(6)]
    assert [process.wait(60) for process in processes] == [0] * 6
    assert open_storage(url).names() == [f"s{i}" for i in range(6)]


@pytest.mark.slow
def test_a_storage_is_usable_on_both_sides_of_a_fork(database):
    study = database.create("s", {})
    child = os.fork()
    if child == 0:
        code = 1
        try:
            with database.writing(study) as transaction:
                transaction.append([told(1)])
            code = 0
        finally:
            os._exit(code)
    assert os.waitpid(child, 0)[1] == 0
    with database.writing(study) as transaction:
        assert transaction.n_events == 1
        transaction.append([told(2)])


@pytest.mark.parametrize(
    "address, message",
    [
        ("mysql://root@localhost/x", "is a mysql database; sqlite and postgresql are supported"),
        ("nonsense://", "is a nonsense database"),
        ("http://[bad", "not the address of a database|is a http database"),
        ("sqlite://study.db", "too few slashes; write sqlite:///study.db"),
    ],
)
def test_an_address_that_cannot_work_is_refused(address, message):
    with pytest.raises(pp.InvalidInput, match=message):
        open_storage(address)


def test_what_the_database_says_is_in_the_error_and_the_password_is_not(tmp_path):
    with pytest.raises(pp.StorageFailed, match=r"sqlite:////no/such/folder/x\.db cannot be used: unable to open"):
        open_storage("sqlite:////no/such/folder/x.db")
    with pytest.raises(OSError, match="cannot be used") as refusal:
        open_storage("postgresql://me:secret@127.0.0.1:1/x")
    assert "secret" not in str(refusal.value)
    text = tmp_path / "notes.txt"
    text.write_text("dear diary, " * 100)
    with pytest.raises(pp.StorageFailed, match="file is not a database"):
        open_storage(text)
    assert text.read_text() == "dear diary, " * 100


def test_threads_may_open_new_databases_at_once(tmp_path):
    addresses = ["sqlite://"] * 4 + [str(tmp_path / f"{i}.db") for i in range(4)] + [str(tmp_path / "same.db")] * 4
    names = []

    def open_one(address: str) -> None:
        storage = open_storage(address)
        storage.create(threading.current_thread().name, {})
        names.append(storage.names())

    threads = [threading.Thread(target=open_one, args=(address,)) for address in addresses]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(names) == len(addresses)


@pytest.mark.slow
def test_migrations_of_a_server_wait_for_each_other(server):
    url = server.new_database()
    opened = []
    thread = threading.Thread(target=lambda: opened.append(open_storage(url)))
    with server.connect(url) as other:
        other.execute("SELECT pg_advisory_lock(7066, 1)")
        thread.start()
        thread.join(1.0)
        assert not opened
        other.execute("SELECT pg_advisory_unlock(7066, 1)")
    thread.join(30)
    assert opened[0].names() == []


@pytest.mark.slow
def test_postgresql_does_not_wait_for_ever(server, monkeypatch):
    """For a client that stopped in the middle of its transaction, with the row locked."""
    monkeypatch.setattr(dialects, "PATIENCE", 0.5)
    url = server.new_database()
    storage = open_storage(url)
    study = storage.create("s", {})
    with server.connect(url) as stuck:
        stuck.execute("BEGIN")
        stuck.execute("SELECT * FROM paretopick_studies FOR UPDATE")
        with pytest.raises(pp.StorageFailed, match="lock timeout"), storage.writing(study):
            pass
    with storage.writing(study) as transaction:
        transaction.append([told(1)])
    with storage.database.reading() as connection:
        assert connection.exec_driver_sql("SHOW idle_in_transaction_session_timeout").scalar() == "500ms"


def test_sqlite_is_set_to_lose_nothing(tmp_path):
    open_storage(tmp_path / "s.db")
    with contextlib.closing(sqlite3.connect(tmp_path / "s.db")) as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    storage = open_storage(tmp_path / "s.db")
    with storage.database.reading() as connection:
        assert connection.exec_driver_sql("PRAGMA synchronous").scalar() == 2
        assert connection.exec_driver_sql("PRAGMA foreign_keys").scalar() == 1


def test_a_file_name_is_an_address(tmp_path):
    assert open_storage(tmp_path / "a b%20c.db").shown.startswith("sqlite:///")
    assert (tmp_path / "a b%20c.db").exists()


@pytest.mark.parametrize("address", ["sqlite://", "sqlite:///", "sqlite:///:memory:", "sqlite+pysqlite://", ":memory:"])
def test_memory_is_an_address_each_time_anew(address, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    memory = open_storage(address, new=False)
    assert isinstance(memory, MemoryStorage)
    assert memory.create("s", {}).id == 1
    assert memory.names() == ["s"]
    assert open_storage(address).names() == []
    assert open_storage(memory) is memory
    assert list(tmp_path.iterdir()) == []


class Interrupted(dict):
    """Whoever goes through it is interrupted after the first entry."""

    def items(self):
        yield next(iter(super().items()))
        raise KeyboardInterrupt


@pytest.mark.parametrize("numbers", [[2, 4], [4, 2], [3, 2]])
def test_ctrl_c_while_memory_publishes_leaves_nothing_behind(numbers):
    storage = MemoryStorage()
    study = storage.create("s", {})

    def interrupted() -> None:
        with storage.writing(study) as transaction:
            transaction.append([told(2), told(3)])
            transaction._by_key = Interrupted(transaction._by_key)

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    for position, number in enumerate(numbers, start=1):
        with storage.writing(study) as transaction:
            assert transaction.n_events == len(transaction.events()) == position - 1
            assert transaction.history(number) == []
            transaction.append([told(number)])
    with storage.reading(study) as transaction:
        assert [event.number for event in transaction.events()] == numbers
        for position, number in enumerate(numbers, start=1):
            assert [event.position for event in transaction.history(number)] == [position]


def test_a_database_that_nobody_holds_any_more_lets_go_of_its_file(tmp_path):
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(10):
        open_storage(tmp_path / "s.db").names()
    gc.collect()
    assert len(os.listdir("/proc/self/fd")) <= before + 4
