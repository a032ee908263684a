"""The numbers that a plan is decided with, as values."""

from collections.abc import Mapping

import msgspec


class Prices(msgspec.Struct, frozen=True):
    """What a token costs beside one that no cache knows of: read from the cache, and written to it."""

    read: float = 0.1
    write: float = 1.25


class Limits(msgspec.Struct, frozen=True):
    """Times in seconds, sizes in tokens, the threshold in percent of the context window."""

    cache_ttl: float = 300.0
    threshold: float = 65.0
    protected_tags: int = 20
    clear_reasoning_age: int = 50
    """Tags behind the newest one from which on a message's reasoning is left out."""
    min_reclaim: int = 2000
    prices: Mapping[str, Prices] = {}
    """Model -> prices, where they are others than those of Anthropic's five-minute cache."""
    default_context_limit: int = 128_000
    context_limits: Mapping[str, int] = {}
    """Model -> its context window, where a person knows better than the harness. For the keys see `window.of_model`."""
    output_reserves: Mapping[str, int] = {}
    """Model -> what is kept free of it for an answer."""
    thresholds: Mapping[str, float] = {}
    """Model -> threshold, where it is another one than `threshold`."""
    threshold_tokens: Mapping[str, int] = {}
    """Model -> threshold in tokens, which holds before the one in percent."""
    cache_ttls: Mapping[str, str] = {}
    """Model -> how long its provider's cache lives without an answer, such as `5m`, `1h` or `never`."""
    head: bool = True
    """Whether documents and key files of the project stand at the head of prompts."""
    head_documents: tuple[str, ...] = ("ARCHITECTURE.md", "STRUCTURE.md")
    """Which documents, the most important first. Leave out what the harness itself puts into its prompts."""
    head_tokens: int = 8000
    """The most that documents take together."""
    key_files: tuple[str, ...] = ()
    """Files that every session should know, the most important first."""
    key_files_tokens: int = 10_000
    """The most that key files take together."""
    history: bool = True
    """Whether compressed history takes the place of old messages."""
    history_percent: float = 15.0
    """What it may take, in percent of what a prompt may have before room is made."""
    auto_drop_tool_age: int = 0
    """Tags after which the answer of a tool is dropped at the next rebase; 0: age alone drops nothing."""
    smart_drops: bool = False
    """Whether work on files that later work has overtaken, and spent lists and receipts, are dropped as well."""
    caveman: bool = False
    """Whether old texts are told in fewer words, by rules and only where they are English."""
    caveman_min_chars: int = 500
    """Bytes that a text needs for that; shorter ones stay as they are."""
    temporal: bool = True
    """Whether a marker tells how long a pause a person has made before a message."""
    todo: bool = True
    """Whether a list of what there is to do stays in prompts that have lost the agent's own call with it."""
    reminders: bool = True
    """Whether the agent is told how much old tool output it could drop."""
    note_reminders: bool = True
    """Whether it is reminded of notes that wait, when a piece of work seems to be done."""
    search_hints: bool = True
    """Whether a person's message says what else is known that may bear on it."""
