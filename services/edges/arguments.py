"""The arguments of the command `annals`."""

import argparse
from functools import cache
from pathlib import Path

from services.edges.argument_types import CommandParser, free_text, model_choice, seconds, whole_number
from services.edges.connect.harnesses import names as harness_names
from services.edges.docs import arguments as docs
from services.edges.dream import arguments as dream
from services.edges.erase import arguments as erase
from services.edges.keyfiles import arguments as keyfiles
from services.edges.memory import arguments as memory
from services.edges.profile import arguments as profile
from services.edges.project import arguments as project
from services.edges.search import arguments as search
from services.kit import rooms

ARMS = ("full", "bm25", "dense", "rrf", "minmax")


@cache
def parser() -> argparse.ArgumentParser:
    """Everything that can be asked for, each command by its name. It is made once in a process."""
    about = "The shared memory of a team's coding agents."
    whole: argparse.ArgumentParser = CommandParser(prog="annals", description=about)
    commands = whole.add_subparsers(required=True, metavar="COMMAND", dest="command")
    up = _add(commands, "up", "start the broker and all rooms, until Ctrl-C")
    up.add_argument(
        "--detach", action="store_true", help="return when the installation answers; it goes on without a terminal"
    )
    up.add_argument(
        "--kept-by", choices=("terminal", "detached", "service", *harness_names()), default="", help=argparse.SUPPRESS
    )
    up.add_argument(
        "--project-limits",
        action="store_true",
        help="serve every project within the limits of .annals/config.toml of the current directory's project",
    )
    up.add_argument("--here", type=Path, default=None, help=argparse.SUPPRESS)
    _add(commands, "down", "end the installation of this data directory")
    service = _add(commands, "service", "have this machine start the installation when you log in")
    service.add_argument("what", choices=("install", "remove"))
    service.add_argument("--dry-run", action="store_true", help="only show what would be written")
    status = _add(commands, "status", "show what runs, what lags and what failed")
    status.add_argument("--json", action="store_true", help="print one JSON object")
    config = _add(commands, "config", "show every setting, its value and where that comes from")
    config.add_argument("what", choices=("show",))
    config.add_argument("--json", action="store_true", help="print one JSON object")
    _add_replay(commands)
    memory.add_to(_add(commands, "memory", "read what is remembered of a project, and decide about it"))
    project.add_to(_add(commands, "project", "list projects, and declare which names are one project"))
    profile.add_to(_add(commands, "profile", "list what is known of you, and switch its collection on and off"))
    memory.add_notes(_add(commands, "notes", "list the notes of agents and people"))
    dream.add_to(_add(commands, "dream", "tidy up what is remembered of a project, and show what came of that"))
    docs.add_to(_add(commands, "docs", "see which changes of documents are proposed, and write or dismiss them"))
    keyfiles.add_to(_add(commands, "keyfiles", "see which files are proposed for the head of prompts, and decide"))
    _add_demo(_add(commands, "demo", "play the session that comes along, and show what became of it"))
    _add_setup(_add(commands, "setup", "connect a harness on this machine to this installation"))
    doctor = _add(commands, "doctor", "look whether the installation and its harnesses are well, and print what to do")
    doctor.add_argument("--json", action="store_true", help="print one JSON object for each finding")
    doctor.add_argument(
        "--acknowledge",
        action="store_true",
        help="have what the broker's streams have lost reported no more, from now on, and look at nothing",
    )
    health = _add(commands, "health", "ask a room on this machine whether it is well")
    health.add_argument("--port", type=whole_number(1, 65_535, "a port"), required=True)
    whole_end = "end the room where it takes requests and does not answer them, so that what runs it starts it anew"
    health.add_argument("--end", action="store_true", help=whole_end)
    search.add_to(_add(commands, "search", "find messages, memories, notes, history and commits of a project"))
    search.add_ask_to(_add(commands, "ask", "quote what is known of a project that helps with a request"))
    search.add_show_to(_add(commands, "show", "print the messages of a session, or a range of them"))
    search.add_explain_to(_add(commands, "explain", "print why the prompt of a model call looks as it does"))
    erase.add_to(_add(commands, "erase", "take something out of all stores, the log too, while the rooms are stopped"))
    _add_sql(_add(commands, "sql", "query the views in SQL, over a copy that is seconds old"))
    _add_benches(_add(commands, "bench", "write results for a scorer to judge"))
    for room in rooms.ROOMS:
        commands.add_parser(room, help="run this room alone, as a container does")
    return whole


def _add_demo(demo: argparse.ArgumentParser) -> None:
    demo.add_argument(
        "--chart", type=Path, default=Path("demo-tokens.svg"), help="where to leave the chart, .svg or .png"
    )


