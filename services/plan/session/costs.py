"""The estimated cost of a prompt under the edits in force, and what each of them saves."""

from collections.abc import Callable, Iterable, Iterator
from typing import Protocol

import msgspec

from schemas.events import Event, MessageListed, MessageRemoved, PartRecorded, PartRemoved
from schemas.plan import AnyEdit, InsertPair, OmitPart, PrefixText, ReplaceOutput, ReplaceText
from services.domain.conversation import Conversation, Message, output_tokens
from services.domain.edits import SLOTS
from services.domain.tokens import tokens
from services.plan.session.drops import Drops
from services.plan.session.plan_state import PlanState, added_by, entered

replace = msgspec.structs.replace


class ServedSession(Protocol):
    """A session as its prompt is made of it: the messages, the edits in force, and the drops."""

    @property
    def conversation(self) -> Conversation: ...
    @property
    def plan(self) -> PlanState: ...
    @property
    def drops(self) -> Drops: ...


def first_after_cut(conversation: Conversation, plan: PlanState) -> int:
    """Ordinal of the first message that is not cut away; 0: nothing is, or that message is listed no more."""
    first = conversation.messages.get(plan.cut.message) if plan.cut is not None else None
    return first.ordinal if first is not None and first.present else 0


def remaining_parts(plan: PlanState) -> tuple[str, ...]:
    """The parts before the cut that stay."""
    return plan.cut.remaining if plan.cut is not None else ()


def is_sent(conversation: Conversation, plan: PlanState, name: str) -> bool:
    """Whether a part is listed, and behind the cut or left before it."""
    place = conversation.place(name)
    return place > 0 and (place >= first_after_cut(conversation, plan) or name in remaining_parts(plan))


def served_tokens(conversation: Conversation, plan: PlanState) -> int:
    """The tokens of the prompt, system prompt and tools aside."""
    return max(0, conversation.tokens - plan.saved + plan.added)


def cost(conversation: Conversation, plan: PlanState, messages: Iterable[Message]) -> int:
    """The tokens of these messages, as far as they are listed and not cut away. All, with the heads, are the prompt."""
    whole = 0
    for message in messages:
        whole += message.tokens + added_by(plan.pairs.get(message.recorded.message))
        for name in message.parts:
            whole += added_by(plan.ends.get(name)) - _saved_of(plan, conversation.parts[name].recorded)
    return whole


def served_output(plan: PlanState, part: PartRecorded) -> int:
    """Estimated tokens of what a tool returned, as it is served: of an output that was replaced, the replacement."""
    edit = plan.altered.get(part.part)
    return tokens(len(edit.text.encode())) if isinstance(edit, ReplaceOutput) else output_tokens(part)


def served_part(plan: PlanState, part: PartRecorded) -> int:
    """The same with the call's arguments, or of whatever else the part is, where it is not left out."""
    return part.tokens - output_tokens(part) + served_output(plan, part)


def before_cut(
    conversation: Conversation, plan: PlanState, is_meant: Callable[[PartRecorded], bool] = lambda _: True
) -> int:
    """The tokens of the parts that stay although they are before the cut: of those that are meant."""
    first = first_after_cut(conversation, plan)
    known = (conversation.parts.get(name) for name in remaining_parts(plan) if 0 < conversation.place(name) < first)
    served = [part.recorded for part in known if part is not None and is_meant(part.recorded)]
    return sum(one.tokens - _saved_of(plan, one) + added_by(plan.ends.get(one.part)) for one in served)


def heads(plan: PlanState) -> int:
    """The tokens of the messages at the head."""
    return sum(added_by(plan.heads.get(slot)) for slot in SLOTS)


def with_edits(conversation: Conversation, plan: PlanState, made: Iterable[AnyEdit]) -> PlanState:
    """The plan with these edits in force, and what all edits save and add then."""
    after, affected = entered(plan, made, conversation)
    if after.cut != plan.cut:
        moved = moved_over(conversation, first_after_cut(conversation, plan), first_after_cut(conversation, after))
        affected |= dict.fromkeys([*moved, *remaining_parts(plan), *remaining_parts(after)])
        return replace(
            after, saved=plan.saved + _saving(conversation, after, affected) - _saving(conversation, plan, affected)
        )
    return replace(after, saved=plan.saved + _saved_more(conversation, plan, after, affected))


