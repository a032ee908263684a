"""The door to genai-prices: what a model costs that nobody has set a price for.

Its prices come with the package, and nothing is fetched. Only the first question loads it, since that takes a second.
"""

from collections.abc import Mapping

import msgspec
from genai_prices import Usage, calc_price

from services.kit.model.chain import Endpoint


class Known(msgspec.Struct, frozen=True):
    """The list price of a model."""

    provider: str
    model: str

    def usd(self, tokens_in: int, tokens_out: int, cached: int) -> float:
        return float(
            calc_price(_usage(tokens_in, tokens_out, cached), self.model, provider_id=self.provider).total_price
        )


def known(endpoint: Endpoint) -> Known | None:
    """What is known of the vendor's own model, or else of the one at this address, or else of one that is called so.

    A proxy thus costs what its models cost at their vendors: a budget that is too careful is better than one that never
    binds. None where nothing is known.
    """
    ways: tuple[Mapping[str, str], ...] = ({"provider_api_url": endpoint.url}, {})
    for way in ({"provider_id": endpoint.kind},) if endpoint.is_vendor else ways:
        try:
            found = calc_price(_usage(1, 1, 0), endpoint.model, **way)  # type: ignore[call-overload] # one of both, or none
        except LookupError:
            continue
        return Known(found.provider.id, endpoint.model)
    return None


def _usage(tokens_in: int, tokens_out: int, cached: int) -> Usage:
    return Usage(input_tokens=tokens_in, output_tokens=tokens_out, cache_read_tokens=min(cached, tokens_in))
