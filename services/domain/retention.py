"""The share of a prompt that stays when it is made smaller: compressed history, readings, and the newest messages.

What stays is read again by every call and written anew by every rebase, while what is left out may have to be looked
at again. What stays matters far more than how much: of what agents edit long after they have read it, most
stands in readings of the task at hand whose file was not changed since. All numbers are from recorded sessions (see
decision 31).
"""

from collections.abc import Mapping
from typing import Literal

import msgspec

Context = Literal["lean", "balanced", "full"]
Kind = Literal["fresh", "worked", "written", "past"]
"""Of a reading: of the task at hand and the file as it was; of a file that the agent works on, since it has changed it
more than once, or before it read it for an earlier task; as the agent wrote the whole file; of an earlier task, of a
file that is seldom edited, or of one that was changed once since."""

KNOB: Mapping[Context, float] = {"lean": 0.6, "balanced": 1.0, "full": 2.0}
"""The factor of all numbers below by a person's choice of what stays in sight."""
TAIL, TAIL_SHARE = 5_000, 0.04
"""Tokens of the newest messages, which stay as they are, and their share at most of the usable window."""
LEAST_TAIL = 2_000
"""Tokens of the newest messages that stay in the smallest window."""
HISTORY, HISTORY_LEAST = 4_000, 800
"""The most tokens of compressed history, and the tokens that it may have however few messages it stands for."""
HISTORY_SHARE = 0.04
"""The largest share of the usable window that compressed history may take."""
REPLACED_SHARE = 0.035
"""The tokens that compressed history may have for each token of the messages that it stands for."""
IDLE: Mapping[Kind, int] = {"fresh": 60_000, "worked": 12_000, "written": 8_000, "past": 1_000}
"""Tokens that may come since a reading was shown, or its file changed, until it goes."""
READINGS, READINGS_SHARE = 50_000, 0.35
"""The most tokens of all readings, and their largest share of what a window has beyond `SMALL`."""
SMALL = 33_000
"""The tokens of a window that readings leave alone: in a smaller window, all that stays is soon in the way of what
comes."""
REQUEST, REQUEST_SHARE = 2_000, 0.03
"""Tokens of a person's words that began the task at hand, up to which they stay as they are, and their share at most of
the usable window."""


class Retention(msgspec.Struct, frozen=True):
    """Tokens that stay."""

    history: int
    """Compressed history: at most."""
    tail: int
    """The newest messages, which stay as they are."""
    readings: int
    """Readings before these: at most."""
    request: int
    """A person's words that began the task at hand: up to so many they stay, too."""
    idle: Mapping[Kind, int]
    """Tokens that may come until a reading of each kind goes."""

    def history_of(self, replaced: int) -> int:
        """Tokens that history may have which stands for messages of so many tokens."""
        return min(self.history, max(HISTORY_LEAST, round(replaced * REPLACED_SHARE)))


def retention(usable: int, context: Context) -> Retention:
    """`usable`: tokens that a prompt may have. `context`: how much a person wants to keep in sight."""
    knob = KNOB[context]
    return Retention(
        history=round(min(HISTORY, usable * HISTORY_SHARE) * knob),
        tail=round(min(TAIL * knob, max(LEAST_TAIL, usable * TAIL_SHARE * knob))),
        readings=max(0, round(min(READINGS, (usable - SMALL) * READINGS_SHARE) * knob)),
        request=round(min(REQUEST, usable * REQUEST_SHARE) * knob),
        idle={kind: round(tokens * knob) for kind, tokens in IDLE.items()},
    )
