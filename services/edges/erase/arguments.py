"""The arguments of `annals erase`."""

import argparse


def add_to(parser: argparse.ArgumentParser) -> None:
    """Add what `annals erase` can do."""
    kinds = parser.add_subparsers(required=True, metavar="WHAT", dest="what")
    purpose = "mask a secret wherever it is stored, in the log too; without --yes it only shows where that is"
    secret = kinds.add_parser("secret", help=purpose, description=f"{purpose[0].upper()}{purpose[1:]}.")
    secret.add_argument(
        "source",
        nargs="?",
        choices=("-",),
        default=None,
        metavar="-",
        help="read the secret from standard input; without it, from the variable SECRET, or else a prompt asks for it",
    )
    secret.add_argument("--yes", action="store_true", help="erase it; positions and ids of facts stay as they are")
