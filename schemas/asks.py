"""Questions on `ask.<question>.<project>` that adapters and agents ask, those about vectors, and the replies."""

from datetime import datetime
from typing import ClassVar, Literal

import msgspec

from schemas.ask import Ask, RequestReply
from schemas.explain_asks import Fact
from schemas.inbox import Mode
from schemas.numbers import Count, Wait
from schemas.plan import Revision
from schemas.tools import Line, Tool, Verb


class TransformAsk(Ask, frozen=True):
    """What should this step's messages look like? Asked right before each model call."""

    NAME: ClassVar[str] = "transform"

    project: str
    session: str
    step: str
    base_revision: Count = 0
    """The newest revision the asker holds; the reply carries what came after it."""
    deadline_ms: Wait = 250
    """After this time the asker no longer listens."""


class Plan(msgspec.Struct, frozen=True, omit_defaults=True):
    """The reply to `ask.transform`."""

    status: Literal["ready", "late", "resync", "failed"]
    """`late`: the step was not read in time. `resync`: send the whole list. Both: go on with the plan you have."""
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
    full: bool = False
    """The prompt is longer than the model takes, and nobody but the harness can make it smaller in this turn: it may
    compact by itself."""


class EmbedAsk(Ask, frozen=True):
    """What do these texts mean, as vectors? Asked by rooms. Without texts the reply only names the model."""

    NAME: ClassVar[str] = "embed"

    texts: tuple[str, ...] = ()
    purpose: Literal["text", "query"] = "text"
    """Somebody waits for a query: it goes first."""
    tokens: bool = False
    """Whether each token's vector is wanted, too."""


class EmbeddedText(msgspec.Struct, frozen=True, omit_defaults=True):
    """One text as vectors."""

    vector: bytes = b""
    """32-bit floats, little-endian; its length is 1."""
    tokens: bytes = b""
    """A vector for each token, one after another, each of 64 signed bytes; none from a model that gives none."""
    pieces: tuple[str, ...] = ()
    """Of a query: the tokens as they are written; what goes on with a word begins with `##`."""


class Embedded(msgspec.Struct, frozen=True, omit_defaults=True):
    """The reply to `ask.embed`."""

    model: str = ""
    """Names the model: only vectors of one model can be compared. Empty: there is none."""
    dimensions: int = 0
    """Of a text's vector; 0: not known before it was asked once."""
    has_tokens: bool = False
    """Whether it gives the vectors of tokens."""
    texts: tuple[EmbeddedText, ...] = ()
    """In the order in which they were asked for."""
    error: str = ""
    """The reason why there are no vectors; empty: there are. Search goes by words alone meanwhile."""


class ProbeAsk(Ask, frozen=True):
    """Does the model that makes vectors answer? For a person."""

    NAME: ClassVar[str] = "probe"


class Probed(msgspec.Struct, frozen=True, omit_defaults=True):
    """The reply to `ask.probe`."""

    status: str
    """ok, off, no_model, auth_failed, endpoint_unsupported, http_error, network_error, timeout or invalid_scheme."""
    reason: str = ""
    model: str = ""
    dimensions: int = 0


class ClientManifestAsk(Ask, frozen=True):
    """What should an adapter offer and say? The answer is the same until the service or its settings change."""

    NAME: ClassVar[str] = "guide"

    project: str = ""
    harness: str = ""
    verbs: tuple[Verb, ...] = ()
    """The verbs of calls that the adapter knows; none: `ask`, and `wish` for commands."""


class ClientManifest(msgspec.Struct, frozen=True, omit_defaults=True):
    """The reply to `ask.guide`."""

    digest: str = ""
    """Names this manifest: another one has another."""
    tools: tuple[Tool, ...] = ()
    lines: tuple[Line, ...] = ()
    system: dict[Mode, str] = {}
    """The text for the system prompt, by the session's mode; without one: nothing."""
    skip: tuple[str, ...] = ()
    """A system prompt that holds one of these is of the harness's own helper agents: leave those calls alone."""
    date: str = ""
    """A regular expression that finds the line with the date in a system prompt: the line is frozen."""
    documents: tuple[str, ...] = ()
    """Paths from the project's root whose content is wanted: documents and key files. No link is followed out of it."""
    document_bytes: int = 0
    """The most of one of them. What is longer, or no text, is reported as gone."""
    placeholders: str = ""
    """A regular expression for a trimmed text that is nothing but what the service puts in place of others. Letters are
    compared regardless of case."""
    refusals: dict[Mode, str] = {}
    """The answer to an agent whose call has such a text for an argument, by the session's mode; the call is not made.
    `{argument}` and `{text}` are filled in."""
    erasures: bool = False
    """Whether `ask.erasures` is answered: until it was, an adapter sends nothing that it had before it connected."""
    error: str = ""


