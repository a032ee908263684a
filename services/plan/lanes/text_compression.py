"""The lane of the text tiers: the older a text, the fewer words are left of it. For texts in English only."""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

import msgspec

from schemas.plan import AnyEdit, PrefixText, ReplaceText, Restore
from services.domain.conversation import Part
from services.domain.edits import TAGS
from services.domain.language import is_english, is_foreign
from services.domain.tokens import tokens
from services.plan.lanes.base import HARNESS_CAUSES, Change, Lane, View
from services.plan.lanes.index import Finder
from services.plan.lanes.rewrite import is_in_memory
from services.plan.lanes.temporal import prefix_of
from services.plan.lanes.turns import ages, is_free
from services.plan.session.lane_marks import LaneMark, mark_of
from services.plan.text_compression.regions import prose
from services.plan.text_compression.rules import FULL, LITE, ULTRA, compress

replace = msgspec.structs.replace

NAME = "caveman"
MODES = frozenset({"primary", "reduce_off"})
MAX_PARTS = 400
"""Texts that one rebase looks at; the others wait for the next one."""
MAX_BYTES = 48 * 1024
"""And how long they are together. A longer text is no prose, and stays as it is."""
TIERS = ((1, ULTRA), (2, FULL), (3, LITE))
"""Of five equal shares of the old texts, the oldest first, the first so many are served at this depth at least."""
SHARES = 5
AS_IT_IS = 0
_COPIED = re.compile(rf"(?:{TAGS.pattern.removeprefix('^')}|<!-- \+[^>\n]* -->\n)+")
"""Prefixes that a model has copied from before other texts, or that would be taken for one."""


class _Text(msgspec.Struct, frozen=True):
    """A text and the depth at which it should be served."""

    name: str
    part: Part
    depth: int
    worded: ReplaceText | None = None
    """The edit of this lane that is in force."""

    @property
    def is_stale(self) -> bool:
        return self.worded is not None and _is_stale(self.part, self.worded)

    @property
    def waits(self) -> bool:
        return self.is_stale or self.depth > _depth_of(self.worded)


def needs(view: View) -> tuple[str, ...]:
    return tuple(
        text.name
        for text in _chosen(view)
        if not is_in_memory(text.part) and (text.is_stale or not _begins_foreign(text.part.head))
    )


def rebase(view: View) -> Change:
    edits: list[AnyEdit] = []
    reclaimed = 0
    for text in _chosen(view):
        edit = _edit(view, text)
        if edit is not None:
            edits.append(edit)
            reclaimed += _cost(view, text, text.worded) - _cost(view, text, edit)
    return Change(tuple(edits), reclaimed=max(0, reclaimed))


def _edit(view: View, text: _Text) -> AnyEdit | None:
    """The edit that serves the text at its depth, if that is shorter than what is served now."""
    name, part = text.name, text.part
    prefix, by = prefix_of(view, name), (part.seq, part.tag_seq)
    pristine = part.head if is_in_memory(part) else view.texts.get(name, "")
    short = shortened(pristine, text.depth)
    if short:
        edit = ReplaceText(part=name, text=prefix + short, by=by, lane=str(LaneMark(NAME, (str(text.depth),))))
        if text.is_stale or _cost(view, text, edit) < _cost(view, text, text.worded):
            return edit
        return None
    if not text.is_stale:
        return None
    return PrefixText(part=name, text=prefix, by=by) if prefix else Restore(part=name, by=by)


def shortened(pristine: str, depth: int) -> str:
    """The text at this depth; nothing where that is no gain, or where it is not English."""
    copied = _COPIED.match(pristine)
    own = pristine[copied.end() :] if copied else pristine
    if depth == AS_IT_IS or not is_english(prose(own)):
        return ""
    short = compress(own, depth)
    return short if len(short) < len(own) else ""


def _cost(view: View, text: _Text, edit: AnyEdit | None) -> int:
    """Estimated tokens of the text as it is served with this edit; without one as its harness holds it."""
    if isinstance(edit, ReplaceText):
        return tokens(len(edit.text.encode()))
    return tokens(len(prefix_of(view, text.name).encode()) + text.part.recorded.bytes)


