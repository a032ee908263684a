"""The lanes: each makes one kind of edit. An edit is decided once and stays.

A lane is a module of this package with a `LANE`. It is found by that, and has its place by the order that it declares.
"""

import sys

from services.domain.registry import names_by_place, registered
from services.plan.lanes import drops, tags
from services.plan.lanes.base import Change, Lane, View


def _lanes() -> tuple[Lane, ...]:
    """All lanes, in the order in which they are asked."""
    lanes = sorted(registered(sys.modules[__name__], Lane), key=lambda lane: lane.order)
    for kind in ("order", "name"):
        known = [getattr(lane, kind) for lane in lanes]
        twice = {one for one in known if known.count(one) > 1}
        if twice:
            raise ValueError(f"lanes need a {kind} of their own: two have {twice}")
    return tuple(lanes)


LANES = _lanes()
DROPS, TAGS = drops.LANE, tags.LANE
"""The lanes that every session has."""
PUBLIC_NAMES = {
    lane.name: module.replace("_", " ") for module, lane in names_by_place(sys.modules[__name__], Lane).items()
}
"""The mark that a lane leaves in the log -> what it is called: its module, in words."""

__all__ = ["DROPS", "LANES", "PUBLIC_NAMES", "TAGS", "Change", "Lane", "View"]
