"""Addresses of databases: which are understood, which are refused with what to write, and that nobody sees a password."""

import contextlib
import os
import shlex
import sys
import warnings
from pathlib import Path
from urllib.parse import quote

import hypothesis
import pytest
from hypothesis import strategies as st
from sqlalchemy import make_url

import paretopick as pp
from paretopick.cli import SECTIONS
from paretopick.storage import dialects, files, open_storage
from paretopick.storage.addresses import masked, read_address
from support.proxies import Proxy
from support.servers import PostgresServer, free_port
from support.terminals import call

PASSWORD = "k3y/of:the@lab 42%"
"""With all that an address can trip over."""

WRITTEN = quote(PASSWORD, safe="")

PIECES = ("k3y", "the@lab", "lab 42", "lab%2042", "lab+42")
"""Of the password, however it is written."""


def leaks(text: str) -> list[str]:
    return [piece for piece in PIECES if piece in text]


FORMS = [
    f"postgresql://me:{WRITTEN}@host/lab",
    f"postgresql://me:{PASSWORD}@host/lab",
    f"postgres://:{WRITTEN}@host:5432/lab",
    f"postgresql+psycopg://me%40corp:{WRITTEN}@host/lab?sslmode=require",
    f"postgresql://me@corp:{WRITTEN}@host/lab",
    f"postgresql://me@host/lab?password={WRITTEN}",
    f"postgresql://me@host/lab?sslmode=require&password={WRITTEN}&host=x",
    f"postgresql://me@host/lab?sslpassword={WRITTEN}&sslkey=/home/me/key",
    f"postgresql://me@host/lab?PASSWORD={WRITTEN}",
    f"postgresql://me@host/lab?p%61ssw%6Frd={WRITTEN}",
    f"postgresql://me:{WRITTEN}@host/lab?password={WRITTEN}&sslpassword={WRITTEN}",
    f"postgresql:me:{WRITTEN}@host/lab",
    f"postgresql:/me:{WRITTEN}@host/lab",
    f"postgresql+psycopg2://me:{WRITTEN}@host/lab",
    f"postgresql://me:{WRITTEN}@host:99999/lab",
    f"postgresql://me:{WRITTEN}@host:port/lab",
    f"mysql://me:{WRITTEN}@host/lab",
    f"sqlite://me:{WRITTEN}@host/lab",
    f"host=here user=me password='{PASSWORD}' dbname=lab",
    f"host=here password = '{PASSWORD}'",
    f"password={WRITTEN} host=here",
]


@pytest.mark.parametrize("form", FORMS)
def test_a_password_is_masked_in_every_form(form):
    assert leaks(form)
    texts = [form, f"paretopick run study.toml --storage {shlex.quote(form)} --json", f"cannot reach {form!r}, sorry"]
    if f":{PASSWORD}" not in form:  # nobody could tell where that ends
        texts.append(f"cannot reach {form}, sorry")
    for text in texts:
        assert not leaks(masked(text))
        assert "***" in masked(text)
        assert masked(masked(text)) == masked(text)


@pytest.mark.parametrize("form", FORMS)
def test_nothing_that_is_made_of_an_address_shows_its_password(form, monkeypatch):
    monkeypatch.setattr(dialects, "PATIENCE", 2.0)
    seen = []
    try:
        address = read_address(form)
        seen += [address.shown, repr(address), str(address.url), address.url.render_as_string(hide_password=False)]
        assert not address.secrets or PASSWORD in address.secrets.values()
        database = dialects.open_database(form)
        seen += [database.shown, repr(database), repr(database._engine), repr(database._engine.url)]
    except pp.InvalidInput as problem:
        seen += [str(problem), repr(problem), repr(problem.__context__)]
    assert seen
    assert not leaks(" ".join(seen))


@pytest.mark.parametrize("rest", ["", "/lab", "?sslmode=require", "\n@host/lab"])
def test_a_password_is_masked_where_a_port_should_be(rest):
    """Whoever has forgotten the host, or copied a line break, is not shown the password; a number may be a port."""
    with pytest.raises(pp.InvalidInput, match=r"'postgresql://me:\*\*\*") as problem:
        read_address(f"postgresql://me:{WRITTEN}{rest}")
    assert not leaks(str(problem.value))
    with pytest.raises(pp.InvalidInput, match="'postgresql://host:99999/lab' has a port that is not"):
        read_address("postgresql://host:99999/lab")


