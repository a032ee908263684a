"""The settings of an installation, in groups: frozen values with their defaults, bounds and meanings.

Those that decide prompts and histories are defined with the domain, in `services.domain.limits`; the others are here.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal

import msgspec
from msgspec import Meta
from pydantic import SecretStr

from services.domain.documents.proposals import DOCUMENTS, check_documents
from services.domain.dream_times import DreamTimes
from services.domain.limits import Commits, History, Limits, MemoryLimits
from services.settings.dream_tasks import check_times


def default_data_dir() -> Path:
    """`$XDG_DATA_HOME/annals`, or what that is by default."""
    return Path(os.path.realpath(Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / "annals"))


class Nats(msgspec.Struct, frozen=True):
    """The broker."""

    url: str = ""
    """The address of an existing broker. Empty: `annals up` starts its own, and the other commands look for that."""
    password: SecretStr = SecretStr("")
    """The password that a team's broker asks of this user; that of `person` may be another. Empty: it asks for none."""
    user: Literal["room", "harness", "person"] = "room"
    """The user that connects, where a password is set."""
    port: Annotated[int, Meta(ge=0, le=65_535)] = 0
    """Port of the embedded broker on loopback; 0: the one it had before, or a free one."""
    max_payload: Annotated[int, Meta(ge=1024)] = 1024 * 1024
    """The largest message that the embedded broker takes, in bytes."""
    wait: Annotated[float, Meta(gt=0.0)] = 10.0
    """Seconds that a room that starts waits for the broker to answer, before it ends with an error. A person's command
    waits no longer either."""


class LoopSettings(msgspec.Struct, frozen=True):
    """The loop in which rooms work through their input."""

    max_in_hand: Annotated[int, Meta(ge=1)] = 1024
    """Messages fetched and not yet acknowledged."""
    ack_wait: Annotated[float, Meta(gt=0.0)] = 5.0
    """Seconds until the broker redelivers an unacknowledged message, after a room has failed; work in hand renews its
    time."""
    max_deliver: Annotated[int, Meta(ge=1)] = 5
    """Attempts before a message becomes a dead letter."""
    backoff: Annotated[float, Meta(ge=0.0)] = 0.5
    """Seconds before the second attempt; doubled for each further one."""
    grace: Annotated[float, Meta(ge=0.0)] = 10.0
    """Seconds for the work in hand when a room is asked to stop."""
    sessions: Annotated[int, Meta(ge=1)] = 256
    """Sessions whose state a room keeps in memory."""
    hung_after: Annotated[float, Meta(ge=0.0)] = 30.0
    """Seconds without a sign of life after which a room ends itself and is begun anew; 0: never, for a debugger."""


class Search(msgspec.Struct, frozen=True):
    """The search for messages, memories, notes, history and commits."""

    projects: Annotated[int, Meta(ge=1)] = 8
    """Projects whose rows the searcher keeps ready in memory, about 1 KiB for each row."""
    ranking: Literal["full", "bm25", "dense", "rrf", "minmax"] = "full"
    """The way in which results are put in order. All but `full` are simpler ways, to compare it with."""
    hints: bool = True
    """Whether what is known and may bear on a person's message is sent to the agent with it."""
    hint_score: Annotated[float, Meta(ge=0.3, le=0.95)] = 0.6
    """The least score, from 0 to 1, by which each thing that is named must fit by itself."""
    hint_characters: Annotated[int, Meta(ge=5, le=500)] = 20
    """Shorter messages are not searched for."""


class Views(msgspec.Struct, frozen=True):
    """The responder's tables and views."""

    batch: Annotated[int, Meta(ge=1)] = 2000
    """The most events committed at once."""
    linger: Annotated[float, Meta(ge=0.0)] = 0.5
    """The most seconds from the first event that is not committed to its commit. It is less the less commits cost, so
    that they take a tenth of the time; after a quiet time an event is committed at once."""
    checkpoint_idle: Annotated[float, Meta(ge=0.0)] = 30.0
    """Seconds without new events before the file is checkpointed."""
    copy_every: Annotated[float, Meta(ge=0.0)] = 10.0
    """Seconds from one copy of the views, which `ask.sql` reads, to the next. It is only made where somebody asks."""
    sql_max_rows: Annotated[int, Meta(ge=1)] = 10_000
    """The most rows one `ask.sql` may return."""
    sql_timeout: Annotated[float, Meta(gt=0.0)] = 10.0
    """Seconds one `ask.sql` may take, with the time for which it waits for its turn."""
    sql_memory: Annotated[int, Meta(ge=64)] = 512
    """MiB of memory one `ask.sql` may take."""
    sql_at_once: Annotated[int, Meta(ge=1)] = 2
    """The number of `ask.sql` that run at once; others wait for their turn."""
    memory_limit: Annotated[str, Meta(pattern=r"^\d+(\.\d+)? ?([KMGTkmgt][Ii]?)?[Bb]$")] = "512MB"
    """Memory for DuckDB, such as `512MB` or `2GiB`."""


class ProviderSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A provider of models, and how it is reached."""

    kind: Literal["openai", "anthropic", "harness"] = "openai"
    """The protocol that it speaks: OpenAI's chat completions, as most do, or Anthropic's messages. `harness`: a harness
    of the project that runs now answers, with its own logins; it has no url and no key."""
    url: Annotated[str, Meta(pattern="^(https?://.+)?$")] = ""
    """The address, such as `http://127.0.0.1:11434/v1`; empty: that of the vendor itself. Anthropic's has no `/v1` at
    its end."""
    key: SecretStr = SecretStr("")
    """The key that it asks for."""
    key_variable: str = ""
    """The environment variable that holds the key instead. Empty: `OPENAI_API_KEY` or `ANTHROPIC_API_KEY` for the
    vendor itself, and nothing for others."""


class Price(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The price of a model, in USD for a million tokens."""

    input: Annotated[float, Meta(ge=0.0)] = 0.0
    output: Annotated[float, Meta(ge=0.0)] = 0.0
    cached: Annotated[float, Meta(ge=0.0)] | None = None
    """Input that the provider's cache knows of; without, as other input."""

    def usd(self, tokens_in: int, tokens_out: int, cached: int) -> float:
        """The cost of a call in USD. `cached`: the number of the input tokens that were in the provider's cache."""
        cheap = self.input if self.cached is None else self.cached
        new = max(0, tokens_in - cached)
        return (new * self.input + cached * cheap + tokens_out * self.output) / MILLION


MILLION = 1_000_000
VENDORS = frozenset({"openai", "anthropic", "harness"})
"""Providers that need no entry: each is of the kind that it is called by."""
SMALL = "small"
"""Of a harness: whichever small model it has."""


