"""The answer to `ask.guide`: what adapters offer to models and people. The same settings make the same bytes."""

import hashlib
from collections.abc import Awaitable, Callable, Collection
from functools import cache
from typing import TypeVar, get_args

from msgspec.structs import replace

from schemas.asks import ClientManifest, ClientManifestAsk
from schemas.codec import encode
from schemas.inbox import Mode
from schemas.offered import TOOLS
from schemas.tools import LINES, MEMORY, Line, Target, Tool, Verb
from services.domain.limits import Limits, MemoryLimits
from services.domain.texts.placeholders import only_placeholders
from services.plan.head.documents import at_the_head
from services.responder.answers.base import Context, Question

C = TypeVar("C", Line, Target, Tool)

DOCUMENT_BYTES = 100 * 1024
DATE = r"Today's date: [^\r\n]+"
SKIP = (
    "<!-- annals: skip -->",
    "You are a title generator. You output ONLY a thread title.",
    "Summarize what was done in this conversation. Write like a pull request description.",
    "You are a context summarization agent. You are given a conversation between a user and an agent.",
    "You are an anchored context summarization assistant",
    "You are a helpful AI assistant tasked with summarizing conversations",
    "You are an elite AI agent architect specializing in crafting high-performance agent configurations.",
)
"""Openings of the prompts of a harness's own helper agents, today's and those of earlier releases."""

PRIMARY = """\
## Context (Annals)

Texts and tool outputs may begin with a tag such as §12§, the number of that piece. A higher one is newer.

`ctx_reduce` gives room back: name the tags that you are done with. They go later, together, when it costs little, and \
the newest stay a while. So name them early, in small drops, above all before you end a turn: searches and listings \
that you have used, files that you no longer need or have changed since, long logs whose result you know, output that \
newer output replaces. Keep the user's messages, decisions and their reasons, your conclusions, errors that are not \
solved, files that you are editing.

`[dropped §12§]` or `[truncated §12§]` stands in place of what went; an old call may be missing altogether, and old \
texts may be told in fewer words. A long session begins with a history that tells the numbers of its messages. Do not \
guess what was there: `ctx_expand` shows it as it was.

Write `[Decision: what, because why]` where you settle something: it stays in sight when the rest goes.

Never write tags or placeholders yourself: not in answers, not in arguments, not in files. A call without a real \
result in front of you has not happened.
"""

WITHOUT_TAGS = """\
## Context (Annals)

A service keeps the context of this session. It may show a short placeholder in square brackets, such as \
`[dropped ...]` or `[truncated ...]`, in place of older content, and leave out an old tool call altogether. A \
placeholder tells that something was there and was removed to save room, and nothing else: do not guess what it said. \
If you need it again, read the file or run the command again. The older part of a long session may stand at the \
beginning as a history; where you have the tool `ctx_expand`, it shows those messages as they were.

Never write such placeholders yourself, and never take one for the way in which tools are called or answer: a call \
without a real result in front of you has not happened.
"""

ADDITIVE = """\
## Context (Annals)

This session is recorded for the project. Nothing that you say or see is changed by that.
"""

GUIDANCE: dict[Mode, str] = {
    "primary": PRIMARY,
    "reduce_off": WITHOUT_TAGS,
    "subagent": WITHOUT_TAGS,
    "additive": ADDITIVE,
}
"""The instructions in system prompts, by the mode of their session."""


_REFUSED = """\
The call was not made, and nothing was changed: its argument `{argument}` is only {text}. That stands in the place of \
a text that your prompt does not hold now; it is not the text itself. """
_MEANT = "If the characters themselves are meant, put them among others: a neighbouring line, a longer sentence."
_EXPANDS = """\
`ctx_expand` with the number between the section signs shows it as it was; for what has no number, read the file or \
run the command again. Then make the call with the real text. """
_READS = "Read the file or run the command again, then make the call with the real text. "

EXPANDS = frozenset(mode for tool in TOOLS if tool.name == "ctx_expand" for mode in tool.modes)
"""The modes whose agent has the tool that shows what is left out."""
REFUSALS: dict[Mode, str] = {
    mode: _REFUSED + (_EXPANDS if mode in EXPANDS else _READS) + _MEANT for mode in get_args(Mode)
}
"""The refusal for an agent whose call has a placeholder as an argument, by the mode of its session."""


def client_manifest(limits: Limits, memory: MemoryLimits, verbs: Collection[Verb] = get_args(Verb)) -> ClientManifest:
    """The manifest with these settings. Adapters send the files that may be in the head, and no others.

    `verbs`: those that the adapter knows.
    """
    knows_commands = "command" in verbs
    made = ClientManifest(
        tools=tuple(
            tool if knows_commands else _with_older_verb(tool)
            for tool in TOOLS
            if tool.name != MEMORY or memory.enabled
        ),
        lines=LINES if knows_commands else tuple(map(_older, LINES)),
        system=GUIDANCE if limits.guidance else {},
        skip=(*SKIP, *limits.skip_prompts),
        date=DATE,
        documents=at_the_head(limits),
        document_bytes=DOCUMENT_BYTES,
        placeholders=only_placeholders(),
        refusals=REFUSALS,
        erasures=True,
    )
    return replace(made, digest=hashlib.blake2b(encode(made), digest_size=8).hexdigest())


def _with_older_verb(tool: Tool) -> Tool:
    return replace(_older(tool), actions={name: _older(target) for name, target in tool.actions.items()})


def _older(called: C) -> C:
    """A tool for an adapter that takes every verb but `wish` for a question."""
    return replace(called, verb="wish") if called.verb == "command" else called


MANIFEST = client_manifest(Limits(), MemoryLimits())
"""The manifest with the settings as they come."""


def _open(context: Context) -> Callable[[ClientManifestAsk], Awaitable[ClientManifest]]:
    @cache
    def offered(verbs: frozenset[Verb]) -> ClientManifest:
        return client_manifest(context.limits, context.kit.settings.memory, verbs)

    async def answer(ask: ClientManifestAsk) -> ClientManifest:
        return offered(frozenset(ask.verbs))

    return answer


CLIENT_MANIFEST = Question(ClientManifestAsk, _open, lambda reason: ClientManifest(error=reason))
