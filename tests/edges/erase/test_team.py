"""What is erased from a team's store, under the broker that deploy/README.md has an operator start for it."""

import asyncio
import json
import re
import signal
import subprocess
from collections.abc import Awaitable, Callable, Iterator, Mapping
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from schemas.codec import encode
from schemas.commands import MemoryWrite
from schemas.events import SessionRenamed
from schemas.inbox import PartSeen
from schemas.search_asks import Hits, SearchAsk
from schemas.streams import INBOUND_BODIES, LOG
from schemas.subjects import ask
from services.domain.erasure.secret import MASK
from services.edges.erase import files
from services.edges.erase.command import ROOM
from services.edges.launcher.broker import Broker
from services.kit.bus import Appender, Bodies, Bus, Unreachable, rewriting
from tests.helpers import erasing
from tests.helpers.broker_world import HARBOUR, connected, stored, wrapped
from tests.helpers.erasing import erase
from tests.helpers.installation import settle
from tests.helpers.memory_sessions import begun, done
from tests.helpers.team_broker import PASSWORDS, ErasureBroker, ListeningBroker, TeamBroker, passwords
from tests.helpers.team_rooms import Volumes, team_rooms
from tests.helpers.waiting import PATIENCE, until

pytestmark = [pytest.mark.broker, pytest.mark.own_broker]

SECRET = "kestrel7"  # noqa: S105 - of this test
NEARLY_A_MESSAGE = 1_000_000
"""Bytes of a fact that the broker of a team takes, with its headers."""


