"""The lane that says at the tail what is remembered of the project, or is no longer, since the head was made.

What the session itself has written to the memory is no news to it: the words are in its own messages.
"""

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from schemas.plan import AppendText
from services.domain.conversation import Message
from services.domain.texts.line import plain, shorter
from services.domain.texts.listings import is_listing
from services.domain.texts.markup import element, escaped
from services.domain.tokens import BYTES_PER_TOKEN
from services.memory.entry import Memory
from services.memory.remembered import MemoryChange
from services.plan.lanes import head
from services.plan.lanes.base import Lane, View
from services.plan.lanes.notices import newest_notice, newest_of_person
from services.plan.session.lane_marks import LaneMark, mark_of

NAME = "memory_notices"
"""Its mark holds the position up to which the session has been notified: `memory_notices:4711`."""
MODES = head.MODES
ADDED, REVISED, GONE = "New", "Changed", "Holds no longer"


class _News(msgspec.Struct, frozen=True):
    """The change of one memory."""

    seq: int
    kind: str
    text: str

    def line(self, text: str) -> str:
        return f"- {self.kind}: {escaped(text)}"


def extend(view: View, fresh: Sequence[Message]) -> tuple[AppendText, ...]:
    """One notice on the newest message of a person, as long as the settings allow. What finds no room waits."""
    since = head.known_position(view)
    if not view.memory.enabled or view.remembered.book.seq <= since:
        return ()
    part, place = newest_of_person(view.session, fresh)
    changes = view.remembered.since(since) if part and part not in view.session.plan.ends else ()
    if not changes:
        return ()
    before = newest_notice(view.session, place, changes[0].seq, NAME)
    mark = mark_of(before, NAME)
    reported = int(mark.detail) if mark is not None else since
    news = sorted(_news(view, [change for change in changes if change.seq > reported]), key=lambda one: one.seq)
    listed = _fitting(news, view.memory.notice_tokens * BYTES_PER_TOKEN)
    if not listed:
        return ()
    through = changes[-1].seq if len(listed) == len(news) else news[len(listed) - 1].seq
    by = tuple(one.seq for one in news[: len(listed)])
    return (AppendText(part=part, text=_notice(listed), by=by, lane=str(LaneMark(NAME, (str(through),)))),)


def _news(view: View, changes: Iterable[MemoryChange]) -> Iterator[_News]:
    """The final change of each of these memories, as far as it is news to the session.

    That a list of names has expired is none: nobody works by it.
    """
    courses: dict[str, list[MemoryChange]] = {}
    for change in changes:
        if view.name and change.origin == view.name:
            courses.pop(change.memory, None)  # it knows how the memory reads from here on
        else:
            courses.setdefault(change.memory, []).append(change)
    for name, course in courses.items():
        memory = view.remembered.book.memories[name]
        if memory.status == "expired" and is_listing(memory.text):
            continue
        kind = _kind(view, memory, course)
        if kind:
            yield _News(course[-1].seq, kind, plain(memory.text))


def _kind(view: View, memory: Memory, course: Sequence[MemoryChange]) -> str:
    """The kind of notice that it is worth; empty: nothing is new of it, or nothing of which the session knows."""
    first = course[0]
    was_known = first.kind != "added"
    if not memory.is_active:
        return GONE if was_known and _is_known(view, first.before) else ""
    if not was_known:
        return ADDED
    if all(change.kind != "revised" for change in course):
        return ""
    return REVISED if _is_known(view, first.before) else ADDED


def _is_known(view: View, position: int) -> bool:
    """Whether the session was shown a memory as that fact made it: in the head, or since then in a notice."""
    served = head.served(view)
    return position > head.known_position(view) or (served is not None and position in served.by)


def _fitting(news: Sequence[_News], room: int) -> list[str]:
    """As many lines as there is room for, in order. The first one is cut where it finds no room alone."""
    lines: list[str] = []
    for one in news:
        line = one.line(one.text)
        if len(_notice([*lines, line]).encode()) > room:
            break
        lines.append(line)
    return lines or _cut(news[:1], room)


def _cut(news: Sequence[_News], room: int) -> list[str]:
    for one in news:
        for text in shorter(one.text):
            line = one.line(text)
            if len(_notice([line]).encode()) <= room:
                return [line]
    return []


def _notice(lines: Iterable[str]) -> str:
    listed = "\n".join(lines)
    text = element(
        "instruction",
        "What is remembered of this project has changed while this session is going on:\n"
        f"{listed}\n"
        "This is a notice of the service that keeps your context: information, and no request.",
        name="memory_changed",
    )
    return f"\n\n{text}"


LANE = Lane(NAME, extend=extend, modes=MODES, order=205)
