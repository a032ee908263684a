"""The rules of the scripted provider: each refuses its violation and lets the legal neighbour pass."""

from typing import Any

import pytest

from tests.harness.provider import Rules, prefix_break
from tests.harness.provider.content import Format, Json, encode
from tests.harness.provider.rules import faults
from tests.harness.provider.wire import receive


def broken(form: Format, body: Json, rules: Rules | None = None) -> tuple[str, ...]:
    return faults(form, encode(body), rules or Rules())


def user(content: object) -> Json:
    return {"role": "user", "content": content}


def assistant(content: object, *calls: str, **more: object) -> Json:
    made = [{"id": one, "type": "function", "function": {"name": "read", "arguments": "{}"}} for one in calls]
    return {"role": "assistant", "content": content} | ({"tool_calls": made} if made else {}) | more


def tool(call: str, text: str = "output") -> Json:
    return {"role": "tool", "tool_call_id": call, "content": text}


def text_block(text: str, **more: object) -> Json:
    return {"type": "text", "text": text, **more}


def used(name: str, **more: object) -> Json:
    return {"type": "tool_use", "id": name, "name": "read", "input": {}, **more}


def result(name: str, content: object = "output", **more: object) -> Json:
    return {"type": "tool_result", "tool_use_id": name, "content": content, **more}


MARK = {"cache_control": {"type": "ephemeral"}}
SYSTEM: Json = {"role": "system", "content": "You help."}
GO = user("Go.")


def chat(*messages: Json, **more: object) -> Json:
    return {"model": "scripted", "messages": list(messages), **more}


@pytest.mark.parametrize(
    "messages",
    [
        (SYSTEM, GO),
        (GO, assistant("Yes."), assistant("And more."), GO, GO),
        (GO, assistant(None, "a", "b"), tool("b"), tool("a"), assistant("Done.")),
        (GO, assistant("", "a"), tool("a", ""), assistant("", "a"), tool("a")),
        (GO, assistant(""), user("")),
        (SYSTEM, user([text_block("Go.")])),
    ],
)
def test_openai_takes_what_is_legal(messages: tuple[Json, ...]) -> None:
    assert () == broken("openai", chat(*messages))


@pytest.mark.parametrize(
    ("messages", "fault"),
    [
        ((), "empty array"),
        ((SYSTEM,), "none behind the system prompt"),
        ((SYSTEM, SYSTEM, GO), "must be at the beginning"),
        ((GO, SYSTEM, GO), "must be at the beginning"),
        (({"role": "robot", "content": "Hm."},), "Invalid value: 'robot'"),
        ((GO, assistant(None, "a")), "did not have response messages: a"),
        ((GO, assistant(None, "a", "b"), tool("a")), "did not have response messages: b"),
        ((GO, assistant(None, "a"), GO, tool("a")), "did not have response messages: a"),
        ((tool("a"), GO), "must be a response to a preceding message"),
        ((GO, tool("a")), "must be a response to a preceding message"),
        ((GO, assistant(None, "a"), tool("a"), tool("b")), "must be a response to a preceding message"),
        ((GO, assistant(None, "a"), tool("a"), GO, tool("a")), "must be a response to a preceding message"),
        ((GO, assistant(None, "a"), tool("a"), tool("a")), "Duplicate value for 'tool_call_id' of 'a'"),
        ((GO, assistant(None, "a", "a"), tool("a")), "Duplicate value for 'tool_call_id' of 'a'"),
        ((GO, assistant(None)), "expected a string, got null"),
        ((user(None),), "expected a string, got null"),
        ((user([]),), "[] is too short"),
        ((GO, {"role": "assistant", "tool_calls": [{"id": "a", "function": {"name": "x y"}}]}, tool("a")), "no name"),
    ],
)
def test_openai_refuses_what_is_not(messages: tuple[Json, ...], fault: str) -> None:
    found = broken("openai", chat(*messages))
    assert any(fault in one for one in found), found


def test_tools_have_names_of_their_own_in_both_formats() -> None:
    tools: list[Any] = [{"type": "function", "function": {"name": name}} for name in ("read", "bash")]
    assert () == broken("openai", chat(GO, tools=tools))
    assert "the name 'read' is there 2 times" in broken("openai", chat(GO, tools=[*tools, tools[0]]))[0]
    tools = [{"name": "read"}, {"name": "bash"}]
    assert () == broken("anthropic", conversation(user("Go."), tools=tools))
    assert ("tools: Tool names must be unique.",) == broken(
        "anthropic", conversation(user("Go."), tools=[*tools, tools[0]])
    )
    assert "should match" in broken("anthropic", conversation(user("Go."), tools=[{"name": "re ad"}]))[0]


