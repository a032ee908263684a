"""No command answers wrong input with anything but a sentence, the right exit status, and nothing written.

The commands are those of the parser: one that is new is asked here as soon as it is there.
"""

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Sequence
from io import StringIO
from pathlib import Path
from typing import NamedTuple

import pytest
import pytest_asyncio

from schemas.events import MemoryJudged, ProjectIdentified, SessionOpened
from services.desk.worker import Desk
from services.edges.arguments import parser
from services.edges.cli import main
from services.embedder.worker import Embedder
from services.kit import rooms
from services.kit.bus import Appender, Bus, LogReader
from services.responder.worker import Responder
from services.searcher.worker import Searcher
from tests.helpers.broker_world import opened, quick_settings, wrapped
from tests.helpers.indexed_sessions import listed, message
from tests.helpers.search_index import MadeIndex
from tests.helpers.search_rows import message_row
from tests.helpers.waiting import until
from tests.helpers.wrong_input import Leaf, faults, leaves, line, spread

pytestmark = [pytest.mark.broker, pytest.mark.own_broker]

WHOLE = bool(os.environ.get("THOROUGH"))
BEGINS = {"up", "demo", "replay", "bench", "service", "setup", "down", *rooms.ROOMS}
"""Commands that begin, end or connect an installation: here they get what is refused before."""
LEAVES = list(leaves(parser()))
NAMES = {"project", "session", "id", "value", "former", "step", "part", "message"}
"""Arguments that name something: what is not there is refused."""


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


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to stand in, and a person who has nothing else."""
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setenv("ANNALS_DATA", str(tmp_path))
    for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(sys, "stdin", StringIO())
    return work


@pytest_asyncio.fixture
async def house(bus: Bus, tmp_path: Path, place: Path) -> AsyncIterator[None]:
    """All that answers a person, and one project with a session, in which the person stands."""
    settings, responder = quick_settings(tmp_path), Responder()
    appender = Appender(bus)
    here = ProjectIdentified(directory=str(place), harness="pi")
    await appender.append(wrapped([SessionOpened(harness="pi", mode="primary"), here]), {})
    await appender.append(wrapped([*message("m1", "Berths are numbered"), listed("m1")]), {})
    await MadeIndex(tmp_path).write([message_row("Berths are numbered", "m1", ordinal=1, seq=1, at=1.7e9)])
    async with (
        opened(Embedder(), bus, settings),
        opened(Searcher(), bus, settings),
        opened(Desk(), bus, settings),
        opened(responder, bus, settings),
    ):
        await until(responder.idle)
        yield


def asked(leaf: Leaf) -> bool:
    return leaf.words[0] not in BEGINS


@pytest.mark.usefixtures("house")
async def test_every_command_refuses_every_wrong_argument_in_a_sentence(
    bus: Bus, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wrong: list[str] = []
    log = LogReader(bus)
    for turn, leaf in enumerate(filter(asked, LEAVES)):
        for name, argument, value in spread(leaf, tmp_path, turn, whole=WHOLE):
            before = await log.head()
            found = await asyncio.to_thread(ended, line(leaf, tmp_path, (argument, value)), capsys)
            written = [one.event async for one in log.after(before, "log.>") if not isinstance(one.event, MemoryJudged)]
            what = [*faults(*found, (value,))]
            if found.status != 0 and written:
                what.append("wrote something, and says that it did not")
            if found.status == 0 and argument.dest in NAMES and value.strip():
                what.append(f"takes what is not there: {found.out[:80]!r}")
            wrong += [f"annals {' '.join(leaf.words)}: {argument.dest} {name}: {one}" for one in what]
    assert not wrong, "\n".join(wrong)


def test_every_command_that_begins_something_refuses_wrong_arguments_first(
    tmp_path: Path, nowhere: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ANNALS_NATS__URL", nowhere)
    monkeypatch.setenv("ANNALS_NATS__WAIT", "0.05")
    wrong: list[str] = []
    for turn, leaf in enumerate(one for one in LEAVES if not asked(one)):
        for name, argument, value in spread(leaf, tmp_path, turn, whole=WHOLE):
            found = ended(line(leaf, tmp_path, (argument, value)), capsys)
            what = faults(*found, (value,))
            wrong += [f"annals {' '.join(leaf.words)}: {argument.dest} {name}: {one}" for one in what]
    assert not wrong, "\n".join(wrong)


def test_every_command_knows_its_options_and_words(capsys: pytest.CaptureFixture[str]) -> None:
    wrong = []
    for leaf in LEAVES:
        for words in (("--no-such-option",), ("a", "b", "c", "--no-such-option=1"), ("--\x00",)):
            found = ended([*leaf.words, *words], capsys)
            what = faults(*found)
            what += [] if found.status == 2 else [f"ends with {found.status!r}, not with 2"]
            wrong += [f"annals {' '.join(leaf.words)} {words}: {one}" for one in what]
    assert not wrong, "\n".join(wrong)
