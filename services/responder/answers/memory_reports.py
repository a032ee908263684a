"""Reports on a project's memory: values in, a reply out."""

from __future__ import annotations  # the persistent map cannot be subscripted at run time

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import get_args

import msgspec

from schemas.asks import HiddenMemory, JunkRate, MemoryAsk, MemoryEntry, MemoryReply, MemorySource, NoteEntry
from schemas.events.fact import CATEGORIES
from schemas.events.memory import TRUSTS, VERDICTS
from services.domain.conditions import FORMS, words_of
from services.domain.finding import echo, find
from services.domain.limits import MemoryLimits
from services.domain.newest import NewestMap
from services.domain.often import quantity
from services.domain.texts.bounds import flat
from services.domain.texts.line import plain
from services.domain.tokens import BYTES_PER_TOKEN
from services.memory.entry import Memory, Note, Status
from services.memory.policy import action_for
from services.memory.remembered import MemoryShelf, Remembered
from services.memory.rendering import NO_ROOM, Choice, Profile, Reason, hidden_since, profile_of, twins
from services.memory.strength import dormant_days, ranked, strength
from services.memory.twin_pairs import TwinPairs
from services.plan.head.memories import chosen

PAGE = 1_000
"""Memories of one page of a list."""
MOST_LINES = 200
"""Lines of a list in words."""
READ_TOKENS = 5_000
"""The most that an agent is given to read at once."""
LATER = "…"
IN_WORDS = (
    f"Nothing looks at a condition in words, and nothing waits for it. One that is looked at is {FORMS['date']}, "
    f"{FORMS['passed']}, or words with all names in them that a model of the dreamer translates."
)
"""The line behind notes with such conditions: how to give one that is looked at."""
MOST_COMPARED = 4
"""Projects of which is known which memories say nearly the same."""
STATUSES: tuple[str, ...] = get_args(Status)


class BadMemoryAsk(ValueError):
    """A question that has no answer; says what would have one."""


class KnownMemory(msgspec.Struct, frozen=True):
    """The knowledge of a project at one position of the log."""

    project: str
    remembered: Remembered
    limits: MemoryLimits
    at: datetime
    """The moment at which strength is computed."""
    position: int

    @property
    def choice(self) -> Choice:
        """The memories that a head shows if it is made now, and the reasons why it does not show the rest."""
        return chosen(self.remembered, self.limits, self.at)

    @property
    def profile(self) -> Profile:
        """The part of it that a head shows."""
        return profile_of(self.limits)

    @property
    def dormant(self) -> list[tuple[float, float]]:
        return dormant_days(((one.since, one.until) for one in self.remembered.book.pauses), None, self.at)

    def reply(self, text: str) -> MemoryReply:
        return MemoryReply(text=text, project=self.project, as_of=self.position)


def listing(known: KnownMemory, ask: MemoryAsk, most: int = 0) -> MemoryReply:
    """All memories of a project, or those of one status or id: those that hold first, the strongest before others.

    `most`: how many a page has; 0: as many as pages have otherwise.
    """
    wanted, size = _wanted(known, ask), most or PAGE
    begin = (ask.page - 1) * size
    if ask.page < 1 or (begin >= len(wanted) and ask.page > 1):
        raise BadMemoryAsk(f"there is no page {ask.page}: the list has {max(1, -(-len(wanted) // size))}")
    choice, dormant = known.choice, known.dormant
    in_head, omitted = {one.memory.id for one in choice.memories}, dict(choice.omitted)
    entries = tuple(
        _entry(one, strength(one, known.at, dormant), is_shown=one.id in in_head, reason=omitted.get(one.id))
        for one in wanted[begin : begin + size]
    )
    return msgspec.structs.replace(
        known.reply(_list_text(entries, len(wanted) - begin)),
        memories=entries,
        counts=_by_status(known.remembered.shelf),
        more=begin + size < len(wanted),
    )


def _wanted(known: KnownMemory, ask: MemoryAsk) -> list[Memory]:
    if ask.id:
        return [find(known.remembered.book.memories, ask.id, "memory", "memories")]
    if ask.filter and ask.filter not in STATUSES:
        raise BadMemoryAsk(f"{echo(ask.filter)} is no status of a memory; use one of {', '.join(STATUSES)}")
    shelf = known.remembered.shelf
    listed = ranked(shelf, known.at, known.dormant, fadings=shelf.fadings)
    if ask.filter:
        listed = [one for one in listed if one.status == ask.filter]
    gone = sorted((one for one in listed if not one.is_active), key=lambda one: -one.seq)
    return [*(one for one in listed if one.is_active), *gone] if gone else listed


