"""The dreamer asks OpenCode's own model: what it answers is proposed, approved by a person, and in the next prompt."""

from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import TypeVar

import pytest

from schemas.commands import DreamOrder, MemoryDecide
from schemas.envelope import Actor
from schemas.events import DreamFinished, Event, MemoryProposed, MemoryRevised, SpendSettled, TaskAsked, TaskFinished
from schemas.subjects import Address
from services.kit.commands import send
from services.settings import Model
from tests.conftest import InstallationFactory
from tests.harness.connected import Connected, connected
from tests.harness.provider import Call, Provider, Reply
from tests.harness.scripted import Conversation
from tests.harness.test_key_files import prompt
from tests.harness.test_plain import breaks
from tests.harness.test_questions import sessions
from tests.harness.test_tools import command
from tests.helpers.dreaming_models import saying
from tests.helpers.installation import until
from tests.helpers.lying_models import Item, telling, worded

pytestmark = pytest.mark.harness

TEXTS = telling()[:3]
PERSON = Actor("person", "ada")
E = TypeVar("E", bound=Event)


def improving(handle: str, item: Item) -> list[Item]:
    return [{"handle": handle, "text": worded(item["text"])}]


@pytest.fixture
async def running(tmp_path: Path, installation: InstallationFactory) -> AsyncIterator[Connected]:
    settings = {"model": Model(chain=("harness/small",))}
    async with (
        Provider() as provider,
        connected(tmp_path, installation, provider, settings=settings, questions=True) as all_of_it,
    ):
        yield all_of_it


async def of(running: Connected, kind: type[E]) -> Sequence[E]:
    return [event for _, event in await running.log() if isinstance(event, kind)]


async def dreams(running: Connected, project: Address, task: str, runs: int) -> None:
    answer = await send(running.bus, project, DreamOrder(task), name=f"order-{runs}", actor=PERSON)
    assert answer.ok, answer.text

    async def is_over() -> bool:
        return runs == len(await of(running, DreamFinished))

    await until(is_over, f"{task} has run")


async def test_what_opencode_s_model_words_anew_is_in_the_next_prompt_once_a_person_approves_it(
    running: Connected,
) -> None:
    oc, provider = running.oc, running.provider
    conversation = await Conversation.open(oc, provider, "A person's")
    writes = tuple(Call("ctx_memory", {"action": "write", "text": text, "category": "ARCHITECTURE"}) for text in TEXTS)
    await conversation.send("Remember that.", Reply(calls=writes), Reply(text="Stored."))
    project = Address(next(envelope.project for envelope, _ in await running.log() if envelope.project))

    provider.script.add(saying("memories", improving), lane="compaction")
    await dreams(running, project, "improve", 1)
    (asked,) = await of(running, TaskAsked)
    assert ("ok", "harness/fake/fake-1", len(TEXTS)) == (asked.outcome, asked.model, asked.accepted), asked
    (ended,) = await of(running, TaskFinished)
    assert ("completed", len(TEXTS)) == (ended.outcome, ended.waiting)
    (settled,) = await of(running, SpendSettled)
    assert asked.tokens == settled.tokens > 0
    assert settled.usd > 0
    proposed = await of(running, MemoryProposed)
    assert {*map(worded, TEXTS)} == {one.text for one in proposed}
    assert [] == await of(running, MemoryRevised)

    for number, one in enumerate(proposed):
        decide = MemoryDecide(one.memory, approve=True)
        answer = await send(running.bus, project, decide, name=f"decide-{number}", actor=PERSON)
        assert answer.ok, answer.text
    await conversation.send("Go on.", Reply(text="On it."))
    assert [] == breaks(provider.of(conversation.session))
    await command(running, conversation.session, "ctx-flush")
    await conversation.send("And on.", Reply(text="On and on."))
    newest = prompt(provider.of(conversation.session)[-1])
    assert [True] * len(TEXTS) == [worded(text) in newest for text in TEXTS]
    assert 1 == len(breaks(provider.of(conversation.session)))
    assert {"A person's"} == await sessions(oc)
    assert [] == provider.faults
