"""The arguments of `annals search`."""

import argparse
from datetime import datetime


def add_to(parser: argparse.ArgumentParser) -> None:
    """What `annals search` takes."""
    parser.add_argument("query", nargs="+", metavar="WORD", help="what to look for; an id is looked up")
    parser.add_argument("--project", default="", help="another project than that of this folder")
    parser.add_argument("--source", action="append", default=[], help="memory, message, compartment, note or commit")
    parser.add_argument("--session", action="append", default=[], help="only what was said in this session")
    parser.add_argument("--since", type=datetime.fromisoformat, metavar="DATE", help="only what is not older")
    parser.add_argument("--until", type=datetime.fromisoformat, metavar="DATE", help="only what is not newer")
    parser.add_argument("--limit", type=int, default=10, metavar="N", help="at most so many, up to 200")
    parser.add_argument("--by-session", action="store_true", help="of each session only what fits best")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
