"""OpenCode with Annals and OpenCode alone: the two short scenarios of `make bench-side`, and what it counts with."""

import asyncio
import shutil
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import aiohttp
import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.inbox import MessageSeen
from schemas.subjects import Address
from services.edges.client.catching_up import Behind, caught_up
from services.edges.client.recall import AgentOutput, VisibleText
from services.kit.bus import Bus
from tests.bench.side import arms
from tests.bench.side.arms import ARMS, OwnInstallation
from tests.bench.side.drawn import COLOURS, draw
from tests.bench.side.measured import Answered, Row, measured, ratio, table, texts
from tests.bench.side.model import PICTURE, Model, _shared, _size
from tests.bench.side.recordings import Recorded, Step, Turn, found, moved, turns
from tests.bench.side.scenarios import QUICK, SCENARIOS, Scenario, picture
from tests.bench.side.workshop import Workshop
from tests.harness.provider import Call, Reply, Script
from tests.harness.provider.client import Client, connected
from tests.harness.provider.content import Json, encode
from tests.harness.provider.wire import Request, Usage, receive

PIECES = st.lists(st.binary(max_size=6), max_size=5)


AT_MOST = {"K": 1.1, "L": 1.1, "M": 3.0, "F": 0.65}
"""The cost that a scenario may have relative to OpenCode alone, where it is not `USUAL`."""
USUAL = 1.0


@pytest.mark.harness
@pytest.mark.house
async def test_a_short_session_is_made_smaller_no_turn_fails_and_the_rooms_are_waited_for_before_each_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    waited: list[tuple[str, str]] = []

    async def watched(bus: Bus, harness: str, address: Address) -> None:
        await caught_up(bus, harness, address)
        waited.append((harness, address.session))

    monkeypatch.setattr(arms, "caught_up", watched)
    row = await QUICK[0].play(ARMS["annals"], tmp_path)
    shutil.rmtree(tmp_path)
    assert 0 == row.failed_turns == row.invalid == row.lost_steps == row.refused
    assert row.rebases
    (played,) = {*waited}
    assert "opencode" == played[0]
    assert row.calls == len(waited)


@pytest.fixture
async def http() -> AsyncIterator[aiohttp.ClientSession]:
    async with connected() as session:
        yield session


async def test_an_agent_is_answered_when_the_rooms_are_done_and_a_title_at_once(http: aiohttp.ClientSession) -> None:
    asked: list[str] = []
    reached, done = asyncio.Event(), asyncio.Event()

    async def pause(session: str) -> None:
        asked.append(session)
        reached.set()
        await done.wait()

    async with Model(Script(Reply(text="Ready.")), 1_000, pause=pause) as model:
        title = Client(http, model.url, "openai", system="You are a title generator", tools=())
        title.add_message("Hello")
        assert "Session title" == (await title.asks()).text
        agent = Client(http, model.url, "openai", session="s1")
        agent.add_message("Hello")
        answer = asyncio.create_task(agent.asks())
        await asyncio.wait((answer, asyncio.create_task(reached.wait())), return_when=asyncio.FIRST_COMPLETED)
        assert not answer.done()
        done.set()
        assert "Ready." == (await answer).text
    assert ["s1"] == asked


async def test_rooms_that_stand_still_end_a_comparison_and_are_waited_for_once(http: aiohttp.ClientSession) -> None:
    asked: list[str] = []

    async def pause(session: str) -> None:
        asked.append(session)
        raise Behind("the tagger has not read s1")

    async def compared() -> None:
        async with Model(Script(Reply(text="One."), Reply(text="Two.")), 1_000, pause=pause) as model:
            agent = Client(http, model.url, "openai", session="s1")
            agent.add_message("Hello")
            assert ["One.", "Two."] == [(await agent.asks()).text for _ in range(2)]

    with pytest.raises(Behind):
        await compared()
    assert ["s1"] == asked


async def test_an_installation_that_does_not_run_or_is_killed_meanwhile_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    running = OwnInstallation(tmp_path, {})
    reached, never = asyncio.Event(), asyncio.Event()

    async def hangs() -> None:
        reached.set()
        await never.wait()

    monkeypatch.setattr(running, "connected", hangs)
    await running.caught_up("s1")
    assert not reached.is_set()

    running.down.clear()
    waiting = asyncio.create_task(running.caught_up("s1"))
    await reached.wait()
    assert not waiting.done()
    running.kill()
    await waiting


