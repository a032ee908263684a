"""The installation is absent, or falls when the window is full: OpenCode compacts itself, and only until then."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from pathlib import Path

import pytest

from services.edges.connect.bundle import source
from services.edges.launcher.detach import command, down
from services.edges.launcher.run import current
from services.settings import Settings
from tests.harness import scenarios
from tests.harness.api import Refused
from tests.harness.connected import USUAL, WIDE, plugin, rebases
from tests.harness.isolation import OPENAI, Json, merged
from tests.harness.opencode import OpenCode
from tests.harness.provider import Provider, Script
from tests.harness.provider.refusals import overflow
from tests.harness.provider.script import Reply
from tests.harness.provider.wire import Request
from tests.harness.scripted import Calls, Conversation, calls
from tests.harness.test_plain import breaks
from tests.harness.test_setup import OURS, User
from tests.helpers.installation import connect_to, facts, recorded_twice, settle, until
from tests.helpers.installation_process import Apart

pytestmark = pytest.mark.harness

START = 120.0
"""Seconds that an installation has until it serves a session again."""
LIMIT, OUTPUT = 24_000, 2_000
"""A window that three readings fill."""
NOTES = {
    f"notes/{name}.txt": "".join(f"{line} of note {name}: quinces and late pears\n" for line in range(190))
    for name in range(8)
}


class Window(Script):
    """Refuses what is longer than the window."""

    def __init__(self) -> None:
        super().__init__()
        self.refused: list[int] = []

    def take(self, request: Request) -> Reply:
        if request.usage.prompt <= LIMIT:
            return super().take(request)
        self.refused.append(request.number)
        return Reply(refusal=overflow("vllm", request.usage.prompt, LIMIT))


@pytest.fixture
def window() -> Window:
    return Window()


@pytest.fixture
async def provider(window: Window) -> AsyncIterator[Provider]:
    async with Provider(window) as running:
        yield running


def config(**changes: object) -> Json:
    model = {"limit": {"context": LIMIT, "output": OUTPUT}}
    return merged(scenarios.CONFIG, {"provider": {OPENAI.provider: {"models": {OPENAI.main.name: model}}}, **changes})


def harness(root: Path, provider: Provider, options: Mapping[str, object] = WIDE, **changes: object) -> OpenCode:
    """OpenCode with our plugin, and its options; `changes` are those of OpenCode's own settings."""
    plugins = [plugin(root / "data", root / "state", **options)]
    return OpenCode(root, provider.url, plugins=plugins, config=config(**changes), files=NOTES)


async def read(conversation: Conversation, on: Calls, *names: int, calls_of: int = 1) -> None:
    """Turns that read notes, each of them in so many calls; none may fail."""
    for name in names:
        answer = await conversation.send(
            f"Read note {name}.",
            *(calls(on.read(f"notes/{(name + more) % len(NOTES)}.txt")) for more in range(calls_of)),
            Reply(text=f"Note {name} is about fruit."),
        )
        assert "error" not in answer["info"], answer["info"]["error"]


def compactions(conversation: Conversation) -> int:
    return len(conversation.provider.of(conversation.session, "compaction"))


def notices(oc: OpenCode) -> list[str]:
    return [e["properties"]["message"] for e in oc.events.seen if e["type"] == "tui.toast.show"]


async def compacts(oc: OpenCode) -> bool:
    """Whether OpenCode would compact now."""
    return bool((await oc.call("GET", "/config"))["compaction"]["auto"])


async def test_an_installation_that_is_absent_from_the_start_and_comes_later(
    provider: Provider, window: Window, tmp_path: Path
) -> None:
    """It takes over ten seconds of a processor: the window is filled twice, alone and served."""
    async with harness(tmp_path, provider, USUAL) as oc:
        conversation, on = await Conversation.open(oc, provider, "Alone"), Calls(oc)
        await read(conversation, on, *range(8))
        alone = compactions(conversation)
        assert alone >= 1
        assert await compacts(oc)
        (away,) = notices(oc)
        assert "OpenCode compacts by itself" in away

        async with Apart(tmp_path / "data") as installation:
            await taken_over(conversation)
            await read(conversation, on, *range(8))
            assert alone == compactions(conversation)
            assert not await compacts(oc)
            assert 2 == len(notices(oc))
            await assert_recorded_once(installation)
            assert await rebased(installation, conversation.session) >= 1
    assert [] == window.refused
    assert [] == provider.faults


