"""`annals service install` and `remove`: the installation starts when its user logs in. Nothing of it needs root."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from difflib import unified_diff
from pathlib import Path

import msgspec

from services.edges.launcher import units
from services.edges.launcher.detach import command
from services.edges.launcher.run import LOG, current, private
from services.kit.data_directory import refuse_unusable
from services.kit.files import write_whole
from services.settings import Settings

PATIENCE = 90.0
VARIABLES = Path("annals") / "environment"
"""Below the configuration home: variables for an installation that the service starts, as `NAME=value`, one a line.

Nobody else reads it: what a shell or a harness starts has the variables of that.
"""

_UNSPELLABLE = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff]")


class Unsupported(RuntimeError):
    """No manager of services is known for this system."""


class Service(msgspec.Struct, frozen=True):
    """The file for one manager, and the commands that it is given."""

    path: Path
    text: str
    manager: str
    start: tuple[tuple[str, ...], ...]
    """Commands that have it read the file and start the installation."""
    enable: tuple[tuple[str, ...], ...]
    """The same without starting it now."""
    stop: tuple[tuple[str, ...], ...]
    forget: tuple[tuple[str, ...], ...] = ()
    """Commands for when the file is gone."""
    unload: tuple[tuple[str, ...], ...] = ()
    """Commands without which the manager does not start what it has loaded; they fail where it has loaded nothing."""


def service(settings: Settings, environment: Mapping[str, str], platform: str = sys.platform) -> Service:
    """The service that fits this system. Raises `Unsupported`."""
    home = Path(environment.get("HOME") or Path.home())
    data = settings.data.resolve()
    config = Path(environment.get("XDG_CONFIG_HOME") or home / ".config")
    words = (*command(), "up", "--kept-by", "service")
    for place in (words[0], data, config):
        if _UNSPELLABLE.search(str(place)):
            raise Unsupported(
                f"{str(place)!a} has a control character or a byte that is no UTF-8 in its name, which no manager of "
                "services can be given; `annals up --detach` starts the installation"
            )
    if platform.startswith("linux"):
        control = ("systemctl", "--user")
        read = (*control, "daemon-reload")
        return Service(
            path=config / "systemd" / "user" / units.UNIT,
            text=units.systemd(words, data, config / VARIABLES),
            manager=control[0],
            start=(read, (*control, "enable", units.UNIT), (*control, "restart", units.UNIT)),
            enable=(read, (*control, "enable", units.UNIT)),
            stop=((*control, "disable", "--now", units.UNIT),),
            forget=(read,),
        )
    if platform == "darwin":
        path = home / "Library" / "LaunchAgents" / f"{units.AGENT}.plist"
        domain = f"gui/{os.getuid()}"
        return Service(
            path=path,
            text=units.launchd(words, data, config / VARIABLES, data / LOG),
            manager="launchctl",
            start=(("launchctl", "bootstrap", domain, str(path)),),
            enable=(("launchctl", "enable", f"{domain}/{units.AGENT}"),),
            stop=(("launchctl", "bootout", f"{domain}/{units.AGENT}"),),
            unload=(("launchctl", "bootout", f"{domain}/{units.AGENT}"),),
        )
    raise Unsupported(f"there is no service to install on {platform}; `annals up --detach` starts the installation")


def install(settings: Settings, environment: Mapping[str, str], *, is_dry: bool = False) -> str:
    """Write the file, and have the installation started; what is left to do, if anything."""
    refuse_unusable(settings.data)
    wanted = service(settings, environment)
    before = wanted.path.read_text("utf-8") if wanted.path.exists() else ""
    if is_dry:
        return _difference(wanted.path, before, wanted.text) + "nothing was changed: this was a dry run"
    if before != wanted.text:
        private(settings.data)
        write_whole(wanted.path, wanted.text.encode(), mode=0o600)
    report = f"{wanted.path} is written" if before != wanted.text else f"{wanted.path} is as it should be"
    run = current(settings.data.resolve())
    if run is not None and run.keeper != "service":
        failure = _ordered(wanted, wanted.enable, environment)
        first = f"an installation {run.line}; `annals down` ends it, and then this has the service start it"
        return f"{report}; {first}: {_by_hand(wanted, wanted.start[-1:])}" + (f" ({failure})" if failure else "")
    if run is not None and before == wanted.text:
        return f"{report}, and the installation {run.line}"
    _ordered(wanted, wanted.unload, environment)  # an installation that has ended leaves it loaded
    failure = _ordered(wanted, wanted.start, environment)
    if failure:
        return f"{report}, but {failure}; where it does, run: {_by_hand(wanted, wanted.start)}"
    when = "the installation is started, now and whenever you log in"
    return f"{report}; {when}. Its settings go into {_variables(environment)}"


def remove(settings: Settings, environment: Mapping[str, str], *, is_dry: bool = False) -> str:
    """Stop the service and take its file away; the data stays."""
    wanted = service(settings, environment)
    if not wanted.path.exists():
        return f"there is nothing to remove: {wanted.path} does not exist"
    if is_dry:
        return _difference(wanted.path, wanted.path.read_text("utf-8"), "") + "nothing was changed: this was a dry run"
    failure = _ordered(wanted, wanted.stop, environment)
    wanted.path.unlink()
    failure = _ordered(wanted, wanted.forget, environment) or failure
    report = f"{wanted.path} is gone, and {settings.data} stays"
    return f"{report}, but {failure}; where it does, run: {_line(wanted.stop)}" if failure else report


def _variables(environment: Mapping[str, str]) -> Path:
    home = Path(environment.get("HOME") or Path.home())
    return Path(environment.get("XDG_CONFIG_HOME") or home / ".config") / VARIABLES


def _ordered(wanted: Service, commands: Sequence[Sequence[str]], environment: Mapping[str, str]) -> str:
    """Have the manager do it; empty, or why it did not."""
    program = shutil.which(wanted.manager, path=environment.get("PATH"))
    if program is None:
        return f"{wanted.manager} is not on the path"
    for _, *words in commands:
        try:
            ran = subprocess.run(  # noqa: S603 - the system's own manager, by its full path
                [program, *words], capture_output=True, text=True, timeout=PATIENCE, env=dict(environment), check=False
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            return f"{wanted.manager} does not answer ({error})"
        if ran.returncode:
            reason = (ran.stderr or ran.stdout).strip().split("\n")[0]
            return f"{wanted.manager} does not do it ({reason or f'exit {ran.returncode}'})"
    return ""


def _by_hand(wanted: Service, start: Sequence[Sequence[str]]) -> str:
    """The line that starts it, whether it is loaded or not."""
    return "; ".join([*map(shlex.join, wanted.unload), _line(start)])


def _line(commands: Sequence[Sequence[str]]) -> str:
    return " && ".join(map(shlex.join, commands))


def _difference(path: Path, before: str, after: str) -> str:
    old, new = ("/dev/null" if not text else str(path) for text in (before, after))
    lines = unified_diff(before.splitlines(keepends=True), after.splitlines(keepends=True), old, new)
    return "".join(lines)
