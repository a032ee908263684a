"""The edits in force, each found by what it is about, with what they save and add."""

from __future__ import annotations  # the persistent map cannot be subscripted at run time

from collections.abc import Iterable, Iterator, Mapping
from typing import TypeVar

import msgspec

from schemas.plan import (
    AnyEdit,
    AppendText,
    Cut,
    CutBefore,
    HeadSlot,
    InsertPair,
    MessageEnd,
    OmitArc,
    OmitMessage,
    OmitPart,
    PartContent,
    PartEnd,
    PrefixText,
    ReplaceOutput,
    ReplaceText,
    Restore,
    SetHead,
    Target,
    WholeMessage,
    Withdraw,
    target,
)
from services.domain.conversation import Conversation
from services.domain.edits import SLOTS
from services.domain.fold import Map
from services.domain.tokens import tokens

K = TypeVar("K", str, int)
V = TypeVar("V")
E = TypeVar("E", AppendText, InsertPair, SetHead)

Alteration = ReplaceText | ReplaceOutput | OmitPart | OmitArc
"""An edit of a part that does more than to show a tag."""

replace = msgspec.structs.replace


class PlanState(msgspec.Struct, frozen=True):
    """The edits in force at one position of the log. Every kind of target has a map of its own."""

    prefixes: Map[str, PrefixText] = Map()
    """Part -> the tag or the marker before it, where that is all that is changed of it."""
    altered: Map[str, Alteration] = Map()
    """Part -> the edit that does more. Of most parts there is none, and that is known sooner."""
    in_arcs: Map[str, str] = Map()
    """Part -> the part that names the tool arc with which it is left out."""
    untagged: Map[str, int] = Map()
    """Parts with a tag that is not shown, since there is no edit of them -> their tag."""
    ends: Map[str, AppendText] = Map()
    """Part -> what is appended to it."""
    left_out: Map[str, OmitMessage] = Map()
    """Message -> the edit that leaves it out whole."""
    pairs: Map[str, InsertPair] = Map()
    """Message -> the tool call that is inserted at its end."""
    heads: Map[int, SetHead] = Map()
    """Slot -> the message at the head of the list."""
    cut: CutBefore | None = None
    saved: int = 0
    """Estimated tokens that the edits in force save of what is part of the conversation now."""
    added: int = 0
    """Estimated tokens that the edits in force add: heads, appended texts, inserted calls."""

    def at(self, what: Target) -> AnyEdit | None:
        """The edit in force with this target."""
        match what:
            case PartContent(part=part):
                return self.content(part)
            case PartEnd(part=part):
                return self.ends.get(part)
            case WholeMessage(message=message):
                return self.left_out.get(message)
            case MessageEnd(message=message):
                return self.pairs.get(message)
            case HeadSlot(slot=slot):
                return self.heads.get(slot)
            case Cut():
                return self.cut
            case _:
                return None

    def content(self, part: str) -> Alteration | PrefixText | None:
        """The edit of a part's own content."""
        return self.altered.get(part) or self.prefixes.get(part)

    def is_whole(self, part: str) -> bool:
        """Whether a part's own content is served as it is, at most with a tag before it."""
        return part not in self.altered and part not in self.in_arcs

    def is_omitted(self, part: str) -> bool:
        """Whether a part is left out, alone or with its tool arc. Its message may be left out besides."""
        return part in self.in_arcs or isinstance(self.altered.get(part), OmitPart)

    def head(self, slot: int) -> str:
        """The text of the message in this slot of the head; empty: there is none."""
        edit = self.heads.get(slot)
        return edit.text if edit is not None else ""

    @property
    def head_texts(self) -> tuple[str, ...]:
        """The texts at the head of the list, without empty ones."""
        return tuple(filter(None, map(self.head, SLOTS)))

    @property
    def count(self) -> int:
        """The number of edits in force."""
        maps = (self.prefixes, self.altered, self.ends, self.left_out, self.pairs, self.heads)
        return sum(map(len, maps)) + (self.cut is not None)

    def edits(self) -> Iterator[AnyEdit]:
        """All edits in force, in no order that means anything."""
        for edits in (self.prefixes, self.altered, self.ends, self.left_out, self.pairs, self.heads):
            yield from edits.values()
        if self.cut is not None:
            yield self.cut


def added_by(edit: AnyEdit | None) -> int:
    """Estimated tokens that an edit adds to what the harness has."""
    match edit:
        case SetHead(text=text) | AppendText(text=text):
            return tokens(len(text.encode()))
        case InsertPair(input=given, output=output):
            return tokens(len(given.encode()) + len(output.encode()))
        case _:
            return 0


def entered(plan: PlanState, made: Iterable[AnyEdit], conversation: Conversation) -> tuple[PlanState, dict[str, None]]:
    """The plan with these edits in force, and the parts of which more or less may be served than before.

    What is saved then is still to be counted: see `costs`.
    """
    entering = _Entering(plan, conversation)
    for edit in made:
        entering.take(edit)
    return entering.plan(), entering.affected


