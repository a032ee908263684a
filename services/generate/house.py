"""The picture of the house: rooms, and the events that go from one to the next."""

import graphlib
from collections.abc import Iterator, Sequence

import msgspec

from services.generate.markdown import code, page, table
from services.generate.tree import Folder, tree


class DescribedRoom(msgspec.Struct, frozen=True):
    """A room's description of itself."""

    name: str
    reads: tuple[str, ...]
    """Event types."""
    writes: tuple[str, ...]
    docstring: str


def house(rooms: Sequence[DescribedRoom], found: Sequence[Folder] = ()) -> str:
    """Draw the page: the tree of folders, a flowchart of the rooms, what each is for, and who touches which event."""
    return page(
        "# The house",
        "How the code is laid out, and how data flows through it. An arrow of the first picture says which folder "
        "imports another: arrows go down only, and rooms do not know each other.",
        "## Folders",
        tree(found),
        "## Data",
        "Rooms share no code and no state: they meet in the log, and send each other commands and questions over the "
        "broker. An arrow says which events one room writes and another "
        "reads; a room's own events, which it folds into its state, are in the second table only.",
        _flowchart(rooms),
        "## Rooms",
        table(("room", "what it is"), ((room.name, room.docstring) for room in rooms)),
        "## Events",
        table(("event", *(room.name for room in rooms)), _matrix(rooms)),
    )


def cycle(rooms: Sequence[DescribedRoom]) -> list[str]:
    """Name the rooms of a cycle in the direction of the data, the first again at the end; empty if there is none."""
    try:
        _sorter(rooms).prepare()
    except graphlib.CycleError as error:
        found: list[str] = error.args[1]
        return found
    return []


def in_flow(rooms: Sequence[DescribedRoom]) -> list[DescribedRoom]:
    """Order the rooms so that each comes behind those whose events it reads; in a cycle they stay as they are."""
    if cycle(rooms):
        return list(rooms)
    order = list(_sorter(rooms).static_order())
    return sorted(rooms, key=lambda room: order.index(room.name))


def _sorter(rooms: Sequence[DescribedRoom]) -> "graphlib.TopologicalSorter[str]":
    graph: dict[str, set[str]] = {room.name: set() for room in rooms}
    for writer, reader, _ in _arrows(rooms):
        graph[reader].add(writer)
    return graphlib.TopologicalSorter(graph)


def _arrows(rooms: Sequence[DescribedRoom]) -> Iterator[tuple[str, str, list[str]]]:
    """Writer, reader and what goes between them. A room that reads its own events is no arrow."""
    for writer in rooms:
        for reader in rooms:
            events = [event for event in writer.writes if event in reader.reads]
            if events and reader.name != writer.name:
                yield writer.name, reader.name, events


def _flowchart(rooms: Sequence[DescribedRoom]) -> str:
    boxes = [f'    {room.name}["{room.name}"]' for room in rooms]
    arrows = [f'    {writer} -->|"{"<br/>".join(events)}"| {reader}' for writer, reader, events in _arrows(rooms)]
    return "\n".join(("```mermaid", "flowchart LR", *boxes, *arrows, "```"))


def _matrix(rooms: Sequence[DescribedRoom]) -> Iterator[list[str]]:
    events = dict.fromkeys(event for room in rooms for event in (*room.writes, *room.reads))
    for event in events:
        yield [code(event), *(_cell(room, event) for room in rooms)]


def _cell(room: DescribedRoom, event: str) -> str:
    return ", ".join(verb for verb, events in (("writes", room.writes), ("reads", room.reads)) if event in events)
