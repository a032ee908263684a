"""A model copies what stands in the place of a text into a call: the real OpenCode does not make that call."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.conftest import running_installation
from tests.harness.connected import Connected, connected
from tests.harness.provider import Call, Provider, Reply
from tests.harness.scripted import Calls, Conversation, bash, calls, task, todos

pytestmark = [pytest.mark.harness, pytest.mark.asyncio(loop_scope="module")]

COPY = "[dropped §2§]"
WORDS = "precious words\n" * 50


def text_of(path: Path) -> str:
    return path.read_text()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def running(provider: Provider, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Connected]:
    async with connected(tmp_path_factory.mktemp("copied"), running_installation, provider) as all_of_it:
        yield all_of_it


@pytest.fixture
def file(running: Connected) -> Path:
    path = running.oc.workspace / "keep.txt"
    path.write_text(WORDS)
    return path


FORMS = (f"\n  {COPY}\n", f'"{COPY}"', "§2§", "[truncated §2§]")
"""They are tried on the adapter's own functions, too."""


@pytest.mark.parametrize("copied", [COPY, *(pytest.param(one, marks=pytest.mark.soak) for one in FORMS)])
async def test_a_copied_placeholder_overwrites_no_file(running: Connected, file: Path, copied: str) -> None:
    conversation, on = await Conversation.open(running.oc, running.provider, "Copy"), Calls(running.oc)
    await conversation.send("Read it.", calls(on.read("keep.txt")), Reply(text="Read."))
    await conversation.send("Mend it.", calls(on.write("keep.txt", copied)), Reply(text="Mended."))

    assert WORDS == text_of(file)
    (output,) = await conversation.outputs("write")
    assert "The call was not made" in output
    assert "`ctx_expand`" in output
    sent = running.provider.of(conversation.session)[-1]
    assert any("The call was not made" in output for output in sent.outputs.values())


async def test_every_tool_is_looked_at_and_every_depth(running: Connected, file: Path) -> None:
    conversation, on = await Conversation.open(running.oc, running.provider, "Tools"), Calls(running.oc)
    await conversation.send("Read it.", calls(on.read("keep.txt")), Reply(text="Read."))
    copies = (
        on.edit("keep.txt", "precious words", COPY),
        todos((COPY, "pending")),
        task("Look", COPY),
        bash(COPY),
        Call("ctx_memory", {"action": "write", "text": COPY, "category": "NAMING"}),
    )
    await conversation.send("Go on.", calls(*copies), Reply(text="Done."))

    refused = [status for _, status in (await conversation.tools())[1:]]
    assert ["error"] * len(copies) == refused
    assert WORDS == text_of(file)


async def test_a_call_that_speaks_of_placeholders_is_made(running: Connected, file: Path) -> None:
    conversation, on = await Conversation.open(running.oc, running.provider, "Speaks"), Calls(running.oc)
    text = f"# Placeholders\n\n`{COPY}` stands for what left the prompt.\n"
    await conversation.send(
        "Write it down.",
        calls(on.write("docs/placeholders.md", text), bash(f"printf '%s' '{COPY}' > output.txt")),
        calls(Call("ctx_reduce", {"drop": "§1§"})),
        Reply(text="Written."),
    )

    assert [] == [tool for tool, status in await conversation.tools() if status == "error"]
    assert text == text_of(running.oc.workspace / "docs/placeholders.md")
    assert COPY == text_of(running.oc.workspace / "output.txt")
    assert WORDS == text_of(file)
