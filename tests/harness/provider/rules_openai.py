"""The rules of OpenAI's chat completions, and of those who offer the same."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from tests.harness.provider.content import Json, conversation, listed, mapping, messages_of, text_of

_ROLES = ("system", "developer", "user", "assistant", "tool")
_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")


def faults(body: Json, *, requires_reasoning: bool = False, refuses_empty: bool = False) -> list[str]:
    messages = messages_of(body)
    return [
        *_shape(body, messages),
        *_arcs(messages),
        *_contents(messages, refuses_empty=refuses_empty),
        *_tools(body),
        *(_reasoning(messages) if requires_reasoning else ()),
    ]


def _shape(body: Json, messages: Sequence[Json]) -> Iterator[str]:
    if not body.get("model"):
        yield "you must provide a model parameter"
    if not messages:
        yield "Invalid 'messages': empty array. Expected an array with minimum length 1, but got an empty array."
    elif not conversation("openai", body):
        yield "Invalid 'messages': there is none behind the system prompt."
    for place, message in enumerate(messages):
        if place and message.get("role") == "system":  # as the chat templates of some local models have it
            yield "System message must be at the beginning, and there must be one."
        if message.get("role") not in _ROLES:
            yield f"Invalid value: '{message.get('role')}' at 'messages[{place}].role'. Expected one of {_ROLES}."


def calls(message: Json) -> list[Json]:
    return [mapping(call) for call in listed(message.get("tool_calls"))]


def _arcs(messages: Sequence[Json]) -> Iterator[str]:
    """Each call is answered once, by the tool messages directly behind it; no such message answers anything else."""
    place = 0
    while place < len(messages):
        message, behind = messages[place], place + 1
        while behind < len(messages) and messages[behind].get("role") == "tool":
            behind += 1
        answers = [str(one.get("tool_call_id")) for one in messages[place + 1 : behind]]
        if message.get("role") == "tool":
            yield _orphan(place)
        yield from _arc(place, message, answers)
        place = behind


def _orphan(place: int) -> str:
    return (
        f"Invalid parameter: messages with role 'tool' must be a response to a preceding message with 'tool_calls' "
        f"(messages.[{place}].role)."
    )


def _arc(place: int, message: Json, answers: Sequence[str]) -> Iterator[str]:
    made = calls(message) if message.get("role") == "assistant" else []
    ids = [str(call.get("id") or "") for call in made]
    for call in made:
        yield from _call(place, call)
    for name, count in Counter(ids).items():
        if count > 1:
            yield f"Duplicate value for 'tool_call_id' of '{name}' in messages[{place}]."
    if missing := [name for name in ids if name not in answers]:
        yield (
            "An assistant message with 'tool_calls' must be followed by tool messages responding to each "
            f"'tool_call_id'. The following tool_call_ids did not have response messages: {', '.join(missing)} "
            f"(messages.[{place}].role)."
        )
    for offset, name in enumerate(answers):
        if name not in ids:
            yield _orphan(place + 1 + offset)
        elif name in answers[:offset]:
            yield f"Duplicate value for 'tool_call_id' of '{name}' in messages[{place + 1 + offset}]."


def _call(place: int, call: Json) -> Iterator[str]:
    function = mapping(call.get("function"))
    if not call.get("id"):
        yield f"Missing required parameter: 'messages[{place}].tool_calls[].id'."
    if not _NAME.fullmatch(str(function.get("name", ""))):
        yield f"Invalid 'messages[{place}].tool_calls[].function.name': {function.get('name')!r} is no name of a tool."
    if not isinstance(function.get("arguments"), str):
        yield f"Invalid type for 'messages[{place}].tool_calls[].function.arguments': expected a string."


def _contents(messages: Sequence[Json], *, refuses_empty: bool) -> Iterator[str]:
    for place, message in enumerate(messages):
        content, role = message.get("content"), message.get("role")
        can_be_missing = role == "assistant" and bool(calls(message))
        if content is None and not can_be_missing:
            yield f"Invalid value for 'content': expected a string, got null (messages.[{place}].content)."
        elif content == []:
            yield f"[] is too short - 'messages.{place}.content'"
        elif refuses_empty and not can_be_missing and role != "tool" and not text_of(content) and _is_text(content):
            yield f"Invalid request: message at position {place} with role '{role}' must not be empty"


def _is_text(content: object) -> bool:
    return all(mapping(part).get("type") == "text" for part in listed(content))


def _tools(body: Json) -> Iterator[str]:
    names = [str(mapping(mapping(tool).get("function")).get("name", "")) for tool in listed(body.get("tools"))]
    for name, count in Counter(names).items():
        if not _NAME.fullmatch(name):
            yield f"Invalid 'tools[].function.name': {name!r} does not match '{_NAME.pattern}'."
        if count > 1:
            yield f"Invalid 'tools': the name {name!r} is there {count} times."


def _reasoning(messages: Sequence[Json]) -> Iterator[str]:
    for place, message in enumerate(messages):
        if calls(message) and not isinstance(message.get("reasoning_content"), str):
            yield f"Missing `reasoning_content` field in the assistant message at message index {place}."
