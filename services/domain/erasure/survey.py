"""A survey of a log's sessions, memories and notes, and what belongs to each, before any of them is erased."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

import msgspec

from schemas.events import (
    AliasAdded,
    AliasRemoved,
    CompartmentSealed,
    Event,
    HintDecided,
    MemoryArchived,
    MemoryDivided,
    MemoryJudged,
    MemoryMerged,
    MemoryProposed,
    MemoryReinforced,
    MemoryRevised,
    MemoryWritten,
    MessageRecorded,
    NoteWritten,
    PlanExtended,
    PlanRebased,
    ProfileBound,
    ProfileObserved,
    QuestionPut,
    SessionForked,
    SessionOpened,
    ToolRan,
)
from schemas.subjects import Address
from services.domain import aliases
from services.domain.aliases import Aliases
from services.domain.erasure.scope import ErasureScope, place_of
from services.domain.erasure.secret import MASK, SHORTEST, Masks, TooShort, spellings
from services.domain.record import Record, read_record
from services.domain.senders import PEOPLE
from services.domain.texts.bounds import beginning, flat
from services.domain.texts.line import LONGEST, plain, shorter

REASON = "erased"
"""The reason for which an erased memory is archived."""
EXCERPT_CHARACTERS = (LONGEST, 80)
"""The lengths in characters at which a head, a hint or a judgement may show a memory's text."""
DREAMER = "dreamer"
"""The trust of what the dreamer has made of memories."""
SEARCHER = "searcher"
"""The room whose questions quote what it has found, in whichever sessions of the project that is."""
_READ = frozenset(
    {"session", "tool", "message", "compartment", "memory", "note", "plan", "hint", "alias", "profile", "question"}
)
"""Nouns of the facts that are looked at."""


class Unknown(ValueError):
    """The log does not have what is to be erased; the message names what it has."""


class MemoryTrace(msgspec.Struct):
    """The traces of one memory in the log."""

    texts: set[str] = set()
    previews: set[str] = set()
    origins: set[str] = set()
    """The sessions that it came from, or was seen in; empty: somebody wrote it outside of any session."""
    sources: set[str] = set()
    """Memories that were merged into it."""
    is_of_person: bool = False
    """Whether a person wrote it, or has approved or changed it."""
    is_erased: bool = False


