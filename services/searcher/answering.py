"""One question from its words to the hits: what it is understood as, where to look, and what is answered."""

import asyncio
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from difflib import get_close_matches

import msgspec
import numpy as np

from schemas.asks import Embedded
from schemas.codec import encode
from schemas.search_asks import Hit, Hits, IndexPosition, IndexPositionAsk, SearchAsk, Served, ServedAsk
from schemas.subjects import ask as subject_of
from schemas.tools import Source
from services.domain.often import quantity
from services.domain.search.answer_text import AROUND, answer_text
from services.domain.search.fragments import fragment
from services.domain.search.literals import NamesAsked, ids, is_ticket, literals, names_asked
from services.domain.search.rows import BY_NAME, KINDS, Kind, row_id
from services.domain.search.words import words
from services.kit.bus import BrokerError, TooLarge, Unreachable
from services.kit.embed import embedded
from services.kit.index_place import Current
from services.kit.nouns import AliasReader
from services.kit.room import Kit
from services.kit.vectors import VectorsError
from services.searcher.asker import Asker
from services.searcher.copies import FACTS, TEXT, Facts
from services.searcher.core.query import query_of
from services.searcher.core.shelf import Scope
from services.searcher.finding import FoundRow, ShelfQuery
from services.searcher.naming import named, session_named
from services.searcher.outputs import find_with_names
from services.searcher.store import BEARABLE, OLD, ProjectShelves, SearchStore
from services.searcher.stored_shelf import StoredShelf, condition, read
from services.searcher.written import ConfirmedWrites

MOST_CHARACTERS = 10_000
"""Of a query; what is behind them is not read."""
SERVED_TIMEOUT = 0.5
PATIENCE, POLL = 2.0, 0.02
"""Seconds that a search waits for the index to read up to a position."""
END = sys.maxsize
"""A position that no log reaches: that of something whose position nobody knows."""
MOST_FILES = 5
URGENT = 500
"""Milliseconds below which an asker cannot wait: the search uses shelves as they were, and looks for nothing else."""
NOT_INDEXED = "nothing is indexed of the session"
MOST_UNKNOWN = 5
"""Sessions of which nothing is indexed that are named, each with those that are called like it."""
MOST_IN_PROMPT = 3
"""Hits at most that are named as being in the prompt already."""

_facts = msgspec.msgpack.Decoder(Facts)
_served = msgspec.json.Decoder(Served)


class Preparation(msgspec.Struct, frozen=True):
    """The preparation of a question, once for all names of its project: each name is searched with it."""

    query: str
    kinds: tuple[Kind, ...]
    vector: Embedded
    served: Served
    degraded: tuple[str, ...]
    """The parts that could not be done so far, a sentence each."""


