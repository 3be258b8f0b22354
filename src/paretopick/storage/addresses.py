"""Addresses of databases: read, checked, and shown without their passwords.

Nothing here loads SQLAlchemy before an address is read, so that messages can be masked at no cost.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import quote, quote_plus, unquote

from paretopick._words import cut, joined, quoted, short, with_article
from paretopick.errors import InvalidInput

if TYPE_CHECKING:
    import sqlalchemy as sql

MASK = "***"

PASSWORD_FILE = "PARETOPICK_PASSWORD_FILE"
"""The environment variable that names a file whose first line is the password, for addresses without one."""

EXAMPLES = "sqlite:///file.db or postgresql://user@host/database"

SECRETS = ("password", "passwd", "passphrase", "pwd", "secret", "scram_client_key", "scram_server_key")
"""What the names of settings end in whose values nobody may see."""

SQLITE_SETTINGS = {"mode": ("ro", "rw", "rwc"), "immutable": ("0", "1"), "uri": ("true", "1", "false", "0")}


def _spelt(name: str) -> str:
    """A pattern for a name whose letters may be percent-encoded, as in p%61ssword."""
    return "".join(f"(?:{re.escape(letter)}|%{ord(letter):02x}|%{ord(letter.upper()):02x})" for letter in name)


# First what may have blanks and more in its password, since it is known where it ends: a text that is an address; one in quotes.
# Then one with blanks, at last all others. What looks like a port is none, or sentences about a host would be masked.
_START = r"postgres\w*(?:\+\w*)?:/*[^\s:/'\"]*"
_NO_PORT = r"(?!\d+(?:[\s/?,'\"]|$))"
_LOGINS = (
    re.compile(rf"^(\s*{_START}):{_NO_PORT}.*@", re.IGNORECASE),
    re.compile(rf"(?<=')({_START}):[^'\n]*@", re.IGNORECASE),
    re.compile(rf'(?<=")({_START}):[^"\n]*@', re.IGNORECASE),
    re.compile(rf"((?<![\w+.-]){_START}):{_NO_PORT}[^@\n]*@(?:\S*@)?", re.IGNORECASE),
    re.compile(r"((?<![\w+.-])[a-z][\w+.-]*://[^\s:/]*):\S*@", re.IGNORECASE),
)
_QUOTED = (r"""'"'"'(?:(?!'"'"').)*'"'"'""", r"'(?:[^'\\]|\\.)*'", r'"(?:[^"\\]|\\.)*"')
_MASKED = r"[*]{3}(?![^\s&'\",;.)])"
_NAMES, _VALUES = "|".join(map(_spelt, SECRETS)), "|".join((*_QUOTED, _MASKED, r"[^\s&]*"))
_SETTING = re.compile(rf"({_NAMES})([ \t]*=[ \t]*)({_VALUES})", re.IGNORECASE)
_BARE_LOGIN = re.compile(r"([^\s:/@]+):([^\s@]*)@[^\s/]+(/\S*)?")
_SETTINGS_OF_LIBPQ = re.compile(r"\s*(host|hostaddr|port|dbname|user|password|service|sslmode)\s*=")
_FEW_SLASHES = re.compile(r"(postgres\w*|sqlite)(\+\w*)?:(?!//)", re.IGNORECASE)
_PASSWORD_OR_PORT = re.compile(
    r"\A(\s*postgres[\w+]*:/*[^:/@?]*):(?!-?[0-9]*(?:[/?]|\Z))(?:.*(?=@)|[^/?]*)", re.IGNORECASE | re.DOTALL
)
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


def masked(text: str) -> str:
    """Returns a text with *** for every password of every address in it.

    >>> masked("cannot reach postgresql://me:secret@host/lab?sslpassword=secret&sslmode=require")
    'cannot reach postgresql://me:***@host/lab?sslpassword=***&sslmode=require'
    >>> masked("host=here user=me password='two words' dbname=lab")
    'host=here user=me password=*** dbname=lab'
    """
    start, at, rest = text.rpartition("@")  # behind which no login ends: what is long is not searched in vain
    start += at
    for login in _LOGINS:
        start = login.sub(rf"\1:{MASK}@", start)
    return _SETTING.sub(_masked_setting, start + rest)


def _masked_setting(found: re.Match[str]) -> str:
    name, equals, value = found.groups()
    # A quote that ends the whole address, as in a command line, stays where it is.
    end = value[-1] if value[-1:] in ("'", '"') and value[0] != value[-1] else ""
    return f"{name}{equals}{MASK}{end}"


