"""Masks the secrets in a harness's messages: every text that may reach the log passes here."""

from functools import cache, lru_cache
from typing import Any, TypeVar

import msgspec
from msgspec import inspect

from schemas.codec import mended_json
from schemas.inbox import PartSeen, Seen
from services.domain.secrets import mask

SHORT = 80
"""Characters of a text that is mostly a name: of an agent, a tool, a model. These come again with every part."""

AnyStruct = TypeVar("AnyStruct", bound=msgspec.Struct)

replace = msgspec.structs.replace


def mask_item(items: tuple[Seen, ...]) -> tuple[Seen, ...]:
    return tuple(_masked(item) for item in items)


@cache
def ids_of(struct: type[msgspec.Struct]) -> frozenset[str]:
    """The fields of a report that are declared as an `Id`, or as several of them."""
    fields = msgspec.structs.fields(struct)
    return frozenset(one.encode_name for one in fields if _is_id(inspect.type_info(one.type)))


def _is_id(found: inspect.Type) -> bool:
    match found:
        case inspect.Metadata(extra={"is_id": True}):
            return True
        case inspect.VarTupleType(item_type=item):
            return _is_id(item)
        case _:
            return False


def _masked(one: AnyStruct) -> AnyStruct:
    """The value with each text in it masked, but for ids; the same object if there is no secret in it."""
    ids = ids_of(type(one))
    changed = dict[str, object]()
    for field in one.__struct_fields__:
        before = getattr(one, field)
        after = before if not before or field in ids else _value(_whole(one, field, before))
        if after is not before:
            changed[field] = after
    return replace(one, **changed) if changed else one


def _whole(one: msgspec.Struct, field: str, value: Any) -> Any:  # noqa: ANN401 - a field of any type
    return mended_json(value) if isinstance(one, PartSeen) and field == "input" else value


def _value(value: object) -> object:
    match value:
        case str():
            masked_text = _short(value) if len(value) <= SHORT else mask(value)
            return value if masked_text == value else masked_text
        case tuple():
            masked = tuple(_value(each) for each in value)
            return value if all(one is other for one, other in zip(masked, value, strict=True)) else masked
        case msgspec.Struct():
            return _masked(value)
        case _:
            return value


@lru_cache(maxsize=4096)
def _short(text: str) -> str:
    return mask(text)