@pytest.mark.soak
async def test_an_installation_that_is_killed_when_the_window_is_nearly_full_and_comes_back(
    provider: Provider, window: Window, tmp_path: Path
) -> None:
    async with Apart(tmp_path / "data") as installation, harness(tmp_path, provider) as oc:
        conversation, on = await Conversation.open(oc, provider, "Fallen"), Calls(oc)
        await read(conversation, on, *range(4))
        assert 0 == compactions(conversation)
        assert [] == notices(oc)
        await installation.kill()
        before = len(provider.of(conversation.session))
        await read(conversation, on, *range(4), calls_of=9)
        assert len(provider.of(conversation.session)) - before >= 40
        assert compactions(conversation) >= 1
        assert 1 == len(notices(oc))

        await installation.start()
        await taken_over(conversation)
        alone, first = compactions(conversation), len(provider.of(conversation.session))
        await read(conversation, on, *range(8))
        assert alone == compactions(conversation)
        await assert_recorded_once(installation)
        revised = await rebased(installation, conversation.session)
        assert len(breaks(provider.of(conversation.session)[first:])) <= revised
    assert [] == window.refused
    assert [] == provider.faults


async def test_a_prompt_that_is_refused_fails_no_turn_while_the_installation_answers(
    provider: Provider, tmp_path: Path
) -> None:
    """Nor where the person has asked for the status of another session meanwhile: that is no turn."""
    async with Apart(tmp_path / "data"), harness(tmp_path, provider) as oc:
        resting = await Conversation.open(oc, provider, "Resting")
        with pytest.raises(Refused):  # OpenCode reports any end of a command without a model call so
            await oc.command(resting.session, "ctx-status")
        conversation, on = await Conversation.open(oc, provider, "Refused"), Calls(oc)
        await read(conversation, on, 0)
        assert not await compacts(oc)
        conversation.script(Reply(refusal=overflow("vllm", 30_000, LIMIT)))
        await read(conversation, on, 1)
        assert 1 == compactions(conversation)
        assert [] == notices(oc)
    assert [] == provider.faults


@pytest.mark.soak
async def test_after_a_refusal_the_next_prompt_is_ours_and_has_what_the_person_laid_down(
    provider: Provider, window: Window, tmp_path: Path
) -> None:
    """OpenCode and Annals take the window for a larger one. It takes over ten seconds of a processor."""
    rule = "Never touch the harbour files."
    wrong = {"provider": {OPENAI.provider: {"models": {OPENAI.main.name: {"limit": {"context": 200_000}}}}}}
    plugins = [plugin(tmp_path / "data", tmp_path / "state", **WIDE)]
    async with (
        Apart(tmp_path / "data"),
        OpenCode(tmp_path, provider.url, plugins=plugins, config=merged(config(), wrong), files=NOTES) as oc,
    ):
        conversation, on = await Conversation.open(oc, provider, "Refused"), Calls(oc)
        await conversation.send(rule, Reply(text="Yes."))
        await read(conversation, on, *range(8))
        await read(conversation, on, *range(4))
        assert 1 == len(window.refused)
        assert 1 == compactions(conversation)
    behind = [one for one in provider.of(conversation.session) if one.number > window.refused[0]]
    assert [] == [one.number for one in behind if rule not in one.raw.decode()]
    assert "<history>" in behind[0].raw.decode()
    assert behind[0].texts[-1].startswith("§")
    assert [] == provider.faults


@pytest.mark.soak
async def test_who_has_switched_compaction_off_keeps_it_off(provider: Provider, tmp_path: Path) -> None:
    async with harness(tmp_path, provider, USUAL, compaction={"auto": False}) as oc:
        assert not await compacts(oc)


async def taken_over(conversation: Conversation) -> None:
    """Go on until the installation serves the session again."""

    async def is_served() -> bool:
        await conversation.send("Go on.", Reply(text="On it."))
        return len(notices(conversation.oc)) > 1

    await until(is_served, "the installation takes over")
    assert "answers again" in notices(conversation.oc)[-1]


