"""A project that there is not is refused by every command that takes one, with the nearest that there are.

The commands are those of the parser: one that is new is asked here as soon as it is there.
"""

import asyncio
import sys
from collections.abc import AsyncIterator, Sequence
from io import StringIO
from pathlib import Path

import pytest
import pytest_asyncio

from schemas.commands import NoteWrite
from schemas.subjects import Address
from services.desk.worker import Desk
from services.edges.arguments import parser
from services.kit.bus import Bus
from services.responder.worker import Responder
from services.searcher.worker import Searcher
from tests.desk.test_books import send
from tests.helpers.broker_world import facts, opened, quick_settings
from tests.helpers.command_line import Ended, ended
from tests.helpers.waiting import until
from tests.helpers.wrong_input import Leaf, leaves, line

pytestmark = [pytest.mark.broker, pytest.mark.own_broker]

OPTION = "--project"
LEAVES = [one for one in leaves(parser()) if any(OPTION in of.option_strings for of in one.arguments)]
"""The commands that take a project."""


@pytest_asyncio.fixture
async def house(bus: Bus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Bus]:
    """All that answers a person, and no project. The person stands in a folder of nothing."""
    (work := tmp_path / "work").mkdir()
    monkeypatch.chdir(work)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("ANNALS_DATA", str(tmp_path))
    for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(sys, "stdin", StringIO())
    settings, responder = quick_settings(tmp_path), Responder()
    async with opened(Desk(), bus, settings), opened(responder, bus, settings), opened(Searcher(), bus, settings):
        await until(responder.idle)
        yield bus


async def of_each(folder: Path, project: str, capsys: pytest.CaptureFixture[str]) -> Sequence[tuple[Leaf, Ended]]:
    """Each command about a project of this name."""
    found = []
    for leaf in LEAVES:
        (argument,) = (one for one in leaf.arguments if OPTION in one.option_strings)
        words = line(leaf, folder, (argument, project))
        found.append((leaf, await asyncio.to_thread(ended, words, capsys)))
    return found


async def test_every_command_refuses_a_project_that_there_is_not_with_the_nearest(
    house: Bus, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert LEAVES
    sentence = "there is no project nothing: nothing was ever recorded under that name"
    wrong = _unlike(sentence, await of_each(tmp_path, "nothing", capsys))
    assert (await send(house, NoteWrite(text="Ask Ada."), "n1", address=Address("harbour"))).ok
    wrong += _unlike("there is no project harbuor: did you mean harbour?", await of_each(tmp_path, "harbuor", capsys))
    assert not wrong, "\n".join(wrong)
    assert [] == [*await facts(house, Address("nothing")), *await facts(house, Address("harbuor"))]


def _unlike(sentence: str, found: Sequence[tuple[Leaf, Ended]]) -> list[str]:
    return [
        f"annals {' '.join(leaf.words)}: ends with {end.status!r}: {(end.error or end.out)[:200]!r}"
        for leaf, end in found
        if end.status != 1 or sentence not in end.error
    ]