@pytest.mark.soak
@pytest.mark.timeout(1_800)
@pytest.mark.harness
@pytest.mark.house
@pytest.mark.parametrize("name", SCENARIOS)
@pytest.mark.usefixtures("foreign")
async def test_with_annals_no_scenario_fails_a_turn_or_is_dearer(name: str, tmp_path: Path) -> None:
    alone, annals = [await SCENARIOS[name].play(ARMS[arm], tmp_path / arm) for arm in ("alone", "annals")]
    shutil.rmtree(tmp_path)
    rendered = table([alone, annals])
    assert 0 == annals.failed_turns == annals.invalid == annals.lost_steps, rendered
    assert annals.refused <= alone.refused, rendered
    assert (ratio(annals, alone) or 0) <= AT_MOST.get(name, USUAL), rendered
    if name == "L":
        assert annals.aside_calls, f"OpenCode compacts by itself while there is no installation:\n{rendered}"
    else:
        assert annals.rebases, rendered


@pytest.mark.soak
@pytest.mark.harness
@pytest.mark.house
@pytest.mark.parametrize(
    ("scenario", "at_most"),
    [
        pytest.param(QUICK[0], 1.1, id="a small window"),
        pytest.param(QUICK[1], 6.0, id="a step too large, of which nothing stays without Annals"),
    ],
)
async def test_with_annals_no_turn_fails_that_would_not_alone_and_the_cost_is_bounded(
    scenario: Scenario, at_most: float, tmp_path: Path
) -> None:
    alone, annals = await asyncio.gather(*(scenario.play(ARMS[name], tmp_path / name) for name in ("alone", "annals")))
    shutil.rmtree(tmp_path)
    rendered = table([alone, annals])
    assert 0 == annals.failed_turns == annals.invalid == annals.lost_steps, rendered
    assert annals.refused <= alone.refused, rendered
    assert (ratio(annals, alone) or 0) <= at_most, rendered
    assert alone.calls > 0, rendered


def request(number: int, messages: Sequence[Json], usage: Usage, session: str = "s") -> Request:
    tools = [{"function": {"name": "read"}}]
    body = {"model": "m", "tools": tools, "messages": [{"role": "system", "content": "Be kind."}, *messages]}
    made = receive(number, 0.0, "openai", {"x-session-id": session}, encode(body))
    return Request(**{**{field: getattr(made, field) for field in made.__struct_fields__}, "usage": usage})


def text_message(text: str) -> Json:
    return {"role": "user", "content": text}


def test_a_row_counts_what_was_answered_what_was_refused_and_what_was_forgotten() -> None:
    first = request(1, [text_message("load_jobs is in src/jobs.py")], Usage(1000, 0, 0, 10))
    refused = request(
        2, [text_message("load_jobs is in src/jobs.py"), text_message("x" * 99)], Usage(90_000, 1000, 0, 0)
    )
    background = request(3, [text_message("Summarise.")], Usage(500, 0, 0, 50), session="other")
    last = request(4, [text_message("src/jobs.py, in short")], Usage(600, 200, 0, 10))
    answers = [
        Answered(first, AgentOutput("a", ("ok",)), (VisibleText("u", "load_jobs is in src/jobs.py"),)),
        Answered(last, AgentOutput("b", ("load_jobs of src/jobs.py",)), ()),
    ]
    row = measured(Row(scenario="x", arm="y"), [first, refused, background, last], {2}, [answers], "")
    assert (2, 1600, 200, 1400, 1) == (
        row.calls, row.prompt_tokens, row.cached_tokens, row.new_tokens, row.prefix_changes,
    )  # fmt: skip
    assert (1, 550, 1, 1000) == (row.aside_calls, row.aside_tokens, row.refused, row.largest)
    assert 0.1 * 200 + 1.25 * 1400 + 550 == row.cost_raw
    assert (0.5, 1) == (row.seen, row.misses)
    assert row.cost_raw + round(0.1 * 600 + 1.25 * 7) == pytest.approx(row.cost, abs=1)


