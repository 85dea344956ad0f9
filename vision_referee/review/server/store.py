"""Who changed what and when: the log of corrections, kept in SQLite or PostgreSQL through SQLAlchemy.

The log is the truth of what people decided; the match folder's events.jsonl and rulings.jsonl are written from it.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from alembic import command
from alembic.config import Config
from sqlalchemy import JSON, DateTime, Integer, String, create_engine, func, select
from sqlalchemy.engine import Engine, make_url
from sqlalchemy.exc import ArgumentError, NoSuchModuleError, SQLAlchemyError
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column
from sqlalchemy.pool import NullPool

from vision_referee.domain.errors import InputError


class Base(DeclarativeBase):
    pass


class ChangeRow(Base):
    """The table ``changes``; see :class:`Change`."""

    __tablename__ = "changes"

    id: Mapped[int] = mapped_column(Integer, primary_key=True, autoincrement=True)
    match_id: Mapped[str] = mapped_column(String(64), index=True)
    made_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))
    who: Mapped[str] = mapped_column(String(80))
    what: Mapped[str] = mapped_column(String(40))
    ruling_id: Mapped[int | None] = mapped_column(Integer)
    events: Mapped[list[dict[str, Any]]] = mapped_column(JSON)
    undone_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
    undone_by: Mapped[str | None] = mapped_column(String(80))


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One correction: the official events that it added (contract's JSON), to which ruling, by whom, its undoing."""

    id: int
    match_id: str
    made_at: datetime
    who: str
    what: str
    ruling_id: int | None
    events: tuple[dict[str, Any], ...]
    undone_at: datetime | None
    undone_by: str | None

    @property
    def in_force(self) -> bool:
        return self.undone_at is None


class Store:
    """The log. One per process; safe from several threads and several processes."""

    def __init__(self, url: str) -> None:
        """Open the store and bring its tables up to date.

        Raises:
            InputError: the URL is none, its driver is not installed, or the database cannot be reached.
        """
        shown = url
        try:
            parsed = make_url(url)
            shown = parsed.render_as_string(hide_password=True)
            if parsed.get_backend_name() == "sqlite" and parsed.database not in (None, "", ":memory:"):
                Path(str(parsed.database)).absolute().parent.mkdir(parents=True, exist_ok=True)
                # Each thread opens the file anew: SQLite's own locking then holds between threads and processes alike.
                self._engine = create_engine(parsed, poolclass=NullPool, connect_args={"timeout": 15})
            else:
                self._engine = create_engine(parsed, pool_pre_ping=True)
            migrate(self._engine)
        except (ArgumentError, NoSuchModuleError) as error:
            raise InputError(f"--store {shown}: not a database URL ({_first_line(error)})") from error
        except ModuleNotFoundError as error:
            raise InputError(
                f"--store {shown}: its driver is not installed ({error}); pip install psycopg for postgresql+psycopg://"
            ) from error
        except (SQLAlchemyError, OSError) as error:
            raise InputError(f"--store {shown}: the database cannot be used ({_first_line(error)})") from error

    def add(
        self, *, match_id: str, who: str, what: str, ruling_id: int | None, events: Sequence[dict[str, Any]]
    ) -> Change:
        row = ChangeRow(
            match_id=match_id, made_at=datetime.now(UTC), who=who, what=what, ruling_id=ruling_id, events=list(events)
        )
        with Session(self._engine) as session, session.begin():
            session.add(row)
            session.flush()
            return _value(row)

    def undo(self, *, match_id: str, change_id: int, who: str) -> Change | None:
        """Mark a change undone; None when there is none in force under that id."""
        with Session(self._engine) as session, session.begin():
            row = session.get(ChangeRow, change_id, with_for_update=True)
            if row is None or row.match_id != match_id or row.undone_at is not None:
                return None
            row.undone_at, row.undone_by = datetime.now(UTC), who
            session.flush()
            return _value(row)

    def discard(self, change_id: int) -> None:
        """Remove a change that could not be carried out: it never happened."""
        with Session(self._engine) as session, session.begin():
            row = session.get(ChangeRow, change_id)
            if row is not None:
                session.delete(row)

    def reinstate(self, change_id: int) -> None:
        """Take back an undoing that could not be carried out."""
        with Session(self._engine) as session, session.begin():
            row = session.get(ChangeRow, change_id)
            if row is not None:
                row.undone_at = row.undone_by = None

    def changes(self, match_id: str) -> list[Change]:
        """Every change of a match in the order made, undone ones too."""
        with Session(self._engine) as session:
            rows = session.scalars(select(ChangeRow).where(ChangeRow.match_id == match_id).order_by(ChangeRow.id))
            return [_value(row) for row in rows]

    def version(self, match_id: str) -> str:
        """A text that differs after every change and every undoing."""
        with Session(self._engine) as session:
            found = session.execute(
                select(func.max(ChangeRow.id), func.count(ChangeRow.id), func.count(ChangeRow.undone_at)).where(
                    ChangeRow.match_id == match_id
                )
            ).one()
            return "-".join(str(value or 0) for value in found)

    def close(self) -> None:
        self._engine.dispose()


def migrate(engine: Engine) -> None:
    """Run the migrations that the database lacks."""
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    with engine.begin() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, "head")


def default_url() -> str:
    """SQLite in the user's data folder: it outlives the match folders being moved or opened from elsewhere."""
    base = os.environ.get("XDG_DATA_HOME") or str(Path.home() / ".local" / "share")
    return f"sqlite:///{Path(base).absolute() / 'vision-referee' / 'review.sqlite'}"


def _value(row: ChangeRow) -> Change:
    def aware(at: datetime | None) -> datetime | None:
        # SQLite gives the time back without its zone; it was written in UTC.
        return at.replace(tzinfo=UTC) if at is not None and at.tzinfo is None else at

    made_at = aware(row.made_at)
    assert made_at is not None
    return Change(
        id=row.id,
        match_id=row.match_id,
        made_at=made_at,
        who=row.who,
        what=row.what,
        ruling_id=row.ruling_id,
        events=tuple(row.events),
        undone_at=aware(row.undone_at),
        undone_by=row.undone_by,
    )


def _first_line(error: BaseException) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]
