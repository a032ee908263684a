"""Questions on `ask.<question>.<project>`, and the replies."""

from datetime import datetime
from typing import ClassVar, Literal

import msgspec

from schemas.ask import Ask
from schemas.erasure_asks import ERASURE_ASKS
from schemas.inbox import Mode
from schemas.numbers import Count, Wait
from schemas.plan import AnyEdit, Revision
from schemas.profile_asks import PROFILE_ASKS
from schemas.question_asks import QUESTION_ASKS
from schemas.room_health import HealthAsk, UnfoldedFact
from schemas.spending_asks import SPENDING_ASKS
from schemas.tools import Line, Source, Tool, Verb
from schemas.view_asks import VIEW_ASKS


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
    """Why there are none. Search goes by words alone meanwhile."""


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


class ExplainAsk(Ask, frozen=True):
    """What did the agent see at this step, and which facts made it so?"""

    NAME: ClassVar[str] = "explain"

    project: str
    session: str
    """Its id, or the beginning of one where only one session begins so."""
    step: str = ""
    """Its id, the beginning of one, or the number of the call in its session, from 1 on. Empty: the newest."""
    part: str = ""
    """Only the edit of this part."""
    max_edits: Count = 50
    tags: bool = True
    """Whether edits that do nothing but show a tag are among them."""


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
    lanes: tuple[str, ...] = ()
    """The kinds of edits that decided it, as `services/plan/lanes` names them: `drops`, `search hint`."""
    causes: tuple[str, ...] = ()
    """Why covered messages changed, where a rebase made it; empty: it came with its messages, in an extension."""
    ordinal: int = 0
    """The place of the message that it changes; 0: it changes none, or that message has no place."""
    tag: int = 0
    """The number of the part that it changes; 0: it has none."""
    what: str = ""
    """The part that it changes, in words: `the output of read`."""


class PromptHint(msgspec.Struct, frozen=True, omit_defaults=True):
    """Something known that follows a person's message, since a search for its words has found it."""

    message: str
    ordinal: int
    seq: int
    """Position of the fact that decided it."""
    source: str
    id: str
    score: float
    """How well it fits, from 0 to 1."""
    text: str = ""


class PromptSearch(msgspec.Struct, frozen=True, omit_defaults=True):
    """The answer to a search by the agent that is in the prompt."""

    part: str
    ordinal: int
    tag: int
    seq: int
    """Position of the fact that recorded it."""
    query: str = ""
    """What was searched for, in one line."""
    text: str = ""
    """The beginning of the answer, in one line; empty: the log has it elsewhere, since it is long."""
    bytes: int = 0
    """UTF-8 length of the whole answer."""


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
    session: str = ""
    """Its whole id."""
    title: str = ""
    call: int = 0
    """The number of the call in its session, from 1 on ..."""
    calls: int = 0
    """... and how many there are by now."""
    tags: int = 0
    """How many of the edits in force do nothing but show a tag."""
    left_out: int = 0
    """How many older edits there are that were asked for and are not among `edits`."""
    hints: tuple[PromptHint, ...] = ()
    """What was added behind messages of a person, the newest first, at most `max_edits`."""
    searches: tuple[PromptSearch, ...] = ()
    """Answers to searches that are in the prompt, the newest first, at most `max_edits`."""


class StatusAsk(Ask, frozen=True):
    """How is the responder?"""

    NAME: ClassVar[str] = "status"


class SessionStatus(msgspec.Struct, frozen=True, omit_defaults=True):
    """The distance of a session in memory from its next rebase. Tokens are as its provider counts them."""

    project: str
    session: str
    title: str = ""
    prompt: int = 0
    """Tokens of the coming prompt as it is, tools and system prompt included."""
    percent: float = 0.0
    """Its share of what is usable of the model's window."""
    threshold: float = 0.0
    """Percent of that from which on room is made between two turns."""
    spent: float = 0.0
    """Percent of what a rebase costs that going on as it is has cost; at 100 a rebase is made."""
    reason: str = ""
    """Why no rebase was made at the newest call."""


class SkippedRecord(msgspec.Struct, frozen=True):
    """A record of the log that no room can read: it counts for its position, and for nothing else."""

    seq: int
    subject: str
    reason: str


class LogBreak(msgspec.Struct, frozen=True):
    """The log was found to be another one than before: a copy was put back, or it was lost."""

    at: datetime
    """When that was noticed."""
    known: int
    """The position up to which the log before was known."""
    agreed: int
    """The position up to which both are known to be the same."""
    head: int
    """Where the log ended when it was noticed."""


