import contextlib
from collections.abc import Iterator

import pytest

from paretopick.storage import Storage, open_storage
from support.proxies import Proxy
from support.servers import PostgresServer

postgresql = pytest.param("postgresql", marks=pytest.mark.slow)


@pytest.fixture(scope="session")
def server() -> Iterator[PostgresServer]:
    server = PostgresServer(durable=False)
    yield server
    server.remove()


@pytest.fixture(scope="module")
def tcp_server() -> Iterator[PostgresServer]:
    """One that listens on a port, for tests that stop it or cut it off: a server of their own."""
    server = PostgresServer(durable=False, tcp=True)
    yield server
    server.remove()


@pytest.fixture
def proxy(tcp_server) -> Iterator[Proxy]:
    """What stands before it."""
    with Proxy(tcp_server.port) as proxy:
        yield proxy


def address(kind: str, request, tmp_path) -> str:
    """An empty database."""
    if kind == "postgresql":
        return request.getfixturevalue("server").new_database()
    return f"sqlite:///{tmp_path / 'studies.db'}" if kind == "sqlite" else "sqlite://"


@pytest.fixture(params=["sqlite", postgresql])
def url(request, tmp_path) -> str:
    """An empty database of each kind that several processes can share."""
    return address(request.param, request, tmp_path)


@pytest.fixture
def database(url) -> Iterator[Storage]:
    """The storage at the URL."""
    with contextlib.closing(open_storage(url)) as opened:
        yield opened


@pytest.fixture(params=["memory", "sqlite", postgresql])
def storage(request, tmp_path) -> Iterator[Storage]:
    """An empty storage of every kind."""
    with contextlib.closing(open_storage(address(request.param, request, tmp_path))) as opened:
        yield opened
