"""What the processes of a test see of this machine: nothing that its developer has set."""

import os
import signal
from pathlib import Path

SETTINGS = ("ANNALS_", "OPENCODE_", "XDG_")
"""How the variables begin by which people set what is tested, or say where their settings are."""


def surroundings(home: Path) -> dict[str, str]:
    """The variables of this process without those, and with a home of its own, which is made."""
    home.mkdir(parents=True, exist_ok=True)
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(SETTINGS)}
    return {**inherited, "HOME": str(home)}


def hear_signals() -> None:
    """Let a process be interrupted and hung up, run in it before its program is.

    Whoever starts these tests may have them ignored, as `nohup` and a shell's `&` do, and that is inherited.
    """
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
