"""A broker of this machine that runs and does not answer: what it does instead, and what to do about it."""

from pathlib import Path

import psutil

from services.kit.endpoint import read
from services.settings import Settings

NAME = "nats-server"
LOG = "nats.log"


def why_silent(settings: Settings) -> str:
    """The reason why the broker of this installation does not answer; empty where it runs elsewhere, or not at all."""
    written = None if settings.nats.url else read(settings.data)
    if written is None or not written.pid:
        return ""
    try:
        process = psutil.Process(written.pid)
        state = process.status() if Path(process.name()).stem == NAME else psutil.STATUS_DEAD
    except psutil.Error:
        return ""
    if state in {psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD}:
        return ""
    if state == psutil.STATUS_STOPPED:
        return (
            "the broker's process is stopped and answers nobody; let it go on with "
            f"`kill -CONT {written.pid}`: nothing that it has confirmed is lost"
        )
    return (
        f"the broker runs (pid {written.pid}) and does not answer; see {settings.data / LOG}, and that its disk "
        "answers; if it stays so, `annals down`, then `annals up`"
    )
