"""The arguments of `annals profile`."""

import argparse


def add_to(parser: argparse.ArgumentParser) -> None:
    """Add what `annals profile` can do."""
    actions = parser.add_subparsers(required=True, metavar="ACTION", dest="action")

    def add(name: str, purpose: str) -> argparse.ArgumentParser:
        action = actions.add_parser(name, help=purpose, description=f"{purpose[0].upper()}{purpose[1:]}.")
        action.add_argument("--json", action="store_true", help="print one JSON object")
        return action

    add("list", "list what you have stated again and again, and say whether your profile is on")
    add("on", "have your profile collected and used in sessions that begin from now on")
    add("off", "have your profile neither collected nor used from now on")
    retire = add("retire", "have one trait neither collected nor used from now on")
    retire.add_argument(
        "trait", metavar="TRAIT", help="its id, or the beginning of it, as `annals profile list` shows it"
    )
