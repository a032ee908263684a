"""One call to one model: what it said, or why it said nothing."""

import importlib
from typing import Protocol

import msgspec
from pydantic import SecretStr

from services.kit.model.chain import Endpoint
from services.kit.model.question import Outcome
from services.kit.secrets import mask

MAX_DETAIL = 500
"""Characters that are kept of what was wrong."""


class Said(msgspec.Struct, frozen=True):
    """What a model answered. Counts are those of the provider; 0: it told none."""

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

    async def ask(self, endpoint: Endpoint, system: str, prompt: str, *, output: int, seconds: float) -> Said | Failed:
        """Ask once; what fails is told, not raised."""

    async def close(self) -> None:
        """Hang up."""


class Lazy(Protocol):
    """A module of this package that holds a client."""

    def client(self, temperature: float) -> Client: ...


def load(temperature: float) -> Client:
    """The client. Its libraries take seconds and tens of MiB, so they are read only when the first question comes."""
    module: Lazy = importlib.import_module("services.kit.model.client")
    return module.client(temperature)


def clean(text: str, key: SecretStr) -> str:
    """What was wrong, on one line, cut, and without secrets: some providers say the key back."""
    secret = key.get_secret_value()
    if secret:
        text = text.replace(secret, "[masked:key]")
    text = " ".join(mask(text).split())
    return text if len(text) <= MAX_DETAIL else f"{text[: MAX_DETAIL - 1]}…"
