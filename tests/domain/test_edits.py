import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schemas.codec import encode
from schemas.inbox import Attachment, Capability
from schemas.plan import (
    AnyEdit,
    AppendText,
    CutBefore,
    InsertPair,
    OmitArc,
    OmitMessage,
    OmitPart,
    PrefixText,
    ReplaceOutput,
    ReplaceText,
    Restore,
    SetHead,
    Withdraw,
    target,
)
from services.domain.edits import ServedMessage, ServedPart, apply, faults, has_meaning
from tests.helpers.examples import examples

replace = msgspec.structs.replace

USER = ServedMessage("u", "user", (ServedPart("u.0", "text", text="go"),))
AGENT = ServedMessage(
    "a",
    "assistant",
    (
        ServedPart("a.0", "reasoning", text="hm", signed=True),
        ServedPart("a.1", "text", text="ok"),
        ServedPart("a.2", "tool", tool="bash", call="c", input="{}", output="FILE"),
    ),
)
LAST = ServedMessage("l", "user", (ServedPart("l.0", "file", text="data:x"), ServedPart("l.1", "text", text="on")))
MESSAGES = [USER, AGENT, LAST]
CALL = ServedMessage(
    "c", "assistant", (ServedPart("c.0", "text", text="look"), ServedPart("c.1", "tool_call", call="x"))
)
RESULT = ServedMessage("r", "tool", (ServedPart("r.0", "tool_result", call="x", output="FILE"),))
ARC = OmitArc(part="r.0", parts=("c.1", "r.0"))


def served(*edits: AnyEdit, messages: list[ServedMessage] = MESSAGES) -> list[ServedMessage]:
    return apply(messages, edits)


def texts(messages: list[ServedMessage]) -> list[list[str]]:
    return [[part.output or part.text for part in message.parts] for message in messages]


# Edits


def test_without_edits_the_messages_are_what_they_were() -> None:
    assert [id(message) for message in served()] == [id(message) for message in MESSAGES]


def test_messages_that_no_edit_touches_are_the_same_objects() -> None:
    before, _, after = served(PrefixText(part="a.1", text="§1§ "))
    assert (before is USER, after is LAST) == (True, True)


def test_a_cut_leaves_out_everything_before_a_message() -> None:
    assert served(CutBefore(message="a")) == [AGENT, LAST]


def test_parts_before_a_cut_that_remain_stay_in_their_messages_and_nothing_else_of_these() -> None:
    assert served(CutBefore(message="l", remaining=("a.2",))) == [replace(AGENT, parts=AGENT.parts[2:]), LAST]


def test_what_remains_before_a_cut_is_edited_like_anything_else() -> None:
    cut = CutBefore(message="l", remaining=("a.1", "a.2"))
    assert texts(served(cut, PrefixText(part="a.2", text="§3§ "), OmitPart(part="a.1"))) == [
        ["§3§ FILE"],
        ["data:x", "on"],
    ]
    assert served(cut, OmitMessage(message="a")) == [LAST]


def test_nothing_is_inserted_behind_what_remains_before_a_cut() -> None:
    pair = InsertPair(message="a", call="t", tool="todowrite", input="{}", output="[]")
    assert served(CutBefore(message="l", remaining=("a.2",)), pair) == served(
        CutBefore(message="l", remaining=("a.2",))
    )
    assert served(CutBefore(message="a", remaining=("u.0",)), pair)[1].parts[-1].call == "t"


def test_before_a_cut_a_call_stays_with_its_result_or_not_at_all() -> None:
    call = ServedMessage(
        "c", "assistant", (ServedPart("c.0", "text", text="I look."), ServedPart("c.1", "tool_call", call="r"))
    )
    result = ServedMessage("r", "tool", (ServedPart("r.0", "tool_result", call="r", output="FILE"),))
    again = replace(result, id="r2", parts=(replace(result.parts[0], id="r.1"),))
    cut = CutBefore(message="l", remaining=("c.1", "r.0"))
    whole = [replace(call, parts=call.parts[1:]), result, LAST]
    assert whole == apply([USER, call, result, LAST], [cut])
    assert [LAST] == apply([USER, call, again, LAST], [cut])
    assert [] == faults(apply([USER, call, again, LAST], [cut]), ())