class Survey:
    """A log, read once."""

    def __init__(self) -> None:
        self.facts: Counter[Address] = Counter()
        self.memories: dict[tuple[str, str], MemoryTrace] = {}
        self._notes: dict[tuple[str, str], str] = {}
        self._members: dict[Address, dict[Address, None]] = {}
        self._names: dict[Address, list[str]] = {}
        self._left_open: dict[Address, dict[str, set[str]]] = {}
        self._hints: list[tuple[Address, HintDecided]] = []
        self._aliases = Aliases()
        self._owners: dict[Address, str] = {}
        self._traits: dict[str, dict[str, set[Address]]] = {}
        self._questions: dict[tuple[str, str], tuple[str, str]] = {}

    def add(self, subject: str, data: bytes) -> None:
        """One record."""
        place = place_of(subject)
        if place is None:
            return
        self.facts[place.address] += 1
        if place.noun in _READ:
            record = read_record(subject, data, 0)
            if record.event is not None:
                self._enter(place.address, record, record.event)

    def _enter(self, address: Address, record: Record, event: Event) -> None:
        match event:
            case SessionOpened(parent=name) | SessionForked(origin=name) if name:
                self._belongs(address, Address(address.project, name))
            case ToolRan(child=name) if name:
                self._belongs(Address(address.project, name), address)
            case MessageRecorded(message=name) | CompartmentSealed(compartment=name):
                self._names.setdefault(address, []).append(name)
            case NoteWritten(note=name, origin=origin):
                self._notes[address.project, name] = origin or address.session
            case PlanExtended(predecessor=name, left_open=lines) | PlanRebased(predecessor=name, left_open=lines) if (
                name
            ):
                self._left_open.setdefault(address, {}).setdefault(name, set()).update(lines)
            case HintDecided():
                self._hints.append((address, event))
            case QuestionPut(question=name, purpose=purpose, origin=origin):
                self._questions[address.project, name] = purpose, origin
            case AliasAdded() | AliasRemoved():
                self._aliases = aliases.evolve(self._aliases, event, record.envelope)
            case ProfileBound(person=person, origin_project=project, origin=session) if person:
                self._owners[Address(project, session)] = person
            case ProfileObserved(person=person, origin_project=project, origin=session, text=text):
                sessions = self._traits.setdefault(person, {}).setdefault(flat(text), set())
                sessions.add(Address(project, session))
            case _:
                self._enter_memory(address.project, record, event)

    def _belongs(self, member: Address, to: Address) -> None:
        if member != to:
            self._members.setdefault(to, {})[member] = None

    def _enter_memory(self, project: str, record: Record, event: Event) -> None:
        is_person = record.envelope.actor.kind == "person"
        match event:
            case MemoryWritten() | MemoryProposed() | MemoryRevised() | MemoryMerged():
                trace = self._trace(project, event.memory)
                sources = _sources(event)
                trace.texts.add(event.text)
                trace.texts.update(event.parts if isinstance(event, MemoryProposed) else ())
                trace.sources.update(sources)
                if _is_derived(event):
                    trace.origins.update(*(self._trace(project, name).origins for name in sources))
                else:
                    trace.origins.add(event.origin)
                trace.is_of_person |= is_person or event.trust in PEOPLE
            case MemoryDivided(memory=name):
                whole = self._trace(project, name)
                for part, text in zip(event.parts, event.texts, strict=False):
                    trace = self._trace(project, part)
                    trace.texts.add(text)
                    trace.sources.add(name)
                    trace.origins.update(whole.origins)
                    trace.is_of_person |= is_person or whole.is_of_person or event.trust in PEOPLE
            case MemoryReinforced(memory=name, origin=origin) if origin:
                self._trace(project, name).origins.add(origin)
            case MemoryJudged(memory=name, preview=preview) if name:
                self._trace(project, name).previews.add(preview)
            case MemoryArchived(memory=name, reason=reason) if reason == REASON:
                self._trace(project, name).is_erased = True

    def _trace(self, project: str, name: str) -> MemoryTrace:
        return self.memories.setdefault((project, name), MemoryTrace())

    def of_session(self, session: str) -> ErasureScope:
        """A session, those that its agents started, and copies of it; with what was derived of these alone.

        Raises `Unknown`.
        """
        begun = {one for one in self.facts if session and one.session == session}
        if not begun:
            raise Unknown(f"the log has no session {session!a}; `annals sql 'select * from sessions'` lists them all")
        sessions = frozenset(self._family(begun))
        ids = frozenset(one.session for one in sessions)
        memories = frozenset(
            key for key, one in self.memories.items() if not one.is_of_person and one.origins and one.origins <= ids
        )
        notes = frozenset(key for key, origin in self._notes.items() if origin in ids)
        quoted = frozenset(name for one in sessions for name in self._names.get(one, ())) | _ids(memories | notes)
        return ErasureScope(
            derived=self._masks(memories),
            in_notices=self._in_notices(memories),
            sessions=sessions,
            session_ids=ids,
            memories=memories,
            to_archive=self._live(memories),
            notes=notes,
            questions=frozenset(self._questions_of(ids, {self._aliases.project(one.project) for one in sessions})),
            quoted=quoted,
            in_prompts=self._in_prompts(ids, quoted, sessions),
        )

    def _questions_of(self, ids: Collection[str], projects: Collection[str]) -> Iterator[tuple[str, str]]:
        """Questions that were asked for these sessions, and such as may quote them."""
        for (project, name), (purpose, origin) in self._questions.items():
            if origin in ids or (purpose == SEARCHER and self._aliases.project(project) in projects):
                yield project, name

    def _family(self, begun: Iterable[Address]) -> Iterator[Address]:
        known: dict[Address, None] = {}
        left = [*begun]
        while left:
            one = left.pop()
            if one not in known:
                known[one] = None
                left += self._members.get(one, ())
        return iter(known)

    def _in_prompts(
        self, ids: frozenset[str], quoted: frozenset[str], sessions: frozenset[Address] = frozenset()
    ) -> Mapping[Address, Masks]:
        """Texts in prompts of other sessions: lines that these sessions left open, quotations in hints, and traits."""
        texts = self._traits_in_heads(lambda one: one in sessions)
        for address, left_open in self._left_open.items():
            for name, lines in left_open.items():
                if name in ids:
                    texts.setdefault(address, set()).update(lines)
        for address, hint in self._hints:
            found = {text for name, text in zip(hint.ids, hint.texts, strict=False) if name in quoted}
            if found:
                texts.setdefault(address, set()).update(*map(_variants, found))
        return {address: masks_of(found) for address, found in texts.items()}

    def _traits_in_heads(self, goes: Callable[[Address], bool]) -> dict[Address, set[str]]:
        """Traits in heads of other sessions, of a profile that was stated only in sessions that go."""
        texts: dict[Address, set[str]] = {}
        for session, person in self._owners.items():
            found = {
                variant
                for text, stated in self._traits.get(person, {}).items()
                if all(map(goes, stated))
                for variant in _variants(text)
            }
            if found and not goes(session):
                texts[session] = found
        return texts

    def of_memories(self, names: Iterable[str]) -> ErasureScope:
        """Memories of these ids, in whichever project, with their texts wherever they occur.

        Raises `Unknown`, and `TooShort` where a text is too short to be masked by itself.
        """
        found: set[tuple[str, str]] = set()
        for name in names:
            same = {key for key in self.memories if key[1] == name}
            same = same or {key for key in self.memories if name and key[1].startswith(name)}
            if not same:
                raise Unknown(f"the log has no memory {name!a}; `annals memory list` shows all of a project")
            if len({one for _, one in same}) > 1:
                raise Unknown(f"the ids of {len(same)} memories begin with {name!a}; give more of it")
            found |= same
        memories = frozenset(found)
        for key in sorted(memories):
            name = key[1]
            short = next((text for text in self.memories[key].texts if len(text) < SHORTEST), None)
            if short is not None:
                raise TooShort(
                    f"the memory {name} has {len(short)} characters, and masking so few would tear other words apart; "
                    f"archive it with `annals memory archive {name}`"
                )
        quoted = _ids(memories)
        return ErasureScope(
            masks=self._masks(memories),
            in_notices=self._in_notices(memories),
            memories=memories,
            to_archive=self._live(memories),
            quoted=quoted,
            in_prompts=self._in_prompts(frozenset(), quoted),
        )

    def _live(self, memories: frozenset[tuple[str, str]]) -> frozenset[tuple[str, str]]:
        return frozenset(key for key in memories if not self.memories[key].is_erased)

    def merged_from(self, memories: frozenset[tuple[str, str]]) -> tuple[str, ...]:
        """Other memories whose words were made of these."""
        return tuple(
            sorted(
                name
                for (project, name), one in self.memories.items()
                if (project, name) not in memories and any((project, source) in memories for source in one.sources)
            )
        )

    def of_project(self, project: str) -> ErasureScope:
        """A project under all names that lead to it now, with its sessions, its memory and its commits.

        What a person has separated from it stays. Raises `Unknown`.
        """
        names = {*self._aliases.below(project)}
        known = {one.project for one in self.facts} & names
        if not known or not project:
            raise Unknown(f"the log has no project {project!a}; `annals project list` shows all of them")
        traits = self._traits_in_heads(lambda one: one.project in names)
        return ErasureScope(
            projects=frozenset(names), in_prompts={address: masks_of(found) for address, found in traits.items()}
        )

    def _in_notices(self, memories: Iterable[tuple[str, str]]) -> Masks:
        lines = {plain(text) for key in memories for text in self.memories[key].texts}
        return masks_of(text.removesuffix("…") for line in lines for text in shorter(line))

    def _masks(self, memories: Iterable[tuple[str, str]]) -> Masks:
        texts: set[str] = set()
        for key in memories:
            one = self.memories[key]
            texts.update(*map(_variants, one.texts), (preview.removesuffix("…") for preview in one.previews))
        return masks_of(texts)


