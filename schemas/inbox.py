"""The messages of harnesses on `in.*`: reports of what they saw, in their order, under the harness's own ids."""

from typing import Annotated, ClassVar, Literal

import msgspec

from schemas.envelope import Actor, Moment
from schemas.numbers import Amount, Count

Id = Annotated[str, msgspec.Meta(extra={"is_id": True})]
"""A text by which messages refer to each other. All others are masked; of these two could become one."""
PartKind = Literal["text", "reasoning", "file", "tool", "tool_call", "tool_result", "compaction"]
ToolStatus = Literal["", "pending", "running", "completed", "error"]
Role = Literal["user", "assistant", "tool", "system"]
Mode = Literal["primary", "reduce_off", "subagent", "hidden", "additive"]
Capability = Literal[
    "accepts_empty_content",
    "merges_adjacent_assistants",
    "binds_signed_thinking",
    "requires_reasoning_on_tool_calls",
    "requires_alternation",
    "caches_exact_prefix",
]


class Item(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="kind"):
    """One thing that a harness saw."""


class AdapterSeen(Item, frozen=True, tag="adapter.seen"):
    """The part of us that sits in the harness says what it is."""

    name: str
    version: str
    harness_version: str = ""
    digest: Id = ""
    """sha256 of the bundle that it was loaded from."""
    rival: str = ""
    """Another plugin of the harness that changes the same prompts; empty: none was seen."""


class SessionSeen(Item, frozen=True, tag="session.seen"):
    """A session exists, or one of these properties of it changed. Empty fields say nothing."""

    title: str = ""
    parent: Id = ""
    directory: str = ""
    agent: str = ""
    mode: Mode = "primary"
    version: str = ""
    """The harness's version."""
    forked_from: Id = ""
    """The session that this one was copied from."""
    forked_at: Id = ""
    """The last message of that session that was copied."""
    root: str = ""
    """The root directory of the project (its work tree)."""
    vcs: str = ""
    """The project's version control: `git`, or nothing."""
    home: bool = False
    """Whether the project is a home directory: its sessions are about anything, not about one project."""
    formerly: Id = ""
    """The name under which the same project was reported from here before; adapters of today say `former`."""
    former: tuple[Id, ...] = ()
    """The names under which the same project was reported from here before, the newest first."""


class SessionIdle(Item, frozen=True, tag="session.idle"):
    """The agent has finished its turn and waits for a person."""


class SessionClosed(Item, frozen=True, tag="session.closed"):
    """The session was deleted or archived in the harness."""

    reason: str = ""


class Attachment(msgspec.Struct, frozen=True, omit_defaults=True):
    """A picture or a document in a message. Its content stays with the harness."""

    mime: str = ""
    filename: str = ""
    bytes: Count = 0
    """Its size; 0: it is somewhere else."""
    width: Count = 0
    """In pixels; 0: it is no picture, or its size is not known. The same for the next one."""
    height: Count = 0
    digest: Id = ""
    """sha256 of its bytes in hex, or of its address where it is somewhere else."""


class PartSeen(Item, frozen=True, tag="part.seen"):
    """One part of a message, whole. A later one with the same id replaces it."""

    message: Id
    type: PartKind
    part: Id = ""
    """The harness's id of the part; without one it is named after its message and position."""
    position: Count = 0
    """Index in the message's full list of parts."""
    text: str = ""
    """Text of a text or reasoning part, the summary of a compaction, the url of a file."""
    tool: str = ""
    call: Id = ""
    """The provider's tool call id; it may come back in a later message."""
    input: str = ""
    """Arguments of the tool as JSON."""
    output: str = ""
    """The tool's answer, or its error text."""
    attachments: tuple[Attachment, ...] = ()
    """The attachments that a tool returned in addition to its text."""
    status: ToolStatus = ""
    mime: str = ""
    filename: str = ""
    """The name of a file."""
    signed: bool = False
    """Whether a reasoning part carries the provider's signature."""
    ignored: bool = False
    """Shown to the person only; the model never sees it."""
    synthetic: bool = False
    ephemeral: bool = False
    """Made by the harness for one call only, under a new id each time: left alone."""
    text_ref: Id = ""
    """sha256 of a text in the bucket of inbound bodies; `text` is then empty. The same for the two below."""
    input_ref: Id = ""
    output_ref: Id = ""
    exit_code: Count | None = None
    """A command's exit code, where the harness reports it."""
    began: Moment | None = None
    ended: Moment | None = None
    child: Id = ""
    """The session that this call started: a sub-agent."""
    typed: bool = False
    """The harness vouches that a person has typed this text in this message. Else the text is the harness's word."""
    quoted: bool = False
    """The harness has put the whole of what was typed into `"`, and a backslash before each `"` within."""


class MessageSeen(Item, frozen=True, tag="message.seen"):
    """One message, with the parts that are known of it."""

    message: Id
    role: Role
    at: Moment | None = None
    """When the harness created it."""
    agent: str = ""
    provider: str = ""
    model: str = ""
    synthetic: bool = False
    parts: tuple[PartSeen, ...] = ()


