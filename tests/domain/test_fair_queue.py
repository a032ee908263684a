"""Which questions are answered where more are asked than can be, by a clock of numbers."""

from collections import Counter
from collections.abc import Iterator, Sequence
from heapq import heappop, heappush
from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.domain.fair_queue import DroppedRequest, FairQueue, Waiter

DEADLINE = 0.25


def asked(item: str, client: str = "a", key: str | None = None, at: float = 0.0, listens: float = 10.0) -> Waiter[str]:
    return Waiter(item, client=client, key=key, arrived=at, until=at + listens)


def queue_of(*waiters: Waiter[str], most: int = 100) -> FairQueue[str]:
    queue: FairQueue[str] = FairQueue(most)
    for one in waiters:
        assert not queue.add(one, one.arrived)
    return queue


def taken(queue: FairQueue[str], now: float = 1.0, seconds: float = 0.0) -> list[str]:
    """All that is answered, in its order."""
    return list(_taken(queue, now, seconds))


def _taken(queue: FairQueue[str], now: float, seconds: float) -> Iterator[str]:
    while (waiter := queue.take(now, seconds)[0]) is not None:
        yield waiter.item


def named(dropped: Sequence[DroppedRequest[str]]) -> list[tuple[str, str]]:
    return [(one.waiter.item, one.reason) for one in dropped]


def test_the_oldest_comes_first() -> None:
    assert ["1", "2", "3"] == taken(queue_of(asked("1"), asked("2"), asked("3")))


def test_clients_take_turns_however_much_one_of_them_asks() -> None:
    flood = [asked(f"a{number}") for number in range(50)]
    assert ["a0", "b0", "a1", "b1", "a2", "a3"] == taken(queue_of(*flood, asked("b0", "b"), asked("b1", "b")))[:6]


def test_a_client_that_was_just_answered_waits_for_the_others() -> None:
    queue = queue_of(asked("a0"), asked("a1"), asked("b0", "b"))
    assert "a0" == next(_taken(queue, 1, 0))
    queue.add(asked("c0", "c"), 1)
    assert ["b0", "a1", "c0"] == taken(queue)


def test_what_comes_too_late_is_dropped_before_any_work() -> None:
    queue = queue_of(asked("late", listens=0.5), asked("2"), asked("b0", "b", listens=0.5), asked("b1", "b"))
    waiter, dropped = queue.take(1.0)
    assert waiter is not None
    assert ("2", [("late", "expired")]) == (waiter.item, named(dropped))
    waiter, dropped = queue.take(1.0)
    assert waiter is not None
    assert ("b1", [("b0", "expired")]) == (waiter.item, named(dropped))
    assert (None, []) == queue.take(1.0)
    assert 0 == len(queue)


def test_what_cannot_be_ready_in_time_is_dropped() -> None:
    assert ["2"] == taken(queue_of(asked("1", listens=1.05), asked("2")), now=1.0, seconds=0.1)


@pytest.mark.parametrize("seconds", [1.0, 100.0, float("inf")])
def test_an_early_question_is_answered_whatever_the_work_was_measured_to_take(seconds: float) -> None:
    assert ["1"] == taken(queue_of(asked("1", listens=1)), now=0.4, seconds=seconds)


def test_who_listens_for_ever_is_always_answered() -> None:
    assert ["1"] == taken(queue_of(asked("1", listens=float("inf"))), now=1e9, seconds=1e6)


def test_a_newer_question_takes_the_place_of_the_one_it_makes_useless() -> None:
    queue = queue_of(asked("old", key="s1"), asked("2", key="s2"), asked("b", "b", "s1"))
    assert [("old", "replaced")] == named(queue.add(asked("new", key="s1"), 0))
    assert ["new", "b", "2"] == taken(queue)


def test_without_a_key_nothing_is_replaced() -> None:
    assert ["1", "2"] == taken(queue_of(asked("1"), asked("2")))


def test_one_more_than_can_wait_is_refused() -> None:
    queue = queue_of(asked("1"), asked("2"), most=2)
    assert [("3", "crowded")] == named(queue.add(asked("3"), 0))
    assert ["1", "2"] == taken(queue)


def test_where_no_place_is_left_the_client_that_waits_for_most_gives_its_newest() -> None:
    queue = queue_of(asked("a0"), asked("a1"), asked("a2"), most=3)
    assert [("a2", "crowded")] == named(queue.add(asked("b0", "b"), 0))
    assert ["a0", "b0", "a1"] == taken(queue)


