"""Networks, servers and disks that do not answer: every call says so in time, and what is known."""

import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time

import pytest

import paretopick as pp
from paretopick.storage import dialects, files, open_storage
from support.servers import PostgresServer
from support.terminals import run

pytestmark = pytest.mark.slow

PATIENCE = 2.0

COMMIT = b"COMMIT\0"
"""As clients say it; READ COMMITTED is something else."""


@pytest.fixture
def impatient(monkeypatch):
    monkeypatch.setattr(dialects, "PATIENCE", PATIENCE)


@pytest.fixture
def study(tcp_server, proxy, impatient):
    """On a server behind the proxy."""
    url = tcp_server.new_database(port=proxy.port)
    study = pp.Study.create("s", options=["a", "b"], metrics={"x": "max", "y": "min"}, budget=100, storage=url)
    yield study
    proxy.forward()
    study.close()


@contextlib.contextmanager
def in_time(*, most: float = 20.0):
    """Whoever waits for minutes, or for ever, fails here."""

    def give_up(*_) -> None:
        pytest.fail(f"it took more than {most} s")

    before = signal.signal(signal.SIGALRM, give_up)
    signal.setitimer(signal.ITIMER_REAL, most)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_a_network_that_swallows_everything_is_noticed_before_a_transaction(study, proxy):
    (todo,) = study.ask()
    proxy.swallow()
    with in_time(), pytest.raises(pp.StorageFailed, match=r"no answer within 2 s; nothing was half-written"):
        study.tell(todo.number, [1.0, 2.0])
    with in_time(), pytest.raises(pp.StorageFailed, match=r"no answer within 2 s|timeout expired"):
        study.ask()
    proxy.forward()
    study.tell(todo.number, [1.0, 2.0])
    assert study.used == 1


def test_and_in_the_middle_of_one(tcp_server, proxy, impatient):
    database = dialects.open_database(tcp_server.new_database(port=proxy.port))
    with database.writing() as connection:
        connection.exec_driver_sql("CREATE TABLE t (x INTEGER)")

    def write() -> None:
        with database.writing() as connection:
            connection.exec_driver_sql("INSERT INTO t VALUES (1)")
            proxy.swallow()
            connection.exec_driver_sql("INSERT INTO t VALUES (2)")

    with in_time(), pytest.raises(pp.StorageFailed, match=r"no answer within 2 s; nothing was half-written"):
        write()
    proxy.forward()
    with database.reading() as connection:
        assert connection.exec_driver_sql("SELECT count(*) FROM t").scalar() == 0
    database.close()


@pytest.mark.parametrize("swallow", [False, True])
def test_if_the_answer_to_commit_is_lost_the_error_says_what_is_not_known(tcp_server, proxy, impatient, swallow):
    database = dialects.open_database(tcp_server.new_database(port=proxy.port))
    with database.writing() as connection:
        connection.exec_driver_sql("CREATE TABLE t (x INTEGER)")

    def write() -> None:
        with database.writing() as connection:
            connection.exec_driver_sql("INSERT INTO t VALUES (1)")
            proxy.lose_answer_to(COMMIT, swallow=swallow)

    with in_time(), pytest.raises(pp.OutcomeUnknown, match="whether the change was stored is not known"):
        write()
    assert proxy.answers_lost == 1
    proxy.forward()
    with database.reading() as connection:
        assert connection.exec_driver_sql("SELECT count(*) FROM t").scalar() == 1
    database.close()


def test_so_does_a_study_where_the_same_call_can_be_made_again(study, proxy):
    (todo,) = study.ask()
    proxy.lose_answer_to(COMMIT, swallow=True)
    with in_time(), pytest.raises(pp.OutcomeUnknown, match="whether the change was stored is not known"):
        study.tell(todo.number, [1.0, 2.0])
    assert proxy.answers_lost == 1
    proxy.forward()
    study.tell(todo.number, [1.0, 2.0])
    assert (study.used, len(study.measurements())) == (1, 1)


def test_a_study_finds_out_what_was_stored_if_the_server_can_be_reached_again(study, proxy):
    (todo,) = study.ask()
    for call in (lambda: study.tell(todo.number, [1.0, 2.0]), lambda: study.add([("a", [3.0, 4.0])])):
        lost = proxy.answers_lost
        proxy.lose_answer_to(COMMIT)
        call()
        assert proxy.answers_lost == lost + 1
    assert len(study.measurements()) == 2


