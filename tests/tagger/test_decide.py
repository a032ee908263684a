from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from itertools import pairwise, takewhile

import msgspec
import pytest
from hypothesis import given as given_any
from hypothesis import settings
from hypothesis import strategies as st

from schemas.codec import decode_attachments, encode_attachments
from schemas.envelope import Actor, Envelope
from schemas.events import (
    CallFailed,
    Event,
    MessageListed,
    MessageRecorded,
    MessageRemoved,
    ModelChanged,
    NativeCompacted,
    OverflowDetected,
    PartRecorded,
    PartRemoved,
    SessionClosed,
    SessionForked,
    SessionIdled,
    SessionOpened,
    SessionRenamed,
    StepOpened,
    TagAssigned,
    UsageSampled,
)
from schemas.inbox import (
    AdapterSeen,
    Attachment,
    CompactionSeen,
    ErrorSeen,
    Inbound,
    Listed,
    ListSeen,
    MessageGone,
    MessageSeen,
    PartGone,
    PartSeen,
    Role,
    Seen,
    SessionIdle,
    SessionReverted,
    SessionSeen,
    StepSeen,
    Todo,
    TodoSeen,
    ToolSeen,
    ToolsSeen,
    ToolStatus,
    UsageSeen,
)
from schemas.inbox import (
    SessionClosed as SessionEnded,
)
from services.tagger.core.decide import InboundContext, decide
from services.tagger.core.numbering import MAX_NAMES_PER_EVENT
from services.tagger.core.parts import content_digest
from services.tagger.core.state import TaggedSession, evolve, identity
from tests.helpers.examples import examples
from tests.helpers.given import Given, drafted, given

replace = msgspec.structs.replace
AT = datetime(2026, 1, 1, tzinfo=UTC)
START = given(evolve, TaggedSession())


def inbound(
    *items: Seen, origin: TaggedSession | None = None, sizes: dict[str, int] | None = None
) -> Callable[[TaggedSession], list[Event]]:
    """What the tagger decides on one inbound message of these items."""
    context = InboundContext("opencode", Inbound("i", AT, items), origin, sizes or {})
    return lambda session: decided(session, context)


def decided(session: TaggedSession, context: InboundContext) -> list[Event]:
    return drafted(evolve, session, lambda draft: decide(draft, context))


def text(part: str, text: str = "words", position: int = 0, *, ignored: bool = False) -> PartSeen:
    return PartSeen("", "text", part, position, text=text, ignored=ignored)


def tool(part: str, call: str, output: str = "out", status: ToolStatus = "completed", position: int = 0) -> PartSeen:
    return PartSeen("", "tool", part, position, tool="read", call=call, input="{}", output=output, status=status)


def called(part: str, call: str) -> PartSeen:
    return PartSeen("", "tool_call", part, tool="grep", call=call, input="{}")


def answered(part: str, call: str, output: str = "out") -> PartSeen:
    return PartSeen("", "tool_result", part, call=call, output=output)


def of(message: str, part: PartSeen) -> PartSeen:
    return msgspec.structs.replace(part, message=message)


def message(name: str, *parts: PartSeen, role: Role = "assistant", minute: int | None = None) -> MessageSeen:
    at = None if minute is None else AT + timedelta(minutes=minute)
    return MessageSeen(name, role, at, parts=tuple(of(name, part) for part in parts))


def listing(names: str | Sequence[str]) -> tuple[Listed, ...]:
    return tuple(Listed(name) for name in names)


def step(name: str, messages: str | Sequence[str] = "", after: str = "", count: int = 0) -> StepSeen:
    """A step whose messages have names of one letter."""
    return StepSeen(name, after=after, messages=listing(messages), count=count)


def tags(first: int, kind: str, **parts: str) -> TagAssigned:
    """Numbers for these parts, each with its message."""
    return TagAssigned(first=first, parts=list(parts), messages=list(parts.values()), kinds=[kind] * len(parts))


def placed(**ordinals: int) -> MessageListed:
    return MessageListed(messages=list(ordinals), ordinals=list(ordinals.values()))


def opened(name: str, unchanged: int, last: int, count: int, previous: str = "", *, aligned: bool = True) -> StepOpened:
    return StepOpened(step=name, previous=previous, aligned=aligned, unchanged=unchanged, last=last, count=count)


def numbers(now: Given[TaggedSession]) -> dict[str, int]:
    """The parts that have a number."""
    return {name: part.number for name, part in sorted(now.state.conversation.parts.items()) if part.number}


def order(now: Given[TaggedSession]) -> str:
    return "".join(one.recorded.message for one in now.state.conversation.after(0))


ONE_TURN = START.when(
    inbound(message("u", text("u0"), role="user"), message("a", text("a0")), step("s1", "ua", count=2))
)
"""Two messages, numbered and sent."""


# Numbers


def test_what_is_sent_gets_numbers_in_the_order_of_messages_and_parts() -> None:
    reasoning = PartSeen("", "reasoning", "a0", text="hm")
    first = message("u", text("u0", "fix bug"), role="user")
    reply = message("a", reasoning, text("a1", "ok", 1), tool("a2", "c1", "FILE", position=2))
    now = START.when(inbound(first, reply, step("s1", "ua")))
    expected = TagAssigned(
        first=1, parts=["u0", "a1", "a2"], messages=["u", "a", "a"], kinds=["message", "message", "tool"]
    )
    now = now.then_only(TagAssigned, expected)
    later = now.when(inbound(message("v", text("v0"), role="user"), step("s2", "v", after="a")))
    later.then_only(TagAssigned, tags(4, "message", v0="v"))
    assert {"a1": 2, "a2": 3, "u0": 1, "v0": 4} == numbers(later)


def test_a_first_step_is_recorded_as_facts_in_order() -> None:
    hello = text("u0", "häh")
    user = message("u", hello, role="user", minute=1)
    START.when(inbound(user, step("s1", "u", count=1))).then(
        MessageRecorded(message="u", role="user", sent=AT + timedelta(minutes=1)),
        PartRecorded(message="u", part="u0", kind="text", bytes=4, tokens=1, digest=content_digest(hello), text="häh"),
        placed(u=1),
        tags(1, "message", u0="u"),
        opened("s1", unchanged=0, last=1, count=1),
    )


def test_a_tool_is_recorded_with_what_it_was_asked_and_what_it_answered() -> None:
    read = tool("a0", "c1", "FILE")
    START.when(inbound(message("a", read))).then_only(
        PartRecorded,
        PartRecorded(
            message="a",
            part="a0",
            kind="tool",
            tool="read",
            call="c1",
            owner="a",
            status="completed",
            bytes=4,
            input_bytes=2,
            tokens=2,
            digest=content_digest(read),
            input="{}",
            output="FILE",
        ),
    )


def test_the_order_of_numbers_is_that_of_the_list_and_not_of_seeing() -> None:
    seen = inbound(message("b", text("b1", position=1), text("b0")), message("a", text("a0")), step("s1", "ab"))
    START.when(seen).then_only(TagAssigned, tags(1, "message", a0="a", b0="b", b1="b"))


def test_nothing_is_numbered_before_it_is_sent() -> None:
    now = START.when(inbound(message("a", text("a0")), message("b", text("b0")), step("s1", "b")))
    now.then_only(TagAssigned, tags(1, "message", b0="b"))
    now.when(inbound(step("s2", "ba"))).then_only(TagAssigned, tags(2, "message", a0="a"))


def test_a_late_part_gets_the_next_number_though_it_stands_before_others() -> None:
    late = inbound(of("u", text("u1", "late", 1)), message("b", text("b0")), step("s2", "b", after="a"))
    ONE_TURN.when(late).then_only(TagAssigned, tags(3, "message", u1="u", b0="b"))


