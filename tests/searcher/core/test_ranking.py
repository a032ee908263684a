"""Shelves and ranking as pure code: what fits better comes first, whatever came in between."""

from collections.abc import Sequence

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from services.domain.search.rows import SearchRow
from services.searcher.core import ranking
from services.searcher.core.postings import Postings, Scorer
from services.searcher.core.query import known_share, matrix_of, query_of
from services.searcher.core.ranking import Compared, late, late_both, token_weights
from services.searcher.core.shelf import Scope, Shelf, ShelfRow
from tests.helpers.search_rows import message_row, row

EVERYTHING = Scope()
WORDS = st.lists(st.sampled_from(["crane", "quay", "tide", "pilot", "berth", "foghorn"]), min_size=1, max_size=9).map(
    " ".join
)


def entry(made: SearchRow, place: int = 0) -> ShelfRow:
    return ShelfRow(
        made.id, made.hash, place, made.session, made.actor, made.role, made.at, made.seq,
        made.terms, made.terms_title, made.terms_around,
    )  # fmt: skip


def shelf_of(rows: Sequence[SearchRow]) -> Shelf:
    shelf = Shelf(rows[0].kind if rows else "message")
    shelf.add([entry(one, place) for place, one in enumerate(rows)])
    return shelf


def scores(shelf: Shelf, text: str, scope: Scope = EVERYTHING) -> dict[str, float]:
    found = ranking.by_words(shelf, query_of(text), shelf.allowed(scope)).scores
    return {name: round(float(found[number]), 5) for name, number in shelf.at_id.items() if found[number] > 0}


@given(st.lists(WORDS, min_size=1, max_size=30), st.data())
def test_a_shelf_grown_piece_by_piece_is_one_that_was_filled_at_once(texts: list[str], data: st.DataObject) -> None:
    rows = [message_row(text, f"m{number}") for number, text in enumerate(texts)]
    gone = data.draw(st.sets(st.sampled_from([one.id for one in rows])))
    changed = data.draw(st.sets(st.integers(0, len(rows) - 1), max_size=5))
    grown = Shelf("message")
    for number, one in enumerate(rows):
        grown.add([entry(message_row("other words here", one.ref) if number in changed else one)])
    grown.add([entry(rows[number]) for number in sorted(changed)])
    grown.remove(gone)
    whole = shelf_of([one for one in rows if one.id not in gone])
    assert scores(whole, "crane tide berth") == scores(grown, "crane tide berth")
    assert len(whole) == len(grown)


def test_a_task_is_ranked_as_a_request_is() -> None:
    rows = [replace(message_row("the crane", role), role=role) for role in ("user", "task", "assistant")]
    assert [True, True, False] == shelf_of(rows).is_person.tolist()


def test_who_holds_more_and_rarer_words_is_better() -> None:
    shelf = shelf_of(
        [
            message_row("the crane", "a"),
            message_row("the crane and the foghorn", "b"),
            message_row("the crane stands", "c"),
            message_row("a tide", "d"),
        ]
    )
    found = scores(shelf, "crane foghorn")
    assert min(found, key=lambda one: -found[one]).endswith("/b")
    assert "message/s1/d" not in found


def test_a_short_message_is_found_by_its_neighbours() -> None:
    shelf = shelf_of(
        [
            message_row("Yes, do that.", "a", before="Shall I paint the foghorn green?"),
            message_row("The tide is low.", "b"),
        ]
    )
    assert ["message/s1/a"] == list(scores(shelf, "foghorn"))


def test_scope_narrows_what_is_scored() -> None:
    shelf = shelf_of(
        [message_row("crane", "a", "s1", seq=1, at=10.0), message_row("crane", "b", "s2", seq=2, at=20.0, actor="ada")]
    )
    one, other = "message/s1/a", "message/s2/b"
    assert [one, other] == list(scores(shelf, "crane"))
    for scope, left in (
        (Scope(sessions=frozenset({"s2"})), [other]),
        (Scope(actors=frozenset({"ada"})), [other]),
        (Scope(actors=frozenset({"nobody"})), []),
        (Scope(since=15.0), [other]),
        (Scope(until=15.0), [one]),
        (Scope(as_of=1), [one]),
        (Scope(left_out=frozenset({one})), [other]),
        (Scope(quarantined_rows=frozenset({one})), [other]),
    ):
        assert left == list(scores(shelf, "crane", scope))


def test_the_subject_and_the_paths_of_a_commit_count() -> None:
    commits = [
        row("commit", "a", "Paint the foghorn\n\nIt was rusty."),
        row("commit", "b", "Clean up\n\nThe foghorn was rusty."),
        row("commit", "c", "Clean up\n\nAll was dusty.", files=("foghorn.py",)),
    ]
    found = scores(shelf_of(commits), "foghorn")
    assert ["commit/a", "commit/b", "commit/c"] == sorted(found, key=lambda one: -found[one])


