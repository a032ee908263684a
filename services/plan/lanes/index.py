"""The conversation index: a session as a rebase finds it, looked through once for all lanes.

Of a long session little is in the processor's caches: to look at every part takes longest, so it is done once.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence

import msgspec

from schemas.plan import AnyEdit
from services.domain.conversation import Message, Part
from services.plan.session.reclaim import OUTPUTS
from services.plan.session.state import Session

IsMeant = Callable[[Part], bool]
MayBeMeant = IsMeant | None
"""None: nothing in this session is of interest but what is named besides. To ask about each part takes longest."""


class Placed(msgspec.Struct, frozen=True, gc=False):
    """A message in its place with the parts that are sent of it."""

    ordinal: int
    message: Message
    parts: tuple[Part, ...]
    tag: int = 0
    """The highest tag of its parts; 0: they have none."""
    reached: int = 0
    """The highest tag up to here."""

    @property
    def role(self) -> str:
        return self.message.recorded.role

    @property
    def name(self) -> str:
        return self.message.recorded.message


class Seen(msgspec.Struct, frozen=True, gc=False):
    """A part in its place."""

    placed: Placed
    part: Part


class Finder(msgspec.Struct, frozen=True):
    """What a lane looks for in the conversation, so that all lanes share one look at it."""

    predicate: Callable[[Session], MayBeMeant]
    """Tells, in one session, whether a part is of interest. It is asked about every part of these kinds and roles."""
    kinds: frozenset[str] = frozenset()
    """Empty: all."""
    role: str = ""
    """Of the message; empty: any."""
    with_dropped: bool = False
    """Whether what was dropped is of interest, too: that is known of a part without asking the predicate ..."""
    with_queued: bool = False
    """... and what somebody has asked to drop."""


class Index(msgspec.Struct, frozen=True):
    """The conversation behind the cut, and what in it may be of interest; all of it in order.

    No lane changes anything of this in a pass. What is served of it each lane sees for itself.
    """

    placed: tuple[Placed, ...] = ()
    prompts: tuple[Placed, ...] = ()
    """The messages of users."""
    answers: tuple[Placed, ...] = ()
    """The messages of agents."""
    calls: tuple[Part, ...] = ()
    """Complete outputs of tools that nobody has dropped or wishes to drop."""
    found: Mapping[str, Sequence[Seen]] = {}
    """Lane -> what its finder has found."""

    @property
    def newest(self) -> int:
        """The highest tag."""
        return self.placed[-1].reached if self.placed else 0

    def at(self, ordinal: int) -> Placed | None:
        """The message in this place."""
        at = bisect_left(self.placed, ordinal, key=lambda placed: placed.ordinal)
        found = self.placed[at] if at < len(self.placed) else None
        return found if found is not None and found.ordinal == ordinal else None

    def parts(self, lane: str) -> Sequence[Seen]:
        """The parts that a lane's finder has found."""
        return self.found.get(lane, ())

    def messages(self, lane: str) -> Sequence[Placed]:
        """The messages in which a lane's finder has found a part."""
        messages: list[Placed] = []
        for seen in self.parts(lane):
            if not messages or messages[-1] is not seen.placed:
                messages.append(seen.placed)
        return messages


def indexed(session: Session, finders: Mapping[str, Finder]) -> Index:
    """What is left of the conversation behind the cut, and what of it lanes may want to change."""
    found: dict[str, list[Seen]] = {lane: [] for lane in finders}
    predicates = {lane: finder.predicate(session) for lane, finder in finders.items()}
    watching: dict[tuple[str, str], list[tuple[bool, bool, MayBeMeant, list[Seen]]]] = {}
    placed: list[Placed] = []
    by_role: dict[str, list[Placed]] = {"user": [], "assistant": []}
    calls: list[Part] = []
    dropped, queued = session.drops.dropped, session.drops.queued
    for one in in_order(session):
        placed.append(one)
        role = one.message.recorded.role
        if role in by_role:
            by_role[role].append(one)
        for part in one.parts:
            recorded, number = part.recorded, part.number
            kind = recorded.kind
            is_dropped = number in dropped
            is_queued = number in queued
            if kind in OUTPUTS and number and not (is_dropped or is_queued) and recorded.status == "completed":
                calls.append(part)
            watchers = watching.get((role, kind))
            if watchers is None:
                watchers = watching[role, kind] = [
                    (finders[lane].with_dropped, finders[lane].with_queued, predicates[lane], found[lane])
                    for lane in _watching(finders, role, kind)
                    if predicates[lane] is not None or finders[lane].with_dropped or finders[lane].with_queued
                ]
            for with_dropped, with_queued, is_meant, seen in watchers:
                is_named = (is_dropped and with_dropped) or (is_queued and with_queued)
                if is_named or (is_meant is not None and is_meant(part)):
                    seen.append(Seen(one, part))
    return Index(
        placed=tuple(placed),
        prompts=tuple(by_role["user"]),
        answers=tuple(by_role["assistant"]),
        calls=tuple(calls),
        found=found,
    )


def in_order(session: Session) -> Iterator[Placed]:
    """The messages behind the cut, with the parts that are sent. It is done for each of them: so in one loop."""
    conversation, reached = session.conversation, 0
    known, messages, order = conversation.parts.get, conversation.messages, conversation.order.get
    for ordinal in range(max(0, session.cut - 1) + 1, conversation.last_ordinal + 1):
        name = order(ordinal)
        if name is None:
            continue
        message = messages[name]
        parts: list[Part] = []
        tag = 0
        for one in message.recorded.listed or message.parts:  # what is sent: `Message.sent` would copy it
            part = known(one)
            if part is not None:
                parts.append(part)
                tag = max(tag, part.number)
        reached = max(reached, tag)
        yield Placed(message.ordinal, message, tuple(parts), tag, reached)


def _watching(finders: Mapping[str, Finder], role: str, kind: str) -> Iterator[str]:
    for lane, finder in finders.items():
        if finder.role in ("", role) and (not finder.kinds or kind in finder.kinds):
            yield lane


def is_outdated(edit: AnyEdit | None, part: Part) -> bool:
    """Whether a part is served under an edit that was made of an earlier content."""
    return edit is not None and part.seq not in edit.by
