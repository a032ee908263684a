"""The arguments of `annals search`, `annals ask`, `annals show` and `annals explain`."""

import argparse
from difflib import get_close_matches
from typing import get_args

from schemas.tools import Source
from services.domain.finding import echo
from services.edges.argument_types import free_text, moment, whole_number

LAST = 10**9
"""A number that no session's messages reach."""
MOST_EDITS = 1000
"""Edits of one explanation, which is one message of the broker."""
MOST_HITS = 200


def add_to(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `annals search`."""
    parser.add_argument("query", type=free_text, nargs="+", metavar="WORD", help="what to look for; an id is looked up")
    parser.add_argument("--project", default="", help="another project than that of this folder")
    parser.add_argument(
        "--source",
        action="append",
        type=_source,
        default=[],
        metavar="SOURCE",
        help="memory, message, compartment, note, commit or output",
    )
    parser.add_argument("--session", action="append", default=[], help="only messages of this session")
    parser.add_argument("--since", type=moment, metavar="DATE", help="only what is not older")
    parser.add_argument("--until", type=moment, metavar="DATE", help="only what is not newer")
    parser.add_argument(
        "--limit", type=whole_number(1, MOST_HITS), default=10, metavar="N", help="at most so many, up to 200"
    )
    parser.add_argument("--by-session", action="store_true", help="of each session only what fits best")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def add_ask_to(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `annals ask`."""
    parser.add_argument(
        "text", type=free_text, nargs="+", metavar="TEXT", help="a request, as you would send it to an agent"
    )
    parser.add_argument("--project", default="", help="another project than that of this folder")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def add_show_to(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `annals show`."""
    parser.add_argument("session", metavar="SESSION", help="its id, or the beginning of it")
    parser.add_argument(
        "range", nargs="?", type=_range, default=(1, LAST), metavar="RANGE", help="such as 12, 3-9 or 40-; else all"
    )
    parser.add_argument("--message", default="", metavar="ID", help="only this message, word for word")
    parser.add_argument("--verbose", action="store_true", help="with the arguments and outputs of tools")
    parser.add_argument("--project", default="", help="another project than that of this folder")


def add_explain_to(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `annals explain`."""
    parser.add_argument("session", metavar="SESSION", help="its id, or the beginning of it")
    parser.add_argument(
        "step",
        nargs="?",
        default="",
        metavar="STEP",
        help="a model call by its number in the session, its id, or the beginning of that; else the newest",
    )
    parser.add_argument("--part", default="", metavar="ID", help="only what was done to this part")
    parser.add_argument("--tags", action="store_true", help="with the edits that only show the number of a text")
    parser.add_argument(
        "--limit",
        type=whole_number(1, MOST_EDITS, "a number of edits"),
        default=50,
        metavar="N",
        help="at most so many edits, up to 1000",
    )
    parser.add_argument("--project", default="", help="another project than that of this folder")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def _source(text: str) -> str:
    known = get_args(Source)
    if text not in known:
        like = get_close_matches(text, known, 1)
        meant = f"did you mean {like[0]}?" if like else f"there are {', '.join(known)}"
        raise argparse.ArgumentTypeError(f"there is no source {echo(text)}: {meant}")
    return text


def _range(text: str) -> tuple[int, int]:
    first, dash, last = text.strip().partition("-")
    if not _is_number(first) or not (_is_number(last) or not last):
        raise argparse.ArgumentTypeError(f"{echo(text)} is no range of messages: give one such as 12, 3-9 or 40-")
    start = int(first)
    end = int(last) if last else LAST if dash else start
    if not 1 <= start <= end <= LAST:
        raise argparse.ArgumentTypeError(
            f"{echo(text)} is no range: messages are numbered from 1, and the first comes first"
        )
    return start, end


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) <= len(str(LAST))