def test_two_calls_with_one_id_in_one_message_have_a_number_each() -> None:
    both = message("a", tool("p0", "c"), tool("p1", "c", "other", position=1))
    now = START.when(inbound(both, step("s", "a", count=1)))
    assert {"p0": 1, "p1": 2} == numbers(now)
    later = now.when(inbound(message("b", tool("p2", "c")), step("t", "ab", count=2)))
    assert {"p0": 1, "p1": 2, "p2": 3} == numbers(later)


def test_two_calls_with_one_id_keep_their_numbers_when_one_comes_later() -> None:
    now = START.when(inbound(message("a", tool("p0", "c")), step("s", "a", count=1)))
    now = now.when(inbound(of("a", tool("p1", "c", "other", position=1)), step("t", "a", count=1)))
    again = now.when(inbound(of("a", tool("p1", "c", "changed", position=1)), step("u", "a", count=1)))
    assert {"p0": 1, "p1": 2} == numbers(now) == numbers(again)


def test_no_number_is_given_again_after_its_part_is_gone() -> None:
    now = ONE_TURN.when(inbound(MessageGone("a"), PartGone("u", "u0"), message("b", text("b0")), step("s2", "ub")))
    now.then_only(TagAssigned, tags(3, "message", b0="b"))


@pytest.mark.parametrize("status", ["", "pending", "running", "error"])
def test_a_tool_has_no_number_before_it_has_an_output(status: ToolStatus) -> None:
    now = START.when(inbound(message("a", tool("a0", "c1", "", status)), step("s1", "a"))).then_only(TagAssigned)
    done = now.when(inbound(of("a", tool("a0", "c1")), step("s2", "", after="a")))
    done.then_only(TagAssigned, tags(1, "tool", a0="a"))


@pytest.mark.parametrize(
    "part",
    [
        text("a0", ignored=True),
        text("a0", ""),
        text("a0", " \n\t"),
        PartSeen("", "reasoning", "a0", text="hm"),
        PartSeen("", "compaction", "a0", text="summary"),
        called("a0", "c1"),
        PartSeen("", "tool_result", "a0", call="c1", output="no", status="error"),
    ],
    ids=lambda part: f"{part.type}-{part.text!r}-{part.ignored}",
)
def test_what_an_agent_cannot_name_has_no_number(part: PartSeen) -> None:
    now = START.when(inbound(message("a", part), step("s1", "a")))
    now.then_only(TagAssigned)
    assert "a0" in now.state.conversation.parts


@pytest.mark.parametrize("part", [text("a0", ""), text("a0", "  "), text("a0", ignored=True)])
def test_what_becomes_blank_or_ignored_before_it_is_sent_has_no_number(part: PartSeen) -> None:
    now = START.when(inbound(message("a", text("a0", "draft")), of("a", part), step("s1", "a"))).then_only(TagAssigned)
    written = now.when(inbound(of("a", text("a0", "final")), step("s2", "", after="a")))
    written.then_only(TagAssigned, tags(1, "message", a0="a"))


def test_a_number_whose_part_is_not_known_is_spent_all_the_same() -> None:
    now = given(evolve, TaggedSession(), tags(1, "message", x0="x")).when(
        inbound(message("a", text("a0")), step("s1", "a"))
    )
    now.then_only(TagAssigned, tags(2, "message", a0="a"))


def test_a_message_carries_its_id_its_time_and_its_actor() -> None:
    context = InboundContext("opencode", Inbound("i1", AT, (), actor=Actor("agent", "build")))
    assert ("i1", AT, Actor("agent", "build")) == (context.id, context.at, context.actor)


def test_each_fact_is_folded_into_the_state_once() -> None:
    folded: list[Event] = []

    def counting(session: TaggedSession, event: Event, envelope: Envelope) -> TaggedSession:
        folded.append(event)
        return evolve(session, event, envelope)

    shown = message("a", text("a0"), tool("a1", "c"))
    context = InboundContext(
        "opencode", Inbound("i", AT, (message("u", text("u0"), role="user"), shown, step("s", "ua")))
    )
    facts = drafted(counting, TaggedSession(), lambda draft: decide(draft, context))
    assert 8 <= len(facts)
    assert facts == folded


def test_a_file_has_a_number_of_its_kind() -> None:
    file = PartSeen("", "file", position=1, text="data:,x", mime="text/plain")
    expected = TagAssigned(first=1, parts=["u:p0", "u:file1"], messages=["u", "u"], kinds=["message", "file"])
    START.when(inbound(message("u", text(""), file), step("s1", "u"))).then_only(TagAssigned, expected)


def test_a_part_without_an_id_is_named_after_its_place() -> None:
    now = START.when(
        inbound(message("a", text(""), text(""), text("", position=7)), of("a", text("", "x", position=9)))
    )
    assert ("a:p0", "a:p1", "a:p7", "a:p9") == now.state.conversation.messages["a"].parts


def test_an_ignored_part_costs_nothing() -> None:
    assert 0 == START.when(inbound(message("a", text("a0", ignored=True)), step("s1", "a"))).state.conversation.tokens


def test_an_ephemeral_part_is_not_even_recorded() -> None:
    reminder = msgspec.structs.replace(text("x1", "remember"), ephemeral=True)
    alone = msgspec.structs.replace(reminder, message="a")
    START.when(inbound(message("a", text("a0"), reminder), alone)).then(
        *START.when(inbound(message("a", text("a0")))).made
    )


def test_a_step_lists_an_ephemeral_part_in_vain() -> None:
    now = START.when(inbound(message("a", text("a0")), StepSeen("s1", messages=(Listed("a", ("a0", "x1")),))))
    now.then_only(MessageRecorded, MessageRecorded(message="a", role="assistant"))


PICTURE = Attachment("image/png", "shot.png", bytes=50_000, width=1500, height=1000, digest="d1")


def parts_of(now: Given[TaggedSession]) -> dict[str, PartRecorded]:
    return {event.part: event for event in now.log if isinstance(event, PartRecorded)}


def test_a_picture_that_a_tool_showed_is_recorded_and_costs_by_its_pixels() -> None:
    shown = replace(tool("p", "c", "x" * 400), input="", attachments=(PICTURE, PICTURE))
    known = parts_of(START.when(inbound(message("a", shown))))["p"]
    assert (100 + 2 * 2000, 2 * 2000) == (known.tokens, known.attachment_tokens)
    assert (PICTURE, PICTURE) == decode_attachments(known.attachments)
    assert (100, "") == (tokens_of(replace(shown, attachments=())), encode_attachments(()))


def tokens_of(part: PartSeen) -> int:
    return parts_of(START.when(inbound(message("a", part))))["p"].tokens


def test_an_answer_with_another_picture_is_another_content() -> None:
    shown = replace(tool("p", "c"), attachments=(PICTURE,))
    now = START.when(inbound(message("a", shown)))
    assert [] == [*decided(now.state, InboundContext("opencode", Inbound("j", AT, (of("a", shown),))))]
    other = replace(shown, attachments=(replace(PICTURE, digest="d2"),))
    assert ["p"] == [
        event.part
        for event in decided(now.state, InboundContext("opencode", Inbound("j", AT, (of("a", other),))))
        if isinstance(event, PartRecorded)
    ]


def test_an_answer_without_pictures_has_the_digest_that_it_always_had() -> None:
    assert "b9add4cfe01075d9" == content_digest(tool("p", "c"))


def test_a_document_of_a_prompt_costs_by_what_it_holds_and_not_by_its_address() -> None:
    pdf = "data:application/pdf;base64," + "A" * 400_000
    assert 15_000 == tokens_of(PartSeen("", "file", "p", text=pdf, mime="application/pdf", filename="a.pdf"))


