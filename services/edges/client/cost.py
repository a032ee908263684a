"""The cost of a call, in plain input tokens: providers charge a share for what a cache has, or gets."""

CACHED = 0.1
"""A token that the provider's cache has."""
NEW = 1.25
"""A token that it has not yet."""
ASIDE = 1.0
"""A token, in or out, of a call outside the conversation: a compaction, or history by a model."""
OVERHEAD = 9_000
"""Tokens of tools and system prompt before the first message, as OpenCode sends them with a dozen tools."""


def units(tokens: int, cached: int, aside: int = 0) -> float:
    """One call with its tokens from the cache, and the additional calls that it needed."""
    return CACHED * cached + NEW * (tokens - cached) + ASIDE * aside
