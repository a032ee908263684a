"""The tree of folders, read off the source: what each folder is for, and which folders it imports."""

import ast
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from services.generate.markdown import code, table
from services.kit.rooms import ROOMS

LAYERS: tuple[tuple[str, ...], ...] = (
    ("services/edges", "services/generate"),
    tuple(f"services/{room}" for room in ROOMS),
    ("services/kit",),
    ("services/plan",),
    ("services/memory",),
    ("services/domain",),
    ("schemas",),
)
"""From the top down: a folder imports only folders further down this list, and none of its own line."""


class Folder(msgspec.Struct, frozen=True):
    """One package: its place, its docstring, and the packages it imports."""

    place: str
    purpose: str
    imports: frozenset[str] = frozenset()
    """Places, itself left out."""


def folders(root: Path) -> list[Folder]:
    """Read every package below `schemas` and `services`, in the order of their places."""
    inits = [file for name in ("schemas", "services") for file in _inits(root, name)]
    packages = {_place(file.parent, root): file.parent for file in inits}
    return [_folder(place, path, packages) for place, path in sorted(packages.items())]


def tree(found: Sequence[Folder]) -> str:
    """Draw the layers, and list the folders."""
    rows = ([_indented(one.place), one.purpose] for one in found if one.place != "services")
    return "\n\n".join((_layers(found), table(("folder", "what it is"), rows)))


def upward(found: Sequence[Folder]) -> list[tuple[str, str]]:
    """List the imports that go up or sideways: of a place, and of what."""
    rank = {top: level for level, layer in enumerate(LAYERS) for top in layer}
    return [
        (one.place, other)
        for one in found
        for other in sorted(one.imports)
        if (here := _top(one.place)) != (there := _top(other))
        and here in rank
        and there in rank
        and rank[there] <= rank[here]
    ]


def _layers(found: Sequence[Folder]) -> str:
    arrows = sorted({(_top(one.place), _top(other)) for one in found for other in one.imports})
    lines = [f'    {_id(top)}["{top}"]' for layer in LAYERS for top in layer]
    lines += [f"    {_id(here)} --> {_id(there)}" for here, there in arrows if here != there]
    return "\n".join(("```mermaid", "flowchart TD", *lines, "```"))


def _inits(root: Path, name: str) -> Iterator[Path]:
    yield from (root / name).rglob("__init__.py")


def _folder(place: str, path: Path, packages: Mapping[str, Path]) -> Folder:
    sources = {file: ast.parse(file.read_text("utf-8")) for file in sorted(path.glob("*.py"))}
    purpose = ast.get_docstring(sources[path / "__init__.py"]) or ""
    imported = {target for source in sources.values() for target in _imported(source, packages)}
    return Folder(place, " ".join(purpose.split()), frozenset(imported - {place, "", "services"}))


def _imported(source: ast.Module, packages: Mapping[str, Path]) -> Iterator[str]:
    for node in _statements(source):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield from (_package(f"{node.module}.{alias.name}", packages) for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (_package(alias.name, packages) for alias in node.names)


def _statements(within: ast.AST) -> Iterator[ast.AST]:
    """Every statement of a module; what they are made of has no imports and is most of it."""
    for field in ("body", "orelse", "finalbody", "handlers", "cases"):
        for statement in getattr(within, field, ()):
            yield statement
            yield from _statements(statement)


def _package(module: str, packages: Mapping[str, Path]) -> str:
    """The place of the package that holds a module; the empty place for what is not ours."""
    place = module.replace(".", "/")
    while place and place not in packages:
        place = place.rpartition("/")[0]
    return place


def _place(path: Path, root: Path) -> str:
    return path.relative_to(root).as_posix()


def _top(place: str) -> str:
    first, _, rest = place.partition("/")
    return f"{first}/{rest.partition('/')[0]}" if first == "services" else first


def _id(place: str) -> str:
    return place.replace("/", "_")


def _indented(place: str) -> str:
    depth = place.count("/") - (1 if place.startswith("services/") else 0)
    return "&nbsp;" * 4 * depth + code(place)
