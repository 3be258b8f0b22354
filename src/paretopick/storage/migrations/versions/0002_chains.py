"""Chained events with requests and digests, studies with a token, and indexes for what is looked up in long studies."""

import json
import secrets
from collections.abc import Callable, Iterator
from typing import Any

import sqlalchemy as sql
from alembic import op

from paretopick.events import row_digest
from paretopick.storage.chain import first_link, next_link

revision = "0002"
down_revision = "0001"

PAGE = 10_000
STUDY = ("id", "name", "definition", "created", "n_events", "next_number")
EVENT = ("study_id", "position", "kind", "number", "arm", "round", "measured", "details", "worker", "at")
LEASE = ("study_id", "number", "arm", "round", "worker", "expires", "withdrawn")
TABLES = {"studies": STUDY, "events": EVENT, "leases": LEASE}
"""What is kept of each; checkpoints are made anew."""
JSON = ("definition", "measured", "details")
BOOLEANS = {"withdrawn": sql.Boolean()}

Row = dict[str, Any]


def upgrade() -> None:
    """Makes the tables anew, and fills them with what was there."""
    _rebuild(_new_tables, _chained, studies=("token", "head", "clock"), events=("request", "digest", "hash"))


def downgrade() -> None:
    """Makes the tables of before, without chains."""
    _rebuild(_old_tables, _parsed, studies=(), events=())


def _rebuild(
    make: Callable[[], None],
    changed: Callable[[list[Row], Iterator[Row]], Iterator[Row]],
    *,
    studies: tuple[str, ...],
    events: tuple[str, ...],
) -> None:
    """Puts everything aside, makes new tables, and brings it back; ``changed`` adds columns to studies and to events."""
    connection = op.get_bind()
    for name, columns in TABLES.items():
        chosen = [f"CAST({column} AS TEXT) AS {column}" if column in JSON else column for column in columns]
        op.execute(f"CREATE TEMPORARY TABLE old_{name} AS SELECT {', '.join(chosen)} FROM paretopick_{name}")
    for table in ("checkpoints", "leases", "events", "studies"):
        op.drop_table(f"paretopick_{table}")
    make()
    json_type = sql.Text() if studies else sql.JSON(none_as_null=True)
    new = {
        name: sql.table(
            f"paretopick_{name}",
            *(sql.column(column, json_type if column in JSON else BOOLEANS.get(column)) for column in (*columns, *more)),
        )
        for (name, columns), more in zip(TABLES.items(), (studies, events, ()), strict=True)
    }
    rows = _all(connection, "studies")
    following = changed(rows, _old_events(connection))
    if rows:
        connection.execute(sql.insert(new["studies"]), rows)
    heads: dict[int, str] = {}
    for page in _pages(following):
        connection.execute(sql.insert(new["events"]), page)
        heads |= {row["study_id"]: row.get("hash", "") for row in page}
    if studies:
        for study, head in heads.items():
            connection.execute(sql.update(new["studies"]).where(new["studies"].c.id == study).values(head=head))
    if leases := _all(connection, "leases"):
        connection.execute(sql.insert(new["leases"]), [row | {"withdrawn": bool(row["withdrawn"])} for row in leases])
    if connection.dialect.name == "postgresql" and rows:
        op.execute("SELECT setval(pg_get_serial_sequence('paretopick_studies', 'id'), (SELECT max(id) FROM paretopick_studies))")
    for name in TABLES:
        op.execute(f"DROP TABLE old_{name}")


def _all(connection: sql.Connection, name: str) -> list[Row]:
    return [dict(row) for row in connection.execute(sql.text(f"SELECT * FROM old_{name} ORDER BY 1")).mappings()]


def _parsed(studies: list[Row], events: Iterator[Row]) -> Iterator[Row]:
    """What was text becomes JSON."""
    for row in studies:
        row["definition"] = json.loads(row["definition"])
    return (row | {key: None if row[key] is None else json.loads(row[key]) for key in ("measured", "details")} for row in events)


def _old_events(connection: sql.Connection) -> Iterator[Row]:
    """All events, study by study, in their order, a page at a time."""
    query = sql.text(
        "SELECT * FROM old_events WHERE study_id > :study OR (study_id = :study AND position > :position) "
        "ORDER BY study_id, position LIMIT :page"
    )
    op.execute("CREATE INDEX old_events_order ON old_events (study_id, position)")
    study = position = -1
    while rows := connection.execute(query, {"study": study, "position": position, "page": PAGE}).mappings().all():
        yield from map(dict, rows)
        study, position = rows[-1]["study_id"], rows[-1]["position"]


