from datetime import UTC, datetime, timedelta
from functools import partial

from hypothesis import given as given_any
from hypothesis import strategies as st

from schemas.events import CommitsAdvanced, CommitSeen
from services.commit_indexer.core.decide import (
    BATCH,
    CommitBounds,
    CommitHistory,
    advanced,
    batches,
    commits_to_read,
    evolve,
    news,
    within,
)
from tests.helpers.given import Given, given

BEGIN = datetime(2026, 1, 1, tzinfo=UTC)
ALL = CommitBounds(0, 100)


def sha(number: int) -> str:
    return f"{number:040x}"


def seen(number: int, *, partial: bool = False, seconds: int | None = None) -> CommitSeen:
    at = BEGIN + timedelta(seconds=number if seconds is None else seconds)
    return CommitSeen(sha=sha(number), committed=at, authored=at, partial=partial)


def listed(*numbers: int) -> list[tuple[int, str]]:
    return [(int(BEGIN.timestamp()) + number, sha(number)) for number in numbers]


def history(*commits: CommitSeen) -> Given[CommitHistory]:
    return given(evolve, CommitHistory(), *commits)


def test_only_what_is_not_known_is_read_parents_first() -> None:
    assert [sha(2), sha(3)] == commits_to_read(history(seen(1)).state, listed(3, 2, 1), ALL, ())


def test_what_is_known_in_part_is_read_where_the_clone_goes_deeper() -> None:
    state = history(seen(1, partial=True)).state
    assert [] == commits_to_read(state, listed(1), ALL, {sha(1)})
    assert [sha(1)] == commits_to_read(state, listed(1), ALL, ())


def test_what_would_give_way_at_once_is_not_read() -> None:
    state = history(*(seen(number) for number in range(100, 200))).state
    assert [sha(300)] == commits_to_read(state, listed(300, 99), ALL, ())


def test_what_is_too_old_is_left_out_where_nothing_is_known() -> None:
    day = 86_400
    now = BEGIN.timestamp() + 10 * day
    assert listed(9 * day) == within(listed(9 * day, 2 * day), CommitBounds(5, 100), now)
    assert listed(9 * day, 2 * day) == within(listed(9 * day, 2 * day), ALL, now)


def test_the_same_is_recorded_once() -> None:
    known = history(seen(1), seen(2, partial=True))
    known.when(lambda state: news(state, [seen(1), seen(2, partial=True), seen(1, partial=True)])).then()
    known.when(lambda state: news(state, [seen(2), seen(3)])).then(seen(2), seen(3))


def test_a_head_is_recorded_once_and_again_when_something_is_taken_back() -> None:
    head = partial(advanced, source="/quay", head=sha(2), bounds=ALL)
    recorded = history(seen(1), seen(2)).when(lambda state: head(state, lost=()))
    recorded.then(CommitsAdvanced(source="/quay", head=sha(2), count=2, since_days=0, max_commits=100))
    recorded.when(lambda state: head(state, lost={sha(9)})).then()
    recorded.when(lambda state: head(state, lost={sha(1)})).then(
        CommitsAdvanced(source="/quay", head=sha(2), count=1, removed=[sha(1)], max_commits=100)
    )


def test_a_head_that_is_taken_back_is_nothing_to_go_on_from() -> None:
    recorded = history(seen(1)).and_given(CommitsAdvanced(source="/a", head=sha(1), count=1))
    recorded = recorded.and_given(CommitsAdvanced(source="/b", head=sha(5), count=0, removed=[sha(1)]))
    assert ["/b"] == [*recorded.state.heads]


@given_any(st.sets(st.integers(0, 500), max_size=260), st.integers(100, 150))
def test_the_newest_that_count_are_never_more_than_the_most(numbers: set[int], most: int) -> None:
    recorded = history(*map(seen, numbers)).when(lambda state: advanced(state, "/a", sha(1), CommitBounds(0, most), ()))
    assert {sha(number) for number in sorted(numbers)[-most:]} == {*recorded.state.commits}
    (event, *_) = [one for one in recorded.made if isinstance(one, CommitsAdvanced)]
    assert min(len(numbers), most) == event.count


def test_many_that_are_taken_back_come_in_several_events() -> None:
    recorded = history(*(seen(number) for number in range(12_000)))
    recorded = recorded.when(
        lambda state: advanced(state, "/a", sha(1), CommitBounds(0, 100_000), {*map(sha, range(11_000))})
    )
    assert [5_000, 5_000, 1_000] == [len(one.removed) for one in recorded.made if isinstance(one, CommitsAdvanced)]
    assert 1_000 == len(recorded.state.commits)


@given_any(st.lists(st.integers(1, 3_000_000), max_size=600))
def test_batches_hold_everything_that_exists_once_and_little_of_it(sizes: list[int]) -> None:
    known = {sha(number): size for number, size in enumerate(sizes)}
    found = list(batches([*known, "gone"], known))
    assert [*known] == [one for batch in found for one in batch]
    assert all(len(batch) <= BATCH for batch in found)
    assert all(len(batch) == 1 or sum(known[one] for one in batch) <= 4 * 1024 * 1024 for batch in found)
