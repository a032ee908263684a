"""The arguments of `annals project`."""

import argparse

from services.edges.argument_types import free_text


def add_to(parser: argparse.ArgumentParser) -> None:
    """Add what `annals project` can do."""
    actions = parser.add_subparsers(required=True, metavar="ACTION", dest="action")

    def add(name: str, purpose: str) -> argparse.ArgumentParser:
        action = actions.add_parser(name, help=purpose, description=f"{purpose[0].upper()}{purpose[1:]}.")
        action.add_argument("--json", action="store_true", help="print one JSON object")
        if name != "list":
            action.add_argument("--project", default="", help="which one; by default that of the current directory")
        return action

    add("list", "list the projects, and the names that wait for a person's decision")
    add("show", "show one project with its names and directories")
    settings = add("settings", "see what the project sets for itself, and apply what its .annals/config.toml says")
    settings.add_argument(
        "what",
        nargs="?",
        choices=("show", "apply", "clear"),
        default="show",
        help="show what holds and what the file would change (the default); apply the file; or have the installation's "
        "settings hold again",
    )
    merge = add("merge", "merge another project into this one, and show which settings that changes")
    merge.add_argument("former", metavar="NAME", help="that name, or the beginning of it")
    rename = add("rename", "give the project a name to call it by")
    rename.add_argument("name", type=free_text, metavar="NAME")
    undo = add("undo", "take back a merge, or a name that was given")
    undo.add_argument("former", metavar="NAME", nargs="?", default="", help="by default the name that came last")