def test_a_place_that_nobody_waits_in_any_more_is_free() -> None:
    queue = queue_of(asked("1", listens=0.5), asked("2"), most=2)
    assert [("1", "expired")] == named(queue.add(asked("3"), 1.0))
    assert ["2", "3"] == taken(queue)


def test_nothing_waits_where_nothing_may() -> None:
    queue: FairQueue[str] = FairQueue(0)
    assert [("1", "crowded")] == named(queue.add(asked("1"), 0))


def test_who_gives_up_is_passed_over() -> None:
    first, second = asked("1"), asked("2")
    queue = queue_of(first, second)
    queue.remove(first)
    queue.remove(first)
    queue.remove(asked("2"))
    assert ["2"] == taken(queue)


acts = st.lists(
    st.tuples(
        st.sampled_from(["add", "take", "remove"]),
        st.sampled_from("abc"),
        st.sampled_from(["", "s1", "s2"]),
        st.floats(0, 2),
        st.floats(0, 0.5),
    )
)


@given(acts, st.integers(0, 6))
def test_each_question_is_answered_or_dropped_once_and_in_the_order_of_its_client(
    made: list[tuple[str, str, str, float, float]], most: int
) -> None:
    queue: FairQueue[int] = FairQueue(most)
    now, ended, waiting = 0.0, Counter[int](), dict[int, Waiter[int]]()
    for number, (act, client, key, listens, pause) in enumerate(made):
        now += pause
        dropped: list[DroppedRequest[int]] = []
        if act == "add":
            one = Waiter(number, client=client, key=key or None, arrived=now, until=now + listens)
            waiting[number] = one
            dropped = queue.add(one, now)
        elif act == "take":
            found, dropped = queue.take(now)
            if found is not None:
                assert now < found.until
                ended[found.item] += 1
                del waiting[found.item]
        elif waiting:
            gone = waiting.pop(min(waiting))
            queue.remove(gone)
            ended[gone.item] += 1
        for lost in dropped:
            assert lost.reason != "expired" or now >= lost.waiter.until
            ended[lost.waiter.item] += 1
            del waiting[lost.waiter.item]
        assert len(queue) == len(waiting) <= max(most, 0)
        assert all(one in queue for one in waiting.values())
    assert set(ended.values()) <= {1}


def answered_in_time(arrivals: Sequence[tuple[float, str]], seconds: float, at_once: int) -> Counter[str]:
    """How many of each client are answered before their deadline, where an answer takes so many seconds."""
    queue: FairQueue[str] = FairQueue(1000)
    found: Counter[str] = Counter()
    number, free = count(), at_once
    moments: list[tuple[float, int, str, str]] = []
    for at, client in arrivals:
        heappush(moments, (at, next(number), "arrives", client))
    while moments:
        now, _, what, client = heappop(moments)
        if what == "arrives":
            queue.add(Waiter(client, client=client, arrived=now, until=now + DEADLINE), now)
        else:
            free += 1
        while free:
            waiter, _ = queue.take(now, seconds)
            if waiter is None:
                break
            free -= 1
            done = now + seconds
            found[waiter.item] += done <= waiter.until
            heappush(moments, (done, next(number), "answered", waiter.item))
    return found


def steady(client: str, rate: float, seconds: float = 10.0, start: float = 0.0) -> list[tuple[float, str]]:
    return [(start + number / rate, client) for number in range(int(rate * seconds))]


@pytest.mark.slow
@pytest.mark.parametrize("times", [1.5, 2.0, 5.0, 20.0])
@pytest.mark.parametrize(("seconds", "at_once"), [(0.01, 1), (0.04, 4), (0.1, 8)])
def test_beyond_the_knee_as_many_are_answered_in_time_as_at_it(times: float, seconds: float, at_once: int) -> None:
    capacity = at_once / seconds
    peak = answered_in_time(steady("a", 0.95 * capacity), seconds, at_once)["a"]
    assert answered_in_time(steady("a", times * capacity), seconds, at_once)["a"] >= 0.8 * peak


@pytest.mark.slow
@pytest.mark.parametrize("times", [1.0, 5.0, 20.0])
def test_a_bystander_is_answered_in_time_during_a_flood(times: float) -> None:
    seconds, at_once = 0.01, 1
    few = steady("bystander", 4, start=0.013)
    flood = steady("flood", times * at_once / seconds)
    assert len(few) == answered_in_time([*few, *flood], seconds, at_once)["bystander"]