class Model(msgspec.Struct, frozen=True):
    """Models that rooms ask in the background, and what they may cost. Without a chain none is asked.

    `providers` is a JSON object: a name of yours and how it is reached, such as
    `{"local": {"url": "http://127.0.0.1:11434/v1", "key": "..."}}`, with the fields `kind` (`openai` or `anthropic`),
    `url`, `key`, and `key_variable`, which names an environment variable instead. `openai` and `anthropic` need no
    entry where `OPENAI_API_KEY` or `ANTHROPIC_API_KEY` is set, and `harness` needs none at all: `harness/small` is the
    small model of a harness that runs in the project now and whose person has agreed, and `harness/provider/model` one
    that is named there. Values per model are JSON objects, too. Their keys are
    `provider/model`, `model`, either with less and less of what is behind its hyphens, `provider/*`, or `default`.
    """

    providers: Mapping[str, ProviderSettings] = {}
    """The providers of the models, by name."""
    chain: Annotated[tuple[str, ...], Meta(extra={"project": "fewer"})] = ()
    """The models, as `provider/model`: the first is asked, the next ones where those before fail."""
    windows: Mapping[str, int] = {}
    """Per model, its context window in tokens."""
    default_window: Annotated[int, Meta(ge=1024)] = 128_000
    """The same for a model that is not named there."""
    prices: Mapping[str, Price] = {}
    """Per model, USD for a million tokens: `input`, `output`, and `cached` for input that the provider's cache knows.
    Without, list prices hold as far as they are known; what nobody knows costs nothing, and a line in the log names it.
    `{"local/*": {}}` has the models of a provider cost nothing."""
    max_output: Annotated[int, Meta(ge=256, extra={"project": "lower"})] = 16_000
    """The most tokens of one answer; never more than a quarter of the window."""
    temperature: Annotated[float, Meta(ge=0.0, le=2.0)] = 0.1
    """Not sent to models that are known to take none."""
    timeout: Annotated[float, Meta(gt=0.0)] = 180.0
    """Seconds for one answer."""
    deadline: Annotated[float, Meta(gt=0.0)] = 600.0
    """Seconds for one question with all its tries."""
    daily_tokens: Annotated[int, Meta(ge=0, le=10**12, extra={"project": "lower"})] = 2_000_000
    """The most tokens, in and out, that a project may spend in a day of UTC."""
    daily_usd: Annotated[float, Meta(ge=0.0, le=1e6, extra={"project": "lower"})] = 5.0
    """The most that all of it may cost a project in a day of UTC, in USD, as far as prices are known."""
    monthly_tokens: Annotated[int, Meta(ge=0, le=10**12)] = 0
    """The most tokens that a project may spend in a month of UTC; 0: the limit of each day is the only one."""
    monthly_usd: Annotated[float, Meta(ge=0.0, le=1e6)] = 0.0
    """The most that all of it may cost a project in a month of UTC, in USD; 0: no other limit than each day's."""
    installation_daily_tokens: Annotated[int, Meta(ge=0, le=10**12)] = 0
    """The most tokens, in and out, that all projects together may spend in a day of UTC; 0: each has its own limit
    alone. Each further desk that decides at the same time may exceed these four limits by one call at most."""
    installation_daily_usd: Annotated[float, Meta(ge=0.0, le=1e6)] = 0.0
    """The most that all projects together may cost in a day of UTC, in USD; 0: each has its own limit alone."""
    installation_monthly_tokens: Annotated[int, Meta(ge=0, le=10**12)] = 0
    """The most tokens that all projects together may spend in a month of UTC; 0: no limit."""
    installation_monthly_usd: Annotated[float, Meta(ge=0.0, le=1e6)] = 0.0
    """The most that all projects together may cost in a month of UTC, in USD; 0: no limit."""
    harness_wait: Annotated[float, Meta(gt=0.0)] = 20.0
    """Seconds in which a harness must have taken a question that is put to harnesses, before the next model of the
    chain is asked."""

    def __post_init__(self) -> None:
        for provider, known in self.providers.items():
            if provider not in VENDORS and known.kind != "harness" and not known.url:
                raise ValueError(f"the provider {provider!r} in ANNALS_MODEL__PROVIDERS needs a url")
        for name in self.chain:
            provider, _, model = name.partition("/")
            if not provider or not model:
                raise ValueError(f"{name!r} in ANNALS_MODEL__CHAIN is no model: write provider/model")
            if provider not in {*VENDORS, *self.providers}:
                raise ValueError(
                    f"nothing is known of the provider of {name!r}: describe it in ANNALS_MODEL__PROVIDERS"
                )
            if self.kind_of(provider) == "harness" and model != SMALL and not all(model.partition("/")):
                raise ValueError(
                    f"{name!r} in ANNALS_MODEL__CHAIN names no model of a harness: write {provider}/small "
                    f"or {provider}/provider/model"
                )

    def kind_of(self, provider: str) -> str:
        """The kind of a provider: as it is described, or as it is called."""
        known = self.providers.get(provider)
        if known is not None:
            return known.kind
        return provider if provider in VENDORS else "openai"


class Embed(msgspec.Struct, frozen=True):
    """The source of vectors for texts, by which search finds the same meaning in other words."""

    provider: Literal["local", "remote", "off"] = "local"
    """`local`: a small model on this machine, which knows English; `remote`: an endpoint that speaks as OpenAI's
    `/embeddings`; `off`: search goes by words alone."""
    url: Annotated[str, Meta(pattern="^(https?://.+)?$")] = ""
    """Of a remote model, without `/embeddings`, such as `http://127.0.0.1:11434/v1`."""
    model: str = ""
    """Its name there."""
    key: SecretStr = SecretStr("")
    """The key that it asks for."""
    key_variable: str = ""
    """The environment variable that holds the key instead."""
    dimensions: Annotated[int, Meta(ge=0)] = 0
    """Of a vector, where the model lets one choose; 0: as many as it has."""
    max_tokens: Annotated[int, Meta(ge=32)] = 512
    """Of a text that it takes; what is longer is cut."""
    timeout: Annotated[float, Meta(gt=0.0)] = 30.0
    """Seconds for one answer."""
    text_type: str = ""
    """The `input_type` that is sent with a text, for models that distinguish texts and queries."""
    query_type: str = ""
    """The `input_type` that is sent with a query, for models that distinguish texts and queries."""

    def __post_init__(self) -> None:
        if self.provider == "remote" and not (self.url and self.model):
            raise ValueError("a remote model for vectors needs ANNALS_EMBED__URL and ANNALS_EMBED__MODEL")


