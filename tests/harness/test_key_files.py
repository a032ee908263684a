"""Key files in OpenCode: from the disk into the head of prompts, where nothing changes before a rebase."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from schemas.commands import KeyFileAccept, KeyFilePropose, SettingsApply
from schemas.envelope import Actor
from schemas.events import DocumentCaptured
from schemas.subjects import Address
from services.kit.commands import send
from services.settings import Limits
from tests.conftest import running_installation
from tests.harness.connected import Connected, connected
from tests.harness.isolation import OPENAI
from tests.harness.provider import Provider, Reply, Request
from tests.harness.scripted import Calls, Conversation, calls
from tests.harness.test_plain import breaks
from tests.harness.test_tools import command, dropping
from tests.harness.workspace import restore

pytestmark = [pytest.mark.harness, pytest.mark.asyncio(loop_scope="module")]

MONEY, LINK = "orchard/money.py", "orchard/link.py"
HIDDEN = "nobody may read this"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def running(provider: Provider, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Connected]:
    settings = {"plan": Limits(protected_tags=1, key_files=(LINK, MONEY), head_documents=("docs/pricing.md",))}
    root = tmp_path_factory.mktemp("key_files")
    async with connected(root, running_installation, provider, OPENAI, settings=settings) as all_of_it:
        yield all_of_it


def prompt(request: Request) -> str:
    return b"".join(request.messages).decode()


async def test_a_key_file_stands_at_the_head_until_a_rebase_takes_in_its_change(
    running: Connected, tmp_path: Path
) -> None:
    workspace, provider = running.oc.workspace, running.provider
    (tmp_path / "hidden.py").write_text(HIDDEN)
    (workspace / LINK).symlink_to(tmp_path / "hidden.py")
    conversation = await Conversation.open(running.oc, provider, "Key files")
    await conversation.send("Hello.", Reply(text="Hello."))
    first = prompt(provider.of(conversation.session)[-1])
    assert "rounded half up, to a whole cent" in first
    assert "Amounts in whole cents." in first
    assert first.index("</documents>") < first.index("<key_files>") < first.index("Hello.")

    (workspace / MONEY).write_text('"""Amounts in tenths of a cent."""\n')
    await conversation.send("Read the ideas.", calls(Calls(running.oc).read("docs/ideas.md")), Reply(text="Read."))
    await conversation.send("Drop them.", dropping("prices by season"), Reply(text="Dropped."))
    await conversation.send("Go on.", Reply(text="On it."))
    later = prompt(provider.of(conversation.session)[-1])
    assert "tenths of a cent" not in later
    assert later.count(f"- {MONEY}") == 1
    assert [] == breaks(provider.of(conversation.session))

    await command(running, conversation.session, "ctx-flush")
    await conversation.send("And on.", Reply(text="On and on."))
    assert "Amounts in tenths of a cent." in prompt(provider.of(conversation.session)[-1])
    assert 1 == len(breaks(provider.of(conversation.session)))

    assert not any(HIDDEN in prompt(request) for request in provider.requests)
    log = await running.log()
    captured = [event for _, event in log if isinstance(event, DocumentCaptured)]
    assert {"docs/pricing.md", MONEY} == {event.path for event in captured}
    assert 1 == running.notes().count(f'left out of the prompt {{"path":"{LINK}"')


async def test_files_that_the_project_itself_names_are_reported_and_served_and_the_file_alone_does_nothing(
    running: Connected,
) -> None:
    workspace, provider, bus = running.oc.workspace, running.provider, running.bus
    restore(workspace, MONEY)
    (workspace / "own.py").write_text("BERTHS = 40\n")
    (workspace / ".annals").mkdir()
    (workspace / ".annals" / "config.toml").write_text('[plan]\nkey_files = ["own.py"]\n[memory]\nenabled = false\n')
    first = await Conversation.open(running.oc, provider, "Before")
    await first.send("Hello.", Reply(text="Hello."))
    before = prompt(provider.of(first.session)[-1])
    assert ("BERTHS" in before, "to a whole cent" in before) == (False, True)

    project = next(envelope.project for envelope, _ in await running.log() if envelope.project)
    command = SettingsApply('{"plan.key_files": ["own.py"]}')
    answer = await send(bus, Address(project), command, name="apply", actor=Actor("person", "ada"))
    assert answer.ok, answer.text
    await first.send("Go on.", Reply(text="On it."))
    assert [] == breaks(provider.of(first.session))
    assert "own.py" in {event.path for _, event in await running.log() if isinstance(event, DocumentCaptured)}
    second = await Conversation.open(running.oc, provider, "After")
    await second.send("Hello.", Reply(text="Hello."))
    after = prompt(provider.of(second.session)[-1])
    assert ("BERTHS = 40" in after, MONEY in after) == (True, False)


ODD = "sub/ödd näme & <b> 'q'/a b;$(x).py"
TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"


async def accepted(running: Connected, *paths: str) -> None:
    project = Address(next(envelope.project for envelope, _ in await running.log() if envelope.project))
    for path in paths:
        propose, sender = KeyFilePropose(path, 5, 0, 5), Actor("room", "dreamer")
        assert (await send(running.bus, project, propose, name=f"propose-{path}", actor=sender)).ok
    answer = await send(running.bus, project, KeyFileAccept([*paths]), name="accept", actor=Actor("person", "ada"))
    assert answer.ok, answer.text


async def test_whatever_becomes_of_an_accepted_file_no_prompt_changes_before_a_rebase_and_nothing_leaks(
    running: Connected, tmp_path: Path
) -> None:
    workspace, provider = running.oc.workspace, running.provider
    (tmp_path / "hidden.py").write_text(HIDDEN)
    file = workspace / ODD
    file.parent.mkdir(parents=True)
    file.write_text("MOORINGS = 40\n")
    conversation = await Conversation.open(running.oc, provider, "Accepted")
    await conversation.send("Hello.", Reply(text="Hello."))
    await accepted(running, ODD)

    async def head() -> str:
        """The prompt behind the next rebase, which comes when a person wants it and not before."""
        before = len(breaks(provider.of(conversation.session)))
        for _ in range(2):
            await conversation.send("Go on.", Reply(text="On it."))
        assert before == len(breaks(provider.of(conversation.session)))
        await command(running, conversation.session, "ctx-flush")
        await conversation.send("And on.", Reply(text="On and on."))
        return prompt(provider.of(conversation.session)[-1])

    assert "MOORINGS = 40" in await head()
    file.write_text("MOORINGS = 41\n")
    assert "MOORINGS = 41" in await head()
    file.write_text(f"MOORINGS = 42\nTOKEN = '{TOKEN}'\n")
    assert "MOORINGS = 42" in await head()
    file.write_text("MOORINGS = 43\n" + "# a long line\n" * 150_000)
    assert "MOORINGS" not in await head()
    file.write_bytes(b"MOORINGS = 44\0\xff")
    assert "MOORINGS" not in await head()
    file.write_text("MOORINGS = 45\n")
    assert "MOORINGS = 45" in await head()
    file.unlink()
    file.symlink_to(tmp_path / "hidden.py")
    assert "MOORINGS" not in await head()
    file.unlink()
    file.mkdir()
    assert "MOORINGS" not in await head()
    file.rmdir()
    file.write_text("MOORINGS = 46\n")
    assert "MOORINGS = 46" in await head()
    file.rename(file.with_name("other.py"))
    assert "MOORINGS" not in await head()

    prompts = [prompt(request) for request in provider.requests]
    assert not any(HIDDEN in one or TOKEN in one for one in prompts)
    log = b"".join([event.text.encode() for _, event in await running.log() if isinstance(event, DocumentCaptured)])
    assert TOKEN.encode() not in log
    assert "failed in" not in running.notes()
    assert [] == provider.faults
