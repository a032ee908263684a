"""The pages of events and of views: every fact of the log, field by field, and what an operator may query."""

import importlib

import msgspec
from msgspec import inspect as mi

from schemas.envelope import Envelope
from schemas.events import EVENTS, Event
from services.generate.markdown import code, field_docs, page, summary, table
from services.responder.views.store import view_sources

HEAD = ("field", "type", "default", "meaning")
WORDS = {
    mi.StrType: "str",
    mi.IntType: "int",
    mi.FloatType: "float",
    mi.BoolType: "bool",
    mi.DateTimeType: "datetime",
    mi.RawType: "JSON",
    mi.NoneType: "nothing",
}


def events_page() -> str:
    return page(
        "# Events",
        "Every fact that the log can hold. The wire name is the contract; fields of *log only* text get no column in "
        "the tables and are read from the log alone. Unknown fields and unknown types are passed over.",
        "## The envelope",
        _struct(Envelope),
        *(block for noun in dict.fromkeys(map(_noun, EVENTS)) for block in _chapter(noun)),
    )


def _noun(event: type[Event]) -> str:
    return event.TYPE.partition(".")[0]


def _chapter(noun: str) -> list[str]:
    events = [event for event in EVENTS if _noun(event) == noun]
    about = summary(importlib.import_module(events[0].__module__))
    return [f"## {noun}", about, *(block for event in events for block in _section(event))]


def _section(event: type[Event]) -> list[str]:
    return [f"### {event.TYPE}", f"Version {event.V}", _struct(event)]


def _struct(struct: type[msgspec.Struct]) -> str:
    """Say what it means, then list its fields."""
    docs = field_docs(struct)
    rows = [_row(field, docs.get(field.name, "")) for field in msgspec.structs.fields(struct)]
    return f"{summary(struct)}\n\n{table(HEAD, rows) if rows else 'It has no fields.'}"


def _row(field: msgspec.structs.FieldInfo, meaning: str) -> tuple[str, str, str, str]:
    info = mi.type_info(field.type)
    mark = "*Log only.* " if _log_only(info) else ""
    return code(field.encode_name), type_words(info), _default(field), f"{mark}{meaning}"


def _log_only(info: mi.Type) -> bool:
    return isinstance(info, mi.Metadata) and bool((info.extra or {}).get("log_only"))


def type_words(info: mi.Type) -> str:
    """Name a type as people say it."""
    match info:
        case mi.Metadata(type=inner):
            return type_words(inner)
        case mi.ListType(item_type=item):
            return f"list of {type_words(item)}"
        case mi.UnionType(types=types):
            return " or ".join(type_words(one) for one in types)
        case mi.StructType(cls=cls):
            return cls.__name__
        case _:
            return WORDS[type(info)]


def _default(field: msgspec.structs.FieldInfo) -> str:
    if field.required:
        return "required"
    value = field.default_factory() if field.default is msgspec.NODEFAULT else field.default
    return code(msgspec.json.encode(value).decode())


def views_page() -> str:
    rows = ((code(name), _purpose(name, source)) for name, source in view_sources().items())
    return page(
        "# Views",
        "The views that `annals sql` and `ask.sql` can query, in addition to one table for each [event](events.md). "
        "Each view `name` is also a macro `name_at(position)`, which returns its state at a position of the log.",
        table(("view", "what it is"), rows),
    )


def _purpose(name: str, source: str) -> str:
    """The comment at the beginning of the file, without the name."""
    lines = []
    for line in source.splitlines():
        if not line.startswith("--"):
            break
        lines.append(line.removeprefix("--").strip())
    return " ".join(lines).removeprefix(f"{name}: ")