def test_all_that_a_model_reads_of_a_message_is_text_in_both_formats() -> None:
    call = {"function": {"name": "bash", "arguments": '{"command": "a\\nb"}'}}
    assert ["think", "a\nb", "answered"] == list(
        filter(None, texts({"reasoning_content": "think", "tool_calls": [call], "content": "answered"}))
    )
    blocks = [
        {"type": "thinking", "thinking": "think"},
        {"type": "text", "text": "answered"},
        {"type": "tool_use", "input": {"command": "a\nb"}},
        {"type": "tool_result", "content": [{"type": "text", "text": "out"}]},
    ]
    assert ["think", "answered", "a\nb", "out"] == list(filter(None, texts({"content": blocks})))


@given(PIECES, PIECES)
def test_what_two_prompts_share_is_the_bytes_that_both_begin_with(old: list[bytes], new: list[bytes]) -> None:
    shared = _shared(old, new)
    assert shared <= min(sum(map(_size, old)), sum(map(_size, new)))
    assert sum(map(_size, old)) == _shared(old, [*old, *new])


def test_a_picture_counts_by_its_own_measure() -> None:
    piece = encode({"type": "image", "source": {"type": "base64", "data": "A" * 400_000}})
    assert 4 * PICTURE <= _size(piece) < 4 * PICTURE + 100


def test_a_picture_is_the_same_every_time() -> None:
    assert picture(1) == picture(1) != picture(2)
    assert picture(1).startswith(b"\x89PNG")


def test_every_answer_of_a_recording_that_says_or_does_something_comes_up_and_turns_end_with_words(
    tmp_path: Path,
) -> None:
    recording = found("openai.json")
    assert recording is not None
    made = turns(recording)
    assert made
    assert all(turn.steps and turn.words and not turn.steps[-1].calls for turn in made)
    assert all(step.calls for turn in made for step in turn.steps[:-1])
    workshop = Workshop(tmp_path)
    calls = [call for turn in made for step in turn.steps for call in workshop.calls(step)]
    recorded = [one for turn in made for step in turn.steps for one in step.calls]
    assert len(recorded) == len(calls)
    assert {"read", "edit", "write", "bash"} == {call.tool for call in calls}
    reads = [Path(call.arguments["filePath"]) for call in calls if call.tool == "read"]
    assert all(path.is_file() and path.is_relative_to(tmp_path) for path in reads)


def test_a_file_is_read_as_one_and_a_directory_is_listed(tmp_path: Path) -> None:
    """So a reading is known as one although the directory was listed before, or the file is read twice in a step."""
    listed = Recorded("read", '{"filePath":"/src"}', "<path>/src</path>\n<type>directory</type>\n<entries>a.py")
    shown = Recorded("read", '{"filePath":"/src/a.py"}', "1: import this\n")
    workshop = Workshop(tmp_path)

    listing, first, second = workshop.calls(Step(MessageSeen("m", "assistant"), calls=(listed, shown, shown)))

    assert "bash" == listing.tool
    assert all("read" == one.tool and one.arguments["filePath"].endswith("/src/a.py") for one in (first, second))
    assert ["import this\n"] * 2 == [Path(one.arguments["filePath"]).read_text() for one in (first, second)]
    assert first != second


def test_a_turn_is_moved_into_the_workspace_with_all_its_paths() -> None:
    step = Step(MessageSeen("m", "assistant"), calls=(Recorded("read", '{"filePath":"/home/a.py"}', "/home/a.py: 1"),))
    (there,) = moved(Turn("See /home/a.py.", (step,)), "/home", "/there").steps
    assert (Recorded("read", '{"filePath":"/there/a.py"}', "/there/a.py: 1"),) == there.calls
    assert Turn("See it.", (step,)) == moved(Turn("See it.", (step,)), "", "/there")


def played(workspace: Path, tool: str, **given: object) -> tuple[Call, ...]:
    recorded = Recorded(tool, encode(given).decode(), "Done")
    return Workshop(workspace).calls(Step(MessageSeen("m", "assistant"), calls=(recorded,)))


