"""The lane that leaves out reasoning that is old, empty, or thought about what was dropped."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import TypeGuard

import msgspec

from schemas.plan import AnyEdit, OmitPart, ReplaceText, Restore
from services.kit.conversation import HEAD_CHARACTERS, Message, Part
from services.responder.lanes.ages import Ages, ages, is_free
from services.responder.lanes.base import Change, Placed, View

NAME = "reasoning"
EMPTY = f"{NAME}:empty"
DROPPED = f"{NAME}:dropped"
MERGED = f"{NAME}:merged"
VOID = "admission"
CLEARED = "[cleared]"
"""What another program may have put in the place of reasoning."""


class Rules(msgspec.Struct, frozen=True):
    """What is old in one rebase, and what the model in work allows."""

    turn: int
    """Ordinal of the newest message that a person wrote; 0: not known."""
    cut: int
    """The highest tag of an old message."""
    run: int
    """Where thinking may only go without gaps: the ordinal up to which all of it goes."""
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


def rules_of(view: View) -> Rules:
    cut = view.survey.newest - view.limits.clear_reasoning_age
    rules = Rules(view.session.turn, cut, 0, view.able, ages(view))
    return msgspec.structs.replace(rules, run=_run(view, rules)) if rules.is_bound else rules


def _run(view: View, rules: Rules) -> int:
    """The last old message of the turns that are over, unless thinking that must stay comes before it."""
    run = 0
    for placed in view.survey.placed:
        if placed.ordinal >= rules.turn:
            return run
        if rules.keeps_with_calls and _calls(view, placed) and any(is_reasoning(part) for part in placed.parts):
            return run
        if 0 < placed.tag <= rules.cut:
            run = placed.ordinal
    return run


def extend(view: View, fresh: Sequence[Message]) -> Iterator[AnyEdit]:
    """Leave out what holds no thought, from the first time on."""
    rules = Rules(view.session.turn, 0, 0, view.able, Ages(0))
    for message in fresh:
        if message.recorded.role == "assistant":
            sent = tuple(part for _, part in view.session.talk.sent_parts(message))
            placed = Placed(message.ordinal, message, sent)
            for edit in _edits(view, rules, placed, frozenset()):
                if edit.lane == EMPTY:
                    yield edit


def rebase(view: View) -> Change:
    rules = rules_of(view)
    surplus = frozenset(_surplus(view)) if rules.is_merged else frozenset()
    edits = [edit for placed in view.survey.reasoned for edit in _edits(view, rules, placed, surplus)]
    parts = view.session.talk.parts
    saved = sum(parts[edit.part].recorded.tokens for edit in edits if isinstance(edit, OmitPart))
    return Change(tuple(edits), reclaimed=saved)


def older_thinking(view: View, before: int) -> tuple[OmitPart, ...]:
    """Signed thinking of the turns that are over, from this ordinal on: behind a change its signature is void.

    The view is one in which the other edits of this rebase are in force already.
    """
    rules = Rules(view.session.turn, 0, 0, view.able, Ages(0))
    found: list[OmitPart] = []
    for placed in view.survey.placed:
        if placed.ordinal >= rules.turn:
            break
        if placed.ordinal >= before:
            names = [part.recorded.part for part in placed.parts if part.recorded.signed]
            signed = {name: VOID for name in names if view.edit_of(name) is None}
            found += _omitted(view, rules, placed, signed)
    return tuple(found)


def cause(rules: Rules, placed: Placed, part: Part, *, is_spent: bool, is_surplus: bool = False) -> str:
    """Why this reasoning goes; empty: it stays."""
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


def is_spent(view: View, known: Ages, placed: Placed) -> bool:
    """Whether all that the message said beside its reasoning was dropped, or is dropped now."""
    gone, said = view.session.dropped, False
    for part in placed.parts:
        kind = part.recorded.kind
        if part.recorded.ignored or kind == "reasoning" or (kind == "text" and not part.number):
            continue  # a text without a tag is blank
        if not known.is_going(part.number) and part.number not in gone:
            return False
        said = True
    return said


def is_reasoning(part: Part) -> bool:
    return part.recorded.kind == "reasoning" and not part.recorded.ignored


def _edits(view: View, rules: Rules, placed: Placed, surplus: frozenset[str]) -> Iterator[OmitPart | Restore]:
    thoughts = [part for part in placed.parts if is_reasoning(part)]
    if not thoughts:
        return
    must_stay = rules.keeps_with_calls and _calls(view, placed)
    spent = is_spent(view, rules.known, placed)
    leaving: dict[str, str] = {}
    for part in thoughts:
        name = part.recorded.part
        edit = view.edit_of(name)
        why = "" if must_stay else cause(rules, placed, part, is_spent=spent, is_surplus=name in surplus)
        if why and edit is None:
            leaving[name] = why
        elif not why and _was_left_out(edit) and (must_stay or (edit.lane == EMPTY and not _is_empty(part))):
            yield Restore(part=name, by=(part.seq,))
    yield from _omitted(view, rules, placed, leaving)
    yield from _refilled(view, placed)


def _refilled(view: View, placed: Placed) -> Iterator[Restore]:
    """Blank texts that went with their message, and hold words now."""
    for part in placed.parts:
        if part.recorded.kind == "text" and not _is_blank(part):
            edit = view.change_of(part.recorded.part)
            if isinstance(edit, OmitPart) and edit.lane.partition(":")[0] in (NAME, VOID):
                yield Restore(part=part.recorded.part, by=(part.seq,))


def _is_blank(part: Part) -> bool:
    return part.recorded.bytes <= HEAD_CHARACTERS and not part.head.strip()


def _was_left_out(edit: AnyEdit | None) -> TypeGuard[OmitPart]:
    return isinstance(edit, OmitPart) and edit.lane.partition(":")[0] == NAME


def _omitted(view: View, rules: Rules, placed: Placed, leaving: Mapping[str, str]) -> Iterator[OmitPart]:
    """Leave these out, unless an empty message were left: then the whole message goes, where it may, or nothing."""
    if not leaving:
        return
    if any(part.number and is_free(view, part) for part in placed.parts):
        left, says_more = (
            list[Part](),
            True,
        )  # mostly so: what nobody drops is served, and says something
    else:
        left = [part for part in placed.parts if part.recorded.part not in leaving and _is_sent(view, part)]
        says_more = any(is_reasoning(part) or _says_something(view, part) for part in left)
    if not (says_more or f"pair:{placed.name}" in view.session.edits or rules.may_vanish):
        return
    why_all = next(iter(leaving.values()))
    blanks = {} if says_more else {part.recorded.part: why_all for part in left}
    parts = view.session.talk.parts
    for name, why in {**leaving, **blanks}.items():
        yield OmitPart(part=name, by=(parts[name].seq,), lane=why)


def _is_sent(view: View, part: Part) -> bool:
    name = part.recorded.part
    if part.recorded.ignored or name in view.session.omitted:
        return False
    return not isinstance(view.edit_of(name), OmitPart)


def _surplus(view: View) -> Iterator[str]:
    """Where a provider makes one message of several answers: all their thinking but what that one begins with."""
    for is_answer, run in groupby(view.survey.placed, key=lambda placed: placed.role == "assistant"):
        at_start = True
        for placed in run if is_answer else ():
            if f"message:{placed.name}" in view.session.edits:
                continue
            for part in placed.parts:
                if not is_reasoning(part):
                    at_start = at_start and not _says_something(view, part)
                elif not _is_empty(part) and _may_come(view.edit_of(part.recorded.part)):
                    if not at_start:
                        yield part.recorded.part
                    at_start = False


def _may_come(edit: AnyEdit | None) -> bool:
    """Whether reasoning is served, or would be since it is empty no more."""
    return edit is None or (_was_left_out(edit) and edit.lane == EMPTY)


def _says_something(view: View, part: Part) -> bool:
    """Whether a part other than reasoning is served and says something to a model."""
    if part.recorded.kind == "compaction" or not _is_sent(view, part):
        return False
    if part.recorded.kind != "text":
        return True
    edit = view.change_of(part.recorded.part)
    if isinstance(edit, ReplaceText):
        return edit.text.strip() != ""
    return not _is_blank(part)


def _calls(view: View, placed: Placed) -> bool:
    """Whether a tool call of this message is served."""
    return any(
        part.recorded.kind in ("tool", "tool_call") and part.recorded.part not in view.session.omitted
        for part in placed.parts
    )


def _is_empty(part: Part) -> bool:
    """Whether it holds no thought that anybody could read."""
    recorded = part.recorded
    if recorded.signed or recorded.text_ref or recorded.bytes > HEAD_CHARACTERS:
        return False
    return part.head.strip() in ("", CLEARED)
