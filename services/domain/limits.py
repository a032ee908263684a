"""The numbers that prompts and histories are decided with, as values: each is defined here, and nowhere else.

Each field is a setting: its bounds are those that a person may set, its docstring is what the page of settings says.
`project` in its metadata says how a project's file may tighten it for a whole installation (`annals up
--project-limits`). `own` says that a project may set it for itself alone: to `any` value, or only `off`. Without
either a project has no say. See `services.domain.project_settings`.
"""

import re
from collections.abc import Mapping
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from services.domain.retention import Context


class Prices(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Prices of cached tokens, relative to one that is not cached."""

    read: Annotated[float, Meta(ge=0.0, le=1.0)] = 0.1
    """The price of a token that is read from the cache, as a multiple of one that is not cached."""
    write: Annotated[float, Meta(ge=1.0, le=4.0)] = 1.25
    """The price of a token that is written to the cache, as a multiple of one that is not cached."""


class Limits(msgspec.Struct, frozen=True):
    """When and how prompts are edited.

    Values per model are JSON objects. Their keys are `provider/model`, `model`, either with less and less of what is
    behind its hyphens, `provider/*`, or `default`.
    """

    cache_ttl: Annotated[float, Meta(ge=0.0)] = 300.0
    """Seconds after a call until the provider's cache is presumed dead, however long the answer took."""
    cache_ttls: Mapping[str, str] = {}
    """The same per model, such as `5m`, `1h` or `never`. A shortened `model` is no key here."""
    threshold: Annotated[float, Meta(ge=20.0, le=90.0, extra={"project": "lower"})] = 85.0
    """Share of the usable context window, in percent, at which room is made between two turns, whatever it costs. Cost
    alone mostly decides sooner."""
    thresholds: Mapping[str, float] = {}
    """The same per model."""
    threshold_tokens: Mapping[str, int] = {}
    """The same per model in tokens, which holds before the one in percent."""
    protected_tags: Annotated[int, Meta(ge=1, le=100, extra={"project": "higher"})] = 20
    """The number of the newest tags that are not dropped yet when they are asked for."""
    min_reclaim: Annotated[int, Meta(ge=0)] = 2000
    """Tokens: a rebase under pressure that would reclaim less is not made."""
    prices: Mapping[str, Prices] = {}
    """Per model, what cached tokens cost: a rebase is made only when it pays. By default as at Anthropic."""
    default_context_limit: Annotated[int, Meta(ge=1024)] = 128_000
    """The context window in tokens of a model whose limit nobody has named."""
    context_limits: Mapping[str, int] = {}
    """Per model, its context window in tokens, where a person knows better than the harness."""
    output_reserves: Mapping[str, int] = {}
    """Per model, tokens reserved for an answer; without, the model's output limit, at most a quarter of the window."""
    clear_reasoning_age: Annotated[int, Meta(ge=10, extra={"project": "higher"})] = 50
    """Tags behind the newest one from which on a message's reasoning is left out at a rebase."""
    auto_drop_tool_age: Annotated[int, Meta(ge=0)] = 0
    """Tags after which the answer of a tool is dropped at the next rebase; 0: age alone drops nothing."""
    smart_drops: Annotated[bool, Meta(extra={"project": "off"})] = False
    """Whether work on files that later work has overtaken, and spent lists and receipts, are dropped as well."""
    temporal: bool = True
    """Whether a person's message after a pause of five minutes or more is marked with how long the pause was."""
    todo: bool = True
    """Whether an open todo list that is no longer in sight is repeated at a rebase."""
    reminders: bool = True
    """Whether an agent is reminded of what it could drop."""
    guidance: bool = True
    """Whether system prompts explain tags, placeholders and what can be dropped. Without, only the tools do."""
    skip_prompts: tuple[str, ...] = ()
    """Texts that mark a system prompt as one to leave alone, calls and all, as those of a harness's helper agents are.
    `<!-- annals: skip -->` always does."""
    caveman: Annotated[bool, Meta(extra={"project": "off"})] = False
    """Whether old English texts are shortened mechanically, from the newest fifth but two to the oldest ever more."""
    caveman_min_chars: Annotated[int, Meta(ge=100, le=10_000)] = 500
    """Bytes from which on a text is worth shortening."""
    head: Annotated[bool, Meta(extra={"project": "off", "own": "any"})] = True
    """Whether documents and key files of the project are at the head of prompts."""
    head_documents: Annotated[tuple[str, ...], Meta(extra={"own": "any"})] = ("ARCHITECTURE.md", "STRUCTURE.md")
    """Which documents, the most important first: paths from the project's root. Leave out what the harness itself puts
    into its prompts."""
    head_tokens: Annotated[int, Meta(ge=0, extra={"project": "lower"})] = 8000
    """The most tokens that documents take together."""
    key_files: Annotated[tuple[str, ...], Meta(extra={"own": "any"})] = ()
    """Files that every session should know, the most important first: paths from the project's root, as a JSON list
    such as `["src/core.py"]`. A file of at most 100 KiB is included whole if there is room, else only named."""
    key_files_tokens: Annotated[int, Meta(ge=2_000, le=30_000, extra={"project": "lower"})] = 10_000
    """The most tokens that key files take together. A small model gets less: with the documents no more than a tenth
    of its window."""
    history: Annotated[bool, Meta(extra={"own": "any"})] = True
    """Whether compressed history takes the place of old messages."""
    context: Annotated[Context, Meta(extra={"own": "any"})] = "balanced"
    """The amount that stays in sight when a prompt is made smaller: `balanced` the newest 5,000 tokens, history of up
    to 4,000, and readings of files that the task at hand has not changed yet, less of all in a small window; `lean` six
    tenths of that, so that agents look back more often; `full` twice as much, and it costs more."""

    def __post_init__(self) -> None:
        if not all(text.strip() for text in self.skip_prompts):
            raise ValueError("an empty text in ANNALS_PLAN__SKIP_PROMPTS would leave every prompt alone: take it out")
        for name in ("head_documents", "key_files"):
            msgspec.structs.force_setattr(self, name, tuple(map(inside, getattr(self, name))))


class History(msgspec.Struct, frozen=True):
    """When sessions are compressed in the background."""

    enabled: Annotated[bool, Meta(extra={"project": "off", "own": "any"})] = True
    """Whether sessions are compressed."""
    ahead: bool = True
    """Whether rules keep history ready up to the newest messages at all times, so that no prompt waits for it."""
    tail_tokens: Annotated[int, Meta(ge=1_000)] = 96_000
    """The newest messages stay as they are: what `ANNALS_PLAN__CONTEXT` keeps of them, and at most so many tokens."""
    commit_clusters: Annotated[int, Meta(ge=0)] = 3
    """Turns with a commit after which what they finished is compressed; 0: commits are no reason."""
    at_once: Annotated[int, Meta(ge=1)] = 2
    """Sessions that are compressed at the same time."""


class MemoryLimits(msgspec.Struct, frozen=True):
    """Limits of a project's memory, for all its sessions, and how much of it they get."""

    enabled: Annotated[bool, Meta(extra={"project": "off", "own": "off"})] = True
    """Whether anything is remembered and used. Without, nothing is written, and nothing that was is lost."""
    mode: Literal["compact", "full"] = "compact"
    """The part of the memory that is at the head of prompts: the strongest memories, or nearly all."""
    compact_tokens: Annotated[int, Meta(ge=0, le=10_000, extra={"project": "lower"})] = 900
    """The most tokens that memories take at the head in the mode `compact`."""
    compact_entries: Annotated[int, Meta(ge=0, le=1_000, extra={"project": "lower"})] = 28
    """The most memories in the head in that mode that are neither a person's nor pinned. A person's are only
    bounded by the tokens."""
    full_tokens: Annotated[int, Meta(ge=0, le=30_000, extra={"project": "lower"})] = 4000
    """The most tokens that memories take at the head in the mode `full`."""
    notice_tokens: Annotated[int, Meta(ge=0, le=2_000, extra={"project": "lower"})] = 200
    """The most tokens of a turn that report what has changed since the head was made."""
    last_session: Annotated[bool, Meta(extra={"project": "off"})] = True
    """Whether a new session begins with the errors that the last one in the same directory left open, and the files
    that it worked on."""
    dormant_after_days: Annotated[float, Meta(gt=0.0, le=36_500.0)] = 14.0
    """Days without work on a project from which on its memories fade at a quarter of their pace."""


class Commits(msgspec.Struct, frozen=True):
    """Limits of a project's commits that are recorded, so that they can be searched and linked.

    `remotes` is a JSON object: a project and the address of its repository, such as
    `{"git-1f3a...": "https://git.example.org/team/app.git"}`. The name of a project is in the view `projects`.
    """

    enabled: Annotated[bool, Meta(extra={"project": "off"})] = True
    """Whether repositories are read, and where sessions name commits. Without, what is known stays."""
    checkouts: bool = True
    """Whether the repository that a harness works in is read where it lies on this machine. A team's service, to which
    harnesses on other machines report, reads `remotes` only."""
    remotes: Mapping[str, str] = {}
    """Per project, the address of a remote that is mirrored without its files: `https:`, `ssh:`, `git:`, `file:` or
    `user@host:path`."""
    since_days: Annotated[int, Meta(ge=0)] = 365
    """The greatest age, in days, of commits where a repository is read for the first time; 0: any age. Later on all new
    ones are read."""
    max_commits: Annotated[int, Meta(ge=100, le=100_000, extra={"project": "lower"})] = 2000
    """The most commits of a project that count, the newest."""
    every: Annotated[float, Meta(ge=0.05, le=3600.0)] = 20.0
    """Seconds between two looks at each repository."""

    def __post_init__(self) -> None:
        for project, address in self.remotes.items():
            if not _REMOTE.match(address):  # it is not quoted: what is wrong may be a password in it
                raise ValueError(
                    f"the address of {project!r} in ANNALS_COMMITS__REMOTES is none that is fetched from: write "
                    "https://..., ssh://..., git://..., file:///... or user@host:path, without a password or token: "
                    "git takes those from its credential helper"
                )


_REMOTE = re.compile(r"(?:(?:https?|git|file)://(?![^/]*@)|ssh://)[^\s-]\S*\Z|[\w.]+@[\w.][\w.-]*:[^\s:]\S*\Z")


_OUTWARD = re.compile(r"(?s)[A-Za-z]:|[/\\]|(?:.*[/\\])?\.\.(?:[/\\]|\Z)")
"""A drive, a root, or a step upwards, on whatever system."""


def inside(path: str) -> str:
    """A path within a project, spelled in one way. Raises `ValueError` where it leads out, on whatever system."""
    spelled = "/".join(part for part in path.split("/") if part not in {"", "."})
    if not spelled or _OUTWARD.match(path):
        raise ValueError(f"{path!r} is no path within a project: write it from the project's root, such as docs/map.md")
    return spelled
