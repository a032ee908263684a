"""Facts about what was served."""

from typing import ClassVar

import msgspec

from schemas.events.base import Event, LogOnly


class PlanExtended(Event, frozen=True):
    """Edits for messages that no earlier call has sent. Covered messages stay as they were served."""

    TYPE: ClassVar[str] = "plan.extended"

    revision: int
    step: str
    as_of: int
    """The log position that the decision was made at."""
    edits: LogOnly = "[]"
    """The edits as JSON (see `schemas.plan`)."""
    edit_count: int = 0
    forgone: list[str] = []
    """Parts whose edits of an unserved revision are withdrawn: they were sent without them."""
    tokens_before: int = 0
    """Estimated tokens of the messages as the harness holds them."""
    tokens_after: int = 0
    """The same as they are served."""
    delays: list[str] = msgspec.field(default_factory=list, name="held")
    """Causes of a rebase that was not made, and waits: signed thinking follows what it would change.

    `overflow` and `flush` do not wait on: nothing could be done about them.
    """
    inherited: list[int] = []
    """Tags that were dropped in the session that this one is a copy of, and are so here from the first call on."""
    declined: int = 0
    """Tokens of the prompt at which a rebase under pressure was looked at and did not pay; 0: none was."""
    origin: str = ""
    """The session whose plan it takes over, for the messages that both have; empty: it is the session's own."""
    queued: list[int] = []
    """Tags whose drop was asked for in that session and waits here, too."""
    remainder: int = msgspec.field(default=0, name="kept")
    """Estimated tokens that a rebase would keep at this call; 0: as many as was recorded last."""
    predecessor: str = ""
    """The session before this one, whose open errors are in the head; empty: none are. Only the first plan
    of a session, or of a copy of a session, records it."""
    left_open: list[str] = []
    """The open ends of the session before this one, in the lines that the head shows."""
    left_open_in: list[str] = []
    """For each line of `left_open` the message that showed the error; empty: the line is about a file."""
    left_open_at: list[int] = []
    """For each line of `left_open` the position of the log with that output; 0: the line is about a file."""
    memories: list[str] = []
    """The memories that the head of the project shows from here on; recorded where this plan sets that head."""


class PlanRebased(Event, frozen=True):
    """The only change of messages that were sent before: why, and what it saved."""

    TYPE: ClassVar[str] = "plan.rebased"

    revision: int
    step: str
    as_of: int
    causes: list[str]
    edits: LogOnly = "[]"
    edit_count: int = 0
    dropped: list[int] = []
    """Tags whose drop is served from here on."""
    delays: list[str] = msgspec.field(default_factory=list, name="held")
    """The edits that wait on, in words, each with the reason."""
    tokens_before: int = 0
    """Estimated tokens of the messages as they would be served without this rebase."""
    tokens_after: int = 0
    """The same as they are served with it."""
    sample: str = ""
    """The usage sample that triggered it: it triggers no second one."""
    used: int = 0
    """Tokens of the prompt in that sample."""
    window: int = 0
    """Tokens of the model's window, without those that are reserved for its answer."""
    window_source: str = ""
    """The source of `window`: the harness, a refusal, a longer prompt that was answered, the settings, or nobody
    (default)."""
    threshold: float = 0.0
    """Percent of the window at which pressure begins."""
    reclaimed: int = 0
    """Estimated tokens that it saves at every coming call."""
    rewritten: int = 0
    """Estimated tokens that the provider's cache has to be written anew for."""
    steps: int = 0
    """Model calls that were expected to come."""
    break_even: float = 0.0
    """Calls after which it has paid for itself; 0: the cache was lost anyway."""
    price: float = 0.0
    """The cost in plain tokens: of what is written anew, at what that costs more than reading it."""
    expected: float = 0.0
    """Plain tokens that it was expected to save in the calls to come, less its price."""
    followed: int = 0
    """The calls that came behind the rebase before this one."""
    came: float = 0.0
    """The plain tokens that the rebase before this one has saved in those calls, less its price."""
    tokens_held: int = 0
    """Estimated tokens of the messages as the harness holds them; 0: this was not recorded yet."""
    remainder: int = msgspec.field(default=0, name="kept")
    """Estimated tokens that it was expected to keep; 0: this was not recorded yet."""
    predecessor: str = ""
    """The session before this one, whose open errors are in the head; empty: none are. Only the first plan
    of a session, or of a copy of a session, records it."""
    left_open: list[str] = []
    """The open ends of the session before this one, in the lines that the head shows."""
    left_open_in: list[str] = []
    """For each line of `left_open` the message that showed the error; empty: the line is about a file."""
    left_open_at: list[int] = []
    """For each line of `left_open` the position of the log with that output; 0: the line is about a file."""
    memories: list[str] = []
    """The memories that the head of the project shows from here on; recorded where this plan sets that head."""


EVENTS: tuple[type[Event], ...] = (PlanExtended, PlanRebased)
