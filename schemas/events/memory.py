"""Facts about what is remembered of a project: its memory book."""

from typing import ClassVar

from schemas.envelope import Moment
from schemas.events.base import Event, LogOnly

TRUSTS = ("person", "person_by_harness", "agent", "summary", "historian", "dreamer", "tool_output")
"""Where a text comes from, which says how far it is trusted. `person_by_harness` are the words of a person as a harness
reports them, which vouches that they were typed: `person` is only what comes from a person's own connection."""

VERDICTS = ("accepted", "absorbed", "superseded", "rejected", "held", "retrying", "exhausted")
"""What can become of a candidate. The last judgement of a candidate counts."""

IMPORTANCES = ("low", "normal", "high")

VERIFICATIONS = ("unverified", "verified", "stale", "flagged")


class MemoryProposed(Event, frozen=True):
    """Something may be worth remembering. It is not known of the project before someone takes it up."""

    TYPE: ClassVar[str] = "memory.proposed"

    memory: str
    """Its id. It is the same for the same words in one category, so that the same is proposed once."""
    category: str
    text: str
    origin: str = ""
    """The session that showed it."""
    evidence: list[int] = []
    """Ordinals of the messages that show it."""
    source: str = ""
    """Who proposes it."""
    trust: str = ""
    """Where the text comes from (`TRUSTS`)."""
    importance: str = "normal"
    message: str = ""
    """The message that holds it."""
    run: str = ""
    """The run of the historian that found it."""
    memory_class: str = ""
    """`feedback`, `decision`, `project` or `reference`; empty: that of its category."""
    supersedes: list[str] = []
    """Memories that it is to take the place of."""
    change: str = ""
    """What would be done with memories that there are: `merge`, `split`, `revise`, `archive` or `importance`; empty:
    nothing."""
    targets: list[str] = []
    """The memories that it would change, with the one that goes on first ..."""
    revisions: list[int] = []
    """... and which wording each of them had."""
    reason: str = ""
    """Why."""
    parts: list[str] = []
    """The texts of the memories that a split would make."""


class MemoryJudged(Event, frozen=True):
    """The judgement of a candidate, with its reasons. It is written together with the fact that it led to."""

    TYPE: ClassVar[str] = "memory.judged"

    candidate: str
    """Its id: over what holds it (a command, a message, a summary) and its words."""
    verdict: str
    """One of `VERDICTS`."""
    memory: str = ""
    """The memory that it became, or that has absorbed it; empty: there is none."""
    rule: str = ""
    """What found the candidate: `request:<language>`, `summary`, `fact`, `tool`, `person`, `proposal`, or without
    anybody asking `sentence`, `command`, `decision`."""
    reasons: list[str] = []
    """The gate's reasons, or those of the policy."""
    gate: str = ""
    """The version of the gate that judged it."""
    category: str = ""
    trust: str = ""
    origin: str = ""
    message: str = ""
    attempt: int = 1
    """How often the same candidate has come, for one that the policy refuses."""
    preview: LogOnly = ""
    """The beginning of its text, masked: at most 80 characters."""


class MemoryWritten(Event, frozen=True):
    """Something is remembered of the project from now on."""

    TYPE: ClassVar[str] = "memory.written"

    memory: str
    category: str
    text: str
    trust: str = ""
    importance: str = "normal"
    origin: str = ""
    message: str = ""
    run: str = ""
    evidence: list[int] = []
    source: str = ""
    supersedes: list[str] = []
    """Memories that it takes the place of."""
    expires_at: Moment | None = None
    """When it expires unless something happens; none: it fades, and never expires."""
    memory_class: str = ""
    """`feedback`, `decision`, `project` or `reference`; empty: that of its category."""


class MemoryRevised(Event, frozen=True):
    """A memory says something else now, or weighs otherwise. Its id and its history stay."""

    TYPE: ClassVar[str] = "memory.revised"

    memory: str
    category: str
    text: str
    importance: str = "normal"
    origin: str = ""
    trust: str = ""
    """Where the new words come from; empty: the words are those that it had."""
    memory_class: str = ""
    """`feedback`, `decision`, `project` or `reference`; empty: that of its category."""


class MemoryMerged(Event, frozen=True):
    """Several memories are one. The one named goes on; the sources are superseded by it."""

    TYPE: ClassVar[str] = "memory.merged"

    memory: str
    sources: list[str]
    category: str
    text: str
    origin: str = ""
    trust: str = ""
    memory_class: str = ""
    """`feedback`, `decision`, `project` or `reference`; empty: that of its category."""


