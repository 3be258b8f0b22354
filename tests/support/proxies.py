"""A network that can be made to fail: a proxy in front of a server, on a port of 127.0.0.1."""

import contextlib
import select
import socket
import struct
import threading
import time
from collections.abc import Callable


class Proxy:
    """Forwards bytes between clients and a server, until it is told to do something else.

    A context manager. All that it does is done by threads of this process, so clients may be anywhere.

    Args:
        port: of the server, on 127.0.0.1.

    Attributes:
        port: of the proxy, on 127.0.0.1.
        delay: seconds that bytes take in each direction.
        swallowing: whether nothing comes through any more, in either direction, while connections seem to be well.
        round_trips: how often a client has said something after the server had, in all connections.
        connections: how many there have been.
        closed: how many of them are no more.
        answers_lost: how often ``lose_answer_to`` has done so.
        loses: asked with whatever somebody says, and whether that is the server: if so, it is lost, with the connection.
    """

    def __init__(self, port: int) -> None:
        self._server = port
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=100)
        self.port = self._listener.getsockname()[1]
        self.delay = 0.0
        self.swallowing = False
        self.round_trips = 0
        self.connections = 0
        self.closed = 0
        self.answers_lost = 0
        self.loses: Callable[[bytes, bool], bool] = lambda said, by_server: False
        self._last_words: bytes | None = None
        self._then_swallow = False
        self._lock = threading.Lock()
        self._open: set[socket.socket] = set()
        self._ended = False
        threading.Thread(target=self._accept, daemon=True).start()

    def __enter__(self) -> "Proxy":
        return self

    def __exit__(self, *_) -> None:
        self._ended = True
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)  # whoever waits for a client wakes up
        self._listener.close()
        self.cut()

    def swallow(self) -> None:
        """From now on nothing comes through; new clients are accepted and never answered."""
        self.swallowing = True

    def forward(self) -> None:
        """From now on everything comes through; what was swallowed is lost, with its connections."""
        self.cut()
        self.swallowing = False
        self._last_words = None

    def cut(self) -> int:
        """Cuts all connections at once, and returns how many there were."""
        with self._lock:
            doomed, self._open = self._open, set()
        for end in doomed:
            _reset(end)
        return len(doomed) // 2

    def lose_answer_to(self, words: bytes, *, swallow: bool = False) -> None:
        """The next client that says these words is heard by the server, and cut off before it gets the answer.

        Args:
            words: such as ``b"COMMIT\\0"``; without the zero it would be READ COMMITTED, too.
            swallow: the answer just never comes, instead of the connection being cut.
        """
        self._last_words, self._then_swallow = words, swallow

    def _accept(self) -> None:
        while not self._ended:
            with contextlib.suppress(OSError):
                client, _ = self._listener.accept()
                threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        try:
            server = socket.create_connection(("127.0.0.1", self._server))
        except OSError:
            _reset(client)
            return
        with self._lock:
            self._open |= {client, server}
            self.connections += 1
        for end in (client, server):
            end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            self._pump(client, server)
        except (OSError, ValueError):
            pass  # cut, by us or by them
        finally:
            with self._lock:
                self._open -= {client, server}
                self.closed += 1
            client.close()
            server.close()

    def _pump(self, client: socket.socket, server: socket.socket) -> None:
        answered = True
        while True:
            ready, _, _ = select.select([client, server], [], [], 0.2)
            if self.swallowing:
                time.sleep(0.02)
                if client.fileno() < 0:
                    return
                continue
            for end in ready:
                said = end.recv(1 << 16)
                if not said:
                    return
                if self.delay:
                    time.sleep(self.delay)
                if self.loses(said, end is server):
                    _reset(client)
                    return
                if end is server:
                    client.sendall(said)
                    answered = True
                    continue
                if answered:
                    with self._lock:
                        self.round_trips += 1
                    answered = False
                if self._last_words is not None and self._last_words in said:
                    self._last_words = None
                    server.sendall(said)
                    _let_it_be_done(client, server)
                    self.answers_lost += 1
                    if not self._then_swallow:
                        _reset(client)
                        return
                    self.swallowing = True
                    break
                server.sendall(said)


def _let_it_be_done(client: socket.socket, server: socket.socket) -> None:
    """Forwards what the client still says; what the server answers is lost, up to its being ready for the next question."""
    while ready := select.select([client, server], [], [], 10)[0]:
        for end in ready:
            said = end.recv(1 << 16)
            if not said or (end is server and said[-6:-1] == b"Z\0\0\0\5"):
                return
            if end is client:
                server.sendall(said)


def _reset(end: socket.socket) -> None:
    with contextlib.suppress(OSError):
        end.setsockopt(
            socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0)
        )  # sends RST, so that what is said later fails at once
    with contextlib.suppress(OSError):
        end.shutdown(socket.SHUT_RDWR)
    with contextlib.suppress(OSError):
        end.close()
