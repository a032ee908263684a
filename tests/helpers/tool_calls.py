"""Calls of tools by name, and what a lane makes of a session: for the lanes that drop what nobody asked to drop."""

import json
from collections.abc import Callable, Iterable, Mapping

import msgspec

from schemas.inbox import PartSeen, ToolStatus
from schemas.plan import AnyEdit, OmitArc, OmitPart, ReplaceOutput
from services.domain.limits import Limits
from services.plan.lanes import DROPS, LANES, TAGS, Change, Lane, View
from services.plan.lanes.base import emptying, finders_of
from services.plan.lanes.index import indexed
from services.plan.session.state import Session
from tests.helpers.harness import Call, Harness

LINES = "line\n" * 80
"""An answer of 100 tokens."""
IDLE = 301.0

replace = msgspec.structs.replace
Rebase = Callable[[View], Change]


def called(
    tool: str, arguments: object = None, output: str = LINES, *, call: str = "c", status: ToolStatus = "completed"
) -> PartSeen:
    given = arguments if isinstance(arguments, str) else json.dumps(arguments or {})
    return PartSeen(message="", type="tool", tool=tool, call=call, input=given, output=output, status=status)


def requested(tool: str, arguments: object, *, call: str) -> PartSeen:
    """A call whose result comes in another message."""
    return PartSeen(message="", type="tool_call", tool=tool, call=call, input=json.dumps(arguments))


def returned(tool: str, *, call: str, output: str = LINES) -> PartSeen:
    return PartSeen(message="", type="tool_result", tool=tool, call=call, output=output)


def with_lane(lane: Lane, *, protected: int = 1, **limits: object) -> Harness:
    """A session whose plans are made by tags, by drops and by this lane; any saving is large enough."""
    given = replace(Limits(threshold=65, protected_tags=protected, min_reclaim=1), **limits)
    harness = Harness(given, lanes=(TAGS, DROPS, lane))
    harness.user("go")
    return harness


def after_a_pause(harness: Harness) -> Call:
    """All is sent, and sent once more after the provider's cache has died: whatever saves anything is done then."""
    harness.step()
    harness.use(1000, f"u{len(harness.log)}")
    harness.wait(IDLE)
    return harness.step()


def view_of(
    session: Session,
    limits: Limits,
    texts: Mapping[str, str] | None = None,
    *,
    target: int = 0,
    causes: Iterable[str] = ("idle",),
) -> View:
    """What a rebase would be decided on now, with these texts at hand."""
    return View(
        session,
        limits,
        frozenset(causes),
        indexed(session, finders_of(LANES)),
        texts or {},
        target=target,
        emptying=emptying(LANES),
    )


def answers(call: Call) -> list[str]:
    """What tools have answered, as a model sees it, without tags."""
    outputs = (part.output for message in call.served for part in message.parts if part.kind in ("tool", "tool_result"))
    return [output.partition("§ ")[2] if output.startswith("§") else output for output in outputs]


def touched(edits: Iterable[AnyEdit]) -> set[str]:
    """The parts that these edits of a lane are about."""
    found: set[str] = set()
    for edit in edits:
        assert isinstance(edit, OmitArc | OmitPart | ReplaceOutput)
        found.update(edit.parts if isinstance(edit, OmitArc) else (edit.part,))
    return found