@pytest.mark.parametrize(("old", "new"), [("oldString", "newString"), ("old_string", "new_string")])
def test_an_edit_is_one_of_a_file_that_holds_what_stood_there(tmp_path: Path, old: str, new: str) -> None:
    (call,) = played(tmp_path, "edit", filePath="/src/a.py", **{old: "x = 1", new: "x = 2"})

    path = call.arguments["filePath"]
    assert Call("edit", {"filePath": path, "oldString": "x = 1", "newString": "x = 2"}) == call
    assert path.endswith("/src/a.py")
    assert "x = 1" == Path(path).read_text()


def test_a_patch_of_several_files_is_one_change_of_each(tmp_path: Path) -> None:
    patch = """*** Begin Patch
*** Update File: src/a.py
@@ def run():
 before
-x
+y
*** Add File: src/b.py
+new
*** Delete File: src/c.py
*** End Patch"""

    edit, write = played(tmp_path, "apply_patch", patchText=patch)

    assert ("edit", "before\nx", "before\ny") == (edit.tool, edit.arguments["oldString"], edit.arguments["newString"])
    assert ("write", "new") == (write.tool, write.arguments["content"])
    assert edit.arguments["filePath"].endswith("/src/a.py")
    assert write.arguments["filePath"].endswith("/src/b.py")


def test_several_edits_of_a_call_are_one_change_each(tmp_path: Path) -> None:
    edits = [{"old_string": "x", "new_string": "y"}, {"old_string": "p", "new_string": "q"}]

    calls = played(tmp_path, "MultiEdit", file_path="a.py", edits=edits)

    assert [("x", "y"), ("p", "q")] == [(one.arguments["oldString"], one.arguments["newString"]) for one in calls]


def test_two_changes_of_a_file_in_one_answer_do_not_meet(tmp_path: Path) -> None:
    patch = "*** Begin Patch\n*** Update File: a.py\n-x\n+y\n*** Update File: a.py\n-p\n+q\n*** End Patch"

    first, second = played(tmp_path, "apply_patch", patchText=patch)

    assert first.arguments["filePath"] != second.arguments["filePath"]
    assert ["x", "p"] == [Path(one.arguments["filePath"]).read_text() for one in (first, second)]


@pytest.mark.parametrize("stood", ["", "x = 1"])
def test_a_change_that_takes_nothing_away_is_written_as_a_whole(tmp_path: Path, stood: str) -> None:
    (call,) = played(tmp_path, "edit", filePath="a.py", oldString=stood, newString="x = 1")

    assert ("write", "x = 1") == (call.tool, call.arguments["content"])


@pytest.mark.parametrize("patch", ["*** Begin Patch\n*** Delete File: a.py\n*** End Patch", "no patch"])
def test_what_changes_no_text_is_run_as_a_command_with_the_same_output(tmp_path: Path, patch: str) -> None:
    (call,) = played(tmp_path, "apply_patch", patchText=patch)

    assert "bash" == call.tool
    (output,) = tmp_path.rglob("output.txt")
    assert "Done" == output.read_text()


@pytest.mark.parametrize("path", ["../../etc/passwd", "", "x" * 300])
def test_no_change_leaves_the_workspace(tmp_path: Path, path: str) -> None:
    (call,) = played(tmp_path, "write", filePath=path, content="x")

    assert "bash" == call.tool


def test_a_patch_that_changes_a_file_elsewhere_too_is_played_whole(tmp_path: Path) -> None:
    patch = "*** Begin Patch\n*** Update File: a.py\n-x\n+y\n*** Update File: ../b.py\n-p\n+q\n*** End Patch"

    (call,) = played(tmp_path, "apply_patch", patchText=patch)

    assert "bash" == call.tool
    assert "../b.py" in call.arguments["description"]


def test_the_table_and_the_picture_show_every_arm(tmp_path: Path) -> None:
    rows = [Row(scenario="A", arm="alone", cost=100), Row(scenario="A", arm="annals", cost=85, seen=0.98)]
    assert "| 0.85 |" in table(rows)
    draw(rows, tmp_path / "picture.svg")
    drawn = (tmp_path / "picture.svg").read_text()
    assert COLOURS["alone"] in drawn
    assert COLOURS["annals"] in drawn
