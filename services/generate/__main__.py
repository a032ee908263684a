"""The door: `python -m services.generate` writes what is generated, `--check` says what is stale."""

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from schemas.events import EVENTS
from services.generate.asyncapi import asyncapi
from services.generate.events import events_page, views_page
from services.generate.golden import golden, golden_name
from services.generate.house import DescribedRoom, house, in_flow
from services.generate.schema import (
    asks_schema,
    commands_schema,
    envelope_schema,
    events_schema,
    inbox_schema,
    plan_schema,
    tools_offered,
)
from services.generate.settings import settings_page
from services.generate.shapes import token_shapes
from services.generate.tree import folders
from services.kit.rooms import ROOMS, load
from services.settings import Settings

ROOT = Path(__file__).resolve().parents[2]
JSON = ROOT / "schemas" / "json"
DOCS = ROOT / "docs"
GOLDEN = ROOT / "tests" / "schemas" / "golden"

PAGES: list[tuple[Path, Callable[[], str]]] = [
    (JSON / "envelope.schema.json", envelope_schema),
    (JSON / "events.schema.json", events_schema),
    (JSON / "inbox.schema.json", inbox_schema),
    (JSON / "commands.schema.json", commands_schema),
    (JSON / "asks.schema.json", asks_schema),
    (JSON / "plan.schema.json", plan_schema),
    (JSON / "tools.json", tools_offered),
    (JSON / "asyncapi.json", asyncapi),
    (ROOT / "deploy" / "adapter-core" / "src" / "secrets.json", token_shapes),
    (DOCS / "events.md", events_page),
    (DOCS / "views.md", views_page),
    (DOCS / "house.md", lambda: house(all_rooms(), folders(ROOT))),
    (DOCS / "settings.md", lambda: settings_page(Settings)),
]


def all_rooms() -> list[DescribedRoom]:
    """The rooms with what they record of themselves, in the direction in which data flows."""
    rooms = [
        DescribedRoom(
            name=room.NAME,
            reads=tuple(event.TYPE for event in room.READS),
            writes=tuple(event.TYPE for event in room.WRITES),
            docstring=room.__doc__ or "",
        )
        for room in map(load, ROOMS)
    ]
    return in_flow(rooms)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m services.generate", description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; fail if a file is stale")
    check = parser.parse_args(arguments).check
    files = list(stale())
    if check:
        return _report(files)
    for path, text in files:
        _write(path, text)
    return 0


def stale() -> Iterator[tuple[Path, str]]:
    """List the files that are not what they should be, each with the text that it should have."""
    for path, generate in PAGES:
        text = generate()
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            yield path, text
    for event in EVENTS:
        path = GOLDEN / golden_name(event)
        if not path.exists():  # one that exists was shipped: it stays as it is
            yield path, golden(event)


def _report(files: Sequence[tuple[Path, str]]) -> int:
    if files:
        names = "\n".join(f"  {path.relative_to(ROOT)}" for path, _ in files)
        sys.stderr.write(f"These generated files are stale; run `make schema` and commit what it writes:\n{names}\n")
    return 1 if files else 0


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", newline="\n")
    sys.stdout.write(f"wrote {path.relative_to(ROOT)}\n")


if __name__ == "__main__":
    sys.exit(main())
