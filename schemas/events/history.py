"""Facts about runs that compress a session's history."""

from datetime import datetime
from typing import ClassVar

from schemas.events.base import Event


class HistoryOrdered(Event, frozen=True):
    """A person or an agent wants history to be compressed, made anew, or judged anew."""

    TYPE: ClassVar[str] = "history.ordered"

    order: str
    """wrapup (all that may be compressed, now), rebuild (make compartments anew), abandon (give a rebuild up) or
    rescore (judge anew how slowly compartments fade)."""
    first: int = 0
    """Of a rebuild: the message it begins at; 0: the first. It is moved out to the bounds of compartments."""
    last: int = 0
    """Of a rebuild: the message it ends at; 0: the last that is compressed now."""


class HistoryRequested(Event, frozen=True):
    """A range of messages is to be compressed, or its compartments judged. There is one open request in a session."""

    TYPE: ClassVar[str] = "history.requested"

    run: str
    """Its name: the generation, the first message and the runs before it, so that no range is requested twice."""
    reason: str
    """ahead, force, commit_clusters, tail_size, projected_headroom, closed_frame, idle, wrapup, rebuild, rescore or
    removed (messages of compartments were deleted)."""
    first: int
    """The first message that no compartment covers, that is made anew, or whose compartment is judged."""
    last: int
    """The last message of these."""
    generation: int = 0
    """The generation of its compartments; a rebuild opens a new one."""
    tokens: int = 0
    """Estimated tokens of these messages as the harness holds them; none where they are only judged."""
    used: int = 0
    """Tokens of the newest prompt, as the provider counted them."""
    percent: float = 0.0
    """The same as a share of the usable window."""
    failures: int = 0
    """Runs that failed before this one, since the last that did not."""


class HistoryAttempted(Event, frozen=True):
    """A model was asked for a summary or for scores, or the rules made a summary."""

    TYPE: ClassVar[str] = "history.attempted"

    run: str
    model: str
    """`provider/model`, or `rules`."""
    step: str = "summary"
    """summary, repair (asked again, with what was wrong), or fallback (another model)."""
    outcome: str = "ok"
    """ok, invalid, transient, refused, overflow, timeout or cancelled."""
    detail: str = ""
    tokens_in: int = 0
    tokens_out: int = 0
    cached: int = 0
    """Of those that went in: read from the provider's cache."""
    usd: float = 0.0
    seconds: float = 0.0


class HistoryAdvanced(Event, frozen=True):
    """A part of a run's range was compressed, or compartments of it were judged."""

    TYPE: ClassVar[str] = "history.advanced"

    run: str
    generation: int
    first: int
    last: int
    done: bool = True
    """Whether this was the run's last part. A run that makes no new generation may leave the end of its range to the
    next one: `left` is how much."""
    ended: str = ""
    """The reason why this part ended there: end, budget, partial (the rest is one topic with what follows), or
    scored."""
    tokens_in: int = 0
    """Estimated tokens of the messages."""
    tokens_out: int = 0
    """Estimated tokens of their summaries in full."""
    left: int = 0
    """Estimated tokens of the range that are still to be compressed."""
    seconds: float = 0.0
    judged: list[str] = []
    """The compartments that were judged, also where their importance stays as it was."""


class HistoryFailed(Event, frozen=True):
    """A run ended without success. What it had published before stays."""

    TYPE: ClassVar[str] = "history.failed"

    run: str
    code: str
    """no_eligible, chunk_empty, invalid_output, no_progress, provider_transient, provider_auth, provider_away,
    overflow, timeout, aborted, stale_fingerprint, window_too_small, budget_exhausted, crashed (whoever wrote it
    fell over) or no_model (only a model can do it, and none is set)."""
    detail: str = ""
    failures: int = 0
    """Runs that have failed in a row, with this one; what is not the fault of anything does not count."""
    retry_at: datetime | None = None
    """Before this moment the range is not requested again, unless room is short."""


class HistoryInherited(Event, frozen=True):
    """A session that was copied has the compartments of its origin that cover nothing but what was copied."""

    TYPE: ClassVar[str] = "history.inherited"

    origin: str
    """The session that it was copied from."""
    last: int = 0
    """The last message that they cover; 0: there are none."""
    compartments: int = 0


class HistoryReplaced(Event, frozen=True):
    """The compartments of a new generation take the place of those they cover."""

    TYPE: ClassVar[str] = "history.replaced"

    run: str
    generation: int
    first: int
    last: int
    compartments: int = 0


class HistoryAbandoned(Event, frozen=True):
    """A generation that was begun is given up; what was in force stays."""

    TYPE: ClassVar[str] = "history.abandoned"

    run: str
    generation: int
    reason: str


EVENTS: tuple[type[Event], ...] = (
    HistoryOrdered,
    HistoryRequested,
    HistoryAttempted,
    HistoryAdvanced,
    HistoryFailed,
    HistoryInherited,
    HistoryReplaced,
    HistoryAbandoned,
)
