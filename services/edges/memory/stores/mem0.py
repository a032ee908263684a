"""A JSON export of mem0, of OpenMemory, or what their interfaces answer: a list of memories, or pages of it."""

from collections.abc import Iterator, Mapping, Sequence

from services.edges.memory.stores.statement import OF_ANOTHER_TYPE, Omission, Statement

TOOL = "mem0"
_LISTS = ("results", "memories", "items")
"""The fields of a page that may have its memories."""
_OF_OPENMEMORY = frozenset({"state", "app_id", "app_name", "metadata_"})
"""Fields of which an exported memory of OpenMemory has one at least, besides its `content`."""


def records_of(values: Sequence[object]) -> list[object] | None:
    """The memories that these values are or hold; None where they are no export of mem0."""
    records: list[object] = []
    is_export = False
    for value in values:
        page = _page(value)
        is_export |= any(_is_memory(one) for one in page) or _is_empty_page(value)
        records += page
    return records if is_export else None


def statements(records: Sequence[object]) -> Iterator[Statement | Omission]:
    """The memories that hold, and the relations of a graph memory as sentences."""
    for record in records:
        match record:
            case {"state": str() as state} if state != "active":
                yield Omission(f"is {state} there")
            case {"memory": str() as text} | {"content": str() as text}:
                yield Statement(text)
            case {"source": str() as start, "relationship": str() as words, "target": str() as end} | {
                "source": str() as start,
                "relationship": str() as words,
                "destination": str() as end,
            }:
                yield Statement(f"{start} {words.replace('_', ' ')} {end}.")
            case _:
                yield Omission(OF_ANOTHER_TYPE)


def _page(value: object) -> list[object]:
    """The records of a page, of a list, or the value as the only one."""
    if isinstance(value, list):
        return value
    if not isinstance(value, Mapping):
        return [value]
    lists = [value[name] for name in _LISTS if isinstance(value.get(name), list)]
    if not lists:
        return [value]
    relations = value.get("relations")
    return [*(one for each in lists for one in each), *(relations if isinstance(relations, list) else ())]


def _is_memory(record: object) -> bool:
    if not isinstance(record, Mapping):
        return False
    return isinstance(record.get("memory"), str) or (
        isinstance(record.get("content"), str) and not _OF_OPENMEMORY.isdisjoint(record)
    )


def _is_empty_page(value: object) -> bool:
    return isinstance(value, Mapping) and (value.get("results") == [] or "export_meta" in value)
