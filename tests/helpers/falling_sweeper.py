"""A dreamer that is killed, as by a power cut, when it sends what a note waited for: before that, or behind it."""

import os
import signal
import sys
from typing import Any

from services.dreamer import sweeps
from services.dreamer.worker import Dreamer
from services.kit import run
from services.kit.commands import send


async def _falling(*arguments: Any, **named: Any) -> None:  # noqa: ANN401 - they are those of `send`
    if os.environ["FALLS"] == "behind":
        await send(*arguments, **named)
    os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    sweeps.send = _falling  # type: ignore[assignment] # it never answers
    sys.exit(run.run(Dreamer))
