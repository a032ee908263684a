"""A desk that is killed, as by a power cut, while it writes down its first judgement of a candidate.

Its environment names the moment: `before` anything is written, `between` the judgement and what it leads to, or `after`
all of it, when the message that it was read from is not acknowledged yet. `FALLS_AT` names another event than that.
"""

import os
import signal
import sys
from typing import Any, cast

from schemas.events import MemoryJudged
from services.desk.worker import Desk
from services.kit import run
from services.kit.bus import Appender

MOMENT = "FALLS"
FALLS_AT = os.environ.get("FALLS_AT", MemoryJudged.TYPE)


class _Falling(Appender):
    async def _one_by_one(self, decision: Any) -> list[int]:  # noqa: ANN401 - it is the appender's own
        if not decision.messages[0].subject.endswith(f".{FALLS_AT}"):
            return await super()._one_by_one(decision)
        match os.environ[MOMENT]:
            case "between":
                await self._request(decision.messages[0], decision.messages[0].headers({}))
            case "after":
                await super()._one_by_one(decision)
        os.kill(os.getpid(), signal.SIGKILL)
        raise AssertionError("nobody survives this")


if __name__ == "__main__":
    cast("Any", run).Appender = _Falling
    sys.exit(run.run(Desk))
