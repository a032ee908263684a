"""The lane that serves what an agent asked to drop: one placeholder, a pure function of the tag."""

from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet

from schemas.plan import AnyEdit, OmitArc, ReplaceOutput, ReplaceText
from services.domain.conversation import Message, Part
from services.domain.texts.placeholders import DROPPED, TRUNCATED, UNTAGGED
from services.domain.tokens import tokens
from services.plan.lanes.base import Change, Lane, View, spares_firm
from services.plan.provider_rules.check import new_faults
from services.plan.session.costs import is_sent, served_output
from services.plan.session.state import Session

NAME = "drops"
MAX_DROPPED_INPUT = 1024
"""Bytes of arguments that a dropped call keeps; with longer ones the whole call goes: real arguments or none."""
PREVIEW_UNITS = 250
"""UTF-16 units of a dropped user text that stay at most."""
PREVIEW_WORD_UNITS = 220
"""UTF-16 units behind which the text is cut at the last white space, if there is any."""


def extend(view: View, messages: Sequence[Message]) -> Iterable[AnyEdit]:
    """Placeholders for dropped parts that come back, so that they stay dropped."""
    session = view.session
    sent = (found for message in messages for found in session.conversation.sent_parts(message))
    return tuple(_reappearing(session, (name for name, part in sent if part.number in session.drops.dropped)))


def _reappearing(session: Session, dropped: Iterable[str]) -> Iterator[ReplaceText | ReplaceOutput]:
    """Edits for dropped parts that are shown nevertheless: in a message listed again, or under another id."""
    for name in dropped:
        is_shown = session.plan.is_whole(name) or is_torn(session, session.plan.altered.get(name))
        if is_shown and is_sent(session.conversation, session.plan, name):
            part = session.conversation.parts[name]
            yield _replaced(session, name, part, (part.seq, part.tag_seq))


def rebase(view: View) -> Change:
    """Serve the queued drops that newer tags have pushed out of protection, and those that are served no more."""
    session, limits, spared = view.session, view.limits, view.spared
    edits: list[AnyEdit] = [*_reappearing(session, _not_hidden(session))]
    dropped: list[int] = []
    reclaimed = 0
    delays = []
    gone: set[str] = set()
    for number, seq in sorted(session.drops.queued.items()):
        if number in spared:
            delays.append(f"tag {number} is among the newest {limits.protected_tags}")
            continue
        dropped.append(number)
        name = session.conversation.numbered.get(number, "")
        if is_sent(session.conversation, session.plan, name):
            edit, saving = dropped_part(session, name, session.conversation.parts[name], seq, gone)
            edits.append(edit)
            reclaimed += saving
            gone.update(edit.parts if isinstance(edit, OmitArc) else ())
    return Change(tuple(untorn(session, edits)), tuple(dropped), reclaimed, tuple(delays))


def _not_hidden(session: Session) -> Iterator[str]:
    """The parts that were dropped once and that no edit hides, by tag: of a long session they are next to nothing."""
    numbered, altered = session.conversation.numbered, session.plan.altered
    found = [
        (number, name)
        for number in session.drops.dropped
        if (edit := altered.get(name := numbered.get(number, ""))) is None
        or (isinstance(edit, OmitArc) and is_torn(session, edit))
    ]
    return (name for _, name in sorted(found))


def is_torn(session: Session, edit: AnyEdit | None) -> bool:
    """Whether it leaves out a call and a result which is now that of another call: then both are served."""
    if not isinstance(edit, OmitArc) or len(edit.parts) == 1:
        return False
    result = session.conversation.parts.get(edit.part)
    call = call_of(session, result) if result is not None else None
    return call is not None and call != edit.parts[0] and session.conversation.place(call) > 0


def untorn(session: Session, edits: Sequence[AnyEdit]) -> Sequence[AnyEdit]:
    """The edits, in which only the output goes where a call and its result cannot go without parting other messages."""
    split = [edit for edit in edits if isinstance(edit, OmitArc) and len(edit.parts) > 1]
    if not new_faults(session, split):
        return edits
    torn = {arc.part for arc in split if new_faults(session, [arc])}
    if new_faults(session, [arc for arc in split if arc.part not in torn]):
        torn = {arc.part for arc in split}
    return [
        _replaced(session, edit.part, session.conversation.parts[edit.part], edit.by)
        if isinstance(edit, OmitArc) and edit.part in torn
        else edit
        for edit in edits
    ]