class _Entering:
    """Edits on their way into a plan: maps are made anew once for all of them."""

    def __init__(self, plan: PlanState, conversation: Conversation) -> None:
        self._plan = plan
        self._conversation = conversation
        self._prefixes: dict[str, PrefixText | None] = {}
        self._altered: dict[str, Alteration | None] = {}
        self._in_arcs: dict[str, str | None] = {}
        self._untagged: dict[str, int | None] = {}
        self._ends: dict[str, AppendText | None] = {}
        self._left_out: dict[str, OmitMessage | None] = {}
        self._pairs: dict[str, InsertPair | None] = {}
        self._heads: dict[int, SetHead | None] = {}
        self._cut = plan.cut
        self._added = plan.added
        self.affected: dict[str, None] = {}

    def take(self, edit: AnyEdit) -> None:
        match edit:
            case PrefixText(part=part):
                self._change_content(part, edit, None)
            case ReplaceText(part=part) | ReplaceOutput(part=part) | OmitPart(part=part) | OmitArc(part=part):
                self._change_content(part, None, edit)
            case AppendText(part=part):
                self._change_end(part, edit)
            case OmitMessage(message=message):
                self._change_message(message, edit)
            case InsertPair(message=message):
                self._change_pair(message, edit)
            case SetHead(slot=slot):
                self._change_head(slot, edit)
            case CutBefore():
                self._cut = edit
            case Restore() | Withdraw():
                self._withdraw(target(edit))

    def _withdraw(self, what: Target) -> None:
        match what:
            case PartContent(part=part):
                self._change_content(part, None, None)
            case PartEnd(part=part):
                self._change_end(part, None)
            case WholeMessage(message=message):
                self._change_message(message, None)
            case MessageEnd(message=message):
                self._change_pair(message, None)
            case HeadSlot(slot=slot):
                self._change_head(slot, None)
            case Cut():
                self._cut = None

    def _change_content(self, part: str, prefix: PrefixText | None, alteration: Alteration | None) -> None:
        before = self._altered[part] if part in self._altered else self._plan.altered.get(part)
        self._prefixes[part], self._altered[part] = prefix, alteration
        known = self._conversation.parts.get(part) if prefix is None and alteration is None else None
        self._untagged[part] = (known.number or None) if known is not None else None
        self.affected[part] = None
        for arc in (before, alteration):
            if isinstance(arc, OmitArc):
                self.affected |= dict.fromkeys(arc.parts)
                self._in_arcs |= dict.fromkeys(arc.parts, part if arc is alteration else None)

    def _change_end(self, part: str, edit: AppendText | None) -> None:
        self._count(self._ends, self._plan.ends, part, edit)
        self.affected[part] = None

    def _change_message(self, message: str, edit: OmitMessage | None) -> None:
        self._left_out[message] = edit
        self._affect(message)

    def _change_pair(self, message: str, edit: InsertPair | None) -> None:
        self._count(self._pairs, self._plan.pairs, message, edit)
        self._affect(message)

    def _change_head(self, slot: int, edit: SetHead | None) -> None:
        self._count(self._heads, self._plan.heads, slot, edit)

    def _count(self, changes: dict[K, E | None], known: Map[K, E], key: K, edit: E | None) -> None:
        """Enter an edit that adds something."""
        before = changes[key] if key in changes else known.get(key)
        self._added += added_by(edit) - added_by(before)
        changes[key] = edit

    def _affect(self, message: str) -> None:
        known = self._conversation.messages.get(message)
        self.affected |= dict.fromkeys(known.parts if known is not None else ())

    def plan(self) -> PlanState:
        known = self._plan
        return PlanState(
            prefixes=_with(known.prefixes, self._prefixes),
            altered=_with(known.altered, self._altered),
            in_arcs=_with(known.in_arcs, self._in_arcs),
            untagged=_with(known.untagged, self._untagged),
            ends=_with(known.ends, self._ends),
            left_out=_with(known.left_out, self._left_out),
            pairs=_with(known.pairs, self._pairs),
            heads=_with(known.heads, self._heads),
            cut=self._cut,
            saved=known.saved,
            added=self._added,
        )


def tagged(plan: PlanState, first: int, parts: Iterable[str]) -> PlanState:
    """With the tags of these parts, from the first on, to be shown where there is no edit of them yet."""
    untagged = plan.untagged
    for number, name in enumerate(parts, first):
        if plan.content(name) is None:
            untagged = untagged.insert(name, number)
    return plan if untagged is plan.untagged else replace(plan, untagged=untagged)


def _with(known: Map[K, V], changes: Mapping[K, V | None]) -> Map[K, V]:
    """The map with these entries; without those of which nothing is left."""
    if not changes:
        return known
    for key, value in changes.items():
        if value is None and key in known:
            known = known.remove(key)
    return known.update({key: value for key, value in changes.items() if value is not None})
