"""Alembic's entry: the connection comes from the store (see ``store.migrate``)."""

from __future__ import annotations

from alembic import context

from vision_referee.review.server.store import Base

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=Base.metadata,
    version_table="vision_referee_version",
    render_as_batch=True,
)
with context.begin_transaction():
    context.run_migrations()
