"""Facts about what is remembered of a project: its memory book."""

from typing import ClassVar

from schemas.envelope import Moment
from schemas.events.base import Event, LogOnly

TRUSTS = ("person", "person_by_harness", "agent", "summary", "historian", "dreamer", "tool_output")
"""The origins of a text, by which it is trusted. `person_by_harness` are the words of a person as a harness reports
them, which vouches that they were typed: `person` is only what comes from a person's own connection."""

VERDICTS = ("accepted", "absorbed", "superseded", "rejected", "held", "retrying", "exhausted")
"""The judgements of a candidate. The last one counts."""

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
    """The one who proposes it."""
    trust: str = ""
    """The origin of the text (`TRUSTS`)."""
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
    """The change that the candidate would make of other memories: `merge`, `split`, `revise`, `archive` or
    `importance`; empty: none."""
    targets: list[str] = []
    """The memories that the candidate would change, with the one that goes on first."""
    revisions: list[int] = []
    """The number of the wording that each memory of `targets` had."""
    reason: str = ""
    """The reason for the change."""
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
    """The rule that found the candidate: `request:<language>`, `summary`, `fact`, `tool`, `person`, `proposal`, or
    without anybody asking `sentence`, `command`, `decision`."""
    reasons: list[str] = []
    """The gate's reasons, or those of the policy."""
    gate: str = ""
    """The version of the gate that judged it."""
    category: str = ""
    trust: str = ""
    origin: str = ""
    message: str = ""
    attempt: int = 1
    """The number of times that the same candidate has come, for one that the policy refuses."""
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
    """The origin of the new words (`TRUSTS`); empty: the words are those that it had."""
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
    """The ids of the parts. One that there was before stays as it is."""
    texts: list[str]
    """The text of each part, in the order of `parts`."""
    category: str
    trust: str = ""
    """The source of these words."""
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
    """The session whose agent has searched."""
    message: str = ""
    """The message with the answer to the search."""


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
