"""The facts of a reported part: its content, and how its call has ended."""

import hashlib
from collections.abc import Mapping
from datetime import datetime

from schemas.codec import encode_attachments
from schemas.events import FileTouched, PartRecorded, ToolRan
from schemas.inbox import PartSeen
from services.domain.attachments import attachment_tokens, file_tokens
from services.domain.conversation import Conversation, Part
from services.domain.texts.content import TYPED, TYPED_QUOTED
from services.domain.tokens import tokens
from services.domain.tools.request import Request, below, request_of
from services.tagger.core.state import TaggedSession, call_key, touch_key


def part_seen(
    session: TaggedSession, item: PartSeen, sizes: Mapping[str, int], files: Mapping[str, int]
) -> list[PartRecorded]:
    """The part, unless it is known as it is.

    `sizes` and `files` hold, by reference of bodies in the bucket, their bytes and the estimated tokens of files.
    """
    if item.ephemeral:
        return []
    name = part_name(item)
    digest = content_digest(item)
    known = session.conversation.parts.get(name)
    if known is not None and known.recorded.digest == digest and known.recorded.message == item.message:
        return []
    is_answer = item.type in ("tool", "tool_result")
    content, reference = (item.output, item.output_ref) if is_answer else (item.text, item.text_ref)
    size = sizes.get(reference, len(content.encode()))
    input_size = sizes.get(item.input_ref, len(item.input.encode()))
    attached = 0 if item.ignored else sum(map(attachment_tokens, item.attachments))
    return [
        PartRecorded(
            message=item.message,
            part=name,
            kind=item.type,
            position=item.position,
            tool=item.tool,
            call=item.call,
            owner=_owner(session, item, name),
            status=item.status or ("completed" if item.type == "tool_result" else ""),
            mime=item.mime,
            filename=item.filename,
            signed=item.signed,
            ignored=item.ignored,
            synthetic=item.synthetic,
            bytes=size,
            input_bytes=input_size,
            tokens=0 if item.ignored else _cost(item, files, size + input_size) + attached,
            attachments=encode_attachments(item.attachments),
            attachment_tokens=attached,
            digest=digest,
            text=item.text,
            input=item.input,
            output=item.output,
            text_ref=item.text_ref,
            input_ref=item.input_ref,
            output_ref=item.output_ref,
            provenance=_provenance(session.conversation, item, known),
        )
    ]


def _provenance(conversation: Conversation, item: PartSeen, known: Part | None) -> str:
    """The author of a text in a user's message: only its first report, before it is sent, can name a person."""
    message = conversation.messages.get(item.message)
    if message is None or message.recorded.role != "user" or item.type != "text":
        return ""
    if known is not None:
        return "replaced"
    if message.ordinal:
        return "added"
    is_typed = item.typed and not (item.synthetic or item.ignored or message.recorded.synthetic)
    if not is_typed:
        return ""
    return TYPED_QUOTED if item.quoted else TYPED


def _cost(item: PartSeen, files: Mapping[str, int], size: int) -> int:
    if item.type == "file":
        return files[item.text_ref] if item.text_ref in files else file_tokens(item.text, item.mime)
    return tokens(size)


def part_name(item: PartSeen) -> str:
    """The harness's id of a part, or one made of its message and its index in the full list of parts."""
    if item.part:
        return item.part
    return f"{item.message}:{'file' if item.type == 'file' else 'p'}{item.position}"


def content_digest(item: PartSeen) -> str:
    """Digest of what the harness holds in a part: two parts with the same are the same to a model."""
    fields = (
        item.type, item.text, item.tool, item.input, item.output, item.status, item.mime,
        item.text_ref, item.input_ref, item.output_ref, str(item.signed), str(item.ignored),
        *(f"{one.mime}:{one.digest}" for one in item.attachments),
    )  # fmt: skip
    return hashlib.blake2b("\0".join(fields).encode(), digest_size=8).hexdigest()


