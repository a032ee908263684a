"""Random values of any Struct of the language, read off its annotations."""

from datetime import UTC, datetime
from typing import TypeVar

import msgspec
from hypothesis import strategies as st
from msgspec import inspect as mi

AnyStruct = TypeVar("AnyStruct", bound=msgspec.Struct)

TEXTS = st.text(st.characters(codec="utf-8"), max_size=20)
IDS = TEXTS | st.sampled_from(["", "_", "=", ".", "*", ">", " ", "=5F", "a.b", "a/b", "$SRV", "ä", "\x00", "𝄞"])
MOMENTS = st.datetimes(datetime(1970, 1, 1), datetime(2100, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001 - given above
SCALARS: dict[type[mi.Type], st.SearchStrategy[object]] = {
    mi.StrType: TEXTS,
    mi.BoolType: st.booleans(),
    mi.DateTimeType: MOMENTS,
    mi.NoneType: st.none(),
    mi.CustomType: st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | TEXTS,
    mi.AnyType: st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | TEXTS,
    mi.RawType: st.just(msgspec.Raw(b"{}")),
}


def structs(struct: type[AnyStruct]) -> st.SearchStrategy[AnyStruct]:
    """Any value of this Struct; each field that has a default is sometimes left out."""
    fields = msgspec.structs.fields(struct)
    required = {field.name: values(mi.type_info(field.type)) for field in fields if field.required}
    optional = {field.name: values(mi.type_info(field.type)) for field in fields if not field.required}
    return st.fixed_dictionaries(required, optional=optional).map(lambda given: struct(**given))


def values(info: mi.Type) -> st.SearchStrategy[object]:
    match info:
        case mi.StructType(cls=cls):
            return structs(cls)
        case mi.IntType(ge=least, le=most):
            return st.integers(-(2**63) if least is None else least, 2**63 - 1 if most is None else most)
        case mi.FloatType(ge=least, le=most):
            return st.floats(least, most, allow_nan=False, allow_infinity=False)
        case mi.LiteralType(values=choices):
            return st.sampled_from(choices)
        case mi.ListType() | mi.VarTupleType() | mi.DictType():
            return several(info)
        case mi.UnionType(types=types):
            return st.one_of([values(one) for one in types])
        case mi.Metadata(type=inner):
            return values(inner)
        case _:
            return SCALARS[type(info)]


def several(info: mi.ListType | mi.VarTupleType | mi.DictType) -> st.SearchStrategy[object]:
    match info:
        case mi.ListType(item_type=item):
            return st.lists(values(item), max_size=3)
        case mi.VarTupleType(item_type=item):
            return st.lists(values(item), max_size=3).map(tuple)
        case mi.DictType(key_type=key, value_type=item):
            return st.dictionaries(values(key), values(item), max_size=3)