def _chained(studies: list[Row], events: Iterator[Row]) -> Iterator[Row]:
    """Events with what is new about them, and so studies."""
    heads = {}
    for row in studies:
        heads[row["id"]] = first_link(row["definition"])
        row |= {"token": secrets.token_hex(16), "head": heads[row["id"]], "clock": 0.0}
    return _links(heads, events)


def _links(heads: dict[int, str], events: Iterator[Row]) -> Iterator[Row]:
    for row in events:
        digest = None
        if row["kind"] == "told":
            digest = row_digest(row["arm"], json.loads(row["measured"]))
        elif row["kind"] == "imported":
            digest = json.loads(row["details"])["digest"][:16]
        row |= {"request": None, "digest": digest}
        study = row["study_id"]
        heads[study] = row["hash"] = next_link(heads[study], [row[field] for field in LINKED])
        yield row


LINKED = ("position", "kind", "number", "arm", "round", "measured", "details", "worker", "at", "request", "digest")


def _pages(rows: Iterator[Row]) -> Iterator[list[Row]]:
    page: list[Row] = []
    for row in rows:
        page.append(row)
        if len(page) == PAGE:
            yield page
            page = []
    if page:
        yield page


def _study_id() -> sql.Column[int]:
    """Every other table belongs to a study."""
    return sql.Column("study_id", sql.Integer, sql.ForeignKey("paretopick_studies.id", ondelete="CASCADE"), primary_key=True)


def _new_tables() -> None:
    op.create_table(
        "paretopick_studies",
        sql.Column("id", sql.Integer, primary_key=True),
        sql.Column("token", sql.Text, nullable=False),
        sql.Column("name", sql.Text, nullable=False, unique=True),
        sql.Column("definition", sql.Text, nullable=False),
        sql.Column("created", sql.Double, nullable=False),
        sql.Column("n_events", sql.Integer, nullable=False),
        sql.Column("head", sql.Text, nullable=False),
        sql.Column("next_number", sql.Integer, nullable=False),
        sql.Column("clock", sql.Double, nullable=False),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "paretopick_events",
        _study_id(),
        sql.Column("position", sql.Integer, primary_key=True),
        sql.Column("kind", sql.String(16), nullable=False),
        sql.Column("number", sql.Integer),
        sql.Column("arm", sql.Integer),
        sql.Column("round", sql.Integer),
        sql.Column("measured", sql.Text),
        sql.Column("details", sql.Text),
        sql.Column("worker", sql.Text),
        sql.Column("at", sql.Double, nullable=False),
        sql.Column("request", sql.Text),
        sql.Column("digest", sql.Text),
        sql.Column("hash", sql.Text, nullable=False),
    )
    op.create_table(
        "paretopick_leases",
        _study_id(),
        sql.Column("number", sql.Integer, primary_key=True),
        sql.Column("arm", sql.Integer, nullable=False),
        sql.Column("round", sql.Integer, nullable=False),
        sql.Column("worker", sql.Text, nullable=False),
        sql.Column("expires", sql.Double),
        sql.Column("withdrawn", sql.Boolean, nullable=False),
    )
    op.create_table(
        "paretopick_checkpoints",
        _study_id(),
        sql.Column("position", sql.Integer, nullable=False),
        sql.Column("head", sql.Text, nullable=False),
        sql.Column("state", sql.Text, nullable=False),
        sql.Column("hash", sql.Text, nullable=False),
    )
    _index("events_number", "events", ["number", "position"])
    _index("told_once", "events", ["number"], where="kind = 'told'", unique=True)
    _index("events_digest", "events", ["digest", "position"])
    _index("events_request", "events", ["request", "position"], where="number IS NULL")
    _index("leases_worker", "leases", ["worker", "number"])
    _index("leases_expires", "leases", ["expires", "number"])
    _index("leases_arm", "leases", ["withdrawn", "arm", "number"])


def _old_tables() -> None:
    from importlib import import_module

    import_module("paretopick.storage.migrations.versions.0001_studies").upgrade()


def _index(name: str, table: str, columns: list[str], *, where: str | None = None, unique: bool = False) -> None:
    condition = None if where is None else sql.text(where)
    op.create_index(
        f"paretopick_{name}",
        f"paretopick_{table}",
        ["study_id", *columns],
        unique=unique,
        sqlite_where=condition,
        postgresql_where=condition,
    )
