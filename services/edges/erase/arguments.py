"""The arguments of `annals erase`."""

import argparse


def add_to(parser: argparse.ArgumentParser) -> None:
    """Add what `annals erase` can do."""
    kinds = parser.add_subparsers(required=True, metavar="WHAT", dest="what")
    secret = _kind(kinds, "secret", "mask a secret wherever it is stored, in the log too")
    secret.add_argument(
        "source",
        nargs="?",
        choices=("-",),
        default=None,
        metavar="-",
        help="read the secret from standard input; without it, from the variable SECRET, or else a prompt asks for it",
    )
    session = _kind(kinds, "session", "erase a session, those that its agents started, and copies of it")
    session.add_argument("session", metavar="SESSION", help="its id, as `annals search` and `annals sql` show it")
    memory = _kind(kinds, "memory", "erase memories, and mask their texts wherever they occur")
    memory.add_argument("memories", nargs="+", metavar="ID", help="a memory, as `annals memory list` shows it")
    project = _kind(kinds, "project", "erase a project: its sessions, its memory, its documents and its commits")
    project.add_argument("project", metavar="PROJECT", help="its name, as `annals project list` shows it")


def _kind(
    kinds: "argparse._SubParsersAction[argparse.ArgumentParser]", name: str, purpose: str
) -> argparse.ArgumentParser:
    whole = f"{purpose}; without --yes it only shows where that is"
    made = kinds.add_parser(name, help=whole, description=f"{whole[0].upper()}{whole[1:]}.")
    made.add_argument("--yes", action="store_true", help="erase it; positions and ids of facts stay as they are")
    return made
