"""Every number in a message that somebody sends is within bounds, and one beyond them is refused in a sentence."""

from collections.abc import Iterator

import msgspec
import pytest
from msgspec import inspect as mi

from schemas.codec import Malformed, decode_inbound
from schemas.inbox import Inbound
from schemas.numbers import MOST
from schemas.view_asks import SqlAsk
from services.desk.core.commands import COMMANDS
from services.generate.schema import ASKS
from tests.helpers.cells import cells

HEAD = b'{"id":"a","at":"2026-03-07T12:00:00Z","items":['


def numbers(struct: type[msgspec.Struct]) -> Iterator[tuple[str, mi.IntType | mi.FloatType]]:
    """The numbers of a Struct by their names, those in lists and in Structs within, too."""
    for field in msgspec.structs.fields(struct):
        yield from ((field.name, one) for one in _of(mi.type_info(field.type)))


def _of(info: mi.Type) -> Iterator[mi.IntType | mi.FloatType]:
    match info:
        case mi.IntType() | mi.FloatType():
            yield info
        case mi.Metadata(type=inner) | mi.VarTupleType(item_type=inner) | mi.ListType(item_type=inner):
            yield from _of(inner)
        case mi.UnionType(types=types):
            yield from (number for one in types for number in _of(one))
        case mi.StructType(cls=cls):
            yield from (number for _, number in numbers(cls))


SENT = [Inbound, *COMMANDS, *(one for one in ASKS if one is not SqlAsk)]  # the limits of that are settings


@cells("struct", SENT)
def test_every_number_that_is_sent_has_bounds_that_add_up(struct: type[msgspec.Struct]) -> None:
    for name, number in numbers(struct):
        assert number.ge is not None, name
        assert number.le is not None, name
        assert -MOST <= number.ge <= number.le <= MOST, name


@cells("number", [2**53, -(2**53), 2**63 - 1, 2**64, 10**400, "1e400", "1e999999999"])
@cells("name", ["input", "output", "cache_read", "cost"])
def test_a_number_beyond_is_refused_with_what_is_taken(name: str, number: object) -> None:
    given = {"input": 1, name: number}
    fields = ",".join(f'"{key}":{value}' for key, value in given.items())
    with pytest.raises(Malformed, match="not an inbound message"):
        decode_inbound(HEAD + b'{"kind":"usage.seen","message":"m",' + fields.encode() + b"}]}")


@pytest.mark.parametrize("where", ['"x":%s,"items":[]}', '"items":[{"kind":"session.seen","x":%s}]}'])
@pytest.mark.parametrize("nested", ["[" * 5000 + "]" * 5000, '{"a":' * 5000 + "1" + "}" * 5000])
def test_nesting_in_a_field_that_nobody_knows_is_refused_with_a_sentence(where: str, nested: str) -> None:
    with pytest.raises(Malformed, match="not an inbound message"):
        decode_inbound(b'{"id":"a","at":"2026-03-07T12:00:00Z",' + (where % nested).encode())
