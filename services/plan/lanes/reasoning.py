"""The lane that leaves out reasoning that is old, empty, or thought about what was dropped."""

from collections.abc import Container, Iterator, Mapping, Sequence
from itertools import groupby
from typing import TypeGuard

import msgspec

from schemas.plan import AnyEdit, OmitPart, ReplaceText, Restore
from services.domain.conversation import HEAD_CHARACTERS, Message, Part
from services.plan.lanes.base import Change, Lane, View, spares_firm
from services.plan.lanes.index import Finder, PlacedMessage
from services.plan.lanes.turns import Ages, ages, is_free
from services.plan.session.lane_marks import LaneMark, is_of

NAME = "reasoning"
EMPTY, DROPPED, MERGED = (str(LaneMark(NAME, (why,))) for why in ("empty", "dropped", "merged"))
VOID = "admission"
REFUSED = "signature"
CLEARED = "[cleared]"
"""The text that another program may have put in the place of reasoning."""


class ReasoningRules(msgspec.Struct, frozen=True):
    """The rules for reasoning in one rebase: what is old, and what the model in use allows."""

    turn: int
    """Ordinal of the newest message that a person wrote; 0: not known."""
    cut: int
    """The highest tag of an old message."""
    run: int
    """The ordinal up to which all thinking goes, where it may only go without gaps."""
    able: frozenset[str]
    known: Ages

    @property
    def is_bound(self) -> bool:
        return "binds_signed_thinking" in self.able

    @property
    def is_merged(self) -> bool:
        return "merges_adjacent_assistants" in self.able

    @property
    def keeps_with_calls(self) -> bool:
        return "requires_reasoning_on_tool_calls" in self.able

    @property
    def may_vanish(self) -> bool:
        """Whether a message that only thinks may go with what it thinks, so that no gap stays."""
        return self.is_bound and "requires_alternation" not in self.able


def rules_of(view: View) -> ReasoningRules:
    cut = view.index.newest - view.limits.clear_reasoning_age
    rules = ReasoningRules(view.session.turn, cut, 0, view.able, ages(view))
    return msgspec.structs.replace(rules, run=_run(view, rules)) if rules.is_bound else rules


def _run(view: View, rules: ReasoningRules) -> int:
    """The last old message of the turns that are over, unless thinking that must stay comes before it."""
    run = 0
    for placed in view.index.placed:
        if placed.ordinal >= rules.turn:
            return run
        if rules.keeps_with_calls and _calls(view, placed) and any(is_reasoning(part) for part in placed.parts):
            return run
        if 0 < placed.tag <= rules.cut:
            run = placed.ordinal
    return run


def extend(view: View, fresh: Sequence[Message]) -> Iterator[AnyEdit]:
    """Leave out what holds no thought, from the first time on."""
    rules = ReasoningRules(view.session.turn, 0, 0, view.able, Ages(0))
    for message in fresh:
        if message.recorded.role == "assistant":
            sent = tuple(part for _, part in view.session.conversation.sent_parts(message))
            placed = PlacedMessage(message.ordinal, message, sent)
            edits = tuple(_edits(view, rules, placed, frozenset()))
            if not any(isinstance(edit, Restore) for edit in edits):  # nothing comes back before a rebase
                yield from (edit for edit in edits if edit.lane == EMPTY)


def rebase(view: View) -> Change:
    rules = rules_of(view)
    surplus = frozenset(_surplus(view)) if rules.is_merged else frozenset()
    edits = [edit for placed in view.index.messages(NAME) for edit in _edits(view, rules, placed, surplus)]
    parts = view.session.conversation.parts
    saved = sum(parts[edit.part].recorded.tokens for edit in edits if isinstance(edit, OmitPart))
    return Change(tuple(edits), reclaimed=saved)


