"""The arguments of `annals keyfiles`."""

import argparse

from services.edges.argument_types import project_actions


def add_to(parser: argparse.ArgumentParser) -> None:
    """Add what `annals keyfiles` can do."""
    add = project_actions(parser)

    add("list", "list the files that the dreamer has proposed, with what was decided")
    for name, purpose in (
        ("accept", "put proposed files at the head of prompts, from the next rebase of each session on"),
        ("dismiss", "dismiss proposed files"),
        ("remove", "take files that were accepted from the head of prompts"),
    ):
        add(name, purpose).add_argument(
            "paths", metavar="PATH", nargs="+", help="from the project's root, as `annals keyfiles list` prints it"
        )
