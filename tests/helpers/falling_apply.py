"""`annals docs apply`, killed, as by a power cut, behind the writing of the document and before that is recorded."""

import os
import signal
import sys
from typing import Any, cast

from services.edges import cli
from services.edges.docs import command


async def _falls(*_: object, **__: object) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    cast("Any", command).send = _falls
    sys.exit(cli.main())
