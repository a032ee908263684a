"""An order says of an erased text only what a plugin needs to know it again."""

from datetime import UTC, datetime
from itertools import count

import pytest

from schemas.codec import encode
from schemas.events import ErasureOrdered
from services.domain.erasure.orders import ANCHOR, MOST, MOST_NAMES, SALT_BYTES, orders
from services.domain.erasure.scope import ErasureScope
from services.domain.erasure.secret import spellings

NOON = datetime(2026, 11, 28, 12, tzinfo=UTC)
CHEAP = 2
"""The parameter N of scrypt."""
WORD = 'kestrel/"77"é'


def given(scope: ErasureScope) -> list[ErasureOrdered]:
    numbers = count(1)
    return list(orders(scope, NOON, lambda size: next(numbers).to_bytes(size), CHEAP))


def test_no_spelling_stands_in_an_order_and_none_is_missing() -> None:
    masks = spellings(WORD)
    (order,) = given(ErasureScope(masks=masks))
    assert [] == [one for one in masks if one in encode(order)]
    assert sorted(map(len, masks)) == sorted(order.lengths)
    assert len(masks) == len(set(order.digests)) == len(order.anchors) == len(order.checks) == len(order.encoded)
    assert min(order.lengths) >= ANCHOR


def test_two_orders_for_one_text_have_nothing_in_common() -> None:
    scope = ErasureScope(masks=spellings(WORD))
    numbers = count(1)
    first, second = (next(orders(scope, NOON, lambda size: next(numbers).to_bytes(size), CHEAP)) for _ in range(2))
    assert first.salt != second.salt
    assert not {*first.digests} & {*second.digests}
    assert 2 * SALT_BYTES == len(first.salt)


@pytest.mark.parametrize("texts", [0, 1, MOST, MOST + 1])
def test_many_texts_are_several_orders_of_which_one_names_what_went(texts: int) -> None:
    masks = {b"%08d" % number: b"[masked:erased]" for number in range(texts)}
    scope = ErasureScope(masks=masks, session_ids=frozenset({"s"}), projects=frozenset({"p"}))
    made = list(orders(scope, NOON, bytes, CHEAP))
    assert [["s"], *[[]] * (len(made) - 1)] == [one.sessions for one in made]
    assert [["p"], *[[]] * (len(made) - 1)] == [one.projects for one in made]
    assert max(1, -(-texts // MOST)) == len(made)
    assert texts == sum(len(one.lengths) for one in made)


@pytest.mark.parametrize(("sessions", "projects"), [(MOST_NAMES, 1), (2 * MOST_NAMES + 1, 0), (3, MOST_NAMES)])
def test_many_names_are_several_orders_too(sessions: int, projects: int) -> None:
    """An order that is longer than a message could never be answered: no plugin would send anything any more."""
    names = [frozenset(f"ses_{number:026}" for number in range(most)) for most in (sessions, projects)]
    made = list(orders(ErasureScope(session_ids=names[0], projects=names[1]), NOON, bytes, CHEAP))
    assert sorted(names[0]) == [name for one in made for name in one.sessions]
    assert sorted(names[1]) == [name for one in made for name in one.projects]
    assert max(len(encode(one)) for one in made) < 64 * 1024
