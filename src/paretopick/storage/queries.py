"""The statements by which studies are read and written; ``storage/sql.py`` carries them out."""

from __future__ import annotations

import sqlalchemy as sql

from paretopick.events import Lease
from paretopick.storage.chain import FIELDS
from paretopick.storage.schema import checkpoints, events, leases, studies

# Statements are put together once: SQLAlchemy takes longer for that than a database for carrying them out.
STUDY = sql.bindparam("study", type_=sql.Integer)
NUMBER = sql.bindparam("a_number", type_=sql.Integer)
WORKER = sql.bindparam("a_worker", type_=sql.Text)
NOW = sql.bindparam("now", type_=sql.Double)
MOST = sql.bindparam("most", type_=sql.Integer)

COUNTERS = sql.select(studies.c.n_events, studies.c.head, studies.c.next_number, studies.c.clock).where(
    studies.c.id == STUDY, studies.c.token == sql.bindparam("token", type_=sql.Text)
)
COUNTERS_LOCKED = COUNTERS.with_for_update()
SET_COUNTERS = (
    sql.update(studies)
    .where(studies.c.id == STUDY)
    .values(
        n_events=sql.bindparam("n", type_=sql.Integer),
        head=sql.bindparam("last", type_=sql.Text),
        next_number=sql.bindparam("next", type_=sql.Integer),
        clock=NOW,
    )
)
CLOCK = sql.select(sql.extract("epoch", sql.func.clock_timestamp()).cast(sql.Double))

LINKED = sql.select(*(events.c[field] for field in FIELDS), events.c.hash).where(events.c.study_id == STUDY)
AFTER = LINKED.where(events.c.position > sql.bindparam("after", type_=sql.Integer)).order_by(events.c.position).limit(MOST)
HISTORY = LINKED.where(events.c.number == NUMBER).order_by(events.c.position)
REQUESTED = LINKED.where(events.c.number.is_(None), events.c.request == sql.bindparam("a_request", type_=sql.Text)).order_by(
    events.c.position
)
ALIKE = LINKED.where(events.c.digest == sql.bindparam("a_digest", type_=sql.Text)).order_by(events.c.position)
HASH = sql.select(events.c.hash).where(
    events.c.study_id == STUDY, events.c.position == sql.bindparam("at_position", type_=sql.Integer)
)
INSERT_EVENTS = sql.insert(events)

LEASES = sql.select(*(leases.c[field] for field in Lease._fields)).where(leases.c.study_id == STUDY).order_by(leases.c.number)
LEASES_OF = LEASES.where(leases.c.worker == WORKER)
LEASE = LEASES.where(leases.c.number == NUMBER)
WAITED_FOR = leases.c.withdrawn == sql.false()
MINE = LEASES_OF.where(WAITED_FOR).limit(MOST)
OVER = (
    LEASES.where(WAITED_FOR, leases.c.worker != WORKER, leases.c.expires <= NOW)
    .order_by(None)
    .order_by(leases.c.expires, leases.c.number)
    .limit(MOST)
)
REPEATS = sql.select(leases.c.arm, leases.c.repeat).where(leases.c.study_id == STUDY, WAITED_FOR)
NEWEST = (
    sql.select(leases.c.number)
    .where(leases.c.study_id == STUDY, WAITED_FOR, leases.c.arm == sql.bindparam("an_arm", type_=sql.Integer))
    .order_by(leases.c.number.desc())
    .limit(MOST)
)
INSERT_LEASES = sql.insert(leases)
THIS_LEASE = (leases.c.study_id == STUDY, leases.c.number == NUMBER)
DROP_LEASE = sql.delete(leases).where(*THIS_LEASE)
CHANGE_LEASE = {
    field: sql.update(leases).where(*THIS_LEASE).values({field: sql.bindparam("changed", type_=leases.c[field].type)})
    for field in ("worker", "expires", "withdrawn", "repeat")
}
SHIFT_LEASES = (
    sql.update(leases).where(leases.c.study_id == STUDY).values(expires=leases.c.expires - sql.bindparam("by", type_=sql.Double))
)

CHECKPOINT = sql.select(checkpoints.c.position, checkpoints.c.head, checkpoints.c.state, checkpoints.c.hash).where(
    checkpoints.c.study_id == STUDY
)
DROP_CHECKPOINT = sql.delete(checkpoints).where(checkpoints.c.study_id == STUDY)
INSERT_CHECKPOINT = sql.insert(checkpoints)
