"""What a person decides about a project's memory: the command of each decision."""

import argparse

from schemas.commands import (
    Command,
    MemoryArchive,
    MemoryDecide,
    MemoryPin,
    MemoryQuarantine,
    MemoryRestore,
    MemoryWrite,
)


def command(options: argparse.Namespace) -> Command:
    """The command that the arguments ask for."""
    match options.action:
        case "write":
            return MemoryWrite(options.text, options.category, options.importance, session=options.session)
        case "approve" | "reject":
            return MemoryDecide(options.id, approve=options.action == "approve", reason=options.reason)
        case "archive":
            return MemoryArchive(options.id, options.reason)
        case "restore":
            return MemoryRestore(options.id, options.reason)
        case "pin":
            return MemoryPin(options.id, pinned=not options.undo)
        case "quarantine":
            return MemoryQuarantine(options.kind, options.value, undo=options.undo, reason=options.reason)
    raise AssertionError(f"nothing is decided by {options.action!r}")
