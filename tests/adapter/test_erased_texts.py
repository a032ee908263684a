"""What an order says of an erased text, and how a plugin finds the text by that."""

import base64
import random
from datetime import UTC, datetime

import msgspec
import pytest

from schemas.erasure_asks import ErasureOrder
from schemas.events import ErasureOrdered
from services.domain.erasure.orders import orders
from services.domain.erasure.scope import ErasureScope
from services.domain.erasure.secret import MASK, masked, spellings
from tests.adapter.conftest import Adapter

NOON = datetime(2026, 11, 28, 12, tzinfo=UTC)
WORD = 'kestrel/"77"é'
MEGABYTE = 1_000_000


def order_of(word: str, seed: int = 0) -> ErasureOrdered:
    (order,) = orders(ErasureScope(masks=spellings(word)), NOON, random.Random(seed).randbytes, cost=16)
    return order


def without(adapter: Adapter, ordered: list[ErasureOrdered], *texts: bytes) -> list[bytes]:
    given = [base64.b64encode(text).decode() for text in texts]
    return [base64.b64decode(one) for one in adapter("withoutErased", msgspec.to_builtins(ordered), given)]


@pytest.mark.parametrize(
    "word", [WORD, "8 letter", "12345678", "hunter22" * 40, "пароль-и-ключ", "\t<&>\\\\ \U0001f511 x"]
)
def test_every_spelling_is_found_wherever_it_begins_whatever_is_next_to_it(adapter: Adapter, word: str) -> None:
    masks = spellings(word)
    noise = random.Random(word)
    texts = [
        noise.randbytes(before) + one + noise.randbytes(after)
        for one in masks
        for before, after in ((0, 0), (0, 9), (1, 0), (7, 1), (8, 8), (4095, 300))
    ]
    assert [masked(text, masks) for text in texts] == without(adapter, [order_of(word)], *texts)


def test_what_stands_once_more_in_itself_and_side_by_side_is_masked_whole(adapter: Adapter) -> None:
    word = "abcabcabc"
    texts = [word.encode() * times + b"abc" for times in range(1, 5)]
    assert [masked(text, spellings(word)) for text in texts] == without(adapter, [order_of(word)], *texts)


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"kestre",
        WORD.encode()[:-1],
        WORD.encode()[1:],
        WORD.upper().encode(),
        WORD.replace("77", "78").encode(),
        b"\0" * 1000,
        b"\xff\xfe\xc3" * 400,
        b"a" * 4000,
    ],
)
def test_nothing_else_is_touched(adapter: Adapter, text: bytes) -> None:
    assert [text] == without(adapter, [order_of(WORD)], text)


def test_random_bytes_are_left_as_they_are_and_few_of_them_need_the_slow_digest(adapter: Adapter) -> None:
    text = random.Random(7).randbytes(MEGABYTE)
    order = order_of(WORD)
    candidates = adapter("erasedCandidates", msgspec.to_builtins(order), base64.b64encode(text).decode())
    assert candidates < 4 * len(order.digests)
    assert [text] == without(adapter, [order], text)


def test_a_text_with_a_common_beginning_needs_few_slow_digests(adapter: Adapter) -> None:
    order = order_of("https://kestrel.example/key/77")
    text = "".join(f"https://harbour.example/page/{number} " for number in range(20_000)).encode()
    candidates = adapter("erasedCandidates", msgspec.to_builtins(order), base64.b64encode(text).decode())
    assert candidates < 20_000 // 50


def test_several_orders_are_done_together(adapter: Adapter) -> None:
    text = b"first-word and second-word"
    ordered = [order_of("first-word", 1), order_of("second-word", 2)]
    assert [f"{MASK} and {MASK}".encode()] == without(adapter, ordered, text)


def test_an_order_without_texts_changes_nothing(adapter: Adapter) -> None:
    (order,) = orders(ErasureScope(session_ids=frozenset({"s"})), NOON, random.Random(1).randbytes)
    assert [b"any text"] == without(adapter, [order], b"any text")


# Orders that this plugin cannot do

LISTS = ("lengths", "anchors", "checks", "digests", "encoded")
WRONG: dict[str, object] = {
    "order": "",
    "ordered_at": "yesterday",
    "salt": "zz",
    "cost": 3,
    "lengths": "8",
    "anchors": [-1],
    "checks": [0.5],
    "digests": [7],
    "encoded": [1],
    "sessions": "s1",
    "projects": [None],
}
"""A wrong value of each field."""


def problem(adapter: Adapter, order: object) -> str:
    return str(adapter("problemOf", order))


@pytest.mark.parametrize("scope", [ErasureScope(masks=spellings(WORD)), ErasureScope(session_ids=frozenset({"s"}))])
def test_every_order_of_this_release_can_be_done(adapter: Adapter, scope: ErasureScope) -> None:
    for order in orders(scope, NOON, random.Random(1).randbytes):
        assert "" == problem(adapter, msgspec.json.decode(msgspec.json.encode(order)))


@pytest.mark.parametrize("field", ErasureOrder.__struct_fields__)
def test_an_order_with_a_wrong_value_is_none_that_can_be_done(adapter: Adapter, field: str) -> None:
    order = msgspec.to_builtins(order_of(WORD))
    assert problem(adapter, {**order, field: WRONG[field]})
    assert problem(adapter, {**order, field: {}})


@pytest.mark.parametrize("field", LISTS)
def test_lists_that_differ_in_length_are_no_order(adapter: Adapter, field: str) -> None:
    order = msgspec.to_builtins(order_of(WORD))
    assert "its lists differ in length" == problem(adapter, {**order, field: order[field][1:]})


@pytest.mark.parametrize("order", [None, 7, "order", [], {}])
def test_what_is_no_order_at_all_can_not_be_done_either(adapter: Adapter, order: object) -> None:
    assert problem(adapter, order)


@pytest.mark.parametrize("cost", [0, 1, 2**15, 2**31, 2**53, -2, 1.5])
def test_a_cost_that_takes_more_memory_than_there_is_cannot_be_done(adapter: Adapter, cost: float) -> None:
    assert problem(adapter, {**msgspec.to_builtins(order_of(WORD)), "cost": cost})


def test_an_order_for_the_mask_itself_comes_to_an_end(adapter: Adapter) -> None:
    (order,) = orders(ErasureScope(masks={b"masked:erased": MASK.encode()}), NOON, random.Random(1).randbytes, cost=16)
    assert [MASK.encode()] == without(adapter, [order], MASK.encode())