def test_the_command_line_says_it_in_one_line(study, proxy, tcp_server):
    """Drivers write into logs, which Python would show."""
    url = tcp_server.new_database(port=proxy.port)
    pp.Study.create("t", options=["a", "b"], metrics={"x": "max", "y": "min"}, budget=10, storage=url).close()
    for words in (b"FROM paretopick_studies", b"FROM paretopick_events"):
        proxy.lose_answer_to(words)
        done = run("ask", "t", "--storage", url)
        assert done.returncode == 2
        assert re.fullmatch(r"error: the database .* cannot be used: .*\n", done.stderr)
    assert proxy.answers_lost == 2


def test_numbers_come_back_as_they_were_stored_though_the_server_is_set_to_round_them(tcp_server):
    url = tcp_server.new_database()
    study = new_study(url)
    for todo in study.ask(5):
        study.tell(todo.number, [1.1, 2.2])
    study.close()
    with tcp_server.connect(url) as connection:
        connection.execute("ALTER ROLE postgres SET extra_float_digits = 0")
    try:
        assert pp.Study.open("s", storage=url).events() == study.events()
    finally:
        with tcp_server.connect(url) as connection:
            connection.execute("ALTER ROLE postgres RESET extra_float_digits")


def test_the_server_looks_for_workers_that_vanished(tcp_server):
    """Whose machine lost its power in the middle of a question: no other limit of time ends that, and a study stays locked."""
    with contextlib.closing(dialects.open_database(tcp_server.new_database(port=tcp_server.port))) as database:
        with database.writing() as connection:
            names = ("tcp_keepalives_idle", "tcp_keepalives_interval", "tcp_keepalives_count", "tcp_user_timeout")
            found = [connection.exec_driver_sql(f"SHOW {name}").scalar_one() for name in names]
        assert found == ["10", "10", "3", "60000"]


@pytest.mark.sample(2)
@pytest.mark.parametrize("through_tcp", [True, False])
def test_a_server_that_is_stopped_is_given_up(tcp_server, impatient, through_tcp):
    url = tcp_server.new_database(port=tcp_server.port if through_tcp else None)
    study = pp.Study.create("s", options=["a", "b"], metrics={"x": "max", "y": "min"}, budget=10, storage=url)
    (todo,) = study.ask()
    stopped = tcp_server.processes()
    for pid in stopped:
        os.kill(pid, signal.SIGSTOP)
    try:
        with in_time(), pytest.raises(pp.StorageFailed, match="no answer within 2 s"):
            study.tell(todo.number, [1.0, 2.0])
        with in_time(), pytest.raises(pp.StorageFailed, match=r"no answer within 2 s|timeout expired"):
            pp.Study.open("s", storage=url)
    finally:
        for pid in stopped:
            os.kill(pid, signal.SIGCONT)
    study.tell(todo.number, [1.0, 2.0])
    assert study.used == 1
    study.close()


