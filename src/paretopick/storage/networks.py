"""Connections to a PostgreSQL server over a network that may lose everything: nobody waits for an answer for ever.

The server limits what takes long (``statement_timeout`` and its neighbours), the system notices lines that are dead
(``keepalives``, ``tcp_user_timeout``); but a server that is stopped, or a network that swallows what is sent, answers nothing
while everything seems to be well. Therefore we look at the clock ourselves whenever an answer is waited for.
"""

from __future__ import annotations

import queue
import select
import threading
import time
from collections.abc import Generator
from typing import Any, TypeAlias

import psycopg
from psycopg.conninfo import make_conninfo

from paretopick.storage.patience import within

BadSetting = psycopg.ProgrammingError

CONNECTING = 10.0
"""Seconds for a server to accept a connection; one of several addresses of a server may be dead."""

KEEPALIVES = {"idle": 10, "interval": 10, "count": 3}
"""When a line on which nothing is said is tried, in seconds, how often again, and how many silent tries make it dead."""


class NoAnswer(psycopg.OperationalError):
    """The server has said nothing for too long."""

    def __init__(self, patience: float) -> None:
        super().__init__(f"no answer within {patience:g} s")


class PatientConnection(psycopg.Connection[Any]):
    """A connection that is given up if the server says nothing for so many seconds while it is waited for."""

    patience: float | None = None
    """None waits for ever."""

    def wait(self, gen: Any, *args: Any, **kwargs: Any) -> Any:
        """Returns what the driver waits for."""
        if self.patience is None:
            return super().wait(gen, *args, **kwargs)
        try:
            return super().wait(_limited(gen, self.patience), *args, **kwargs)
        except BaseException as problem:
            if isinstance(problem, NoAnswer) or not isinstance(problem, Exception):  # or Ctrl-C
                self.pgconn.finish()  # an answer that comes later must not be taken for that to another question
            raise


Answer: TypeAlias = PatientConnection | BaseException
"""A connection, or why there is none."""


def _limited(waiting: Any, patience: float) -> Generator[Any, int, Any]:
    """Goes through what the driver waits for; it looks in every tenth of a second, if only to say that nothing came."""
    try:
        wanted = next(waiting)
        last = time.monotonic()
        while True:
            ready = yield wanted
            if ready:
                last = time.monotonic()
            elif time.monotonic() - last > within(patience):
                raise NoAnswer(within(patience))
            wanted = waiting.send(ready)
    except StopIteration as end:
        return end.value


def check_settings(settings: dict[str, Any]) -> None:
    """Raises ``BadSetting`` for what the driver does not know."""
    for name in settings:
        if not name.isidentifier():
            raise BadSetting(f"there is no setting {name!r}")
    make_conninfo(**{name: value for name, value in settings.items() if name != "context"})


def timeouts(patience: float) -> dict[str, Any]:
    """Returns settings of a connection that let the system notice a dead line."""
    return {
        "connect_timeout": max(2, int(min(CONNECTING, patience))),
        "keepalives": 1,
        **{f"keepalives_{name}": value for name, value in KEEPALIVES.items()},
        "tcp_user_timeout": int(1000 * patience),
    }


def connect(patience: float, settings: dict[str, Any]) -> PatientConnection:
    """Returns a new connection.

    It is made in a thread of its own, since neither the search for the address of a host nor the number of its addresses has a
    limit; what takes too long is left behind there.
    """
    answers: queue.SimpleQueue[Answer] = queue.SimpleQueue()
    waited_for = threading.Lock()
    given_up = False

    def try_it() -> None:
        answer: Answer
        try:
            answer = PatientConnection.connect(**settings)
        except BaseException as problem:
            answer = problem
        with waited_for:
            if given_up and isinstance(answer, PatientConnection):
                answer.close()
            else:
                answers.put(answer)

    threading.Thread(target=try_it, name="paretopick-connect", daemon=True).start()
    try:
        answer = _first(answers, patience)
    except BaseException as problem:  # nobody came, or Ctrl-C
        with waited_for:
            given_up = True
            late = None if answers.empty() else answers.get()
        if isinstance(late, PatientConnection):
            late.close()
        if isinstance(problem, queue.Empty):
            raise NoAnswer(within(patience)) from None
        raise
    if isinstance(answer, UnicodeError | ValueError | OSError) and not isinstance(answer, psycopg.Error):
        raise psycopg.OperationalError(str(answer)) from None  # the name of a host that cannot be one
    if isinstance(answer, BaseException):
        raise answer
    answer.patience = patience
    try:
        _limit(answer, patience)
    except BaseException:
        answer.close()
        raise
    return answer


def _first(answers: queue.SimpleQueue[Answer], patience: float) -> Answer:
    """Waits for an answer; looks at the clock every tenth of a second, since patience may end."""
    start = time.monotonic()
    while True:
        try:
            return answers.get(timeout=0.1)
        except queue.Empty:
            if time.monotonic() - start > within(patience):
                raise


def _limit(connection: PatientConnection, patience: float) -> None:
    """The server gives up a little earlier than we do, since it knows why: a row that is locked, a question that takes long.

    It looks for dead lines, too, as we do: somebody who vanished in the middle of a question would keep a study locked for hours.
    """
    limits = {
        "lock_timeout": int(800 * patience),
        "statement_timeout": int(900 * patience),
        "idle_in_transaction_session_timeout": int(1000 * patience),
        "tcp_user_timeout": int(1000 * patience),
        **{f"tcp_keepalives_{name}": value for name, value in KEEPALIVES.items()},
        "extra_float_digits": 1,  # numbers come back as they were stored, whatever the server is set to: hashes are over them
    }
    connection.autocommit = True
    connection.execute("; ".join(f"SET {name} = {value}" for name, value in limits.items()))
    connection.autocommit = False


def is_dead(connection: PatientConnection) -> bool:
    """Returns whether the server has closed a connection that nobody used meanwhile, without asking it.

    An idle connection has nothing to read, unless the server said goodbye or some notice came in.
    """
    try:
        for _ in range(3):
            if not _readable(connection.pgconn.socket):
                break
            connection.pgconn.consume_input()
        return connection.closed
    except (psycopg.Error, OSError):
        return True


def _readable(socket: int) -> bool:
    if not hasattr(select, "poll"):
        return bool(select.select([socket], [], [], 0)[0])
    poll = select.poll()
    poll.register(socket, select.POLLIN)
    return bool(poll.poll(0))