def test_a_cut_before_a_message_that_is_gone_leaves_out_nothing() -> None:
    assert served(CutBefore(message="gone")) == MESSAGES


def test_heads_stand_before_all_messages_the_project_first() -> None:
    heads = served(SetHead(slot=1, text="history"), SetHead(slot=0, text="project"), CutBefore(message="l"))
    assert [("annals:head:0", "user"), ("annals:head:1", "user"), ("l", "user")] == [
        (message.id, message.role) for message in heads
    ]
    assert texts(heads) == [["project"], ["history"], ["data:x", "on"]]


def test_an_empty_head_is_none() -> None:
    assert served(SetHead(slot=0, text="")) == MESSAGES


def test_a_prefix_stands_before_a_text_and_before_a_tools_output() -> None:
    assert texts(served(PrefixText(part="u.0", text="§1§ "), PrefixText(part="a.2", text="§2§ "))) == [
        ["§1§ go"],
        ["hm", "ok", "§2§ FILE"],
        ["data:x", "on"],
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('§15298">§15298§ hello', "§9§ hello"),
        ("mid §4§ x", "§9§ mid §4§ x"),
        ("§1§ §2§§3§ hello", "§9§ hello"),
        ('§1">§§2§ hello', "§9§ hello"),
        ("§1§\n\nhello", "§9§ hello"),
        ("§ 1 is a law", "§9§ § 1 is a law"),
        ("§1 is a law", "§9§ §1 is a law"),
        ("", "§9§ "),
    ],
)
def test_a_prefix_takes_the_place_of_tags_at_the_beginning(text: str, expected: str) -> None:
    message = ServedMessage("m", "assistant", (ServedPart("p", "text", text=text),))
    assert texts(served(PrefixText(part="p", text="§9§ "), messages=[message])) == [[expected]]


def test_a_replaced_file_is_a_text() -> None:
    (part, _) = served(ReplaceText(part="l.0", text="gone"))[2].parts
    assert part == ServedPart("l.0", "text", text="gone")


def test_a_replaced_output_keeps_the_arguments() -> None:
    part = served(ReplaceOutput(part="a.2", text="gone"))[1].parts[2]
    assert part == ServedPart("a.2", "tool", tool="bash", call="c", input="{}", output="gone")


def test_a_replaced_output_takes_its_pictures_with_it_and_words_around_it_do_not() -> None:
    shown = ServedPart("p", "tool", tool="read", call="c", output="read", attachments=(Attachment("image/png"),))
    messages = [ServedMessage("m", "assistant", (shown,))]

    def left(*edits: AnyEdit) -> object:
        (message,) = served(*edits, messages=messages)
        return message.parts[0].attachments

    assert shown.attachments == left(PrefixText(part="p", text="§1§ ")) == left(AppendText(part="p", text="!"))
    assert msgspec.UNSET is left(ReplaceOutput(part="p", text="[dropped §1§]"), AppendText(part="p", text="!"))
    assert b"attachments" not in encode(ServedPart("p", "tool"))


def test_an_appended_text_stands_behind_a_text_and_behind_a_tools_output() -> None:
    assert texts(served(AppendText(part="u.0", text="!"), AppendText(part="a.2", text="?")))[:2] == [
        ["go!"],
        ["hm", "ok", "FILE?"],
    ]


def test_a_text_can_be_prefixed_and_appended_to() -> None:
    assert texts(served(PrefixText(part="u.0", text="§1§ "), AppendText(part="u.0", text="!")))[0] == ["§1§ go!"]


def test_nothing_is_appended_to_a_part_that_is_left_out() -> None:
    assert texts(served(OmitPart(part="a.1"), AppendText(part="a.1", text="!")))[1] == ["hm", "FILE"]


