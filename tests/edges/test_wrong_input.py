"""No command answers wrong input with anything but a sentence, the right exit status, and nothing written.

The commands are those of the parser: one that is new is asked here as soon as it is there.
"""

import asyncio
import sys
from collections.abc import AsyncIterator
from io import StringIO
from pathlib import Path

import pytest
import pytest_asyncio

from schemas.events import AliasAdded, MemoryJudged
from services.edges.arguments import parser
from services.kit import rooms
from services.kit.bus import Bus, LogReader
from tests.helpers.command_line import answering_rooms, ended
from tests.helpers.examples import SOME_AND_ALL
from tests.helpers.wrong_input import Leaf, faults, is_taken_in_vain, leaves, line, spread, status_faults

pytestmark = [pytest.mark.broker, pytest.mark.own_broker]

BEGINS = {"up", "demo", "replay", "bench", "service", "setup", "down", *rooms.ROOMS}
"""Commands that begin, end or connect an installation: here they get what is refused before."""
LEAVES = list(leaves(parser()))


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
    async with answering_rooms(bus, tmp_path, place):
        yield


def asked(leaf: Leaf) -> bool:
    return leaf.words[0] not in BEGINS


@pytest.mark.usefixtures("house")
@pytest.mark.parametrize("whole", SOME_AND_ALL)
async def test_every_command_refuses_every_wrong_argument_in_a_sentence(
    bus: Bus, tmp_path: Path, capsys: pytest.CaptureFixture[str], *, whole: bool
) -> None:
    wrong: list[str] = []
    named: set[str] = set()
    log = LogReader(bus)
    for turn, leaf in enumerate(filter(asked, LEAVES)):
        for name, argument, value in spread(leaf, tmp_path, turn, whole=whole):
            before, words = await log.head(), line(leaf, tmp_path, (argument, value))
            found = await asyncio.to_thread(ended, words, capsys)
            written = [one.event async for one in log.after(before, "log.>") if not isinstance(one.event, MemoryJudged)]
            named |= {one.alias for one in written if isinstance(one, AliasAdded)}
            what = [*faults(*found, (value,)), *status_faults(leaf, words, found)]
            if found.status != 0 and written:
                what.append("wrote something, and says that it did not")
            if found.status == 0 and is_taken_in_vain(argument, value, named):
                what.append(f"takes what is not there: {found.out[:80]!r}")
            wrong += [f"annals {' '.join(leaf.words)}: {argument.dest} {name}: {one}" for one in what]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("whole", SOME_AND_ALL)
def test_every_command_that_begins_something_refuses_wrong_arguments_first(
    tmp_path: Path, nowhere: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *, whole: bool
) -> None:
    monkeypatch.setenv("ANNALS_NATS__URL", nowhere)
    monkeypatch.setenv("ANNALS_NATS__WAIT", "0.05")
    wrong: list[str] = []
    for turn, leaf in enumerate(one for one in LEAVES if not asked(one)):
        for name, argument, value in spread(leaf, tmp_path, turn, whole=whole):
            words = line(leaf, tmp_path, (argument, value))
            found = ended(words, capsys)
            what = [*faults(*found, (value,)), *status_faults(leaf, words, found)]
            if found.status == 0 and is_taken_in_vain(argument, value, ()):
                what.append(f"takes what is not there: {found.out[:80]!r}")
            wrong += [f"annals {' '.join(leaf.words)}: {argument.dest} {name}: {one}" for one in what]
    assert not wrong, "\n".join(wrong)


def test_every_command_knows_its_options_and_words(capsys: pytest.CaptureFixture[str]) -> None:
    wrong = []
    for leaf in LEAVES:
        for words in (("--no-such-option",), ("a", "b", "c", "--no-such-option=1"), ("--\x00",)):
            found = ended([*leaf.words, *words], capsys)
            what = [*faults(*found), *status_faults(leaf, [*leaf.words, *words], found)]
            what += [] if found.status == 2 else [f"ends with {found.status!r}, not with 2"]
            wrong += [f"annals {' '.join(leaf.words)} {words}: {one}" for one in what]
    assert not wrong, "\n".join(wrong)
