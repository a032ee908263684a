"""The lanes: each one kind of edit, decided once and kept. A new lane is a new file and its name in `LANES`."""

from services.responder.lanes import (
    caveman,
    channel,
    drops,
    duplicates,
    emptied,
    errors,
    eviction,
    head,
    history,
    images,
    injected,
    notices,
    reasoning,
    reminders,
    skeletons,
    spent,
    superseded,
    tags,
    thinking,
    todo,
    waiting,
)
from services.responder.lanes.base import Change, Lane, View

HEAD = Lane(head.NAME, extend=head.extend, rebase=head.rebase, modes=head.MODES)
HISTORY = Lane(history.NAME, rebase=history.rebase, modes=history.MODES)
TAGS = Lane("tags", extend=tags.extend, rebase=tags.rebase)
CAVEMAN = Lane(caveman.NAME, rebase=caveman.rebase, needs=caveman.needs, modes=caveman.MODES)
DROPS = Lane(drops.NAME, extend=drops.extend, rebase=drops.rebase)
SPENT = Lane(spent.NAME, rebase=spent.rebase)
SUPERSEDED = Lane(superseded.NAME, rebase=superseded.rebase)
DUPLICATES = Lane(duplicates.NAME, rebase=duplicates.rebase)
IMAGES = Lane(images.NAME, rebase=images.rebase)
ERRORS = Lane(errors.NAME, rebase=errors.rebase, needs=errors.needs)
THINKING = Lane(thinking.NAME, rebase=thinking.rebase, needs=thinking.needs)
INJECTED = Lane(injected.NAME, rebase=injected.rebase, needs=injected.needs)
REASONING = Lane(reasoning.NAME, extend=reasoning.extend, rebase=reasoning.rebase)
EVICTION = Lane(eviction.NAME, rebase=eviction.rebase)
SKELETONS = Lane(skeletons.NAME, rebase=skeletons.rebase)
EMPTIED = Lane(emptied.NAME, rebase=emptied.rebase)
TODO = Lane(todo.NAME, rebase=todo.rebase, needs=todo.needs, modes=todo.MODES)
REMINDERS = Lane(reminders.NAME, extend=reminders.extend, rebase=reminders.rebase, modes=reminders.MODES)
CHANNEL = Lane(channel.NAME, extend=channel.extend, rebase=channel.rebase, modes=channel.MODES)
NOTICES = Lane(notices.NAME, extend=notices.extend, rebase=notices.rebase, modes=notices.MODES)
NOTES = Lane(waiting.NOTES, extend=waiting.remind, rebase=waiting.rebase, modes=waiting.MODES)
HINTS = Lane(waiting.HINTS, extend=waiting.hint, rebase=waiting.rebase, modes=waiting.MODES)

LANES: tuple[Lane, ...] = (
    HEAD,
    HISTORY,
    TAGS,
    DROPS,
    SPENT,
    SUPERSEDED,
    DUPLICATES,
    IMAGES,
    ERRORS,
    THINKING,
    INJECTED,
    CAVEMAN,
    REASONING,
    EVICTION,
    SKELETONS,
    EMPTIED,
    TODO,
    REMINDERS,
    CHANNEL,
    NOTICES,
    NOTES,
    HINTS,
)
"""In the order in which they are asked: each knows what those before it want, and the last edit of a part holds."""

__all__ = ["DROPS", "LANES", "TAGS", "Change", "Lane", "View"]
