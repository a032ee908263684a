"""Questions that are answered from the views: one in SQL for people, typed ones for the programs of Annals."""

from datetime import datetime
from typing import ClassVar, Literal

import msgspec

from schemas.ask import Ask, RequestReply
from schemas.numbers import Count


class SqlAsk(Ask, frozen=True):
    """One read-only query over a copy of the views, or the next page of what it found. Asked by people."""

    NAME: ClassVar[str] = "sql"

    sql: str = ""
    max_rows: int = 1000
    """The most rows of all pages together."""
    timeout_ms: int = 5000
    cursor: str = ""
    """Of the reply to an earlier question: its next page is wanted, and `sql` is not looked at."""


class Rows(msgspec.Struct, frozen=True, omit_defaults=True):
    """The reply to `ask.sql`. What JSON has no numbers for is text: times, big numbers, decimals, NaN and infinity."""

    columns: tuple[str, ...] = ()
    rows: tuple[tuple[object, ...], ...] = ()
    truncated: bool = False
    """Whether there are more rows than these."""
    error: str = ""
    cursor: str = ""
    """The cursor by which the next page of them can be asked for, for a minute. Empty: there is no further page."""
    as_of: int = 0
    """The position of the log that the copy of the views shows."""
    age: float = 0.0
    """The seconds since the views were so."""


class ViewsCopyAsk(Ask, frozen=True):
    """Leave a copy of the views where other processes can read it. Asked by rooms."""

    NAME: ClassVar[str] = "views_copy"


class ViewsCopy(msgspec.Struct, frozen=True, omit_defaults=True):
    """The reply to `ask.views_copy`: the newest copy, which is made anew at most every few seconds."""

    as_of: int = 0
    """The position of the log that the copy shows."""
    at: datetime | None = None
    """The time at which the views were last so."""
    error: str = ""


class HistoryRunsAsk(Ask, frozen=True):
    """Which runs that compress history are open, or were the last of their session and failed?"""

    NAME: ClassVar[str] = "runs"

    limit: Count = 20
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


class DreamsAsk(Ask, frozen=True):
    """Which runs of the dreamer were there last, and what came of them?"""

    NAME: ClassVar[str] = "dreams"

    project: str = ""
    """Of this project; empty: of all."""
    limit: Count = 20
    """The most runs that are wanted, the newest first."""
    newest: bool = False
    """Only the newest run of each project."""


class DreamTaskReport(msgspec.Struct, frozen=True):
    """A task of a run, and what came of it: see the event `task.finished`."""

    task: str
    outcome: str
    code: str
    detail: str
    backlog: int
    backlog_after: int
    applied: int
    waiting: int = msgspec.field(name="held")
    refused: int
    tokens: int
    usd: float
    seconds: float
    dropped: int = 0


class DreamRunReport(msgspec.Struct, frozen=True):
    """A run of the dreamer."""

    project: str
    run: str
    reason: str
    status: str
    """requested, started, done or cut_short."""
    code: str
    answers: int
    """The position of the newest order that it answers; 0: none."""
    requested_at: str
    ended_at: str | None = None
    tasks: tuple[DreamTaskReport, ...] = ()
    """The tasks that have ended."""
    left: tuple[str, ...] = ()
    """The tasks that have not ended."""


class DreamReport(msgspec.Struct, frozen=True, omit_defaults=True):
    """The reply to `ask.dreams`."""

    runs: tuple[DreamRunReport, ...] = ()
    waiting: int = 0
    """Orders that no run answers yet."""
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
    """The other plugin that edits the harness's prompts; empty: there is none."""
    error: str = ""


class ProjectAtAsk(Ask, frozen=True):
    """Which project is worked on in a folder, or has one of these names?"""

    NAME: ClassVar[str] = "project_at"

    folders: tuple[str, ...] = ()
    """The folder and those around it, in any order: the innermost in which a harness has worked decides."""
    names: tuple[str, ...] = ()
    """The possible names of the project: looked for where the folders have none."""


class ProjectAt(msgspec.Struct, frozen=True, omit_defaults=True):
    """The reply to `ask.project_at`; empty where no harness has worked there."""

    project: str = ""
    error: str = ""


class AliasesAsk(Ask, frozen=True):
    """Which other names do projects have, and which did harnesses claim?"""

    NAME: ClassVar[str] = "aliases"


class AliasChange(msgspec.Struct, frozen=True, omit_defaults=True):
    """A change of one name of a project."""

    seq: int
    """The fact's position in the log."""
    change: Literal["added", "proposed", "removed"]
    alias: str
    leads_to: str
    how: str = ""
    """The way in which a name that was added came to lead there."""
    directory: str = ""
    """The directory that a name that was proposed comes from."""
    reason: str = ""
    """The reason why a person has to decide about a name that was proposed."""