def test_an_omitted_part_is_left_out() -> None:
    assert texts(served(OmitPart(part="a.1")))[1] == ["hm", "FILE"]


def test_an_omitted_message_is_left_out() -> None:
    assert served(OmitMessage(message="a")) == [USER, LAST]


def test_a_message_without_any_part_left_is_left_out() -> None:
    assert served(OmitPart(part="u.0")) == [AGENT, LAST]


def test_a_message_that_never_had_parts_stays() -> None:
    bare = ServedMessage("bare", "assistant")
    assert served(OmitPart(part="u.0"), messages=[bare]) == [bare]


def test_an_omitted_arc_takes_call_and_result() -> None:
    assert texts(served(ARC, messages=[CALL, RESULT])) == [["look"]]


def test_an_arc_whose_result_came_back_as_another_part_stays_whole() -> None:
    back = replace(RESULT, parts=(replace(RESULT.parts[0], id="r.9"),))
    assert [CALL, back] == served(ARC, messages=[CALL, back])
    assert [] == faults([CALL, back], EMPTY)


@pytest.mark.parametrize(
    ("messages", "left"), [([CALL], [["look"]]), ([RESULT], []), ([RESULT, LAST], [["data:x", "on"]])]
)
def test_of_an_arc_whose_other_half_is_gone_the_rest_goes(messages: list[ServedMessage], left: list[list[str]]) -> None:
    """What was dropped does not come back, and half an arc is what a provider would refuse."""
    assert left == texts(served(ARC, messages=messages))


def test_a_call_id_that_comes_back_in_another_call_is_another_arc() -> None:
    made, answer = replace(CALL, id="c2", parts=(call("x"),)), replace(RESULT, id="r2", parts=(result("x"),))
    assert [["look"], [""], ["FILE"]] == texts(served(ARC, messages=[CALL, RESULT, made, answer]))


def test_the_message_of_an_arc_that_stays_is_not_left_out() -> None:
    back = replace(RESULT, parts=(replace(RESULT.parts[0], id="r.9"),))
    assert [CALL, back] == served(ARC, OmitMessage(message="c"), messages=[CALL, back])


def test_an_arc_that_the_cut_goes_through_is_left_out_behind_it() -> None:
    assert [AGENT] == served(ARC, CutBefore(message="r"), messages=[CALL, RESULT, AGENT])


def test_a_result_whose_call_is_cut_away_is_left_out_whatever_part_the_call_is() -> None:
    again = replace(CALL, parts=(replace(CALL.parts[1], id="c.9"),))
    assert [AGENT] == served(ARC, CutBefore(message="r"), messages=[again, RESULT, AGENT])


def test_an_arc_that_is_cut_away_is_nowhere_torn() -> None:
    assert [AGENT] == served(ARC, CutBefore(message="a"), messages=[CALL, RESULT, AGENT])


def test_an_edit_of_a_part_that_came_back_as_another_changes_nothing() -> None:
    back = replace(RESULT, parts=(replace(RESULT.parts[0], id="r.9"),))
    assert [CALL, back] == served(ReplaceOutput(part="r.0", text="[dropped §1§]"), messages=[CALL, back])


@settings(max_examples=examples(200), deadline=None)
@given(st.lists(st.tuples(st.sampled_from(["", "call", "result"]), st.booleans(), st.booleans()), max_size=6))
def test_no_arc_is_torn_whatever_comes_back_as_another_part(calls: list[tuple[str, bool, bool]]) -> None:
    """Of each call: what of it came back as another part, whether it is left out, and its message with it."""
    messages: list[ServedMessage] = [USER]
    edits: list[AnyEdit] = []
    for n, (other, is_omitted, is_hollow) in enumerate(calls):
        made, answer = call(f"x{n}"), result(f"x{n}")
        edits += [OmitArc(part=answer.id, parts=(made.id, answer.id))] if is_omitted else []
        edits += [OmitMessage(message=f"a{n}")] if is_omitted and is_hollow else []
        messages.append(message(f"a{n}", "assistant", replace(made, id=f"new call {n}") if other == "call" else made))
        messages.append(
            message(f"r{n}", "tool", replace(answer, id=f"new result {n}") if other == "result" else answer)
        )
    assert [] == faults(served(*edits, messages=messages), EMPTY)


