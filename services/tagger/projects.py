"""Which directories a project was seen in, noted once each."""

from datetime import datetime

import msgspec

from schemas.envelope import Actor, Envelope
from schemas.events import Event, ProjectIdentified
from schemas.subjects import Address
from services.kit.bus import Conflict
from services.kit.cache import Sessions
from services.kit.decide import envelopes
from services.kit.room import Kit


class Known(msgspec.Struct, frozen=True):
    """A project's directories."""

    directories: frozenset[str] = frozenset()


def _evolve(known: Known, event: Event, _: Envelope) -> Known:
    match event:
        case ProjectIdentified(directory=directory):
            return Known(known.directories | {directory})
        case _:
            return known


class Projects:
    """The tagger's book of projects. Another one who was faster is as good."""

    def __init__(self, kit: Kit) -> None:
        self._kit = kit
        self._sessions = Sessions(kit.reader, _evolve, Known(), kit.settings.loop.sessions)

    async def identify(self, project: str, directory: str, harness: str, at: datetime) -> None:
        address = Address(project)
        entry = await self._sessions.get(address)
        if directory in entry.state.directories:
            return
        event = ProjectIdentified(directory=directory, harness=harness)
        made = envelopes([event], address, entry.subjects, at=at, actor=Actor("room", self._kit.room), cause="")
        try:
            seqs = await self._kit.appender.append(made, entry.subjects)
        except Conflict:
            await self._sessions.reload(entry)
        else:
            entry.take(made, seqs, _evolve(entry.state, event, made[0]))