class MessageGone(Item, frozen=True, tag="message.gone"):
    """A message was deleted in the harness."""

    message: Id


class PartGone(Item, frozen=True, tag="part.gone"):
    """A part was deleted in the harness."""

    message: Id
    part: Id


class SessionReverted(Item, frozen=True, tag="session.reverted"):
    """The person went back: this message and all after it are no longer part of the conversation."""

    message: Id


class UsageSeen(Item, frozen=True, tag="usage.seen"):
    """The provider's count for one answer, in tokens. `input` excludes what the cache served or stored."""

    message: Id
    input: Count
    output: Count = 0
    reasoning: Count = 0
    cache_read: Count = 0
    cache_write: Count = 0
    cost: Amount = 0.0
    """US dollars, as the harness reckons."""


class ErrorSeen(Item, frozen=True, tag="error.seen"):
    """The provider or the harness refused: the text as it came."""

    text: str
    message: Id = ""
    name: str = ""
    """The harness's name of this kind of error."""
    status: Count = 0
    """The HTTP status; 0: there was none."""


class CompactionSeen(Item, frozen=True, tag="compaction.seen"):
    """The harness itself summarised the session."""

    auto: bool = False
    """Whether it did so of its own accord, not because a person asked."""
    summary: Id = ""
    """The message that holds the summary."""


class Todo(msgspec.Struct, frozen=True, omit_defaults=True):
    """One line of an agent's list of what there is to do, in the harness's words."""

    content: str
    status: str = "pending"
    priority: str = ""


class TodoSeen(Item, frozen=True, tag="todo.seen"):
    """The whole list of what there is to do, as it is now."""

    items: tuple[Todo, ...]


class ToolSeen(msgspec.Struct, frozen=True, omit_defaults=True):
    """One tool as a model is offered it."""

    name: str
    description: str = ""
    parameters: str = ""
    """JSON Schema of its arguments."""


class ToolsSeen(Item, frozen=True, tag="tools.seen"):
    """The tools that a model is offered from now on."""

    digest: Id
    """Names the set: the same tools have the same."""
    tools: tuple[ToolSeen, ...]


class DocumentSeen(Item, frozen=True, tag="document.seen"):
    """A document of the project, as it is now."""

    path: str
    """Relative to the project's root."""
    digest: Id
    """sha256 of its bytes in hex; empty: it is gone."""
    text: str = ""
    text_ref: Id = ""
    """sha256 of a text that is stored in the bucket of inbound bodies; `text` is then empty."""


class Listed(msgspec.Struct, frozen=True, omit_defaults=True):
    """One message that is about to be sent, by id."""

    message: Id
    parts: tuple[Id, ...] = ()
    """The parts that are sent, in order; empty means all that are known."""


class ListSeen(Item, frozen=True, tag="list.seen"):
    """The list of messages after `after` is now this one: a long list comes in pieces, the step last."""

    after: Id = ""
    messages: tuple[Listed, ...] = ()


class StepSeen(Item, frozen=True, tag="step.seen"):
    """One model call is about to be made: everything up to `after` as in the call before, then `messages`."""

    step: Id
    previous: Id = ""
    """The step before, if this one is reported as a difference to it."""
    after: Id = ""
    """The last message that both have in common; empty: the list is reported from its start."""
    messages: tuple[Listed, ...] = ()
    count: Count = 0
    """The number of messages in the whole list: the check that both sides mean the same list."""
    served: Count = -1
    """The plan's revision that the call before was made with; -1: not known."""
    sent: Id = ""
    """The last message with which the call before began as well, where the list is reported from its start."""
    agent: str = ""
    mode: Mode = "primary"
    provider: str = ""
    model: str = ""
    context_limit: Count = 0
    """Tokens the model takes in, as the harness knows it; 0: not known."""
    output_limit: Count = 0
    capabilities: tuple[Capability, ...] = ()
    system_digest: Id = ""
    """Digest of the system prompt; empty: not known."""
    toolset: Id = ""
    """Digest of the set of tools (`tools.seen`) that this call offers."""
    denied: tuple[str, ...] = ()
    """Tools that are switched off for this call."""
    variant: str = ""
    """The model's way of reasoning, where the harness has a choice of that."""
    compacts: bool = False
    """Whether the harness compacts a session that fills the window, if the service lets it."""


Seen = (
    AdapterSeen
    | SessionSeen
    | SessionIdle
    | SessionClosed
    | SessionReverted
    | MessageSeen
    | MessageGone
    | PartSeen
    | PartGone
    | UsageSeen
    | ErrorSeen
    | CompactionSeen
    | TodoSeen
    | ToolsSeen
    | DocumentSeen
    | ListSeen
    | StepSeen
)


class Inbound(msgspec.Struct, frozen=True, omit_defaults=True):
    """One message on `in.<harness>.<project>.<session>`; its id is its `Nats-Msg-Id`."""

    V: ClassVar[int] = 1

    id: str
    at: Moment
    items: tuple[Seen, ...]
    v: Count = 1
    actor: Actor = Actor("harness")
    project: str = ""
    """The project of the subject, where it is given: a message that names another project is refused. So is the
    session."""
    session: str = ""
