"""Options that exclude each other: together they ask for what nobody can do, and are refused before any work."""

import argparse
from collections.abc import Callable, Mapping

from services.edges.search.arguments import LAST


def contradiction(options: argparse.Namespace) -> str:
    """A contradiction between the options of a command, with what to leave out; empty: there is none."""
    find = _OF_COMMAND.get(options.command)
    return find(options) if find else ""


def _search(options: argparse.Namespace) -> str:
    if options.since and options.until and options.since > options.until:
        return "--since is later than --until, and nothing lies between them: exchange them, or leave one out"
    return ""


def _show(options: argparse.Namespace) -> str:
    if options.message and options.range != (1, LAST):
        return "a range and --message name two things: leave one of them out"
    return ""


def _setup(options: argparse.Namespace) -> str:
    if options.yes and options.dry_run:
        return "--yes and --dry-run exclude each other: leave one of them out"
    if options.remove:
        given = [name for name, is_given in _OF_CONNECTING.items() if is_given(options)]
        if given:
            return f"--remove takes back what setup did, and {given[0]} says how to connect: leave one of them out"
    return ""


_OF_CONNECTING: Mapping[str, Callable[[argparse.Namespace], bool]] = {
    "--force": lambda options: options.force,
    "--start": lambda options: options.start is True,
    "--no-start": lambda options: options.start is False,
    "--compaction": lambda options: options.compaction != "managed",
    "--model": lambda options: bool(options.model),
}


def _replay(options: argparse.Namespace) -> str:
    if not options.alone:
        return ""
    given = (("--log", options.log is not None), ("--deadline", bool(options.deadline)), ("--models", options.models))
    for name, is_given in given:
        if is_given:
            return f"--alone plays without an installation, and {name} is about one: leave one of them out"
    return ""


_OF_COMMAND: Mapping[str, Callable[[argparse.Namespace], str]] = {
    "search": _search,
    "show": _show,
    "setup": _setup,
    "replay": _replay,
}