def test_an_inserted_pair_is_a_finished_call_at_the_messages_end() -> None:
    pair = InsertPair(message="a", call="t", tool="todo", input="[]", output="1 open")
    assert served(pair)[1].parts[3] == ServedPart(
        "annals:pair:t", "tool", tool="todo", call="t", input="[]", output="1 open"
    )


def test_a_restored_part_is_what_the_harness_holds() -> None:
    assert served(Restore(part="a.1")) == MESSAGES


@pytest.mark.parametrize(
    "edit",
    [
        CutBefore(message="a"),
        SetHead(slot=0, text="head"),
        PrefixText(part="u.0", text="§1§ "),
        AppendText(part="u.0", text="!"),
        OmitMessage(message="a"),
        InsertPair(message="a", call="c", tool="t", input="{}", output="FILE"),
    ],
    ids=type,
)
def test_an_edit_that_is_withdrawn_is_none(edit: AnyEdit) -> None:
    assert served(edit) != MESSAGES
    assert served(edit, Withdraw(what=str(target(edit)))) == MESSAGES


EDITS: st.SearchStrategy[AnyEdit] = st.one_of(
    st.builds(
        CutBefore,
        message=st.sampled_from("ual"),
        remaining=st.lists(st.sampled_from(["u.0", "a.1", "a.2", "gone"]), max_size=2).map(tuple),
    ),
    st.builds(SetHead, slot=st.integers(0, 1), text=st.sampled_from(["", "head"])),
    st.builds(PrefixText, part=st.sampled_from(["u.0", "a.1", "a.2"]), text=st.just("§1§ ")),
    st.builds(ReplaceText, part=st.sampled_from(["u.0", "a.1", "l.0"]), text=st.just("[dropped §1§]")),
    st.builds(ReplaceOutput, part=st.just("a.2"), text=st.just("[dropped §1§]")),
    st.builds(OmitPart, part=st.sampled_from(["u.0", "a.0", "a.1", "l.0"])),
    st.builds(OmitMessage, message=st.sampled_from("ual")),
    st.just(OmitArc(part="a.2", parts=("a.2",))),
    st.builds(Restore, part=st.sampled_from(["u.0", "a.1"])),
)


@settings(max_examples=examples(100), deadline=None)
@given(st.lists(EDITS, max_size=6))
def test_the_same_edits_make_the_same_messages_in_whatever_order_they_came(edits: list[AnyEdit]) -> None:
    in_force = {target(edit): edit for edit in edits}
    assert apply(MESSAGES, in_force.values()) == apply(MESSAGES, reversed(in_force.values()))


@settings(max_examples=examples(100), deadline=None)
@given(st.lists(EDITS.filter(lambda edit: not isinstance(edit, SetHead)), max_size=6))
def test_edits_of_messages_that_are_edited_already_change_nothing(edits: list[AnyEdit]) -> None:
    once = served(*edits)
    assert served(*edits, messages=once) == once


@settings(max_examples=examples(100), deadline=None)
@given(st.lists(EDITS, max_size=6))
def test_edits_leave_the_harnesss_own_messages_as_they_were(edits: list[AnyEdit]) -> None:
    messages = [USER, AGENT, LAST]
    served(*edits, messages=messages)
    assert messages == MESSAGES


# Faults


def message(name: str, role: str, *parts: ServedPart) -> ServedMessage:
    return ServedMessage(name, role, parts)


def call(name: str) -> ServedPart:
    return ServedPart(f"call {name}", "tool_call", call=name)


def result(name: str) -> ServedPart:
    return ServedPart(f"result {name}", "tool_result", call=name, output="FILE")


def text(words: str) -> ServedPart:
    return ServedPart(f"text {words}", "text", text=words)


EMPTY = ("accepts_empty_content",)