class ProjectAliases(msgspec.Struct, frozen=True, omit_defaults=True):
    """The reply to `ask.aliases`: all changes in the order of the log, from which each reader computes what holds."""

    changes: tuple[AliasChange, ...] = ()
    error: str = ""


class ProjectsAsk(Ask, frozen=True):
    """Which projects are there?"""

    NAME: ClassVar[str] = "projects"


class ProjectSummary(msgspec.Struct, frozen=True, omit_defaults=True):
    """A summary of what was reported under one name of a project."""

    project: str
    sessions: int = 0
    last_seen: str = ""
    """When something happened in it last, in UTC; empty: never."""
    directories: tuple[str, ...] = ()


class ProjectList(msgspec.Struct, frozen=True, omit_defaults=True):
    """The reply to `ask.projects`."""

    projects: tuple[ProjectSummary, ...] = ()
    error: str = ""


class ProjectSettingsAsk(Ask, frozen=True):
    """What has a project set for itself, and which of its files are wanted because of that? Asked by adapters, too."""

    NAME: ClassVar[str] = "settings"

    project: str
    is_of_name: bool = False
    """Only what was set under this very name, also where it leads to another project."""


class ProjectSettingsReply(msgspec.Struct, frozen=True, omit_defaults=True):
    """The reply to `ask.settings`."""

    seq: int = 0
    """The position of the fact that says so; 0: the project never set anything."""
    settings: str = "{}"
    """A JSON object: the project's own settings by their names."""
    installation: str = "{}"
    """A JSON object: all that a project may set, with what the installation says of it."""
    documents: tuple[str, ...] = ()
    """Paths from the project's root whose content is wanted, as in the manifest: of this project."""
    document_bytes: int = 0
    error: str = ""


class KeyFilesAsk(Ask, frozen=True):
    """Which files were proposed as key files of a project, and what was decided?"""

    NAME: ClassVar[str] = "keyfiles"

    project: str


class KeyFileReport(msgspec.Struct, frozen=True):
    """One file that was proposed."""

    path: str
    status: Literal["pending", "accepted", "dismissed"]
    reads: int = 0
    """The number of times that agents had read it when it was proposed."""
    edits: int = 0
    """The number of times that agents had changed it when it was proposed."""
    size: int = 0
    """Bytes, at that time."""


class KeyFileList(msgspec.Struct, frozen=True, omit_defaults=True):
    """The reply to `ask.keyfiles`."""

    files: tuple[KeyFileReport, ...] = ()
    """Those that wait first, then those that are accepted, in their order, then those that were dismissed."""
    error: str = ""


class DocsAsk(Ask, frozen=True):
    """Which changes of documents were proposed for a project, and what was decided?"""

    NAME: ClassVar[str] = "docs"

    project: str


class DocProposalReport(msgspec.Struct, frozen=True):
    """The newest proposal for a document."""

    path: str
    name: str
    """The name of the proposal in a decision."""
    status: Literal["pending", "applied", "dismissed"]
    digest: str
    """sha256 of the document that it was made from, in hex."""
    old: tuple[str, ...] = ()
    """The texts that are replaced."""
    new: tuple[str, ...] = ()
    """The new text in place of each of `old`."""
    reason: str = ""


class DocProposalList(msgspec.Struct, frozen=True, omit_defaults=True):
    """The reply to `ask.docs`."""

    proposals: tuple[DocProposalReport, ...] = ()
    """Those that wait first."""
    error: str = ""


SQL = RequestReply(SqlAsk, Rows, order=70)
VIEWS_COPY = RequestReply(ViewsCopyAsk, ViewsCopy, order=80)
HISTORY_RUNS = RequestReply(HistoryRunsAsk, HistoryRuns, order=90)
DREAMS = RequestReply(DreamsAsk, DreamReport, order=100)
LAST_ADAPTER = RequestReply(LastAdapterAsk, LastAdapter, order=110)
PROJECT_AT = RequestReply(ProjectAtAsk, ProjectAt, order=120)
ALIASES = RequestReply(AliasesAsk, ProjectAliases, order=130)
PROJECTS = RequestReply(ProjectsAsk, ProjectList, order=140)
PROJECT_SETTINGS = RequestReply(ProjectSettingsAsk, ProjectSettingsReply, order=150)
KEY_FILES = RequestReply(KeyFilesAsk, KeyFileList, order=160)
DOCS = RequestReply(DocsAsk, DocProposalList, order=170)