class SearchAnswerer:
    """Answers questions with what the store holds."""

    def __init__(self, kit: Kit, store: SearchStore, written: ConfirmedWrites, aliases: AliasReader) -> None:
        self._kit = kit
        self._store = store
        self._written = written
        self._aliases = aliases
        self._arm = kit.settings.search.ranking
        self._quarantined: dict[str, Served] = {}
        """Project -> what was quarantined when that was last known, where something was."""

    async def answer(self, asker: Asker, ask: SearchAsk) -> Hits:
        """The hits under all names of the project. What could not be done is reported, and the rest is done."""
        names = (await self._aliases.now()).names(asker.project)
        query = ask.query[:MOST_CHARACTERS].strip()
        if not query.replace("\0", "").strip():
            return Hits(error="Nothing was searched for: give some words as query.")
        kinds, notes = _sources(ask.sources)
        if not kinds:
            return Hits(error=f"Nothing was searched: {'; '.join(notes)}.")
        with self._store.searched():
            vector, served = await asyncio.gather(self._embedded(query), self._served(asker, notes))
            prepared = Preparation(query, kinds, vector, served, tuple(notes))
            replies = await asyncio.gather(
                *(self._answer(asker._replace(project=name), ask, prepared) for name in names)
            )
        return replies[0] if len(replies) == 1 else self._together(replies, asker, ask)

    def _together(self, replies: Sequence[Hits], asker: Asker, ask: SearchAsk) -> Hits:
        """One reply of those for each name of the project."""
        hits = sorted((hit for reply in replies for hit in reply.hits), key=lambda hit: -hit.score)
        if ask.group:
            hits = _one_of_each_session(hits)
        unknown = tuple(name for name in replies[0].unknown if all(name in reply.unknown for reply in replies))
        whole = msgspec.structs.replace(
            replies[0],
            hits=tuple(hits[: max(1, min(ask.limit, asker.most))]),
            session=next((reply.session for reply in replies if reply.session), None),
            in_prompt=() if hits else tuple(hit for reply in replies for hit in reply.in_prompt)[:MOST_IN_PROMPT],
            unknown=unknown,
            searched=tuple(dict.fromkeys(kind for reply in replies for kind in reply.searched)),
            degraded=tuple(dict.fromkeys(_notes_of_all(replies, unknown))),
            read_through=min(reply.read_through for reply in replies),
            index_failure=next((reply.index_failure for reply in replies if reply.index_failure), ""),
            is_behind=any(reply.is_behind for reply in replies),
        )
        return whole if whole.error else self._with_text(asker, ask.query[:MOST_CHARACTERS].strip(), whole)

    async def _answer(self, asker: Asker, ask: SearchAsk, prepared: Preparation) -> Hits:
        """The hits under one name of the project. Where there are none, the index reads on, and is searched again."""
        found = await self._searched(asker, ask, prepared)
        if found.hits or found.in_prompt or found.error or found.index_failure or found.is_behind or _is_urgent(ask):
            return found
        head = await self._head()
        if head <= found.read_through:
            return found
        return await self._searched(asker, msgspec.structs.replace(ask, min_seq=head), prepared)

    async def _searched(self, asker: Asker, ask: SearchAsk, prepared: Preparation) -> Hits:
        """The hits under one name of the project, as far as the index has read."""
        query, kinds = prepared.query, prepared.kinds
        degraded = list(prepared.degraded)
        try:
            project, failure, is_behind = await self._shelves(asker.project, ask, degraded)
        except VectorsError as error:
            return self._with_text(asker, query, Hits(degraded=(*degraded, f"the index cannot be read: {error}")))
        shelves = project.kinds
        asked = self._asked(asker, ask, prepared, project.current)
        kinds = tuple(kind for kind in kinds if kind not in BY_NAME or asked.names.names)
        if not kinds:
            degraded.append("outputs of tools are found by a name alone: give an identifier, a path, a code or a word")
        wanted = [shelves[kind] for kind in kinds if kind in shelves]
        written = [stored for stored in wanted if stored.shelf.kind not in BY_NAME]
        unknown = tuple(sorted(set(ask.sessions) - _known_sessions(shelves.values(), ask.sessions)))
        if unknown:
            degraded.append(_not_indexed(shelves.values(), unknown))
        degraded += self._lacking(kinds, project, prepared.vector)
        most = max(1, min(ask.limit, asker.most))
        names = ids(query)
        session = await session_named(written, asked.scope, names, most)
        found = session.found if session else await named(written, asked.scope, names, asker, most)
        if not found or any(map(is_ticket, asked.names.names)):  # a number may be a message's and an issue's
            others = await find_with_names(wanted, asked, 4 * most if ask.group else most)
            known = {(one.stored.name, one.number) for one in found}
            found = [*found, *(one for one in others if (one.stored.name, one.number) not in known)]
        hits = await _hits(found, asked)
        if failure:
            degraded.append(f"the index cannot be written, and lacks what came behind {project.through}: {failure}")
        in_prompt = () if found or names or _is_urgent(ask) else await self._in_prompt(wanted, asked)
        if ask.group:
            hits = _one_of_each_session(hits)
        return self._with_text(
            asker,
            query,
            Hits(
                hits=tuple(hits[:most]),
                session=session.facts if session else None,
                in_prompt=in_prompt,
                unknown=unknown,
                searched=tuple(stored.shelf.kind for stored in wanted),
                degraded=tuple(degraded),
                read_through=project.through,
                index_failure=failure,
                is_behind=is_behind,
            ),
        )

    def _with_text(self, asker: Asker, query: str, hits: Hits) -> Hits:
        return msgspec.structs.replace(hits, text=answer_text(query, hits, datetime.now(UTC), asker.session))

    def _asked(self, asker: Asker, ask: SearchAsk, prepared: Preparation, current: Current | None) -> ShelfQuery:
        """The query for shelves of this set."""
        query, vector, served = prepared.query, prepared.vector, prepared.served
        scope = Scope(
            sessions=frozenset(ask.sessions),
            actors=frozenset(ask.actors),
            since=ask.since.timestamp() if ask.since else 0.0,
            until=ask.until.timestamp() if ask.until else 0.0,
            as_of=ask.as_of,
            quarantined=frozenset(served.quarantined) - {asker.session},
            quarantined_rows=frozenset(_quarantined_rows(asker.session, served)),
            left_out=frozenset(_left_out(asker.session, served)),
        )
        is_comparable = current is not None and bool(current.model) and current.model == vector.model
        text = vector.texts[0] if vector.texts and is_comparable else None
        return ShelfQuery(
            query=query_of(query, text.vector, text.tokens, text.pieces) if text else query_of(query),
            literals=literals(query),
            scope=scope,
            project=asker.project,
            narrowed=condition(scope.sessions, scope.actors),
            arm=self._arm,
            names=names_asked(query) if self._arm == "full" else NamesAsked(),
            characters=asker.characters,
        )

    async def _in_prompt(self, shelves: Sequence[StoredShelf], asked: ShelfQuery) -> tuple[Hit, ...]:
        """Hits that the asker's prompt has already, which are left out, where there are no others."""
        left_out = asked.scope.left_out
        if not left_out:
            return ()
        scope = asked.scope._replace(left_out=frozenset())
        found = await find_with_names(shelves, msgspec.structs.replace(asked, scope=scope), len(left_out))
        known = [one for one in found if one.stored.shelf.ids[one.number] in left_out]
        return tuple(await _hits(known[:MOST_IN_PROMPT], asked))

    async def _embedded(self, query: str) -> Embedded:
        if self._arm == "bm25":
            return Embedded()
        return await embedded(self._kit.bus, (query.replace("\0", " "),), "query")

    async def _served(self, asker: Asker, degraded: list[str]) -> Served:
        """The rows that the asker has before them now; none where nobody is asked, or nobody knows."""
        if not asker.session:
            return Served()
        question = encode(ServedAsk(asker.at_home, asker.session))
        try:
            reply = await self._kit.bus.request(subject_of(ServedAsk.NAME, asker.at_home), question, SERVED_TIMEOUT)
            served = _served.decode(reply)
        except (Unreachable, TooLarge, msgspec.DecodeError, msgspec.ValidationError):
            served = Served(is_known=False)
        if not served.is_known:  # what is taken back stays so
            degraded.append("what your prompt holds already is not known and may come again")
            return self._quarantined.get(asker.at_home, Served())
        if served.quarantined or served.quarantined_messages:
            self._quarantined[asker.at_home] = Served(
                quarantined=served.quarantined, quarantined_messages=served.quarantined_messages
            )
        else:
            self._quarantined.pop(asker.at_home, None)
        return served

    async def _position(self, name: str) -> int:
        """The log position of the newest memory; as far as the log goes at all where the broker does not answer."""
        try:
            return await self._written.position(name)
        except BrokerError:
            return END

    async def _head(self) -> int:
        try:
            return await self._kit.reader.head()
        except (BrokerError, TimeoutError):
            return END

    async def _shelves(self, name: str, ask: SearchAsk, degraded: list[str]) -> tuple[ProjectShelves, str, bool]:
        """The shelves with all that was confirmed before the question, if that takes no longer than is bearable.

        Who cannot wait gets shelves as they are, but for a position that the question names.
        With them comes why the index cannot be written: then nobody waits for it. And whether it lacks what is wanted.
        """
        deadline = time.monotonic() + min(PATIENCE, ask.deadline_ms / 1000 or PATIENCE)
        wanted = ask.min_seq if _is_urgent(ask) else max(ask.min_seq, await self._position(name))
        if wanted == END:
            degraded.append("the broker does not answer, so that nobody knows whether the index has read all")
            return await self._store.shelves(name, at_most=BEARABLE if _is_urgent(ask) else OLD), "", True
        at_most = BEARABLE if _is_urgent(ask) else OLD
        project = await self._store.shelves(name, through=min(wanted, self._store.through), at_most=at_most)
        failure = ""
        if project.through < wanted:
            failure = await self._indexed(wanted, deadline - time.monotonic())
        while project.through < wanted and not failure:
            if await self._store.read_through() >= wanted:
                project = await self._store.shelves(name, through=wanted)
            elif time.monotonic() > deadline:
                degraded.append(f"the index has read to {project.through} and not yet to {wanted}")
                break
            else:
                await asyncio.sleep(POLL)
        return project, failure, project.through < wanted

    async def _indexed(self, seq: int, seconds: float) -> str:
        """Have the indexer write all up to this position without waiting for more, if it answers within the time.

        The reply is why it cannot write; empty: it can, or nobody answers.
        """
        question = encode(IndexPositionAsk(seq, max(1, int(1000 * seconds))))
        try:
            reply = await self._kit.bus.request(subject_of(IndexPositionAsk.NAME), question, max(POLL, seconds))
            return msgspec.json.decode(reply, type=IndexPosition).failure
        except Unreachable:
            return ""
        except (msgspec.DecodeError, msgspec.ValidationError) as error:
            return f"the indexer's answer cannot be read: {error}"

    def _lacking(self, kinds: Sequence[Kind], project: ProjectShelves, vector: Embedded) -> Iterator[str]:
        shelves, current = project.kinds, project.current
        if current is None or not shelves:
            yield "nothing is indexed yet"
            return
        if missing := [kind for kind in kinds if kind not in shelves]:
            yield f"no index yet of: {', '.join(missing)}"
        if self._arm == "bm25":
            return
        for stored in (shelves[kind] for kind in kinds if kind in shelves):
            if len(stored.bare):
                yield f"{len(stored.bare)} of {len(stored.shelf)} rows of {stored.shelf.kind} have no vectors yet"
        if not current.model:
            yield "the index has no vectors: searched by words alone"
        elif vector.error or not vector.texts:
            yield f"searched by words alone, because no model answers: {vector.error or 'it is off'}"
        elif vector.model != current.model:
            yield "searched by words alone while the index is made anew for another model"