def test_a_paired_call_is_no_fault() -> None:
    assert [] == faults([message("a", "assistant", call("x")), message("r", "tool", result("x"))], EMPTY)


def test_a_call_without_its_result_is_a_fault() -> None:
    torn = ["the call x in a has no result right behind it"]
    assert torn == faults([message("a", "assistant", call("x"))], EMPTY)
    assert torn == faults([message("a", "assistant", call("x")), message("u", "user", text("go"))], EMPTY)


def test_a_result_behind_another_message_is_too_late() -> None:
    late = [message("a", "assistant", call("x")), message("u", "user", text("go")), message("r", "tool", result("x"))]
    assert [
        "the call x in a has no result right behind it",
        "the result of x in r has no call before it",
    ] == faults(late, EMPTY)


def test_a_result_without_its_call_is_a_fault() -> None:
    assert ["the result of x in r has no call before it"] == faults([message("r", "tool", result("x"))], EMPTY)


def test_parallel_calls_may_be_answered_by_several_messages() -> None:
    assert [] == faults(
        [
            message("a", "assistant", call("x"), call("y")),
            message("r", "tool", result("y")),
            message("s", "tool", result("x")),
        ],
        EMPTY,
    )


def test_of_parallel_calls_each_needs_its_result() -> None:
    assert ["the call y in a has no result right behind it"] == faults(
        [message("a", "assistant", call("x"), call("y")), message("r", "tool", result("x"))], EMPTY
    )


def test_a_message_with_results_may_call_again() -> None:
    assert [] == faults(
        [
            message("a", "assistant", call("x")),
            message("r", "tool", result("x"), call("y")),
            message("s", "tool", result("y")),
        ],
        EMPTY,
    )


def test_a_call_id_may_come_back() -> None:
    pair = [message("a", "assistant", call("x")), message("r", "tool", result("x"))]
    assert [] == faults([*pair, *pair], EMPTY)


@pytest.mark.parametrize("parts", [(), (text(""),), (text(" \n"),)])
@pytest.mark.parametrize(
    ("capabilities", "found"), [((), ["the message a is empty"]), (("accepts_empty_content",), [])]
)
def test_an_empty_message_is_a_fault_where_it_is_not_accepted(
    parts: tuple[ServedPart, ...], capabilities: tuple[Capability, ...], found: list[str]
) -> None:
    assert found == faults([message("a", "assistant", *parts)], capabilities)


@pytest.mark.parametrize(
    "part",
    [
        text("ok"),
        ServedPart("p", "reasoning", text="hm"),
        ServedPart("p", "file", text="data:x"),
        ServedPart("p", "tool", call="x"),
    ],
    ids=["text", "thinking", "file", "tool"],
)
def test_a_message_that_says_something_is_not_empty(part: ServedPart) -> None:
    assert [] == faults([message("a", "assistant", part)], ())


def test_thinking_alone_says_nothing_to_a_model() -> None:
    assert [False, False, True] == [
        has_meaning(parts) for parts in ([ServedPart("p", "reasoning", text="hm")], [text(" ")], [text("ok")])
    ]


@pytest.mark.parametrize(
    ("role", "capabilities", "is_fault"),
    [
        ("user", (), False),
        ("user", ("requires_alternation",), True),
        ("assistant", ("requires_alternation",), True),
        ("assistant", ("requires_alternation", "merges_adjacent_assistants"), False),
        ("user", ("requires_alternation", "merges_adjacent_assistants"), True),
    ],
)
def test_roles_alternate_where_the_model_demands_it(
    role: str, capabilities: tuple[Capability, ...], *, is_fault: bool
) -> None:
    found = faults([message("a", role, text("one")), message("b", role, text("two"))], capabilities)
    assert (["the message b has the same role as the one before it"] if is_fault else []) == found


def test_alternating_roles_are_no_fault() -> None:
    assert [] == faults(
        [message("a", "user", text("one")), message("b", "assistant", text("two"))], ["requires_alternation"]
    )
