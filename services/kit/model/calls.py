"""One call to one model: what it answered, or why there is no answer."""

import importlib
from collections.abc import Sequence
from functools import lru_cache
from typing import Protocol

import msgspec
from pydantic import SecretStr

from services.domain.questions.question import Outcome
from services.domain.secrets import mask
from services.kit.logs import logger
from services.kit.model.chain import ModelEndpoint, Tariff

MAX_DETAIL = 500
"""Characters of an error that are recorded."""
CACHED = 256
"""Names of models whose prices are remembered."""


class Completion(msgspec.Struct, frozen=True):
    """A model's answer. Counts are those of the provider; 0 where it reports none."""

    text: str
    tokens_in: int = 0
    tokens_out: int = 0
    cached: int = 0
    cut: bool = False
    """Whether it ran into the most tokens of an answer."""
    model: str = ""
    """The one that answered, where it is another than was asked."""
    usd: float | None = None
    """The cost in USD; None: as the price of the model makes it."""
    is_paid: bool = False
    """Whether it was paid for before: it was there when it was asked for."""


class ModelFailure(msgspec.Struct, frozen=True):
    """The reason why there is no answer, with what the failed call cost."""

    outcome: Outcome
    detail: str
    spent: bool = False
    """Whether it may have cost something that nobody knows."""
    model: str = ""
    """The model that failed, where it is another than was asked."""
    tokens_in: int = 0
    """The input tokens that the failed call cost all the same, as far as they are known."""
    tokens_out: int = 0
    cached: int = 0
    usd: float = 0.0


class Client(Protocol):
    """A client for the models of one kind of provider."""

    async def ask(
        self, endpoint: ModelEndpoint, system: str, prompt: str, *, output: int, seconds: float
    ) -> Completion | ModelFailure:
        """Ask once; a failure is returned, not raised."""

    async def close(self) -> None:
        """Hang up."""


class Clients(Protocol):
    """The module of this package that holds the client."""

    def client(self, temperature: float) -> Client: ...


class PriceModule(Protocol):
    """The module of this package that knows prices."""

    def known_price(self, endpoint: ModelEndpoint) -> Tariff | None: ...

    def known_by_name(self, name: str) -> Tariff | None: ...


def load(temperature: float) -> Client:
    """The client. Its libraries take seconds and tens of MiB, so they are read only when the first question comes."""
    module: Clients = importlib.import_module("services.kit.model.client")
    return module.client(temperature)


def priced(endpoints: Sequence[ModelEndpoint]) -> tuple[ModelEndpoint, ...]:
    """The models with what is known of their prices, where nobody has set any; read late for the same reason."""
    if all(endpoint.price is not None for endpoint in endpoints):
        return tuple(endpoints)
    prices = _prices()
    found = tuple(
        msgspec.structs.replace(endpoint, price=prices.known_price(endpoint)) if endpoint.price is None else endpoint
        for endpoint in endpoints
    )
    for endpoint in found:
        if endpoint.price is None and not endpoint.is_of_harness:  # whose models are known by their answers
            _report_unpriced(endpoint.name)
    return found


@lru_cache(CACHED)
def price_of(name: str) -> Tariff | None:
    """The list price of a model, by its name alone; where there is none, that is logged once."""
    found = _prices().known_by_name(name)
    if found is None:
        _report_unpriced(name)
    return found


def _prices() -> PriceModule:
    module: PriceModule = importlib.import_module("services.kit.model.prices")
    return module


def _report_unpriced(name: str) -> None:
    remedy = "set ANNALS_MODEL__PRICES, or rely on ANNALS_MODEL__DAILY_TOKENS"
    logger().warning("no price is known, so the limits in USD do not bind", model=name, remedy=remedy)


def clean(text: str, key: SecretStr) -> str:
    """The fault on one line, cut, and without secrets: some providers repeat the key."""
    secret = key.get_secret_value()
    if secret:
        text = text.replace(secret, "[masked:key]")
    text = " ".join(mask(text).split())
    return text if len(text) <= MAX_DETAIL else f"{text[: MAX_DETAIL - 1]}…"