@dataclass(frozen=True)
class Address:
    """Where a database is, without the secrets that open it."""

    url: sql.URL
    """Without a password."""
    shown: str
    """As people may see it."""
    path: str | None = None
    """Of the file, for SQLite."""
    secrets: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Settings such as ``password``, by the names that PostgreSQL has for them."""

    def without_secrets(self, text: str) -> str:
        """Returns what a driver said without the secrets of this address, however they are written."""
        for secret in self.secrets.values():
            for written in {secret, quote(secret), quote(secret, safe=""), quote_plus(secret), repr(secret)[1:-1]}:
                if len(written) > 2:
                    text = text.replace(written, MASK)
                elif written:
                    text = re.sub(rf"(?<!\w){re.escape(written)}(?!\w)", MASK, text)
        return masked(text)


def read_address(text: str) -> Address:
    """Returns the address in a text, which is a URL or the path of an SQLite file."""
    if not isinstance(text, str):
        raise InvalidInput(f"storage={short(text)} is no text; write for instance {EXAMPLES}.")
    if "\0" in text:
        raise _refused(text, "has a NUL character, which no file and no server can have in its name", "leave it out")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise _refused(text, "has characters that are no text (UTF-8)", "give the file another name") from None
    if _SETTINGS_OF_LIBPQ.match(text):
        raise _refused(text, "is a list of settings", "write postgresql://user@host/database")
    if few := _FEW_SLASHES.match(text):
        start = "sqlite:///file.db" if few[1].lower() == "sqlite" else "postgresql://user@host/database"
        raise _refused(text, "has too few slashes", f"write {start}")
    if "://" in text:
        return _read_url(text)
    if _BARE_LOGIN.fullmatch(text) and not os.path.exists(text):
        hidden = _BARE_LOGIN.sub(rf"\1:{MASK}@...", text)
        raise _refused(hidden, "does not say what kind of database it is", "write postgresql://user@host/database")
    return file_address(text)


def file_address(path: str) -> Address:
    """Returns the address of an SQLite file."""
    import sqlalchemy as sql

    url = sql.URL.create("sqlite", database=path)
    return Address(url, _shown(url), path)


def _read_url(text: str) -> Address:
    import sqlalchemy as sql

    if _CONTROL.search(unquote(text)):
        raise _refused(text, "has control characters", f"write for instance {EXAMPLES}")
    try:
        url = sql.make_url(text)
    except sql.exc.ArgumentError:
        raise _refused(text, "is not the address of a database", f"write for instance {EXAMPLES}") from None
    except (TypeError, ValueError):  # which SQLAlchemy raises for ports alone
        raise _bad_port(text) from None
    kind, _, driver = url.drivername.partition("+")
    if kind not in ("sqlite", "postgresql", "postgres"):
        raise _refused(text, f"is {with_article(cut(kind, 30))} database", "sqlite and postgresql are supported")
    usual = "pysqlite" if kind == "sqlite" else "psycopg"
    if driver not in ("", usual) or url.drivername.endswith("+"):
        raise _refused(text, f"asks for the driver {cut(driver, 30)!r}, which is not supported", f"write {kind}://")
    return _sqlite(text, url) if kind == "sqlite" else _postgresql(text, url.set(drivername="postgresql+psycopg"))


def _sqlite(text: str, url: sql.URL) -> Address:
    if url.username is not None or url.password is not None or url.host or url.port:
        raise _refused(text, "has too few slashes", f"write sqlite:///{cut(url.host or 'file.db', 60)}")
    path = url.database or ""
    for name, value in url.query.items():
        allowed = SQLITE_SETTINGS.get(name)
        if allowed is None:
            raise _refused(text, f"has the setting {cut(name, 30)!r}", f"SQLite files have {joined(list(SQLITE_SETTINGS))}")
        if value not in allowed:
            raise _refused(text, f"has {name}={short(value, 30)}", f"{name} is one of {quoted(allowed)}")
    if path in ("", ":memory:"):
        raise _refused(text, "names no file", "write sqlite:///file.db, or sqlite:// for memory")
    settings = {name: str(value) for name, value in url.query.items() if name != "uri"}
    if url.query.get("uri") in ("true", "1"):
        path = unquote(re.sub(r"^file:(//[^/]*)?", "", path))
    plain = type(url).create("sqlite", database=path)
    if settings:
        plain = plain.set(database=f"file:{quote(os.path.abspath(path))}", query={**settings, "uri": "true"})
    return Address(plain, _shown(url), path)


def _postgresql(text: str, url: sql.URL) -> Address:
    for port in (url.port, *_values(url.query.get("port", ()))):
        if port is not None and not (re.fullmatch("[0-9]{1,5}", str(port)) and 1 <= int(port) <= 65535):
            raise _bad_port(text)
    if re.search(r"[@\s]", url.host or ""):
        raise _refused(text, "has an @ or a blank in the name of its host", "in a password, write %40 for @ and %20 for a blank")
    secrets = {} if url.password is None else {"password": str(url.password)}
    for name, value in url.query.items():
        if name.lower().endswith(SECRETS):
            if not isinstance(value, str):
                raise _refused(text, f"has {name} twice", "leave one of them out")
            secrets[name] = value
    return Address(url._replace(password=None).difference_update_query(list(secrets)), _shown(url), secrets=secrets)


def _values(value: str | tuple[str, ...]) -> tuple[str, ...]:
    return tuple(value.split(",")) if isinstance(value, str) else value


def _shown(url: sql.URL) -> str:
    return masked(url.render_as_string(hide_password=True))


def _bad_port(text: str) -> InvalidInput:
    return _refused(text, "has a port that is not a number from 1 to 65535", "write postgresql://user@host:5432/database")


def _refused(text: str, what: str, remedy: str) -> InvalidInput:
    # The whole text is an address, so what is behind the first colon may be a password even without a host or on several lines.
    hidden = _PASSWORD_OR_PORT.sub(rf"\1:{MASK}", text)
    return InvalidInput(f"storage {short(masked(hidden), 200)} {what}; {remedy}.")


def password_in_file() -> str | None:
    """Returns the password in the file that the environment names, None if it names none."""
    path = os.environ.get(PASSWORD_FILE)
    if not path:
        return None
    try:
        with open(path, encoding="utf-8") as file:
            password = file.readline().rstrip("\r\n")
    except FileNotFoundError:  # which is no missing database, as MissingFile would say
        raise InvalidInput(f"{PASSWORD_FILE} names {path}, which is not there.") from None
    except (OSError, ValueError) as problem:
        why = getattr(problem, "strerror", None) or "it is no text"
        raise InvalidInput(f"{PASSWORD_FILE} names {path!r}, which cannot be read: {why}.") from None
    if not password:
        raise InvalidInput(f"{PASSWORD_FILE} names {path}, whose first line is empty; write the password there.")
    return password
