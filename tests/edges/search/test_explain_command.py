"""`annals explain` on a real broker: a session with a head, drops, a hint and a search answer, and wrong input."""

import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
import pytest_asyncio

from schemas.commands import MemoryWrite
from schemas.events import HintDecided, SessionOpened, StepOpened
from schemas.inbox import PartSeen, SessionSeen
from schemas.subjects import Address
from services.edges.arguments import parser
from services.edges.launcher.broker import Broker
from services.embedder.worker import Embedder
from services.kit.bus import Bus
from services.responder.worker import Responder
from services.searcher.worker import Searcher
from services.settings import Limits, Settings
from tests.helpers.broker_world import facts, opened, quick_settings
from tests.helpers.indexed_sessions import LogWriter
from tests.helpers.memory_sessions import Harness, done, rooms
from tests.helpers.person_commands import Ran, person_settings
from tests.helpers.search_index import MadeIndex
from tests.helpers.search_rows import row
from tests.helpers.waiting import until

pytestmark = pytest.mark.broker

SESSION = "ses_0ld41Tide7able"
TIDES = Address("harbour", SESSION)
RULE = "Always run the tests before a commit."
KNOWN = row(
    "memory",
    "mem1",
    "Reach the tide gauge through the jump host because its network is private",
    role="decision",
    seq=1,
)
ANSWER = '1 result for "tide gauge".\n\n- [mem1] Reach the tide gauge through the jump host'


