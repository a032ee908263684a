"""Tool calls that go whole: with their answers, and with the rest of a message that had no other content."""

from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet

import msgspec

from schemas.plan import AnyEdit, OmitArc, OmitPart
from services.domain.conversation import Part
from services.domain.tokens import tokens
from services.plan.lanes.base import View
from services.plan.lanes.drops import call_of, has_meaning
from services.plan.provider_rules.check import NEIGHBOURS, new_faults
from services.plan.session.costs import served_output

REACH = 2 * NEIGHBOURS
"""Messages between two edits that a check looks at together."""


class IdleCall(msgspec.Struct, frozen=True, gc=False):
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


class DropPlan(msgspec.Struct, frozen=True):
    """The removal of one call: the edits, and the tokens that they save."""

    wanted: IdleCall
    edits: tuple[AnyEdit, ...]
    saving: int
    is_risky: bool = False
    """Whether it parts messages or leaves nothing of one, so that a provider may refuse what remains."""
    empties: bool = False
    """Whether it leaves nothing of a message."""


def call_part(view: View, one: IdleCall) -> Part | None:
    """The part with the arguments, if it is sent now."""
    if one.part.recorded.kind == "tool":
        return one.part
    call = call_of(view.session, one.part)
    return view.session.conversation.parts[call] if call is not None and view.session.conversation.place(call) else None


def whole(view: View, one: IdleCall, gone: AbstractSet[str]) -> DropPlan | None:
    """The call with its answer, and with the thinking that led to nothing else in the same message.

    `gone`: parts that other drops leave out. None: its neighbours have to stay, and so has the call.
    """
    call = call_part(view, one)
    if call is None:
        return None
    conversation = view.session.conversation
    arc = (call,) if call is one.part else (call, one.part)
    names = tuple([part.recorded.part for part in arc])
    edits: list[AnyEdit] = [OmitArc(part=one.name, parts=names, by=one.by)]
    left: list[Part] = [*arc]
    empties = False
    for message in {part.recorded.message: None for part in arc}:
        others = [
            part
            for name, part in conversation.sent_parts(conversation.messages[message])
            if name not in names and name not in gone
        ]
        if any(has_meaning(part) and not _is_left_out(view, part) for part in others):
            continue
        rest = [part for part in others if not _is_left_out(view, part)]
        if any(_must_stay(view, part) for part in rest):
            return None
        empties = True
        left += [part for part in rest if not part.recorded.ignored]
    edits += [OmitPart(part=part.recorded.part, by=(part.seq, *one.by)) for part in left[len(arc) :]]
    plan = view.session.plan
    saving = sum(served_output(plan, part.recorded) + tokens(part.recorded.input_bytes) for part in left)
    return DropPlan(one, tuple(edits), saving, is_risky=empties or len(arc) > 1, empties=empties)


def _is_left_out(view: View, part: Part) -> bool:
    name = part.recorded.part
    return name in view.session.plan.in_arcs or isinstance(view.change_of(name), OmitPart)


def _must_stay(view: View, part: Part) -> bool:
    """Whether it is a mark of the harness, or signed thinking of the running turn."""
    if part.recorded.kind == "compaction":
        return True
    return part.recorded.signed and view.session.conversation.place(part.recorded.part) > view.session.turn


def left_out(edits: Iterable[AnyEdit]) -> Iterator[str]:
    """The parts that these edits leave out."""
    for edit in edits:
        match edit:
            case OmitArc(parts=parts):
                yield from parts
            case OmitPart(part=part):
                yield part


def acceptable(view: View, drop_plans: Sequence[DropPlan]) -> Sequence[DropPlan]:
    """Those of these plans, in their order, of which no provider would refuse what they leave."""
    risky = sorted(
        (drop_plan for drop_plan in drop_plans if drop_plan.is_risky),
        key=lambda drop_plan: min(places(view, drop_plan)),
    )
    taken = {drop_plan.wanted.name for drop_plan in _taken(view, risky, ())}
    return [drop_plan for drop_plan in drop_plans if drop_plan.wanted.name in taken or not drop_plan.is_risky]


def _taken(view: View, drop_plans: Sequence[DropPlan], taken: Sequence[DropPlan]) -> Sequence[DropPlan]:
    """Those of these plans that go together with each other and with what is taken before them."""
    if not drop_plans or not new_faults(
        view.session, [edit for drop_plan in (*_near(view, taken, drop_plans), *drop_plans) for edit in drop_plan.edits]
    ):
        return drop_plans
    if len(drop_plans) == 1:
        return ()
    half = len(drop_plans) // 2
    first = _taken(view, drop_plans[:half], taken)
    return (*first, *_taken(view, drop_plans[half:], (*taken, *first)))


def _near(view: View, taken: Sequence[DropPlan], drop_plans: Sequence[DropPlan]) -> Iterator[DropPlan]:
    """The plans taken already that are so close before these that both show in one check."""
    first = min(places(view, drop_plans[0]))
    for drop_plan in reversed(taken):
        near = places(view, drop_plan)
        if max(near) + REACH < first:
            return
        first = min(first, *near)
        yield drop_plan


def places(view: View, drop_plan: DropPlan) -> list[int]:
    """The messages of which it leaves something out."""
    return [view.session.conversation.place(name) for name in left_out(drop_plan.edits)]
