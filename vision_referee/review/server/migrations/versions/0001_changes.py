"""The log of corrections."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "changes",
        sa.Column("id", sa.Integer(), primary_key=True, autoincrement=True),
        sa.Column("match_id", sa.String(64), nullable=False),
        sa.Column("made_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("who", sa.String(80), nullable=False),
        sa.Column("what", sa.String(40), nullable=False),
        sa.Column("ruling_id", sa.Integer(), nullable=True),
        sa.Column("events", sa.JSON(), nullable=False),
        sa.Column("undone_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("undone_by", sa.String(80), nullable=True),
    )
    op.create_index("ix_changes_match_id", "changes", ["match_id"])


def downgrade() -> None:
    op.drop_index("ix_changes_match_id", table_name="changes")
    op.drop_table("changes")
