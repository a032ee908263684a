"""Tool outputs that a session's agent could drop, counted as facts come: no pass looks through them all."""

from collections.abc import Iterable, Iterator
from typing import Protocol

import msgspec

from schemas.events import (
    DropRequested,
    Event,
    MessageListed,
    MessageRemoved,
    PartRecorded,
    PartRemoved,
    PlanExtended,
    PlanRebased,
    TagAssigned,
)
from schemas.plan import AnyEdit, AppendText, OmitArc, PartContent, PrefixText, WholeMessage, target
from services.plan.session import costs
from services.plan.session.lane_marks import is_of, mark_of
from services.plan.session.revisions import Revisions

OUTPUTS = frozenset({"tool", "tool_result"})
NUDGE = "channel"
"""The lane that reminds the agent of it. Its mark holds a level and the tokens: `channel:firm:31000`."""
SHORTENED = "cut_output"
"""The lane by which earlier releases shortened long outputs: what is left of them can still be dropped."""

replace = msgspec.structs.replace


class Nudge(msgspec.Struct, frozen=True):
    """The newest reminder."""

    part: str
    """The part that it follows."""
    level: str
    number: int
    """The newest tag then."""
    since: int = 0
    """Tokens of the outputs with a newer one."""


class Reclaim(msgspec.Struct, frozen=True):
    """The tool outputs that are served as they are, or shortened, the protected ones included."""

    tokens: int = 0
    count: int = 0
    oldest: int = 1
    """No lower tag is one of theirs."""
    nudge: Nudge | None = None


class Outputs(costs.ServedSession, Protocol):
    """The part of a session's state that decides about its outputs."""

    @property
    def revisions(self) -> Revisions: ...
    @property
    def reclaim(self) -> Reclaim: ...


def reclaimed(before: Outputs, after: Outputs, event: Event, names: Iterable[str]) -> Reclaim:
    """The counts after an event. `after` is the state with the event, and with the counts from before it.

    `names`: the parts that are `affected`.
    """
    now = _counted(before, after, names)
    if not isinstance(event, PlanExtended | PlanRebased):
        return now
    nudges = [nudge for edit in after.revisions.made[event.revision].edits if (nudge := _nudge(after, edit))]
    return replace(now, nudge=nudges[-1]) if nudges else now


def worth(session: Outputs, name: str) -> int:
    """Estimated tokens of a tool's output that is served and not queued to be dropped; 0: it is none."""
    part, plan = session.conversation.parts.get(name), session.plan
    if part is None or part.recorded.kind not in OUTPUTS or not part.number:
        return 0
    if not session.drops.is_free(part.number) or not costs.is_sent(session.conversation, plan, name):
        return 0
    if name in plan.in_arcs or part.recorded.message in plan.left_out:
        return 0
    edit = plan.altered.get(name)
    return costs.served_output(plan, part.recorded) if edit is None or is_of(edit, (SHORTENED,)) else 0


def _counted(before: Outputs, after: Outputs, names: Iterable[str]) -> Reclaim:
    count = after.reclaim
    for name in names:
        was, now = worth(before, name), worth(after, name)
        if was != now:
            number = (after.conversation if now else before.conversation).parts[name].number
            count = replace(
                count,
                tokens=count.tokens + now - was,
                count=count.count + (now > 0) - (was > 0),
                oldest=min(count.oldest, number) if now else count.oldest,
                nudge=_grown(count.nudge, number, now - was),
            )
    if count is after.reclaim:
        return count
    oldest = count.oldest
    while oldest <= after.conversation.last_number and not worth(after, after.conversation.numbered.get(oldest, "")):
        oldest += 1
    return replace(count, oldest=oldest)


def _grown(nudge: Nudge | None, number: int, growth: int) -> Nudge | None:
    return replace(nudge, since=nudge.since + growth) if nudge and number > nudge.number else nudge


def affected(before: Outputs, after: Outputs, event: Event) -> Iterator[str]:
    """The parts of which more or less may be served, or asked for, after this event than before."""
    match event:
        case PartRecorded(part=part) | PartRemoved(part=part):
            yield part
        case TagAssigned(parts=parts):
            yield from parts
        case MessageListed(messages=names) | MessageRemoved(messages=names):
            for name in names:
                yield from _parts_of(after, name)
            yield from costs.moved_over(after.conversation, _first_after_cut(before), _first_after_cut(after))
        case DropRequested(tags=tags):
            yield from _numbered(after, tags)
        case PlanExtended(revision=revision) | PlanRebased(revision=revision):
            yield from _numbered(after, _dropped_by(event))
            for edit in after.revisions.made[revision].edits:
                yield from _edited(before, after, edit)
            if after.plan.cut != before.plan.cut:
                yield from costs.moved_over(after.conversation, _first_after_cut(before), _first_after_cut(after))
                yield from (*costs.remaining_parts(before.plan), *costs.remaining_parts(after.plan))


def _first_after_cut(session: Outputs) -> int:
    return costs.first_after_cut(session.conversation, session.plan)


def _dropped_by(event: PlanExtended | PlanRebased) -> Iterable[int]:
    """The tags that a revision drops, and those that a copy takes over from its origin as dropped or to be dropped."""
    return event.dropped if isinstance(event, PlanRebased) else (*event.inherited, *event.queued)


def _numbered(session: Outputs, numbers: Iterable[int]) -> Iterator[str]:
    return (session.conversation.numbered.get(number, "") for number in numbers)


def _parts_of(session: Outputs, message: str) -> tuple[str, ...]:
    known = session.conversation.messages.get(message)
    return known.parts if known else ()


def _edited(before: Outputs, after: Outputs, edit: AnyEdit) -> Iterator[str]:
    """The parts that an edit is about, or was about before. A tag before what is served whole changes nothing."""
    match target(edit):
        case WholeMessage(message=name):
            yield from _parts_of(after, name)
        case PartContent(part=name):
            replaced = before.plan.content(name)
            if isinstance(edit, PrefixText) and replaced is None:
                return
            yield name
            for arc in (edit, replaced):
                if isinstance(arc, OmitArc):
                    yield from arc.parts


def _nudge(session: Outputs, edit: AnyEdit) -> Nudge | None:
    """The reminder, if it is one. It may share its place with what other lanes append there."""
    mark = mark_of(edit, NUDGE) if isinstance(edit, AppendText) else None
    return (
        Nudge(edit.part, mark.detail, session.conversation.last_number)
        if mark and isinstance(edit, AppendText)
        else None
    )
