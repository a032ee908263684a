"""Texts of which something is taken out: one edit each, which leaves what precedes the text as it is."""

import re
from collections.abc import Callable, Iterable
from itertools import islice

from schemas.plan import AnyEdit, PrefixText, ReplaceText, Restore
from services.domain.conversation import Part
from services.domain.edits import TAGS
from services.domain.tokens import tokens
from services.plan.lanes.base import Change, View
from services.plan.lanes.drops import placeholder
from services.plan.lanes.temporal import prefix_of
from services.plan.lanes.turns import is_free

MAX_TEXTS = 400
"""Texts that a lane reads in one rebase; more wait for the next one."""

Take = Callable[[str], str]
"""The text without what is not wanted in it; the very same text: there is nothing of it."""


def may_reword(view: View, part: Part, lane: str) -> bool:
    """Whether the part's own words are served, or words that this lane made of an earlier content."""
    if part.recorded.kind != "text" or part.recorded.ignored or not part.number or not is_free(view, part):
        return False
    name = part.recorded.part
    return view.is_whole(name) or is_stale(view.change_of(name), part, lane)


def is_stale(edit: AnyEdit | None, part: Part, lane: str) -> bool:
    """Whether an edit of this lane was made of a content that the part no longer has."""
    return edit is not None and edit.lane == lane and part.seq not in edit.by


def may_be_stale(part: Part) -> bool:
    """Whether the part was recorded again after it got its tag: most were not, and need no look at their edits."""
    return part.seq > part.tag_seq


def is_in_memory(part: Part) -> bool:
    """Whether the whole text is in memory, not only its beginning."""
    return len(part.head.encode()) == part.recorded.bytes


def unread(parts: Iterable[Part]) -> tuple[str, ...]:
    """The parts whose text has to be loaded."""
    return tuple(islice((part.recorded.part for part in parts if not is_in_memory(part)), MAX_TEXTS))


def reword(view: View, lane: str, parts: Iterable[Part], take: Take) -> Change:
    """Serve these texts without what `take` takes out of them; of those with nothing left, the placeholder."""
    edits: list[AnyEdit] = []
    dropped: list[int] = []
    reclaimed = 0
    for part in parts:
        name = part.recorded.part
        text = part.head if is_in_memory(part) else view.texts.get(name)
        if text is None:
            continue
        bare = TAGS.sub("", text)
        left = take(bare)
        if left == bare:
            edits += as_it_is(view, part)
            continue
        if not left.strip():
            dropped.append(part.number)
        served = prefix_of(view, name) + left if left.strip() else placeholder(part.number)
        edits.append(ReplaceText(part=name, text=served, by=(part.seq, part.tag_seq), lane=lane))
        reclaimed += part.recorded.tokens - tokens(len(served.encode()))
    return Change(tuple(edits), tuple(dropped), max(0, reclaimed))


def as_it_is(view: View, part: Part) -> tuple[AnyEdit, ...]:
    """Nothing, or the end of an edit that was made of an earlier content."""
    name = part.recorded.part
    if view.is_whole(name):
        return ()
    prefix = prefix_of(view, name)
    if prefix:
        return (PrefixText(part=name, text=prefix, by=(part.seq, part.tag_seq)),)
    return (Restore(part=name, by=(part.seq,)),)


def block_tag(*names: str) -> re.Pattern[str]:
    """The expression for the opening or closing tag of a block with one of these names, in any case."""
    return re.compile(f"<(/?)({'|'.join(names)})>", re.IGNORECASE)


def without_blocks(text: str, tag: re.Pattern[str], *, with_white: bool = False) -> str:
    """The text without its `<name>...</name>` blocks, and without the white space behind each if so wished.

    A block ends where its name is closed for the first time; one that is never closed is no block.
    """
    pieces: list[str] = []
    opened: dict[str, int] = {}
    done = 0
    for found in tag.finditer(text):
        name = found[2].lower()
        if not found[1]:
            opened.setdefault(name, found.start())
        elif name in opened:
            pieces.append(text[done : opened[name]])
            done = _behind_white(text, found.end()) if with_white else found.end()
            opened = {}
    return "".join(pieces) + text[done:] if pieces else text


def _behind_white(text: str, at: int) -> int:
    while at < len(text) and text[at].isspace():
        at += 1
    return at