def _entry(memory: Memory, of_strength: float, *, is_shown: bool, reason: Reason | None) -> MemoryEntry:
    return MemoryEntry(
        id=memory.id,
        category=memory.category,
        kind=memory.memory_class,
        text=memory.text,
        status=memory.status,
        rendered=is_shown,
        omitted=reason or "",
        strength=round(of_strength, 6),
        pinned=memory.is_pinned,
        trust=memory.trust,
        verification=memory.verification,
        expires_at=memory.expires_at.isoformat() if memory.expires_at else "",
        seen=memory.seen,
        sources=tuple(MemorySource(one.actor, one.session, one.message, one.seq, one.run) for one in memory.sources),
        importance=memory.importance,
        change=memory.change.kind if memory.change else "",
        targets=tuple(name for name, _ in memory.change.targets) if memory.change else (),
        reason=memory.change.reason if memory.change else "",
        parts=memory.change.parts if memory.change else (),
    )


def _by_status(memories: Iterable[Memory]) -> dict[str, int]:
    found = Counter(one.status for one in memories)
    return {status: found[status] for status in STATUSES if found[status]}  # type: ignore[index] # its own names


def _list_text(entries: Sequence[MemoryEntry], count: int) -> str:
    if not entries:
        return "Nothing is remembered of this project that the question asks for."
    lines = [
        f"{one.id}  {one.status:<11} {one.strength:5.2f}  {one.category:<13} {'*' if one.rendered else ' '} {one.text}"
        f"{' (pinned)' if one.pinned else ''}"
        for one in entries[:MOST_LINES]
    ]
    return "\n".join([*lines, *([f"{LATER} and {count - len(lines)} more"] if count > len(lines) else [])])


def missing(known: KnownMemory) -> MemoryReply:
    """The active memories that new sessions do not get: how many by reason, and each with its fact."""
    holding = {one.id: one for one in known.remembered.shelf if one.is_active}
    choice = known.choice
    counts = Counter(str(reason) for name, reason in choice.omitted if name in holding)
    total = len(holding) - len(choice.memories)
    return msgspec.structs.replace(
        known.reply(f"{total} of {len(holding)} active memories are not in the head of new sessions."),
        counts=dict(sorted(counts.items())),
        total=total,
        hidden=(*_hidden(known, holding, choice),),
    )


def _hidden(known: KnownMemory, holding: Mapping[str, Memory], choice: Choice) -> Iterator[HiddenMemory]:
    """The strongest of them first, as many as a list has lines."""
    omitted = [(name, reason) for name, reason in choice.omitted if name in holding][:MOST_LINES]
    since: Mapping[str, int] = {}
    if any(reason in NO_ROOM for _, reason in omitted):
        since = hidden_since(known.remembered.shelf, known.at, known.dormant, known.profile)
    twins = dict(choice.twins)
    for name, reason in omitted:
        memory = holding[name]
        yield HiddenMemory(
            id=name,
            reason=reason,
            since=since.get(name, memory.seq),
            pinned=memory.is_pinned,
            stands=twins.get(name, ""),
            text=plain(memory.text),
        )


def missing_text(reply: MemoryReply, times: Mapping[int, datetime]) -> str:
    """The missing memories in words, with the time of each fact."""
    lines = [f"{reason}: {count}" for reason, count in reply.counts.items()]
    for one in reply.hidden:
        at = times.get(one.since)
        when = f"{at:%Y-%m-%d %H:%M} (fact {one.since})" if at else f"fact {one.since}"
        why = f"{one.stands} represents both" if one.stands else one.reason
        lines.append(f"{one.id}  since {when}  {why}{'  pinned' if one.pinned else ''}  {one.text}")
    more = reply.total - len(reply.hidden)
    return "\n".join([reply.text, *lines, *([f"{LATER} and {more} more"] if more > 0 else [])])


def repeating(known: KnownMemory, found: TwinPairs | None = None) -> MemoryReply:
    """The active memories that say nearly the same as a stronger one: for whoever makes one of them.

    `found`: what is known of them already; None: they are compared.
    """
    shelf = known.remembered.shelf
    strongest = (one for one in ranked(shelf, known.at, known.dormant, fadings=shelf.fadings) if one.is_active)
    pairs = [*(twins(strongest) if found is None else found.among(strongest))]
    lines = [f"{one.id} is like {other.id}: {plain(one.text)}" for one, other in pairs[:MOST_LINES]]
    text = "\n".join([f"{quantity(len(pairs), 'memory', 'memories')} may say the same as a stronger one.", *lines])
    return msgspec.structs.replace(
        known.reply(text), total=len(pairs), twins=tuple((one.id, other.id) for one, other in pairs)
    )