def test_a_text_stored_apart_has_its_size_and_a_number() -> None:
    long = PartSeen("", "text", "u0", text_ref="sha")
    now = START.when(inbound(message("u", long), step("s1", "u"), sizes={"sha": 400_000}))
    now.then_only(TagAssigned, tags(1, "message", u0="u"))
    recorded = now.state.conversation.parts["u0"].recorded
    assert (400_000, 100_000, "sha") == (recorded.bytes, recorded.tokens, recorded.text_ref)


def test_a_tool_whose_bodies_are_stored_apart_has_their_sizes() -> None:
    long = PartSeen("", "tool", "a0", call="c", status="completed", input_ref="in", output_ref="out")
    recorded = (
        START.when(inbound(message("a", long), sizes={"in": 40, "out": 80})).state.conversation.parts["a0"].recorded
    )
    assert (80, 40, 30) == (recorded.bytes, recorded.input_bytes, recorded.tokens)


def test_more_numbers_than_one_fact_holds_are_several_facts() -> None:
    parts = [text(f"p{number}") for number in range(2 * MAX_NAMES_PER_EVENT + 1)]
    assigned = [
        event
        for event in START.when(inbound(message("a", *parts), step("s1", "a"))).made
        if isinstance(event, TagAssigned)
    ]
    expected = [(1, MAX_NAMES_PER_EVENT), (MAX_NAMES_PER_EVENT + 1, MAX_NAMES_PER_EVENT), (4001, 1)]
    assert expected == [(event.first, len(event.parts)) for event in assigned]
    assert [f"p{number}" for number in range(4001)] == [name for event in assigned for name in event.parts]


def test_a_huge_list_is_several_facts() -> None:
    names = [f"m{number}" for number in range(2 * MAX_NAMES_PER_EVENT + 1)]
    now = START.when(inbound(step("s1", names, count=len(names))))
    listed = [event for event in now.made if isinstance(event, MessageListed)]
    assert [2000, 2000, 1] == [len(event.messages) for event in listed]
    assert list(range(1, 4002)) == [ordinal for event in listed for ordinal in event.ordinals]
    now.then_only(StepOpened, opened("s1", unchanged=0, last=4001, count=4001))
    now.when(inbound(step("s2", names))).then(opened("s2", unchanged=4001, last=4001, count=4001, previous="s1"))


# Whose call it is


def test_a_call_and_its_result_in_one_part_belong_to_their_own_message() -> None:
    now = START.when(inbound(message("a", tool("a0", "read:1"), minute=1), step("s1", "a")))
    again = now.when(inbound(message("b", tool("b0", "read:1"), minute=2), step("s2", "b", after="a")))
    again.then_only(TagAssigned, tags(2, "tool", b0="b"))
    assert {"a0": 1, "b0": 2} == numbers(again)


def test_results_belong_to_the_calls_of_their_id_in_the_order_these_were_made() -> None:
    calls = (message("a", called("a0", "grep:1")), message("b", called("b0", "grep:1")))
    results = (message("r", answered("r0", "grep:1")), message("s", answered("s0", "grep:1")))
    now = START.when(inbound(*calls, *results, step("s1", "abrs")))
    now.then_only(TagAssigned, tags(1, "tool", r0="a", s0="b"))
    trimmed = now.when(
        inbound(step("s2", "s")),
    ).then_only(TagAssigned)
    assert 2 == numbers(trimmed)["s0"]


def test_calls_of_other_ids_do_not_stand_in_the_way() -> None:
    calls = message("a", called("a0", "c1"), called("a1", "c2"))
    now = START.when(inbound(calls, message("r", answered("r0", "c2"), answered("r1", "c1")), step("s1", "ar")))
    now.then_only(TagAssigned, tags(1, "tool", r0="a", r1="a"))


def owner_of(now: Given[TaggedSession], part: str) -> str:
    return now.state.conversation.parts[part].recorded.owner


ANSWERED = START.when(
    inbound(
        message("c", called("c0", "x"), minute=30),
        message("a", called("a0", "x"), minute=10),
        message("b", called("b0", "x"), minute=20),
        message("r", answered("r0", "x"), answered("r1", "x"), answered("r2", "x"), minute=40),
    )
)
"""Three calls of one id, seen in another order than made, and their answers."""


@pytest.mark.parametrize(("minute", "owner"), [(31, "c"), (30, "b"), (21, "b"), (15, "a"), (10, "n"), (None, "n")])
def test_a_result_whose_call_is_cut_away_belongs_to_the_nearest_call_before_it(minute: int | None, owner: str) -> None:
    alone = message("n", answered("n0", "x"), minute=minute)
    assert owner == owner_of(ANSWERED.when(inbound(alone)), "n0")


def test_a_result_gets_the_same_owner_however_its_message_is_reported() -> None:
    alone = message("n", answered("n0", "x"), minute=25)
    bare = msgspec.structs.replace(alone, parts=())
    assert ANSWERED.when(inbound(alone)).made == ANSWERED.when(inbound(bare, *alone.parts)).made


def test_of_two_calls_made_at_once_the_one_with_the_smaller_id_is_meant() -> None:
    tie = inbound(message("e", tool("e0", "y"), minute=1), message("d", tool("d0", "y"), minute=1))
    assert "d" == owner_of(START.when(tie).when(inbound(message("n", answered("n0", "y"), minute=2))), "n0")


def test_a_result_of_an_unknown_call_is_its_message_s_own() -> None:
    START.when(inbound(message("n", answered("n0", "z"), minute=1), step("s1", "n"))).then_only(
        TagAssigned, tags(1, "tool", n0="n")
    )


def test_calls_without_a_known_time_are_not_before_any_result() -> None:
    now = START.when(inbound(message("a", tool("a0", "y")), message("n", answered("n0", "y"), minute=2)))
    assert "n" == owner_of(now, "n0")


def test_a_result_keeps_its_owner_when_its_content_changes() -> None:
    assert "a" == owner_of(ANSWERED.when(inbound(of("r", answered("r1", "x", "other")))), "r1")


def test_a_call_that_was_taken_back_is_not_answered_by_a_later_result() -> None:
    made = inbound(message("a", called("a0", "x")), step("s1", "a"))
    for gone in (SessionReverted("a"), MessageGone("a"), PartGone("a", "a0")):
        now = START.when(made).when(inbound(gone, message("b", called("b0", "x")), message("r", answered("r0", "x"))))
        assert "b" == owner_of(now, "r0"), gone


def test_a_call_seen_again_after_it_was_deleted_waits_for_its_result() -> None:
    now = START.when(inbound(message("a", called("a0", "x")), PartGone("a", "a0"), of("a", called("a0", "x"))))
    assert "a" == owner_of(now.when(inbound(message("r", answered("r0", "x")))), "r0")


def test_an_answered_call_seen_again_waits_for_nothing() -> None:
    once = inbound(message("a", called("a0", "x")), message("r", answered("r0", "x")))
    again = inbound(PartGone("a", "a0"), of("a", called("a0", "x")), message("b", called("b0", "x")))
    assert "b" == owner_of(START.when(once).when(again).when(inbound(message("t", answered("t0", "x")))), "t0")


def test_a_result_seen_again_after_it_was_deleted_has_its_owner_and_number_again() -> None:
    now = START.when(inbound(message("a", called("a0", "x")), message("r", answered("r0", "x")), step("s1", "ar")))
    again = now.when(inbound(PartGone("r", "r0"), of("r", answered("r0", "x")), step("s2", "", after="r")))
    again.then_only(TagAssigned, tags(1, "tool", r0="a"))


