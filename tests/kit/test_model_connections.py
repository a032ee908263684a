"""The connections to models: each is closed at the end, whatever becomes of the others."""

import pytest
from openai import AsyncOpenAI
from pydantic import SecretStr

from services.kit.model.calls import ModelFailure
from services.kit.model.chain import ModelEndpoint
from services.kit.model.client import client
from tests.helpers.model_questions import KEY, PROMPT, SYSTEM
from tests.helpers.waiting import PATIENCE

NAMES = ("first/m", "second/m", "third/m")
NOWHERE = "http://127.0.0.1:9"


@pytest.mark.parametrize("fails", range(len(NAMES)))
async def test_a_connection_that_cannot_be_closed_leaves_no_other_open(
    monkeypatch: pytest.MonkeyPatch, fails: int
) -> None:
    closing, tried = AsyncOpenAI.close, list[AsyncOpenAI]()

    async def close(self: AsyncOpenAI) -> None:
        tried.append(self)
        if len(tried) == fails + 1:
            raise OSError("this one cannot be closed")
        await closing(self)

    monkeypatch.setattr(AsyncOpenAI, "close", close)
    providers = client(0.0)
    for name in NAMES:
        endpoint = ModelEndpoint(name, "openai", NOWHERE, SecretStr(KEY), "m", window=1000, price=None, output=100)
        reply = await providers.ask(endpoint, SYSTEM, PROMPT, output=10, seconds=PATIENCE)
        assert isinstance(reply, ModelFailure)
    with pytest.raises(OSError, match="this one cannot be closed"):
        await providers.close()
    assert len(NAMES) == len({*map(id, tried)})
    assert [number != fails for number in range(len(NAMES))] == [one.is_closed() for one in tried]
    await providers.close()
    assert len(NAMES) == len(tried)