class TwinsOfProjects:
    """A cache of memories that are nearly the same. For a project that is cached already only news is compared."""

    def __init__(self) -> None:
        self._newest = NewestMap[str, tuple[MemoryShelf, TwinPairs]](MOST_COMPARED)
        """Those that were asked about last, the newest last."""

    def of(self, project: str, shelf: MemoryShelf) -> TwinPairs:
        """The pairs of a project that remembers this. To be called by one thread at a time: the first time takes long.

        An error in between leaves nothing behind: then they are compared anew.
        """
        before, pairs = self._newest.pop(project, (MemoryShelf(), TwinPairs()))
        changes = [*shelf.since(before)]
        gone = [was.id for was, now in changes if was is not None and (now is None or now.id != was.id)]
        pairs.update(gone, (now for _, now in changes if now is not None))
        self._newest[project] = shelf, pairs
        return pairs


NOTE_STATUSES = ("active", "ready", "parked", "dismissed")


def notes_reply(known: KnownMemory, ask: MemoryAsk) -> MemoryReply:
    """The notes of all sessions, or of one, that wait; or those of another status."""
    if ask.filter and ask.filter not in NOTE_STATUSES:
        raise BadMemoryAsk(f"{echo(ask.filter)} is no status of a note; use one of {', '.join(NOTE_STATUSES)}")
    notes = sorted(known.remembered.book.notes.values(), key=lambda note: -note.seq)
    wanted = [
        one
        for one in notes
        if (one.stage == ask.filter if ask.filter else one.status == "active")
        and (not ask.session or one.session == ask.session)
    ]
    lines = [
        f"{one.id}  {one.changed:%Y-%m-%d %H:%M}  {one.session or 'project'}  {plain(one.text)}{_waits(one)}"
        for one in wanted[:MOST_LINES]
    ]
    more = [f"{LATER} and {len(wanted) - len(lines)} more"] if len(wanted) > len(lines) else []
    more += [IN_WORDS] if any(map(_is_in_words, wanted[:MOST_LINES])) else []
    return msgspec.structs.replace(
        known.reply("\n".join([*lines, *more]) or _no_note(ask, notes)),
        notes=tuple(
            NoteEntry(
                one.id, one.text, one.session, one.stage, one.condition, one.changed, one.reason, _translation(one)
            )
            for one in wanted[:PAGE]
        ),
        total=len(wanted),
    )


def _no_note(ask: MemoryAsk, notes: Sequence[Note]) -> str:
    """The sentence for a note that does not exist."""
    if not notes:
        return "This project has no notes."
    if ask.filter or ask.session:
        return "There is no such note."
    return "No note of this project waits: all of them are dismissed."


AROUND = 300
"""Characters before and behind a sentence that are repeated of its message."""


def around(text: str, sentence: str) -> str:
    """The words of a message around a sentence of it, or its beginning."""
    plain_text = flat(text)
    at = max(plain_text.find(sentence[:40]), 0)
    start, end = max(0, at - AROUND), at + len(sentence) + AROUND
    return f"{LATER if start else ''}{plain_text[start:end]}{LATER if end < len(plain_text) else ''}"


def policy(known: KnownMemory) -> MemoryReply:
    """The policy for candidates, by their trust."""
    found = known.remembered.book.policy
    actions = {trust: action_for(found, trust) for trust in TRUSTS}
    lines = [f"{trust:<12} {action}{'' if trust in found else '  (by default)'}" for trust, action in actions.items()]
    return msgspec.structs.replace(known.reply("\n".join(lines)), policy=actions)


def quality(known: KnownMemory) -> MemoryReply:
    """The results of candidates, each by its last judgement; and the share of junk in what was taken in, by source."""
    found = known.remembered.book.verdicts
    counts = {verdict: found.get(verdict, 0) for verdict in VERDICTS}
    total = len(known.remembered.book.candidates)
    rejected = Counter(
        reason
        for one in known.remembered.book.candidates.values()
        if one.verdict == "rejected"
        for reason in one.reasons
    )
    reasons = dict(sorted(rejected.items(), key=lambda item: (-item[1], item[0])))
    junk = (*_junk(known.remembered.shelf),)
    lines = [f"candidates: {total}", *(f"{verdict}: {count}" for verdict, count in counts.items())]
    if reasons:
        lines.append(f"rejected for: {', '.join(f'{reason} {count}' for reason, count in reasons.items())}")
    lines += [_rate(one) for one in junk]
    return msgspec.structs.replace(
        known.reply("\n".join(lines)), counts=counts, total=total, reasons=reasons, junk=junk
    )


SAMPLE = {"person": (3, 24), "historian": (0, 11)}
"""Source -> junk, and memories that hold, of what this release remembers of sixteen recorded sessions, by labels."""
JUNK: tuple[Status, ...] = ("rejected", "archived", "quarantined")
"""The statuses that junk ends in, once somebody has looked at it."""


