"""The numbered list of memories: the same from the same book, and known again by its id alone."""

from datetime import UTC, datetime, timedelta

import msgspec

from schemas.envelope import Actor, Envelope
from schemas.events import Event, MemoryArchived, MemoryReinforced, MemoryWritten, NoteWritten
from services.memory.book import Book, evolve
from services.memory.snapshot import Snapshot, holder_of, listed_memories, position_of, snapshot

NOON = datetime(2026, 3, 7, 12, tzinfo=UTC)
FACTS: list[Event] = [
    MemoryWritten(memory="m1", category="PROJECT_RULES", text="Always answer in French.", trust="person"),
    MemoryWritten(memory="m2", category="NAMING", text="Tables have plural names.", trust="historian"),
    NoteWritten(note="n1", text="Ask Ada."),
    MemoryWritten(memory="m3", category="CONFIG_VALUES", text="The port is 8080.", trust="agent"),
    MemoryReinforced(memory="m2", effect="increment"),
    MemoryArchived(memory="m1"),
]


def books() -> list[Book]:
    """The book behind each fact."""
    found = [Book()]
    for seq, event in enumerate(FACTS, 1):
        data = msgspec.Raw(msgspec.json.encode(event))
        at = NOON + timedelta(days=seq)
        found.append(
            evolve(found[-1], event, Envelope(f"e{seq}", event.TYPE, at, "p", "", Actor("room"), data, seq=seq))
        )
    return found


def test_an_empty_book_gives_no_list() -> None:
    assert Snapshot() == snapshot(Book())


def test_a_list_is_found_again_by_the_position_in_its_id() -> None:
    for book in books()[1:]:
        shown = snapshot(book)
        position = position_of(shown.id)
        assert position is not None
        assert shown == snapshot(books()[position])


def test_what_holds_is_listed_as_it_is_shown() -> None:
    assert [["m1"], ["m1", "m2"], ["m1", "m2"], ["m1", "m2", "m3"], ["m1", "m2", "m3"], ["m2", "m3"]] == [
        [memory.id for memory in snapshot(book).memories] for book in books()[1:]
    ]


def test_other_lists_have_other_ids() -> None:
    assert len(FACTS) == len({snapshot(book).id for book in books()[1:]})


def test_a_list_is_of_its_holder_alone() -> None:
    (*_, book) = books()
    ids = {snapshot(book, holder_of(session, number)).id for session in ("s1", "s2") for number in (0, 1)}
    assert (4, {book.seq}) == (len(ids), {position_of(name) for name in ids})
    assert snapshot(book, "s1/0").memories == listed_memories(book, iter(book.memories.values()))


def test_what_is_no_id_has_no_position() -> None:
    assert [None] * 6 == [position_of(name) for name in ("", "12", "12-", "0-abcdef01", "12-xyzxyzxy", "-1-abcdef01")]
    assert 12 == position_of(" 12-ABCDEF01 ")
