"""The arguments of `annals docs`."""

import argparse


def add_to(parser: argparse.ArgumentParser) -> None:
    """Add what `annals docs` can do."""
    actions = parser.add_subparsers(required=True, metavar="ACTION", dest="action")

    def add(name: str, purpose: str) -> argparse.ArgumentParser:
        action = actions.add_parser(name, help=purpose, description=f"{purpose[0].upper()}{purpose[1:]}.")
        action.add_argument("--project", default="", help="which one; by default that of the current directory")
        action.add_argument("--json", action="store_true", help="print one JSON object")
        return action

    add("list", "list the documents that the dreamer has proposed changes of, with what was decided")
    add("show", "show what would change, as a diff of the document in the current working tree").add_argument(
        "path", metavar="PATH", nargs="?", default="", help="one document; by default all with a change that waits"
    )
    for name, purpose in (
        ("apply", "write a proposed change into the document of the current working tree; nothing is committed"),
        ("dismiss", "dismiss a proposed change"),
    ):
        add(name, purpose).add_argument("path", metavar="PATH", help="as `annals docs list` prints it")