def older_thinking(view: View, before: int) -> Iterator[OmitPart]:
    """Signed thinking of the turns that are over, from this ordinal on: behind a change its signature is void.

    The view is one in which the other edits of this rebase are in force already.
    """
    rules = ReasoningRules(view.session.turn, 0, 0, view.able, Ages(0))
    for placed in _answers(view, before):
        if placed.ordinal >= rules.turn:
            return
        names = [part.recorded.part for part in placed.parts if part.recorded.signed]
        yield from _omitted(view, rules, placed, {name: VOID for name in names if view.edit_of(name) is None})


def refused_thinking(view: View) -> Iterator[OmitPart]:
    """All thinking, whether a signature is known of it or not, but what the newest answer's calls have to begin with.

    Where reasoning must accompany calls, it stays there.
    """
    rules = ReasoningRules(view.session.turn, 0, 0, view.able, Ages(0))
    placed_answers = tuple(_answers(view, 1))
    for placed in placed_answers:
        is_newest = placed is placed_answers[-1] and placed.ordinal > rules.turn
        if (is_newest or rules.keeps_with_calls) and _calls(view, placed):
            continue
        names = [part.recorded.part for part in placed.parts if is_reasoning(part)]
        yield from _omitted(view, rules, placed, {name: REFUSED for name in names if view.edit_of(name) is None})


def _answers(view: View, first: int) -> Iterator[PlacedMessage]:
    """The answers from this ordinal on that are not cut away."""
    conversation = view.session.conversation
    for message in conversation.after(max(first, view.session.cut, 1) - 1):
        if message.recorded.role == "assistant":
            yield PlacedMessage(message.ordinal, message, tuple(part for _, part in conversation.sent_parts(message)))


def cause(rules: ReasoningRules, placed: PlacedMessage, part: Part, *, is_spent: bool, is_surplus: bool = False) -> str:
    """The cause for which this reasoning goes; empty: it stays."""
    is_running = placed.ordinal >= rules.turn
    if _is_empty(part):  # what has no words may be sealed: a running turn needs it
        return EMPTY if not is_running or part.head.strip() == CLEARED else ""
    if is_running and (part.recorded.signed or rules.is_bound):
        return ""
    if placed.ordinal <= rules.run or (not rules.is_bound and 0 < placed.tag <= rules.cut):
        return NAME
    if is_spent:
        return DROPPED
    return MERGED if is_surplus else ""


def is_spent(view: View, known: Ages, placed: PlacedMessage) -> bool:
    """Whether all that the message has besides its reasoning was dropped, or is dropped now."""
    gone, had_content = view.session.drops.dropped, False
    for part in placed.parts:
        kind = part.recorded.kind
        if part.recorded.ignored or kind == "reasoning" or (kind == "text" and not part.number):
            continue  # a text without a tag is blank
        if not known.is_going(part.number) and part.number not in gone:
            return False
        had_content = True
    return had_content


def is_reasoning(part: Part) -> bool:
    return part.recorded.kind == "reasoning" and not part.recorded.ignored


def _edits(
    view: View, rules: ReasoningRules, placed: PlacedMessage, surplus: frozenset[str]
) -> Iterator[OmitPart | Restore]:
    thoughts = [part for part in placed.parts if is_reasoning(part)]
    if not thoughts:
        return
    must_stay = rules.keeps_with_calls and _calls(view, placed)
    spent = is_spent(view, rules.known, placed)
    leaving: dict[str, str] = {}
    returning: list[Part] = []
    for part in thoughts:
        name = part.recorded.part
        edit = view.edit_of(name)
        why = "" if must_stay else cause(rules, placed, part, is_spent=spent, is_surplus=name in surplus)
        if why and edit is None:
            leaving[name] = why
        elif not why and _was_left_out(edit) and (must_stay or (edit.lane == EMPTY and not _is_empty(part))):
            returning.append(part)
    refilled = [part for part in placed.parts if _is_refilled(view, part)]
    yield from map(_restored, returning)
    yield from _omitted(view, rules, placed, leaving, {part.recorded.part for part in (*returning, *refilled)})
    yield from map(_restored, refilled)


def _restored(part: Part) -> Restore:
    return Restore(part=part.recorded.part, by=(part.seq,))


