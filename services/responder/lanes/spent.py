"""The lane for calls that steered the work and are spent: wishes to drop, lists that were written anew, receipts."""

from collections.abc import Iterator
from functools import lru_cache

from services.kit.conversation import Part
from services.responder.lanes.arcs import Wanted
from services.responder.lanes.base import Change, View
from services.responder.lanes.dropping import calls, drop, guarded
from services.responder.lanes.turns import is_reduce
from services.responder.uses import plain

NAME = "spent"
LISTS = frozenset({"todowrite", "todoread"})
"""Calls whose answer is the whole list of things to do."""
BOOKKEEPING = frozenset({"planenter", "planexit", "taskupdate", "taskstop"})
"""Calls whose answer is a receipt ..."""
MAX_RECEIPT_BYTES = 400
"""... unless it is longer than this, arguments included."""


def rebase(view: View) -> Change:
    return drop(view, NAME, _spent(view), without_trace=True)


def _spent(view: View) -> Iterator[Wanted]:
    protected = guarded(view)
    control = [(part, plain(part.recorded.tool)) for part in calls(view, lambda part: _steers(part.recorded.tool))]
    newest = max((at for at, (_, tool) in enumerate(control) if tool == "todowrite"), default=-1)
    for at, (part, tool) in enumerate(control):
        if part.number in protected:
            continue
        if is_reduce(part.recorded.tool):
            yield Wanted(part)
        elif view.limits.smart_drops and tool in LISTS and at < newest:
            yield Wanted(part, control[newest][0].seq)
        elif view.limits.smart_drops and tool in BOOKKEEPING and _is_receipt(part):
            yield Wanted(part)


@lru_cache(maxsize=1024)
def _steers(tool: str) -> bool:
    return is_reduce(tool) or plain(tool) in LISTS | BOOKKEEPING


def _is_receipt(part: Part) -> bool:
    return part.recorded.bytes + part.recorded.input_bytes <= MAX_RECEIPT_BYTES
