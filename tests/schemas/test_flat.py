import msgspec
import pytest
from msgspec import inspect as mi

from schemas.events import EVENTS, Event
from tests.helpers.cells import cells

SCALARS = (mi.StrType, mi.IntType, mi.FloatType, mi.BoolType, mi.DateTimeType)


def is_flat(info: mi.Type) -> bool:
    """Whether a column of a table can hold it."""
    match info:
        case mi.Metadata(type=inner):
            return is_flat(inner)
        case mi.UnionType(types=types):
            rest = [one for one in types if not isinstance(one, mi.NoneType)]
            return len(rest) == 1 and is_flat(rest[0])
        case mi.ListType(item_type=item):
            return isinstance(item, SCALARS)
        case _:
            return isinstance(info, SCALARS)


@cells("event_class", EVENTS)
def test_every_event_is_flat(event_class: type[Event]) -> None:
    fields = msgspec.structs.fields(event_class)
    assert [] == [field.name for field in fields if not is_flat(mi.type_info(field.type))]


@pytest.mark.parametrize(
    "nested",
    [dict[str, str], list[list[str]], list[str | None], str | int, list[dict[str, int]], tuple[str, int], object, None],
)
def test_what_is_nested_is_not_flat(nested: object) -> None:
    assert not is_flat(mi.type_info(nested))
