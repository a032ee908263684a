"""The command `annals`."""

import argparse
import asyncio
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from errno import ENAMETOOLONG, ENOSPC
from pathlib import Path
from typing import TYPE_CHECKING

from services.edges.arguments import parser
from services.edges.contradictions import contradiction
from services.edges.terminal import have_streams, pass_over, spell_out, write, write_error
from services.kit import rooms

if TYPE_CHECKING:  # each command imports only what it needs
    from services.settings import LoadedSettings, Settings


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; its exit status."""
    have_streams()
    words = list(sys.argv[1:] if arguments is None else arguments)
    if words and words[0] in rooms.ROOMS:
        return _room(words[0], words[1:])
    spell_out()
    try:
        return _printed(_command, words)
    except KeyboardInterrupt:
        return INTERRUPTED


def _printed(run: Callable[[Sequence[str]], int], words: Sequence[str]) -> int:
    """Run a command, and have all that it prints written before its exit status says that it is done."""
    try:
        try:
            return run(words)
        finally:
            sys.stdout.flush()
    except BrokenPipeError:
        pass_over()
        return UNREAD
    except OSError as error:
        pass_over()
        write_error(f"what was to be printed could not be written ({_words(error)}): see that there is room for it")
        return 1


def _command(words: Sequence[str]) -> int:
    options = parser().parse_args(words)
    if wrong := misuse(options):
        write_error(wrong)
        return 2
    try:
        return COMMANDS[options.command](options)
    except OSError as error:  # an `Unreachable` is one, and so is a file that cannot be read
        return _failed(error)


def misuse(options: argparse.Namespace) -> str:
    """The reason why these options make no sense, whatever is there, with what to change; empty: they do."""
    if strange := next(filter(_is_no_path, vars(options).values()), None):
        return f"{str(strange)[:MOST_QUOTED]!a} can be the name of no file here: name another"
    return contradiction(options)


INTERRUPTED = 130
"""The exit status of a command that Ctrl-C has ended, as shells expect it."""
UNREAD = 141
"""The exit status of a command whose output nobody reads any more, as shells expect it."""
MOST_QUOTED = 80
"""Characters of a wrong path that are repeated."""


def _is_no_path(value: object) -> bool:
    """Whether a path, or one of several, is such that the system knows no file of that name, there or not."""
    if isinstance(value, list):
        return any(map(_is_no_path, value))
    try:
        if isinstance(value, Path):
            value.lstat()
    except (ValueError, OSError) as error:
        return not isinstance(error, OSError) or error.errno == ENAMETOOLONG
    return False


def _room(name: str, arguments: Sequence[str]) -> int:
    from services.kit.run import run  # noqa: PLC0415 - each command imports only what it needs

    return run(rooms.load(name), list(arguments))


def _up(options: argparse.Namespace) -> int:
    if options.detach:
        return _detach(options)
    import uvloop  # noqa: PLC0415

    from services.edges.launcher.run import Busy  # noqa: PLC0415
    from services.edges.launcher.supervisor import up  # noqa: PLC0415
    from services.kit.logs import configure  # noqa: PLC0415

    loaded = _loaded(_folder(options))
    settings = loaded.settings
    configure("launcher", level=settings.logs.level, as_json=settings.logs.format == "json")
    try:
        uvloop.run(up(settings, options.kept_by or "terminal", loaded.project))
    except (Busy, OSError) as error:
        return _failed(error)
    return 0


def _detach(options: argparse.Namespace) -> int:
    from services.edges.launcher.detach import DetachFailure, detach  # noqa: PLC0415

    here = _here() if options.project_limits else None
    return _reported(lambda: asyncio.run(detach(_settings(), options.kept_by or "detached", here)), DetachFailure)


def _down(_: argparse.Namespace) -> int:
    from services.edges.launcher.detach import DetachFailure, down  # noqa: PLC0415

    return _reported(lambda: down(_settings()), DetachFailure)


def _service(options: argparse.Namespace) -> int:
    from services.edges.launcher.service import Unsupported, install, remove  # noqa: PLC0415

    do = install if options.what == "install" else remove
    return _reported(lambda: do(_settings(), os.environ, is_dry=options.dry_run), Unsupported)


def _reported(work: Callable[[], str], failure: type[Exception]) -> int:
    """Do it, and print what came of it."""
    try:
        write(work())
    except (failure, OSError) as error:
        return _failed(error)
    return 0


def _status(options: argparse.Namespace) -> int:
    from services.edges.launcher.status import show  # noqa: PLC0415

    try:
        return asyncio.run(show(_settings(), as_json=options.json))
    except ConnectionError as error:
        return _failed(error)


def _replay(options: argparse.Namespace) -> int:
    from services.edges.client.replay import ReplayOptions, replay  # noqa: PLC0415
    from services.edges.client.transcript import UnreadableTranscript  # noqa: PLC0415
    from services.edges.output_file import UnwritableFile  # noqa: PLC0415

    try:
        return replay(
            ReplayOptions(
                paths=tuple(options.paths),
                as_json=options.json,
                agent=options.agent,
                at_once=options.at_once,
                limit=options.limit,
                deadline_ms=options.deadline,
                steps=options.steps,
                overhead=options.overhead,
                log=options.log,
                models=options.models,
                alone=options.alone,
            ),
            _settings(),
        )
    except (UnreadableTranscript, UnwritableFile, ConnectionError) as error:
        return _failed(error)


def _memory(options: argparse.Namespace) -> int:
    from services.edges.memory.command import memory  # noqa: PLC0415
    from services.kit.logs import configure  # noqa: PLC0415

    configure("memory", level="error", as_json=False)
    return asyncio.run(memory(options, _settings(), _here()))


def _project(options: argparse.Namespace) -> int:
    from services.edges.project.command import project  # noqa: PLC0415
    from services.kit.logs import configure  # noqa: PLC0415

    configure("project", level="error", as_json=False)
    return asyncio.run(project(options, _settings(), _here()))


def _profile(options: argparse.Namespace) -> int:
    from services.edges.profile.command import profile  # noqa: PLC0415
    from services.kit.logs import configure  # noqa: PLC0415

    configure("profile", level="error", as_json=False)
    return asyncio.run(profile(options, _settings(), _here()))


def _dream(options: argparse.Namespace) -> int:
    from services.edges.dream.command import dream  # noqa: PLC0415
    from services.kit.logs import configure  # noqa: PLC0415

    configure("dream", level="error", as_json=False)
    return asyncio.run(dream(options, _settings(), _here()))


def _docs(options: argparse.Namespace) -> int:
    from services.edges.docs.command import docs  # noqa: PLC0415
    from services.kit.logs import configure  # noqa: PLC0415

    configure("docs", level="error", as_json=False)
    return asyncio.run(docs(options, _settings(), _here()))


def _keyfiles(options: argparse.Namespace) -> int:
    from services.edges.keyfiles.command import keyfiles  # noqa: PLC0415
    from services.kit.logs import configure  # noqa: PLC0415

    configure("keyfiles", level="error", as_json=False)
    return asyncio.run(keyfiles(options, _settings(), _here()))


def _bench(options: argparse.Namespace) -> int:
    if options.what == "search":
        from services.edges.search.bench import bench  # noqa: PLC0415

        return bench(options.sets, {options.arm: options.out}, _settings())
    from services.edges.client.carryover import carryover  # noqa: PLC0415

    try:
        return carryover(options.cases, options.transcripts, options.out, options.budget)
    except OSError as error:
        return _failed(error)


def _search(options: argparse.Namespace) -> int:
    from services.edges.search.command import search  # noqa: PLC0415
    from services.kit.logs import configure  # noqa: PLC0415

    configure("search", level="error", as_json=False)
    return asyncio.run(search(options, _settings(), _here()))


def _ask(options: argparse.Namespace) -> int:
    from services.edges.search.command import augment  # noqa: PLC0415
    from services.kit.logs import configure  # noqa: PLC0415

    configure("ask", level="error", as_json=False)
    return asyncio.run(augment(options, _settings(), _here()))


def _show(options: argparse.Namespace) -> int:
    from services.edges.search.command import show  # noqa: PLC0415
    from services.kit.logs import configure  # noqa: PLC0415

    configure("show", level="error", as_json=False)
    return asyncio.run(show(options, _settings(), _here()))


def _explain(options: argparse.Namespace) -> int:
    from services.edges.search.command import explain  # noqa: PLC0415
    from services.kit.logs import configure  # noqa: PLC0415

    configure("explain", level="error", as_json=False)
    return asyncio.run(explain(options, _settings(), _here()))


def _sql(options: argparse.Namespace) -> int:
    from services.edges.sql import sql  # noqa: PLC0415
    from services.kit.logs import configure  # noqa: PLC0415

    configure("sql", level="error", as_json=False)
    return asyncio.run(sql(options, _settings()))


def _erase(options: argparse.Namespace) -> int:
    from services.edges.erase.command import erase  # noqa: PLC0415
    from services.kit.logs import configure  # noqa: PLC0415

    configure("erase", level="error", as_json=False)
    return asyncio.run(erase(options, _settings()))


def _demo(options: argparse.Namespace) -> int:
    from services.edges.client.demo import demo  # noqa: PLC0415
    from services.edges.output_file import UnwritableFile  # noqa: PLC0415

    try:
        return demo(options.chart, _settings())
    except (UnwritableFile, ConnectionError) as error:
        return _failed(error)


def _setup(options: argparse.Namespace) -> int:
    from services.edges.connect.bundle import NoBundle  # noqa: PLC0415
    from services.edges.connect.setup import SetupOptions, SetupRefused, setup  # noqa: PLC0415
    from services.edges.connect.written import Unsuitable  # noqa: PLC0415

    wanted = SetupOptions(
        project=options.project,
        remove=options.remove,
        yes=options.yes,
        dry_run=options.dry_run,
        force=options.force,
        compaction=options.compaction,
        starts=options.start,
        model=options.model or "",
    )
    try:
        return setup(options.harness, wanted, _settings(), os.environ, _here())
    except (SetupRefused, Unsuitable, NoBundle, OSError) as error:
        return _failed(error)


def _doctor(options: argparse.Namespace) -> int:
    from services.edges.connect.doctor import acknowledge, doctor  # noqa: PLC0415
    from services.edges.project_settings import load_here  # noqa: PLC0415
    from services.kit.logs import configure  # noqa: PLC0415

    configure("doctor", level="error", as_json=False)
    loaded = load_here(_here())
    if options.acknowledge:
        return acknowledge(loaded.settings)
    wrong = loaded.problems
    return asyncio.run(doctor(loaded.settings, os.environ, _here(), as_json=options.json, problems=wrong))


def _config(options: argparse.Namespace) -> int:
    from services.edges.config import show  # noqa: PLC0415
    from services.edges.project_settings import load_here  # noqa: PLC0415

    return show(load_here(_here()), as_json=options.json)


def _health(options: argparse.Namespace) -> int:
    from services.edges.room_health_page import NoRoom, Unanswered, end_hung, health_page  # noqa: PLC0415

    try:
        page = health_page(options.port)
    except NoRoom:
        write_error(f"no room answers at port {options.port} of this machine; `annals status` shows which rooms run")
    except Unanswered:
        patience = _settings().http.unanswered_after if options.end else 0.0
        ended = end_hung(options.port, patience) if patience else None
        done = f"process {ended} was ended" if ended is not None else "see its log"
        write_error(f"the room at port {options.port} takes requests and does not answer them; {done}")
    else:
        write(page.text)
        return 0 if page.is_well else 1
    return 1


def _settings() -> "Settings":
    """The settings of a command that is run here. What its project sets for itself is no mistake in its file."""
    from services.edges.project_settings import FOR_ITSELF  # noqa: PLC0415

    return _loaded(_here(), unless=FOR_ITSELF).settings


def _loaded(here: Path | None, unless: str = "") -> "LoadedSettings":
    """The settings, once what of them cannot be used is reported, but for what has this remedy."""
    from services.edges.project_settings import load_here  # noqa: PLC0415

    loaded = load_here(here)
    for problem in loaded.problems:
        if problem.remedy != unless:
            write_error(problem.line)
    return loaded


def _here() -> Path:
    """The folder that the command is run in. Raises `FileNotFoundError`."""
    try:
        return Path.cwd()
    except FileNotFoundError:
        raise FileNotFoundError(
            "the directory that you are in was deleted: change to one that is there, and run this again"
        ) from None


def _folder(options: argparse.Namespace) -> Path | None:
    """The folder whose project has a say, where a person asks for that: what a repository brings holds for no other."""
    if options.here is not None:
        return Path(options.here)
    return _here() if options.project_limits else None


def _failed(error: Exception) -> int:
    """Say what went wrong: in its own words, or where it is the system's, with the file that it is about."""
    if isinstance(error, BrokenPipeError):  # of the output: one of the broker is `Unreachable`
        pass_over()
        return UNREAD
    if isinstance(error, OSError) and error.strerror:
        where = f" ({str(error.filename)[:MOST_QUOTED]}): see that it can be read and written, or name another"
        room = ": see that there is room for what is written" if error.errno == ENOSPC else ""
        write_error(f"{_words(error)}{where if error.filename else room}")
    else:
        write_error(str(error))
    return 1


def _words(error: OSError) -> str:
    """The system's words about an error, as a part of a sentence."""
    words = error.strerror or str(error)
    return f"{words[:1].lower()}{words[1:]}"


COMMANDS: Mapping[str, Callable[[argparse.Namespace], int]] = {
    "up": _up,
    "down": _down,
    "service": _service,
    "status": _status,
    "config": _config,
    "replay": _replay,
    "memory": _memory,
    "project": _project,
    "profile": _profile,
    "notes": _memory,
    "dream": _dream,
    "docs": _docs,
    "keyfiles": _keyfiles,
    "demo": _demo,
    "setup": _setup,
    "doctor": _doctor,
    "health": _health,
    "bench": _bench,
    "search": _search,
    "ask": _ask,
    "show": _show,
    "explain": _explain,
    "sql": _sql,
    "erase": _erase,
}

if __name__ == "__main__":
    sys.exit(main())
