"""The check before a plan is appended: apply it to the known messages, and see what a provider would refuse."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice

from schemas.plan import AnyEdit, OmitArc, OmitMessage, OmitPart, target
from services.kit import edits as applied
from services.kit.conversation import Conversation, Message, Part
from services.responder.state import Session

STRUCTURAL = (OmitArc, OmitMessage, OmitPart)
NEIGHBOURS = 3
"""Messages on each side that a torn pair or a broken alternation may show in."""
CONTENT = "content"
"""Stands for a body: the check needs to know that there is one, not what it says."""


def new_faults(session: Session, edits: Sequence[AnyEdit]) -> list[str]:
    """What would be refused with these edits that is not refused as it is served now.

    Only edits that take something away or add a message can break a list, and only where they are: the messages they
    are about are checked with their neighbours.
    """
    places = {place for edit in edits if isinstance(edit, STRUCTURAL) for place in _places(session, edit)}
    if not places:
        return []
    wanted = {target(edit): edit for edit in edits}
    able = session.step.capabilities if session.step else []
    found: list[str] = []
    for messages in _windows(session.talk, sorted(place for place in places if place in session.talk.order)):
        found += _faults_within(messages, session, wanted, able)
    return found


def _places(session: Session, edit: OmitArc | OmitMessage | OmitPart) -> Iterable[int]:
    match edit:
        case OmitArc(parts=parts):
            return [session.talk.place(part) for part in parts]
        case OmitPart(part=part):
            return [session.talk.place(part)]
        case OmitMessage(message=name):
            message = session.talk.messages.get(name)
            return [message.ordinal] if message else []


def _windows(talk: Conversation, places: Sequence[int]) -> list[list[Message]]:
    """Stretches of the conversation around these places, none of them overlapping."""
    windows: list[tuple[int, int]] = []
    for place in places:
        is_near = bool(windows) and place <= windows[-1][1]
        first = place if is_near else _neighbour(talk, range(place - 1, 0, -1), place)
        last = _neighbour(talk, range(place + 1, talk.last_ordinal + 1), place)
        if windows and first <= windows[-1][1]:
            windows[-1] = (windows[-1][0], last)
        else:
            windows.append((first, last))
    return [
        [talk.messages[talk.order[place]] for place in range(first, last + 1) if place in talk.order]
        for first, last in windows
    ]


def _neighbour(talk: Conversation, places: Iterable[int], place: int) -> int:
    """The place of the last neighbour in this direction, or of the farthest there is."""
    return next(reversed([place, *islice((near for near in places if near in talk.order), NEIGHBOURS)]))


def _faults_within(
    messages: Sequence[Message], session: Session, wanted: Mapping[str, AnyEdit], able: Sequence[str]
) -> list[str]:
    shapes = [_shape(session, message) for message in messages]
    targets = set(_targets(shapes))
    now = {key: edit for key in targets if (edit := session.edits.get(key)) is not None}
    then = now | {key: wanted[key] for key in targets if key in wanted}
    already = set(applied.faults(applied.apply(shapes, now), able))
    return [fault for fault in applied.faults(applied.apply(shapes, then), able) if fault not in already]


def _targets(shapes: Sequence[applied.Message]) -> Iterable[str]:
    yield from ("cut", "head:0", "head:1")
    for message in shapes:
        yield f"message:{message.id}"
        yield f"pair:{message.id}"
        for part in message.parts:
            yield f"part:{part.id}"
            yield f"append:{part.id}"


def _shape(session: Session, message: Message) -> applied.Message:
    parts = tuple(_part(name, part) for name, part in session.talk.sent_parts(message) if not part.recorded.ignored)
    return applied.Message(message.recorded.message, message.recorded.role, parts)


def _part(name: str, part: Part) -> applied.Part:
    recorded = part.recorded
    is_output = recorded.kind in ("tool", "tool_result")
    body = CONTENT if recorded.bytes and (is_output or part.head.strip() or recorded.text_ref) else ""
    return applied.Part(
        id=name,
        kind=recorded.kind,
        text="" if is_output else body,
        output=body if is_output else "",
        call=recorded.call,
        tool=recorded.tool,
        signed=recorded.signed,
    )
