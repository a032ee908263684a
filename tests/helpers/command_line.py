"""The command line as a person has it: what a command ends with, and the rooms that answer it."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import NamedTuple

import pytest

from schemas.events import ProjectIdentified, SessionOpened
from services.desk.worker import Desk
from services.edges.cli import main
from services.embedder.worker import Embedder
from services.kit.bus import Appender, Bus
from services.responder.worker import Responder
from services.searcher.worker import Searcher
from tests.helpers.broker_world import opened, quick_settings, wrapped
from tests.helpers.indexed_sessions import listed, message
from tests.helpers.search_index import MadeIndex
from tests.helpers.search_rows import message_row
from tests.helpers.waiting import until


class Ended(NamedTuple):
    status: object
    out: str
    error: str


def ended(words: Sequence[str], capsys: pytest.CaptureFixture[str]) -> Ended:
    """A command, run in this process."""
    capsys.readouterr()
    status: object
    try:
        status = main(words)
    except SystemExit as left:
        status = left.code
    except BaseException as error:  # noqa: BLE001 - a person would see a traceback
        return Ended(f"{type(error).__name__}: {error!s:.300}", *capsys.readouterr())
    return Ended(status, *capsys.readouterr())


@asynccontextmanager
async def answering_rooms(bus: Bus, data: Path, place: Path) -> AsyncIterator[None]:
    """All rooms that answer a person, and the project `harbour` with the session `s1`, which was seen at a folder."""
    settings, responder = quick_settings(data), Responder()
    appender = Appender(bus)
    here = ProjectIdentified(directory=str(place), harness="pi")
    await appender.append(wrapped([SessionOpened(harness="pi", mode="primary"), here]), {})
    await appender.append(wrapped([*message("m1", "Berths are numbered"), listed(1, "m1")]), {})
    await MadeIndex(data).write([message_row("Berths are numbered", "m1", ordinal=1, seq=1, at=1.7e9)])
    async with (
        opened(Embedder(), bus, settings),
        opened(Searcher(), bus, settings),
        opened(Desk(), bus, settings),
        opened(responder, bus, settings),
    ):
        await until(responder.idle)
        yield
