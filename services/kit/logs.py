"""Logs: one line per thing that happened, with its values, on standard error."""

import contextlib
import io
import logging
import sys
from typing import Any, TextIO, cast

import structlog

from services.kit.surroundings import sentence_about

Logger = structlog.stdlib.BoundLogger


class _Patient(io.TextIOBase):
    """Standard error where a line that cannot be written ends no work: on a full disk there is enough to do."""

    def write(self, text: str) -> int:
        with contextlib.suppress(OSError):
            return sys.stderr.write(text)
        return 0

    def flush(self) -> None:
        with contextlib.suppress(OSError):
            sys.stderr.flush()


def configure(room: str, *, level: str, as_json: bool) -> None:
    """Set up structured logs for this process; every line names its room."""
    renderer: Any = (
        structlog.processors.JSONRenderer()
        if as_json
        else structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty(), pad_event_to=24)
    )
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            _explained,
            structlog.processors.format_exc_info,
            renderer,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.getLevelNamesMapping()[level.upper()]),
        logger_factory=structlog.PrintLoggerFactory(cast("TextIO", _Patient())),
        cache_logger_on_first_use=True,
    )
    structlog.contextvars.bind_contextvars(room=room)
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="%(levelname)s %(name)s %(message)s")


def _explained(_logger: object, _method: str, line: structlog.typing.EventDict) -> structlog.typing.EventDict:
    """The line with a sentence as its `reason` where the surroundings are at fault; any other one stays as it is."""
    given = line.get("exc_info")
    error = given if isinstance(given, BaseException) else sys.exception() if given else None
    if error is not None and (sentence := sentence_about(error)):
        return {name: value for name, value in line.items() if name != "exc_info"} | {"reason": sentence}
    return line


def logger() -> Logger:
    bound: Logger = structlog.get_logger()
    return bound
