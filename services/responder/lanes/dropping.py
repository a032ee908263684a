"""Drops that nobody asked for: which calls may go, and the edits with which they go."""

from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from itertools import chain

import msgspec

from schemas.plan import AnyEdit, OmitArc, ReplaceOutput
from services.kit.conversation import Part
from services.kit.tokens import tokens
from services.responder.lanes.arcs import Wanted, Way, acceptable, call_part, left_out, whole
from services.responder.lanes.base import Change, View
from services.responder.lanes.drops import MAX_KEPT_INPUT, dropped_part, placeholder, protected

MIN_SAVING = 16
"""Tokens: for less than this a placeholder is not worth its own line."""

replace = msgspec.structs.replace


def calls(view: View, is_meant: Callable[[Part], object] = lambda _: True) -> Iterator[Part]:
    """The finished calls whose answers are served, in order. What is about to be dropped anyway is passed over.

    `is_meant` comes first, since looking up what is served costs most.
    """
    return (part for part in view.survey.calls if is_meant(part) and view.is_served(part.recorded.part))


def guarded(view: View) -> Container[int]:
    """The tags that no lane may drop."""
    return protected(view.session, view.limits.protected_tags)


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
    ways: list[Way] = []
    saved = 0
    for way in _ways(view, chain(required, spare), without_trace=without_trace):
        if saved >= enough and way.wanted.name not in names:
            break
        ways.append(way)
        saved += way.saving
    sound = _sound(view, ways)
    return Change(
        edits=tuple(signed_off(edit, lane) for way in sound for edit in way.edits),
        dropped=tuple(way.wanted.part.number for way in sound),
        reclaimed=sum(way.saving for way in sound),
    )


def _ways(view: View, wanted: Iterable[Wanted], *, without_trace: bool) -> Iterator[Way]:
    """How each of them goes, if it is worth it; what goes with it is gone for those behind it."""
    gone: set[str] = set()
    for one in wanted:
        way = whole(view, one, gone) if without_trace or _is_long(view, one) else None
        way = way or _plain(view, one, gone)
        if way.saving >= MIN_SAVING:
            gone.update(left_out(way.edits))
            yield way


def _plain(view: View, one: Wanted, gone: set[str]) -> Way:
    if call_part(view, one) is None:
        return _answer_only(one)
    edit, saving = dropped_part(view.session, one.name, one.part, one.why or one.part.seq, gone)
    return Way(one, (edit,), saving, is_risky=isinstance(edit, OmitArc))


def _is_long(view: View, one: Wanted) -> bool:
    call = call_part(view, one)
    return call is not None and call.recorded.input_bytes > MAX_KEPT_INPUT


def _sound(view: View, ways: Sequence[Way]) -> Sequence[Way]:
    """Where a provider would refuse the messages without a whole call, only its answer goes, and that is settled."""
    kept = {way.wanted.name for way in acceptable(view, ways)}
    return [way if way.wanted.name in kept else _answer_only(way.wanted) for way in ways]


def _answer_only(one: Wanted) -> Way:
    text = placeholder(one.part.number)
    edit = ReplaceOutput(part=one.name, text=text, by=one.by)
    return Way(one, (edit,), tokens(one.part.recorded.bytes) - tokens(len(text.encode())))


def signed_off(edit: AnyEdit, lane: str) -> AnyEdit:
    """The edit as this lane's."""
    return replace(edit, lane=lane, by=tuple(dict.fromkeys(edit.by)))
