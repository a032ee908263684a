"""Questions that are answered from the views: one in SQL for people, typed ones for the programs of Annals."""

from typing import ClassVar

import msgspec

from schemas.ask import Ask


class SqlAsk(Ask, frozen=True):
    """One read-only query over the views."""

    NAME: ClassVar[str] = "sql"

    sql: str
    max_rows: int = 1000
    timeout_ms: int = 5000


class Rows(msgspec.Struct, frozen=True, omit_defaults=True):
    """The reply to `ask.sql`."""

    columns: tuple[str, ...] = ()
    rows: tuple[tuple[object, ...], ...] = ()
    truncated: bool = False
    error: str = ""


class HistoryRunsAsk(Ask, frozen=True):
    """Which runs that compress history are open, or were the last of their session and failed?"""

    NAME: ClassVar[str] = "runs"

    limit: int = 20
    """The most runs that are wanted, the newest first."""


class HistoryRun(msgspec.Struct, frozen=True):
    """A run that compresses a session's history and is not done, or that was the session's last and failed."""

    project: str
    session: str
    reason: str
    status: str
    first: int
    last: int
    through: int
    """The last message that is done."""
    tokens_left: int
    code: str | None = None
    retry_at: str | None = None


class HistoryRuns(msgspec.Struct, frozen=True, omit_defaults=True):
    """The reply to `ask.runs`."""

    runs: tuple[HistoryRun, ...] = ()
    error: str = ""


class LastAdapterAsk(Ask, frozen=True):
    """Which adapter of a harness connected last?"""

    NAME: ClassVar[str] = "adapter"

    harness: str


class LastAdapter(msgspec.Struct, frozen=True, omit_defaults=True):
    """The reply to `ask.adapter`; empty where none has connected yet."""

    happened: str = ""
    """When, in UTC and to the minute: `2026-03-07 12:00`."""
    version: str = ""
    harness_version: str = ""
    digest: str = ""
    """Of the adapter's bundle."""
    rival: str = ""
    """Who else edits the harness's prompts."""
    error: str = ""


class ProjectAtAsk(Ask, frozen=True):
    """Which project is worked on in a folder, or has one of these names?"""

    NAME: ClassVar[str] = "project_at"

    folders: tuple[str, ...] = ()
    """The folder and those around it, in any order: the innermost that is known decides."""
    names: tuple[str, ...] = ()
    """What the project would be called: looked for where no folder is known."""


class ProjectAt(msgspec.Struct, frozen=True, omit_defaults=True):
    """The reply to `ask.project_at`; empty where no harness has worked there."""

    project: str = ""
    error: str = ""


VIEW_ASKS: tuple[type[Ask], ...] = (SqlAsk, HistoryRunsAsk, LastAdapterAsk, ProjectAtAsk)
