"""The arguments of `annals memory`."""

import argparse
from pathlib import Path

from services.edges.argument_types import free_text, whole_number

KINDS = ("session", "message", "run", "actor")
"""The kinds of sources of which all memories can be taken back."""


def add_to(parser: argparse.ArgumentParser) -> None:
    """Add what `annals memory` can do."""
    actions = parser.add_subparsers(required=True, metavar="ACTION", dest="action")

    def add(name: str, purpose: str, *, reads: bool = False) -> argparse.ArgumentParser:
        action = actions.add_parser(name, help=purpose, description=f"{purpose[0].upper()}{purpose[1:]}.")
        action.add_argument("--project", default="", help="which one; by default that of the current directory")
        action.add_argument("--json", action="store_true", help="print one JSON object")
        if reads:
            action.add_argument("--session", default="", help="as the head of this session shows it")
            action.add_argument(
                "--as-of",
                type=whole_number(1, what="a position of the log"),
                default=0,
                metavar="SEQ",
                help="as it was at this position of the log",
            )
        return action

    listed = add("list", "list the memories, those that are shown first", reads=True)
    listed.add_argument("--status", default="", help="only those: active, pending, archived, ...")
    _named(add("show", "show one memory with where it comes from", reads=True))
    why = add("why", "print why a memory is in the head of new sessions, or is not", reads=True)
    _named(why)
    add("missing", "list the active memories that new sessions do not get, why, and since when", reads=True)
    add("quality", "count what became of all candidates, and how much of it was junk, by source", reads=True)
    _named(add("history", "list the facts about one memory", reads=True))

    write = add("write", "remember something of the project")
    write.add_argument("--session", default="", help="the session that it comes from")
    write.add_argument("text", type=free_text)
    write.add_argument("--category", default="", help="such as PROJECT_RULES; by default the words decide")
    write.add_argument("--importance", default="normal", help="low, normal or high")
    _reasoned(_named(add("approve", "take up what was proposed")))
    _reasoned(_named(add("reject", "refuse what was proposed")))
    _reasoned(_named(add("archive", "show a memory no longer")))
    _reasoned(_named(add("restore", "make an archived, expired or superseded memory active again")))
    _undone(_named(add("pin", "show a memory before others, and stop it from fading")))
    edit = _named(add("edit", "change the words of a memory, its category or how it weighs"))
    edit.add_argument(
        "text", type=free_text, nargs="?", default="", help="what it says from now on; by default the same"
    )
    edit.add_argument("--category", default="", help="such as PROJECT_RULES; by default the same")
    edit.add_argument("--importance", default="", help="low, normal or high; by default the same")
    merge = add("merge", "make one memory of several; the first one goes on, with these words")
    merge.add_argument("id", metavar="ID", nargs="+", help="their ids, or the beginnings of them: two or more")
    merge.add_argument("--text", type=free_text, required=True, help="what it says from now on")
    merge.add_argument("--category", default="", help="needed where theirs differ")
    _named(add("split", "make several memories of one, each with one of its facts")).add_argument(
        "text", type=free_text, metavar="TEXT", nargs="+", help="the words of each: two or more"
    )
    policy = add("policy", "show what is done with candidates, by where they come from; or say what is to be done")
    policy.add_argument("trust", nargs="?", default="", help="such as agent or summary")
    policy.add_argument("to", metavar="ACTION", nargs="?", default="", help="applied, held or refused")
    policy.set_defaults(session="", as_of=0)
    _add_import(add("import", "propose each sentence of these files: Markdown, or what another tool has stored"))
    exported = add("export", "print the active memories as Markdown that `import --restore` reads back")
    exported.set_defaults(session="", as_of=0, status="active")
    review = add("review", "go through what waits, one by one, with the words that it came from")
    review.set_defaults(session="", as_of=0)
    quarantine = _undone(_reasoned(add("quarantine", "take back all that came of one session, message, run or actor")))
    quarantine.add_argument("kind", choices=KINDS)
    quarantine.add_argument("value", help="its id")


def _add_import(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("paths", metavar="PATH", nargs="+", type=Path, help="such as CLAUDE.md, docs/ or claude-mem.db")
    parser.add_argument(
        "--from",
        dest="origin",
        default="",
        metavar="NAME",
        help="what a store of several projects calls this one; by default as its folder is called",
    )
    parser.add_argument("--restore", action="store_true", help="they are exports: restore their memories as they were")


def add_notes(parser: argparse.ArgumentParser) -> None:
    """Add what `annals notes` can do: it reads, as `annals memory` does."""
    parser.set_defaults(action="notes", as_of=0)
    parser.add_argument("--project", default="", help="which one; by default that of the current directory")
    parser.add_argument("--session", default="", help="only those of this session")
    parser.add_argument("--status", default="", help="active, ready, parked or dismissed; by default all but dismissed")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def _named(parser: argparse.ArgumentParser) -> argparse.ArgumentParser:
    parser.add_argument("id", metavar="ID", help="its id, or the beginning of it")
    return parser


def _reasoned(parser: argparse.ArgumentParser) -> argparse.ArgumentParser:
    parser.add_argument("--reason", type=free_text, default="", help="why, for those who read the history of it")
    return parser


def _undone(parser: argparse.ArgumentParser) -> argparse.ArgumentParser:
    parser.add_argument("--undo", action="store_true", help="take that back")
    return parser
