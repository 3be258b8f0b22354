"""Leases with the repeat that they are; those from before have none."""

import sqlalchemy as sql
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Adds the column."""
    op.add_column("paretopick_leases", sql.Column("repeat", sql.Integer))


def downgrade() -> None:
    """Drops it."""
    op.drop_column("paretopick_leases", "repeat")