class IndexSettings(msgspec.Struct, frozen=True):
    """The index of search."""

    batch: Annotated[int, Meta(ge=1)] = 5000
    """The most facts whose rows are written at once."""
    linger: Annotated[float, Meta(ge=0.0)] = 10.0
    """The most seconds from the first fact that is not written to its writing. It is less the less writing costs, so
    that it takes a tenth of the time; after a quiet time, or where a search waits for it, a fact is written at once."""
    tidy_rows: Annotated[int, Meta(ge=1)] = 1000
    """The least number of new rows after which a table is tidied, for many of them make search slow. A large table is
    tidied after more: after a quarter of its rows, up to `ANNALS_INDEX__INDEX_ROWS`."""
    rest: Annotated[float, Meta(gt=0.0)] = 60.0
    """Seconds without a new row after which a table is tidied, too. Rows that were taken away are then taken off the
    disk."""
    index_rows: Annotated[int, Meta(ge=256)] = 10_000
    """Rows of a table from which on it is searched by an index, and no longer row by row."""


class Dream(DreamTimes, frozen=True):
    """When the dreamer works on what is remembered of a project: tasks have slots, and are run while nobody works."""

    idle_after: Annotated[float, Meta(ge=0.0, le=525_600.0)] = 30.0
    """Minutes without a model call in a project after which its tasks are run without a slot, too; 0: never."""
    apart: Annotated[float, Meta(ge=1.0, le=8_760.0)] = 12.0
    """Hours from a project's last run to the next one for this reason."""
    quiet: Annotated[float, Meta(ge=0.0, le=86_400.0)] = 120.0
    """Seconds after its start in which it begins only what is ordered."""
    questions: Annotated[int, Meta(ge=0, le=100)] = 2
    """Questions to models that each task may ask in one run, where models are set; 0: tasks work by rules alone."""
    key_files: Literal["held", "applied"] = "held"
    """The treatment of the key files that it proposes: with `held` each waits for `annals keyfiles accept`, and with
    `applied` they are at the head of prompts without a person's decision."""
    documents: tuple[str, ...] = DOCUMENTS
    """The names of documents that changes are proposed to (`annals docs`), at the root and in the folders of projects,
    in Markdown, such as `["ARCHITECTURE.md", "DESIGN.md"]`; `[]`: none."""
    hosts: tuple[str, ...] = ()
    """The hosts whose public addresses notes may wait for, such as `["example.org", "*.example.net"]`; `["*"]`: all of
    them. Without one no address is looked at: an agent writes the address, and a request reveals it to its host."""

    def __post_init__(self) -> None:
        check_times(self.slots, self.zone)
        check_documents(self.documents)
        msgspec.structs.force_setattr(self, "documents", tuple(dict.fromkeys(self.documents)))


class Logs(msgspec.Struct, frozen=True):
    """The log lines that rooms print."""

    level: Literal["debug", "info", "warning", "error"] = "info"
    """The least important line that is printed."""
    format: Literal["console", "json"] = "console"
    """`console` for people, `json` for machines."""


class Http(msgspec.Struct, frozen=True):
    """Health and metrics of each room."""

    host: str = "127.0.0.1"
    """Address to listen on. Nothing secret is served, but keep it on loopback or a private network."""
    port: Annotated[int, Meta(ge=0, le=65_535)] = 0
    """Port for `/healthz` and `/metrics`; 0: any free one (its room prints it). `annals up` gives it to the first room
    by the alphabet, and to each further one the next."""
    unanswered_after: Annotated[float, Meta(ge=0.0)] = 10.0
    """Seconds without an answer of `/healthz` after which `annals up` ends a room and starts it anew, such as one that
    was stopped or waits for a disk, and `annals health --end`, which the containers of a team run, ends it; 0: never,
    for a debugger."""


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that can be set for an installation."""

    data: Path = msgspec.field(default_factory=default_data_dir)
    """The directory for all data: the broker's store, the views, the broker's address."""
    nats: Nats = Nats()
    loop: LoopSettings = LoopSettings()
    views: Views = Views()
    plan: Limits = Limits()
    history: History = History()
    memory: MemoryLimits = MemoryLimits()
    commits: Commits = Commits()
    model: Model = Model()
    embed: Embed = Embed()
    index: IndexSettings = IndexSettings()
    search: Search = Search()
    dream: Dream = Dream()
    logs: Logs = Logs()
    http: Http = Http()
