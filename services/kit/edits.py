"""What edits do to messages, and what a provider would refuse. Used to check a plan, and by the reference client."""

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

import msgspec

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
)

TAGS = re.compile(r'^(?:§\d+">§(?:\d+§)?\s*|§\d+§\s*)+')
"""Tags at the beginning of a text, the malformed ones included that models make of them."""
HEAD = "annals:head:"
"""The ids of the synthetic head messages begin like this."""

replace = msgspec.structs.replace


class Part(msgspec.Struct, frozen=True):
    """A part as a model sees it. `kind` is that of the inbox."""

    id: str
    kind: str
    text: str = ""
    tool: str = ""
    call: str = ""
    input: str = ""
    output: str = ""
    signed: bool = False


class Message(msgspec.Struct, frozen=True):
    """A message as a model sees it."""

    id: str
    role: str
    parts: tuple[Part, ...] = ()


def apply(messages: Sequence[Message], edits: Mapping[str, AnyEdit]) -> list[Message]:
    """The messages as they are served; `edits` maps targets (see `schemas.plan.target`) to edits.

    A tool arc is left out whole or not at all: where one half came back as another part, both stay, in their messages.
    """
    messages = _behind_cut(messages, edits)
    arcs, whole = _arcs(messages, edits)
    served = [*_heads(edits)]
    for message in messages:
        if f"message:{message.id}" in edits and whole.isdisjoint(part.id for part in message.parts):
            continue
        changed = _edited(message, edits, arcs)
        if changed.parts or not message.parts:
            served.append(changed)
    return served


def _arcs(messages: Sequence[Message], edits: Mapping[str, AnyEdit]) -> tuple[set[str], set[str]]:
    """The parts that are left out as arcs, and those of arcs of which one half came back as another part."""
    arcs = [edit.parts for edit in edits.values() if isinstance(edit, OmitArc)]
    named = {part for parts in arcs for part in parts}
    if all(len(parts) == 1 for parts in arcs):
        return named, set()
    torn = [pair for pair in _pairs(messages) if not named.isdisjoint(pair) and not named.issuperset(pair)]
    stays = {part for pair in torn for part in pair}
    return named - stays, stays


def _pairs(messages: Sequence[Message]) -> Iterable[tuple[str, str]]:
    """Calls with their results, where they are two parts."""
    unanswered: dict[str, str] = {}
    for message in messages:
        for part in message.parts:
            if part.kind == "tool_call":
                unanswered[part.call] = part.id
            elif part.kind == "tool_result" and part.call in unanswered:
                yield unanswered.pop(part.call), part.id


def _heads(edits: Mapping[str, AnyEdit]) -> Iterable[Message]:
    for slot in (0, 1):
        match edits.get(f"head:{slot}"):
            case SetHead(text=text) if text:
                name = f"{HEAD}{slot}"
                yield Message(name, "user", (Part(f"{name}:p0", "text", text=text),))


def _behind_cut(messages: Sequence[Message], edits: Mapping[str, AnyEdit]) -> Sequence[Message]:
    match edits.get("cut"):
        case CutBefore(message=first):
            at = next((index for index, message in enumerate(messages) if message.id == first), 0)
            return messages[at:]
        case _:
            return messages


def _edited(message: Message, edits: Mapping[str, AnyEdit], arcs: set[str]) -> Message:
    parts = []
    touched = False
    for part in message.parts:
        if part.id in arcs:
            touched = True
            continue
        changed = _part(part, edits.get(f"part:{part.id}"), edits.get(f"append:{part.id}"))
        touched = touched or changed is not part
        if changed is not None:
            parts.append(changed)
    match edits.get(f"pair:{message.id}"):
        case InsertPair() as pair:
            parts.append(
                Part(
                    f"annals:pair:{pair.call}",
                    "tool",
                    tool=pair.tool,
                    call=pair.call,
                    input=pair.input,
                    output=pair.output,
                )
            )
            touched = True
    return replace(message, parts=tuple(parts)) if touched else message


def _part(part: Part, edit: AnyEdit | None, append: AnyEdit | None) -> Part | None:
    changed: Part | None = part
    match edit:
        case None | Restore() | OmitArc():  # an arc of which one half came back as another part
            pass
        case PrefixText(text=text):
            changed = _with_text(part, text + TAGS.sub("", _text(part)))
        case ReplaceText(text=text):
            changed = replace(part, kind="text", text=text)
        case ReplaceOutput(text=text):
            changed = replace(part, output=text)
        case OmitPart():
            changed = None
        case OmitMessage() | CutBefore() | SetHead() | InsertPair() | AppendText() | Withdraw():
            raise TypeError(f"{edit!r} is not about a part")
    if changed is not None and isinstance(append, AppendText):
        changed = _with_text(changed, _text(changed) + append.text)
    return changed


def _is_tool(part: Part) -> bool:
    return part.kind in ("tool", "tool_result")


def _text(part: Part) -> str:
    return part.output if _is_tool(part) else part.text


def _with_text(part: Part, text: str) -> Part:
    return replace(part, output=text) if _is_tool(part) else replace(part, text=text)


MEANINGLESS = frozenset({"reasoning"})


def has_meaning(parts: Iterable[Part]) -> bool:
    """Whether a message made of these says anything to a model."""
    return any(part.kind not in MEANINGLESS and (part.kind != "text" or part.text.strip() != "") for part in parts)


def faults(messages: Sequence[Message], capabilities: Iterable[str]) -> list[str]:
    """What a provider would refuse in these messages, a sentence each."""
    able = set(capabilities)
    found = [*_unpaired(messages)]
    if "accepts_empty_content" not in able:
        found += [f"the message {message.id} is empty" for message in messages if not _says_something(message)]
    if "requires_alternation" in able:
        found += [
            f"the message {after.id} has the same role as the one before it"
            for before, after in pairwise(messages)
            if before.role == after.role and not ("merges_adjacent_assistants" in able and after.role == "assistant")
        ]
    return found


def _says_something(message: Message) -> bool:
    return has_meaning(message.parts) or any(part.kind == "reasoning" for part in message.parts)


def _unpaired(messages: Sequence[Message]) -> Iterable[str]:
    """Calls without their result in what follows directly, and results without their call in what precedes.

    Several messages with results may follow one with several calls.
    """
    unanswered: dict[str, str] = {}
    for message in messages:
        results = {part.call for part in message.parts if part.kind == "tool_result"}
        for call in sorted(results - unanswered.keys()):
            yield f"the result of {call} in {message.id} has no call before it"
        unanswered = {call: where for call, where in unanswered.items() if call not in results}
        if not results:
            yield from _torn(unanswered)
            unanswered = {}
        unanswered |= {part.call: message.id for part in message.parts if part.kind == "tool_call"}
    yield from _torn(unanswered)


def _torn(unanswered: Mapping[str, str]) -> Iterable[str]:
    for call, where in unanswered.items():
        yield f"the call {call} in {where} has no result right behind it"