async def assert_recorded_once(installation: Apart) -> None:
    """All reports reach the log, and each fact once."""
    bus = await connect_to(installation.settings)
    await settle(bus)
    assert [] == recorded_twice(await facts(bus))
    await bus.close()


async def rebased(installation: Apart, session: str) -> int:
    bus = await connect_to(installation.settings)
    count = len(rebases(await facts(bus), session))
    await bus.close()
    return count


async def test_the_adapter_starts_the_installation_where_none_runs_and_a_first_session_has_all_of_it(
    provider: Provider, tmp_path: Path
) -> None:
    """It takes over ten seconds of a processor: all rooms are loaded anew, those of search included."""
    ours = [source("opencode").as_uri(), {**WIDE}]  # what somebody has set there stays when setup does the rest
    oc = OpenCode(tmp_path, provider.url, plugins=[ours], config=config(), files=NOTES, keeps_settings=True)
    oc.configure()
    user = User(oc, tmp_path / "data")
    try:
        connecting = await user.annals("setup", "opencode", "--yes")
        assert 0 == connecting.status, connecting.output
        async with oc:
            assert set(await oc.tool_ids()) >= OURS
            conversation, on = await Conversation.open(oc, provider, "First"), Calls(oc)
            await read(conversation, on, 0)
            await until(lambda: is_tagged(conversation), "the installation that was started serves the session")
            assert [] == notices(oc)
            run = current(tmp_path / "data")
            assert run is not None
            assert "opencode" == run.keeper
            await oc.restart()
            await read(conversation, on, 1)
            assert run == current(tmp_path / "data")
            findings = await user.examined()
            assert {"PASS"} == {finding.level for finding in findings}, [finding.line for finding in findings]
            assert {"installation", "start"} <= {finding.what for finding in findings}
    finally:
        ending = await user.annals("down")
    assert "has ended" in ending.output
    assert [] == provider.faults


@pytest.mark.soak
async def test_an_installation_that_dies_later_is_started_again_and_takes_over(
    provider: Provider, tmp_path: Path
) -> None:
    data = tmp_path / "data"
    house = {"command": [*command(), "up", "--detach", "--kept-by", "opencode"], "data": str(data)}
    plugins = [plugin(data, tmp_path / "state", house=house)]
    try:
        async with (
            Apart(data) as installation,
            OpenCode(tmp_path, provider.url, plugins=plugins, config=config(), files=NOTES) as oc,
        ):
            conversation, on = await Conversation.open(oc, provider, "Risen"), Calls(oc)
            await read(conversation, on, 0)
            await installation.kill()
            assert current(data) is None
            await until(lambda: is_new_tagged(conversation), "the installation serves new messages", START)
            run = current(data)
            assert run is not None
            assert "opencode" == run.keeper
            await assert_recorded_once(installation)
    finally:
        await asyncio.to_thread(down, Settings(data=data))
    assert [] == provider.faults


async def is_new_tagged(conversation: Conversation) -> bool:
    """Whether a new message has a number: a plan in hand has none for it."""
    await conversation.send("Go on.", Reply(text="On it."))
    return conversation.provider.of(conversation.session)[-1].texts[-1].startswith("§")


async def is_tagged(conversation: Conversation) -> bool:
    await conversation.send("Go on.", Reply(text="On it."))
    return any(text.startswith("§") for text in conversation.provider.of(conversation.session)[-1].texts)


@pytest.mark.soak
async def test_what_a_person_forbade_before_a_compaction_that_nobody_saw_is_in_the_prompts_behind_it(
    provider: Provider, tmp_path: Path
) -> None:
    """It takes over ten seconds of a processor: the window is filled twice, alone and served."""
    rule = "Do not change any file."
    async with harness(tmp_path, provider, USUAL) as oc:
        conversation, on = await Conversation.open(oc, provider, "Forbidden"), Calls(oc)
        await conversation.send(f"Read the notes. {rule}", calls(on.read("notes/0.txt")), Reply(text="Fruit."))
        await read(conversation, on, *range(8))
        assert compactions(conversation)
        async with Apart(tmp_path / "data") as installation:
            await taken_over(conversation)
            await read(conversation, on, *range(8))
            assert await rebased(installation, conversation.session) >= 1
    last = provider.of(conversation.session)[-1].raw.decode()
    assert rule in last
    assert [] == provider.faults