def _sources(event: Event) -> Sequence[str]:
    """The other memories that one was made of, or would change."""
    match event:
        case MemoryMerged(sources=names) | MemoryProposed(targets=names):
            return names
        case _:
            return ()


def _is_derived(event: MemoryWritten | MemoryProposed | MemoryRevised | MemoryMerged) -> bool:
    """Whether its words are those of memories that were there already: the dreamer has no others.

    A change that an agent proposes has the words of its session.
    """
    is_change = isinstance(event, MemoryProposed) and bool(event.change)
    return event.trust == DREAMER or (is_change and not event.origin)


def _ids(memories: Iterable[tuple[str, str]]) -> frozenset[str]:
    return frozenset(name for _, name in memories)


def _variants(text: str) -> Iterator[str]:
    """A text as it was written, and as heads, hints and judgements show it."""
    yield text
    for line in (flat(text), plain(text)):
        yield line
        for most in EXCERPT_CHARACTERS:
            yield beginning(line, most).removesuffix("…")


def masks_of(texts: Iterable[str]) -> Masks:
    """The masks of several texts. Those that are too short to be masked by themselves are left out."""
    found: dict[bytes, bytes] = {}
    for text in texts:
        if len(text) >= SHORTEST and text.split() and text not in MASK:
            found |= spellings(text)
    return dict(sorted(found.items(), key=lambda pair: -len(pair[0])))
