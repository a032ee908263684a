"""The check before a plan is appended: apply it to the known messages, and see what a provider would refuse."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import takewhile

import msgspec

from schemas.plan import (
    AnyEdit,
    Cut,
    CutBefore,
    HeadSlot,
    MessageEnd,
    OmitArc,
    OmitMessage,
    OmitPart,
    PartContent,
    PartEnd,
    SetHead,
    Target,
    WholeMessage,
    target,
)
from services.domain import edits as applied
from services.domain.conversation import Conversation, Message, Part
from services.plan.session.state import Session

STRUCTURAL = (OmitArc, OmitMessage, OmitPart)
NEIGHBOURS = 3
"""Messages on each side in which a torn pair or a broken alternation may show, not counting those of results alone: an
answer may have any number of calls, and each its result in a message of its own."""
CONTENT = "content"
"""A placeholder for a body: the check needs to know that there is one, not its content."""
BEGINNING: frozenset[Target] = frozenset({Cut(), *map(HeadSlot, applied.SLOTS)})
"""The targets of edits that decide how the list begins."""


def new_faults(session: Session, edits: Sequence[AnyEdit]) -> list[str]:
    """The new faults of these edits: neither refused in the prompt as it is served now, nor cut away as they are.

    Only edits that take something away, cut, or add a message can break a list, and only where they are: the messages
    they are about are checked with their neighbours, and so is the beginning of the list.
    """
    wanted = {target(edit): edit for edit in edits}
    places = {place for edit in edits if isinstance(edit, STRUCTURAL) for place in _places(session, edit)}
    if not places and wanted.keys().isdisjoint(BEGINNING):
        return []
    cut = _cut(session, wanted)
    first = _beginning(session, wanted)
    remaining = {session.conversation.place(part) for part in _remaining(session, wanted)}
    places |= remaining if Cut() in wanted else set()
    around = {place for place in places if place in session.conversation.order and (place >= cut or place in remaining)}
    if first is not None and not wanted.keys().isdisjoint(BEGINNING):
        around.add(first.ordinal)
    able = session.step.capabilities if session.step else []
    now = _beginning(session, {})
    found = _faults_of_beginning(session, wanted, now, first)
    for messages in _windows(session.conversation, sorted(around)):
        found += _faults_within(messages, session, wanted, able, begins=(now, first))
    return list(dict.fromkeys(found))


def _cut(session: Session, wanted: Mapping[Target, AnyEdit]) -> int:
    """Ordinal of the first message that is not cut away with these edits; 0: nothing is."""
    edit = wanted.get(Cut(), session.plan.cut)
    message = session.conversation.messages.get(edit.message) if isinstance(edit, CutBefore) else None
    return message.ordinal if message is not None and message.present else 0


def _remaining(session: Session, wanted: Mapping[Target, AnyEdit]) -> tuple[str, ...]:
    """The parts before the cut that stay with these edits."""
    edit = wanted.get(Cut(), session.plan.cut)
    return edit.remaining if isinstance(edit, CutBefore) else ()


def _beginning(session: Session, wanted: Mapping[Target, AnyEdit]) -> Message | None:
    """The first message of the conversation that is served with these edits."""
    gone = {part for edit in wanted.values() if isinstance(edit, OmitArc) for part in edit.parts}
    for message in session.conversation.after(max(0, _cut(session, wanted) - 1)):
        shape = _shape(session, message)
        left = tuple(one for one in shape.parts if one.id not in gone and not _is_in_arc(session, wanted, one.id))
        if shape.parts and not left:  # an arc goes by its result, and takes the call in another message with it
            continue
        if applied.apply([shape], _in_force(session, wanted, _targets([shape]))):
            return message
    return None


def _is_in_arc(session: Session, wanted: Mapping[Target, AnyEdit], part: str) -> bool:
    """Whether an arc in force leaves the part out, and goes on doing so with these edits."""
    by = session.plan.in_arcs.get(part)
    return by is not None and PartContent(by) not in wanted


def _in_force(session: Session, wanted: Mapping[Target, AnyEdit], targets: Iterable[Target]) -> list[AnyEdit]:
    """The edits with these targets that hold with what is wanted."""
    found = (wanted.get(what) or session.plan.at(what) for what in targets)
    return [edit for edit in found if edit is not None]


def _faults_of_beginning(
    session: Session, wanted: Mapping[Target, AnyEdit], now: Message | None, first: Message | None
) -> list[str]:
    """Every provider wants something of the conversation, and most want it to begin with a user's message."""
    if first is None:
        return ["nothing is left of the conversation"] if now is not None else []
    raw = next(session.conversation.after(0), None)
    if _begins_well(session, wanted, first):
        return []
    if _begins_well(None, {}, raw):
        is_known = not _begins_well(session, {}, now)
    else:
        is_known = not _passes_over(session, wanted, first) or _passes_over(session, {}, now)
    return [] if is_known else [f"the list begins with {first.recorded.message}, which is no message of a user"]


