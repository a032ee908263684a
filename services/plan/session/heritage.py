"""What a copy of a session has taken over from its origin."""

import msgspec


class Heritage(msgspec.Struct, frozen=True):
    """Where a session was copied from, and what of its origin's plan it has."""

    origin: str = ""
    """The session that this one was copied from."""
    copied: int = 0
    """The last place at which a copied message may stand."""
    inherited: int = 0
    """The newest revision that was taken over from the origin; 0: none was."""
    has_own_history: bool = False
    """Whether the compartments of what was taken over are recorded, or some of their messages are gone."""