def with_event(before: Conversation, after: Conversation, plan: PlanState, event: Event) -> PlanState:
    """The plan with what it saves once the conversation is another one by this event."""
    parts = tuple(_affected(before, after, plan, event))
    if not parts:
        return plan
    return replace(plan, saved=plan.saved + _saving(after, plan, parts) - _saving(before, plan, parts))


def _affected(before: Conversation, after: Conversation, plan: PlanState, event: Event) -> Iterable[str]:
    """The parts whose edits may save more or less than before this event."""
    match event:
        case PartRecorded(part=part) | PartRemoved(part=part):
            return (part,)
        case MessageListed(messages=names) | MessageRemoved(messages=names):
            known = [after.messages[name] for name in names if name in after.messages]
            parts = [part for message in known for part in message.parts]
            moved = moved_over(after, first_after_cut(before, plan), first_after_cut(after, plan))
            return dict.fromkeys([*parts, *moved])
        case _:
            return ()


def moved_over(conversation: Conversation, before: int, after: int) -> Iterator[str]:
    """The parts of the messages that stand on the other side of the cut than they stood."""
    for ordinal in range(min(before, after), max(before, after)):
        message = conversation.messages.get(conversation.order.get(ordinal, ""))
        yield from message.parts if message else ()


def _saving(conversation: Conversation, plan: PlanState, parts: Iterable[str]) -> int:
    """Estimated tokens that the edits in force save of these parts."""
    first, saved, stays = first_after_cut(conversation, plan), 0, frozenset(remaining_parts(plan))
    for name in parts:
        known = conversation.parts.get(name)
        message = conversation.messages.get(known.recorded.message) if known is not None else None
        if known is None or message is None or not message.present:
            saved += _unsent(conversation, plan, name)
        elif message.ordinal < first and name in stays:
            saved += _saved_of(plan, known.recorded) + added_by(_uninserted(conversation, plan, name))
        elif message.ordinal < first:
            saved += known.recorded.tokens + _unsent(conversation, plan, name)
        else:
            saved += _saved_of(plan, known.recorded)
    return saved


def _saved_more(conversation: Conversation, plan: PlanState, after: PlanState, parts: Iterable[str]) -> int:
    """Estimated tokens that the edits after a change save of these parts, compared with those before it, under one cut.

    Most of a rebase is about parts that are sent: each is looked up once for both.
    """
    first, saved = first_after_cut(conversation, plan), 0
    others: list[str] = []
    for name in parts:
        known = conversation.parts.get(name)
        message = conversation.messages.get(known.recorded.message) if known is not None else None
        if known is not None and message is not None and message.present and message.ordinal >= first:
            saved += _saved_of(after, known.recorded) - _saved_of(plan, known.recorded)
        else:
            others.append(name)
    return saved + _saving(conversation, after, others) - _saving(conversation, plan, others)


def _unsent(conversation: Conversation, plan: PlanState, name: str) -> int:
    """Tokens that edits would add to a part that is not sent: to its end, and behind its message if it is the first."""
    return added_by(plan.ends.get(name)) + added_by(_uninserted(conversation, plan, name))


def _uninserted(conversation: Conversation, plan: PlanState, name: str) -> InsertPair | None:
    """The call that would be inserted behind the message of a part, if that is its first one."""
    known = conversation.parts.get(name)
    message = conversation.messages.get(known.recorded.message) if known is not None else None
    is_first = message is not None and message.parts[:1] == (name,)
    return plan.pairs.get(known.recorded.message) if known is not None and is_first else None


def _saved_of(plan: PlanState, part: PartRecorded) -> int:
    """The tokens that the edits save of a part that is sent."""
    if part.part in plan.in_arcs or part.message in plan.left_out:
        return part.tokens
    match plan.content(part.part):
        case PrefixText(text=text):
            size = part.bytes + part.input_bytes
            return tokens(size) - tokens(len(text.encode()) + size)
        case ReplaceText(text=text) | ReplaceOutput(text=text):
            return part.tokens - tokens(len(text.encode()) + part.input_bytes)
        case OmitPart():
            return part.tokens
        case _:
            return 0
