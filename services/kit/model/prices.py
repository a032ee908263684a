"""The door to genai-prices: what a model costs that nobody has set a price for.

Its prices come with the package, and nothing is fetched. Only the first question loads it, since that takes a second.
"""

from collections.abc import Iterable, Mapping

import msgspec
from genai_prices import Usage, calc_price

from services.kit.model.chain import ModelEndpoint


class ListPrice(msgspec.Struct, frozen=True):
    """The list price of a model."""

    provider: str
    model: str

    def usd(self, tokens_in: int, tokens_out: int, cached: int) -> float:
        return float(
            calc_price(_usage(tokens_in, tokens_out, cached), self.model, provider_id=self.provider).total_price
        )


def known_price(endpoint: ModelEndpoint) -> ListPrice | None:
    """The list price of the vendor's own model, or else of the one at this address, or else of one of this name.

    A proxy thus costs what its models cost at their vendors: a budget that is too careful is better than one that never
    binds. None where nothing is known.
    """
    if endpoint.is_of_harness:
        return known_by_name(endpoint.model)
    ways: tuple[Mapping[str, str], ...] = ({"provider_api_url": endpoint.url}, {})
    return _first(endpoint.model, ({"provider_id": endpoint.kind},) if endpoint.is_vendor else ways)


def known_by_name(name: str) -> ListPrice | None:
    """The list price of `provider/model`: at this vendor, or else of a model that is called so. None: not known."""
    provider, _, model = name.partition("/")
    return _first(model, ({"provider_id": provider}, {})) if model else None


def _first(model: str, ways: Iterable[Mapping[str, str]]) -> ListPrice | None:
    for way in ways:
        try:
            found = calc_price(_usage(1, 1, 0), model, **way)  # type: ignore[call-overload] # one of both, or none
        except LookupError:
            continue
        return ListPrice(found.provider.id, model)
    return None


def _usage(tokens_in: int, tokens_out: int, cached: int) -> Usage:
    return Usage(input_tokens=tokens_in, output_tokens=tokens_out, cache_read_tokens=min(cached, tokens_in))
