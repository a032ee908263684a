"""The lane for calls that steered the work and are spent: requests to drop, outdated todo lists, receipts."""

from collections.abc import Iterator
from functools import lru_cache

from services.domain.conversation import Part
from services.domain.tools.names import RECEIPTS, TODO_LISTS, TODO_WRITER, plain
from services.plan.lanes.base import Change, Lane, View, spares_firm
from services.plan.lanes.dropping import calls, drop
from services.plan.lanes.tool_pairs import IdleCall
from services.plan.lanes.turns import is_reduce

NAME = "spent"
MAX_RECEIPT_BYTES = 400
"""A receipt that is longer than this, arguments included, says more than that the call was made."""


def rebase(view: View) -> Change:
    return drop(view, NAME, _spent(view), without_trace=True)


def _spent(view: View) -> Iterator[IdleCall]:
    protected = view.protected
    steering = {tool for tool in {part.recorded.tool for part in view.index.calls} if _steers(tool)}
    among = [part for part in view.index.calls if part.recorded.tool in steering] if steering else ()
    control = [(part, plain(part.recorded.tool)) for part in calls(view, among)]
    newest = max((at for at, (_, tool) in enumerate(control) if tool == TODO_WRITER), default=-1)
    for at, (part, tool) in enumerate(control):
        if part.number in protected:
            continue
        if is_reduce(part.recorded.tool):
            yield IdleCall(part)
        elif view.limits.smart_drops and tool in TODO_LISTS and at < newest:
            yield IdleCall(part, control[newest][0].seq)
        elif view.limits.smart_drops and tool in RECEIPTS and _is_receipt(part):
            yield IdleCall(part)


@lru_cache(maxsize=1024)
def _steers(tool: str) -> bool:
    return is_reduce(tool) or plain(tool) in TODO_LISTS | RECEIPTS


def _is_receipt(part: Part) -> bool:
    return part.recorded.bytes + part.recorded.input_bytes <= MAX_RECEIPT_BYTES


LANE = Lane(NAME, spares_firm=spares_firm, rebase=rebase, order=50, empties=True)
