"""What every test of this folder starts from."""

from collections.abc import Iterator

import pytest
import structlog


@pytest.fixture(autouse=True)
def _plain_logs() -> Iterator[None]:
    """Log lines as they are in production, without the values of local variables."""
    structlog.configure(processors=[structlog.processors.format_exc_info, structlog.processors.KeyValueRenderer()])
    yield
    structlog.reset_defaults()
