"""The origin of a session: the one whose agent started it, and those of which it is a copy; and what it has started."""

from collections import defaultdict

import msgspec

from schemas.codec import decode_event
from schemas.events import Event, SessionForked, SessionOpened, StepOpened
from schemas.subjects import Address, of_sessions
from services.kit.bus import LogReader

DEEPEST = 10
"""Sub-agents of sub-agents, and copies of copies, are followed so far."""


class Kin(msgspec.Struct, frozen=True):
    """The origin of a session."""

    is_subagent: bool
    root: str
    """The session of the agent that no other one has started; the session itself where it is that."""


async def kin_of(reader: LogReader, address: Address) -> Kin:
    """The origin of a session, as the log has it now."""
    step = await _last(reader, address, StepOpened)
    root, is_subagent = address.session, isinstance(step, StepOpened) and step.mode == "subagent"
    for _ in range(DEEPEST):
        opened = await _last(reader, Address(address.project, root), SessionOpened)
        if not isinstance(opened, SessionOpened) or not opened.parent:
            break
        root, is_subagent = opened.parent, True
    return Kin(is_subagent, root)


async def started_by(reader: LogReader, address: Address) -> tuple[str, ...]:
    """The sessions that the agents of a session have started, and those that theirs have, as the log has it now."""
    children: dict[str, list[str]] = defaultdict(list)
    async for record in reader.after(0, of_sessions(address.project, SessionOpened.TYPE)):
        if isinstance(record.event, SessionOpened) and record.event.parent:
            children[record.event.parent].append(record.envelope.session)
    found, next_ones = dict[str, None](), [address.session]
    while next_ones:
        new = [one for parent in next_ones for one in children[parent] if one not in found and one != address.session]
        found.update(dict.fromkeys(new))
        next_ones = new
    return tuple(found)


async def copied_from(reader: LogReader, address: Address) -> tuple[str, ...]:
    """The sessions of which a session is a copy, the nearest first."""
    found: list[str] = []
    session = address.session
    while len(found) < DEEPEST:
        forked = await _last(reader, Address(address.project, session), SessionForked)
        if not isinstance(forked, SessionForked) or forked.origin in {*found, address.session}:
            break
        session = forked.origin
        found.append(session)
    return tuple(found)


async def _last(reader: LogReader, address: Address, event: type[Event]) -> Event | None:
    envelope = await reader.last(address.log(event.TYPE))
    return decode_event(envelope) if envelope else None
