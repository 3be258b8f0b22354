"""A private PostgreSQL server, as an unprivileged user, in a folder of its own."""

import contextlib
import getpass
import glob
import itertools
import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from pathlib import Path

import psycopg
import psycopg.sql


def binaries() -> Path:
    """Where initdb and pg_ctl are: Debian keeps them out of the path."""
    found = sorted(glob.glob("/usr/lib/postgresql/*/bin/initdb"), key=lambda path: int(path.split("/")[4]))
    program = found[-1] if found else shutil.which("initdb")
    assert program, "PostgreSQL is not installed; make test does it"
    return Path(program).parent


class PostgresServer:
    """A server that only this machine can reach, through a socket in its folder.

    Args:
        tcp: whether it listens on a port of 127.0.0.1, too.
        guarded: a password, with which a user of that name can log in over that port; all others need none.
        durable: whether what it has stored survives a loss of power, too, as people run it; that takes most of the time. It
            survives the end of the server in any case.
    """

    def __init__(self, *, durable: bool = True, tcp: bool = False, guarded: str | None = None) -> None:
        self._fsync = "on" if durable else "off"
        self.port = free_port() if tcp else 5432
        self._listen = "127.0.0.1" if tcp else ""
        self.folder = Path(tempfile.mkdtemp(prefix="pp-pg-"))
        self._user = {}
        if getpass.getuser() == "root" or os.geteuid() == 0:  # which PostgreSQL refuses to run as
            owner = pwd.getpwnam("postgres" if _exists("postgres") else "nobody")
            os.chown(self.folder, owner.pw_uid, owner.pw_gid)
            self._user = {"user": owner.pw_uid, "group": owner.pw_gid, "extra_groups": []}
        self._numbers = itertools.count()
        self._run("initdb", "-D", str(self.data), "-U", "postgres", "--auth=trust", "--no-sync", "-E", "UTF8", "--locale=C")
        if guarded is not None:
            rules = self.data / "pg_hba.conf"
            rules.write_text(f"host all guarded 127.0.0.1/32 scram-sha-256\n{rules.read_text()}")
        self.start()
        if guarded is not None:
            with self.connect(self._url()) as connection:
                connection.execute("CREATE ROLE guarded LOGIN SUPERUSER")
                connection.execute(psycopg.sql.SQL("ALTER ROLE guarded PASSWORD {}").format(guarded))

    @property
    def data(self) -> Path:
        return self.folder / "data"

    def start(self) -> None:
        options = (
            f"-c listen_addresses='{self._listen}' -p {self.port} -c unix_socket_directories='{self.folder}' "
            f"-c max_connections=60 -c fsync={self._fsync}"
        )
        self._run("pg_ctl", "-D", str(self.data), "-l", str(self.folder / "log"), "-w", "-o", options, "start")

    def stop(self) -> None:
        """As if the power went: nobody is asked, nothing is finished."""
        self._run("pg_ctl", "-D", str(self.data), "-m", "immediate", "-w", "stop")

    def new_database(self, *, port: int | None = None, login: str = "postgres") -> str:
        """Returns the URL of what looks like an empty database: a schema of its own, since a database takes long to make.

        Args:
            port: of 127.0.0.1, that of the server or of what stands before it; the socket if not given.
            login: who, with or without a password.
        """
        name = f"db{next(self._numbers)}"
        with self.connect(self._url()) as connection:
            connection.execute(f"CREATE SCHEMA {name}")
        start = self._url() + "&" if port is None else f"postgresql://{login}@127.0.0.1:{port}/postgres?"
        return start + f"options=-csearch_path%3D{name}"

    def connect(self, url: str) -> psycopg.Connection:
        return psycopg.connect(url, autocommit=True)

    def _url(self) -> str:
        return f"postgresql://postgres@/postgres?host={self.folder}&port={self.port}"

    def processes(self) -> list[int]:
        """Returns the ids of the server and of all that it has started."""
        first = int((self.data / "postmaster.pid").read_text().split()[0])
        return [first, *(int(pid) for pid in Path(f"/proc/{first}/task/{first}/children").read_text().split())]

    def remove(self) -> None:
        with contextlib.suppress(subprocess.CalledProcessError):
            self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _run(self, program: str, *arguments: str) -> None:
        command = [str(binaries() / program), *arguments]
        # Not captured: the server would inherit the pipe, and nobody could tell when pg_ctl is finished. In a session of its own,
        # so that Ctrl-C does not reach it.
        with (self.folder / f"{program}.out").open("w") if not self._user else open(os.devnull, "w") as out:
            subprocess.run(command, stdout=out, stderr=out, cwd="/", check=True, timeout=60, start_new_session=True, **self._user)


def free_port() -> int:
    """Returns a port that nobody listens on."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def _exists(user: str) -> bool:
    try:
        pwd.getpwnam(user)
    except KeyError:
        return False
    return True