def test_results_are_numbered_where_they_stand() -> None:
    now = START.when(
        inbound(message("a", called("a0", "x"), text("a1", position=1)), message("r", answered("r0", "x")))
    )
    expected = TagAssigned(first=1, parts=["a1", "r0"], messages=["a", "a"], kinds=["message", "tool"])
    now.when(inbound(step("s1", "ar"))).then_only(TagAssigned, expected)


def test_tools_without_a_call_id_are_distinguished_by_their_parts() -> None:
    now = START.when(inbound(message("a", tool("a0", ""), tool("a1", "", position=1)), step("s1", "a")))
    now.then_only(TagAssigned, tags(1, "tool", a0="a", a1="a"))


# What comes twice


@pytest.mark.parametrize(
    "item",
    [
        SessionSeen(title="t", directory="/d"),
        SessionIdle(),
        SessionEnded("archived"),
        SessionReverted("a"),
        message("b", text("b0"), tool("b1", "c1")),
        MessageGone("a"),
        of("a", text("a1", "more", 1)),
        PartGone("a", "a0"),
        UsageSeen("a", 10),
        ErrorSeen("prompt is too long"),
        ErrorSeen("Overloaded", "a", "APIError", 529),
        AdapterSeen("plugin", "1.0", "1.18", "digest"),
        TodoSeen((Todo("mend the roof"), Todo("paint it", "in_progress", "high"))),
        ToolsSeen("d1", (ToolSeen("read", "Reads a file", "{}"),)),
        PartSeen(
            "a", "tool", "a9", tool="read", call="c9", input='{"path":"roof.md"}', status="completed", exit_code=0
        ),
        CompactionSeen(),
        ListSeen("u", listing("ba")),
        step("s2", "b", after="u"),
        step("s2", "b", after="unknown"),
    ],
    ids=lambda item: type(item).__name__,
)
def test_a_second_copy_of_anything_changes_nothing(item: Seen) -> None:
    once = ONE_TURN.when(inbound(item))
    assert once.made
    once.when(inbound(item)).then()
    assert once.made == ONE_TURN.when(inbound(item, item)).made


def test_a_whole_message_of_many_items_reported_twice_changes_nothing() -> None:
    whole = inbound(
        SessionSeen(title="t"),
        message("u", text("u0"), role="user", minute=1),
        message("a", called("a0", "x"), minute=2),
        message("r", answered("r0", "x"), minute=3),
        UsageSeen("a", 10),
        StepSeen("s1", messages=listing("uar"), count=3, provider="p", model="m"),
    )
    START.when(whole).when(whole).then()


def test_a_step_reported_twice_numbers_nothing_that_came_after_it() -> None:
    late = ONE_TURN.when(inbound(of("u", text("u1", "late", 1))))
    late.when(inbound(step("s1", "ua", count=2))).then()


def test_a_list_reported_again_after_its_step_takes_nothing_away() -> None:
    pieces = (ListSeen("", listing("ab")), ListSeen("b", listing("cd")), step("s1", "ef", after="d", count=6))
    now = START.when(inbound(*pieces))
    now.when(inbound(*pieces)).then()
    assert "abcdef" == order(now)


# What changes


def test_a_changed_part_is_recorded_again_under_its_number() -> None:
    now = ONE_TURN.when(inbound(of("a", text("a0", "other words"))))
    changed = text("a0", "other words")
    expected = PartRecorded(
        message="a", part="a0", kind="text", bytes=11, tokens=3, digest=content_digest(changed), text="other words"
    )
    now.then(expected)
    sent = now.when(inbound(step("s2", "", after="a"))).then(opened("s2", unchanged=1, last=2, count=2, previous="s1"))
    assert {"a0": 2, "u0": 1} == numbers(sent)


def test_a_message_is_recorded_again_only_when_a_property_changed() -> None:
    seen = MessageSeen("a", "assistant", AT, "build", "anthropic", "opus")
    now = START.when(inbound(seen))
    now.when(inbound(seen)).then()
    now.when(inbound(MessageSeen("a", "assistant", synthetic=True))).then(
        MessageRecorded(
            message="a", role="assistant", sent=AT, agent="build", provider="anthropic", model="opus", synthetic=True
        )
    )


def test_what_a_later_sighting_does_not_say_stays() -> None:
    now = START.when(inbound(MessageSeen("a", "assistant", AT, "build", "anthropic", "opus")))
    now.when(inbound(MessageSeen("a", "assistant"))).then()


def test_parts_may_come_before_their_message() -> None:
    now = START.when(inbound(of("u", text("u0")), step("s1", "u"))).then_only(TagAssigned, tags(1, "message", u0="u"))
    known = now.when(inbound(message("u", text("u0"), role="user")))
    known.then(MessageRecorded(message="u", role="user"))
    known.when(inbound(step("s2", "", after="u"))).then(opened("s2", unchanged=1, last=1, count=1, previous="s1"))


def test_a_part_that_moves_to_another_message_is_recorded_there() -> None:
    now = ONE_TURN.when(inbound(of("u", text("a0", position=1))))
    assert (("u0", "a0"), ()) == (
        now.state.conversation.messages["u"].parts,
        now.state.conversation.messages["a"].parts,
    )
    again = now.when(inbound(step("s2", "ua"))).then_only(TagAssigned, tags(2, "message", a0="u"))
    assert {"a0": 2, "u0": 1} == numbers(again)


# What goes, and comes back


def test_a_deleted_message_leaves_the_conversation_once() -> None:
    gone = ONE_TURN.when(inbound(MessageGone("u"))).then(MessageRemoved(messages=["u"], reason="deleted"))
    gone.when(inbound(MessageGone("u"), MessageGone("unknown"))).then()
    assert "a" == order(gone)


def test_a_deleted_part_is_removed_from_the_message_that_holds_it() -> None:
    gone = ONE_TURN.when(inbound(PartGone("u", "a0"))).then(PartRemoved(message="a", part="a0"))
    gone.when(inbound(PartGone("a", "a0"))).then()
    back = gone.when(inbound(of("a", text("a0")), step("s2", "", after="a")))
    back.then_only(TagAssigned, tags(2, "message", a0="a"))


def test_a_part_deleted_before_it_was_sent_has_no_number() -> None:
    START.when(inbound(message("a", text("a0")), PartGone("a", "a0"), step("s1", "a"))).then_only(TagAssigned)


FIVE = START.when(inbound(*(message(name, text(f"{name}0")) for name in "abcde"), step("s1", "abcde", count=5)))


def test_a_revert_removes_the_message_and_all_behind_it() -> None:
    FIVE.when(inbound(SessionReverted("c"))).then(MessageRemoved(messages=["c", "d", "e"], reason="reverted"))
    FIVE.when(inbound(SessionReverted("unknown"))).then()


def test_a_revert_taken_back_lists_the_same_messages_with_the_same_numbers() -> None:
    back = FIVE.when(inbound(SessionReverted("c"))).when(inbound(step("s2", "cde", after="b", count=5)))
    back.then(placed(c=3, d=4, e=5), opened("s2", unchanged=2, last=5, count=5, previous="s1"))
    assert {"a0": 1, "b0": 2, "c0": 3, "d0": 4, "e0": 5} == numbers(back)


def test_after_a_revert_new_messages_get_new_places_and_numbers() -> None:
    now = FIVE.when(inbound(SessionReverted("c"), message("n", text("n0")), step("s2", "n", after="b", count=3)))
    now.then_only(TagAssigned, tags(6, "message", n0="n"))
    now.then_only(StepOpened, opened("s2", unchanged=2, last=6, count=3, previous="s1"))


# Lists and steps


