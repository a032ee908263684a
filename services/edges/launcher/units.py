"""The installation as a service of one user: what systemd and launchd read. Pure."""

import plistlib
import re
from collections.abc import Sequence
from pathlib import Path

UNIT = "annals.service"
AGENT = "annals.house"
STOP = 60
"""Seconds for the rooms to write what they hold."""
AGAIN = 5
_SOURCED = 'set -a; [ ! -r "$0" ] || . "$0"; exec "$@"'
"""launchd knows no file of variables; the shell reads it, where there is one, and becomes the installation."""

_BY_SHELL = ("/bin/sh", "-c", 'exec "$0" "$@"')
_PLAIN = re.compile(r"[\w@/.=:+,-]+")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


def systemd(command: Sequence[str], data: Path, variables: Path) -> str:
    """A user's unit. Only the supervisor is asked to end: it ends its rooms before its broker."""
    return f"""\
[Unit]
Description=Annals, the shared memory of coding agents

[Service]
Type=exec
ExecStart={" ".join(_quoted(word, in_command=True) for word in _started(command))}
Environment={_quoted(f"ANNALS_DATA={data}")}
EnvironmentFile=-{_pattern(variables)}
KillMode=mixed
TimeoutStopSec={STOP}
Restart=on-failure
RestartSec={AGAIN}

[Install]
WantedBy=default.target
"""


def launchd(command: Sequence[str], data: Path, variables: Path, log: Path) -> str:
    """A user's agent."""
    return plistlib.dumps(
        {
            "Label": AGENT,
            "ProgramArguments": ["/bin/sh", "-c", _SOURCED, str(variables), *command],
            "EnvironmentVariables": {"ANNALS_DATA": str(data)},
            "RunAtLoad": True,
            "KeepAlive": {"SuccessfulExit": False},
            "ThrottleInterval": AGAIN,
            "ExitTimeOut": STOP,
            "StandardOutPath": str(log),
            "StandardErrorPath": str(log),
        },
        sort_keys=False,
    ).decode()


def _started(command: Sequence[str]) -> Sequence[str]:
    """The words that start a command: systemd takes no program with quotes, backslashes or variables in its name."""
    return command if _PLAIN.fullmatch(command[0]) else (*_BY_SHELL, *command)


def _pattern(path: Path) -> str:
    """A path where systemd reads a pattern to the end of the line."""
    escaped = re.sub(r"[\\*?\[]", r"\\\g<0>", str(path)).replace("%", "%%")
    return _CONTROL.sub("?", escaped)


def _quoted(word: str, *, in_command: bool = False) -> str:
    """As systemd reads a word: in quotes, where it is not plain, and no specifiers and variables in it."""
    escaped = word.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%")
    escaped = _CONTROL.sub(lambda found: f"\\x{ord(found[0]):02x}", escaped)
    if in_command:
        escaped = escaped.replace("$", "$$")
    return escaped if _PLAIN.fullmatch(word) else f'"{escaped}"'
