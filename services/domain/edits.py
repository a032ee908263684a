"""Applies edits to messages, and finds what a provider would refuse. For checking plans, and the reference client."""

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

import msgspec

from schemas.inbox import Attachment
from schemas.plan import (
    AnyEdit,
    AppendText,
    Cut,
    CutBefore,
    HeadSlot,
    InsertPair,
    MessageEnd,
    OmitArc,
    OmitMessage,
    OmitPart,
    PartContent,
    PartEnd,
    PrefixText,
    ReplaceOutput,
    ReplaceText,
    Restore,
    SetHead,
    Target,
    WholeMessage,
    Withdraw,
    parse_target,
)

TAGS = re.compile(r'^(?:§\d+">§(?:\d+§)?\s*|§\d+§\s*)+')
"""Tags at the beginning of a text, the malformed ones included that models make of them."""
HEAD = "annals:head:"
"""The ids of the synthetic head messages begin like this."""
PROJECT, HISTORY = SLOTS = (0, 1)
"""The slots of the head, in the order in which they stand."""

replace = msgspec.structs.replace


class ServedPart(msgspec.Struct, frozen=True):
    """A part as a model sees it. `kind` is that of the inbox."""

    id: str
    kind: str
    text: str = ""
    tool: str = ""
    call: str = ""
    input: str = ""
    output: str = ""
    signed: bool = False
    attachments: tuple[Attachment, ...] | msgspec.UnsetType = msgspec.UNSET
    """Attachments of the output; unset where there are none."""


class ServedMessage(msgspec.Struct, frozen=True):
    """A message as a model sees it."""

    id: str
    role: str
    parts: tuple[ServedPart, ...] = ()


PartEdit = PrefixText | ReplaceText | ReplaceOutput | OmitPart | OmitArc | Restore
"""An edit of a part's own content."""


class _InForce(msgspec.Struct):
    """Edits, found by what they are about."""

    contents: dict[str, PartEdit]
    ends: dict[str, AppendText]
    left_out: dict[str, OmitMessage]
    pairs: dict[str, InsertPair]
    heads: dict[int, SetHead]
    cut: CutBefore | None = None


def apply(messages: Sequence[ServedMessage], edits: Iterable[AnyEdit]) -> list[ServedMessage]:
    """The messages as they are served with these edits; of two edits with the same target the later one holds.

    A tool arc is left out whole or not at all: where one half came back as another part, both stay, in their messages.
    """
    plan = _in_force(edits)
    messages = _cut(messages, plan)
    arcs, whole = _arcs(messages, plan)
    served = [*_heads(plan)]
    for message in messages:
        if message.id in plan.left_out and whole.isdisjoint(part.id for part in message.parts):
            continue
        changed = _edited(message, plan, arcs)
        if changed.parts or not message.parts:
            served.append(changed)
    return served


def _in_force(edits: Iterable[AnyEdit]) -> _InForce:
    plan = _InForce({}, {}, {}, {}, {})
    for edit in edits:
        match edit:
            case AppendText(part=part):
                plan.ends[part] = edit
            case OmitMessage(message=name):
                plan.left_out[name] = edit
            case InsertPair(message=name):
                plan.pairs[name] = edit
            case SetHead(slot=slot):
                plan.heads[slot] = edit
            case CutBefore():
                plan.cut = edit
            case Withdraw(what=what):
                _withdraw(plan, parse_target(what))
            case _:
                plan.contents[edit.part] = edit
    return plan


def _withdraw(plan: _InForce, what: Target) -> None:
    match what:
        case PartContent(part=part):
            plan.contents.pop(part, None)
        case PartEnd(part=part):
            plan.ends.pop(part, None)
        case WholeMessage(message=name):
            plan.left_out.pop(name, None)
        case MessageEnd(message=name):
            plan.pairs.pop(name, None)
        case HeadSlot(slot=slot):
            plan.heads.pop(slot, None)
        case Cut():
            plan.cut = None


def _arcs(messages: Sequence[ServedMessage], plan: _InForce) -> tuple[set[str], set[str]]:
    """The parts that are left out as arcs, and those of arcs of which one half came back as another part."""
    arcs = [edit.parts for edit in plan.contents.values() if isinstance(edit, OmitArc)]
    named = {part for parts in arcs for part in parts}
    if all(len(parts) == 1 for parts in arcs):
        return named, set()
    torn = [pair for pair in _pairs(messages) if not named.isdisjoint(pair) and not named.issuperset(pair)]
    stays = {part for pair in torn for part in pair}
    return named - stays, stays


