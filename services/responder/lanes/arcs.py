"""Tool calls that go whole: with their answers, and with what is left of a message that said nothing else."""

from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet

import msgspec

from schemas.plan import AnyEdit, OmitArc, OmitPart
from services.kit.conversation import Part
from services.kit.tokens import tokens
from services.responder.check import NEIGHBOURS, new_faults
from services.responder.lanes.base import View
from services.responder.lanes.drops import call_of, has_meaning

REACH = 2 * NEIGHBOURS
"""Messages between two edits that a check looks at together."""


class Wanted(msgspec.Struct, frozen=True, gc=False):
    """A call that may go, and the position of the fact that made it idle."""

    part: Part
    why: int = 0

    @property
    def name(self) -> str:
        return self.part.recorded.part

    @property
    def by(self) -> tuple[int, ...]:
        """The facts behind its edits."""
        return self.part.seq, self.part.tag_seq, self.why or self.part.seq


class Way(msgspec.Struct, frozen=True):
    """How one call goes: the edits, and the tokens that they save."""

    wanted: Wanted
    edits: tuple[AnyEdit, ...]
    saving: int
    is_risky: bool = False
    """Whether it parts messages or leaves nothing of one, so that a provider may refuse what remains."""
    empties: bool = False
    """Whether it leaves nothing of a message."""


def call_part(view: View, one: Wanted) -> Part | None:
    """The part with the arguments, if it is sent now."""
    if one.part.recorded.kind == "tool":
        return one.part
    call = call_of(view.session, one.part)
    return view.session.talk.parts[call] if call is not None and view.session.talk.place(call) else None


def whole(view: View, one: Wanted, gone: AbstractSet[str]) -> Way | None:
    """The call with its answer, and with the thinking that led to nothing else in the same message.

    `gone`: parts that other drops leave out. None: what stands beside it has to stay, and so has the call.
    """
    call = call_part(view, one)
    if call is None:
        return None
    talk = view.session.talk
    arc = (call,) if call is one.part else (call, one.part)
    names = tuple([part.recorded.part for part in arc])
    edits: list[AnyEdit] = [OmitArc(part=one.name, parts=names, by=one.by)]
    left: list[Part] = [*arc]
    empties = False
    for message in {part.recorded.message: None for part in arc}:
        beside = [
            part for name, part in talk.sent_parts(talk.messages[message]) if name not in names and name not in gone
        ]
        if any(has_meaning(part) and not _is_left_out(view, part) for part in beside):
            continue
        rest = [part for part in beside if not _is_left_out(view, part)]
        if any(_must_stay(view, part) for part in rest):
            return None
        empties = True
        left += [part for part in rest if not part.recorded.ignored]
    edits += [OmitPart(part=part.recorded.part, by=(part.seq, *one.by)) for part in left[len(arc) :]]
    saving = sum(tokens(part.recorded.bytes) + tokens(part.recorded.input_bytes) for part in left)
    return Way(one, tuple(edits), saving, is_risky=empties or len(arc) > 1, empties=empties)


def _is_left_out(view: View, part: Part) -> bool:
    name = part.recorded.part
    return name in view.session.omitted or isinstance(view.change_of(name), OmitPart)


def _must_stay(view: View, part: Part) -> bool:
    """Whether it is a mark of the harness, or signed thinking of the running turn."""
    if part.recorded.kind == "compaction":
        return True
    return part.recorded.signed and view.session.talk.place(part.recorded.part) > view.session.turn


def left_out(edits: Iterable[AnyEdit]) -> Iterator[str]:
    """The parts that these edits leave out."""
    for edit in edits:
        match edit:
            case OmitArc(parts=parts):
                yield from parts
            case OmitPart(part=part):
                yield part


def acceptable(view: View, ways: Sequence[Way]) -> Sequence[Way]:
    """Those of these ways, in their order, of which no provider would refuse what they leave."""
    risky = sorted((way for way in ways if way.is_risky), key=lambda way: min(places(view, way)))
    taken = {way.wanted.name for way in _taken(view, risky, ())}
    return [way for way in ways if way.wanted.name in taken or not way.is_risky]


def _taken(view: View, ways: Sequence[Way], taken: Sequence[Way]) -> Sequence[Way]:
    """Those of these ways that go together with each other and with what is taken before them."""
    if not ways or not new_faults(
        view.session, [edit for way in (*_near(view, taken, ways), *ways) for edit in way.edits]
    ):
        return ways
    if len(ways) == 1:
        return ()
    half = len(ways) // 2
    first = _taken(view, ways[:half], taken)
    return (*first, *_taken(view, ways[half:], (*taken, *first)))


def _near(view: View, taken: Sequence[Way], ways: Sequence[Way]) -> Iterator[Way]:
    """What is taken so close before these that both show in one check."""
    first = min(places(view, ways[0]))
    for way in reversed(taken):
        near = places(view, way)
        if max(near) + REACH < first:
            return
        first = min(first, *near)
        yield way


def places(view: View, way: Way) -> list[int]:
    """The messages of which it leaves something out."""
    return [view.session.talk.place(name) for name in left_out(way.edits)]
