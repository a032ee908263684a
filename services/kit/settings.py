"""Settings: parsed once at the door, frozen, and handed on as plain values."""

import os
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, SecretStr
from pydantic_core import to_json
from pydantic_settings import BaseSettings, SettingsConfigDict


def default_data_dir() -> Path:
    """`$XDG_DATA_HOME/annals`, or what that is by default."""
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / "annals"


class Group(BaseModel):
    """A group of settings: frozen, documented field by field, nothing unknown accepted."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)


class Nats(Group):
    """The broker."""

    url: str = ""
    """An existing broker's address; empty: `annals up` starts its own, and the other commands look for that one."""
    password: SecretStr = SecretStr("")
    """One password for a team's rooms (user `room`) and harnesses (user `harness`); empty: the broker asks for none."""
    user: Literal["room", "harness"] = "room"
    """Who connects, where a password is set."""
    port: int = 0
    """Port of the embedded broker on loopback; 0: the one it had before, or a free one."""
    max_payload: int = 1024 * 1024
    """The largest message the embedded broker takes, in bytes."""


class Loop(Group):
    """How rooms work through their input."""

    max_in_hand: int = 1024
    """Messages fetched and not yet acknowledged."""
    ack_wait: float = 5.0
    """Seconds until the broker delivers an unacknowledged message again, after a room's fall; work in hand is
    kept alive."""
    max_deliver: int = 5
    """Attempts before a message becomes a dead letter."""
    backoff: float = 0.5
    """Seconds before the second attempt; doubled for each further one."""
    grace: float = 10.0
    """Seconds for the work in hand when a room is asked to stop."""
    sessions: int = 256
    """Sessions whose state a room keeps in memory."""


class Views(Group):
    """The responder's tables and views."""

    batch: int = 2000
    """The most events committed at once."""
    linger: float = 0.02
    """Seconds from the first event that is not committed to its commit, unless a whole batch is there before."""
    checkpoint_idle: float = 30.0
    """Seconds without new events before the file is checkpointed."""
    sql_max_rows: int = 10_000
    """The most rows one `ask.sql` may return."""
    sql_timeout: float = 10.0
    """Seconds one `ask.sql` may run."""
    memory_limit: str = "512MB"
    """Memory for DuckDB."""


class Prices(Group):
    """What a token costs beside one that no cache knows of."""

    read: float = Field(default=0.1, ge=0.0, le=1.0)
    """Read from the cache."""
    write: float = Field(default=1.25, ge=1.0, le=4.0)
    """Written to it."""


class Plan(Group):
    """When and how prompts are edited.

    Values per model are JSON objects. Their keys are `provider/model`, `model`, either with less and less of what is
    behind its hyphens, `provider/*`, or `default`.
    """

    cache_ttl: float = 300.0
    """Seconds without an answer after which the provider's cache is presumed dead."""
    cache_ttls: dict[str, str] = {}
    """The same per model, such as `5m`, `1h` or `never`."""
    threshold: float = Field(default=65.0, ge=20.0, le=90.0)
    """Share of the usable context window, in percent, at which room is made."""
    thresholds: dict[str, float] = {}
    """The same per model."""
    threshold_tokens: dict[str, int] = {}
    """The same per model in tokens, which holds before the one in percent."""
    protected_tags: int = Field(default=20, ge=1, le=100)
    """The newest tags that are not dropped yet when they are asked for."""
    min_reclaim: int = Field(default=2000, ge=0)
    """Tokens: a rebase under pressure that would reclaim less is not made."""
    prices: dict[str, Prices] = {}
    """Per model, what cached tokens cost: a rebase is made only when it pays. By default as at Anthropic."""
    default_context_limit: int = Field(default=128_000, ge=1024)
    """Tokens, for a model whose limit nobody told."""
    context_limits: dict[str, int] = {}
    """Per model, its context window in tokens, where a person knows better than the harness."""
    output_reserves: dict[str, int] = {}
    """Per model, tokens kept free for an answer; without, the model's output limit, at most a quarter of the window."""
    clear_reasoning_age: int = Field(default=50, ge=10)
    """Tags behind the newest one from which on a message's reasoning is left out at a rebase."""
    auto_drop_tool_age: int = Field(default=0, ge=0)
    """Tags after which the answer of a tool is dropped at the next rebase; 0: age alone drops nothing."""
    smart_drops: bool = False
    """Whether work on files that later work has overtaken, and spent lists and receipts, are dropped as well."""
    temporal: bool = True
    """Whether a person's message after a pause of five minutes or more says how long it was."""
    todo: bool = True
    """Whether an open todo list that is no longer in sight is shown again at a rebase."""
    reminders: bool = True
    """Whether an agent is reminded of what it could drop."""
    caveman: bool = False
    """Whether old English texts are shortened mechanically, from the newest fifth but two to the oldest ever more."""
    caveman_min_chars: int = Field(default=500, ge=100, le=10_000)
    """Bytes from which on a text is worth it."""
    head: bool = True
    """Whether documents of the project stand at the head of prompts."""
    head_documents: tuple[str, ...] = ("ARCHITECTURE.md", "STRUCTURE.md")
    """Which of them, the most important first. Leave out what the harness itself puts into its prompts."""
    head_tokens: int = Field(default=8000, ge=0)
    """The most tokens that they take together."""


class Logs(Group):
    """What the rooms print."""

    level: Literal["debug", "info", "warning", "error"] = "info"
    """The least important line that is printed."""
    format: Literal["console", "json"] = "console"
    """For people, or for machines."""


class Http(Group):
    """Health and metrics of each room."""

    host: str = "127.0.0.1"
    """Address to listen on. Nothing secret is served, but keep it on loopback or a private network."""
    port: int = 0
    """Port for `/healthz` and `/metrics`; 0: any free one (its room prints it)."""


class Settings(BaseSettings):
    """Everything that can be set, from the environment (`ANNALS_` and `__` between group and name)."""

    model_config = SettingsConfigDict(
        env_prefix="ANNALS_",
        env_nested_delimiter="__",
        frozen=True,
        extra="forbid",
        use_attribute_docstrings=True,
    )

    data: Path = Field(default_factory=default_data_dir)
    """The directory for everything that is kept: the broker's store, the views, the broker's address."""
    nats: Nats = Nats()
    loop: Loop = Loop()
    views: Views = Views()
    plan: Plan = Plan()
    logs: Logs = Logs()
    http: Http = Http()


def environment(settings: Settings) -> dict[str, str]:
    """The variables from which a process of its own parses these very settings."""
    values = {"ANNALS_DATA": str(settings.data)}
    for group, fields in settings:
        if isinstance(fields, Group):
            for name, value in fields:
                values[f"ANNALS_{group}__{name}".upper()] = _written(value)
    return values


def _written(value: object) -> str:
    """A value as a variable holds it: whatever is not plain is JSON."""
    if isinstance(value, SecretStr):
        return value.get_secret_value()
    return value if isinstance(value, str) else to_json(value).decode()