def test_some_providers_mind_more() -> None:
    strict = Rules(refuses_empty_content=True, requires_reasoning_on_tool_calls=True)
    arc = (assistant("", "a", reasoning_content=""), tool("a", ""))
    assert () == broken("openai", chat(GO, *arc), strict)
    assert "must not be empty" in broken("openai", chat(GO, assistant("")), strict)[0]
    assert "must not be empty" in broken("openai", chat(GO, user([text_block("")])), strict)[0]
    assert "at message index 1" in broken("openai", chat(GO, assistant("", "a"), tool("a")), strict)[0]


def conversation(*messages: Json, **more: object) -> Json:
    return {"model": "scripted", "max_tokens": 4096, "messages": list(messages), **more}


def spoke(*blocks: Json) -> Json:
    return {"role": "assistant", "content": list(blocks)}


@pytest.mark.parametrize(
    "messages",
    [
        (GO,),
        (user([text_block("Go.")]), user("And go."), spoke(text_block("Yes. ")), GO),
        (
            GO,
            spoke(text_block("I read."), used("a"), used("b")),
            user([result("b"), result("a", ""), text_block("Go on.")]),
        ),
        (GO, spoke(used("a")), spoke(used("b")), user([result("a")]), user([result("b")]), spoke(text_block("Done."))),
        (GO, spoke()),
        (GO, {"role": "assistant", "content": ""}),
        (GO, spoke(used("a")), user([result("a", [])])),
        tuple(user([text_block("x", **MARK)]) for _ in range(4)),
    ],
)
def test_anthropic_takes_what_is_legal(messages: tuple[Json, ...]) -> None:
    assert () == broken("anthropic", conversation(*messages))


@pytest.mark.parametrize(
    ("messages", "fault"),
    [
        ((), "at least one message is required"),
        ((spoke(text_block("Hello.")), GO), 'first message must use the "user" role'),
        ((SYSTEM, GO), 'Unexpected role "system"'),
        (
            (GO, spoke(used("a"))),
            "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: a",
        ),
        ((GO, spoke(used("a"), used("b")), user([result("a")])), "immediately after: b"),
        ((GO, spoke(used("a")), user([text_block("But first:"), result("a")])), "immediately after: a"),
        ((GO, spoke(used("a")), GO, spoke(text_block("Hm.")), user([result("a")])), "messages.4.content.0: unexpected"),
        ((user([result("a")]),), "messages.0.content.0: unexpected `tool_use_id`"),
        ((GO, spoke(used("a")), user([result("a"), result("b")])), "found in `tool_result` blocks: b"),
        ((GO, spoke(used("a")), user([result("a"), result("a")])), "must have a single result"),
        (
            (GO, spoke(used("a")), user([result("a")]), spoke(used("a")), user([result("a")])),
            "`tool_use` ids must be unique",
        ),
        ((GO, spoke(used("a b")), user([result("a b")])), "String should match pattern"),
        ((GO, spoke(used("a", input="{}")), user([result("a")])), "Input should be a valid dictionary"),
        ((user([used("a")]), user([result("a")])), "can not be in a message of the user"),
        ((user([]), spoke(text_block("Hm.")), GO), "messages.0: all messages must have non-empty content"),
        ((user(""), spoke(text_block("Hm.")), GO), "messages.0: all messages must have non-empty content"),
        ((GO, spoke(), GO), "messages.1: all messages must have non-empty content"),
        ((user([text_block("")]),), "text content blocks must be non-empty (messages.0.content.0)"),
        ((user([text_block("x"), text_block(" \n")]),), "must contain non-whitespace text (messages.0.content.1)"),
        ((user(" \n"),), "must contain non-whitespace text"),
        ((GO, spoke(used("a")), user([result("a", [text_block("")])])), "text content blocks must be non-empty"),
        ((GO, spoke(text_block("Done. "))), "final assistant content cannot end with trailing whitespace"),
        (tuple(user([text_block("x", **MARK)]) for _ in range(5)), "A maximum of 4 blocks with cache_control"),
    ],
)
def test_anthropic_refuses_what_is_not(messages: tuple[Json, ...], fault: str) -> None:
    found = broken("anthropic", conversation(*messages))
    assert any(fault in one for one in found), found


