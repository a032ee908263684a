"""A command of any kind, made from the types of its fields: for what holds of all commands, those to come included."""

from datetime import UTC, datetime

from msgspec import inspect as mi

from schemas.commands import Command

MOMENT = datetime(2026, 3, 7, 12, tzinfo=UTC)


def any_command(kind: type[Command]) -> Command:
    """A command of this kind, with something in each field that has no default."""
    info = mi.type_info(kind)
    assert isinstance(info, mi.StructType)
    return kind(**{field.name: _value(field.type) for field in info.fields if field.required})


def _value(of: mi.Type) -> object:
    match of:
        case mi.StrType():
            return "x"
        case mi.BoolType():
            return True
        case mi.IntType():
            return 1
        case mi.FloatType():
            return 1.0
        case mi.DateTimeType():
            return MOMENT
        case mi.VarTupleType():
            return ()
        case mi.Metadata(type=inner):
            return _value(inner)
        case mi.ListType():
            return []
        case _:
            raise TypeError(f"no value is known of {of}: add its kind here")
