"""Where studies are kept: in memory, in an SQLite file or on a PostgreSQL server, all behind one contract.

``contract.py`` says what a storage does, and ``open_storage`` picks one by its address. Nothing here loads SQLAlchemy before a
database is opened.
"""

from __future__ import annotations

import os
import re

from paretopick._words import short
from paretopick.errors import InvalidInput
from paretopick.storage.contract import Storage, StoredStudy, Transaction
from paretopick.storage.memory import MemoryStorage

__all__ = ["MemoryStorage", "Storage", "StorageChoice", "StoredStudy", "Transaction", "is_named", "open_storage"]

StorageChoice = str | os.PathLike[str] | Storage | None
"""The address of a database, the path of an SQLite file, an open storage, or None for the usual place."""

IN_MEMORY = re.compile(r"sqlite(\+pysqlite)?://(/(:memory:)?)?|:memory:")


def open_storage(storage: StorageChoice = None, *, new: bool = True) -> Storage:
    """Returns the storage at an address; one that is open already is returned as it is.

    Args:
        storage: ``sqlite:///file.db``, ``postgresql://user@host/database``, or the path of an SQLite file. ``sqlite://`` is kept
            in memory, each time anew, by plain Python. ``sqlite:///file.db?mode=ro`` is only read. None is what the environment
            variable PARETOPICK_STORAGE says, or ``paretopick.db`` in the working folder.
        new: whether an SQLite file is made if it is not there.
    """
    if not (storage is None or isinstance(storage, str | os.PathLike)):
        if not hasattr(storage, "writing"):
            raise InvalidInput(f"storage={short(storage)} is no storage; name a file, or give the address of a database.")
        return storage
    address = address_of(storage)
    if IN_MEMORY.fullmatch(address):
        return MemoryStorage()
    from paretopick.storage.sql import SQLStorage  # SQLAlchemy is loaded for databases only

    return SQLStorage(address, new=new)


def is_named(storage: StorageChoice) -> bool:
    """Whether somebody has said which storage is meant, by an argument or in the environment."""
    return storage is not None or bool(os.environ.get("PARETOPICK_STORAGE"))


def address_of(storage: str | os.PathLike[str] | None) -> str:
    """Returns the address that is meant, the usual one for None."""
    address = os.environ.get("PARETOPICK_STORAGE") or "paretopick.db" if storage is None else os.fspath(storage)
    if not isinstance(address, str) or not address.strip():
        raise InvalidInput(f"storage={short(storage)} is empty; name a file, or give the address of a database.")
    return address