class MemoryDivided(Event, frozen=True):
    """A memory that stated several facts is several memories. It is superseded by them, and they have its sources."""

    TYPE: ClassVar[str] = "memory.divided"

    memory: str
    parts: list[str]
    """Their ids. One that there was before stays as it is ..."""
    texts: list[str]
    """... and the text of each."""
    category: str
    trust: str = ""
    """Where these words come from."""
    importance: str = "normal"
    expires_at: Moment | None = None
    memory_class: str = ""
    """`feedback`, `decision`, `project` or `reference`; empty: that of its category."""


class MemoryReinforced(Event, frozen=True):
    """A memory was seen again, in this session or in another."""

    TYPE: ClassVar[str] = "memory.reinforced"

    memory: str
    origin: str = ""
    evidence: list[int] = []
    message: str = ""
    effect: str = ""
    """`increment`: its fading begins anew and is slower from now on. `refresh_only`: it begins anew, and is as slow as
    it can be already. `blocked`: neither, since the memory was renewed less than seven days before."""


class MemoryArchived(Event, frozen=True):
    """A memory is no longer shown. It can be restored."""

    TYPE: ClassVar[str] = "memory.archived"

    memory: str
    reason: str = ""
    is_rejected: bool = False
    """Whether it was a proposal that somebody refused."""


class MemoryRestored(Event, frozen=True):
    """An archived, expired or superseded memory holds again."""

    TYPE: ClassVar[str] = "memory.restored"

    memory: str
    reason: str = ""


class MemoryPinned(Event, frozen=True):
    """A memory does not fade, and is shown first; or it is one among others again."""

    TYPE: ClassVar[str] = "memory.pinned"

    memory: str
    is_pinned: bool = True


class MemoryVerified(Event, frozen=True):
    """Somebody has looked whether a memory still holds."""

    TYPE: ClassVar[str] = "memory.verified"

    memory: str
    verification: str
    """One of `VERIFICATIONS`."""
    reason: str = ""


class MemoryExpired(Event, frozen=True):
    """The time of these memories is over. It is a fact, so that a fold needs no clock."""

    TYPE: ClassVar[str] = "memory.expired"

    memories: list[str]
    at: Moment
    reason: str = ""
    """Empty: their time is over. `listing`: they are lists of symbols or files, which are remembered no more."""


class MemoryPaused(Event, frozen=True):
    """Nobody worked on the project in this time: memories fade in it at a quarter of their pace."""

    TYPE: ClassVar[str] = "memory.paused"

    since: Moment
    """When the grace after the last activity had passed: 14 days, unless a setting says otherwise."""
    until: Moment


class MemoryQuarantined(Event, frozen=True):
    """All that came of one source is taken back, whatever it has become."""

    TYPE: ClassVar[str] = "memory.quarantined"

    kind: str
    """`session`, `message`, `run` or `actor`."""
    value: str
    memories: list[str] = []
    """Those that no longer hold."""
    restored: list[str] = []
    """Those that a member of it had superseded, and that hold again."""
    reason: str = ""


class MemoryReleased(Event, frozen=True):
    """A quarantine is undone: what it took back is as it was before it."""

    TYPE: ClassVar[str] = "memory.released"

    kind: str
    value: str
    memories: list[str] = []
    restored: list[str] = []


class MemoryMoved(Event, frozen=True):
    """The project has another name by now: its memory goes on under that one, and this book is closed."""

    TYPE: ClassVar[str] = "memory.moved"

    name: str
    """That name."""


class MemoryRetrieved(Event, frozen=True):
    """A search has shown an agent these memories. It is a use of them, and no sighting: they fade as before."""

    TYPE: ClassVar[str] = "memory.retrieved"

    memories: list[str]
    origin: str = ""
    """The session whose agent has searched ..."""
    message: str = ""
    """... and its message that holds the answer."""


EVENTS: tuple[type[Event], ...] = (
    MemoryProposed,
    MemoryJudged,
    MemoryWritten,
    MemoryRevised,
    MemoryMerged,
    MemoryDivided,
    MemoryReinforced,
    MemoryArchived,
    MemoryRestored,
    MemoryPinned,
    MemoryVerified,
    MemoryExpired,
    MemoryPaused,
    MemoryQuarantined,
    MemoryReleased,
    MemoryMoved,
    MemoryRetrieved,
)
