"""Whether and when the dreamer works on a project: the part of its settings that a project may set for itself. Pure."""

from collections.abc import Mapping
from typing import Annotated

import msgspec
from msgspec import Meta

from services.domain import cron


class DreamTimes(msgspec.Struct, frozen=True):
    """Whether the dreamer works, and when its tasks are due."""

    enabled: Annotated[bool, Meta(extra={"project": "off"})] = True
    """Whether it works at all."""
    slots: Annotated[Mapping[str, str], Meta(extra={"own": "any"})] = {}
    """Per task, when it is due: minute, hour, day of the month, month and day of the week as for cron, such as
    `{"verify": "0 3 * * *"}`; an empty line: never by itself. Tasks that are not named have slots of their own; where a
    project sets some, its other tasks have those of the installation. A slot that the machine slept through is made up
    for once."""
    zone: Annotated[str, Meta(extra={"own": "any"})] = ""
    """The time zone of the slots, such as `Europe/Berlin`; empty: that of this machine."""

    def __post_init__(self) -> None:
        for line in filter(str.strip, self.slots.values()):
            cron.check(line)
