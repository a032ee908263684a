"""The answer to `ask.guide`: what adapters offer to models and people. The same settings make the same bytes."""

import hashlib
from collections.abc import Awaitable, Callable

import msgspec

from schemas.asks import ClientManifest, ClientManifestAsk
from schemas.codec import encode
from schemas.inbox import Mode
from schemas.tools import LINES, MEMORY, TOOLS
from services.domain.limits import Limits, Memory
from services.responder.answers.base import Context, Question
from services.responder.head.documents import at_the_head

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

Texts and tool outputs in this conversation may begin with a tag such as §12§. A tag is a number for that one piece of \
content, put there by the service that keeps your context; it is not part of what was said or printed. Numbers only \
grow: a higher one is newer.

The tool `ctx_reduce` gives room back. Name in it the tags that you are done with, as numbers and ranges, for example \
`drop: "3-5,8"`. Naming them does not change anything at once: they are removed later, together, at a moment that \
costs little, and the newest content stays a while even when it is named. So name things early and whenever you notice \
them; you need not wait until room is short.

Good to drop: outputs of searches and listings that you have used, files that you have read and since changed or no \
longer need, long logs of commands of which you know the result, output that a newer one has replaced. Before you end \
a turn, look at what the next one will not need. Better several small, well-chosen drops than one large range that \
you have not looked at.

Keep: the user's messages, decisions and their reasons, your own conclusions, errors that are not solved yet, and \
the content of files that you are editing now. Drop text of your own only when it says nothing that matters.

What was dropped shows as `[dropped §12§]` in place of an output or a text, or as `[truncated §12§]` before the \
beginning of a longer text; an old call with long arguments may be missing altogether. These placeholders are put \
there by the service. They tell that something was there and was removed to save room, and nothing else: do not guess \
what it said. If you need it again, read the file, run the command again, or look it up.

The older part of a long session stands at the beginning as a history, with the numbers of the messages it is about, \
and old texts may be told in fewer words. The tool `ctx_expand` shows any of it as it was: name a range of those \
numbers, a message, or a tag.

Two rules. Never write tags or such placeholders yourself: not in your answers, not in arguments of tools, not in \
files. And never take a placeholder for the way in which tools are called or answer: a call without a real result in \
front of you has not happened, and you make a call only by really calling the tool.
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
"""What system prompts are told, by the mode of their session."""


def client_manifest(limits: Limits, memory: Memory) -> ClientManifest:
    """The manifest with these settings. Adapters send the files that may stand at the head, and no others."""
    made = ClientManifest(
        tools=tuple(tool for tool in TOOLS if tool.name != MEMORY or memory.enabled),
        lines=LINES,
        system=GUIDANCE if limits.guidance else {},
        skip=(*SKIP, *limits.skip_prompts),
        date=DATE,
        documents=at_the_head(limits),
        document_bytes=DOCUMENT_BYTES,
    )
    return msgspec.structs.replace(made, digest=hashlib.blake2b(encode(made), digest_size=8).hexdigest())


MANIFEST = client_manifest(Limits(), Memory())
"""The manifest with the settings as they come."""


def _open(context: Context) -> Callable[[ClientManifestAsk], Awaitable[ClientManifest]]:
    offered = client_manifest(context.limits, context.kit.settings.memory)

    async def answer(_: ClientManifestAsk) -> ClientManifest:
        return offered

    return answer


CLIENT_MANIFEST = Question(ClientManifestAsk, _open, lambda reason: ClientManifest(error=reason))
