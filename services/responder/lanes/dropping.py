"""Drops that nobody asked for: which calls may go, and the edits with which they go."""

from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from itertools import chain

import msgspec

from schemas.plan import AnyEdit, OmitArc, OmitPart, ReplaceOutput
from services.kit.conversation import Part
from services.kit.tokens import tokens
from services.responder.check import NEIGHBOURS, new_faults
from services.responder.lanes.base import Change, View
from services.responder.lanes.drops import (
    MAX_KEPT_INPUT,
    call_of,
    dropped_part,
    has_meaning,
    placeholder,
    protected,
)

MIN_SAVING = 16
"""Tokens: for less than this a placeholder is not worth its own line."""
REACH = 2 * NEIGHBOURS
"""Messages between two edits that a check looks at together."""

replace = msgspec.structs.replace


class Wanted(msgspec.Struct, frozen=True, gc=False):
    """A call that may go, and the position of the fact that made it idle."""

    part: Part
    why: int = 0

    @property
    def name(self) -> str:
        return self.part.recorded.part


class _Way(msgspec.Struct, frozen=True):
    """How one call goes: the edits, and the tokens that they save."""

    wanted: Wanted
    edits: tuple[AnyEdit, ...]
    saving: int
    is_risky: bool = False
    """Whether it parts messages or leaves nothing of one, so that a provider may refuse what remains."""


def calls(view: View, is_meant: Callable[[Part], object] = lambda _: True) -> Iterator[Part]:
    """The finished calls whose answers are served, in order. What is about to be dropped anyway is passed over.

    `is_meant` comes first, since looking up what is served costs most.
    """
    return (part for part in view.survey.calls if is_meant(part) and view.is_served(part.recorded.part))


def guarded(view: View) -> Container[int]:
    """The tags that no lane may drop."""
    return protected(view.session, view.limits.protected_tags)


def drop_edit(
    view: View, name: str, part: Part, seq: int, gone: frozenset[str] | set[str] = frozenset()
) -> tuple[AnyEdit, int]:
    """The edit of a drop, and the tokens that it saves. `gone`: parts that other drops leave out."""
    return dropped_part(view.session, name, part, seq, gone)


def drop(
    view: View,
    lane: str,
    wanted: Iterable[Wanted],
    *,
    spare: Iterable[Wanted] = (),
    enough: int = 0,
    without_trace: bool = False,
) -> Change:
    """Drop these calls, and of the spare ones so many that `enough` tokens are saved.

    A call leaves a placeholder behind its arguments, or goes whole where the arguments are long. `without_trace`: it
    goes whole in any case, where that is possible.
    """
    required = tuple(wanted)
    names = {one.name for one in required}
    ways: list[_Way] = []
    saved = 0
    for way in _ways(view, chain(required, spare), without_trace=without_trace):
        if saved >= enough and way.wanted.name not in names:
            break
        ways.append(way)
        saved += way.saving
    sound = _sound(view, ways)
    return Change(
        edits=tuple(_signed_off(edit, lane) for way in sound for edit in way.edits),
        dropped=tuple(way.wanted.part.number for way in sound),
        reclaimed=sum(way.saving for way in sound),
    )


def _ways(view: View, wanted: Iterable[Wanted], *, without_trace: bool) -> Iterator[_Way]:
    """How each of them goes, if it is worth it; what goes with it is gone for those behind it."""
    gone: set[str] = set()
    for one in wanted:
        way = _whole(view, one, gone) if without_trace or _is_long(view, one) else None
        way = way or _plain(view, one, gone)
        if way.saving >= MIN_SAVING:
            gone.update(_left_out(way.edits))
            yield way


def _plain(view: View, one: Wanted, gone: set[str]) -> _Way:
    if _call(view, one) is None:
        return _answer_only(one)
    edit, saving = drop_edit(view, one.name, one.part, one.why or one.part.seq, gone)
    return _Way(one, (edit,), saving, isinstance(edit, OmitArc))


def _is_long(view: View, one: Wanted) -> bool:
    call = _call(view, one)
    return call is not None and call.recorded.input_bytes > MAX_KEPT_INPUT


