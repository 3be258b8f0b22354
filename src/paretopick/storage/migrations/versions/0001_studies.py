"""Studies, their events, leases and checkpoints."""

import sqlalchemy as sql
from alembic import op

revision = "0001"
down_revision = None


def study_id() -> sql.Column[int]:
    """Every other table belongs to a study."""
    return sql.Column("study_id", sql.Integer, sql.ForeignKey("paretopick_studies.id", ondelete="CASCADE"), primary_key=True)


def upgrade() -> None:
    """Makes the tables."""
    op.create_table(
        "paretopick_studies",
        sql.Column("id", sql.Integer, primary_key=True),
        sql.Column("name", sql.Text, nullable=False, unique=True),
        sql.Column("definition", sql.JSON, nullable=False),
        sql.Column("created", sql.Double, nullable=False),
        sql.Column("n_events", sql.Integer, nullable=False),
        sql.Column("next_number", sql.Integer, nullable=False),
    )
    op.create_table(
        "paretopick_events",
        study_id(),
        sql.Column("position", sql.Integer, primary_key=True),
        sql.Column("kind", sql.String(16), nullable=False),
        sql.Column("number", sql.Integer),
        sql.Column("arm", sql.Integer),
        sql.Column("round", sql.Integer),
        sql.Column("measured", sql.JSON),
        sql.Column("details", sql.JSON),
        sql.Column("worker", sql.Text),
        sql.Column("at", sql.Double, nullable=False),
    )
    op.create_table(
        "paretopick_leases",
        study_id(),
        sql.Column("number", sql.Integer, primary_key=True),
        sql.Column("arm", sql.Integer, nullable=False),
        sql.Column("round", sql.Integer, nullable=False),
        sql.Column("worker", sql.Text, nullable=False),
        sql.Column("expires", sql.Double),
        sql.Column("withdrawn", sql.Boolean, nullable=False),
    )
    op.create_table(
        "paretopick_checkpoints",
        study_id(),
        sql.Column("state", sql.JSON, nullable=False),
    )
    op.create_index("paretopick_events_number", "paretopick_events", ["study_id", "number"])
    told = sql.text("kind = 'told'")
    op.create_index(
        "paretopick_told_once",
        "paretopick_events",
        ["study_id", "number"],
        unique=True,
        sqlite_where=told,
        postgresql_where=told,
    )


def downgrade() -> None:
    """Removes them, with all that they hold."""
    for table in ("checkpoints", "leases", "events", "studies"):
        op.drop_table(f"paretopick_{table}")