@pytest.fixture
def run(broker: Broker, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Ran:
    """The command, run by a person who may connect as themselves."""
    return Ran(person_settings(broker, tmp_path), tmp_path, capsys)


@pytest_asyncio.fixture
async def explained_session(bus: Bus, broker: Broker, tmp_path: Path) -> AsyncIterator[Harness]:
    """A session whose newest prompt holds a head, a placeholder, a hint and the answer to a search."""
    index = Settings(data=tmp_path / "index")
    async with (
        opened(Embedder(), bus, index),
        opened(Searcher(), bus, index),
        rooms(broker, tmp_path / "rooms", plan=Limits(protected_tags=1)) as serving,
    ):
        await MadeIndex(tmp_path / "index", bus).write([KNOWN])
        await done(bus, MemoryWrite(text=RULE))
        session = Harness(bus, "opencode", SESSION, now=lambda: datetime.now(UTC))
        await session.report(SessionSeen(directory="/w", title="Tides \x1b[2J"))
        await session.says("hello")
        await session.step(serving)
        await session.rebased(serving)
        await session.says("How do I reach the tide gauge through the jump host?")
        await until(lambda: is_hinted(bus))
        await session.step(serving)
        search = PartSeen(
            "", "tool", tool="annals_ctx_search", call="c", input='{"query": "tide gauge"}', output=ANSWER,
            status="completed",
        )  # fmt: skip
        await session.says_parts("assistant", (search,))
        await session.says("go on")
        await session.step(serving)
        yield session


async def is_hinted(bus: Bus) -> bool:
    return any(isinstance(one, HintDecided) and one.decision == "hint" for one in await facts(bus, TIDES))


async def explained(run: Ran, *arguments: str) -> str:
    ended = await run(*arguments, "--project", "harbour", command="explain")
    assert (0, "") == (ended.status, ended.error)
    return ended.out


@pytest.mark.usefixtures("explained_session")
async def test_a_prompt_is_explained_with_all_its_parts(run: Ran) -> None:
    await the_newest_is_explained(run)
    await an_older_one_is_explained_as_it_was(run)


async def the_newest_is_explained(run: Ran) -> None:
    out = await explained(run, SESSION)
    head, *lines = out.splitlines()
    assert head.startswith(f'Session {SESSION} "Tides \\x1b[2J", call 6 of 6 (step s')
    assert "a rebase for flush (a person asked for it)" in out
    assert "added at the head: the project's documents and memories, " in out
    assert f": {RULE}" in next(line for line in lines if "memory.written" in line)
    dropped = next(at for at, line in enumerate(lines) if "the output of bash §2§ in message 2" in line)
    assert "by drops, since revision " in lines[dropped + 1]
    assert any("drop.requested by person:ada: drop 2" in line for line in lines[dropped:])
    assert "by search hint, since revision" in out
    hint = next(line for line in lines if line.startswith("  message 6: memory mem1, score "))
    assert hint.endswith(KNOWN.text)
    found = next(line for line in lines if '"tide gauge"' in line and line.startswith("  message 7"))
    assert found.endswith('1 result for "tide gauge". - [mem1] Reach the tide gauge through the jump host')
    assert "shown with" not in out
    assert '"§1§" is put before it: a text §1§ in message 1' in await explained(run, SESSION, "--tags")


async def an_older_one_is_explained_as_it_was(run: Ran) -> None:
    first = json.loads(await explained(run, SESSION, "1", "--json"))
    assert (1, 6, [], [], []) == tuple(first[name] for name in ("call", "calls", "history", "hints", "searches"))
    assert ["set_head"] == [one["edit"]["op"] for one in first["edits"]]
    for name in (first["step"], "1"):
        assert f"call 1 of 6 (step {first['step']})" in await explained(run, SESSION[:9], name)
    newest = json.loads(await explained(run, SESSION, "--json"))
    assert newest == json.loads(await explained(run, SESSION, newest["step"], "--json"))
    assert newest == json.loads(await explained(run, SESSION, "6", "--json"))
    second = json.loads(await explained(run, SESSION, "5", "--json"))
    assert (1, 0) == (len(second["hints"]), len(second["searches"])), "the agent searched after that call"
    part = json.loads(await explained(run, SESSION, "--json", "--part", newest["searches"][0]["part"]))
    assert [newest["searches"][0]["part"]] == [one["edit"]["part"] for one in part["edits"]]
    few = json.loads(await explained(run, SESSION, "--json", "--limit", "1"))
    assert (1, len(newest["edits"]) - 1) == (len(few["edits"]), few["left_out"])


async def test_a_name_that_there_is_not_ends_in_1_with_the_one_that_is_meant(
    bus: Bus, run: Ran, tmp_path: Path
) -> None:
    opened_session = SessionOpened(harness="pi", mode="primary")
    calls = [StepOpened(step=f"call-{number}") for number in range(3)]
    async with opened(responder := Responder(), bus, quick_settings(tmp_path)):
        await LogWriter(bus).append(opened_session, *calls, address=TIDES)
        await LogWriter(bus).append(opened_session, address=Address("harbour", "ses_without"))
        await until(responder.idle)
        for arguments, reason in (
            ((f"{SESSION}s",), f"there is no session {SESSION}s in the project harbour: did you mean {SESSION}?"),
            (("ses_0",), "there is no session ses_0 in the project harbour: "),
            ((SESSION, "cal-2"), f"there is no step cal-2 in the session {SESSION}: did you mean call-2"),
            ((SESSION, "call"), "did you mean call-0 or call-1 or call-2? Calls have numbers, too, here from 1 to 3"),
            ((SESSION, "4"), "calls have numbers, too, here from 1 to 3"),
            ((SESSION, "\x1b[2J"), "there is no step \\x1b[2J in the session"),
            (("ses_without",), "no model was called in the session ses_without yet"),
            (("x" * 300,), "at most 256"),
        ):
            ended = await run(*arguments, "--project", "harbour", command="explain")
            assert (1, "") == (ended.status, ended.out)
            assert ended.error.startswith("annals: nothing is explained: ")
            assert reason in ended.error
            assert 1 == ended.error.count("\n")
        assert "call 2 of 3 (step call-1)" in await explained(run, SESSION[:9], "2")


@pytest.mark.parametrize("arguments", [[], ["s", "1", "2"], ["s", "--limit", "0"], ["s", "--limit", "many"]])
def test_arguments_that_cannot_be_read_end_in_2(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        parser().parse_args(["explain", *arguments])
    assert 2 == ended.value.code
    assert "error: " in capsys.readouterr().err
