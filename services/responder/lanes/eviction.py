"""The lane that makes room: answers of tools go by age and, under pressure, the cheapest to get again first."""

from collections.abc import Container, Iterator, Sequence
from itertools import chain

from services.responder.lanes.arcs import Wanted
from services.responder.lanes.base import Change, View
from services.responder.lanes.dropping import calls, drop, guarded
from services.responder.uses import plain

NAME = "eviction"
PRESSING = frozenset({"pressure", "force", "overflow"})
CHANGING_AND_SEARCHING = frozenset({
    "edit", "multiedit", "write", "writefile", "patch", "applypatch", "notebookedit", "strreplace",
    "grep", "search", "codesearch", "astgrepsearch", "websearch",
})  # fmt: skip
NAVIGATING = frozenset({
    "read", "readfile", "view", "notebookread", "list", "ls", "tree", "glob", "find", "skill",
    "lspdiagnostics", "lspsymbols", "lspfindreferences", "lspgotodefinition", "lspgotoimplementation",
    "lsphover", "lspdocumentsymbols", "lspworkspacesymbols", "lsppreparerename", "lsp",
})  # fmt: skip
TIERS = 3
"""All other tools go first, then what changes and searches, and at last what an agent finds its way by."""
KEPT_SHARE = 5
"""One in so many of the better tiers stays: the newest."""
SUBAGENT_AGE = 100
"""Tags that make an answer old enough to go from a subagent, whose work is short and all of one piece."""


def rebase(view: View) -> Change:
    pressing = bool(view.causes & PRESSING) and view.target > 0
    age = view.limits.auto_drop_tool_age
    if not (pressing or age):
        return Change()
    protected = guarded(view)
    open_to_drop = [Wanted(part) for part in calls(view) if part.number not in protected]
    old = [one for one in open_to_drop if age and _is_older(view, one, age)]
    aged = drop(view, NAME, old)
    if not pressing or aged.reclaimed >= view.target:
        return aged
    made = drop(view, NAME, old, spare=_in_turn(view, open_to_drop, set(aged.dropped)), enough=view.target)
    return made if made.reclaimed >= min(view.target, view.limits.min_reclaim) else aged


def _is_older(view: View, one: Wanted, age: int) -> bool:
    return one.part.number <= view.session.talk.last_number - age


def _in_turn(view: View, open_to_drop: Sequence[Wanted], taken: Container[int]) -> Iterator[Wanted]:
    """Tier by tier, in each the oldest first."""
    youngest = (view.limits.auto_drop_tool_age or SUBAGENT_AGE) if view.mode == "subagent" else 0
    tiers: list[list[Wanted]] = [[] for _ in range(TIERS)]
    for one in open_to_drop:
        if one.part.number not in taken and _is_older(view, one, youngest):
            tiers[_tier(one.part.recorded.tool)].append(one)
    misc, *better = tiers
    return chain(misc, *(tier[: len(tier) - -(-len(tier) // KEPT_SHARE)] for tier in better))


def _tier(tool: str) -> int:
    name = plain(tool)
    if name in NAVIGATING:
        return 2
    return 1 if name in CHANGING_AND_SEARCHING else 0
