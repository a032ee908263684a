"""The mode of a session: set by its first step for good, since what a model sees depends on it."""

from schemas.inbox import StepSeen
from services.domain.senders import SUBAGENT, is_of_subagent
from services.tagger.core.state import TaggedSession

MANAGED = frozenset({"primary", "reduce_off"})
"""The modes of sessions that a person leads."""


def mode_of(session: TaggedSession, item: StepSeen) -> str:
    """The mode of this step. A later list of tools changes none; that an agent leads a session is learned once."""
    mode = session.mode or item.mode
    if mode in MANAGED and is_of_subagent(session.parent, item.mode):
        return SUBAGENT
    return mode


def is_helpers(session: TaggedSession, item: StepSeen) -> bool:
    """Whether it is a helper's call in a session that works: none of that session's own steps."""
    return item.mode == "hidden" and session.mode != ""