def _call(view: View, one: Wanted) -> Part | None:
    """The part with the arguments, if it is sent now."""
    if one.part.recorded.kind == "tool":
        return one.part
    call = call_of(view.session, one.part)
    return view.session.talk.parts[call] if call is not None and view.session.talk.place(call) else None


def _whole(view: View, one: Wanted, gone: set[str]) -> _Way | None:
    """The call with its answer, and with the thinking that led to nothing else in the same message."""
    call = _call(view, one)
    if call is None:
        return None
    session = view.session
    arc = tuple(dict.fromkeys((call.recorded.part, one.name)))
    edits: list[AnyEdit] = [OmitArc(part=one.name, parts=arc, by=_by(one))]
    is_risky = len(arc) > 1
    for message in dict.fromkeys(session.talk.parts[name].recorded.message for name in arc):
        rest = [
            (name, part)
            for name, part in session.talk.sent_parts(session.talk.messages[message])
            if name not in arc and name not in gone and not _is_left_out(view, name)
        ]
        if any(has_meaning(part) for _, part in rest):
            continue
        if any(_must_stay(view, part) for _, part in rest):
            return None
        is_risky = True
        edits += [OmitPart(part=name, by=(part.seq, *_by(one))) for name, part in rest if not part.recorded.ignored]
    recorded = [session.talk.parts[name].recorded for name in _left_out(edits)]
    saving = sum(tokens(part.bytes) + tokens(part.input_bytes) for part in recorded)
    return _Way(one, tuple(edits), saving, is_risky)


def _by(one: Wanted) -> tuple[int, ...]:
    return one.part.seq, one.part.tag_seq, one.why or one.part.seq


def _is_left_out(view: View, name: str) -> bool:
    return name in view.session.omitted or isinstance(view.edit_of(name), OmitPart)


def _must_stay(view: View, part: Part) -> bool:
    """Whether it is a mark of the harness, or signed thinking of the running turn."""
    if part.recorded.kind == "compaction":
        return True
    return part.recorded.signed and view.session.talk.place(part.recorded.part) > view.session.turn


def _left_out(edits: Iterable[AnyEdit]) -> Iterator[str]:
    for edit in edits:
        match edit:
            case OmitArc(parts=parts):
                yield from parts
            case OmitPart(part=part):
                yield part


def _sound(view: View, ways: Sequence[_Way]) -> Sequence[_Way]:
    """Where a provider would refuse the messages without a whole call, only its answer goes, and that is settled."""
    risky = sorted((way for way in ways if way.is_risky), key=lambda way: min(_places(view, way)))
    taken = {way.wanted.name for way in _acceptable(view, risky, ())}
    return [way if way.wanted.name in taken or not way.is_risky else _answer_only(way.wanted) for way in ways]


def _acceptable(view: View, ways: Sequence[_Way], taken: Sequence[_Way]) -> Sequence[_Way]:
    """Those of these ways that go together with each other and with what is taken before them."""
    if not ways or not new_faults(
        view.session, [edit for way in (*_near(view, taken, ways), *ways) for edit in way.edits]
    ):
        return ways
    if len(ways) == 1:
        return ()
    half = len(ways) // 2
    first = _acceptable(view, ways[:half], taken)
    return (*first, *_acceptable(view, ways[half:], (*taken, *first)))


def _near(view: View, taken: Sequence[_Way], ways: Sequence[_Way]) -> Iterator[_Way]:
    """What is taken so close before these that both show in one check."""
    first = min(_places(view, ways[0]))
    for way in reversed(taken):
        places = _places(view, way)
        if max(places) + REACH < first:
            return
        first = min(first, *places)
        yield way


def _places(view: View, way: _Way) -> list[int]:
    return [view.session.talk.place(name) for name in _left_out(way.edits)]


def _answer_only(one: Wanted) -> _Way:
    text = placeholder(one.part.number)
    edit = ReplaceOutput(part=one.name, text=text, by=_by(one))
    return _Way(one, (edit,), tokens(one.part.recorded.bytes) - tokens(len(text.encode())))


def _signed_off(edit: AnyEdit, lane: str) -> AnyEdit:
    return replace(edit, lane=lane, by=tuple(dict.fromkeys(edit.by)))
