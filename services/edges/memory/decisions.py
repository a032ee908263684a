"""The commands for a person's decisions about a project's memory."""

import argparse

from schemas.commands import (
    Command,
    MemoryArchive,
    MemoryDecide,
    MemoryImportance,
    MemoryMerge,
    MemoryPin,
    MemoryQuarantine,
    MemoryRestore,
    MemoryRevise,
    MemorySplit,
    MemoryWrite,
    PolicySet,
)


class Incomplete(ValueError):
    """The arguments do not say what is to be done; says what is missing."""


def commands(options: argparse.Namespace) -> tuple[Command, ...]:
    """The commands that the arguments ask for, one after the other. Raises `Incomplete`."""
    if options.action != "edit":
        return (_command(options),)
    found: list[Command] = []
    if options.text or options.category:
        found.append(MemoryRevise(options.id, options.text, options.category))
    if options.importance:
        found.append(MemoryImportance(options.id, options.importance))
    if not found:
        raise Incomplete("nothing is to change: give its new words, --category or --importance")
    return tuple(found)


def _command(options: argparse.Namespace) -> Command:
    match options.action:
        case "merge":
            return MemoryMerge(tuple(options.id), options.text, options.category)
        case "split":
            return MemorySplit(options.id, tuple(options.text))
        case "policy" if not options.to:
            raise Incomplete(
                f"give what is to be done with candidates of {options.trust}, too: applied, held or refused"
            )
        case "policy":
            return PolicySet(options.trust, options.to)
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
