"""Values of the language that have a word wherever they can have a text, read off its types.

What is asked of them is asked of each event and of each report that there is, and of one that will be added.
"""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import TypeVar

import msgspec
from msgspec import inspect

from schemas.codec import encode_attachments, encode_edits
from schemas.events import Event, PartRecorded, PlanExtended, PlanRebased
from schemas.inbox import Attachment
from schemas.plan import SetHead

AnyStruct = TypeVar("AnyStruct", bound=msgspec.Struct)
replace = msgspec.structs.replace
AT = datetime(2026, 3, 7, 12, tzinfo=UTC)


def text_fields(struct: type[msgspec.Struct]) -> Iterator[str]:
    """The fields of a Struct that hold a text, or a list of texts."""
    return (field.name for field in msgspec.structs.fields(struct) if _has_text(inspect.type_info(field.type)))


def _has_text(kind: inspect.Type) -> bool:
    match kind:
        case inspect.Metadata(type=inner) | inspect.ListType(item_type=inner) | inspect.VarTupleType(item_type=inner):
            return _has_text(inner)
        case inspect.UnionType(types=types):
            return any(map(_has_text, types))
        case _:
            return isinstance(kind, inspect.StrType)


def marked(struct: type[AnyStruct], word: Callable[[str], str]) -> AnyStruct:
    """A value of this Struct. `word`: the text of each field that can hold one, by the name of that field."""
    return struct(**{field.name: _value(inspect.type_info(field.type), field.name, word) for field in _fields(struct)})


def marked_event(event: type[Event], word: Callable[[str], str]) -> Event:
    """An event of this class. JSON in a text stays JSON, as far as readers of the log decode it."""
    made = marked(event, word)
    if isinstance(made, PlanExtended | PlanRebased):
        return replace(made, edits=encode_edits((SetHead(slot=0, text=word("edits")),)))
    if isinstance(made, PartRecorded):
        return replace(made, attachments=encode_attachments((Attachment(filename=word("attachments")),)))
    return made


def _fields(struct: type[msgspec.Struct]) -> tuple[msgspec.structs.FieldInfo, ...]:
    return msgspec.structs.fields(struct)


def _value(kind: inspect.Type, name: str, word: Callable[[str], str]) -> object:
    match kind:
        case inspect.StructType(cls=cls):
            return marked(cls, word)
        case inspect.ListType(item_type=item):
            return [_value(item, name, word)]
        case inspect.VarTupleType(item_type=item):
            return (_value(item, name, word),)
        case inspect.Metadata(type=inner):
            return _value(inner, name, word)
        case inspect.UnionType(types=types):
            return _value(next(one for one in types if not isinstance(one, inspect.NoneType)), name, word)
        case inspect.LiteralType(values=values):
            return next(value for value in values if value)
        case inspect.StrType():
            return word(name)
        case _:
            return _SCALARS[type(kind)]


_SCALARS: dict[type[inspect.Type], object] = {
    inspect.BoolType: True,
    inspect.IntType: 1,
    inspect.FloatType: 1.5,
    inspect.DateTimeType: AT,
}
