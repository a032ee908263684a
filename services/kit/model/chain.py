"""The models of the chain, each with all that is needed to ask it."""

from collections.abc import Mapping
from typing import Protocol

import msgspec
from pydantic import SecretStr

from services.domain.tokens import tokens
from services.domain.window import of_model
from services.settings import Model, Price, ProviderSettings

NO_KEY = "none"
"""The key that is sent where a provider asks for none: the libraries insist on one."""
VENDORS = {
    "openai": ("https://api.openai.com/v1", "OPENAI_API_KEY"),
    "anthropic": ("https://api.anthropic.com", "ANTHROPIC_API_KEY"),
}
"""The vendors' own addresses, and the usual variables of their keys."""
MARGIN = 1.25
"""The factor by which a count by the provider may exceed our estimate."""
SHARE = 4
"""An answer takes at most this part of the window."""


HARNESS = "harness"
"""The kind of providers whose models a harness asks: they have no address and no key."""


class Tariff(Protocol):
    """The tariff of a model: the price of its calls."""

    def usd(self, tokens_in: int, tokens_out: int, cached: int) -> float:
        """US dollars. `cached`: how many of the tokens that went in the provider's cache knew."""


class ModelEndpoint(msgspec.Struct, frozen=True):
    """One model of the chain."""

    name: str
    """`provider/model`."""
    kind: str
    url: str
    key: SecretStr
    model: str
    window: int
    price: Tariff | None
    """None until the first question: then what is known of the model, if anything."""
    output: int
    """The most tokens of one answer."""

    @property
    def provider(self) -> str:
        """The name of the provider, as the settings have it."""
        return self.name.partition("/")[0]

    @property
    def is_of_harness(self) -> bool:
        """Whether a harness asks it, with its own logins."""
        return self.kind == HARNESS

    @property
    def is_vendor(self) -> bool:
        """Whether it is at the vendor itself, whose models are known better than others of the same kind."""
        return not self.is_of_harness and self.url == VENDORS[self.kind][0]

    @property
    def fault(self) -> str:
        """The reason why it cannot be asked; empty: nothing is wrong with its key."""
        key = self.key.get_secret_value()
        if not key and self.is_vendor:
            return f"there is no key for {self.name}; set it as docs/settings.md says"
        if not key.isascii() or not key.isprintable():
            return f"the key for {self.name} holds characters that no key has; set it anew"
        return ""

    @property
    def room(self) -> int:
        """The most tokens of a prompt, by our own estimate."""
        return int((self.window - self.output) / MARGIN)

    def usd(self, tokens_in: int, tokens_out: int, cached: int) -> float:
        """The cost of a call in USD; 0 where no price is known."""
        return 0.0 if self.price is None else self.price.usd(tokens_in, tokens_out, cached)


def chain(settings: Model, environment: Mapping[str, str]) -> tuple[ModelEndpoint, ...]:
    """The models in the order in which they are asked."""
    return tuple(_endpoint(name, settings, environment) for name in settings.chain)


def _endpoint(name: str, settings: Model, environment: Mapping[str, str]) -> ModelEndpoint:
    provider, _, model = name.partition("/")
    known, kind = settings.providers.get(provider) or ProviderSettings(), settings.kind_of(provider)
    url, variable = VENDORS.get(kind, ("", ""))
    variable = known.key_variable or ("" if known.url else variable)
    key = known.key.get_secret_value() or environment.get(variable, "")
    window = of_model(settings.windows, provider, model, settings.default_window)
    return ModelEndpoint(
        name=name,
        kind=kind,
        url=known.url or url,
        key=SecretStr(key.strip()),  # from a file it often comes with the end of its line
        model=model,
        window=window,
        price=_price(settings, provider, model),
        output=min(settings.max_output, window // SHARE),
    )


def _price(settings: Model, provider: str, model: str) -> Tariff | None:
    """The price that a person has set, also where that is 0; None where none is set."""
    found: Price | None = of_model(settings.prices, provider, model, None)
    return found


def estimate(*texts: str) -> int:
    """Estimated tokens of a prompt."""
    return tokens(sum(len(text.encode()) for text in texts))
