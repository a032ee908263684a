"""Forks in the real harness: a copy's first request begins with the bytes that the provider has in its cache."""

from collections.abc import AsyncIterator
from itertools import pairwise
from pathlib import Path

import pytest
import pytest_asyncio

from schemas.events import HistoryAdvanced, HistoryFailed, HistoryInherited, PlanExtended
from services.settings import History, Limits
from tests.conftest import running_installation
from tests.harness import scenarios
from tests.harness.connected import Connected, assert_whole, connected, plugin, rebases
from tests.harness.isolation import ANTHROPIC, Family
from tests.harness.opencode import OpenCode
from tests.harness.provider import Call, Provider, Reply
from tests.harness.provider.wire import Request
from tests.harness.scripted import Calls, Conversation, calls
from tests.harness.test_history import TELLING, reading, wrapped_up
from tests.harness.test_plain import breaks
from tests.harness.test_tools import command, dropping, tag_of
from tests.harness.wires import played_on
from tests.harness.workspace import LONG
from tests.helpers.installation import facts, until

pytestmark = [pytest.mark.harness, pytest.mark.asyncio(loop_scope="module")]


@pytest_asyncio.fixture(
    scope="module", loop_scope="module", params=played_on(ANTHROPIC), ids=lambda family: family.format
)
async def running(
    request: pytest.FixtureRequest, provider: Provider, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Connected]:
    family: Family = request.param
    settings = {"plan": Limits(protected_tags=1), "history": History(tail_tokens=1000)}
    root = tmp_path_factory.mktemp(family.provider)
    async with connected(root, running_installation, provider, family, settings=settings) as all_of_it:
        yield all_of_it


async def forked(running: Connected, session: str, before: str = "") -> Conversation:
    return Conversation(running.oc, running.provider, await running.oc.fork(session, before))


async def compressed(running: Connected) -> Conversation:
    """A session with history in force."""
    conversation = await reading(running)
    await wrapped_up(running, conversation)
    await command(running, conversation.session, "ctx-flush")
    await conversation.send("Go on.", Reply(text="On it."))
    await conversation.send("And on.", Reply(text="On and on."))
    return conversation


def shared(origin: Request, copy: Request) -> int:
    """How many messages both begin with; the system prompt and the tools must be the same."""
    assert (origin.system, origin.tools) == (copy.system, copy.tools)
    pairs = list(zip(origin.messages, copy.messages, strict=False))
    return next((place for place, (one, other) in enumerate(pairs) if one != other), len(pairs))


async def runs(running: Connected, session: str) -> int:
    """Runs that compress, which have come to an end."""
    ends = (HistoryAdvanced, HistoryFailed)
    return sum(isinstance(event, ends) for envelope, event in await facts(running.bus) if envelope.session == session)


async def has_run(running: Connected, session: str, count: int) -> bool:
    return await runs(running, session) >= count


async def inherited(running: Connected, session: str) -> bool:
    return any(
        envelope.session == session and isinstance(event, HistoryInherited)
        for envelope, event in await facts(running.bus)
    )


async def test_a_copy_goes_on_from_what_its_origin_has_sent(running: Connected) -> None:
    conversation = await compressed(running)
    last = running.provider.of(conversation.session)[-1]
    copy = await forked(running, conversation.session)
    await copy.send("Another way.", Reply(text="So be it."))
    first = running.provider.of(copy.session)[0]
    assert shared(last, first) == len(last.messages)
    assert TELLING not in str(first.messages)

    again = await forked(running, copy.session)
    await again.send("A third way.", Reply(text="Why not."))
    assert shared(first, running.provider.of(again.session)[0]) == len(first.messages)
    await until(lambda: inherited(running, copy.session), "the compartments of the copy")

    await copy.send(
        "What did the file say?",
        Reply(calls=(Call("ctx_expand", {"start": 1, "end": 2, "verbose": True}),)),
        Reply(text="I see."),
    )
    (expanded,) = await copy.outputs("ctx_expand")
    assert expanded.startswith("Messages 1-2")
    assert TELLING in expanded
    sessions = [conversation.session, copy.session, again.session]
    for session in sessions[1:]:
        assert [] == breaks(running.provider.of(session))
    assert [] == running.provider.faults
    log = await assert_whole(running, sessions)
    assert [[], []] == [rebases(log, session) for session in sessions[1:]]
    for origin, session in pairwise(sessions):
        plans = [e for envelope, e in log if envelope.session == session and isinstance(e, PlanExtended)]
        assert origin == plans[0].origin


def without_state(text: str) -> str:
    """Without what the origin worked at when its history was made: that stays until the copy's own is made."""
    before, _, after = text.partition("<state>")
    return before + after.partition("</state>")[2]


async def test_a_copy_that_ends_before_the_cut_shows_no_history_of_what_it_has_not(running: Connected) -> None:
    conversation, on = await compressed(running), Calls(running.oc)
    flushed = running.provider.of(conversation.session)[-1]
    await conversation.send("Read it again.", calls(on.read(LONG)), Reply(text="Nothing new."))
    await conversation.send("And the readme.", calls(on.read("README.md")), Reply(text="Nothing new there."))
    before = await runs(running, conversation.session)
    await command(running, conversation.session, "ctx-wrapup")
    await until(lambda: has_run(running, conversation.session, before + 1), "the history of the session")
    await command(running, conversation.session, "ctx-flush")
    await conversation.send("Go on.", Reply(text="On it."))

    middle = await forked(running, conversation.session, await conversation.user(1))
    await middle.send("Another way.", calls(on.read("README.md")), Reply(text="So be it."))
    await middle.send("And on.", Reply(text="On and on."))
    requests = running.provider.of(middle.session)
    assert len(requests[0].messages) - 1 == shared(flushed, requests[0])
    assert "Prices come from the csv" in str(requests[0].messages)
    assert "docs/ideas.md" not in without_state(str(requests[0].messages))
    assert [] == breaks(requests)
    assert [] == running.provider.faults
    await assert_whole(running, [middle.session])


@pytest.mark.soak
async def test_a_copy_that_another_process_makes_begins_as_its_origin_does(provider: Provider, tmp_path: Path) -> None:
    """Each process is an OpenCode of its own. It offers a copy other tools than a session that `run` has begun."""
    name_of_it = "boxed-early-quince"
    tags: list[int] = []

    def expanding(request: Request) -> Reply:
        tags.append(tag_of(request, name_of_it))
        return Reply(calls=(Call("ctx_expand", {"tag": tags[0]}),))

    async with running_installation(tmp_path / "data", plan=Limits(protected_tags=1)) as rooms:
        oc = OpenCode(tmp_path, provider.url, plugins=[plugin(rooms.data, tmp_path / "state")], config=scenarios.CONFIG)
        provider.script.add(calls(Calls(oc).read(LONG)), dropping(name_of_it), Reply(text="Dropped."))
        (origin,) = {line["sessionID"] for line in await oc.run_once("Read it and drop it.", "--title", "Same")}
        provider.script.add(expanding, Reply(text="Seen."))
        (copy,) = {line["sessionID"] for line in await oc.run_once("Show it.", "--session", origin, "--fork")}
    before, first, last = provider.of(origin)[-1], provider.of(copy)[0], provider.of(copy)[-1]
    assert origin != copy
    assert before.messages == first.messages[: len(before.messages)]
    assert tag_of(before, name_of_it) == tags[0]
    shown = [output for output in last.outputs.values() if name_of_it in output]
    assert 2 == len(shown)
    assert not any("there is no tag" in output for output in last.outputs.values())
    assert [] == provider.faults
