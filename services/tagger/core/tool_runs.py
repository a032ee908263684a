"""Tool calls that have ended: how, after how long, what about, and which files they touched."""

from collections.abc import Mapping

from schemas.events import FileTouched, PartRecorded, ToolRan
from schemas.inbox import PartSeen
from services.domain.tools.request import Request, below, request_of
from services.tagger.core.parts import part_name
from services.tagger.core.state import TaggedSession, call_key, touch_key

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
