"""The numbers that a plan is decided with, as values."""

import msgspec


class Limits(msgspec.Struct, frozen=True):
    """Times in seconds, sizes in tokens, the threshold in percent of the context window."""

    cache_ttl: float = 300.0
    threshold: float = 65.0
    protected_tags: int = 20
    min_reclaim: int = 2000
    default_context_limit: int = 128_000
