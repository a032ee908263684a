"""Settings: parsed once at the door, frozen, and handed on as plain values."""

import os
from collections.abc import Mapping
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, SecretStr, model_validator
from pydantic_core import to_json
from pydantic_settings import BaseSettings, SettingsConfigDict


def default_data_dir() -> Path:
    """`$XDG_DATA_HOME/annals`, or what that is by default."""
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / "annals"


def inside(path: str) -> str:
    """A path within a project, spelled in one way. Raises `ValueError` where it leads out, on whatever system."""
    spelled = PurePosixPath(path)
    if not spelled.parts or any(one.anchor or ".." in one.parts for one in (spelled, PureWindowsPath(path))):
        raise ValueError(f"{path!r} is no path within a project: write it from the project's root, such as docs/map.md")
    return str(spelled)


PathInside = Annotated[str, AfterValidator(inside)]


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
    note_reminders: bool = True
    """Whether an agent is reminded of notes that wait, when a piece of work seems to be done."""
    search_hints: bool = True
    """Whether a person's message says what else is known that may bear on it."""
    caveman: bool = False
    """Whether old English texts are shortened mechanically, from the newest fifth but two to the oldest ever more."""
    caveman_min_chars: int = Field(default=500, ge=100, le=10_000)
    """Bytes from which on a text is worth it."""
    head: bool = True
    """Whether documents and key files of the project stand at the head of prompts."""
    head_documents: tuple[PathInside, ...] = ("ARCHITECTURE.md", "STRUCTURE.md")
    """Which documents, the most important first: paths from the project's root. Leave out what the harness itself puts
    into its prompts."""
    head_tokens: int = Field(default=8000, ge=0)
    """The most tokens that documents take together."""
    key_files: tuple[PathInside, ...] = ()
    """Files that every session should know, the most important first: paths from the project's root, as a JSON list
    such as `["src/core.py"]`. A file of at most 100 KiB is shown whole where there is room for it, and else named."""
    key_files_tokens: int = Field(default=10_000, ge=2_000, le=30_000)
    """The most tokens that key files take together. A small model gets less: with the documents no more than a tenth
    of its window."""
    history: bool = True
    """Whether compressed history takes the place of old messages."""
    history_percent: float = Field(default=15.0, ge=5.0, le=50.0)
    """What it may take, as a share of what a prompt may have before room is made."""


class Provider(Group):
    """Who offers models, and how it is reached."""

    kind: Literal["openai", "anthropic"] = "openai"
    """What it speaks: OpenAI's chat completions, as most do, or Anthropic's messages."""
    url: str = Field(default="", pattern="^(https?://.+)?$")
    """Where, such as `http://127.0.0.1:11434/v1`; empty: at the vendor itself. Anthropic's has no `/v1` at its end."""
    key: SecretStr = SecretStr("")
    """What it asks for ..."""
    key_variable: str = ""
    """... or the environment variable that holds that. Empty: `OPENAI_API_KEY` or `ANTHROPIC_API_KEY` for the vendor
    itself, and nothing for others."""


class Price(Group):
    """What a model costs, in USD for a million tokens."""

    input: float = Field(default=0.0, ge=0.0)
    output: float = Field(default=0.0, ge=0.0)
    cached: float | None = Field(default=None, ge=0.0)
    """Input that the provider's cache knows of; without, as other input."""


class Model(Group):
    """Models that rooms ask in the background, and what they may cost. Without a chain none is asked.

    `providers` is a JSON object: a name of yours and how it is reached, such as
    `{"local": {"url": "http://127.0.0.1:11434/v1", "key": "..."}}`, with the fields `kind` (`openai` or `anthropic`),
    `url`, `key`, and `key_variable`, which names an environment variable instead. `openai` and `anthropic` need no
    entry where `OPENAI_API_KEY` or `ANTHROPIC_API_KEY` is set. Values per model are JSON objects, too. Their keys are
    `provider/model`, `model`, either with less and less of what is behind its hyphens, `provider/*`, or `default`.
    """

    chain: tuple[str, ...] = ()
    """The models, as `provider/model`: the first is asked, the next ones where those before fail."""
    providers: dict[str, Provider] = {}
    """Who offers them."""
    windows: dict[str, int] = {}
    """Per model, its context window in tokens."""
    default_window: int = Field(default=128_000, ge=1024)
    """The same for a model that is not named there."""
    prices: dict[str, Price] = {}
    """Per model, USD for a million tokens: `input`, `output`, and `cached` for input that the provider's cache knows.
    A model without costs nothing, as far as the budget knows."""
    max_output: int = Field(default=16_000, ge=256)
    """The most tokens of one answer; never more than a quarter of the window."""
    temperature: float = Field(default=0.1, ge=0.0, le=2.0)
    """Not sent to models that are known to take none."""
    timeout: float = Field(default=180.0, gt=0.0)
    """Seconds for one answer."""
    deadline: float = Field(default=600.0, gt=0.0)
    """Seconds for one question with all its tries."""
    daily_tokens: int = Field(default=2_000_000, ge=0)
    """The most tokens, in and out, that a project may spend in a day of UTC."""
    daily_usd: float = Field(default=5.0, ge=0.0)
    """The most that it may cost a day, as far as prices are known."""

    @model_validator(mode="after")
    def _names_what_is_known(self) -> Self:
        for name in self.chain:
            provider, _, model = name.partition("/")
            if not provider or not model:
                raise ValueError(f"{name!r} in ANNALS_MODEL__CHAIN is no model: write provider/model")
            if provider not in {"openai", "anthropic", *self.providers}:
                raise ValueError(
                    f"nothing is known of the provider of {name!r}: describe it in ANNALS_MODEL__PROVIDERS"
                )
        for provider, known in self.providers.items():
            if provider not in {"openai", "anthropic"} and not known.url:
                raise ValueError(f"the provider {provider!r} in ANNALS_MODEL__PROVIDERS needs a url")
        return self


class History(Group):
    """When sessions are compressed in the background."""

    enabled: bool = True
    """Whether they are."""
    tail_percent: float = Field(default=40.0, ge=5.0, le=80.0)
    """The newest messages stay as they are: this share of what a prompt may have before room is made ..."""
    tail_tokens: int = Field(default=96_000, ge=1_000)
    """... and at most so many tokens."""
    commit_clusters: int = Field(default=3, ge=0)
    """Turns with a commit after which what they finished is compressed; 0: commits are no reason."""
    at_once: int = Field(default=2, ge=1)
    """Sessions that are compressed at the same time."""


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
        hide_input_in_errors=True,  # it may hold a key
    )

    data: Path = Field(default_factory=default_data_dir)
    """The directory for everything that is kept: the broker's store, the views, the broker's address."""
    nats: Nats = Nats()
    loop: Loop = Loop()
    views: Views = Views()
    plan: Plan = Plan()
    history: History = History()
    model: Model = Model()
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
    plain = _plain(value)
    return plain if isinstance(plain, str) else to_json(plain).decode()


def _plain(value: object) -> object:
    """A value with its secrets, also those within: pydantic itself would write asterisks."""
    match value:
        case SecretStr():
            return value.get_secret_value()
        case BaseModel():
            return {name: _plain(inner) for name, inner in value}
        case Mapping():
            return {name: _plain(inner) for name, inner in value.items()}
        case tuple() | list():
            return [_plain(inner) for inner in value]
        case _:
            return value
