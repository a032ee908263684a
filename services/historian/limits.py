"""The numbers that the historian decides with, as values."""

import msgspec


class Limits(msgspec.Struct, frozen=True):
    """Shares in percent of the usable window, sizes in tokens."""

    enabled: bool = True
    tail_percent: float = 40.0
    """Of what a prompt may have before room is made: the newest messages that stay as they are ..."""
    tail_tokens: int = 96_000
    """... and never more than these."""
    commit_clusters: int = 3
    """Turns with a commit after which what they finished is compressed; 0: commits are no reason."""
