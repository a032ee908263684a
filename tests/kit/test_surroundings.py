"""Which faults are those of the surroundings, and what a line of the log has of them and of all others."""

import errno
import json
import os
from collections.abc import Iterator

import duckdb
import nats.errors
import pytest
import structlog

from services.kit.bus import Unreachable
from services.kit.logs import configure, logger
from services.kit.surroundings import MAKE_ROOM, NO_ROOM, sentence_about


def caused(error: Exception, cause: Exception) -> Exception:
    error.__cause__ = cause
    return error


def happened_before(error: Exception, before: Exception) -> Exception:
    error.__context__ = before
    return error


FULL = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
WORDS = f"LanceError(IO): {os.strerror(errno.ENOSPC)} (os error 28)"
AWAY = "nobody serves ask.status.p; `annals status` lists which rooms run"


@pytest.mark.parametrize("code", sorted(NO_ROOM))
def test_a_disk_without_room_is_named_with_what_to_do(code: int) -> None:
    assert MAKE_ROOM == sentence_about(OSError(code, os.strerror(code)))


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (RuntimeError(WORDS), MAKE_ROOM),
        (caused(ValueError("the table was not written"), FULL), MAKE_ROOM),
        (duckdb.IOException("IO Error: Could not write file: File too large"), MAKE_ROOM),
        (duckdb.TransactionException("Failed to commit: Could not write file"), MAKE_ROOM),
        (Unreachable(AWAY), AWAY),
        (caused(KeyError("answer"), Unreachable(AWAY)), AWAY),
    ],
)
def test_libraries_are_understood_in_their_own_words(error: Exception, sentence: str) -> None:
    assert sentence == sentence_about(error)


@pytest.mark.parametrize("error", [nats.errors.TimeoutError(), nats.errors.ConnectionReconnectingError()])
def test_a_broker_that_does_not_answer_is_named(error: Exception) -> None:
    assert sentence_about(error).startswith("the broker did not answer")


@pytest.mark.parametrize(
    "error",
    [
        KeyError("session"),
        ValueError(WORDS),
        PermissionError(errno.EACCES, "Permission denied"),
        duckdb.ConversionException("Could not write"),
        happened_before(KeyError("session"), FULL),
        happened_before(AttributeError("x"), Unreachable(AWAY)),
    ],
)
def test_a_fault_of_the_code_is_not_explained_away(error: Exception) -> None:
    assert "" == sentence_about(error)


@pytest.fixture
def _in_json() -> Iterator[None]:
    configure("desk", level="INFO", as_json=True)
    yield
    structlog.reset_defaults()
    structlog.contextvars.clear_contextvars()


def fail(error: Exception) -> None:
    raise error


@pytest.mark.usefixtures("_in_json")
@pytest.mark.parametrize(("error", "has_traceback"), [(FULL, False), (Unreachable(AWAY), False), (KeyError("x"), True)])
@pytest.mark.parametrize("is_given", [True, False])
def test_a_line_has_a_sentence_or_a_traceback(
    error: Exception, capsys: pytest.CaptureFixture[str], *, has_traceback: bool, is_given: bool
) -> None:
    try:
        fail(error)
    except (OSError, KeyError) as caught:
        if is_given:
            logger().error("it failed", exc_info=caught)
        else:
            logger().exception("it failed", reason="of before")
    line = json.loads(capsys.readouterr().err)
    assert ("it failed", "error", has_traceback) == (line["event"], line["level"], "exception" in line)
    assert has_traceback or sentence_about(error) == line["reason"]
