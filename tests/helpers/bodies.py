"""Bodies of the language with as little in them as they need, read off their Structs: a new one is found by itself."""

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import inspect as mi


def least(body: type[msgspec.Struct], **fields: object) -> dict[str, object]:
    """The required fields of a body, and these."""
    needed = {
        field.encode_name: _value(mi.type_info(field.type)) for field in msgspec.structs.fields(body) if field.required
    }
    tag = {"kind": body.__struct_config__.tag} if body.__struct_config__.tag else {}
    return {**needed, **tag, **fields}


_VALUES: Mapping[type[mi.Type], object] = {
    mi.StrType: "x",
    mi.BoolType: True,
    mi.IntType: 1,
    mi.FloatType: 0.5,
    mi.DateTimeType: "2026-03-07T12:00:00Z",
    mi.RawType: {},
}


def _value(info: Any) -> object:  # noqa: ANN401 - any of the kinds of msgspec
    match info:
        case mi.Metadata(type=inner):
            return _value(inner)
        case mi.LiteralType(values=values):
            return values[0]
        case mi.VarTupleType() | mi.ListType():
            return []
        case mi.StructType(cls=body):
            return least(body)
        case mi.UnionType(types=types):
            return _value(types[0])
        case _:
            return _VALUES[type(info)]