def test_a_run_that_is_asked_to_end_does_not_wait_for_a_silent_server(tcp_server, tmp_path):
    """Those who ask kill after ten or thirty seconds, and an answer is waited for a minute."""
    url = tcp_server.new_database(port=tcp_server.port)
    words = ["run", "--options", "a,b", "--metrics", "x:max", "--budget", "1000", "--name", "s", "--storage", url]
    words += ["--", "sh", "-c", "echo x=1; sleep 0.1; true {option}"]
    run = subprocess.Popen([sys.executable, "-m", "paretopick", *words], cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    waiting = time.monotonic() + 60
    while not (pp.Study.list(storage=url) and pp.Study.open("s", storage=url).used) and time.monotonic() < waiting:
        time.sleep(0.05)
    stopped = tcp_server.processes()
    try:
        for pid in stopped:
            os.kill(pid, signal.SIGSTOP)
        time.sleep(0.5)
        with in_time(most=30):
            run.terminate()
            _, said = run.communicate(timeout=60)
    finally:
        for pid in stopped:
            with contextlib.suppress(ProcessLookupError):  # somebody whose client is gone
                os.kill(pid, signal.SIGCONT)
    assert run.returncode == 128 + signal.SIGTERM
    assert "no answer within 2 s" in said
    assert "What was reserved is free again in 30 s." in said
    assert "Ended by SIGTERM" in said


def test_a_host_that_accepts_and_never_answers_is_given_up(impatient):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"postgresql://me@127.0.0.1:{silent.getsockname()[1]}/x"
        with in_time(), pytest.raises(pp.StorageFailed, match=r"no answer within 2 s|timeout expired"):
            open_storage(address)


def test_the_addresses_of_a_host_have_one_limit_together(impatient):
    """Each could take its two seconds, one after the other."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        hosts = "&".join([f"host=127.0.0.1:{silent.getsockname()[1]}"] * 30)
        with in_time(), pytest.raises(pp.StorageFailed, match="no answer within 2 s"):
            open_storage(f"postgresql://me@/x?{hosts}")


def test_a_host_whose_address_is_looked_up_for_ever_is_given_up(impatient, monkeypatch):
    done = threading.Event()
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: done.wait(60))
    try:
        with in_time(), pytest.raises(pp.StorageFailed, match="no answer within 2 s"):
            open_storage("postgresql://me@server.example/x")
    finally:
        done.set()


def test_a_connection_that_comes_too_late_is_closed(tcp_server, proxy, impatient):
    proxy.delay = 1.2  # several times back and forth, until both agree on everything
    with in_time(), pytest.raises(pp.StorageFailed, match=r"no answer within 2 s|timeout expired"):
        open_storage(tcp_server.new_database(port=proxy.port) + "&connect_timeout=30&application_name=late")
    with in_time(), tcp_server.connect(tcp_server._url()) as other:
        while not proxy.closed or other.execute("SELECT 1 FROM pg_stat_activity WHERE application_name = 'late'").fetchall():
            time.sleep(0.1)


def test_what_takes_the_server_long_is_ended_by_the_server_which_says_why(tcp_server, impatient):
    database = dialects.open_database(tcp_server.new_database())
    with in_time(), pytest.raises(pp.StorageFailed, match="statement timeout"), database.reading() as connection:
        connection.exec_driver_sql("SELECT pg_sleep(60)")
    with database.writing() as connection:  # but tables may be changed for as long as it takes
        database.lock_layout(connection)
        connection.exec_driver_sql("SELECT pg_sleep(3)")
    with in_time(), pytest.raises(pp.StorageFailed, match="statement timeout"), database.reading() as connection:
        connection.exec_driver_sql("SELECT pg_sleep(60)")
    database.close()


def test_a_long_answer_that_keeps_coming_is_waited_for(tcp_server, impatient):
    database = dialects.open_database(tcp_server.new_database())
    with database.reading() as connection:
        connection.exec_driver_sql("SET LOCAL statement_timeout = 0")
        query = "SELECT repeat('x', 10000) FROM generate_series(1, 30) WHERE pg_sleep(0.1) IS NOT NULL"
        start = time.monotonic()
        assert len(connection.exec_driver_sql(query).scalars().all()) == 30
        assert time.monotonic() - start > PATIENCE
    database.close()


def test_a_server_that_was_restarted_meanwhile_is_connected_to_again(impatient):
    server = PostgresServer(durable=False, tcp=True)
    try:
        for port in (None, server.port):
            url = server.new_database(port=port)
            study = pp.Study.create("s", options=["a", "b"], metrics={"x": "max", "y": "min"}, budget=10, storage=url)
            (todo,) = study.ask()
            server.stop()
            server.start()
            study.tell(todo.number, [1.0, 2.0])
            assert study.used == 1
            study.close()
    finally:
        server.remove()


def test_a_connection_that_was_cut_while_nobody_used_it_is_replaced(study, proxy):
    (todo,) = study.ask()
    assert proxy.cut() > 0
    study.tell(todo.number, [1.0, 2.0])
    assert study.used == 1


def test_taking_a_connection_from_the_pool_costs_no_round_trip(tcp_server, proxy):
    database = dialects.open_database(tcp_server.new_database(port=proxy.port))
    for _ in range(2):
        with database.reading() as connection:
            connection.exec_driver_sql("SELECT 1")
    before = proxy.round_trips
    with database.reading() as connection:
        connection.exec_driver_sql("SELECT 1")
    assert proxy.round_trips - before == 3  # BEGIN, the question, COMMIT
    database.close()


def test_a_forked_process_leaves_the_connection_of_its_parent_alone(study, proxy):
    (todo,) = study.ask()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            study.ask(worker="child")
            code = 0
        finally:
            os._exit(code)
    assert os.waitpid(child, 0)[1] == 0
    connections = proxy.connections
    study.tell(todo.number, [1.0, 2.0])
    assert proxy.connections == connections


HOLDER = """
import sqlite3, sys, time
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute(sys.argv[2])
connection.execute("SELECT * FROM paretopick_studies").fetchall()
print("locked", flush=True)
time.sleep(600)
"""


@contextlib.contextmanager
def lock_held(path, *, begin="BEGIN IMMEDIATE"):
    """By another process."""
    process = subprocess.Popen([sys.executable, "-c", HOLDER, str(path), begin], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout.readline() == "locked\n"
        yield process
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def new_study(path) -> pp.Study:
    return pp.Study.create("s", options=["a", "b"], metrics={"x": "max", "y": "min"}, budget=10, storage=path)


def test_a_stopped_process_that_holds_the_lock_of_a_file_is_named_at_once(tmp_path):
    study = new_study(tmp_path / "s.db")
    (todo,) = study.ask()
    with lock_held(tmp_path / "s.db") as holder:
        holder.send_signal(signal.SIGSTOP)
        expected = rf"database is locked: process {holder.pid} \(python.*s\.db and is stopped.*kill -CONT {holder.pid}$"
        with in_time(), pytest.raises(pp.StorageFailed, match=expected):
            study.tell(todo.number, [1.0, 2.0])
        assert study.status()["used"] == 0  # reading waits for nobody
    study.tell(todo.number, [1.0, 2.0])
    assert study.used == 1


def test_one_that_is_busy_is_waited_for_and_then_named(tmp_path, impatient):
    study = new_study(tmp_path / "s.db")
    (todo,) = study.ask()
    with lock_held(tmp_path / "s.db") as holder:
        expected = rf"database is locked: process {holder.pid} \(python.* has held .*s\.db for 2 s; nothing was written"
        with in_time(), pytest.raises(pp.StorageFailed, match=expected):
            study.tell(todo.number, [1.0, 2.0])
        finished = threading.Thread(target=study.tell, args=(todo.number, [1.0, 2.0]))
        finished.start()
        time.sleep(1.2)  # it has looked at who holds the lock, and goes on waiting
    finished.join()
    assert study.used == 1


def test_whoever_only_reads_is_told_about_a_stopped_process_too(tmp_path):
    new_study(tmp_path / "s.db").close()
    with lock_held(tmp_path / "s.db", begin="PRAGMA locking_mode = EXCLUSIVE") as holder:
        holder.send_signal(signal.SIGSTOP)
        with in_time(), pytest.raises(pp.StorageFailed, match=f"kill -CONT {holder.pid}$"):
            pp.Study.open("s", storage=tmp_path / "s.db")


def test_without_a_list_of_locks_somebody_else_holds_it(tmp_path, impatient, monkeypatch):
    """As on systems that are not Linux."""
    study = new_study(tmp_path / "s.db")
    monkeypatch.setattr(files, "LOCKS", tmp_path / "no such file")
    with lock_held(tmp_path / "s.db"), pytest.raises(pp.StorageFailed, match=r"somebody else has held .* for 2 s"):
        study.ask()


def test_threads_wait_for_each_other_only_so_long(tmp_path, impatient):
    database = dialects.open_database(tmp_path / "s.db")
    ready, done = threading.Event(), threading.Event()

    def hold() -> None:
        with database.writing():
            ready.set()
            done.wait()

    thread = threading.Thread(target=hold)
    thread.start()
    ready.wait()
    try:
        with in_time(), pytest.raises(pp.StorageFailed, match="another thread of this process"), database.writing():
            pass
    finally:
        done.set()
        thread.join()


@pytest.fixture
def open_folder(tmp_path_factory):
    """A folder that every user can reach."""
    folder = tmp_path_factory.mktemp("readonly")
    for each in (folder, *folder.parents):
        if str(each).startswith("/tmp/pytest"):
            each.chmod(0o755)
    yield folder
    folder.chmod(0o755)


def as_nobody(address: str) -> list[str]:
    """What comes of looking at the study, asking for its result, and asking for more, for whom only some files are writable."""
    here, there = os.pipe()
    child = os.fork()  # which has loaded everything already, wherever that is
    if child == 0:
        code = 1
        try:
            if os.geteuid() == 0:
                os.setgroups([])
                os.setgid(65534)
                os.setuid(65534)
            acts = [lambda study: study.status()["used"], lambda study: study.result().used, lambda study: study.ask()]
            os.write(there, json.dumps([_attempted(act, address) for act in acts]).encode())
            code = 0
        finally:
            os._exit(code)
    os.close(there)
    with open(here) as answers:
        found = answers.read()
    assert os.waitpid(child, 0)[1] == 0
    return json.loads(found)


def _attempted(act, address: str):
    try:
        return act(pp.Study.open("s", storage=address))
    except pp.StorageFailed as problem:
        return str(problem)


def test_a_file_that_may_only_be_read_can_be_read_and_says_why_not_written(open_folder):
    path = open_folder / "s.db"
    study = new_study(path)
    study.add([("a", [1.0, 2.0])])
    assert study.result().used == 1
    study.close()
    path.chmod(0o444)
    open_folder.chmod(0o777)
    with in_time():
        status, result, ask = as_nobody(str(path))
    assert (status, result) == (1, 1)
    assert f"attempt to write a readonly database; you may not write to {path}" in ask


def test_a_folder_that_may_only_be_read_says_so_and_what_helps(open_folder):
    path = open_folder / "s.db"
    study = new_study(path)
    study.add([("a", [1.0, 2.0])])
    assert study.result().used == 1
    study.close()
    path.chmod(0o444)
    open_folder.chmod(0o555)
    with in_time():
        for answer in as_nobody(str(path)):
            assert "you may not write to its folder; copy it elsewhere, or if nobody writes to it, open" in answer
        status, result, ask = as_nobody(f"sqlite:///{path}?immutable=1")
    assert (status, result) == (1, 1)
    assert "readonly database" in ask


def test_a_file_that_is_opened_for_reading_only_says_so(tmp_path):
    new_study(tmp_path / "s.db").add([("a", [1.0, 2.0])])
    study = pp.Study.open("s", storage=f"sqlite:///{tmp_path}/s.db?mode=ro")
    assert study.used == 1
    with pytest.raises(pp.StorageFailed, match="it was opened for reading only; open it without mode=ro"):
        study.ask()


def test_a_disk_that_is_full_is_named(tmp_path):
    database = dialects.open_database(tmp_path / "s.db")

    def fill() -> None:
        with database.writing() as connection:
            connection.exec_driver_sql("CREATE TABLE t (x TEXT)")
            connection.exec_driver_sql("PRAGMA max_page_count = 10")  # which SQLite says in the same way
            connection.exec_driver_sql("INSERT INTO t VALUES (?)", ("x" * 10**6,))

    with pytest.raises(pp.StorageFailed, match=rf"the disk of {tmp_path} is full and nothing was half-written; free some space"):
        fill()


def test_a_folder_is_no_database(tmp_path):
    with pytest.raises(pp.StorageFailed, match=rf"{tmp_path} is a folder; name a file in it"):
        open_storage(tmp_path)


def test_threads_that_share_a_study_do_not_wait_for_each_other_in_vain(study, proxy):
    numbers = [todo.number for todo in study.ask(6)]
    proxy.swallow()
    waited = []

    def tell(number: int) -> None:
        start = time.monotonic()
        with contextlib.suppress(pp.StorageFailed):
            study.tell(number, [1.0, 2.0])
        waited.append(time.monotonic() - start)

    threads = [threading.Thread(target=tell, args=(number,)) for number in numbers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(waited) == 6
    assert max(waited) < 2 * PATIENCE + 2


def test_a_forked_process_does_not_wait_for_a_thread_that_it_does_not_have(tmp_path):
    study = pp.Study.create("s", options=["a", "b"], metrics={"x": "max", "y": "min"}, budget=9, storage=tmp_path / "s.db")
    held, let_go = threading.Event(), threading.Event()

    def hold() -> None:
        with study._live.reading():
            held.set()
            let_go.wait()

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait()
    child = os.fork()
    if child == 0:
        signal.alarm(10)
        os._exit(len(study.ask()))
    let_go.set()
    thread.join()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 1


@contextlib.contextmanager
def ctrl_c_in_the_driver(nth: int):
    """As if somebody pressed it in the n-th function of the driver that sends or fetches; yields a list of what it called."""
    called: list[str] = []

    def press(frame, happening: str, _) -> None:
        code = frame.f_code
        if happening == "call" and f"{os.sep}psycopg{os.sep}_pipeline" in code.co_filename:
            called.append(code.co_name)
            if len(called) == nth:
                raise KeyboardInterrupt

    sys.setprofile(press)
    try:
        yield called
    finally:
        sys.setprofile(None)


def test_ctrl_c_anywhere_in_a_tell_is_ctrl_c_and_the_next_call_works(tcp_server):
    url = tcp_server.new_database()
    study = pp.Study.create("s", options=["a", "b"], metrics={"x": "max", "y": "min"}, budget=1000, storage=url)
    study.tell(study.ask()[0].number, [1.0, 2.0])
    (todo,) = study.ask()
    with ctrl_c_in_the_driver(0) as called:
        study.tell(todo.number, [1.0, 2.0])
    assert len(called) > 10
    for nth in range(1, len(called)):
        (todo,) = study.ask()
        with ctrl_c_in_the_driver(nth), contextlib.suppress(KeyboardInterrupt):
            study.tell(todo.number, [1.0, 2.0])
        with in_time():
            study.tell(todo.number, [1.0, 2.0])
    assert [event.number for event in study.events()] == list(range(1, len(called) + 2))
    study.close()
