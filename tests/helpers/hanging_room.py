"""A room that hangs as soon as it is asked anything."""

import sys
from typing import ClassVar

from schemas.events import Event
from services.kit.room import Kit
from services.kit.run import run

QUESTION = "ask.hang.harbour"


class Hanging:
    """Never answers."""

    NAME: ClassVar[str] = "hanging"
    READS: ClassVar[tuple[type[Event], ...]] = ()
    WRITES: ClassVar[tuple[type[Event], ...]] = ()

    async def open(self, kit: Kit) -> None:
        await kit.bus.serve(QUESTION, kit.room, hang)

    async def idle(self) -> bool:
        return True

    def health(self) -> dict[str, object]:
        return {"ok": True}


async def hang(_subject: str, _data: bytes) -> bytes:
    while True:
        pass


if __name__ == "__main__":
    sys.exit(run(Hanging))
