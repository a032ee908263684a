"""The conversation index: a session as a rebase finds it, looked through once for all lanes.

Of a long session little is in the processor's caches: to look at every part takes longest, so it is done once. Most
parts bear no sign of anything that a lane looks for, and no predicate is asked about them.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from operator import attrgetter

import msgspec

from schemas.plan import AnyEdit
from services.domain.conversation import Message, Part
from services.plan.session.firm import MARKS
from services.plan.session.reclaim import OUTPUTS
from services.plan.session.state import Session

EDITED, RECORDED_AGAIN, FAILED, MARKED, DROPPED, QUEUED = (1 << bit for bit in range(6))
"""Signs of a part, to be combined: an edit alters it, it was recorded after it got its tag, it is the output of a tool
that has failed, the beginning of its text has a mark of what lanes take out, it was dropped, it is to be dropped."""
_PLACEHOLDER, _THOUGHT = MARKS
_ordinal = attrgetter("ordinal")

IsMeant = Callable[[Part], bool]
MayBeMeant = IsMeant | None
"""None: nothing in this session is of interest but what is named besides. To ask about each part takes longest."""


class PlacedMessage(msgspec.Struct, frozen=True, gc=False):
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


class PlacedPart(msgspec.Struct, frozen=True, gc=False):
    """A part in its place."""

    placed: PlacedMessage
    part: Part


class Finder(msgspec.Struct, frozen=True):
    """A lane's predicate for parts of the conversation, so that all lanes share one pass over it."""

    predicate: Callable[[Session], MayBeMeant]
    """Decides, in one session, whether a part is of interest. Called for parts of these kinds, roles and signs."""
    kinds: frozenset[str] = frozenset()
    """Empty: all."""
    role: str = ""
    """Of the message; empty: any."""
    signs: int = 0
    """Of these signs a part has one at least that the predicate is asked about; 0: it is asked about any part."""
    with_dropped: bool = False
    """Whether dropped parts are of interest, too: whether a part was dropped is known without asking the predicate."""
    with_queued: bool = False
    """Whether parts that somebody has asked to drop are of interest, too: this is known without asking the predicate as
    well."""


class ConversationIndex(msgspec.Struct, frozen=True):
    """The conversation behind the cut, and what in it may be of interest; all of it in order.

    No lane changes anything of this in a pass. What is served of it each lane sees for itself.
    """

    placed: tuple[PlacedMessage, ...] = ()
    prompts: tuple[PlacedMessage, ...] = ()
    """The messages of users."""
    answers: tuple[PlacedMessage, ...] = ()
    """The messages of agents."""
    calls: tuple[Part, ...] = ()
    """Complete outputs of tools that are neither dropped nor asked to be dropped."""
    found: Mapping[str, Sequence[PlacedPart]] = {}
    """Lane -> what its finder has found."""

    @property
    def newest(self) -> int:
        """The highest tag."""
        return self.placed[-1].reached if self.placed else 0

    def at(self, ordinal: int) -> PlacedMessage | None:
        """The message in this place."""
        at = bisect_left(self.placed, ordinal, key=_ordinal)
        found = self.placed[at] if at < len(self.placed) else None
        return found if found is not None and found.ordinal == ordinal else None

    def parts(self, lane: str) -> Sequence[PlacedPart]:
        """The parts that a lane's finder has found."""
        return self.found.get(lane, ())

    def messages(self, lane: str) -> Sequence[PlacedMessage]:
        """The messages in which a lane's finder has found a part."""
        messages: list[PlacedMessage] = []
        for seen in self.parts(lane):
            if not messages or messages[-1] is not seen.placed:
                messages.append(seen.placed)
        return messages


