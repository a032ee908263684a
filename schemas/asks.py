"""What may be asked on `ask.<question>.<project>`, and the replies."""

from datetime import datetime
from typing import ClassVar, Literal

import msgspec

from schemas.inbox import Mode
from schemas.plan import AnyEdit, Revision
from schemas.tools import Line, Tool


class Ask(msgspec.Struct, frozen=True):
    """A question. It changes nothing but what the answer itself must remember."""

    NAME: ClassVar[str]


class TransformAsk(Ask, frozen=True):
    """What should this step's messages look like? Asked right before each model call."""

    NAME: ClassVar[str] = "transform"

    project: str
    session: str
    step: str
    base_revision: int = 0
    """The newest revision the asker holds; the reply carries what came after it."""
    deadline_ms: int = 250
    """After this time the asker no longer listens."""


class Plan(msgspec.Struct, frozen=True, omit_defaults=True):
    """The reply to `ask.transform`."""

    status: Literal["ready", "late", "resync", "failed"]
    """`late`: the step has not been read in time. `resync`: tell the whole list. Both: go on with the plan you hold."""
    pass_: Literal["", "replay", "extend", "rebase"] = msgspec.field(default="", name="pass")
    revision: int = 0
    revisions: tuple[Revision, ...] = ()
    more: bool = False
    """There are further revisions: ask again from the newest of these."""
    tokens_before: int = 0
    """Estimated tokens of the listed messages as the harness holds them."""
    tokens_after: int = 0
    """The same of what is served."""
    reason: str = ""
    notices: tuple[str, ...] = ()
    """Sentences for the person, not for the model."""


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


class ExplainAsk(Ask, frozen=True):
    """What did the agent see at this step, and which facts made it so?"""

    NAME: ClassVar[str] = "explain"

    project: str
    session: str
    step: str = ""
    """Empty: the newest."""
    part: str = ""
    """Only the edit of this part."""
    max_edits: int = 50


class Fact(msgspec.Struct, frozen=True, omit_defaults=True):
    """A log event in one line."""

    seq: int
    type: str
    at: datetime
    actor: str
    text: str = ""


class Explained(msgspec.Struct, frozen=True, omit_defaults=True):
    """One edit with the facts that led to it and the revision that made it."""

    edit: AnyEdit
    revision: int
    facts: tuple[Fact, ...] = ()


class Explanation(msgspec.Struct, frozen=True, omit_defaults=True):
    """The reply to `ask.explain`; the newest edits first."""

    step: str = ""
    at: datetime | None = None
    revision: int = 0
    messages: int = 0
    edits: tuple[Explained, ...] = ()
    edits_in_force: int = 0
    history: tuple[Fact, ...] = ()
    """The plan's rebases up to this step."""
    error: str = ""


class StatusAsk(Ask, frozen=True):
    """How is the responder?"""

    NAME: ClassVar[str] = "status"


class Status(msgspec.Struct, frozen=True, omit_defaults=True):
    """The reply to `ask.status`: positions in the log, and what is held in memory."""

    log_head: int
    read_through: int
    """Read into the hot states."""
    committed_through: int
    """Committed to the views."""
    hot_sessions: int
    file: str
    building: bool = False
    """Whether a new file is being built beside the one that answers."""
    counts: dict[str, int] = {}


class GuideAsk(Ask, frozen=True):
    """What should an adapter offer and say? The answer is the same until the service or its settings change."""

    NAME: ClassVar[str] = "guide"

    project: str = ""
    harness: str = ""


class Guide(msgspec.Struct, frozen=True, omit_defaults=True):
    """The reply to `ask.guide`."""

    digest: str = ""
    """Names this guide: another one has another."""
    tools: tuple[Tool, ...] = ()
    lines: tuple[Line, ...] = ()
    system: dict[Mode, str] = {}
    """What stands in the system prompt, by the session's mode; without one: nothing."""
    skip: tuple[str, ...] = ()
    """A system prompt that holds one of these is of the harness's own helper agents: leave those calls alone."""
    date: str = ""
    """A regular expression that finds the line with the date in a system prompt: the line is frozen."""
    documents: tuple[str, ...] = ()
    """Paths from the project's root whose content is wanted: documents and key files. No link is followed out of it."""
    document_bytes: int = 0
    """The most of one of them. What is longer, or no text, is told as gone."""
    error: str = ""


class SessionAsk(Ask, frozen=True):
    """How does this session stand? For a person."""

    NAME: ClassVar[str] = "session"

    project: str
    session: str


class Told(msgspec.Struct, frozen=True, omit_defaults=True):
    """The reply to `ask.session`: a short report in Markdown."""

    text: str = ""
    error: str = ""


class ExpandAsk(Ask, frozen=True):
    """What was said, word for word? One of: a range of messages, a message, a tag, a compartment."""

    NAME: ClassVar[str] = "expand"

    project: str
    session: str
    start: int = 0
    """The first message of a range, as history counts them ..."""
    end: int = 0
    """... and the last one; 0: only the first."""
    message: str = ""
    """A message by its number or by its id."""
    tag: int = 0
    compartment: str = ""
    """A part of history, by its id or by any message in it."""
    verbose: bool = False
    """Whether a range is shown with everything: arguments and outputs of tools, too."""
    page: int = 1
    """Of what is longer than one answer."""


class Expanded(msgspec.Struct, frozen=True, omit_defaults=True):
    """The reply to `ask.expand`: what it is about, and the words."""

    text: str = ""
    error: str = ""


class BriefAsk(Ask, frozen=True):
    """What must the harness's own summary of this session carry on?"""

    NAME: ClassVar[str] = "brief"

    project: str
    session: str


class Brief(msgspec.Struct, frozen=True, omit_defaults=True):
    """The reply to `ask.brief`: one text to add to the prompt that makes the summary."""

    text: str = ""
    error: str = ""


ASKS: tuple[type[Ask], ...] = (
    TransformAsk,
    SqlAsk,
    ExplainAsk,
    StatusAsk,
    GuideAsk,
    SessionAsk,
    ExpandAsk,
    BriefAsk,
)