def _passes_over(session: Session, wanted: Mapping[Target, AnyEdit], first: Message | None) -> bool:
    """Whether a user's message before the first one that is served is left out.

    A list may begin with an agent's message. When the harness takes that out of it, the next one must be there.
    """
    end = first.ordinal if first is not None else 0
    behind_cut = session.conversation.after(max(0, _cut(session, wanted) - 1))
    left_out = takewhile(lambda one: one.ordinal < end, behind_cut)
    return any(one.recorded.role == "user" and _shape(session, one).parts for one in left_out)


def _begins_well(session: Session | None, wanted: Mapping[Target, AnyEdit], first: Message | None) -> bool:
    """Whether a user's message comes first; without a session, of the list as the harness has it."""
    heads = _in_force(session, wanted, map(HeadSlot, applied.SLOTS)) if session else []
    if any(isinstance(head, SetHead) and head.text for head in heads):
        return True
    return first is not None and first.recorded.role == "user"


def _places(session: Session, edit: OmitArc | OmitMessage | OmitPart) -> Iterable[int]:
    match edit:
        case OmitArc(parts=parts):
            return [session.conversation.place(part) for part in parts]
        case OmitPart(part=part):
            return [session.conversation.place(part)]
        case OmitMessage(message=name):
            message = session.conversation.messages.get(name)
            return [message.ordinal] if message else []


def _windows(conversation: Conversation, places: Sequence[int]) -> list[list[Message]]:
    """Stretches of the conversation around these places, none of them overlapping."""
    windows: list[tuple[int, int]] = []
    for place in places:
        is_near = bool(windows) and place <= windows[-1][1]
        first = place if is_near else _neighbour(conversation, range(place - 1, 0, -1), place)
        last = _neighbour(conversation, range(place + 1, conversation.last_ordinal + 1), place)
        if windows and first <= windows[-1][1]:
            windows[-1] = (windows[-1][0], last)
        else:
            windows.append((first, last))
    return [
        [
            conversation.messages[conversation.order[place]]
            for place in range(first, last + 1)
            if place in conversation.order
        ]
        for first, last in windows
    ]


def _neighbour(conversation: Conversation, places: Iterable[int], place: int) -> int:
    """The place of the last neighbour in this direction, or of the farthest there is."""
    last, count = place, 0
    for near in (near for near in places if near in conversation.order):
        last, count = near, count + (not _is_result(conversation, near))
        if count == NEIGHBOURS:
            break
    return last


def _is_result(conversation: Conversation, place: int) -> bool:
    """Whether the message at this place holds nothing but results of calls."""
    sent = [part.recorded.kind for _, part in conversation.sent_parts(conversation.messages[conversation.order[place]])]
    return bool(sent) and all(kind == "tool_result" for kind in sent)


def _faults_within(
    messages: Sequence[Message],
    session: Session,
    wanted: Mapping[Target, AnyEdit],
    able: Sequence[str],
    *,
    begins: tuple[Message | None, Message | None],
) -> list[str]:
    """The new faults in this stretch. Where the list begins, now and with these edits, the heads stand before it."""
    is_cut_anew = Cut() in wanted  # what comes back with that comes back as the harness holds it
    raw = [(message, _shape(session, message)) for message in messages]
    already = {*applied.faults([shape for _, shape in raw], able)} if is_cut_anew else set()
    served = []
    for edits, first in zip(({}, wanted), begins, strict=True):
        shapes = [*_uncut(session, raw, edits)]
        targets = {*_targets(shapes), *(BEGINNING - {Cut()} if first in messages else ())}
        served.append(applied.faults(applied.apply(shapes, _in_force(session, edits, targets)), able))
    already |= {*served[0]}
    return [fault for fault in served[1] if fault not in already]


def _uncut(
    session: Session, raw: Iterable[tuple[Message, applied.ServedMessage]], wanted: Mapping[Target, AnyEdit]
) -> Iterable[applied.ServedMessage]:
    """The messages behind the cut, each with its shape, under these edits."""
    cut, remaining = _cut(session, wanted), frozenset(_remaining(session, wanted))
    for message, shape in raw:
        if message.ordinal >= cut:
            yield shape
        elif parts := tuple(part for part in shape.parts if part.id in remaining):
            yield msgspec.structs.replace(shape, parts=parts)


def _targets(shapes: Sequence[applied.ServedMessage]) -> Iterable[Target]:
    """The targets of edits of these messages, but for those of the whole list."""
    for message in shapes:
        yield WholeMessage(message.id)
        yield MessageEnd(message.id)
        for part in message.parts:
            yield PartContent(part.id)
            yield PartEnd(part.id)


def _shape(session: Session, message: Message) -> applied.ServedMessage:
    parts = tuple(
        _part(name, part) for name, part in session.conversation.sent_parts(message) if not part.recorded.ignored
    )
    return applied.ServedMessage(message.recorded.message, message.recorded.role, parts)


def _part(name: str, part: Part) -> applied.ServedPart:
    recorded = part.recorded
    is_output = recorded.kind in ("tool", "tool_result")
    body = CONTENT if recorded.bytes and (is_output or part.head.strip() or recorded.text_ref) else ""
    return applied.ServedPart(
        id=name,
        kind=recorded.kind,
        text="" if is_output else body,
        output=body if is_output else "",
        call=recorded.call,
        tool=recorded.tool,
        signed=recorded.signed,
    )