def test_a_step_that_appends_keeps_all_that_was_sent() -> None:
    now = FIVE.when(inbound(message("f", text("f0")), step("s2", "f", after="e", count=6)))
    now.then_only(StepOpened, opened("s2", unchanged=5, last=6, count=6, previous="s1"))


def test_a_full_list_without_a_change_keeps_everything() -> None:
    FIVE.when(inbound(step("s2", "abcde", count=5))).then(opened("s2", unchanged=5, last=5, count=5, previous="s1"))


def test_a_full_list_in_pieces_without_a_change_keeps_everything() -> None:
    FIVE.when(inbound(ListSeen("", listing("ab")), ListSeen("b", listing("c")), step("s2", "de", after="c"))).then(
        opened("s2", unchanged=5, last=5, count=5, previous="s1")
    )


def test_what_is_left_out_of_the_middle_is_removed_and_keeps_what_is_before() -> None:
    FIVE.when(inbound(step("s2", "abde", count=4))).then(
        MessageRemoved(messages=["c"], reason="unlisted"), opened("s2", unchanged=2, last=5, count=4, previous="s1")
    )


def test_what_is_left_out_at_the_end_is_removed() -> None:
    FIVE.when(inbound(step("s2", "c", after="b", count=3))).then(
        MessageRemoved(messages=["d", "e"], reason="unlisted"),
        opened("s2", unchanged=3, last=3, count=3, previous="s1"),
    )


def test_a_list_in_another_order_moves_as_few_as_stand_behind_their_place() -> None:
    now = FIVE.when(inbound(step("s2", "acbde", count=5)))
    now.then(placed(b=6, d=7, e=8), opened("s2", unchanged=1, last=8, count=5, previous="s1"))
    assert "acbde" == order(now)
    assert {"a0": 1, "b0": 2, "c0": 3, "d0": 4, "e0": 5} == numbers(now)


def test_a_new_message_in_the_middle_moves_those_behind_it() -> None:
    now = FIVE.when(inbound(step("s2", "xde", after="c", count=6)))
    now.then(placed(x=6, d=7, e=8), opened("s2", unchanged=3, last=8, count=6, previous="s1"))
    assert "abcxde" == order(now)


def test_a_change_of_content_keeps_what_is_before_it() -> None:
    now = FIVE.when(inbound(of("d", text("d0", "other")), message("f"), step("s2", "f", after="e")))
    now.then_only(StepOpened, opened("s2", unchanged=3, last=6, count=6, previous="s1"))


def test_the_first_step_keeps_nothing() -> None:
    START.when(inbound(step("s1"))).then(opened("s1", unchanged=0, last=0, count=0))


def test_a_piece_of_a_list_removes_only_what_stands_between_its_messages() -> None:
    now = FIVE.when(inbound(ListSeen("a", listing("d")))).then(MessageRemoved(messages=["b", "c"], reason="unlisted"))
    assert "ade" == order(now)
    now.when(inbound(ListSeen("d", ()))).then()


def test_a_step_behind_a_message_that_is_not_known_is_not_aligned_and_changes_no_list() -> None:
    astray = step("s2", "xy", after="unknown", count=7)
    FIVE.when(inbound(astray)).then(opened("s2", unchanged=5, last=5, count=5, previous="s1", aligned=False))
    FIVE.when(inbound(ListSeen("unknown", listing("x")))).then()
    gone = FIVE.when(inbound(MessageGone("e")))
    gone.when(inbound(step("s2", "", after="e", count=4))).then_only(
        StepOpened, opened("s2", unchanged=4, last=4, count=4, previous="s1", aligned=False)
    )


@pytest.mark.parametrize(("count", "aligned"), [(0, True), (6, True), (5, False), (7, False)])
def test_a_step_is_aligned_if_both_sides_count_the_same(count: int, aligned: bool) -> None:  # noqa: FBT001 - a column
    now = FIVE.when(inbound(step("s2", "f", after="e", count=count)))
    now.then_only(StepOpened, opened("s2", unchanged=5, last=6, count=6, previous="s1", aligned=aligned))


def test_after_a_step_astray_the_whole_list_puts_both_sides_right() -> None:
    astray = FIVE.when(inbound(step("s2", "g", after="f", count=7)))
    now = astray.when(inbound(step("s3", "abcdefg", count=7)))
    now.then_only(StepOpened, opened("s3", unchanged=5, last=7, count=7, previous="s2"))


def test_what_a_whole_list_says_was_sent_stays_so_although_nobody_heard_of_it() -> None:
    whole = replace(step("s2", "abcdefg", count=7), sent="f")
    FIVE.when(inbound(whole)).then_only(StepOpened, opened("s2", unchanged=6, last=7, count=7, previous="s1"))
    gone = replace(step("s2", "abcdefg", count=7), sent="z")
    FIVE.when(inbound(gone)).then_only(StepOpened, opened("s2", unchanged=5, last=7, count=7, previous="s1"))


def test_a_step_records_what_it_was_made_with() -> None:
    seen = StepSeen(
        "s1",
        served=4,
        agent="build",
        mode="subagent",
        provider="p",
        model="m",
        context_limit=100,
        output_limit=10,
        capabilities=("caches_exact_prefix",),
        system_digest="d",
    )
    START.when(inbound(seen)).then(
        ModelChanged(provider="p", model="m", context_limit=100, output_limit=10),
        StepOpened(
            step="s1",
            served=4,
            agent="build",
            mode="subagent",
            provider="p",
            model="m",
            context_limit=100,
            output_limit=10,
            capabilities=["caches_exact_prefix"],
            system_digest="d",
        ),
    )


TWO_PARTS = START.when(inbound(message("a", text("a0"), text("a1", position=1)), step("s1", "a")))


def test_parts_that_are_not_sent_are_noted_and_what_is_before_stays() -> None:
    now = TWO_PARTS.when(inbound(StepSeen("s2", messages=(Listed("a", ("a1",)),))))
    now.then(
        MessageRecorded(message="a", role="assistant", listed=["a1"]),
        opened("s2", unchanged=0, last=1, count=1, previous="s1"),
    )
    now.when(inbound(message("a", text("a0"), text("a1", position=1)))).then()
    again = StepSeen("s3", messages=(Listed("a", ("a0", "a1")),))
    now.when(inbound(again)).then_only(MessageRecorded, MessageRecorded(message="a", role="assistant"))


def test_a_part_that_is_not_sent_has_no_number_until_it_is() -> None:
    listed = StepSeen("s1", messages=(Listed("a", ("a1", "a0")),))
    first = message("a", text("a0"), text("a1", position=1), text("a2", position=2))
    now = START.when(inbound(first, listed)).then_only(TagAssigned, tags(1, "message", a1="a", a0="a"))
    all_of_it = StepSeen("s2", messages=(Listed("a", ("a0", "a1", "a2")),))
    now.when(inbound(all_of_it)).then_only(TagAssigned, tags(3, "message", a2="a"))


def test_a_listed_message_may_be_reported_afterwards() -> None:
    now = START.when(inbound(StepSeen("s1", messages=(Listed("a", ("a0",)),)), message("a", text("a0"))))
    now.when(inbound(step("s2", "", after="a"))).then_only(TagAssigned, tags(1, "message", a0="a"))


# The model and its usage


def test_a_model_is_recorded_when_it_or_its_limits_change() -> None:
    def calls(name: str, model: str, limit: int = 0) -> StepSeen:
        return StepSeen(name, provider="p" if model else "", model=model, context_limit=limit)

    now = START.when(inbound(calls("s1", ""))).then_only(ModelChanged)
    now = now.when(inbound(calls("s2", "m"))).then_only(ModelChanged, ModelChanged(provider="p", model="m"))
    now = now.when(inbound(calls("s3", "m"), calls("s4", ""))).then_only(ModelChanged)
    now.when(inbound(calls("s5", "m", 9))).then_only(
        ModelChanged, ModelChanged(provider="p", model="m", context_limit=9)
    )


