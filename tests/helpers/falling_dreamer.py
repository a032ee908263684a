"""A dreamer that is killed, as by a power cut, when it would write what came of a task, or what `FALLS_AT` names.

Where `FALLS_BEHIND` names an event, it is killed as soon as that is written.
"""

import os
import signal
import sys
from typing import Any, cast

from schemas.events import TaskFinished
from services.dreamer.worker import Dreamer
from services.kit import run
from services.kit.bus import Appender

FALLS_BEHIND = os.environ.get("FALLS_BEHIND", "")
FALLS_AT = os.environ.get("FALLS_AT", "" if FALLS_BEHIND else TaskFinished.TYPE)


class _Falling(Appender):
    async def append(self, envelopes: Any, expected: Any) -> list[int]:  # noqa: ANN401 - they are the appender's own
        if any(one.type == FALLS_AT for one in envelopes):
            os.kill(os.getpid(), signal.SIGKILL)
        written = await super().append(envelopes, expected)
        if any(one.type == FALLS_BEHIND for one in envelopes):
            os.kill(os.getpid(), signal.SIGKILL)
        return written


if __name__ == "__main__":
    cast("Any", run).Appender = _Falling
    sys.exit(run.run(Dreamer))