def indexed(session: Session, finders: Mapping[str, Finder]) -> ConversationIndex:
    """The conversation behind the cut, and the parts of it that lanes may want to change."""
    search = _Walk(session, finders)
    placed: list[PlacedMessage] = []
    by_role: dict[str, list[PlacedMessage]] = {"user": [], "assistant": []}
    calls: list[Part] = []
    dropped, queued, altered = session.drops.dropped, session.drops.queued, session.plan.altered
    for one in in_order(session):
        placed.append(one)
        role = one.message.recorded.role
        if role in by_role:
            by_role[role].append(one)
        for part in one.parts:
            recorded, number, head = part.recorded, part.number, part.head
            signs = (
                (recorded.part in altered and EDITED)
                | (part.seq > part.tag_seq and RECORDED_AGAIN)
                | (recorded.status == "error" and FAILED)
                | ((_PLACEHOLDER in head or _THOUGHT in head) and MARKED)
                | (number in dropped and DROPPED)
                | (number in queued and QUEUED)
            )
            if number and recorded.status == "completed" and signs < DROPPED and recorded.kind in OUTPUTS:
                calls.append(part)
            for is_meant, seen in search.watchers[role, recorded.kind, signs]:
                if is_meant is None or is_meant(part):
                    seen.append(PlacedPart(one, part))
    return ConversationIndex(
        placed=tuple(placed),
        prompts=tuple(by_role["user"]),
        answers=tuple(by_role["assistant"]),
        calls=tuple(calls),
        found=search.found,
    )


class _Walk:
    """One pass over a session for all lanes."""

    def __init__(self, session: Session, finders: Mapping[str, Finder]) -> None:
        self.found: dict[str, list[PlacedPart]] = {lane: [] for lane in finders}
        self._finders = [(finder, finder.predicate(session), self.found[lane]) for lane, finder in finders.items()]
        self.watchers = _Watchers(self._watching)
        """Role, kind and signs of a part -> the predicates to be asked about it, with what they have found."""

    def _watching(self, role: str, kind: str, signs: int) -> Iterator[tuple[MayBeMeant, list[PlacedPart]]]:
        """The predicates for such parts; None instead of one: the part is of interest in any case."""
        for finder, is_meant, seen in self._finders:
            if finder.role not in ("", role) or (finder.kinds and kind not in finder.kinds):
                continue
            if (signs & DROPPED and finder.with_dropped) or (signs & QUEUED and finder.with_queued):
                yield None, seen
            elif is_meant is not None and (not finder.signs or signs & finder.signs):
                yield is_meant, seen


class _Watchers(dict[tuple[str, str, int], list[tuple[MayBeMeant, list[PlacedPart]]]]):
    """The finders to be asked about a part, looked up once for all parts that are alike."""

    def __init__(self, watching: Callable[[str, str, int], Iterator[tuple[MayBeMeant, list[PlacedPart]]]]) -> None:
        super().__init__()
        self._watching = watching

    def __missing__(self, key: tuple[str, str, int]) -> list[tuple[MayBeMeant, list[PlacedPart]]]:
        self[key] = [*self._watching(*key)]
        return self[key]


def in_order(session: Session) -> Iterator[PlacedMessage]:
    """The messages behind the cut, with the parts that are sent. It is done for each of them: so in one loop."""
    conversation, reached = session.conversation, 0
    messages, order = conversation.messages, conversation.order.get
    for ordinal in range(max(0, session.cut - 1) + 1, conversation.last_ordinal + 1):
        name = order(ordinal)
        if name is None:
            continue
        message = messages[name]
        parts = message.known
        if message.recorded.listed:
            parts = tuple([part for _, part in conversation.sent_parts(message)])
        tag = 0
        for part in parts:
            if part.number > tag:  # noqa: PLR1730 - a call of `max` for each part takes longer
                tag = part.number
        reached = max(reached, tag)
        yield PlacedMessage(message.ordinal, message, parts, tag, reached)


def is_outdated(edit: AnyEdit | None, part: Part) -> bool:
    """Whether a part is served under an edit that was made of an earlier content."""
    return edit is not None and part.seq not in edit.by
