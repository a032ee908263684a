"""`annals ask`: what helps with a person's request, with the rooms that answer, as their user of a real broker."""

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from services.edges.launcher.broker import Broker
from services.kit.bus import Bus
from tests.helpers.command_line import answering_rooms
from tests.helpers.person_commands import Ran, person_settings

pytestmark = pytest.mark.broker


@pytest.fixture
def run(broker: Broker, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Ran:
    """The command, run in a folder by a person who may connect as themselves."""
    return Ran(person_settings(broker, tmp_path), tmp_path, capsys)


@pytest_asyncio.fixture
async def rooms(bus: Bus, tmp_path: Path) -> AsyncIterator[None]:
    async with answering_rooms(bus, tmp_path, tmp_path):
        yield


@pytest.mark.usefixtures("rooms")
async def test_what_helps_is_printed_with_its_place_and_how_it_was_chosen(run: Ran) -> None:
    ended = await run("which", "berths", "are", "numbered?", command="ask")
    assert (0, "") == (ended.status, ended.error)
    first, place, words, *_ = ended.out.splitlines()
    assert "The best of the hits as they are (1 of 1): no model is set (ANNALS_MODEL__CHAIN)." == first
    assert "open: annals show s1 1-4" in place
    assert "    Berths are numbered" == words
    printed = json.loads((await run("berths numbered", "--json", command="ask")).out)
    assert ["m1"] == [hit["id"] for hit in printed["hits"]]
    assert ["berths numbered"] == printed["searches"]


@pytest.mark.usefixtures("rooms")
@pytest.mark.parametrize(
    ("words", "refusal"),
    [
        (("  ",), "write your request"),
        (("\0",), "write your request"),
        (("broken\udcff",), "no Unicode text"),
        (("b" * 1_100_000,), "the broker takes 1,048,576: give less of it"),
        (("berths", "--project", "harbor"), "did you mean harbour?"),
    ],
    ids=["blank", "NUL", "no Unicode", "1 MB", "unknown project"],
)
async def test_wrong_arguments_are_refused_in_a_sentence(run: Ran, words: tuple[str, ...], refusal: str) -> None:
    ended = await run(*words, command="ask")
    assert 1 == ended.status
    assert refusal in ended.error
    assert len(ended.error) < 500
