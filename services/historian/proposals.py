"""What a session showed of its project is proposed to the desk for the project's memory."""

from collections.abc import Mapping

from schemas.commands import MemoryPropose
from schemas.envelope import Actor, Envelope
from schemas.events import FactExtracted
from schemas.subjects import Address
from services.domain.project_settings import with_own
from services.kit.commands import send
from services.kit.room import Kit


async def propose(kit: Kit, envelope: Envelope, event: FactExtracted, own: Mapping[str, object]) -> None:
    """Propose a fact, if a memory is kept of its project; `own`: what that has set for itself.

    The same envelope again is the same proposal.
    """
    if not with_own(kit.settings.memory, own).enabled:
        return
    command = MemoryPropose(event.category, event.text, envelope.session, tuple(event.evidence), event.run)
    answer = await send(kit.bus, Address(envelope.project), command, name=envelope.id, actor=Actor("room", kit.room))
    if not answer.ok:
        kit.log.warning("a fact was not proposed", session=envelope.session, reason=answer.text)