class SessionAsk(Ask, frozen=True):
    """How does this session stand? For a person."""

    NAME: ClassVar[str] = "session"

    project: str
    session: str


class SessionReport(msgspec.Struct, frozen=True, omit_defaults=True):
    """The reply to `ask.session`: a short report, in lines that need no markup to be read."""

    text: str = ""
    error: str = ""


class ExpandAsk(Ask, frozen=True):
    """What are the exact words of a session? One of: a range of messages, a message, a tag, a compartment."""

    NAME: ClassVar[str] = "expand"

    project: str
    session: str
    start: Count = 0
    """The first message of a range, as history counts them."""
    end: Count = 0
    """The last message of the range; 0: only the first."""
    message: str = ""
    """A message by its number or by its id."""
    tag: Count = 0
    compartment: str = ""
    """A part of history, by its id or by any message in it."""
    verbose: bool = False
    """Whether a range is shown with everything: arguments and outputs of tools, too."""
    page: Count = 1
    """Of what is longer than one answer."""
    asker: str = ""
    """The session that asks. What is quarantined is returned to no other session."""


class Expanded(msgspec.Struct, frozen=True, omit_defaults=True):
    """The reply to `ask.expand`: what it is about, and the words."""

    text: str = ""
    title: str = ""
    """Of the session."""
    next: int = 0
    """The first message of the range that is left out for its length; 0: none is."""
    next_page: int = 0
    """The page behind this one; 0: this is the last one, or a range that is not paged."""
    error: str = ""


class CompactionContextAsk(Ask, frozen=True):
    """What must the harness's own summary of this session carry on?"""

    NAME: ClassVar[str] = "brief"

    project: str
    session: str


class CompactionContext(msgspec.Struct, frozen=True, omit_defaults=True):
    """The reply to `ask.brief`: one text to add to the prompt that makes the summary."""

    text: str = ""
    error: str = ""


MemoryView = Literal[
    "read", "list", "why", "missing", "quality", "twins", "history", "notes", "review", "policy"
]  # fmt: skip
"""The view of a project's memory that is asked for: its text for an agent, all of it, why one is or is not shown, what
is left out of a head and for which reason, how candidates fared, which may state the same, the facts about one memory,
the notes of all sessions, what waits for a person with the words that it came from, or the policy."""


class MemoryAsk(Ask, frozen=True):
    """What does the project remember?"""

    NAME: ClassVar[str] = "memory"

    project: str
    session: str = ""
    """The session that asks, or about whose head is asked."""
    view: MemoryView = "read"
    id: str = ""
    """The memory that is asked about, or the beginning of its id."""
    as_of: Count = 0
    """The position in the log up to which facts count; 0: all of them."""
    filter: str = ""
    """Of `read`: words that a memory or a note must hold, or one category. Of `list` and `notes`: a status."""
    page: Count = 1
    """Of `list`: at most 1,000 memories come at once."""


class MemorySource(msgspec.Struct, frozen=True):
    """A place where a memory was seen."""

    actor: str
    session: str
    message: str
    seq: int
    run: str = ""
    """The run that found it there, or the import with tool and file (`import:mem0:/home/ada/memories.json`)."""


class MemoryEntry(msgspec.Struct, frozen=True):
    """A memory in its present state."""

    id: str
    category: str
    kind: str = msgspec.field(name="class")
    """`feedback`, `decision`, `project` or `reference`."""
    text: str = ""
    status: str = ""
    rendered: bool = False
    """Whether a head that is made now would show it."""
    omitted: str = ""
    """The reason why such a head would not show it; empty: it would."""
    strength: float = 0.0
    pinned: bool = False
    trust: str = ""
    verification: str = ""
    expires_at: str = ""
    seen: int = 0
    sources: tuple[MemorySource, ...] = ()
    importance: str = "normal"
    change: str = ""
    """Of a proposal: the change that it would make of other memories (`merge`, `revise`, `archive`, `importance`)."""
    targets: tuple[str, ...] = ()
    """Of a proposal: the memories that it would change."""
    reason: str = ""
    """Of a proposal: the reason for the change."""
    parts: tuple[str, ...] = ()
    """The texts of the memories that a proposed split would make."""


