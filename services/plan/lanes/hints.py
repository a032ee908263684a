"""Texts for the end of a person's message: notes that wait, and what a search for the message's words has found.

Values in, text out: for whoever knows notes and hits, this decides what the hint contains, and gives it once.
"""

from collections.abc import Sequence
from itertools import islice
from typing import Literal

import msgspec

from services.domain.edits import TAGS
from services.domain.texts.bounds import beginning
from services.domain.texts.clean import searchable
from services.domain.texts.markup import element, escaped

COOLDOWN = 900.0
"""Seconds after a note reminder in which there is no other."""
MIN_PROMPT_CHARACTERS = 20
MIN_SCORE = 0.60
MAX_HITS = 3
MAX_HIT_CHARACTERS = 80
MAX_HINT_CHARACTERS = 800


class NoteNews(msgspec.Struct, frozen=True):
    """A note of the project that became ready, or that cannot be looked at."""

    note: str
    position: int
    """The position of the fact that says so."""
    is_parked: bool = False
    """Whether what it waits for cannot be looked at, rather than that it has come."""


class NoteStatus(msgspec.Struct, frozen=True):
    """The status of a session's notes when a person has written something."""

    deferred: int = 0
    """Notes that wait for their time."""
    triggered_in: str = ""
    """The person's message at which something happened that makes it worth to look; empty: nothing did."""
    is_read: bool = False
    """Whether the agent has read them since they last changed, and what it read is still served."""
    newest: str = ""
    """The person's newest message. This and what follows is known from the session itself."""
    seconds_since: float | None = None
    """Since the last reminder; none: there was none."""
    news: tuple[NoteNews, ...] = ()
    """Notes of the project that became ready, or that cannot be looked at."""


class HintHit(msgspec.Struct, frozen=True):
    """Something that a search has found."""

    text: str
    score: float
    message: str
    """The message whose words were searched for: the hint belongs to no other one."""
    sha: str = ""
    """Of a commit, with its age in words; empty: it is none."""
    age: str = ""


def note_decision(notes: NoteStatus) -> Literal["none", "wait", "cancel", "remind"]:
    """Whether to remind of notes. `cancel`: the matter is closed until something happens again."""
    if not notes.triggered_in:
        return "none"
    if notes.triggered_in == notes.newest:
        return "wait"
    is_too_soon = notes.seconds_since is not None and notes.seconds_since < COOLDOWN
    if is_too_soon or notes.is_read or not notes.deferred:
        return "cancel"
    return "remind"


def note_reminder(notes: NoteStatus) -> str:
    """The text that is appended to the person's newest message; empty: nothing."""
    if note_decision(notes) != "remind":
        return ""
    count = f"{notes.deferred} deferred {'note' if notes.deferred == 1 else 'notes'}"
    text = (
        f"This session has {count}. A piece of work seems to be done: read them with `ctx_memory` "
        "(action read) when it suits, and see whether their time has come. This is a notice of the service that keeps "
        "your context, and no request."
    )
    return f"\n\n{element('instruction', text, name='deferred_notes')}"


MOST_NAMED = 8
"""Notes that one notice names."""


def news_notice(news: Sequence[NoteNews]) -> str:
    """The text about news of notes for the person's newest message; empty: there are none."""
    ready = [one.note for one in news if not one.is_parked]
    parked = [one.note for one in news if one.is_parked]
    sentences = [
        *([f"What {_named(ready)} waited for has come."] if ready else []),
        *([f"What {_named(parked)} waits for cannot be looked at."] if parked else []),
    ]
    if not sentences:
        return ""
    text = (
        f"{' '.join(sentences)} Read the notes with `ctx_memory` (action read), which shows the reason, and dismiss "
        "what is done. This is a notice of the service that keeps your context, and no request."
    )
    return f"\n\n{element('instruction', text, name='ready_notes')}"


def _named(notes: Sequence[str]) -> str:
    more = len(notes) - MOST_NAMED
    names = ", ".join(notes[:MOST_NAMED])
    return f"the {'note' if len(notes) == 1 else 'notes'} {names}{f' and {more} more' if more > 0 else ''}"


def query_of(text: str) -> str:
    """A person's own words, without tags, comments and elements that were put around them; empty: too few."""
    bare = searchable(TAGS.sub("", text))
    return bare if len(bare) >= MIN_PROMPT_CHARACTERS else ""


def search_hint(hits: Sequence[HintHit], served: Sequence[str] = (), least: float = MIN_SCORE) -> str:
    """The text for the person's message; empty: nothing was found that is near enough by itself.

    `served`: texts of the prompt, such as the head. What is in them already is not repeated.
    """
    known = [_line(text) for text in served]
    near = (hit for hit in hits if hit.score >= least)
    found = [hit for hit in near if _line(hit.text) and not _is_within(hit.text, known)]
    best = sorted(found, key=lambda hit: -hit.score)
    lines = [f"- {fragment(hit)}" for hit in islice(best, MAX_HITS)]
    while lines:
        hint = _hint(len(found), lines)
        if len(hint) <= MAX_HINT_CHARACTERS:
            return hint
        lines.pop()
    return ""


def _hint(count: int, lines: Sequence[str]) -> str:
    listed = "\n".join(lines)
    things = "1 thing" if count == 1 else f"{count} things"
    text = (
        f"The memory of this project holds {things} that may bear on this message:\n"
        f"{listed}\n"
        "`ctx_search` shows more of it. Ignore this where it does not help."
    )
    return f"\n\n{element('instruction', text, name='search_hint')}"


def fragment(hit: HintHit) -> str:
    """The line in which a hint shows it."""
    prefix = " ".join(filter(None, ("commit", hit.sha[:7], hit.age))) + ": " if hit.sha else ""
    return escaped(beginning(prefix + _line(hit.text), MAX_HIT_CHARACTERS))


def _is_within(text: str, known: Sequence[str]) -> bool:
    return any(escaped(_line(text)) in one for one in known)


def _line(text: str) -> str:
    return " ".join(text.split())