def _is_urgent(ask: SearchAsk) -> bool:
    """Whether the asker waits for so short a time that nothing may be read for it first."""
    return 0 < ask.deadline_ms < URGENT


def _sources(wanted: Sequence[str]) -> tuple[tuple[Kind, ...], list[str]]:
    """The kinds of rows to look at, and a note on sources that are not known."""
    known = tuple(kind for kind in KINDS if kind in wanted)
    unknown = sorted({one[:40] for one in wanted} - set(KINDS))
    notes = [f"unknown sources were left out: {', '.join(unknown)}; there are {', '.join(KINDS)}"] if unknown else []
    return known if wanted else KINDS, notes


def _known_sessions(shelves: Iterable[StoredShelf], wanted: Sequence[str]) -> set[str]:
    """The sessions of these of which something is indexed."""
    return {name for stored in shelves for name in wanted if stored.shelf.has_session(name)}


def _not_indexed(shelves: Iterable[StoredShelf], unknown: Sequence[str]) -> str:
    """The sentence for sessions of which nothing is indexed, with similar names."""
    known = {name for stored in shelves for name in stored.shelf.sessions("") if name}
    named = unknown[:MOST_UNKNOWN]
    like = [match for name in named for match in get_close_matches(name, known, 1)]
    meant = f": did you mean {' or '.join(like)}?" if like else ""
    more = f" and {quantity(len(unknown) - len(named), 'other')}" if len(unknown) > len(named) else ""
    return f"{NOT_INDEXED} {', '.join(name[:80] for name in named)}{more}{meant}"