@pytest.mark.parametrize("usage", [UsageSeen("a", 0), UsageSeen("a", 0, output=5, reasoning=3)])
def test_a_count_of_nothing_is_no_sample(usage: UsageSeen) -> None:
    START.when(inbound(usage)).then()


def test_a_sample_counts_once_and_a_corrected_one_again() -> None:
    now = START.when(inbound(UsageSeen("a", 1, 2, 3, 4, 5)))
    now.then(UsageSampled(message="a", input=1, output=2, reasoning=3, cache_read=4, cache_write=5))
    now.when(inbound(UsageSeen("a", 1, 2, 3, 4, 5))).then()
    now.when(inbound(UsageSeen("a", 1, 9, 3, 4, 5))).then_only(
        UsageSampled, UsageSampled(message="a", input=1, output=9, reasoning=3, cache_read=4, cache_write=5)
    )


@pytest.mark.parametrize(
    "usage",
    [
        UsageSeen("a", 1),
        UsageSeen("a", 0, cache_read=1),
        UsageSeen("a", 0, cache_write=1),
        UsageSeen("a", 2**53 - 1),  # no prompt is so long, and its cost may be right
    ],
)
def test_anything_that_went_in_is_a_sample(usage: UsageSeen) -> None:
    assert 1 == len(START.when(inbound(usage)).made)


# Overflow and native compaction


@pytest.mark.parametrize(
    ("words", "limit", "used"),
    [
        ("prompt is too long: 210000 tokens > 200000 maximum", 200_000, 210_000),
        ('{"error": {"message": "prompt token count of 150000 exceeds the limit of 128000"}}', 128_000, 150_000),
        ("Context length exceeded", 0, 0),
    ],
)
def test_that_a_prompt_was_too_long_is_recorded_with_the_numbers_of_the_provider(
    words: str, limit: int, used: int
) -> None:
    expected = OverflowDetected(message="a", text=words, limit=limit, used=used)
    START.when(inbound(ErrorSeen(words, "a"))).then_only(OverflowDetected, expected)


def test_another_error_is_no_overflow() -> None:
    START.when(inbound(ErrorSeen("rate limit exceeded"))).then_only(OverflowDetected)


def test_of_an_overflow_the_beginning_of_the_words_is_recorded() -> None:
    words = "prompt is too long " + "x" * 300 + ": 210000 tokens > 200000 maximum"
    expected = OverflowDetected(text=words[:240], limit=200_000, used=210_000)
    START.when(inbound(ErrorSeen(words))).then_only(OverflowDetected, expected)


def test_one_refusal_reported_as_the_session_s_and_the_answer_s_error_is_one_fact_until_the_next_step() -> None:
    refused = START.when(inbound(ErrorSeen("prompt is too long"), ErrorSeen("prompt is too long", "a")))
    refused.then(CallFailed(text="prompt is too long"), OverflowDetected(text="prompt is too long"))
    refused.when(inbound(step("s1"), ErrorSeen("prompt is too long"))).then_only(
        OverflowDetected, OverflowDetected(text="prompt is too long")
    )


def test_a_native_compaction_records_the_highest_number_before_it() -> None:
    now = FIVE.when(inbound(CompactionSeen())).then(NativeCompacted(last_tag=5))
    now.when(inbound(step("s2", "e"), CompactionSeen())).then_only(NativeCompacted, NativeCompacted(last_tag=5))
    START.when(inbound(CompactionSeen())).then(NativeCompacted())


def test_a_native_compaction_names_the_message_that_holds_the_summary() -> None:
    now = FIVE.when(inbound(CompactionSeen(summary="m6"))).then(NativeCompacted(last_tag=5, summary="m6"))
    now.when(inbound(CompactionSeen(summary="m7"))).then_only(NativeCompacted)


# The life of a session


def test_a_session_is_opened_once() -> None:
    seen = SessionSeen("title", "parent", "/dir", "build", "subagent", "1.2")
    now = START.when(inbound(seen))
    now.then(
        SessionOpened(
            harness="opencode",
            mode="subagent",
            title="title",
            parent="parent",
            directory="/dir",
            agent="build",
            version="1.2",
        )
    )
    now.when(inbound(SessionSeen(directory="/other"))).then()


def test_a_session_is_renamed_when_its_title_changes() -> None:
    now = START.when(inbound(SessionSeen("one"))).when(inbound(SessionSeen("two"))).then(SessionRenamed(title="two"))
    now.when(inbound(SessionSeen("two"))).then()
    now.when(inbound(SessionSeen("one"))).then(SessionRenamed(title="one"))


def test_a_session_idles_once_between_two_turns() -> None:
    now = ONE_TURN.when(inbound(SessionIdle(), SessionIdle())).then(SessionIdled())
    now.when(inbound(step("s2"), SessionIdle())).then_only(SessionIdled, SessionIdled())
    now.when(inbound(message("b"), SessionIdle())).then_only(SessionIdled, SessionIdled())


def test_a_session_is_closed_once() -> None:
    now = START.when(inbound(SessionEnded("deleted"))).then(SessionClosed(reason="deleted"))
    now.when(inbound(SessionEnded("archived"))).then()


# Forks

ORIGIN = START.when(
    inbound(
        message("u", text("u0", "same"), role="user"),
        message("a", tool("a0", "c1", "FILE")),
        message("v", text("v0", "same"), role="user"),
        message("w", text("w0", "last"), role="user"),
        step("s1", "uavw"),
        MessageGone("w"),
    )
).state
SAME, FILE = content_digest(text("", "same")), content_digest(tool("", "", "FILE"))


def test_a_fork_takes_over_the_numbers_of_what_was_copied() -> None:
    now = START.when(inbound(SessionSeen(forked_from="o"), origin=ORIGIN))
    now.then_only(
        SessionForked,
        SessionForked(origin="o", last_tag=4, tags=[1, 2, 3], digests=[SAME, FILE, SAME], places=[1, 3]),
    )
    until = START.when(inbound(SessionSeen(forked_from="o", forked_at="a"), origin=ORIGIN))
    until.then_only(
        SessionForked,
        SessionForked(origin="o", until="a", last_tag=4, tags=[1, 2], digests=[SAME, FILE], places=[1, 2]),
    )


def test_copies_keep_their_numbers_by_content_even_under_new_ids() -> None:
    copies = (
        message("p", text("p0", "same"), role="user"),
        message("q", tool("q0", "c9", "FILE")),
        message("n", text("n0", "new"), role="user"),
        message("r", text("r0", "same"), role="user"),
        message("s", text("s0", "same"), role="user"),
    )
    now = START.when(inbound(SessionSeen(forked_from="o"), *copies, step("s1", "pqnrs"), origin=ORIGIN))
    now.then_only(
        TagAssigned,
        TagAssigned(first=1, parts=["p0", "q0"], messages=["p", "q"], kinds=["message", "tool"]),
        tags(5, "message", n0="n"),
        tags(3, "message", r0="r"),
        tags(6, "message", s0="s"),
    )
    assert {"n0": 5, "p0": 1, "q0": 2, "r0": 3, "s0": 6} == numbers(now)


def test_numbers_that_were_taken_over_are_spent_over_several_steps() -> None:
    now = START.when(inbound(SessionSeen(forked_from="o"), message("p", text("p0", "same")), origin=ORIGIN))
    now = now.when(inbound(step("s1", "p"))).then_only(TagAssigned, tags(1, "message", p0="p"))
    now = now.when(inbound(message("r", text("r0", "same")), step("s2", "pr")))
    now = now.then_only(TagAssigned, tags(3, "message", r0="r"))
    now.when(inbound(message("s", text("s0", "same")), step("s3", "prs"))).then_only(
        TagAssigned, tags(5, "message", s0="s")
    )


