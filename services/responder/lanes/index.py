"""The conversation index: a session as a rebase finds it, looked through once for all lanes.

Of a long session little is in the processor's caches: to look at every part takes longest, so it is done once.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence

import msgspec

from schemas.plan import AnyEdit
from services.domain.conversation import Message, Part
from services.responder.session.reclaim import OUTPUTS
from services.responder.session.state import Session

IsMeant = Callable[[Part], bool]


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

    predicate: Callable[[Session], IsMeant]
    """Tells, in one session, whether a part is of interest. It is asked about every part of these kinds and roles."""
    kinds: frozenset[str] = frozenset()
    """Empty: all."""
    role: str = ""
    """Of the message; empty: any."""


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
    watching: dict[tuple[str, str], list[tuple[IsMeant, list[Seen]]]] = {}
    placed: list[Placed] = []
    calls: list[Part] = []
    is_free = session.drops.is_free
    for one in in_order(session):
        placed.append(one)
        role = one.role
        for part in one.parts:
            kind = part.recorded.kind
            if kind in OUTPUTS and part.recorded.status == "completed" and part.number and is_free(part.number):
                calls.append(part)
            watchers = watching.get((role, kind))
            if watchers is None:
                lanes = _watching(finders, role, kind)
                watchers = watching[role, kind] = [(predicates[lane], found[lane]) for lane in lanes]
            for is_meant, seen in watchers:
                if is_meant(part):
                    seen.append(Seen(one, part))
    return Index(
        placed=tuple(placed),
        prompts=tuple(one for one in placed if one.role == "user"),
        answers=tuple(one for one in placed if one.role == "assistant"),
        calls=tuple(calls),
        found=found,
    )


def in_order(session: Session) -> Iterator[Placed]:
    """The messages behind the cut, with the parts that are sent."""
    known, reached = session.conversation.parts.get, 0
    for message in session.conversation.after(session.cut - 1):
        names = message.recorded.listed or message.parts  # what is sent: `Message.sent` would copy it
        parts = [part for name in names if (part := known(name)) is not None]
        tag = max([part.number for part in parts], default=0)
        reached = max(reached, tag)
        yield Placed(message.ordinal, message, tuple(parts), tag, reached)


def _watching(finders: Mapping[str, Finder], role: str, kind: str) -> Iterator[str]:
    for lane, finder in finders.items():
        if finder.role in ("", role) and (not finder.kinds or kind in finder.kinds):
            yield lane


def is_outdated(edit: AnyEdit | None, part: Part) -> bool:
    """Whether a part is served under an edit that was made of an earlier content."""
    return edit is not None and part.seq not in edit.by
