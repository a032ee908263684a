"""Types of command-line arguments: functions for `argparse` whose refusals name what would be right."""

import argparse
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from math import isfinite
from typing import NoReturn

from services.domain.finding import echo

MOST_DIGITS = 16
"""Digits of a number in JSON that every reader takes as it is."""
LARGEST = 2**53 - 1
RULES, SMALL = "rules", "small"
"""The words for who answers the rooms, where it is no model that is named."""
MOST_CHARACTERS = 300
"""Characters of an error of `argparse`, which may repeat all that was given."""


class CommandParser(argparse.ArgumentParser):
    """A parser whose errors are bounded, and name the help of the command that was meant."""

    def error(self, message: str) -> NoReturn:
        """Print what is wrong, with a pointer to the help, and end with the exit status 2."""
        short = message if len(message) <= MOST_CHARACTERS else f"{message[:MOST_CHARACTERS]}…"
        printed = "".join(one if one.isprintable() else ascii(one)[1:-1] for one in short)
        self.print_usage(sys.stderr)
        self.exit(2, f"{self.prog}: error: {printed}; `{self.prog} --help` shows what there is\n")


def whole_number(least: int = 0, most: int = LARGEST, what: str = "a whole number") -> Callable[[str], int]:
    """The type of an argument that is a whole number within these bounds."""

    def read(text: str) -> int:
        digits = text.strip()
        is_number = digits.isascii() and digits.isdecimal() and len(digits) <= MOST_DIGITS
        if not (is_number and least <= int(digits) <= most):
            bound = f"from {least} on" if most >= LARGEST else f"from {least} to {most}"
            raise argparse.ArgumentTypeError(f"{echo(text)} is not {what}: give one {bound}")
        return int(digits)

    return read


def seconds(text: str) -> float:
    """The type of an argument that is a time in seconds, longer than nothing and no longer than an hour."""
    try:
        found = float(text) if text.isascii() and "_" not in text else 0.0
    except ValueError:
        found = 0.0
    if not (isfinite(found) and 0 < found <= HOUR):
        raise argparse.ArgumentTypeError(f"{echo(text)} is no time: give seconds, such as 5 or 0.5, {HOUR} at most")
    return found


HOUR = 3600


def free_text(text: str) -> str:
    """The type of an argument that is any text: a query, a reason, words to remember.

    A text without a type names something that has to be there, and is refused where it is not.
    """
    return text


def model_choice(text: str) -> str:
    """The type of an argument that says who answers the rooms: rules, or a model of the harness."""
    provider, _, model = text.partition("/")
    is_plain = text.isprintable() and not any(one.isspace() for one in text) and len(text) <= MOST_CHARACTERS
    if text in (RULES, SMALL) or (is_plain and provider and model):
        return text
    raise argparse.ArgumentTypeError(f"{echo(text)} names no model: give rules, small, or PROVIDER/MODEL")


def moment(text: str) -> datetime:
    """The type of an argument that is a day or a time; one without a zone is in UTC."""
    try:
        found = datetime.fromisoformat(text)
        found = found if found.tzinfo else found.replace(tzinfo=UTC)
        found.astimezone(UTC)
    except (ValueError, OverflowError):
        raise argparse.ArgumentTypeError(
            f"{echo(text)} is no day or time that there is: give one such as 2026-01-31 or 2026-01-31T18:00"
        ) from None
    return found


def project_actions(parser: argparse.ArgumentParser) -> Callable[[str, str], argparse.ArgumentParser]:
    """A function that adds an action of a command about a project, by its name and its purpose."""
    actions = parser.add_subparsers(required=True, metavar="ACTION", dest="action")

    def add(name: str, purpose: str) -> argparse.ArgumentParser:
        action = actions.add_parser(name, help=purpose, description=f"{purpose[0].upper()}{purpose[1:]}.")
        action.add_argument("--project", default="", help="which one; by default that of the current directory")
        action.add_argument("--json", action="store_true", help="print one JSON object")
        return action

    return add
