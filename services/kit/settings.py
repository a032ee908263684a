"""Settings: parsed once at the door, frozen, and handed on as plain values."""

import os
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, SecretStr
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


class Plan(Group):
    """When and how prompts are edited."""

    cache_ttl: float = 300.0
    """Seconds without an answer after which the provider's cache is presumed dead."""
    threshold: float = Field(default=65.0, ge=20.0, le=80.0)
    """Share of the context window, in percent, at which what waits is applied."""
    protected_tags: int = Field(default=20, ge=1, le=100)
    """The newest tags that are not dropped yet when they are asked for."""
    min_reclaim: int = 2000
    """Tokens: a rebase under pressure that would reclaim less is not made."""
    default_context_limit: int = 128_000
    """Tokens, for a model whose limit nobody told."""


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
                plain = value.get_secret_value() if isinstance(value, SecretStr) else value
                values[f"ANNALS_{group}__{name}".upper()] = str(plain)
    return values
