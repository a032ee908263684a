"""Questions over a real broker: a harness is offered one as soon as it is put, and one harness has it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import uuid4

import msgspec
import pytest

from schemas.codec import encode
from schemas.commands import Answer, Command, CommandMessage
from schemas.envelope import Actor
from schemas.events import QuestionAnswered, QuestionPut, QuestionTaken, QuestionWithdrawn
from schemas.question_asks import OfferedQuestion
from schemas.question_commands import QuestionRequest, QuestionWithdraw
from schemas.subjects import Address
from services.desk.worker import Desk
from services.edges.launcher.broker import Broker
from services.kit.bus import Bus, NotAllowed
from tests.helpers.answering_harness import AnsweringHarness
from tests.helpers.broker_world import HARBOUR, connected, facts, kit_of, opened, quick_settings
from tests.helpers.waiting import PATIENCE, until

pytestmark = pytest.mark.broker

PROJECT = Address(HARBOUR.project)
ROOM = Actor("room", "historian")


@pytest.fixture
async def desk(bus: Bus, tmp_path: Path) -> AsyncIterator[Desk]:
    async with opened(room := Desk(), bus, quick_settings(tmp_path)):
        yield room


@pytest.fixture
async def harnesses(broker: Broker) -> AsyncIterator[tuple[AnsweringHarness, AnsweringHarness]]:
    """Two processes of harnesses, as the user that harnesses are."""
    buses = [await connected(broker, "harness") for _ in range(2)]
    yield AnsweringHarness(buses[0], "a"), AnsweringHarness(buses[1], "b")
    for one in buses:
        await one.close()


def question(name: str = "q", prompt: str = "How many sheep?", seconds: float = 100) -> QuestionRequest:
    until_ = datetime.now(UTC) + timedelta(seconds=seconds)
    return QuestionRequest(name, "historian", "small", "You count.", prompt, 100, until_, "s1")


async def sent(bus: Bus, command: Command) -> Answer:
    message = CommandMessage(uuid4().hex, datetime.now(UTC), ROOM, msgspec.Raw(encode(command)))
    return msgspec.json.decode(await bus.request(PROJECT.command(command.TYPE), encode(message), PATIENCE), type=Answer)


async def test_a_question_goes_to_a_harness_that_waits_and_its_answer_into_the_log(
    bus: Bus, desk: Desk, harnesses: tuple[AnsweringHarness, AnsweringHarness]
) -> None:
    harness, _ = harnesses
    asking = asyncio.create_task(harness.ask())
    await until(lambda: desk.health()["harnesses_waiting"] == 1)
    assert (await sent(bus, question())).ok
    offered = await asking
    assert ("q", "small", "You count.", "How many sheep?", 100, "s1", "historian", "") == (
        offered.question, offered.model, offered.system, offered.prompt, offered.output, offered.session,
        offered.purpose, offered.error,
    )  # fmt: skip
    assert (await harness.take("q")).ok
    assert (await harness.answer("q", "3", model="pi/tiny", tokens_in=9, tokens_out=1, usd=0.5)).ok
    written = await facts(bus, PROJECT)
    assert [QuestionPut, QuestionTaken, QuestionAnswered] == [type(event) for event in written]
    assert QuestionAnswered("q", "a", "3", "", "pi/tiny", 9, 1, 0, 0.5, "s1") == written[-1]


async def test_a_question_that_is_open_already_is_offered_at_once_and_none_when_there_is_none(
    bus: Bus, desk: Desk, harnesses: tuple[AnsweringHarness, AnsweringHarness]
) -> None:
    harness, other = harnesses
    assert OfferedQuestion() == await harness.ask(0)
    await sent(bus, question())
    assert "q" == (await harness.ask(0)).question
    await harness.take("q")
    assert OfferedQuestion() == await other.ask(0)
    assert 0 == desk.health()["harnesses_waiting"]


async def test_a_harness_that_got_no_answer_to_its_taking_is_offered_the_question_again_and_no_other_one_is(
    bus: Bus, desk: Desk, harnesses: tuple[AnsweringHarness, AnsweringHarness]
) -> None:
    harness, other = harnesses
    await sent(bus, question())
    await harness.take("q")
    assert ("q", "") == ((await harness.ask(0)).question, (await other.ask(0)).question)
    answer = await harness.take("q")
    assert (True, "You have taken this already: answer it.") == (answer.ok, answer.text)
    assert OfferedQuestion() == await harness.ask(0, "q")
    assert (await harness.answer("q", "3")).ok
    assert OfferedQuestion() == await harness.ask(0)
    assert 0 == desk.health()["harnesses_waiting"]
    assert [QuestionPut, QuestionTaken, QuestionAnswered] == [type(event) for event in await facts(bus, PROJECT)]


async def test_of_two_harnesses_one_takes_a_question(
    bus: Bus, desk: Desk, harnesses: tuple[AnsweringHarness, AnsweringHarness]
) -> None:
    asking = [asyncio.create_task(one.ask()) for one in harnesses]
    await until(lambda: desk.health()["harnesses_waiting"] == 2)
    await sent(bus, question())
    assert ["q", "q"] == [(await one).question for one in asking]
    taken = await asyncio.gather(*(one.take("q") for one in harnesses))
    assert [False, True] == sorted(one.ok for one in taken)
    loser = harnesses[0 if taken[1].ok else 1]
    assert "only who has taken a question may answer it" in (await loser.answer("q", "4")).text
    assert 1 == sum(isinstance(event, QuestionTaken) for event in await facts(bus))


@pytest.mark.usefixtures("desk")
async def test_what_was_withdrawn_is_offered_to_nobody_and_its_answer_is_refused(
    bus: Bus, harnesses: tuple[AnsweringHarness, AnsweringHarness]
) -> None:
    harness, _ = harnesses
    await sent(bus, question())
    await harness.take("q")
    assert (await sent(bus, QuestionWithdraw("q", "too late"))).ok
    assert OfferedQuestion() == await harness.ask(0)
    assert "this question was withdrawn" in (await harness.answer("q", "3")).text
    assert [QuestionPut, QuestionTaken, QuestionWithdrawn] == [type(event) for event in await facts(bus, PROJECT)]


@pytest.mark.usefixtures("desk")
async def test_what_could_not_be_answered_is_put_taken_and_answered_again_by_the_same_commands(
    bus: Bus, harnesses: tuple[AnsweringHarness, AnsweringHarness]
) -> None:
    harness, _ = harnesses
    for fields in ({"failure": "busy"}, {"text": "3"}, {"text": "3"}):
        await sent(bus, question())
        assert (await harness.take("q")).ok or fields["text"] == "3"
        assert (await harness.answer("q", **fields)).ok
    written = [type(event) for event in await facts(bus, PROJECT)]
    assert [QuestionPut, QuestionTaken, QuestionAnswered] * 2 == written


@pytest.mark.usefixtures("desk")
async def test_a_secret_in_an_answer_is_masked(bus: Bus, harnesses: tuple[AnsweringHarness, AnsweringHarness]) -> None:
    token = "ghp_" + "a1B2c3D4e5F6" * 3
    harness, _ = harnesses
    await sent(bus, question(prompt=f"Who owns {token}?"))
    await harness.take("q")
    await harness.answer("q", f"It is {token}.")
    put, _, answered = await facts(bus, PROJECT)
    assert isinstance(put, QuestionPut)
    assert isinstance(answered, QuestionAnswered)
    assert (True, True) == ("[masked:" in put.prompt, "[masked:" in answered.text)
    assert token not in f"{put} {answered}"


@pytest.mark.usefixtures("desk")
async def test_a_harness_puts_and_withdraws_nothing(
    bus: Bus, harnesses: tuple[AnsweringHarness, AnsweringHarness]
) -> None:
    harness, _ = harnesses
    await sent(bus, question())
    for command in (question("r"), QuestionWithdraw("q")):
        with pytest.raises(NotAllowed):
            await harness.send(command, PROJECT)
        answer = await harness.send(command)
        assert (False, 0) == (answer.ok, answer.seq)
    assert 1 == len(await facts(bus))


async def test_two_desks_offer_and_decide_as_one(
    broker: Broker, bus: Bus, desk: Desk, harnesses: tuple[AnsweringHarness, AnsweringHarness], tmp_path: Path
) -> None:
    other = await connected(broker)
    try:
        async with opened(second := Desk(), other, quick_settings(tmp_path)):
            asking = [asyncio.create_task(harnesses[number % 2].ask()) for number in range(12)]
            await until(lambda: sum(int(str(one.health()["harnesses_waiting"])) for one in (desk, second)) == 12)
            await sent(bus, question())
            assert {"q"} == {(await one).question for one in asking}
            taken = await asyncio.gather(*(harnesses[number % 2].take("q") for number in range(12)))
    finally:
        await other.close()
    assert 6 == sum(one.ok for one in taken)
    assert 1 == sum(isinstance(event, QuestionTaken) for event in await facts(bus))


async def test_a_desk_that_closes_lets_those_go_who_wait(
    bus: Bus, harnesses: tuple[AnsweringHarness, AnsweringHarness], tmp_path: Path
) -> None:
    async with AsyncExitStack() as stack:
        kit = await stack.enter_async_context(kit_of("desk", bus, quick_settings(tmp_path)))
        await (room := Desk()).open(kit)
        asking = asyncio.create_task(harnesses[0].ask(600_000))
        await until(lambda: room.health()["harnesses_waiting"] == 1)
    assert OfferedQuestion() == await asking


@pytest.mark.usefixtures("desk")
async def test_questions_of_one_project_are_none_of_another(
    bus: Bus, harnesses: tuple[AnsweringHarness, AnsweringHarness]
) -> None:
    message = CommandMessage("c", datetime.now(UTC), ROOM, msgspec.Raw(encode(question())))
    await bus.request(Address("island").command("question.put"), encode(message), PATIENCE)
    assert OfferedQuestion() == await harnesses[0].ask(0)
