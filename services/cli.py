"""The command `annals`."""

import argparse
import asyncio
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from services.kit.rooms import ROOMS, load


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; its exit status."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    if words and words[0] in ROOMS:
        return _room(words[0], words[1:])
    options = _parser().parse_args(words)
    command: Callable[[argparse.Namespace], int] = options.command
    return command(options)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="annals", description="The shared memory of a team's coding agents.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    _add(commands, "up", "start the broker and all rooms, until Ctrl-C", _up)
    status = _add(commands, "status", "tell what runs, what lags and what failed", _status)
    status.add_argument("--json", action="store_true", help="print one JSON object")
    replay = _add(commands, "replay", "play recorded sessions through a house of their own", _replay)
    replay.add_argument("paths", nargs="+", type=Path, metavar="PATH", help="session files or folders")
    replay.add_argument("--json", action="store_true", help="print one JSON object")
    replay.add_argument("--steps", type=Path, metavar="FILE", help="leave one JSON line for each model call there")
    replay.add_argument("--agent", choices=("tidy", "none"), default="tidy", help="whether the agent drops old outputs")
    replay.add_argument("--at-once", type=int, default=4, help="sessions played at the same time")
    replay.add_argument("--limit", type=int, default=0, help="context window in tokens, where a recording names none")
    replay.add_argument(
        "--deadline", type=int, default=0, help="milliseconds to wait for a plan; 0: as long as it takes"
    )
    demo = _add(commands, "demo", "play the session that comes along, and show what became of it", _demo)
    demo.add_argument(
        "--chart", type=Path, default=Path("demo-tokens.svg"), help="where to leave the chart, .svg or .png"
    )
    setup = _add(commands, "setup", "connect a harness on this machine to this house", _setup)
    setup.add_argument("harness", choices=("opencode",))
    setup.add_argument("--project", action="store_true", help="in this project's configuration, not in the user's")
    setup.add_argument("--remove", action="store_true", help="take back what setup did")
    setup.add_argument("--yes", action="store_true", help="do not ask")
    setup.add_argument("--dry-run", action="store_true", help="only show what would change")
    setup.add_argument("--force", action="store_true", help="connect although another plugin is in the way")
    setup.add_argument(
        "--compaction",
        choices=("managed", "assist", "observe"),
        default="managed",
        help="managed: Annals keeps the context small, the harness's own compaction is switched off; "
        "assist: the harness compacts, and is told what to keep; observe: it compacts as ever",
    )
    doctor = _add(commands, "doctor", "look whether the house and its harnesses are well, and say what to do", _doctor)
    doctor.add_argument("--json", action="store_true", help="print one JSON object for each finding")
    health = _add(commands, "health", "ask a room on this machine whether it is well", _health)
    health.add_argument("--port", type=int, required=True)
    bench = _add(commands, "bench", "leave texts for a scorer to judge", _bench)
    bench.add_argument("what", choices=("carryover",), help="carryover: history up to a cut, compressed by rules")
    bench.add_argument("cases", type=Path, metavar="CASES", help="JSON: the sessions and where they are cut")
    bench.add_argument("transcripts", type=Path, metavar="TRANSCRIPTS", help="folder of neutral transcripts")
    bench.add_argument("out", type=Path, metavar="OUT", help="where to leave one JSON line for each case")
    bench.add_argument("--budget", type=int, default=4000, metavar="N", help="tokens of each text")
    for room in ROOMS:
        commands.add_parser(room, help="run this room alone, as a container does")
    return parser


def _add(
    commands: "argparse._SubParsersAction[argparse.ArgumentParser]",
    name: str,
    purpose: str,
    command: Callable[[argparse.Namespace], int],
) -> argparse.ArgumentParser:
    parser = commands.add_parser(name, help=purpose, description=f"{purpose[0].upper()}{purpose[1:]}.")
    parser.set_defaults(command=command)
    return parser


def _room(name: str, arguments: Sequence[str]) -> int:
    from services.kit.run import run  # noqa: PLC0415 - each command imports only what it needs

    return run(load(name), list(arguments))


def _up(_: argparse.Namespace) -> int:
    import uvloop  # noqa: PLC0415

    from services.kit.logs import configure  # noqa: PLC0415
    from services.kit.settings import Settings  # noqa: PLC0415
    from services.launcher.supervisor import Busy, up  # noqa: PLC0415

    settings = Settings()
    configure("launcher", level=settings.logs.level, as_json=settings.logs.format == "json")
    try:
        uvloop.run(up(settings))
    except (Busy, ConnectionError) as error:
        return _failed(error)
    return 0


def _status(options: argparse.Namespace) -> int:
    from services.kit.settings import Settings  # noqa: PLC0415
    from services.launcher.status import show  # noqa: PLC0415

    try:
        return asyncio.run(show(Settings(), as_json=options.json))
    except ConnectionError as error:
        return _failed(error)


def _replay(options: argparse.Namespace) -> int:
    from services.client.replay import Options, replay  # noqa: PLC0415
    from services.client.transcript import Unreadable  # noqa: PLC0415

    try:
        return replay(
            Options(
                paths=tuple(options.paths),
                as_json=options.json,
                agent=options.agent,
                at_once=options.at_once,
                limit=options.limit,
                deadline_ms=options.deadline,
                steps=options.steps,
            )
        )
    except (Unreadable, ConnectionError) as error:
        return _failed(error)


def _bench(options: argparse.Namespace) -> int:
    from services.client.carryover import carryover  # noqa: PLC0415

    try:
        return carryover(options.cases, options.transcripts, options.out, options.budget)
    except OSError as error:
        return _failed(error)


def _demo(options: argparse.Namespace) -> int:
    from services.client.demo import demo  # noqa: PLC0415

    try:
        return demo(options.chart)
    except ConnectionError as error:
        return _failed(error)


def _setup(options: argparse.Namespace) -> int:
    from services.connect.bundle import Missing  # noqa: PLC0415
    from services.connect.change import Unsuitable  # noqa: PLC0415
    from services.connect.setup import Options, Refused, setup  # noqa: PLC0415
    from services.kit.settings import Settings  # noqa: PLC0415

    wanted = Options(
        project=options.project,
        remove=options.remove,
        yes=options.yes,
        dry_run=options.dry_run,
        force=options.force,
        compaction=options.compaction,
    )
    try:
        return setup(wanted, Settings(), os.environ, Path.cwd())
    except (Refused, Unsuitable, Missing, OSError) as error:
        return _failed(error)


def _doctor(options: argparse.Namespace) -> int:
    from services.connect.doctor import doctor  # noqa: PLC0415
    from services.kit.logs import configure  # noqa: PLC0415
    from services.kit.settings import Settings  # noqa: PLC0415

    configure("doctor", level="error", as_json=False)
    return asyncio.run(doctor(Settings(), os.environ, Path.cwd(), as_json=options.json))


def _health(options: argparse.Namespace) -> int:
    from urllib.error import URLError  # noqa: PLC0415
    from urllib.request import urlopen  # noqa: PLC0415

    try:
        with urlopen(f"http://127.0.0.1:{options.port}/healthz", timeout=5) as reply:
            sys.stdout.write(reply.read().decode() + "\n")
    except (URLError, OSError) as error:
        return _failed(error)
    return 0


def _failed(error: Exception) -> int:
    sys.stderr.write(f"annals: {error}\n")
    return 1


if __name__ == "__main__":
    sys.exit(main())