def _add_setup(setup: argparse.ArgumentParser) -> None:
    setup.add_argument("harness", choices=harness_names())
    setup.add_argument("--project", action="store_true", help="in this project's configuration, not in the user's")
    setup.add_argument("--remove", action="store_true", help="take back what setup did")
    setup.add_argument("--yes", action="store_true", help="do not ask")
    setup.add_argument("--dry-run", action="store_true", help="only show what would change")
    setup.add_argument("--force", action="store_true", help="connect although another plugin is in the way")
    setup.add_argument(
        "--start",
        action=argparse.BooleanOptionalAction,
        default=None,
        help="have the harness start the installation where it does not run; by default as before, at first it does",
    )
    setup.add_argument(
        "--model",
        type=model_choice,
        metavar="MODEL",
        help="who writes history and looks after memory: rules; small: the harness's small model, with its own logins; "
        "PROVIDER/MODEL: that model of the harness; by default as before",
    )
    setup.add_argument(
        "--compaction",
        choices=("managed", "assist", "replace", "observe"),
        default="managed",
        help="managed: Annals keeps the context small, and the harness compacts only while Annals is away; "
        "assist: the harness compacts, and reads what to keep; replace: the same, by a prompt in the place of its own; "
        "observe: it compacts as ever",
    )


def _add_sql(sql: argparse.ArgumentParser) -> None:
    sql.add_argument("query", type=free_text, metavar="QUERY", help="one SELECT; `-` reads it from standard input")
    sql.add_argument("--rows", type=whole_number(1), default=1000, metavar="N", help="at most so many rows")
    sql.add_argument(
        "--seconds", type=seconds, default=5.0, metavar="S", help="at most so long: 5 by default, 10 by the settings"
    )
    form = sql.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print one JSON object")
    form.add_argument("--csv", action="store_true", help="print comma-separated values")


def _add_benches(bench: argparse.ArgumentParser) -> None:
    about = bench.add_subparsers(required=True, metavar="WHAT", dest="what")
    carryover = _add(about, "carryover", "compress history up to a cut, by rules")
    carryover.add_argument("cases", type=Path, metavar="CASES", help="JSON: the sessions and where they are cut")
    carryover.add_argument("transcripts", type=Path, metavar="TRANSCRIPTS", help="folder of neutral transcripts")
    carryover.add_argument("out", type=Path, metavar="OUT", help="where to leave one JSON line for each case")
    carryover.add_argument("--budget", type=whole_number(1), default=4000, metavar="N", help="tokens of each text")
    found = _add(about, "search", "ask sets of questions of an installation that has read their documents")
    found.add_argument("sets", nargs="+", type=Path, metavar="SET", help="files of documents and questions, or folders")
    found.add_argument("out", type=Path, metavar="OUT", help="where to leave one JSON line for each question")
    found.add_argument("--arm", choices=ARMS, default="full", help="how what is found is put in order")


def _add_replay(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    replay = _add(commands, "replay", "play recorded sessions through an installation of their own")
    replay.add_argument("paths", nargs="+", type=Path, metavar="PATH", help="session files or folders")
    replay.add_argument("--json", action="store_true", help="print one JSON object")
    replay.add_argument("--steps", type=Path, metavar="FILE", help="leave one JSON line for each model call there")
    replay.add_argument("--agent", choices=("tidy", "none"), default="tidy", help="whether the agent drops old outputs")
    replay.add_argument("--at-once", type=whole_number(1, 64), default=4, help="sessions played at the same time")
    replay.add_argument(
        "--limit", type=whole_number(), default=0, help="context window in tokens, where a recording names none"
    )
    replay.add_argument(
        "--deadline", type=whole_number(), default=0, help="milliseconds to wait for a plan; 0: as long as it takes"
    )
    replay.add_argument(
        "--overhead",
        type=whole_number(),
        default=9_000,
        metavar="N",
        help="tokens of tools and system prompt in each prompt",
    )
    replay.add_argument(
        "--models",
        action="store_true",
        help="ask the models of the settings, which may cost something; else history is written by rules",
    )
    replay.add_argument("--log", type=Path, metavar="FILE", help="append what the rooms print to this file")
    replay.add_argument(
        "--alone",
        action="store_true",
        help="without an installation: OpenCode's own compaction keeps the context small",
    )


def _add(
    commands: "argparse._SubParsersAction[argparse.ArgumentParser]", name: str, purpose: str
) -> argparse.ArgumentParser:
    return commands.add_parser(name, help=purpose, description=f"{purpose[0].upper()}{purpose[1:]}.")
