"""Golden samples: one envelope of every event at every version that was ever current, never rewritten."""

from datetime import UTC, datetime
from typing import TypeVar, get_args

import msgspec
from msgspec import inspect as mi

from schemas.codec import derived_id, encode_edits, wrap
from schemas.envelope import Actor
from schemas.events import Event
from schemas.plan import AnyEdit
from schemas.subjects import Address
from services.generate.schema import to_text

AT = datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=UTC)
ADDRESS = Address("project-1", "session-1")
ACTOR = Actor("room", "room-1")

AnyStruct = TypeVar("AnyStruct", bound=msgspec.Struct)


def golden_name(event: type[Event]) -> str:
    return f"{event.TYPE}.v{event.V}.json"


def golden(event: type[Event]) -> str:
    """Put this event in an envelope: every field has a value that is not its default."""
    identity = derived_id("golden", event.TYPE, str(event.V))
    return to_text(wrap(sample(event), ADDRESS, id=identity, at=AT, actor=ACTOR, cause="cause-1"))


def sample(struct: type[AnyStruct]) -> AnyStruct:
    """Fill in every field of this Struct, the same at every call."""
    fields = msgspec.structs.fields(struct)
    return struct(**{field.name: _field(field, nth) for nth, field in enumerate(fields, 1)})


def _field(field: msgspec.structs.FieldInfo, nth: int) -> object:
    if field.name == "edits" and field.type is str:  # JSON in a string: every kind of edit must decode for ever, too
        return encode_edits(sample(edit) for edit in get_args(AnyEdit))
    if field.default is True:
        return False
    return _value(mi.type_info(field.type), field.encode_name, nth)


def _value(info: mi.Type, name: str, nth: int) -> object:
    match info:
        case mi.ListType(item_type=item) | mi.VarTupleType(item_type=item):
            return [_value(item, name, nth), _value(item, name, nth + 1)]
        case mi.Metadata(type=inner):
            return _value(inner, name, nth)
        case mi.UnionType(types=types):
            return _value(next(one for one in types if not isinstance(one, mi.NoneType)), name, nth)
        case _:
            return _scalar(info, name, nth)


def _scalar(info: mi.Type, name: str, nth: int) -> object:
    values: dict[type[mi.Type], object] = {
        mi.StrType: f"{name}-{nth}",
        mi.BoolType: True,
        mi.IntType: nth,
        mi.FloatType: nth + 0.5,
        mi.DateTimeType: AT,
    }
    if type(info) not in values:
        raise TypeError(
            f"the field {name!r} is not flat ({info}); use str, int, float, bool, datetime or lists of those"
        )
    return values[type(info)]