def test_a_model_counts_as_far_as_it_knows_the_words() -> None:
    assert 1.0 == known_share(("the", "harbour", "master"))
    assert 0.0 == known_share(("lager", "##haus", "br", "##enn", "##t"))
    assert 0.0 == known_share(("[UNK]", "港"))
    assert 1.0 == known_share(())


def test_rare_words_weigh_more_and_plain_ones_nothing() -> None:
    query = query_of("where is the foghorn", b"", bytes(64 * 5), ("where", "is", "the", "fog", "##horn"))
    weights = token_weights(query, {})
    assert [0, 0, 0] == weights[:3].tolist()
    assert 1.0 == round(float(weights.sum()), 5)


def test_tokens_find_the_one_that_is_most_like_them() -> None:
    one, other = np.zeros(64, np.int8), np.zeros(64, np.int8)
    one[0], other[1] = 100, 100
    query = query_of("foghorn", b"", one.tobytes(), ("foghorn",))
    found = late(query, np.ones(1, np.float32), [other.tobytes(), one.tobytes() + other.tobytes(), b""])
    assert [0.0, 1.0, 0.0] == found.tolist()


TEXTS = st.lists(st.binary(max_size=5).map(lambda seeds: b"".join(bytes([one]) * 64 for one in seeds)), max_size=6)


@given(TEXTS, st.data())
def test_both_texts_are_compared_token_by_token_as_each_would_be_by_itself(
    own: list[bytes], data: st.DataObject
) -> None:
    wide_tokens = [data.draw(st.sampled_from([b"", one, bytes(64), bytes(range(128))])) for one in own]
    query = query_of("fog horn", b"", bytes(range(128)), ("fog", "horn"))
    weights = np.array([0.25, 0.75], np.float32)
    assert query.tokens is not None

    def alike(text: bytes) -> float:
        return float((matrix_of(text) @ query.tokens.T).max(axis=0) @ weights) if text else 0.0

    found = late_both(query, weights, own, wide_tokens)
    assert np.allclose([alike(one) for one in own], found[0], atol=1e-5)
    assert np.allclose([alike(other or one) for one, other in zip(own, wide_tokens, strict=True)], found[1], atol=1e-5)


@given(st.lists(st.lists(st.integers(0, 3), max_size=4), min_size=1, max_size=12), st.data())
def test_coverage_counts_each_word_that_a_row_holds_once(texts: list[list[int]], data: st.DataObject) -> None:
    postings = Postings()
    for text in texts:
        postings.add([np.array(text, np.uint32)])
    alive = np.array([data.draw(st.booleans()) for _ in texts])
    scorer = Scorer(postings, alive, [0, 1, 9])
    rows = np.flatnonzero(alive)
    expected = [sum(part for code, part in ((0, 0.5), (1, 0.3), (9, 0.2)) if code in texts[row]) for row in rows]
    assert np.allclose(expected, scorer.coverage(rows, {0: 0.5, 1: 0.3, 9: 0.2}))


NUMBERS = st.lists(st.floats(0, 1, width=32), min_size=1, max_size=20)


@given(NUMBERS, st.sampled_from(["full", "bm25", "dense", "rrf", "minmax"]))
def test_ranked_rows_have_falling_scores_from_0_to_1_and_equals_their_order(
    values: list[float], arm: ranking.Arm
) -> None:
    scores_of = np.array(values, np.float32)
    none = np.zeros(len(values), np.float32)
    compared = Compared(
        rows=np.arange(len(values)), by_words=scores_of, coverage=scores_of, cosine=scores_of, wide_cosine=scores_of,
        is_person=np.zeros(len(values), bool), verbatim=none,
    )  # fmt: skip
    found = ranking.ranked(compared, ranking.OF_MESSAGES, arm)
    listed = found.scores.tolist()
    assert all(0 <= one <= 1 for one in listed)
    assert listed == sorted(listed, reverse=True)
    assert sorted(range(len(values)), key=lambda at: (-scores_of[at], at)) == found.rows.tolist() or arm in {
        "full",
        "rrf",
    }


@given(st.lists(st.lists(st.integers(0, 5), max_size=8), max_size=12))
def test_postings_list_which_rows_have_a_word_and_how_often(texts: list[list[int]]) -> None:
    postings = Postings()
    for text in texts:
        postings.add([np.array(text, np.uint32)])
    for code in range(6):
        rows, counts = postings.rows(code)
        expected = {number: text.count(code) for number, text in enumerate(texts) if code in text}
        assert expected == dict(zip(rows.tolist(), counts.tolist(), strict=True))
    assert len(texts) == len(Scorer(postings, np.ones(len(texts), bool), [1]).scores())