def dropped_part(session: Session, name: str, part: Part, seq: int, gone: AbstractSet[str]) -> tuple[AnyEdit, int]:
    """The edit that serves a drop, and the tokens it saves. `gone`: parts that other drops leave out."""
    by = (part.seq, part.tag_seq, seq)
    if part.recorded.kind in ("tool", "tool_result"):
        return _dropped_tool(session, name, part, by, gone)
    edit = _replaced(session, name, part, by)
    return edit, part.recorded.tokens - tokens(len(edit.text.encode()))


def _replaced(session: Session, name: str, part: Part, by: tuple[int, ...]) -> ReplaceText | ReplaceOutput:
    """The placeholder of a text or an output."""
    recorded = part.recorded
    if recorded.kind in ("tool", "tool_result"):
        return ReplaceOutput(part=name, text=placeholder(part.number), by=by, lane=NAME)
    if session.conversation.messages[recorded.message].recorded.role == "user":
        text = truncated(part.number, part.head if recorded.kind == "text" else "")
        return ReplaceText(part=name, text=text, by=by, lane=NAME)
    return ReplaceText(part=name, text=placeholder(part.number), by=by, lane=NAME)


def _dropped_tool(
    session: Session, name: str, part: Part, by: tuple[int, ...], gone: AbstractSet[str]
) -> tuple[AnyEdit, int]:
    recorded = part.recorded
    edit = _replaced(session, name, part, by)
    output = served_output(session.plan, recorded)
    answer_drop = edit, output - tokens(len(edit.text.encode()))
    call = name if recorded.kind == "tool" else call_of(session, part)
    if call is None:
        return answer_drop
    made = recorded if call == name else session.conversation.parts[call].recorded
    if made.input_bytes <= MAX_DROPPED_INPUT:
        return answer_drop
    arc = (name,) if call == name else (call, name)
    if not all(_leaves_meaning(session, one, gone) for one in arc):
        return answer_drop
    return OmitArc(part=name, parts=arc, by=by, lane=NAME), output + tokens(made.input_bytes)


def call_of(session: Session, result: Part) -> str | None:
    """The part that made the call of this result, where call and result are two parts."""
    owner = session.conversation.messages.get(result.recorded.owner)
    return (_nearest_call(session, result, owner.ordinal) or _call_in(session, owner, result)) if owner else None


def _nearest_call(session: Session, result: Part, first: int) -> str | None:
    """The call that a model takes for that of this result: the last one before it, since an id may be given twice.

    None: there is none from the message `first` on.
    """
    conversation = session.conversation
    for place in range(conversation.place(result.recorded.part) - 1, max(first, 1) - 1, -1):
        call = _call_in(session, conversation.messages.get(conversation.order.get(place, "")), result)
        if call is not None:
            return call
    return None


def _call_in(session: Session, message: Message | None, result: Part) -> str | None:
    for name in message.parts if message else ():
        part = session.conversation.parts[name].recorded
        if part.kind == "tool_call" and part.call == result.recorded.call:
            return name
    return None


def _leaves_meaning(session: Session, name: str, gone: AbstractSet[str]) -> bool:
    """Whether the part's message still says something without it and without what is left out already."""
    message = session.conversation.messages[session.conversation.parts[name].recorded.message]
    return any(
        has_meaning(part)
        for other, part in session.conversation.sent_parts(message)
        if other != name and other not in gone and other not in session.plan.in_arcs
    )


def has_meaning(part: Part) -> bool:
    """Whether it says something to a model."""
    recorded = part.recorded
    if recorded.ignored or recorded.kind in ("reasoning", "compaction"):
        return False
    return recorded.kind != "text" or part.head.strip() != "" or recorded.text_ref != ""


def placeholder(number: int) -> str:
    """The placeholder of a dropped output. `number`: its tag; 0: it has none, as no failure has."""
    return DROPPED.text(number=number) if number else UNTAGGED.text()


def truncated(number: int, text: str) -> str:
    """The rest of a person's dropped words: turns are never removed, since two answers would merge."""
    return f"{TRUNCATED.text(number=number)}\n{preview(text)}"


def preview(text: str) -> str:
    """The text, or its beginning with `…` where it has more than 250 UTF-16 units."""
    units = text.encode("utf-16-le")
    if len(units) // 2 <= PREVIEW_UNITS:
        return text
    head = units[: PREVIEW_UNITS * 2].decode("utf-16-le", errors="ignore")
    at = max(head.rfind(white) for white in " \t\n")
    short = len(head[:at].encode("utf-16-le")) // 2 if at > 0 else 0
    return (head[:at] if short > PREVIEW_WORD_UNITS else head) + "…"


LANE = Lane(NAME, spares_firm=spares_firm, extend=extend, rebase=rebase, order=40, empties=True)