def test_what_has_no_number_in_the_origin_passes_none_on() -> None:
    plain = START.when(
        inbound(message("a", PartSeen("", "reasoning", "a0"), text("a1", "x", 1)), step("s1", "a"))
    ).state
    START.when(inbound(SessionSeen(forked_from="o"), origin=plain)).then_only(
        SessionForked,
        SessionForked(origin="o", last_tag=1, tags=[1], digests=[content_digest(text("", "x"))], places=[1, 1]),
    )


def test_copies_keep_the_places_of_what_was_copied() -> None:
    gone = START.when(
        inbound(*(message(name, text(f"{name}0", name)) for name in "abcde"), step("s1", "abcde"), MessageGone("c"))
    )
    copies = [message(name, text(f"{name}0", name)) for name in "pqrst"]
    now = START.when(inbound(SessionSeen(forked_from="o"), *copies, step("s1", "pqrst"), origin=gone.state))
    now.then_only(MessageListed, MessageListed(messages=["p", "q", "r", "s", "t"], ordinals=[1, 2, 4, 5, 6]))
    again = START.when(inbound(SessionSeen(forked_from="p"), *copies, step("s1", "pq"), origin=now.state))
    again.then_only(MessageListed, MessageListed(messages=["p", "q"], ordinals=[1, 2]))
    assert [[1, 2, 4, 6]] == [event.places for event in again.made if isinstance(event, SessionForked)]
    later = again.when(inbound(step("s2", "rs", after="q")))
    later.then_only(MessageListed, MessageListed(messages=["r", "s"], ordinals=[4, 5]))


def test_a_fork_of_a_fork_goes_on_from_the_highest_number() -> None:
    child = START.when(inbound(SessionSeen(forked_from="o"), origin=ORIGIN)).state
    START.when(inbound(SessionSeen(forked_from="p"), CompactionSeen(), origin=child)).then_only(
        NativeCompacted, NativeCompacted(last_tag=4)
    )


def test_a_session_without_a_known_origin_is_no_fork() -> None:
    START.when(inbound(SessionSeen(forked_from="o"))).then_only(SessionForked)
    START.when(inbound(SessionSeen(), origin=ORIGIN)).then_only(SessionForked)


def test_a_fork_of_an_empty_session_takes_over_nothing() -> None:
    now = START.when(inbound(SessionSeen(forked_from="o"), origin=TaggedSession()))
    now.then_only(SessionForked, SessionForked(origin="o"))


def test_a_fork_with_many_numbers_is_several_facts() -> None:
    parts = [text(f"p{number}", f"text {number}") for number in range(MAX_NAMES_PER_EVENT + 1)]
    origin = START.when(inbound(message("a", *parts), step("s1", "a"))).state
    now = START.when(inbound(SessionSeen(forked_from="o"), origin=origin))
    assert [(2000, 2001, [1, 1]), (1, 2001, [])] == [
        (len(event.tags), event.last_tag, event.places) for event in now.made if isinstance(event, SessionForked)
    ]
    copied = now.when(inbound(message("b", *parts), step("s1", "b")))
    assert numbers(copied) == {f"p{number}": number + 1 for number in range(MAX_NAMES_PER_EVENT + 1)}


@pytest.mark.parametrize(
    "gone", [SessionReverted("m0"), step("s2", ["m0"], count=1)], ids=["reverted", "left out of the list"]
)
def test_many_messages_that_go_at_once_are_several_facts(gone: Seen) -> None:
    names = [f"m{number}" for number in range(MAX_NAMES_PER_EVENT + 2)]
    now = START.when(inbound(*(message(name, text(f"{name}.0")) for name in names), step("s1", names)))
    now = now.when(inbound(gone))
    made = [event for event in now.made if isinstance(event, MessageRemoved)]
    assert max(len(event.messages) for event in made) <= MAX_NAMES_PER_EVENT
    assert 2 == len(made)
    left = len(now.state.conversation.order)
    assert len(names) == left + sum(len(event.messages) for event in made)


# Properties


class Tale:
    """A harness that acts on calls of a test, and sends the reports of a harness."""

    def __init__(self) -> None:
        self.items: list[Seen] = [SessionSeen(title="t")]
        self.list: list[str] = []
        self.lists: dict[str, tuple[str, ...]] = {}
        """Step -> the list that was sent."""
        self.reported: tuple[str, ...] = ()
        self.gone: list[str] = []
        self.parts: dict[str, list[PartSeen]] = {}
        self.count = 0

    def fresh(self, prefix: str) -> str:
        self.count += 1
        return f"{prefix}{self.count}"

    def do(self, action: str, one: int, other: int) -> None:
        name = self.list[one % len(self.list)] if self.list else ""
        known_parts = self.parts.get(name, [])
        part = known_parts[other % len(known_parts)] if known_parts else None
        match action:
            case "message":
                new = self.fresh("m")
                self.list.append(new)
                self.parts[new] = [self.some_part(new, one + k, k) for k in range(other % 4)]
                at = AT + timedelta(minutes=self.count) if one % 3 else None
                self.report(MessageSeen(new, "user" if one % 2 else "assistant", at, parts=tuple(self.parts[new])))
            case "part" if name:
                known_parts.append(self.some_part(name, other, other % 3))
                self.report(known_parts[-1])
            case "change" if part:
                changed = msgspec.structs.replace(part, text=f"t{other}", output=f"o{other}", ignored=other % 4 == 0)
                known_parts[known_parts.index(part)] = changed
                self.report(changed)
            case "part gone" if part:
                known_parts.remove(part)
                self.report(PartGone(name, part.part))
            case "gone" if name:
                self.list.remove(name)
                self.forget([name])
                self.report(MessageGone(name))
            case "revert" if name:
                self.report(SessionReverted(name))
                self.forget(self.list[self.list.index(name) :])
                self.list = self.list[: self.list.index(name)]
            case "back" if self.gone:
                self.list.insert(other % (len(self.list) + 1), self.gone.pop())
            case "swap" if name:
                self.list.remove(name)
                self.list.insert(other % (len(self.list) + 1), name)
            case "usage":
                self.report(UsageSeen(self.fresh("u"), other, cache_read=one))
            case "plain":
                self.report((SessionIdle(), CompactionSeen(), ErrorSeen(f"prompt is too long{other % 2}"))[one % 3])
            case "adapter":
                self.report(AdapterSeen("plugin", f"1.{one % 2}"))
            case "todo":
                self.report(TodoSeen(tuple(Todo(f"t{n}", "pending" if n % 2 else "completed") for n in range(one % 3))))
            case "tools":
                self.report(ToolsSeen(f"d{one % 2}", (ToolSeen(f"read{one % 2}"),)))
            case "title":
                self.report(SessionSeen(title=f"t{one % 2}"))
            case "step":
                self.step(whole=one % 3 == 0, piece=other % 4)

    def some_part(self, message: str, kind: int, position: int) -> PartSeen:
        name, call = self.fresh("p"), f"c{kind % 2}"
        parts = (
            text(name, f"t{kind % 3}", position),
            msgspec.structs.replace(
                tool(name, call, f"o{kind}", position=position), input=f'{{"filePath":"f{kind % 3}"}}', exit_code=kind
            ),
            msgspec.structs.replace(called(name, call), tool="edit", input=f'{{"filePath":"f{kind % 3}"}}'),
            answered(name, call, f"o{kind}"),
            tool(name, call, "", "running", position),
            PartSeen("", "reasoning", name, position, text="hm"),
            PartSeen("", "file", name, position, text="data:,x"),
            text(name, " " * (kind % 2), position),
        )
        return of(message, parts[kind % len(parts)])

    def forget(self, names: list[str]) -> None:
        """Messages are gone: what was sent with them is no longer what both sides have in common."""
        self.gone += names
        self.reported = tuple(takewhile(lambda name: name not in names, self.reported))

    def report(self, item: Seen) -> None:
        self.items.append(item)

    def step(self, *, whole: bool, piece: int) -> None:
        common = 0
        while (
            not whole and self.list[: common + 1] == list(self.reported[: common + 1]) and common < len(self.reported)
        ):
            common += 1
        after = self.list[common - 1] if common else ""
        rest = self.list[common:]
        while piece and len(rest) > piece:
            self.report(ListSeen(after, listing(rest[:piece])))
            after, rest = rest[piece - 1], rest[piece:]
        name = self.fresh("s")
        self.report(StepSeen(name, after=after, messages=listing(rest), count=len(self.list), model="m"))
        self.reported = tuple(self.list)
        self.lists[name] = self.reported