def _pairs(messages: Sequence[ServedMessage]) -> Iterable[tuple[str, str]]:
    """Calls with their results, where they are two parts."""
    unanswered: dict[str, str] = {}
    for message in messages:
        for part in message.parts:
            if part.kind == "tool_call":
                unanswered[part.call] = part.id
            elif part.kind == "tool_result" and part.call in unanswered:
                yield unanswered.pop(part.call), part.id


def _heads(plan: _InForce) -> Iterable[ServedMessage]:
    for slot in SLOTS:
        head = plan.heads.get(slot)
        if head is not None and head.text:
            name = f"{HEAD}{slot}"
            yield ServedMessage(name, "user", (ServedPart(f"{name}:p0", "text", text=head.text),))


def _cut(messages: Sequence[ServedMessage], plan: _InForce) -> Sequence[ServedMessage]:
    """The messages behind the cut, and the parts before it that stay; nothing is inserted into messages before it.

    A call stays with its result or not at all: one of them may have come back as another part.
    """
    if plan.cut is None:
        return messages
    at = next((index for index, message in enumerate(messages) if message.id == plan.cut.message), 0)
    if not plan.cut.remaining:
        return messages[at:]
    remaining = frozenset(plan.cut.remaining)
    remaining -= {part for pair in _pairs(messages[:at]) if not remaining.issuperset(pair) for part in pair}
    plan.pairs = {name: pair for name, pair in plan.pairs.items() if all(one.id != name for one in messages[:at])}
    before = [replace(one, parts=tuple(part for part in one.parts if part.id in remaining)) for one in messages[:at]]
    return [*(message for message in before if message.parts), *messages[at:]]


def _edited(message: ServedMessage, plan: _InForce, arcs: set[str]) -> ServedMessage:
    parts = []
    touched = False
    for part in message.parts:
        if part.id in arcs:
            touched = True
            continue
        changed = _part(part, plan.contents.get(part.id), plan.ends.get(part.id))
        touched = touched or changed is not part
        if changed is not None:
            parts.append(changed)
    pair = plan.pairs.get(message.id)
    if pair is not None:
        name = f"annals:pair:{pair.call}"
        parts.append(ServedPart(name, "tool", tool=pair.tool, call=pair.call, input=pair.input, output=pair.output))
        touched = True
    return replace(message, parts=tuple(parts)) if touched else message


def _part(part: ServedPart, edit: PartEdit | None, end: AppendText | None) -> ServedPart | None:
    changed: ServedPart | None = part
    match edit:
        case None | Restore() | OmitArc():  # an arc of which one half came back as another part
            pass
        case PrefixText(text=text):
            changed = _with_text(part, text + TAGS.sub("", _text(part)))
        case ReplaceText(text=text):
            changed = replace(part, kind="text", text=text, attachments=msgspec.UNSET)
        case ReplaceOutput(text=text):
            changed = replace(part, output=text, attachments=msgspec.UNSET)
        case OmitPart():
            changed = None
    if changed is not None and end is not None:
        changed = _with_text(changed, _text(changed) + end.text)
    return changed


def _is_tool(part: ServedPart) -> bool:
    return part.kind in ("tool", "tool_result")


def _text(part: ServedPart) -> str:
    return part.output if _is_tool(part) else part.text


def _with_text(part: ServedPart, text: str) -> ServedPart:
    return replace(part, output=text) if _is_tool(part) else replace(part, text=text)


MEANINGLESS = frozenset({"reasoning"})


def has_meaning(parts: Iterable[ServedPart]) -> bool:
    """Whether a message made of these says anything to a model."""
    return any(part.kind not in MEANINGLESS and (part.kind != "text" or part.text.strip() != "") for part in parts)


def faults(messages: Sequence[ServedMessage], capabilities: Iterable[str]) -> list[str]:
    """The faults for which a provider would refuse these messages, a sentence each."""
    able = set(capabilities)
    found = [*_unpaired(messages)]
    if "accepts_empty_content" not in able:
        found += [f"the message {message.id} is empty" for message in messages if not _has_content(message)]
    if "requires_alternation" in able:
        found += [
            f"the message {after.id} has the same role as the one before it"
            for before, after in pairwise(messages)
            if before.role == after.role and not ("merges_adjacent_assistants" in able and after.role == "assistant")
        ]
    return found


def _has_content(message: ServedMessage) -> bool:
    return has_meaning(message.parts) or any(part.kind == "reasoning" for part in message.parts)


def _unpaired(messages: Sequence[ServedMessage]) -> Iterable[str]:
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