def _junk(memories: Iterable[Memory]) -> Iterator[JunkRate]:
    """Junk by source, as people and agents have decided; proposals that only wait are not counted."""
    of = {source: [one for one in memories if one.trust == source and one.status != "pending"] for source in TRUSTS}
    for source, found in of.items():
        junk = sum(one.status in JUNK for one in found)
        if found or source in SAMPLE:
            yield JunkRate(source, junk, len(found), *SAMPLE.get(source, (0, 0)))


def _rate(one: JunkRate) -> str:
    share = f", {100 * one.junk / one.total:.0f} %" if one.total else ""
    sample = f"; in recorded sessions {one.sample_junk} of {one.sample_total} by labels" if one.sample_total else ""
    return f"junk from {one.source}: {one.junk} of {one.total} were taken back{share}{sample}"


def reading(known: KnownMemory, session: str, wanted: str) -> MemoryReply:
    """For an agent: what holds, by category and with ids, and the session's notes; as much as it may read at once."""
    shelf = known.remembered.shelf
    memories = ranked(shelf, known.at, known.dormant, fadings=shelf.fadings)
    notes = [one for one in known.remembered.book.notes.values() if one.status == "active"]
    mine = sorted((one for one in notes if one.announced or one.session in ("", session)), key=lambda one: one.seq)
    lines = [*_memory_lines((one for one in memories if one.is_active), wanted), *_note_lines(mine, wanted)]
    if not lines:
        what = f" that holds {echo(wanted)}" if wanted else ""
        return known.reply(f"Nothing is remembered of this project{what}, and no note waits.")
    return known.reply("\n".join(_fitting(lines)))


_Line = str | Memory | Note
"""A line to read, or what it is made of: of thousands few are read."""


def _memory_lines(memories: Iterable[Memory], wanted: str) -> Iterator[_Line]:
    by_category: dict[str, list[Memory]] = {}
    for one in memories:
        if _is_wanted(wanted, one.category, one.text):
            by_category.setdefault(one.category, []).append(one)
    for category in sorted(by_category, key=_place):
        yield f"## {category}"
        yield from by_category[category]


def _place(category: str) -> tuple[int, str]:
    return ([*CATEGORIES].index(category), "") if category in CATEGORIES else (len(CATEGORIES), category)


def _marks(memory: Memory) -> str:
    marks = ["pinned"] if memory.is_pinned else []
    marks += [memory.verification] if memory.verification != "unverified" else []
    return f" ({', '.join(marks)})" if marks else ""


def _note_lines(notes: Iterable[Note], wanted: str) -> Iterator[_Line]:
    found = [one for one in notes if _is_wanted(wanted, "notes", f"{one.text} {one.condition}")]
    if found:
        yield "## Notes"
        yield from found
        if any(map(_is_in_words, found)):
            yield IN_WORDS


def _written(line: _Line) -> str:
    match line:
        case Memory():
            return f"- [{line.id}] {plain(line.text)}{_marks(line)}"
        case Note():
            return f"- [{line.id}] {plain(line.text)}{_waits(line)}"
        case _:
            return line


def _waits(note: Note) -> str:
    """The condition of a note, or its result."""
    if not note.condition:
        return ""
    came_of_it = f"; {note.stage}: {plain(note.reason)}" if note.announced else ""
    if _is_in_words(note):
        came_of_it = f"; nothing looks: {plain(note.reason)}" if note.translated else "; nothing looks so far"
    elif note.translated and note.waits_for is not None:
        came_of_it = f"; looked at as: {plain(_translation(note))}{came_of_it}"
    return f" (when: {plain(note.condition)}{came_of_it})"


def _is_in_words(note: Note) -> bool:
    """Whether a note waits for words that nothing looks at."""
    return note.status == "active" and bool(note.condition) and note.waits_for is None


def _translation(note: Note) -> str:
    """The condition that the words of a note were translated into; empty: they were not."""
    return words_of(note.waits_for, note.zone) if note.translated and note.waits_for is not None else ""


def _is_wanted(wanted: str, category: str, text: str) -> bool:
    """Whether the category is meant, or every word is in the text."""
    if not wanted or wanted.upper() == category.upper():
        return True
    low = text.lower()
    return all(word in low for word in wanted.lower().split())


def _fitting(lines: Sequence[_Line]) -> Iterator[str]:
    """As many whole lines as may be read at once, and how many more there are."""
    room = READ_TOKENS * BYTES_PER_TOKEN
    for number, line in enumerate(map(_written, lines)):
        room -= len(line.encode()) + 1
        if room < 0:
            yield f"{LATER} {len(lines) - number} more lines: give `filter` a word or a category"
            return
        yield line
