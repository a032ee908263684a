"""One call to one model: what it completion, or why it completion nothing."""

import importlib
from collections.abc import Sequence
from typing import Protocol

import msgspec
from pydantic import SecretStr

from services.domain.questions.question import Outcome
from services.domain.secrets import mask
from services.kit.logs import logger
from services.kit.model.chain import Endpoint, Tariff

MAX_DETAIL = 500
"""Characters that are kept of what was wrong."""


class Completion(msgspec.Struct, frozen=True):
    """What a model answered. Counts are those of the provider; 0 where it reports none."""

    text: str
    tokens_in: int = 0
    tokens_out: int = 0
    cached: int = 0
    cut: bool = False
    """Whether it ran into the most tokens of an answer."""


class Failed(msgspec.Struct, frozen=True):
    """Why there is no answer."""

    outcome: Outcome
    detail: str
    spent: bool = False
    """Whether it may have cost something all the same."""


class Client(Protocol):
    """Who can ask the models of one kind of provider."""

    async def ask(
        self, endpoint: Endpoint, system: str, prompt: str, *, output: int, seconds: float
    ) -> Completion | Failed:
        """Ask once; a failure is returned, not raised."""

    async def close(self) -> None:
        """Hang up."""


class Clients(Protocol):
    """The module of this package that holds the client."""

    def client(self, temperature: float) -> Client: ...


class Prices(Protocol):
    """The module of this package that knows prices."""

    def known(self, endpoint: Endpoint) -> Tariff | None: ...


def load(temperature: float) -> Client:
    """The client. Its libraries take seconds and tens of MiB, so they are read only when the first question comes."""
    module: Clients = importlib.import_module("services.kit.model.client")
    return module.client(temperature)


def priced(endpoints: Sequence[Endpoint]) -> tuple[Endpoint, ...]:
    """The models with what is known of their prices, where nobody has set any; read late for the same reason."""
    if all(endpoint.price is not None for endpoint in endpoints):
        return tuple(endpoints)
    prices: Prices = importlib.import_module("services.kit.model.prices")
    found = tuple(
        msgspec.structs.replace(endpoint, price=prices.known(endpoint)) if endpoint.price is None else endpoint
        for endpoint in endpoints
    )
    for endpoint in found:
        if endpoint.price is None:
            remedy = "set ANNALS_MODEL__PRICES, or rely on ANNALS_MODEL__DAILY_TOKENS"
            logger().warning(
                "no price is known, so the daily limit in USD does not bind", model=endpoint.name, remedy=remedy
            )
    return found


def clean(text: str, key: SecretStr) -> str:
    """What was wrong, on one line, cut, and without secrets: some providers repeat the key."""
    secret = key.get_secret_value()
    if secret:
        text = text.replace(secret, "[masked:key]")
    text = " ".join(mask(text).split())
    return text if len(text) <= MAX_DETAIL else f"{text[: MAX_DETAIL - 1]}…"
