"""The tables: one for each event type and one for what cannot be read, their columns read off the Structs."""

import hashlib
from collections.abc import Sequence
from datetime import datetime
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

import msgspec

from schemas.envelope import Envelope
from schemas.events import EVENTS, Event
from services.domain.record import RecordSkipped
from services.domain.senders import kind_of

SQL_TYPES = {str: "VARCHAR", int: "BIGINT", float: "DOUBLE", bool: "BOOLEAN", datetime: "TIMESTAMP"}
COMMON = (
    ("seq", "BIGINT"),
    ("id", "VARCHAR"),
    ("happened", "TIMESTAMP"),
    ("project", "VARCHAR"),
    ("session", "VARCHAR"),
    ("actor_kind", "VARCHAR"),
    ("actor_id", "VARCHAR"),
    ("cause", "VARCHAR"),
)
"""The envelope's columns, first in every table."""


class EventColumn(msgspec.Struct, frozen=True):
    """A column of an event's own."""

    name: str
    """Its name, which is that of the field in JSON."""
    type: str
    field: str
    """The name of the field in Python."""


class EventTable(msgspec.Struct, frozen=True):
    """An event type's table."""

    name: str
    event: type[Event]
    columns: tuple[EventColumn, ...]

    @property
    def ddl(self) -> str:
        columns = ", ".join(f'"{name}" {kind}' for name, kind in self.all_columns)
        return f'create table if not exists "{self.name}" ({columns})'

    @property
    def all_columns(self) -> tuple[tuple[str, str], ...]:
        return (*COMMON, *((column.name, column.type) for column in self.columns))


def table_name(event_type: str) -> str:
    return event_type.replace(".", "_")


def table_of(event: type[Event]) -> EventTable:
    """The table of an event. Raises TypeError for what is not flat."""
    hints = get_type_hints(event, include_extras=True)
    columns = tuple(
        EventColumn(field.encode_name, _sql_type(event, field.name, hints[field.name]), field.name)
        for field in msgspec.structs.fields(event)
        if not _is_log_only(hints[field.name])
    )
    clashing = {column.name for column in columns} & {name for name, _ in COMMON}
    if clashing:
        raise TypeError(f"{event.__name__} has fields named as the envelope's: {sorted(clashing)}; rename them")
    return EventTable(table_name(event.TYPE), event, columns)


def _is_log_only(hint: Any) -> bool:  # noqa: ANN401 - a type hint is anything
    if get_origin(hint) is not Annotated:
        return False
    return any(isinstance(meta, msgspec.Meta) and (meta.extra or {}).get("log_only") for meta in get_args(hint)[1:])


def _sql_type(event: type[Event], name: str, hint: Any) -> str:  # noqa: ANN401 - a type hint is anything
    if get_origin(hint) is Annotated:
        hint = get_args(hint)[0]
    if get_origin(hint) is list:
        return f"{_sql_type(event, name, get_args(hint)[0])}[]"
    options = [option for option in get_args(hint) if option is not type(None)]
    if get_origin(hint) in (Union, UnionType) and len(options) == 1:
        return _sql_type(event, name, options[0])
    if hint not in SQL_TYPES:
        raise TypeError(
            f"{event.__name__}.{name} is {hint}: an event holds str, int, float, bool, datetime and lists of those; "
            "put what is nested into a JSON string",
        )
    return SQL_TYPES[hint]


_OF: tuple[type[Event], ...] = (*EVENTS, RecordSkipped)
TABLES: dict[str, EventTable] = {event.TYPE: table_of(event) for event in _OF}


def columns_of(table: EventTable, facts: Sequence[tuple[Envelope, Event]]) -> dict[str, list[Any]]:
    """These facts as columns, in the table's order."""
    envelopes = [envelope for envelope, _ in facts]
    columns: dict[str, list[Any]] = {
        "seq": [envelope.seq for envelope in envelopes],
        "id": [envelope.id for envelope in envelopes],
        "happened": [envelope.at for envelope in envelopes],
        "project": [envelope.project for envelope in envelopes],
        "session": [envelope.session for envelope in envelopes],
        "actor_kind": [kind_of(envelope.actor) for envelope in envelopes],
        "actor_id": [envelope.actor.id for envelope in envelopes],
        "cause": [envelope.cause for envelope in envelopes],
    }
    for column in table.columns:
        columns[column.name] = [getattr(event, column.field) for _, event in facts]
    return columns


def fingerprint(views: Sequence[str]) -> str:
    """Of all shapes and views: another one means another file."""
    parts = [table.ddl for table in TABLES.values()] + list(views)
    return hashlib.blake2b("\n".join(parts).encode(), digest_size=6).hexdigest()
