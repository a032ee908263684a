"""The knowledge graph of the MCP server `memory`: entities with observations, and relations between them."""

from collections.abc import Iterator, Mapping, Sequence

from services.edges.memory.stores.statement import OF_ANOTHER_TYPE, Omission, Statement, texts_of

TOOL = "the MCP server memory"


def records_of(values: Sequence[object]) -> list[object] | None:
    """The entities and relations that these values are or hold; None where they are no knowledge graph."""
    records: list[object] = []
    is_graph = False
    for value in values:
        match value:
            case {"entities": list() as entities, "relations": list() as relations}:
                is_graph = True
                records += [{"type": "entity", **one} if isinstance(one, dict) else one for one in entities]
                records += [{"type": "relation", **one} if isinstance(one, dict) else one for one in relations]
            case {"type": "entity", "name": _} | {"type": "relation", "from": _, "to": _}:
                is_graph = True
                records.append(value)
            case _:
                records.append(value)
    return records if is_graph else None


def statements(records: Sequence[object]) -> Iterator[Statement | Omission]:
    """The observations of each entity, under its name, and each relation as a sentence."""
    kinds = {
        one["name"]: one["entityType"]
        for one in records
        if isinstance(one, dict) and isinstance(one.get("name"), str) and isinstance(one.get("entityType"), str)
    }
    for record in records:
        match record:
            case {"type": "entity", "name": str() as name, "observations": observations}:
                yield from _observed(name, observations)
            case {"type": "relation", "from": str() as start, "to": str() as end, "relationType": str() as relation}:
                words = relation.replace("_", " ").strip()
                yield Statement(f"{_named(start, kinds)} {words} {_named(end, kinds)}.")
            case _:
                yield Omission(OF_ANOTHER_TYPE)


def _observed(name: str, observations: object) -> Iterator[Statement | Omission]:
    """An observation mostly leaves out what it is about."""
    for one in texts_of(observations):
        if isinstance(one, Omission) or name.casefold() in one.text.casefold():
            yield one
        else:
            yield Statement(f"{name}: {one.text.strip()}")


def _named(name: str, kinds: Mapping[str, str]) -> str:
    return f"{name} ({kinds[name]})" if kinds.get(name) else name
