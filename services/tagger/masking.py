"""Masks the secrets in a harness's messages: every text that may reach the log passes here."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, TypeVar

import msgspec

from schemas.codec import mended_json
from schemas.inbox import (
    AdapterSeen,
    Attachment,
    CompactionSeen,
    DocumentSeen,
    ErrorSeen,
    Listed,
    ListSeen,
    MessageGone,
    MessageSeen,
    PartGone,
    PartSeen,
    Seen,
    SessionReverted,
    SessionSeen,
    StepSeen,
    ToolsSeen,
    UsageSeen,
)
from services.domain.secrets import mask

IDS: Mapping[type[msgspec.Struct], frozenset[str]] = {
    AdapterSeen: frozenset({"digest"}),
    SessionSeen: frozenset({"parent", "forked_from", "forked_at", "formerly", "former"}),
    SessionReverted: frozenset({"message"}),
    Attachment: frozenset({"digest"}),
    PartSeen: frozenset({"message", "part", "call", "text_ref", "input_ref", "output_ref", "child"}),
    MessageSeen: frozenset({"message"}),
    MessageGone: frozenset({"message"}),
    PartGone: frozenset({"message", "part"}),
    UsageSeen: frozenset({"message"}),
    ErrorSeen: frozenset({"message"}),
    CompactionSeen: frozenset({"summary"}),
    ToolsSeen: frozenset({"digest"}),
    DocumentSeen: frozenset({"digest", "text_ref"}),
    Listed: frozenset({"message", "parts"}),
    ListSeen: frozenset({"after"}),
    StepSeen: frozenset({"step", "previous", "after", "sent", "system_digest", "toolset"}),
}
"""Fields by which messages refer to each other: masked, two of them could become one. All others are masked."""
SHORT = 80
"""Characters of a text that is mostly a name: of an agent, a tool, a model. These come again with every part."""

AnyStruct = TypeVar("AnyStruct", bound=msgspec.Struct)

replace = msgspec.structs.replace


def mask_item(items: tuple[Seen, ...]) -> tuple[Seen, ...]:
    return tuple(_masked(item) for item in items)


def _masked(one: AnyStruct) -> AnyStruct:
    """The value with each text in it masked, but for ids; the same object if there is no secret in it."""
    ids = IDS.get(type(one), frozenset())
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