def _owner(session: TaggedSession, item: PartSeen, name: str) -> str:
    """The message that made a tool call. A part that holds call and result belongs to its own message."""
    if item.type in ("tool", "tool_call"):
        return item.message
    if item.type != "tool_result":
        return ""
    known = session.conversation.parts.get(name)
    if known is not None:
        return known.recorded.owner
    unanswered = (owner for owner in session.calls.get(item.call, ()) if not _is_gone(session.conversation, owner))
    return next(unanswered, "") or _nearest_owner(session, item)


def _nearest_owner(session: TaggedSession, item: PartSeen) -> str:
    """For a result whose call is not seen any more: the last earlier message that made it.

    Of two that were sent at once it is the one with the smaller id.
    """
    here = _sent(session.conversation, item.message)
    times = {owner: _sent(session.conversation, owner) for owner in session.owners.get(item.call, ())}
    earlier = [(made, owner) for owner, made in times.items() if made is not None and here is not None and made < here]
    newest = max((made for made, _ in earlier), default=None)
    return min((owner for made, owner in earlier if made == newest), default=item.message)


def _sent(conversation: Conversation, message: str) -> datetime | None:
    known = conversation.messages.get(message)
    return known.recorded.sent if known else None


def _is_gone(conversation: Conversation, message: str) -> bool:
    """Whether it was part of the conversation and is not any more."""
    known = conversation.messages.get(message)
    return known is not None and known.ordinal > 0 and not known.present


ENDED = ("completed", "error")
MILLISECONDS = 1000


def tool_seen(
    session: TaggedSession, item: PartSeen, requests: Mapping[str, Request], recorded: PartRecorded | None
) -> list[ToolRan | FileTouched]:
    """The new facts about a call that has ended.

    `requests` holds what the calls ask for whose arguments are in the bucket, by reference; `recorded` is the part as
    it is recorded now, where it was not known as it is.
    """
    status = item.status or ("completed" if item.type == "tool_result" else "")
    if item.ephemeral or item.type not in ("tool", "tool_result") or status not in ENDED:
        return []
    name = part_name(item)
    about = requests.get(item.input_ref) or _request(session, item, name, recorded)
    ran = _ran(item, name, status, about, session.runs.get(name))
    facts: list[ToolRan | FileTouched] = [] if session.runs.get(name) == ran else [ran]
    touches = about.touches if status == "completed" else ()
    paths = {below(session.directory, touch.path): touch.action for touch in touches}
    for path, action in paths.items():
        if touch_key(name, path) not in session.touched:
            facts.append(FileTouched(path=path, action=action, message=item.message, part=name, tool=about.tool))
    return facts


def _request(session: TaggedSession, item: PartSeen, name: str, recorded: PartRecorded | None) -> Request:
    """The call of this part; that of a result was reported before."""
    if item.type == "tool":
        return request_of(item.tool, item.input)
    owner = (recorded or session.conversation.parts[name].recorded).owner
    return session.requests.get(call_key(item.call, owner)) or Request(item.tool)


def _ran(item: PartSeen, name: str, status: str, about: Request, before: ToolRan | None) -> ToolRan:
    """The call as it ended. What a later report leaves out stays."""
    known = before if before is not None and before.status == status else None
    lasted = _lasted(item)
    return ToolRan(
        message=item.message,
        part=name,
        tool=item.tool or about.tool,
        call=item.call,
        status=status,
        exit_code=item.exit_code if item.exit_code is not None or known is None else known.exit_code,
        duration_ms=lasted or (known.duration_ms if known else 0),
        child=item.child or (before.child if before else ""),
        target=about.target,
    )


def _lasted(item: PartSeen) -> int:
    """Milliseconds from its beginning to its end, where both are reported."""
    if item.began is None or item.ended is None:
        return 0
    return max(0, round((item.ended - item.began).total_seconds() * MILLISECONDS))
