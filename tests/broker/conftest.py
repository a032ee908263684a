"""What every test of this folder starts from."""

from collections.abc import Iterator

import pytest
import structlog

from services.kit.bus import connection


@pytest.fixture(autouse=True)
def _plain_logs() -> Iterator[None]:
    """Log lines as they are in production, without the values of local variables."""
    structlog.configure(processors=[structlog.processors.format_exc_info, structlog.processors.KeyValueRenderer()])
    yield
    structlog.reset_defaults()


@pytest.fixture(autouse=True)
def _hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """A broker of a test's own is back in no time: nobody waits long before trying again."""
    monkeypatch.setattr(connection, "RECONNECT_WAIT", 0.02)
