"""Proposals to the desk, of what a session showed of its project and of the person in it: memories and traits."""

from collections.abc import Mapping

from schemas.commands import Command, MemoryPropose, ProfileObserve
from schemas.envelope import Actor, Envelope
from schemas.events import FactExtracted, ObservationRecorded
from schemas.subjects import Address
from services.domain.project_settings import with_own
from services.historian.core.summary import TRAIT
from services.kit.bus import Unreachable
from services.kit.commands import send
from services.kit.room import Kit


async def propose(
    kit: Kit, envelope: Envelope, event: FactExtracted | ObservationRecorded, own: Mapping[str, object]
) -> None:
    """Propose what was found, if its project has a memory; `own`: what that has set for itself.

    The same envelope again is the same proposal. Raises `Unreachable` where the desk could not decide on it.
    """
    command = _command(envelope, event)
    if command is None or not with_own(kit.settings.memory, own).enabled:
        return
    answer = await send(kit.bus, Address(envelope.project), command, name=envelope.id, actor=Actor("room", kit.room))
    if answer.again:
        raise Unreachable(f"the desk did not decide on a proposal: {answer.text}")
    if not answer.ok:
        kit.log.warning("what was found was not proposed", session=envelope.session, reason=answer.text)


def _command(envelope: Envelope, event: FactExtracted | ObservationRecorded) -> Command | None:
    """The proposal; none of an observation that is not about a person, or not in words of their own."""
    if isinstance(event, FactExtracted):
        return MemoryPropose(event.category, event.text, envelope.session, tuple(event.evidence), event.run)
    if event.kind != TRAIT or not event.words:
        return None
    return ProfileObserve(event.words, envelope.session, envelope.seq, event.first, event.last)