def _is_refilled(view: View, part: Part) -> bool:
    """Whether a blank text that went with its message holds words now."""
    if part.recorded.kind != "text" or _is_blank(part):
        return False
    edit = view.change_of(part.recorded.part)
    return isinstance(edit, OmitPart) and is_of(edit, (NAME, VOID, REFUSED))


def _is_blank(part: Part) -> bool:
    return part.recorded.bytes <= HEAD_CHARACTERS and not part.head.strip()


def _was_left_out(edit: AnyEdit | None) -> TypeGuard[OmitPart]:
    return isinstance(edit, OmitPart) and is_of(edit, (NAME,))


def _omitted(
    view: View, rules: ReasoningRules, placed: PlacedMessage, leaving: Mapping[str, str], coming: Container[str] = ()
) -> Iterator[OmitPart]:
    """Leave these out, unless an empty message were left: then the whole message goes, where it may, or nothing.

    What is `coming` back with the same rebase is served, and says something.
    """
    if not leaving:
        return
    left: list[Part] = []
    has_more = any((part.number and is_free(view, part)) or part.recorded.part in coming for part in placed.parts)
    if not has_more:  # mostly it has: what nobody drops is served, and says something
        left = [part for part in placed.parts if part.recorded.part not in leaving and _is_sent(view, part)]
        has_more = any(is_reasoning(part) or _has_content(view, part) for part in left)
    if not (has_more or placed.name in view.session.plan.pairs or rules.may_vanish):
        return
    why_all = next(iter(leaving.values()))
    blanks = {} if has_more else {part.recorded.part: why_all for part in left}
    parts = view.session.conversation.parts
    for name, why in {**leaving, **blanks}.items():
        yield OmitPart(part=name, by=(parts[name].seq,), lane=why)


def _is_sent(view: View, part: Part) -> bool:
    return not part.recorded.ignored and not view.session.plan.is_omitted(part.recorded.part)


def _surplus(view: View) -> Iterator[str]:
    """The thinking that does not begin a message, where a provider makes one message of several answers."""
    for is_answer, run in groupby(view.index.placed, key=lambda placed: placed.role == "assistant"):
        at_start = True
        for placed in run if is_answer else ():
            if placed.name in view.session.plan.left_out:
                continue
            for part in placed.parts:
                if not is_reasoning(part):
                    at_start = at_start and not (_has_content(view, part) or _is_refilled(view, part))
                elif not _is_empty(part) and _may_come(view.edit_of(part.recorded.part)):
                    if not at_start:
                        yield part.recorded.part
                    at_start = False


def _may_come(edit: AnyEdit | None) -> bool:
    """Whether reasoning is served, or would be since it is empty no more."""
    return edit is None or (_was_left_out(edit) and edit.lane == EMPTY)


def _has_content(view: View, part: Part) -> bool:
    """Whether a part other than reasoning is served and says something to a model."""
    if part.recorded.kind == "compaction" or not _is_sent(view, part):
        return False
    if part.recorded.kind != "text":
        return True
    edit = view.change_of(part.recorded.part)
    if isinstance(edit, ReplaceText):
        return edit.text.strip() != ""
    return not _is_blank(part)


def _calls(view: View, placed: PlacedMessage) -> bool:
    """Whether a tool call of this message is served."""
    return any(
        part.recorded.kind in ("tool", "tool_call") and part.recorded.part not in view.session.plan.in_arcs
        for part in placed.parts
    )


def _is_empty(part: Part) -> bool:
    """Whether it holds no thought that anybody could read."""
    recorded = part.recorded
    if recorded.signed or recorded.text_ref or recorded.bytes > HEAD_CHARACTERS:
        return False
    return part.head.strip() in ("", CLEARED)


LANE = Lane(
    NAME,
    spares_firm=spares_firm,
    extend=extend,
    rebase=rebase,
    order=130,
    finder=Finder(lambda _: lambda _: True, kinds=frozenset({"reasoning"}), role="assistant"),
)
