"""The lane for calls that steered the work and are spent: wishes to drop, lists that were written anew, receipts."""

from collections.abc import Iterator

from services.kit.conversation import Part
from services.responder.lanes.base import Change, View
from services.responder.lanes.dropping import Wanted, calls, drop, guarded
from services.responder.uses import plain

NAME = "spent"
REDUCE = "ctxreduce"
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
    control = [(name, part, plain(part.recorded.tool)) for name, part in calls(view, _steers)]
    newest = max((at for at, (_, _, tool) in enumerate(control) if tool == "todowrite"), default=-1)
    for at, (name, part, tool) in enumerate(control):
        if part.number in protected:
            continue
        if tool.endswith(REDUCE):  # harnesses put the name of a server before it
            yield Wanted(name, part)
        elif view.limits.smart_drops and tool in LISTS and at < newest:
            yield Wanted(name, part, control[newest][1].seq)
        elif view.limits.smart_drops and tool in BOOKKEEPING and _is_receipt(part):
            yield Wanted(name, part)


def _steers(_: str, part: Part) -> bool:
    tool = plain(part.recorded.tool)
    return tool in LISTS or tool in BOOKKEEPING or tool.endswith(REDUCE)


def _is_receipt(part: Part) -> bool:
    return part.recorded.bytes + part.recorded.input_bytes <= MAX_RECEIPT_BYTES
