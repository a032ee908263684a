"""The lanes: each one kind of edit, decided once and kept. A new lane is a new file and its name in `LANES`."""

from services.responder.lanes import drops, head, notices, tags
from services.responder.lanes.base import Change, Lane, View

TAGS = Lane("tags", extend=tags.extend, rebase=tags.rebase)
DROPS = Lane("drops", extend=drops.extend, rebase=drops.rebase)

HEAD = Lane("head", extend=head.extend, rebase=head.rebase, modes=head.MODES)
NOTICES = Lane("notices", extend=notices.extend, rebase=notices.rebase, modes=notices.MODES)

LANES: tuple[Lane, ...] = (HEAD, TAGS, DROPS, NOTICES)
"""In the order of their precedence: a later lane's edit of a part replaces an earlier one's."""

__all__ = ["DROPS", "LANES", "TAGS", "Change", "Lane", "View"]
