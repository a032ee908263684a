"""JSON Schema of the language: msgspec's own, with the docstrings of fields as descriptions."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec
from msgspec import inspect as mi

from schemas.ask import Ask
from schemas.commands import Answer, CommandMessage
from schemas.envelope import Envelope
from schemas.events import EVENTS
from schemas.inbox import Inbound
from schemas.plan import AnyEdit, Revision
from services.desk.core.commands import COMMANDS, tools
from services.domain.registry import request_replies
from services.generate.markdown import field_docs

Json = dict[str, Any]
Struct = type[msgspec.Struct]

DIALECT = "https://json-schema.org/draft/2020-12/schema"
_REPLIES = {one.ask: one.reply for one in request_replies()}
ASKS: tuple[type[Ask], ...] = tuple(_REPLIES)
"""Every question, in the order of the pages."""


def to_text(value: object) -> str:
    """JSON as it is checked in: in the order of definition, indented by two spaces."""
    return msgspec.json.format(msgspec.json.encode(value), indent=2).decode() + "\n"


def envelope_schema() -> str:
    return _rooted("Envelope", "What every message on `log.*` carries around its fact.", Envelope)


def inbox_schema() -> str:
    return _rooted("Inbox", "One message on `in.*`: what a harness saw, in the order it saw it.", Inbound)


def plan_schema() -> str:
    text = "The edits of a plan, as the `edits` of a plan event holds them (there as a string) and a `Revision`."
    return _rooted("Plan", text, tuple[AnyEdit, ...], Revision)


def events_schema() -> str:
    text = "The facts of the log: each definition is the `data` of an envelope whose `type` is the definition's name."
    return _library("Events", text, {event.TYPE: event for event in EVENTS})


def commands_schema() -> str:
    text = (
        "The commands on `do.*`: a definition named as a subject is the `data` of a `CommandMessage` on that subject."
    )
    return _library("Commands", text, {command.TYPE: command for command in COMMANDS}, CommandMessage, Answer)


def tools_offered() -> str:
    """List the tools that agents are offered, as they are served."""
    return to_text(tools())


def asks_schema() -> str:
    text = "What may be asked on `ask.*`: each definition named as a subject is a question; the others are the replies."
    return _library("Asks", text, {f"ask.{ask.NAME}": ask for ask in ASKS}, *(reply_to(ask) for ask in ASKS))


def _rooted(title: str, text: str, root: object, *others: Struct) -> str:
    """Describe one kind of value."""
    (schema, *_), definitions = _components((root, *others))
    return to_text({**_head(title, text), **schema, "$defs": definitions})


def _library(title: str, text: str, named: Mapping[str, Struct], *others: Struct) -> str:
    """Collect definitions to refer to; those with a name on the wire are called by it."""
    _, definitions = _components((*named.values(), *others))
    wire_names = {struct.__name__: name for name, struct in named.items()}
    return to_text({**_head(title, text), "$defs": {wire_names.get(k, k): v for k, v in definitions.items()}})


def _head(title: str, text: str) -> Json:
    return {"$schema": DIALECT, "title": title, "description": text}


def _components(types: Iterable[object]) -> tuple[tuple[Json, ...], dict[str, Json]]:
    types = tuple(types)
    roots, definitions = msgspec.json.schema_components(types, schema_hook=_anything, ref_template="#/$defs/{name}")
    for info in mi.multi_type_info(types):
        for struct in _structs(info):
            _describe(definitions[struct.cls.__name__], struct)
    return roots, definitions


def _anything(kind: type) -> Json:
    """Accept any JSON for a field annotated as an object."""
    if kind is object:
        return {"description": "Any JSON."}
    raise NotImplementedError


def _describe(definition: Json, struct: mi.StructType) -> None:
    docs, properties = field_docs(struct.cls), definition["properties"]
    for field in struct.fields:
        if field.name in docs:
            properties[field.encode_name] = {"description": docs[field.name], **properties[field.encode_name]}


def _structs(info: mi.Type) -> Iterator[mi.StructType]:
    """Every Struct that values of this type may hold."""
    match info:
        case mi.StructType(fields=fields):
            yield info
            yield from (struct for field in fields for struct in _structs(field.type))
        case mi.UnionType(types=types):
            yield from (struct for item in types for struct in _structs(item))
        case mi.ListType(item_type=inner) | mi.VarTupleType(item_type=inner) | mi.Metadata(type=inner):
            yield from _structs(inner)
        case mi.DictType(value_type=inner):
            yield from _structs(inner)
        case _:
            return


def reply_to(ask: type[Ask]) -> type[msgspec.Struct]:
    """The reply that a question is declared with. Raises `LookupError` where none is."""
    if ask not in _REPLIES:
        raise LookupError(f"no module of schemas declares {ask.__name__} with its reply; add a `RequestReply` of them")
    return _REPLIES[ask]
