"""A cache of projects' own settings, for rooms that ask at every turn: read again when it is a moment old."""

import time
from collections.abc import Mapping

from schemas.codec import decode_event
from schemas.events import SettingsApplied
from schemas.subjects import Address
from services.domain.newest import NewestMap
from services.domain.project_settings import settings_of
from services.kit.alias_reader import AliasReader
from services.kit.bus import BrokerError, Unreachable
from services.kit.room import Kit

OLD = 1.0
"""Seconds from which on what is known is read again: one fact, by its subject."""
MOST_PROJECTS = 1_000


class SettingsReader:
    """The settings of projects as the log has them, at most a moment ago; under whichever name a project goes by."""

    def __init__(self, kit: Kit) -> None:
        self._kit = kit
        self._aliases = AliasReader(kit)
        self._known = NewestMap[str, tuple[float, Mapping[str, object]]](MOST_PROJECTS)
        """Project -> when it was read, and what was found."""

    async def of(self, project: str) -> Mapping[str, object]:
        """The newest settings of the project that a name leads to. Where the log does not answer, those known last."""
        name = (await self._aliases.now()).project(project)
        read_at, settings = self._known.get(name, (0.0, {}))
        if not read_at or time.monotonic() - read_at > OLD:
            try:
                settings = await self._read(name)
            except (BrokerError, Unreachable) as error:
                self._kit.log.warning("what a project has set was not read", reason=str(error))
            self._known[name] = time.monotonic(), settings
        return settings

    def forget(self, project: str) -> None:
        """Read the project's settings anew the next time: they have just been changed."""
        self._known.pop(project, None)

    async def _read(self, project: str) -> Mapping[str, object]:
        envelope = await self._kit.reader.last(Address(project).log(SettingsApplied.TYPE))
        event = decode_event(envelope) if envelope is not None else None
        return settings_of(event) if isinstance(event, SettingsApplied) else {}