class NoteEntry(msgspec.Struct, frozen=True):
    """A note as it is now."""

    id: str
    text: str
    session: str = ""
    """The session that it is of; empty: it is of the whole project."""
    status: str = "active"
    """`active`, `ready` (what it waited for has come), `parked` (that cannot be looked at) or `dismissed`."""
    condition: str = ""
    changed: datetime | None = None
    reason: str = ""
    """Of a note that is ready or parked: what a look has found, or why nothing can be looked at. Of one whose words
    were not translated: why."""
    translation: str = ""
    """The condition that its words were translated into, in words; empty: they were not, or it needed none."""


class JunkRate(msgspec.Struct, frozen=True):
    """The share of junk in what came from one source."""

    source: str
    """The author of the words: one of `TRUSTS`, such as `person`, `agent` or `historian`."""
    junk: int
    """The memories that were rejected, archived or quarantined."""
    total: int
    """All memories that were decided on or are active."""
    sample_junk: int = 0
    """The junk, by labels, among what this release remembers of recorded sessions."""
    sample_total: int = 0
    """All that this release remembers of recorded sessions; 0: none of it came from this source."""


class HiddenMemory(msgspec.Struct, frozen=True, omit_defaults=True):
    """An active memory that is not in the head of new sessions."""

    id: str
    reason: str
    """The reason: `token_budget`, `global_cap`, `empty_budget` where others leave no room for it, or `twin`,
    `expired`."""
    since: int
    """The position of the fact since which it is not."""
    pinned: bool = False
    stands: str = ""
    """Of a twin: the memory that is the same sentence, and represents both."""
    text: str = ""


class MemoryReply(msgspec.Struct, frozen=True, omit_defaults=True):
    """The reply to `ask.memory`: a text for the one who asks, and what it was made from as values."""

    text: str = ""
    error: str = ""
    project: str = ""
    as_of: int = 0
    memories: tuple[MemoryEntry, ...] = ()
    counts: dict[str, int] = {}
    """Of `list` by status, of `quality` by verdict, of `missing` by reason."""
    total: int = 0
    """Of `missing`: how many active memories are not shown. Of `quality`: how many candidates there were; and of
    `twins`."""
    hidden: tuple[HiddenMemory, ...] = ()
    """Of `missing`: the first of those that new sessions do not get."""
    reasons: dict[str, int] = {}
    """Of `quality`: why candidates were rejected, the most frequent reason first."""
    junk: tuple[JunkRate, ...] = ()
    """Of `quality`: by source."""
    quotes: dict[str, str] = {}
    """Of `review`: memory -> the words of the message that it came from."""
    policy: dict[str, str] = {}
    """Of `policy`: trust -> what is done with candidates of it: `applied`, `held` or `refused`."""
    notes: tuple[NoteEntry, ...] = ()
    """Of `notes`: those of all sessions, the newest first."""
    twins: tuple[tuple[str, str], ...] = ()
    """Of `twins`: the memories that say nearly the same as a stronger one, each with that one."""
    more: bool = False
    """Of `list` and `review`: there are further pages."""
    id: str = ""
    """Of `why` and `history`: the memory that is asked about; `rendered` is whether the head shows it, and `reason`
    why."""
    rendered: bool = False
    reason: str = ""
    revision: int = 0
    facts: tuple[Fact, ...] = ()
    """Of `why` and `history`: the facts that led to that memory."""


TRANSFORM = RequestReply(TransformAsk, Plan, order=10)
EMBED = RequestReply(EmbedAsk, Embedded, order=190)
PROBE = RequestReply(ProbeAsk, Probed, order=200)
CLIENT_MANIFEST = RequestReply(ClientManifestAsk, ClientManifest, order=230)
SESSION = RequestReply(SessionAsk, SessionReport, order=240)
EXPAND = RequestReply(ExpandAsk, Expanded, order=250)
COMPACTION_CONTEXT = RequestReply(CompactionContextAsk, CompactionContext, order=260)
MEMORY = RequestReply(MemoryAsk, MemoryReply, order=270)
