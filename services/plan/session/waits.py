"""Causes that wait for a rebase: a flush, a refusal, and causes that came when nothing might change."""

import msgspec

from schemas.events import PlanExtended, PlanRebased, PromptMasked

replace = msgspec.structs.replace

ERASURE = "erasure"
"""The cause of the rebase that follows an erasure."""
ANSWERED = frozenset({"overflow", "flush"})
"""Causes that are over once they were looked at, and nothing could be done about them."""


class Waits(msgspec.Struct, frozen=True):
    """Causes that wait for a rebase. Positions are 0 where there is no such thing."""

    flush: int = 0
    """Position of a person's request to apply all that waits."""
    overflow: int = 0
    """Position of a refusal because of length."""
    refused: int = 0
    """Position of a refusal of a signature."""
    causes: frozenset[str] = frozenset()
    """Causes of rebases that had to wait for the end of a turn with signed thinking."""
    declined: int = 0
    """Tokens of the prompt at which a rebase under pressure was last found not to pay."""
    masked: tuple[str, ...] = ()
    """The targets of edits with texts that were erased, and that no rebase has restated since."""
    masked_at: int = 0
    """The position of the newest erasure of such a text; 0: there is none."""


def with_masks(waits: Waits, event: PromptMasked, seq: int) -> Waits:
    """Texts of these edits were erased. The edits wait for a rebase, together with those of an earlier erasure."""
    return replace(waits, masked=tuple(dict.fromkeys((*waits.masked, *event.targets))), masked_at=seq)


def rebased(waits: Waits, event: PlanRebased) -> Waits:
    """A rebase has served its causes. What came after its decision still waits."""
    causes = event.causes
    masked_at = _left(waits.masked_at, event, ERASURE in causes)
    return replace(
        waits,
        masked=waits.masked if masked_at else (),
        masked_at=masked_at,
        flush=_left(waits.flush, event, "flush" in causes),
        overflow=_left(waits.overflow, event, "overflow" in causes),
        refused=_left(waits.refused, event, "signature" in causes),
        causes=waits.causes - set(causes),
        declined=0,
    )


def extended(waits: Waits, event: PlanExtended, *, more_waits: bool, is_flushed: bool) -> Waits:
    """An extension says of the rebase that was not made: what waits on, and what there is nothing to do about.

    What had waited for the end of a turn was weighed with the one that was declined, and would not pay later either.

    `more_waits`: drops were asked for since its decision; `is_flushed`: nothing waits that a flush could apply.
    """
    return replace(
        waits,
        flush=_left(waits.flush, event, is_flushed or "flush" in event.delays),
        overflow=_left(waits.overflow, event, "overflow" in event.delays),
        causes=(frozenset() if event.declined else waits.causes) | (set(event.delays) - ANSWERED),
        declined=0 if event.declined and more_waits else (event.declined or waits.declined),
    )


def _left(position: int, event: PlanExtended | PlanRebased, is_served: bool) -> int:  # noqa: FBT001 - a plain condition
    """The position, unless the fact there is served by the decision."""
    return 0 if is_served and position <= event.as_of else position
