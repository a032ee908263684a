"""Facts that came since the newest rebase of a session, and are in its prompt only after another one."""

from contextlib import aclosing

from schemas.codec import Malformed, decode_event
from schemas.events import (
    CompartmentSealed,
    DocumentCaptured,
    DropRequested,
    Event,
    HistoryInherited,
    HistoryReplaced,
    PlanRebased,
    PromptMasked,
    SessionForked,
    StepOpened,
    compartment,
)
from schemas.subjects import Address
from services.domain.aliases import GLOBAL
from services.kit.bus import LogReader

OF_A_SESSION: tuple[type[Event], ...] = (
    DocumentCaptured,
    DropRequested,
    PromptMasked,
    HistoryInherited,
    HistoryReplaced,
    *compartment.EVENTS,
)
"""The facts about a session that a rebase serves. Of a project, and of people, any may change how prompts begin."""


async def has_news(reader: LogReader, address: Address, project: str) -> bool:
    """Whether such facts came since the newest rebase, or since the first call of a session that had none.

    What that rebase left for a later one counts, and so does all that a copy has from its origin until its first.
    `project`: the name that the project goes by.
    """
    since = await _rebased(reader, address)
    if since is None:
        return True
    of_session = (address.log(one.TYPE) for one in OF_A_SESSION)
    of_projects = {one.log_filter for one in (Address(address.project), Address(project), GLOBAL)}
    return bool(await reader.next_after(since, (*of_session, *of_projects)))


async def has_history(reader: LogReader, address: Address) -> bool:
    """Whether a session has compressed history, or gets that of the one that it is a copy of."""
    of_it = (CompartmentSealed, HistoryInherited, SessionForked)
    return bool(await reader.next_after(0, (address.log(one.TYPE) for one in of_it)))


async def _rebased(reader: LogReader, address: Address) -> int | None:
    """The position that the newest rebase was decided at, or of the first call; none: something waits anyway."""
    envelope = await reader.last(address.log(PlanRebased.TYPE))
    if envelope is not None:
        try:
            rebase = decode_event(envelope)
        except Malformed:
            return None
        return rebase.as_of if isinstance(rebase, PlanRebased) and not rebase.delays else None
    if await reader.next_after(0, (address.log(SessionForked.TYPE),)):
        return None
    async with aclosing(reader.after(0, address.log(StepOpened.TYPE))) as found:
        async for record in found:
            return record.envelope.seq
    return 0
