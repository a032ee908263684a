"""The arguments of `annals docs`."""

import argparse

from services.edges.argument_types import project_actions


def add_to(parser: argparse.ArgumentParser) -> None:
    """Add what `annals docs` can do."""
    add = project_actions(parser)

    add("list", "list the documents that the dreamer has proposed changes of, with what was decided")
    add("show", "show what would change, as a diff of the document in the current working tree").add_argument(
        "path", metavar="PATH", nargs="?", default="", help="one document; by default all with a change that waits"
    )
    for name, purpose in (
        ("apply", "write a proposed change into the document of the current working tree; nothing is committed"),
        ("dismiss", "dismiss a proposed change"),
    ):
        add(name, purpose).add_argument("path", metavar="PATH", help="as `annals docs list` prints it")
