"""The lanes: each one kind of edit, decided once and kept. A new lane is a new file and its name in `LANES`."""

from services.responder.lanes import drops, tags
from services.responder.lanes.base import Change, Lane

LANES: tuple[Lane, ...] = (
    Lane("tags", extend=tags.extend, rebase=tags.rebase),
    Lane("drops", extend=drops.extend, rebase=drops.rebase),
)
"""In the order of their precedence: a later lane's edit of a part replaces an earlier one's."""

__all__ = ["LANES", "Change", "Lane"]
