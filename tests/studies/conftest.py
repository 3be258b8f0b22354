import contextlib
from collections.abc import Iterator

import pytest

from paretopick.storage import Storage
from support.servers import PostgresServer


@pytest.fixture(scope="session")
def server() -> Iterator[PostgresServer]:
    with contextlib.closing(_Removed()) as server:
        yield server


class _Removed(PostgresServer):
    close = PostgresServer.remove


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request, tmp_path) -> str:
    """An empty database of each kind."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'studies.db'}"
    return request.getfixturevalue("server").new_database()


@pytest.fixture
def storage(url) -> Iterator[Storage]:
    with contextlib.closing(Storage(url)) as opened:
        yield opened
