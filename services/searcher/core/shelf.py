"""All rows of one kind in one project, as numbers: what a query is compared with before any text is read."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from services.domain.search.rows import BY_NAME, TASK, Kind
from services.searcher.core.arrays import Array, Codes, Flags, decoded
from services.searcher.core.postings import Postings, paired
from services.searcher.core.vocabulary import Vocabulary

REQUESTS = frozenset({"user", TASK})
"""The roles of messages that ask for work: a sub-agent's task is ranked as a person's request is."""


class ShelfRow(NamedTuple):
    """A row as it is put on the shelf."""

    id: str
    hash: str
    place: int
    """The place of the row in the store."""
    session: str = ""
    actor: str = ""
    role: str = ""
    at: float = 0.0
    seq: int = 0
    terms: bytes = b""
    terms_title: bytes = b""
    terms_around: bytes = b""
    written: str = ""


class Scope(NamedTuple):
    """The scope of a query: which rows are asked for. An empty field or 0 restricts nothing."""

    sessions: frozenset[str] = frozenset()
    actors: frozenset[str] = frozenset()
    since: float = 0.0
    until: float = 0.0
    as_of: int = 0
    quarantined: frozenset[str] = frozenset()
    """The sessions whose rows are returned to nobody who asks."""
    quarantined_rows: frozenset[str] = frozenset()
    """The ids of single rows that are returned to nobody who asks."""
    left_out: frozenset[str] = frozenset()
    """Ids of rows that the asker has before them already."""


class Shelf:
    """Rows are added at its end; one that has changed is added again, and the earlier one is no longer alive."""

    def __init__(self, kind: Kind) -> None:
        self.kind = kind
        self.ids: list[str] = []
        self.at_id: dict[str, int] = {}
        self.hashes: dict[str, str] = {}
        self.alive: Flags = np.zeros(0, bool)
        self.places: Array = np.zeros(0, np.int64)
        self.times: Array = np.zeros(0, np.float64)
        self.seqs: Array = np.zeros(0, np.int64)
        self.is_person: Flags = np.zeros(0, bool)
        self._sessions, self._actors = _Names(), _Names()
        self.own, self.pairs, self.wide, self.title, self.around = (Postings() for _ in range(5))
        self.vocabulary = Vocabulary()

    def __len__(self) -> int:
        return len(self.at_id)

    @property
    def waste(self) -> int:
        """Rows that are dead and still take room."""
        return len(self.ids) - len(self.at_id)

    def add(self, entries: Sequence[ShelfRow]) -> None:
        """New rows, and what changed ones have become."""
        self.remove(entry.id for entry in entries)
        first = len(self.ids)
        for number, entry in enumerate(entries, first):
            self.ids.append(entry.id)
            self.at_id[entry.id] = number
            self.hashes[entry.id] = entry.hash
        self.alive = np.concatenate((self.alive, np.ones(len(entries), bool)))
        self.places = _extended(self.places, [entry.place for entry in entries])
        self.times = _extended(self.times, [entry.at for entry in entries])
        self.seqs = _extended(self.seqs, [entry.seq for entry in entries])
        self.is_person = _extended(self.is_person, [entry.role in REQUESTS for entry in entries])
        self._sessions.add([entry.session for entry in entries])
        self._actors.add([entry.actor for entry in entries])
        self._read([decoded(entry.terms) for entry in entries], entries)

    def remove(self, ids: Iterable[str]) -> None:
        """Remove rows that are no longer to be found."""
        self.alive = self.alive.copy()
        for name in ids:
            number = self.at_id.pop(name, None)
            if number is not None:
                self.hashes.pop(name)
                self.alive[number] = False

    def moved(self, places: dict[str, int]) -> None:
        """The store keeps its rows elsewhere now. Who has taken the earlier places may go on with them."""
        known = self.places.copy()
        known[[self.at_id[name] for name in places]] = list(places.values())
        self.places = known

    def allowed(self, scope: Scope) -> Flags:
        """Which rows are alive and asked for."""
        flags = self.alive.copy()
        for names, wanted in ((self._sessions, scope.sessions), (self._actors, scope.actors)):
            if wanted:
                flags &= names.are(wanted)
        if scope.quarantined:
            flags &= ~self._sessions.are(scope.quarantined)
        if scope.since:
            flags &= self.times >= scope.since
        if scope.until:
            flags &= self.times <= scope.until
        if scope.as_of:
            flags &= self.seqs <= scope.as_of
        hidden = scope.left_out | scope.quarantined_rows
        flags[[self.at_id[name] for name in hidden if name in self.at_id]] = False
        return flags

    def holds(self, code: int) -> bool:
        """Whether a row contains a word, itself or next to it."""
        return self.count(code) > 0

    def count(self, code: int) -> int:
        """The number of rows with a word in them or next to them."""
        postings = self.wide if self.kind == "message" else self.own
        return len(postings.rows(code)[0])

    def has_session(self, name: str) -> bool:
        """Whether a session is called so that had rows here."""
        return name in self._sessions

    def sessions(self, beginning: str) -> list[str]:
        """The sessions that have rows here and whose ids begin so; that one alone which is called so."""
        return self._sessions.named(beginning)

    def of_session(self, name: str) -> Array:
        """The numbers of the rows of a session."""
        return np.flatnonzero(self._sessions.are(frozenset((name,))))

    def _read(self, texts: list[Codes], entries: Sequence[ShelfRow]) -> None:
        around = [decoded(entry.terms_around) for entry in entries]
        self.own.add(texts)
        if self.kind in BY_NAME:
            return
        for entry in entries:
            self.vocabulary.add(entry.written.split())
        self.pairs.add([paired(text) for text in texts])
        self.title.add([decoded(entry.terms_title) for entry in entries])
        if self.kind == "message":
            self.wide.add([np.concatenate(both) for both in zip(texts, around, strict=True)])
        else:
            self.around.add(around)


class _Names:
    """A few names, and which of them each row has."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._of: Array = np.zeros(0, np.int32)

    def add(self, names: Sequence[str]) -> None:
        self._of = _extended(self._of, [self._numbers.setdefault(name, len(self._numbers)) for name in names])

    def __contains__(self, name: str) -> bool:
        return name in self._numbers

    def named(self, beginning: str) -> list[str]:
        if beginning in self._numbers:
            return [beginning]
        return [name for name in self._numbers if name.startswith(beginning)]

    def are(self, wanted: frozenset[str]) -> Flags:
        return np.isin(self._of, [self._numbers[name] for name in wanted if name in self._numbers])


def _extended(array: Array, values: Sequence[float]) -> Array:
    return np.concatenate((array, np.array(values, array.dtype)))