def _notes_of_all(replies: Sequence[Hits], unknown: tuple[str, ...]) -> Iterator[str]:
    """Faults of the search under all names of a project; a session is unknown that has rows under none of them."""
    for reply in replies:
        yield from (note for note in reply.degraded if not note.startswith(NOT_INDEXED))
    if unknown:
        of_these = (note for reply in replies if reply.unknown == unknown for note in reply.degraded)
        yield next((note for note in of_these if note.startswith(NOT_INDEXED)), _not_indexed((), unknown))


def _quarantined_rows(session: str, served: Served) -> Iterator[str]:
    """The rows of single messages that are quarantined, but for those of the session that asks."""
    for origin, message in served.quarantined_messages:
        if origin != session:
            yield from (row_id("message", message, origin), row_id("output", message, origin))


def _left_out(session: str, served: Served) -> Iterator[str]:
    yield from (row_id("message", one, session) for one in served.messages)
    yield from (row_id("output", one, session) for one in served.outputs)
    yield from (row_id("compartment", one, session) for one in served.compartments)
    yield from (row_id("memory", one) for one in served.memories)


async def _hits(found: Sequence[FoundRow], asked: ShelfQuery) -> list[Hit]:
    """The hits of rows, in their order."""
    by_shelf: dict[str, list[int]] = {}
    for number, one in enumerate(found):
        by_shelf.setdefault(one.stored.name, []).append(number)
    hits: dict[int, Hit] = {}
    wanted = frozenset(words(asked.query.text))
    for numbers in by_shelf.values():
        stored = found[numbers[0]].stored
        rows = await read(stored, np.array([found[number].number for number in numbers]), (TEXT, FACTS))
        for number, (text, facts) in zip(numbers, rows, strict=True):
            excerpt = fragment(text.decode(), wanted, asked.literals or asked.names.names, asked.characters)
            hits[number] = _hit(stored.shelf.kind, _facts.decode(facts), found[number], excerpt)
    return [hits[number] for number in range(len(found))]


def _hit(kind: Source, row: Facts, found: FoundRow, excerpt: str) -> Hit:
    ordinal, last = row.ordinal, row.last_ordinal or row.ordinal
    around = AROUND if kind in ("message", "output") else 0
    return Hit(
        source=kind,
        id=row.ref,
        score=round(found.score, 4),
        fragment=excerpt,
        why=found.why,
        session=row.session,
        ordinal=ordinal,
        first=max(1, ordinal - around) if ordinal else 0,
        last=last + around if ordinal else 0,
        at=datetime.fromtimestamp(row.at, UTC) if row.at else None,
        actor=row.actor,
        role=row.role,
        files=tuple(row.files or ())[:MOST_FILES],
    )


def _one_of_each_session(hits: Sequence[Hit]) -> list[Hit]:
    """Of each session the first one; of those that belong to none, each."""
    seen: set[str] = set()
    firsts = []
    for hit in hits:
        if hit.session and hit.session in seen:
            continue
        seen.add(hit.session)
        firsts.append(hit)
    return firsts