def test_anthropic_counts_all_breakpoints_and_wants_a_system_prompt_with_words() -> None:
    marked = conversation(
        user([text_block("x", **MARK)]), system=[text_block("You help.", **MARK)], tools=[{"name": "read", **MARK}]
    )
    assert () == broken("anthropic", marked)
    marked["system"] = [
        text_block("You help.", **MARK),
        text_block("And how.", **MARK),
        text_block("So it is.", **MARK),
    ]
    assert "Found 5." in broken("anthropic", marked)[0]
    blocks = [
        result("a", [text_block("1", **MARK), text_block("2", **MARK), text_block("3", **MARK)], **MARK),
        text_block("4", **MARK),
    ]
    assert "Found 5." in broken("anthropic", conversation(GO, spoke(used("a")), user(blocks)))[0]
    assert ("system: text content blocks must be non-empty",) == broken(
        "anthropic", conversation(GO, system=[text_block("")])
    )
    assert ("max_tokens: Field required",) == broken("anthropic", chat(GO))


def test_only_a_model_that_has_to_think_must_have_begun_with_thinking() -> None:
    arc = (GO, spoke(used("a")), user([result("a")]))
    assert () == broken("anthropic", conversation(*arc, thinking={"type": "adaptive"}))
    assert () == broken("anthropic", conversation(*arc, GO, thinking={"type": "enabled", "budget_tokens": 1024}))
    found = broken("anthropic", conversation(*arc, thinking={"type": "enabled", "budget_tokens": 1024}))
    assert "messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`" in found[0]


def test_what_is_no_json_object_is_refused() -> None:
    for raw in (b"", b"[1]", b"{", b"\xff"):
        assert 1 == len(faults("openai", raw, Rules()))


@pytest.mark.parametrize(
    ("before", "after", "broke"),
    [
        (conversation(GO), conversation(GO, spoke(text_block("Yes.")), GO), ""),
        (
            conversation(user([text_block("Go.", **MARK)])),
            conversation(user([text_block("Go.")]), spoke(text_block("Yes."))),
            "",
        ),
        (conversation(user([text_block("Go.")])), conversation(user([text_block("Go."), text_block("And go.")])), ""),
        (
            conversation(user([text_block("Go.")]), spoke()),
            conversation(user([text_block("Go."), text_block("And.")]), spoke()),
            "message 0 of 2 changed",
        ),
        (
            conversation(GO, spoke(text_block("Yes."))),
            conversation(GO),
            'message 1 of 2 is gone: it was \'{"role":"assistant"',
        ),
        (conversation(GO, system="a"), conversation(GO, system="b"), "the system prompt changed: at byte 1 it was"),
        (conversation(GO, tools=[{"name": "a"}]), conversation(GO), "the tools changed"),
        (
            conversation(user("The ledger of the harbour master.")),
            conversation(user("The ledger of the harbour mistress.")),
            "message 0 of 1 changed: at byte 53 it was ...'ger of the harbour master.\"}' and is",
        ),
    ],
)
def test_a_broken_prefix_is_reported_with_its_place_and_both_sides(before: Json, after: Json, broke: str) -> None:
    found = prefix_break(*(receive(n, 0, "anthropic", {}, encode(body)) for n, body in enumerate((before, after))))
    assert broke in found
    assert bool(broke) == bool(found)


def test_the_arguments_of_a_tool_may_be_named_like_a_breakpoint() -> None:
    one, other = (
        receive(
            1,
            0,
            "anthropic",
            {},
            encode(conversation(GO, spoke(used("a", input={"cache_control": n})), user([result("a")]))),
        )
        for n in (1, 2)
    )
    assert "message 1 of 3 changed" in prefix_break(one, other)


def test_the_system_prompt_of_openai_is_what_leads_the_messages() -> None:
    request = receive(1, 0, "openai", {}, encode(chat(SYSTEM, SYSTEM, GO, SYSTEM)))
    assert (encode([SYSTEM, SYSTEM]), (encode(GO), encode(SYSTEM))) == (request.system, request.messages)
