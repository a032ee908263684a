"""How much of a session's tool outputs its agent could drop, counted as facts come: no pass looks through them all."""

from __future__ import annotations  # the persistent map cannot be subscripted at run time

from collections.abc import Iterable, Iterator
from typing import Protocol

import msgspec

from schemas.events import (
    DropRequested,
    Event,
    MessageListed,
    MessageRemoved,
    NativeCompacted,
    PartRecorded,
    PartRemoved,
    PlanExtended,
    PlanRebased,
    TagAssigned,
)
from schemas.plan import (
    AnyEdit,
    AppendText,
    InsertPair,
    OmitArc,
    OmitPart,
    PrefixText,
    ReplaceOutput,
    ReplaceText,
    Revision,
    Withdraw,
    target,
)
from services.kit.conversation import Conversation
from services.kit.fold import Map
from services.kit.tokens import tokens

OUTPUTS = frozenset({"tool", "tool_result"})
CHANNEL = "channel"
"""The lane that tells the agent of it: `channel:firm:31000`."""

replace = msgspec.structs.replace


class Told(msgspec.Struct, frozen=True):
    """The newest reminder."""

    part: str
    """What it stands behind."""
    level: str
    number: int
    """The newest tag then."""
    since: int = 0
    """Tokens of the outputs with a newer one."""


class Reclaim(msgspec.Struct, frozen=True):
    """The tool outputs that are served as they are, the protected ones included."""

    tokens: int = 0
    count: int = 0
    oldest: int = 1
    """No lower tag is one of theirs."""
    told: Told | None = None
    pairs: tuple[str, ...] = ()
    """Messages that an inserted call stands behind, whether they are listed now or not."""


class Held(Protocol):
    """What of a session's state decides about its outputs."""

    @property
    def talk(self) -> Conversation: ...
    @property
    def edits(self) -> Map[str, AnyEdit]: ...
    @property
    def omitted(self) -> Map[str, str]: ...
    @property
    def queued(self) -> Map[int, int]: ...
    @property
    def dropped(self) -> Map[int, None]: ...
    @property
    def compacted(self) -> int: ...
    @property
    def revisions(self) -> Map[int, Revision]: ...
    @property
    def reclaim(self) -> Reclaim: ...


def reclaimed(before: Held, after: Held, event: Event) -> Reclaim:
    """The counts after an event. `after` is the state with the event, and with the counts from before it."""
    now = _counted(before, after, dict.fromkeys(_affected(before, after, event)))
    if not isinstance(event, PlanExtended | PlanRebased):
        return now
    told, pairs = now.told, now.pairs
    for edit in after.revisions[event.revision].edits:
        told = _told(after, edit) or told
        pairs = _pairs(pairs, edit)
    return now if told is now.told and pairs is now.pairs else replace(now, told=told, pairs=pairs)


def worth(held: Held, name: str) -> int:
    """Estimated tokens of a tool's output that is served and that nobody wishes to drop; 0: it is none."""
    part = held.talk.parts.get(name)
    if part is None or part.recorded.kind not in OUTPUTS or part.number <= held.compacted:
        return 0
    if part.number in held.dropped or part.number in held.queued or not held.talk.place(name):
        return 0
    edit = held.edits.get(f"part:{name}")
    is_changed = edit is not None and isinstance(edit, OmitPart | OmitArc | ReplaceOutput | ReplaceText)
    if is_changed or name in held.omitted or f"message:{part.recorded.message}" in held.edits:
        return 0
    return tokens(part.recorded.bytes)


def _counted(before: Held, after: Held, names: Iterable[str]) -> Reclaim:
    count = after.reclaim
    for name in names:
        was, now = worth(before, name), worth(after, name)
        if was != now:
            number = (after.talk if now else before.talk).parts[name].number
            count = replace(
                count,
                tokens=count.tokens + now - was,
                count=count.count + (now > 0) - (was > 0),
                oldest=min(count.oldest, number) if now else count.oldest,
                told=_grown(count.told, number, now - was),
            )
    if count is after.reclaim:
        return count
    oldest = count.oldest
    while oldest <= after.talk.last_number and not worth(after, after.talk.numbered.get(oldest, "")):
        oldest += 1
    return replace(count, oldest=oldest)


def _grown(told: Told | None, number: int, growth: int) -> Told | None:
    return replace(told, since=told.since + growth) if told and number > told.number else told


def _affected(before: Held, after: Held, event: Event) -> Iterator[str]:
    """The parts whose worth may be another one after this event."""
    match event:
        case PartRecorded(part=part) | PartRemoved(part=part):
            yield part
        case TagAssigned(parts=parts):
            yield from parts
        case MessageListed(messages=names) | MessageRemoved(messages=names):
            for name in names:
                yield from _parts_of(after, name)
        case DropRequested(tags=tags):
            yield from _numbered(after, tags)
        case NativeCompacted():
            yield from _numbered(after, range(before.compacted + 1, after.compacted + 1))
            yield from _numbered(after, before.queued)
        case PlanExtended(revision=revision, inherited=numbers) | PlanRebased(revision=revision, dropped=numbers):
            yield from _numbered(after, numbers)
            for edit in after.revisions[revision].edits:
                yield from _edited(before, after, edit)


def _numbered(held: Held, numbers: Iterable[int]) -> Iterator[str]:
    return (held.talk.numbered.get(number, "") for number in numbers)


def _parts_of(held: Held, message: str) -> tuple[str, ...]:
    known = held.talk.messages.get(message)
    return known.parts if known else ()


def _edited(before: Held, after: Held, edit: AnyEdit) -> Iterator[str]:
    """The parts that an edit is about, or was about before. A tag before what is served whole changes nothing."""
    key = target(edit)
    replaced = before.edits.get(key)
    kind, _, name = key.partition(":")
    if kind == "message":
        yield from _parts_of(after, name)
    elif kind == "part" and not (isinstance(edit, PrefixText) and replaced is None):
        yield name
        for arc in (edit, replaced):
            if isinstance(arc, OmitArc):
                yield from arc.parts


def _told(held: Held, edit: AnyEdit) -> Told | None:
    """The reminder, if it is one. It may share its place with what other lanes say there."""
    if isinstance(edit, AppendText) and CHANNEL in edit.lane:
        for lane in edit.lane.split("+"):
            name, _, rest = lane.partition(":")
            if name == CHANNEL:
                return Told(edit.part, rest.partition(":")[0], held.talk.last_number)
    return None


def _pairs(pairs: tuple[str, ...], edit: AnyEdit) -> tuple[str, ...]:
    match edit:
        case InsertPair(message=message):
            return (*(one for one in pairs if one != message), message)
        case Withdraw(what=what) if what.startswith("pair:"):
            return tuple(one for one in pairs if f"pair:{one}" != what)
        case _:
            return pairs
