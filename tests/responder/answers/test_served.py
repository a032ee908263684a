"""The parts of a prompt, as the answer to rooms lists them."""

from schemas.commands import MemoryQuarantine, MemoryWrite
from schemas.events import MemoryQuarantined, MemoryReleased
from schemas.plan import CutBefore, OmitMessage, ReplaceOutput, ReplaceText, SetHead
from schemas.subjects import Address
from services.domain.limits import Limits
from services.memory.remembered import Remembered, evolve
from services.plan.lanes import TAGS
from services.plan.session.state import Session, with_edits
from services.responder.answers.served import MOST_KNOWN, ServedAnswers, served
from tests.helpers.compressed_sessions import ran
from tests.helpers.given import envelope
from tests.helpers.harness import Harness, text_part
from tests.helpers.memory_books import Desk


def served_session() -> tuple[Session, list[str]]:
    """Four messages that were sent as they are."""
    harness = Harness(Limits(), (TAGS,))
    names = [harness.user("why does the build fail?"), harness.assistant(text_part("I will see."))]
    names += [harness.user("and now?"), harness.assistant(text_part("It works."))]
    harness.step()
    return harness.session, names


def test_messages_are_served_as_long_as_nothing_of_them_is_taken() -> None:
    session, names = served_session()
    assert tuple(names) == served(session, Remembered()).messages
    part = session.conversation.messages[names[0]].sent[0]
    for edit, left in (
        (CutBefore(message=names[2]), names[2:]),
        (OmitMessage(message=names[1]), [names[0], *names[2:]]),
        (ReplaceText(part=part, text="why?"), names[1:]),
    ):
        assert tuple(left) == served(with_edits(session, [edit]), Remembered()).messages


def test_outputs_are_served_as_long_as_they_are_whole_whatever_becomes_of_the_text() -> None:
    harness = Harness(Limits(), (TAGS,))
    harness.user("why does the build fail?")
    name = harness.assistant(text_part("I will see."), ran("make", "E4711", "c1"))
    harness.user("and now?")
    harness.step()
    session = harness.session
    written, output = session.conversation.messages[name].sent
    assert (name,) == served(session, Remembered()).outputs, "messages without tools have none"
    dropped = served(with_edits(session, [ReplaceOutput(part=output, text="[dropped]")]), Remembered())
    assert ((), True) == (dropped.outputs, name in dropped.messages)
    shorter = served(with_edits(session, [ReplaceText(part=written, text="see")]), Remembered())
    assert ((name,), False) == (shorter.outputs, name in shorter.messages)
    assert () == served(with_edits(session, [OmitMessage(message=name)]), Remembered()).outputs


def test_a_memory_is_served_where_the_head_was_made_of_it() -> None:
    session, _ = served_session()
    remembered = Remembered(newest=Remembered().newest.insert("mem1", 7).insert("mem2", 8))
    assert () == served(session, remembered).memories
    assert ("mem1",) == served(with_edits(session, [SetHead(slot=0, text="a rule", by=(7,))]), remembered).memories


def test_sessions_that_are_taken_back_are_named_and_other_sources_are_not() -> None:
    session, _ = served_session()
    remembered = Remembered()
    for seq, event in enumerate(
        (
            MemoryQuarantined(kind="session", value="s:1", memories=[]),
            MemoryQuarantined(kind="actor", value="s2", memories=[]),
            MemoryQuarantined(kind="session", value="s3", memories=[]),
            MemoryReleased(kind="session", value="s3", memories=[]),
        ),
        1,
    ):
        remembered = evolve(remembered, event, envelope(event, seq))
    assert ("s:1",) == served(session, remembered).quarantined


def test_single_messages_that_are_taken_back_are_named_with_their_session() -> None:
    desk = Desk()
    written = MemoryWrite(text="The harbour master signs each tide table.", category="PROJECT_RULES", message="m7")
    desk.say(written, "agent", "s:1")
    desk.say(MemoryQuarantine("message", "m7"))
    session, _ = served_session()
    assert (("s:1", "m7"),) == served(session, Remembered(book=desk.book)).quarantined_messages
    desk.say(MemoryQuarantine("message", "m7", undo=True))
    assert () == served(session, Remembered(book=desk.book)).quarantined_messages


async def test_an_answer_is_worked_out_once_for_each_state() -> None:
    session, names = served_session()
    answers, address, remembered = ServedAnswers(), Address("p", "s"), Remembered()
    first = await answers.of(address, session, remembered)
    assert first == served(session, remembered)
    assert first is await answers.of(address, session, remembered)
    shorter = with_edits(session, [OmitMessage(message=names[1])])
    assert served(shorter, remembered) == await answers.of(address, shorter, remembered)
    known = Remembered(newest=Remembered().newest.insert("mem1", 7))
    headed = with_edits(session, [SetHead(slot=0, text="a rule", by=(7,))])
    assert () == (await answers.of(address, headed, remembered)).memories
    assert ("mem1",) == (await answers.of(address, headed, known)).memories
    assert first == await answers.of(address, session, remembered)


async def test_only_the_newest_answers_are_remembered() -> None:
    session, _ = served_session()
    answers, remembered = ServedAnswers(), Remembered()
    first, *_, last = [
        await answers.of(Address("p", f"s{number}"), session, remembered) for number in range(MOST_KNOWN + 1)
    ]
    assert last is await answers.of(Address("p", f"s{MOST_KNOWN}"), session, remembered)
    assert first is not await answers.of(Address("p", "s0"), session, remembered)