def _chosen(view: View) -> Sequence[_Text]:
    """The texts that this rebase looks at: first those that are served with words they no longer have.

    Where there are more than it may, it begins at another one each time, so that every text has its turn and texts
    with nothing to gain are in nobody's way. Where the tiers were switched off, only what has changed is looked at.
    """
    if not view.limits.caveman and not view.causes & HARNESS_CAUSES:
        return ()
    waiting = [text for text in _eligible(view) if text.waits]
    stale = [text for text in waiting if text.is_stale]
    if not view.limits.caveman:
        return [replace(text, depth=AS_IT_IS) for text in stale]
    others = [text for text in waiting if not text.is_stale]
    start = view.session.revision % len(others) if _size(others) > MAX_BYTES or len(others) > MAX_PARTS else 0
    return tuple(_within_bounds([*stale, *others[start:], *others[:start]]))


def _within_bounds(texts: Sequence[_Text]) -> Iterator[_Text]:
    size = 0
    for count, text in enumerate(texts):
        size += text.part.recorded.bytes
        if not text.is_stale and (size > MAX_BYTES or count >= MAX_PARTS):
            return
        yield text


def _size(texts: Sequence[_Text]) -> int:
    return sum(text.part.recorded.bytes for text in texts)


def _eligible(view: View) -> Iterator[_Text]:
    """The old texts that are long enough, by tag, with the depth that their place asks for. None is taken back.

    With them comes what is no longer one of them and still served in the words of a content that it no longer has.
    """
    known = ages(view)
    found: list[_Text] = []
    for seen in view.index.parts(NAME):
        part = seen.part
        name, worded = part.recorded.part, _worded(view, part.recorded.part)
        if part.recorded.message in view.session.plan.left_out:
            continue
        if _is_long(view, part) and known.is_old(part.number) and _is_free(view, name, part, worded):
            found.append(_Text(name, part, AS_IT_IS, worded))
        elif worded is not None and _is_stale(part, worded):
            yield _Text(name, part, AS_IT_IS, worded)
    found.sort(key=lambda text: text.part.number)
    for place, text in enumerate(found):
        wanted = next((depth for share, depth in TIERS if place * SHARES < share * len(found)), AS_IT_IS)
        yield replace(text, depth=max(wanted, _depth_of(text.worded)))


def _is_long(view: View, part: Part) -> bool:
    return not part.recorded.ignored and view.limits.caveman_min_chars <= part.recorded.bytes <= MAX_BYTES


def _is_free(view: View, name: str, part: Part, worded: ReplaceText | None) -> bool:
    """Whether it is served in its own words or in those of this lane, and goes on being served."""
    return (worded is not None or view.is_whole(name)) and is_free(view, part)


def _is_stale(part: Part, worded: ReplaceText) -> bool:
    """Whether what it is served with was made of an earlier content."""
    return part.seq not in worded.by


def _worded(view: View, name: str) -> ReplaceText | None:
    edit = view.change_of(name)
    return edit if isinstance(edit, ReplaceText) and mark_of(edit, NAME) else None


def _depth_of(edit: ReplaceText | None) -> int:
    """The depth that an edit of this lane serves a text at."""
    mark = mark_of(edit, NAME)
    return int(mark.detail) if mark else AS_IT_IS


@lru_cache(maxsize=2048)
def _begins_foreign(head: str) -> bool:
    """Whether the beginning that is in memory shows that the text is not English."""
    return is_foreign(prose(head))


def _spares_firm(view: View) -> bool:
    """Whether the tiers are switched off: then words only come back."""
    return not view.limits.caveman


LANE = Lane(
    NAME,
    rebase=rebase,
    spares_firm=_spares_firm,
    needs=needs,
    modes=MODES,
    order=120,
    finder=Finder(lambda _: lambda _: True, kinds=frozenset({"text"})),
)
