"""A scripted provider and a real harness that a test module shares: a start takes seconds."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from tests.harness import scenarios
from tests.harness.opencode import OpenCode
from tests.harness.provider import Provider
from tests.harness.provider.content import Format

FORMATS: tuple[Format, ...] = ("openai", "anthropic")


@pytest.fixture(params=FORMATS)
def form(request: pytest.FixtureRequest) -> Format:
    return "anthropic" if request.param == "anthropic" else "openai"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def provider() -> AsyncIterator[Provider]:
    """The provider of a module's tests. It refuses what the real ones refuse."""
    async with Provider() as running:
        yield running


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def plain(provider: Provider, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[OpenCode]:
    """OpenCode without any plugin."""
    async with OpenCode(tmp_path_factory.mktemp("plain"), provider.url, config=scenarios.CONFIG) as running:
        yield running