SMALL = 64 * 1024
"""Bytes that another broker takes."""
MARK = "kestrel-seventy-seven"
SESSION = "leaky"
ANSWERING = ("tagger", "desk", "responder", "indexer", "searcher")
"""Rooms that have to do with what is recorded, planned, remembered and found."""
COPYING = 5
"""The stage of an erasure that copies the log."""
LONG = SECRET * (NEARLY_A_MESSAGE // len(SECRET))


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """The folder of the broker's store, as the volume of its container."""
    home = tmp_path / "broker"
    home.mkdir()
    return home


@pytest.fixture
def team(home: Path) -> Iterator[TeamBroker]:
    broker = TeamBroker(home, **passwords())
    yield broker
    broker.stop()


async def test_the_broker_of_an_erasure_stores_as_much_as_the_team_s_as_safely_and_takes_longer_facts(
    team: TeamBroker, home: Path
) -> None:
    of_team = await team.configured()
    team.stop()
    other = ErasureBroker(home)
    try:
        own = await other.configured()
    finally:
        other.stop()

    assert own["max_payload"] >= ROOM * of_team["max_payload"]
    assert of_team["jetstream"]["config"]["sync_always"]
    assert of_team["jetstream"]["config"]["max_storage"] <= own["jetstream"]["config"]["max_storage"]
    for name in ("store_dir", "sync_always"):
        assert of_team["jetstream"]["config"][name] == own["jetstream"]["config"].get(name), name


async def record(broker: ListeningBroker, *titles: str) -> None:
    """Facts of these titles, by a room."""
    room = await broker.connect("room")
    await room.ensure()
    await Appender(room).append(wrapped([SessionRenamed(title=title) for title in titles]), {})
    await room.close()


async def titles_of(broker: ListeningBroker) -> list[str]:
    """The titles in the log's facts."""
    room = await broker.connect("room")
    found = [json.loads(one.data)["data"].get("title", "") for one in await stored(room, LOG.name)]
    await room.close()
    return found


async def erased(broker: ListeningBroker, data: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    """What `annals erase secret` does on this broker, as a container of a room runs it."""
    address = {"ANNALS_NATS__URL": await broker.url(), "ANNALS_NATS__USER": "room"}
    return await asyncio.to_thread(erase, data, "secret", *arguments, word=SECRET, **address)


async def test_a_fact_that_is_full_of_a_secret_and_as_long_as_the_broker_takes_is_masked(
    team: TeamBroker, home: Path, tmp_path: Path
) -> None:
    await record(team, "before", LONG)
    team.stop()

    other = ErasureBroker(home)
    try:
        done = await erased(other, tmp_path / "data", "--yes")
    finally:
        other.stop()
    assert 0 == done.returncode, done.stdout + done.stderr

    again = TeamBroker(home, **passwords())
    try:
        assert ["before", LONG.replace(SECRET, MASK)] == (await titles_of(again))[:2]
    finally:
        again.stop()


async def test_a_fact_that_the_broker_would_not_take_with_its_masks_is_refused_before_anything_is_changed(
    home: Path, tmp_path: Path
) -> None:
    small = Broker(home, port=0, max_payload=SMALL, is_alone=True)
    await small.start()
    try:
        bus = await connected(small)
        await bus.ensure()
        await Appender(bus).append(wrapped([SessionRenamed(title=LONG[: SMALL * 2 // 3])]), {})
        before = await stored(bus, LOG.name)
        endpoint = small.endpoint
        address = {"ANNALS_NATS__URL": endpoint.url, "ANNALS_NATS__PASSWORD": endpoint.password}
        for arguments, status in (((), 0), (("--yes",), 1)):
            data = tmp_path / "data"
            refused = await asyncio.to_thread(erase, data, "secret", *arguments, word=SECRET, **address)
            assert (status, True) == (refused.returncode, "a larger `max_payload`" in refused.stderr), refused
        assert before == await stored(bus, LOG.name)
        assert not await rewriting.is_half_done(bus)
        await bus.close()
    finally:
        small.stop()


@pytest.mark.soak
@pytest.mark.timeout(1_800)
@pytest.mark.parametrize(
    ("what", "volumes_left"),
    [("session", frozenset[str]()), ("memory", frozenset({"views"}))],
    ids=["session", "memory, and the volume of views is not removed"],
)
async def test_what_a_team_has_erased_is_in_no_volume_after_the_steps_of_the_manual(
    team: TeamBroker, home: Path, tmp_path: Path, what: str, volumes_left: frozenset[str]
) -> None:
    volumes = Volumes(tmp_path / "volumes")
    async with team_rooms(team, volumes, ANSWERING, ANNALS_EMBED__PROVIDER="off"):
        words = (what, await WORK[what](team))
        refused = await erased_of(team, tmp_path / "elsewhere", *words, "--yes", password=PASSWORDS["room"])
        assert (1, 1) == (refused.returncode, len(refused.stderr.splitlines())), refused.stderr
        assert "deploy/README.md" in refused.stderr
        room = await team.connect("room")
        await settle(room)
        log = await stored(room, LOG.name)
        await room.close()
    team.stop()
    assert {"broker", "index"} <= await volumes_with(MARK, tmp_path)

    other = ErasureBroker(home)
    try:
        dry_run = await erased_of(other, tmp_path / "elsewhere", *words)
        assert (0, True) == (dry_run.returncode, PRINTED[what] in dry_run.stdout), dry_run
        address = {"ANNALS_NATS__URL": await other.url(), "ANNALS_NATS__USER": "room"}
        killed = erasing.begun(tmp_path / "one", words, COPYING, 3, **address)
        await asyncio.to_thread(killed.communicate)
        assert -signal.SIGKILL == killed.returncode
        second = await erased_of(other, tmp_path / "elsewhere", *words, "--yes")
        assert (1, True) == (second.returncode, "wait until it has ended" in second.stderr), second
        done = await erased_of(other, tmp_path / "one", *words, "--yes")
        assert (0, True) == (done.returncode, "Nothing of it is left here." in done.stdout), done
        assert "removed by the responder when it starts" in done.stdout
    finally:
        other.stop()
    volumes.remove(but=volumes_left)
    assert volumes_left == await volumes_with(MARK, tmp_path)

    again = TeamBroker(home, **passwords())
    try:
        async with team_rooms(again, volumes, ANSWERING, ANNALS_EMBED__PROVIDER="off"):
            await assert_gone(again, [one.subject for one in log])
    finally:
        again.stop()
    assert set() == await volumes_with(MARK, tmp_path)


async def session_of(team: TeamBroker) -> str:
    """A developer's session and what a person has remembered, found by a search; the session."""
    harness, person = await team.connect("harness"), await team.connect("person")
    reference = await Bodies(harness, INBOUND_BODIES).put(f"{'crane ' * 6_000}{MARK}")
    session = await begun(harness, "opencode", SESSION)
    await session.says(f"the word is {MARK}, for the quay")
    ran = PartSeen("", "tool", tool="bash", call="c", input="{}", output=f"it is {MARK}\n", status="completed")
    await session.says_parts("assistant", (ran,))
    await session.says_parts("assistant", (replace(ran, output="", output_ref=reference),))
    await session.step(())
    await done(person, CRANE)
    await until(lambda: is_found(harness, MARK))
    await until(lambda: is_found(harness, "red crane"))
    for bus in (harness, person):
        await bus.close()
    return SESSION


async def memory_of(team: TeamBroker) -> str:
    """A memory that a session has quoted and has in its prompt, next to another one, found by a search; its id."""
    harness, person = await team.connect("harness"), await team.connect("person")
    text = f"The gate of {MARK} is closed on Mondays."
    answer = await done(person, MemoryWrite(text=text, category="CONSTRAINTS"))
    await done(person, CRANE)
    session = await begun(harness, "opencode", SESSION)
    await session.says_parts("user", (PartSeen("", "text", text=f"I read: {text}"),))
    await session.step(())
    await until(lambda: is_found(harness, MARK))
    await until(lambda: is_found(harness, "red crane"))
    for bus in (harness, person):
        await bus.close()
    return re.findall(r"\bm[0-9a-f]{10}\b", answer.text)[0]


CRANE = MemoryWrite(text="The quay has a red crane.", category="CONSTRAINTS")
WORK: Mapping[str, Callable[[TeamBroker], Awaitable[str]]] = {"session": session_of, "memory": memory_of}
"""What a team has recorded of it, by the kind of an erasure."""
PRINTED = {"session": f"{SESSION} of harbour", "memory": "of memory"}
"""What a dry run prints."""


async def is_found(bus: Bus, words: str) -> bool:
    """Whether a search finds a text with these words."""
    question = SearchAsk(HARBOUR.project, words)
    try:
        reply = await bus.request(ask(SearchAsk.NAME, HARBOUR.project), encode(question), PATIENCE)
    except Unreachable:
        return False
    return any(words in hit.fragment.replace("**", "") for hit in msgspec.json.decode(reply, type=Hits).hits)


async def assert_gone(team: TeamBroker, subjects: list[str]) -> None:
    """Rooms answer of a log at the same positions without the session; what a person wrote is there."""
    harness, room = await team.connect("harness"), await team.connect("room")
    await until(lambda: is_found(harness, "red crane"))
    assert not await is_found(harness, MARK)
    now = await stored(room, LOG.name)
    assert subjects == [one.subject for one in now[: len(subjects)]]
    later = await begun(harness, "opencode", "later")
    await later.step(())
    for bus in (harness, room):
        await bus.close()


async def erased_of(
    broker: ListeningBroker, data: Path, *words: str, password: str = ""
) -> "subprocess.CompletedProcess[str]":
    """What `annals erase` with these words does on this broker, as a container of a room runs it."""
    address = {
        "ANNALS_NATS__URL": await broker.url(),
        "ANNALS_NATS__USER": "room",
        "ANNALS_NATS__PASSWORD": password,
    }
    return await asyncio.to_thread(erase, data, *words, **address)


async def volumes_with(text: str, folder: Path) -> set[str]:
    """The names of volumes with a text in the bytes of a file, or in rows of the views or of the index."""
    rooms, masks = folder / "volumes", {text.encode(): b""}
    found = {
        path.relative_to(folder).parts[1 if path.is_relative_to(rooms) else 0]
        for path in erasing.files_with(folder, text)
    }
    for volume in rooms.iterdir():
        if files.rows_of_views(volume, masks) or await files.rows_of_index(volume, masks):
            found.add(volume.name)
    return found
