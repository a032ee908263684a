"""Every text of a message is masked, also that of a field that comes tomorrow; ids stay as they are."""

from collections.abc import Iterator
from typing import Any, get_args

import msgspec
import pytest
from msgspec import inspect

from schemas.inbox import Inbound, PartSeen, Seen
from services.tagger.masking import ids_of, mask_item

SECRET = "gh" + "p_" + "a1B2" * 9


def structs(kind: inspect.Type) -> Iterator[inspect.StructType]:
    """All structs that a type has in it, itself among them."""
    match kind:
        case inspect.StructType(fields=fields):
            yield kind
            for field in fields:
                yield from structs(field.type)
        case inspect.VarTupleType(item_type=item):
            yield from structs(item)
        case inspect.UnionType(types=types):
            for one in types:
                yield from structs(one)


def with_secret(kind: inspect.Type) -> object:
    """A value of the type that has the secret; none where it can have no text."""
    match kind:
        case inspect.StrType():
            return f"a {SECRET}"
        case inspect.Metadata(type=inner):
            return with_secret(inner)
        case inspect.VarTupleType(item_type=item) if with_secret(item):
            return (with_secret(item),)
        case _:
            return None


def without_bounds(kind: inspect.Type) -> type[inspect.Type]:
    """The kind of a type, whatever is noted of it."""
    return type(kind.type if isinstance(kind, inspect.Metadata) else kind)


ITEMS = {one.cls: one for item in get_args(Seen) for one in structs(inspect.type_info(item))}
FIELDS = [
    pytest.param(one.cls, field.name, with_secret(field.type), id=f"{one.cls.__name__}.{field.name}")
    for one in ITEMS.values()
    for field in one.fields
    if with_secret(field.type)
]


def holder(cls: type[Any], **fields: object) -> object:
    """One of these with the fields, and the least for all else that it must have."""
    least = {inspect.StrType: "x", inspect.LiteralType: "text", inspect.IntType: 0, inspect.VarTupleType: ()}
    required = {field.name: least[without_bounds(field.type)] for field in ITEMS[cls].fields if field.required}
    return cls(**{**required, **fields})


@pytest.mark.parametrize(("cls", "field", "value"), FIELDS)
def test_each_text_is_masked_that_is_no_id(cls: type[Any], field: str, value: object) -> None:
    (masked,) = mask_item((holder(cls, **{field: value}),))  # type: ignore[arg-type]
    assert (field in ids_of(cls)) == (SECRET in msgspec.json.encode(masked).decode())


def test_what_messages_refer_to_each_other_by_is_declared_as_an_id() -> None:
    """A part is of the message of this name: were one of them masked, the other would be of no message."""
    named = {
        (cls, field.name) for cls, one in ITEMS.items() for field in one.fields if field.name in {"message", "part"}
    }
    assert len(named) >= len(ITEMS) / 3
    assert set() == {(cls.__name__, field) for cls, field in named if field not in ids_of(cls)}


def test_what_has_no_secret_is_the_same_object() -> None:
    part = PartSeen("m1", "tool", "p1", tool="bash", input='{"command":"ls"}', output="x" * 200)
    (masked,) = mask_item((part,))
    assert masked is part


def test_a_message_has_no_texts_next_to_its_items() -> None:
    texts = {field.name for field in msgspec.structs.fields(Inbound) if field.type is str}
    assert {"id", "project", "session"} == texts
