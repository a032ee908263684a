"""The arguments of `annals keyfiles`."""

import argparse


def add_to(parser: argparse.ArgumentParser) -> None:
    """Add what `annals keyfiles` can do."""
    actions = parser.add_subparsers(required=True, metavar="ACTION", dest="action")

    def add(name: str, purpose: str) -> argparse.ArgumentParser:
        action = actions.add_parser(name, help=purpose, description=f"{purpose[0].upper()}{purpose[1:]}.")
        action.add_argument("--project", default="", help="which one; by default that of the current directory")
        action.add_argument("--json", action="store_true", help="print one JSON object")
        return action

    add("list", "list the files that the dreamer has proposed, with what was decided")
    for name, purpose in (
        ("accept", "put proposed files at the head of prompts, from the next rebase of each session on"),
        ("dismiss", "dismiss proposed files"),
        ("remove", "take files that were accepted from the head of prompts"),
    ):
        add(name, purpose).add_argument(
            "paths", metavar="PATH", nargs="+", help="from the project's root, as `annals keyfiles list` prints it"
        )