@pytest.mark.parametrize(
    "text",
    [
        "postgresql://me@host:5432/lab",
        "postgresql://me@host/lab?passfile=/home/me/.pgpass",
        "postgresql://host:5432/lab cannot be used: mail me@host",
        "sqlite:////home/me/a:b@c.db",
        "PARETOPICK_PASSWORD_FILE=/run/secrets/lab",
        "./bench --user me:you {option}",
    ],
)
def test_what_is_no_password_is_shown(text):
    assert masked(text) == text


def test_what_a_driver_says_is_shown_without_the_password_however_it_is_written():
    address = read_address(f"postgresql://me:{WRITTEN}@host/lab")
    said = f"bad: {PASSWORD}, {WRITTEN}, {PASSWORD!r}, {quote(PASSWORD)}, password='{PASSWORD}'"
    assert not leaks(address.without_secrets(said))
    assert read_address("postgresql://me:x@host/lab").without_secrets("extra x, 'x'") == "extra ***, '***'"


@pytest.mark.parametrize(
    "address, message",
    [
        (
            "postgresql://me@host:abc/lab",
            r"'postgresql://me@host:abc/lab' has a port that is not a number from 1 to 65535; write",
        ),
        ("postgresql://me@host:99999/lab", "has a port that is not a number from 1 to 65535"),
        ("postgresql://me@host:0/lab", "has a port that is not a number from 1 to 65535"),
        ("postgresql://me@host:/lab", "has a port that is not a number from 1 to 65535"),
        ("postgresql://me@host:-5/lab", "has a port that is not a number from 1 to 65535"),
        ("postgresql://me@host:" + "9" * 5000, "has a port that is not a number from 1 to 65535"),
        ("postgresql://me@/lab?port=abc", "has a port that is not a number from 1 to 65535"),
        ("postgresql+foo://me@host/lab", "asks for the driver 'foo', which is not supported; write postgresql://"),
        ("postgresql+psycopg2://me@host/lab", "asks for the driver 'psycopg2', which is not supported; write postgresql://"),
        ("postgresql+://me@host/lab", "asks for the driver '', which is not supported"),
        ("sqlite+foo:///lab.db", "asks for the driver 'foo', which is not supported; write sqlite://"),
        ("oracle://me@host/lab", "is an oracle database; sqlite and postgresql are supported"),
        ("://lab.db", "is not the address of a database; write for instance sqlite:///file.db"),
        ("sqlite:lab.db", "has too few slashes; write sqlite:///file.db"),
        ("sqlite://lab.db", "has too few slashes; write sqlite:///lab.db"),
        ("postgresql:/me@host/lab", "has too few slashes; write postgresql://user@host/database"),
        ("me:secret@host/lab", r"'me:\*\*\*@...' does not say what kind of database it is; write postgresql://"),
        ("host=here dbname=lab", "is a list of settings; write postgresql://user@host/database"),
        ("lab\0.db", "has a NUL character"),
        ("sqlite:///lab\0.db", "has a NUL character"),
        ("postgresql://me@host/lab%00", "has control characters"),
        ("postgresql://me@host/lab\nand more", "has control characters"),
        ("lab\udc80.db", "has characters that are no text"),
        ("sqlite:///\ud800", "has characters that are no text"),
        ("sqlite:///lab.db?mode=r", r"has mode='r'; mode is one of 'ro', 'rw', 'rwc'"),
        ("sqlite:///lab.db?timeout=5", "has the setting 'timeout'; SQLite files have mode, immutable and uri"),
        ("sqlite:///?mode=ro", "names no file"),
        ("postgresql://me@host/lab?colour=red", 'cannot be used: invalid connection option "colour"'),
        ("postgresql://me@host/lab?password=a&password=b", "has password twice; leave one of them out"),
        ("  ", "is empty; name a file"),
        (7, "is no storage; name a file"),
        (b"lab.db", "is no storage; name a file"),
    ],
)
def test_an_address_that_cannot_work_is_refused_with_what_to_write(address, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(pp.InvalidInput, match=message) as refusal:
        open_storage(address)
    assert len(str(refusal.value)) < 500
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["ä ö.db", "研究.db", "a?mode=ro.db", "100%.db", "50%41.db", "a#b.db", "user=3.txt"])
def test_a_path_is_taken_as_it_is(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    open_storage(f"./{name}").close()
    open_storage(Path(name).absolute()).close()
    assert name in [path.name for path in tmp_path.iterdir()]


@pytest.mark.parametrize("name", ["lab.db", "ä ö.db", "a%2520b.db"])
def test_a_file_can_be_opened_for_reading_only(name, tmp_path):
    address = f"sqlite:///{tmp_path}/{name}"
    open_storage(address).create("s", {})
    decodes = make_url("sqlite:///%41").database == "A"  # SQLAlchemy does so from 2.1 on
    encoded = quote(quote(name)) if decodes else quote(name)
    for reading in (f"{address}?mode=ro", f"sqlite:///file:{quote(str(tmp_path))}/{encoded}?mode=ro&uri=true"):
        if "%" in name and "uri" in reading:
            continue  # encoded once for the address and once for SQLite
        storage = open_storage(reading, new=False)
        assert storage.names() == ["s"]
        with pytest.raises(pp.StorageFailed, match="readonly database; it was opened for reading only"):
            storage.create("t", {})
    with pytest.raises(pp.MissingFile, match="no database"):
        open_storage(f"sqlite:///{tmp_path}/other.db?mode=ro", new=False)


PARTS = (
    "sqlite|postgresql|postgres|+|psycopg|foo|:|//|/|@|127.0.0.1|localhost|[::1]|me|pw|?|&|=|mode|ro|password|sslmode|host|port"
)
MORE = "options|uri|true|file:|:memory:|%00|%zz|1|99999|0|-1|x.db|ä|connect_timeout|service|require|,| |\0|\n|\udc80|"

pieces = st.sampled_from([*f"{PARTS}|{MORE}".split("|"), "a" * 300])
texts = st.one_of(
    st.lists(pieces, max_size=14).map("".join),
    st.tuples(
        st.sampled_from(["postgresql://", "sqlite:///", "sqlite://", "postgresql+"]), st.lists(pieces, max_size=10).map("".join)
    ).map("".join),
    st.text(max_size=40),
)


@pytest.mark.slow
@hypothesis.given(texts)
@hypothesis.settings(max_examples=150, suppress_health_check=[hypothesis.HealthCheck.function_scoped_fixture])
def test_whatever_is_given_for_an_address_only_errors_of_ours_come_out(tmp_path, monkeypatch, text):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(dialects, "PATIENCE", 1.0)
    for name in ("PGHOST", "PGSERVICE", "PARETOPICK_STORAGE"):
        monkeypatch.delenv(name, raising=False)
    with contextlib.suppress(pp.errors.ParetopickError):
        path = read_address(text).path
        hypothesis.assume(path is None or (Path(path).absolute().is_relative_to(tmp_path) and ".." not in path))  # nowhere else
        open_storage(text).close()


MOUNTS = r"""
22 1 254:0 / / rw,relatime - ext4 /dev/vda rw
23 22 0:21 / /proc rw - proc proc rw
30 22 0:40 / /lab rw,relatime shared:1 - nfs4 server:/lab rw,vers=4.2
31 30 0:41 / /lab/local rw - ext4 /dev/vdb rw
32 22 0:42 / /two\040words rw - cifs //server/share rw
33 22 0:43 / /home/me/remote rw - fuse.sshfs me@host: rw
34 22 0:44 / /windows rw - fuseblk /dev/sdb1 rw
35 22 0:45 / /again rw - nfs server:/x rw
36 35 0:46 / /again rw - tmpfs tmpfs rw
nonsense
"""


@pytest.mark.parametrize(
    "path, kind",
    [
        ("/home/me/s.db", None),
        ("/lab/s.db", "nfs4"),
        ("/lab/local/s.db", None),
        ("/labour/s.db", None),
        ("/lab/not/there/yet/s.db", "nfs4"),
        ("/two words/s.db", "cifs"),
        ("/home/me/remote/s.db", "fuse.sshfs"),
        ("/windows/s.db", None),
        ("/again/s.db", None),
    ],
)
def test_files_on_a_network_are_known_by_where_it_is_mounted(path, kind):
    assert files.network_file_system(path, MOUNTS) == kind


def test_without_a_list_of_mounts_nobody_is_warned():
    assert files.network_file_system("/lab/s.db", "") is None


@pytest.fixture
def on_a_network(tmp_path, monkeypatch):
    """A folder that the system says is on a network."""
    mounts = tmp_path / "mounts"
    mounts.write_text(f"22 1 254:0 / / rw - ext4 /dev/vda rw\n30 22 0:40 / {tmp_path}/lab rw - nfs4 server:/lab rw\n")
    monkeypatch.setattr(files, "MOUNTS", mounts)
    (tmp_path / "lab").mkdir()
    return tmp_path / "lab"


def test_a_file_on_a_network_is_warned_about(on_a_network, tmp_path):
    with pytest.warns(pp.errors.UnsafeStorage, match=r"network file system \(nfs4\).*use PostgreSQL for several machines"):
        open_storage(on_a_network / "s.db")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        open_storage(tmp_path / "s.db")


def test_the_command_line_says_so_once_in_a_note(on_a_network):
    done = call("status", "--storage", str(on_a_network / "s.db"), cwd=on_a_network)
    assert done.stderr.count("note: ") == 0  # there is no such file
    with pytest.warns(pp.errors.UnsafeStorage):
        open_storage(on_a_network / "s.db").close()
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        done = call("status", "--storage", str(on_a_network / "s.db"), cwd=on_a_network)
    assert done.stderr.count("note: ") == 1
    assert "is on a network file system (nfs4)" in done.stderr


def test_help_promises_several_machines_on_a_server_only():
    for verb in ("run", "status"):
        said = " ".join(call(verb, "--help").stdout.split())
        assert "postgresql://USER@HOST/NAME, which several machines can use" in said
        assert "on several machines" not in said.replace("with PostgreSQL on several machines", "")


# A server that asks for a password.


@pytest.fixture(scope="module")
def guarded_server():
    server = PostgresServer(durable=False, tcp=True, guarded=PASSWORD)
    yield server
    server.remove()


@pytest.fixture
def home(tmp_path, monkeypatch):
    """Without any password in it."""
    for name in [name for name in os.environ if name.startswith(("PG", "PARETOPICK_"))]:
        monkeypatch.delenv(name)
    (tmp_path / "home").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def password_file(home, monkeypatch, url):
    (home / "secret").write_text(f"{PASSWORD}\n")
    monkeypatch.setenv("PARETOPICK_PASSWORD_FILE", str(home / "secret"))


def variable(home, monkeypatch, url):
    monkeypatch.setenv("PGPASSWORD", PASSWORD)


def pgpass(home, monkeypatch, url):
    monkeypatch.setenv("PGPASSFILE", str(_pgpass(home)))


def pgpass_in_address(home, monkeypatch, url):
    return f"{url}&passfile={_pgpass(home)}"


def _pgpass(home) -> Path:
    path = home / "passwords"
    escaped = PASSWORD.replace("\\", "\\\\").replace(":", "\\:")
    path.write_text(f"127.0.0.1:*:*:guarded:{escaped}\n")
    path.chmod(0o600)
    return path


def service(home, monkeypatch, url):
    path = home / "services"
    path.write_text(f"[lab]\npassword={PASSWORD}\n")
    monkeypatch.setenv("PGSERVICEFILE", str(path))
    return f"{url}&service=lab"


@pytest.mark.slow
@pytest.mark.parametrize("way", [password_file, variable, pgpass, pgpass_in_address, service])
def test_a_password_may_come_from_a_file_or_as_postgresql_takes_it(way, guarded_server, home, monkeypatch):
    url = guarded_server.new_database(port=guarded_server.port, login="guarded")
    with pytest.raises(pp.StorageFailed, match=r"password"):
        open_storage(url)
    with contextlib.closing(open_storage(way(home, monkeypatch, url) or url)) as storage:
        assert storage.names() == []


def refusal_of(url):
    with pytest.raises(pp.StorageFailed) as refusal:
        open_storage(url)
    assert "try again" not in str(refusal.value)
    return str(refusal.value)


@pytest.mark.slow
def test_who_cannot_log_in_is_told_what_helps_and_not_to_wait(guarded_server, home):
    url = guarded_server.new_database(port=guarded_server.port, login="guarded")
    ways = "the password comes from ~/.pgpass, PGPASSWORD or the file that PARETOPICK_PASSWORD_FILE names"
    assert ways in refusal_of(url)
    assert ways in refusal_of(url.replace("guarded@", "guarded:wrong@"))
    assert "check the name of the host" in refusal_of("postgresql://me@nowhere.invalid/lab")


def test_a_database_that_is_not_on_the_server_is_a_wrong_name(server):
    url = read_address(server.new_database()).url
    assert "check the name of the database" in refusal_of(url.set(database="typo").render_as_string())


@pytest.mark.slow
def test_a_password_that_changes_in_its_file_is_read_again(guarded_server, home, monkeypatch):
    password_file(home, monkeypatch, "")
    storage = open_storage(guarded_server.new_database(port=guarded_server.port, login="guarded"))
    (home / "secret").write_text("wrong\n")
    storage.close()
    with pytest.raises(pp.StorageFailed, match="password authentication failed"):
        storage.names()
    (home / "secret").write_text(PASSWORD)
    assert storage.names() == []
    storage.close()


@pytest.mark.parametrize("content", [None, b"", b"\n", b"\xff\xfe"])
def test_a_password_file_that_cannot_be_used_is_named(content, home, monkeypatch):
    if content is not None:
        (home / "secret").write_bytes(content)
    monkeypatch.setenv("PARETOPICK_PASSWORD_FILE", str(home / "secret"))
    url = f"postgresql://me@127.0.0.1:{free_port()}/lab"
    with pytest.raises(pp.InvalidInput, match=r"PARETOPICK_PASSWORD_FILE names .*secret"):
        open_storage(url)
    with pytest.raises(pp.InvalidInput, match=r"PARETOPICK_PASSWORD_FILE names .*secret"):
        pp.Study.list(storage=url)


STUDY = """
options = ["a", "b"]
metrics = {x = "max", y = "min"}
budget = 4
command = [PYTHON, "-c", "print('x=1'); print('y=2')", "{option}"]
"""


@pytest.mark.sample(2)
@pytest.mark.slow
@pytest.mark.parametrize("form", ["login", "setting"])
def test_no_verb_shows_a_password_anywhere(form, guarded_server, home, tmp_path):
    """In what it prints, in what it writes, and in what it says when something is wrong."""
    url = guarded_server.new_database(port=guarded_server.port, login="guarded")
    url = url.replace("guarded@", f"guarded:{WRITTEN}@") if form == "login" else f"{url}&password={WRITTEN}"
    (tmp_path / "study.toml").write_text(STUDY.replace("PYTHON", repr(sys.executable).replace("'", '"')))
    said = []
    for words in [
        ["create", "s", "--options", "a,b", "--metrics", "x:max,y:min", "--budget", "4"],
        ["ask", "s"],
        ["tell", "s", "1", "1,2"],
        ["tell", "s", "1", "3,4"],
        ["status"],
        ["status", "s", "--json"],
        ["result", "s"],
        ["result", "s", "--json"],
        ["sheet", "s", "-o", "sheet.csv"],
        ["export", "s", "-o", "export.json"],
        ["report", "s", "-o", "report.html"],
        ["report", "s", "-o", "report.md"],
        ["run", "study.toml"],
        ["run", "study.toml", "--json"],
        ["status", "other"],
        ["status", "s", "and", url],
        ["delete", "s"],
        ["delete", "s", "--yes"],
    ]:
        done = call(*words, "--storage", url, cwd=tmp_path)
        assert "process list; put it into ~/.pgpass" in done.stderr or "and" in words
        said += [done.stdout, done.stderr]
    for verb in [*SECTIONS["Studies"], *SECTIONS["Tables of studies"]]:
        done = call(verb, url, "--storage", url, cwd=tmp_path)  # not where it belongs
        said += [done.stdout, done.stderr]
    said += [call(url).stderr, call("status", f"--storge={url}").stderr]
    wrong = url.replace("127.0.0.1", "127.0.0.2")
    for words in (["status"], ["run", "study.toml"], ["status", "--json"]):
        done = call(*words, "--storage", wrong, cwd=tmp_path)
        assert done.returncode == 2
        said += [done.stdout, done.stderr]
    assert not leaks("\n".join(said))
    assert any("***" in text for text in said)
    for path in tmp_path.rglob("*"):
        if path.is_file():
            assert not leaks(path.read_bytes().decode(errors="replace")), path
    assert {"report.html", "report.md", "sheet.csv", "export.json"} <= {path.name for path in tmp_path.iterdir()}


@pytest.mark.slow
def test_a_wrong_password_is_refused_and_not_shown(guarded_server, home):
    url = guarded_server.new_database(port=guarded_server.port, login=f"guarded:{WRITTEN}x")
    with pytest.raises(pp.StorageFailed, match="password authentication failed") as refusal:
        open_storage(url)
    assert not leaks(f"{refusal.value} {refusal.value!r} {refusal.value.__cause__}")


@pytest.mark.slow
def test_so_is_a_right_one_when_the_server_is_cut_off(guarded_server, home):
    with Proxy(guarded_server.port) as proxy:
        storage = open_storage(guarded_server.new_database(port=proxy.port, login=f"guarded:{WRITTEN}"))
        proxy.__exit__()
        with pytest.raises(pp.StorageFailed) as refusal:
            storage.names()
    assert not leaks(f"{refusal.value} {refusal.value!r} {refusal.value.__cause__}")