GROWTH = ("message", "message", "part", "step", "step", "usage", "adapter")
LIFE = (*GROWTH, "change", "part gone", "gone", "revert", "back", "swap", "plain", "title", "todo", "tools")


def tales(actions: tuple[str, ...]) -> st.SearchStrategy[Tale]:
    moves = st.tuples(st.sampled_from(actions), st.integers(0, 11), st.integers(0, 11))
    return st.lists(moves, min_size=3, max_size=30).map(_tale)


def _tale(moves: list[tuple[str, int, int]]) -> Tale:
    tale = Tale()
    for move in moves:
        tale.do(*move)
    tale.step(whole=False, piece=0)
    return tale


def folded(messages: Sequence[Sequence[Seen]]) -> Given[TaggedSession]:
    now = START
    for items in messages:
        now = now.when(inbound(*items))
    return now


def cut(items: Sequence[Seen], at: Sequence[int]) -> list[Sequence[Seen]]:
    places = sorted({0, len(items), *(place % len(items) for place in at)})
    return [items[start:end] for start, end in pairwise(places)]


CUTS = st.lists(st.integers(0, 100), max_size=8)
quick = settings(max_examples=examples(60), deadline=None)


@quick
@given_any(tales(LIFE), CUTS)
def test_the_facts_do_not_depend_on_how_it_is_cut_into_messages(tale: Tale, at: list[int]) -> None:
    once, pieces = folded([tale.items]), folded(cut(tale.items, at))
    assert once.log == pieces.log
    assert once.state == pieces.state


@quick
@given_any(tales(LIFE))
def test_a_copy_right_behind_anything_changes_nothing(tale: Tale) -> None:
    once, twice = folded([[item] for item in tale.items]), folded([[item] for item in tale.items for _ in range(2)])
    assert once.log == twice.log
    assert once.state == twice.state


@quick
@given_any(tales(GROWTH), CUTS, st.lists(st.tuples(st.integers(0, 100), st.integers(0, 100)), max_size=8))
def test_a_session_that_only_grows_may_be_delivered_again_at_any_later_time(
    tale: Tale, at: list[int], copies: list[tuple[int, int]]
) -> None:
    messages = cut(tale.items, at)
    late: dict[int, list[Sequence[Seen]]] = {}
    for which, delay in copies:
        number = which % len(messages)
        late.setdefault(number + delay % (len(messages) - number), []).append(messages[number])
    delivered = [one for number, message in enumerate(messages) for one in (message, *late.get(number, ()))]
    once, again = folded(messages), folded([*delivered, *messages])
    assert once.log == again.log
    assert once.state == again.state


@quick
@given_any(tales(LIFE))
def test_the_facts_alone_give_the_state_that_they_were_decided_on(tale: Tale) -> None:
    now = folded([[item] for item in tale.items])
    log = [msgspec.json.decode(msgspec.json.encode(event), type=type(event)) for event in now.log]
    assert now.state == given(evolve, TaggedSession(), *log).state


@quick
@given_any(tales(LIFE))
def test_after_each_step_both_sides_mean_the_same_list(tale: Tale) -> None:
    now, before = START, tuple[str, ...]()
    for item in tale.items:
        now = now.when(inbound(item))
        if not isinstance(item, StepSeen):
            continue
        (step,) = (event for event in now.made if isinstance(event, StepOpened))
        names = tale.lists[item.step]
        assert (True, len(names)) == (step.aligned, step.count)
        assert names == tuple(one.recorded.message for one in now.state.conversation.after(0))
        assert step.last == max(now.state.conversation.order, default=0)
        recorded = tuple(name for name in names if now.state.conversation.messages[name].ordinal <= step.unchanged)
        assert names[: len(recorded)] == before[: len(recorded)] == recorded
        before = names


@quick
@given_any(tales(LIFE))
def test_the_books_balance_after_everything_that_is_seen(tale: Tale) -> None:
    now = START
    for item in tale.items:
        highest = now.state.last_number
        now = now.when(inbound(item))
        assigned = [event for event in now.made if isinstance(event, TagAssigned)]
        _check_numbers(now.state, assigned, highest)
        _check_books(now.state)


def _check_numbers(session: TaggedSession, assigned: list[TagAssigned], highest: int) -> None:
    """New numbers go on from the highest, in the order of the conversation; one use has one number and no other."""
    given_now = [(event.first + at, name) for event in assigned for at, name in enumerate(event.parts)]
    fresh = list(dict.fromkeys(number for number, _ in given_now if number > highest))
    assert list(range(highest + 1, highest + 1 + len(fresh))) == fresh
    sent = [name for message in session.conversation.after(0) for name in message.sent]
    assert sorted((name for _, name in given_now), key=sent.index) == [name for _, name in given_now]
    assert len(session.numbers) == len(set(session.numbers.values()))
    for part in session.conversation.parts.values():
        own = session.numbers.get(f"part:{part.recorded.part}")  # of a second call with one id in one message
        assert part.number in (0, session.numbers.get(identity(part.recorded)), own)


def _check_books(session: TaggedSession) -> None:
    turns = session.conversation
    present = {name: message for name, message in turns.messages.items() if message.present}
    assert {message.ordinal: name for name, message in present.items()} == dict(turns.order)
    known_parts = {
        name: sum(part.recorded.tokens for part in turns.parts.values() if part.recorded.message == name)
        for name in turns.messages
    }
    assert known_parts == {name: message.tokens for name, message in turns.messages.items()}
    assert sum(known_parts[name] for name in present) == turns.tokens
    assert all(not turns.parts[name].number for name in session.waiting)


NAMES = st.lists(st.sampled_from("abcdefgh"), unique=True)


@settings(max_examples=examples(200), deadline=None)
@given_any(NAMES, NAMES, st.lists(st.integers(0, 8), max_size=3))
def test_a_list_in_pieces_means_the_same_as_one_list(before: list[str], now: list[str], at: list[int]) -> None:
    reported = START.when(inbound(step("s1", before)))
    whole = reported.when(inbound(step("s2", now, count=len(now))))
    places = sorted({min(place, len(now)) for place in (0, *at)})
    pieces = [now[start:end] for start, end in pairwise([*places, len(now)])]
    items: list[Seen] = []
    after = ""
    for piece in pieces[:-1]:
        items.append(ListSeen(after, listing(piece)))
        after = piece[-1] if piece else after
    cut_up = reported.when(inbound(*items, step("s2", pieces[-1], after=after, count=len(now))))
    assert whole.state.conversation == cut_up.state.conversation
    assert whole.made[-1] == cut_up.made[-1]
    assert now == [one.recorded.message for one in cut_up.state.conversation.after(0)]
