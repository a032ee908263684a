"""Facts about what was served."""

from typing import ClassVar

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
    tokens_after: int = 0


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
    held: list[str] = []
    """What waits on, with the reason."""
    tokens_before: int = 0
    """Estimated tokens of the prompt without this rebase."""
    tokens_after: int = 0
    sample: str = ""
    """The usage sample that triggered it: it triggers no second one."""