class Status(msgspec.Struct, frozen=True, omit_defaults=True):
    """The reply to `ask.status`: positions in the log, and what is in memory."""

    log_head: int
    read_through: int
    """Read into the session cache."""
    committed_through: int
    """Committed to the views."""
    hot_sessions: int
    file: str
    building: bool = False
    """Whether a new file is being built next to the one that answers."""
    counts: dict[str, int] = {}
    sessions: tuple[SessionStatus, ...] = ()
    """Those that were worked in last, the newest first."""
    skipped: int = 0
    """Records of the log that cannot be read; every room passes them over."""
    newest_skipped: tuple[SkippedRecord, ...] = ()
    """The last of them, the newest first."""
    unfolded: int = 0
    """Facts that can be read and that a state of the responder could not take in since the responder began."""
    newest_unfolded: tuple[UnfoldedFact, ...] = ()
    """The last of them, the newest first."""
    error: str = ""
    breaks: tuple[LogBreak, ...] = ()
    """When the log was another one than before, within the last week; the newest first."""
    plans_waiting: int = 0
    """Model calls whose step was read, and that wait for their plan."""
    plans_dropped: int = 0
    """Model calls without a plan since the responder began: nobody listened any more, a newer one of the session came,
    or too many waited."""


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
    """The first message of a range, as history counts them ..."""
    end: Count = 0
    """... and the last one; 0: only the first."""
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
"""What is asked of a project's memory: its text for an agent, all of it, why one is or is not shown, what is left out
of a head and for which reason, how candidates fared, which may say the same, the facts about one memory,
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
    """Why it would not."""
    strength: float = 0.0
    pinned: bool = False
    trust: str = ""
    verification: str = ""
    expires_at: str = ""
    seen: int = 0
    sources: tuple[MemorySource, ...] = ()
    importance: str = "normal"
    change: str = ""
    """Of a proposal: what would be done with other memories (`merge`, `revise`, `archive`, `importance`) ..."""
    targets: tuple[str, ...] = ()
    """... with which ones ..."""
    reason: str = ""
    """... and why."""
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
    """Of a note that is ready or parked: what a look has found, or why nothing can be looked at."""


class JunkRate(msgspec.Struct, frozen=True):
    """The share of junk in what came from one source."""

    source: str
    """Whose words it was: `person`, `agent`, `historian`, ..."""
    junk: int
    """Memories that were rejected, archived or quarantined ..."""
    total: int
    """... of all that were decided on or are active."""
    sample_junk: int = 0
    """The same by labels, of what this release remembers of recorded sessions ..."""
    sample_total: int = 0
    """... 0: none of it came from this source."""


class HiddenMemory(msgspec.Struct, frozen=True, omit_defaults=True):
    """An active memory that is not in the head of new sessions."""

    id: str
    reason: str
    """Why: `token_budget`, `global_cap`, `empty_budget` where others leave no room for it, or `twin`, `expired`."""
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
    """Of `why` and `history`: the memory, whether the head shows it, and the reason ..."""
    rendered: bool = False
    reason: str = ""
    revision: int = 0
    facts: tuple[Fact, ...] = ()
    """... and the facts that led to it."""


class SearchAsk(Ask, frozen=True):
    """What is known that bears on these words?"""

    NAME: ClassVar[str] = "search"

    project: str
    query: str
    session: str = ""
    """The session that asks: what its prompt shows already is not repeated. Empty: a person asks, in none."""
    sources: tuple[str, ...] = ()
    """Where to look; empty: everywhere. Unknown ones are left out, and the reply says so; an error where all are."""
    sessions: tuple[str, ...] = ()
    """Only from these."""
    actors: tuple[str, ...] = ()
    """Only what these have written, by their ids."""
    since: datetime | None = None
    until: datetime | None = None
    as_of: Count = 0
    """Only what is made of facts up to this position of the log; 0: all."""
    min_seq: Count = 0
    """Wait a little until the index has read the log up to this position. What was confirmed to be remembered or noted
    before the question was sent is waited for in any case."""
    deadline_ms: Wait = 0
    """Milliseconds after which the asker no longer listens: what is found by then is the reply. 0: a few seconds. Below
    500 the index is searched as it was up to a minute ago, and what is in the prompt already is not looked for."""
    limit: Count = 10
    """At most 25 for a session, and 200 for a person."""
    group: Literal["", "session"] = ""
    """`session`: of each session only what fits best."""


class Hit(msgspec.Struct, frozen=True, omit_defaults=True):
    """Something that was found."""

    source: Source
    id: str
    """Of the message, memory, compartment or note; of a commit its whole sha; of outputs the message that has them."""
    score: float
    """How well it fits whatever else there is, from 0 to 1."""
    fragment: str = ""
    """Of its text, where it fits; of outputs the name with the names next to it there."""
    why: tuple[str, ...] = ()
    """Why it fits: words of the query, something that it has word for word, or its meaning."""
    session: str = ""
    ordinal: int = 0
    """Of a message, and of its outputs, its place in its session; of a compartment the first one that it covers."""
    first: int = 0
    """The messages around it that are worth reading ..."""
    last: int = 0
    """... for who wants to know more."""
    at: datetime | None = None
    actor: str = ""
    role: str = ""
    """Of a message `user`, `assistant` or `task`: what an agent asks of one that it started. Of a memory its class."""
    files: tuple[str, ...] = ()
    """Of a commit some of the paths that it touches."""


class FoundSession(msgspec.Struct, frozen=True, omit_defaults=True):
    """A session that a query names by its id, or by the beginning of it."""

    session: str
    messages: int = 0
    """How many of its messages can be found."""
    compartments: int = 0
    """How many parts of its history."""
    last: int = 0
    """The number of its newest message that has one."""
    began: datetime | None = None
    ended: datetime | None = None


class Hits(msgspec.Struct, frozen=True, omit_defaults=True):
    """The reply to `ask.search`; what fits best comes first."""

    hits: tuple[Hit, ...] = ()
    session: FoundSession | None = None
    """The session that the query names; then the hits are messages of it."""
    in_prompt: tuple[Hit, ...] = ()
    """Where nothing else is known: what the session that asks has before it already."""
    unknown: tuple[str, ...] = ()
    """Those of the sessions that were asked for of which nothing is indexed."""
    searched: tuple[Source, ...] = ()
    """Where it was looked for."""
    degraded: tuple[str, ...] = ()
    """What could not be searched as it should have been, and why."""
    read_through: int = 0
    """The position of the log up to which all was searched."""
    index_failure: str = ""
    """Why the index cannot be written now, so that it may lack what the log has; empty: it can, as far as is known."""
    is_behind: bool = False
    """Whether the index lacks something that the log had when the question came, or nobody knows whether it does."""
    text: str = ""
    """The same for an agent to read."""
    error: str = ""


class AugmentAsk(Ask, frozen=True):
    """What of the project helps with this request? At most three searches and one question to a model answer it."""

    NAME: ClassVar[str] = "augment"

    project: str
    text: str = ""
    """The request, as a person has typed it."""
    session: str = ""
    """The session in which it is made: what its prompt shows already is not repeated. Empty: in none."""


class Augmentation(msgspec.Struct, frozen=True, omit_defaults=True):
    """The reply to `ask.augment`."""

    hits: tuple[Hit, ...] = ()
    """What helps: where each was found, and as its fragment the words that are quoted."""
    text: str = ""
    """The same to read. For a session it is the element that goes out behind the request, where there are hits."""
    notice: str = ""
    """How the hits were chosen, in a sentence for the person."""
    model: str = ""
    """The model that has chosen them; empty: they are the best hits of the searches."""
    searches: tuple[str, ...] = ()
    """What was searched for."""
    degraded: tuple[str, ...] = ()
    """What could not be searched as it should have been, and why."""
    error: str = ""


class ServedAsk(Ask, frozen=True):
    """What does this session have before it now, word for word or in its head? Asked by rooms."""

    NAME: ClassVar[str] = "served"

    project: str
    session: str


class Served(msgspec.Struct, frozen=True, omit_defaults=True):
    """The reply to `ask.served`."""

    messages: tuple[str, ...] = ()
    """Whose text is sent as it is."""
    outputs: tuple[str, ...] = ()
    """The messages of which the outputs of tools are sent as they are."""
    memories: tuple[str, ...] = ()
    compartments: tuple[str, ...] = ()
    quarantined: tuple[str, ...] = ()
    """Sessions of the project of which all is taken back: no other session gets their messages."""
    quarantined_messages: tuple[tuple[str, str], ...] = ()
    """Single messages of which that is so: their session, and their id."""
    is_known: bool = True
    """Whether this is what is so: not where the question could not be answered."""
    error: str = ""


class IndexPositionAsk(Ask, frozen=True):
    """How far has the index read the log? Asked by rooms. The answer waits for a position, which is written at once."""

    NAME: ClassVar[str] = "index_position"

    seq: Count = 0
    """The position that the asker waits for; 0: none."""
    deadline_ms: Wait = 2_000
    """After this time the asker no longer listens."""


class IndexPosition(msgspec.Struct, frozen=True, omit_defaults=True):
    """The reply to `ask.index_position`."""

    through: Count = 0
    """All up to this position is in the index."""
    error: str = ""
    failure: str = ""
    """Why the index cannot be written now; empty: it can."""


ASKS: tuple[type[Ask], ...] = (
    TransformAsk,
    SearchAsk,
    AugmentAsk,
    ServedAsk,
    IndexPositionAsk,
    HealthAsk,
    *VIEW_ASKS,
    *PROFILE_ASKS,
    EmbedAsk,
    ProbeAsk,
    ExplainAsk,
    StatusAsk,
    ClientManifestAsk,
    SessionAsk,
    ExpandAsk,
    CompactionContextAsk,
    MemoryAsk,
    *QUESTION_ASKS,
    *ERASURE_ASKS,
    *SPENDING_ASKS,
)
